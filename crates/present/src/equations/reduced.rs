//! The equations without multipliers, for people: `derive --form reduced`.
//!
//! Quasi-velocities with (U), accelerations and multipliers as expressions, the constraints in canonical
//! momenta, and Helmholtz's test of the total force.

use pfaff_expr::{Expr, Graph, Node, Role};
use pfaff_mechanics::{
    Equations, ExplicitSolution, Helmholtz, QuasiVelocities, ReducedEquations, canonical,
    explicit, helmholtz, reduced_in_names,
};
use pfaff_model::{Principle, Workspace};

use crate::equations::equation::{equation, without_decimal};
use crate::equations::short::operations_if_long;
use crate::equations::short_words::in_short_words;
use crate::equations::symmetric::with_symmetric_matrices;
use crate::equations::{Label, Line, Presentation, Section};
use pfaff::Derivation;
use pfaff::Dynamics;

/// Lays out the equations of a model without multipliers; `None` for an `equation` model.
pub fn present_reduced(derivation: &Derivation) -> Option<Presentation> {
    laid_out(derivation, true)
}

/// As [`present_reduced`]; where all that follows from the equations would fill pages, it is not even derived.
pub fn present_reduced_shortly(derivation: &Derivation) -> Option<Presentation> {
    laid_out(derivation, false)
}

fn laid_out(derivation: &Derivation, is_whole: bool) -> Option<Presentation> {
    if let Some((merged, remark)) = with_symmetric_matrices(derivation) {
        return Some(laid_out(&merged, is_whole)?.with_remark(remark));
    }
    let Dynamics::Saddle(e) = &derivation.dynamics else { return None };
    let short = in_short_words(derivation);
    let own = derivation.workspace();
    let (model, e) = short.as_ref().map_or((&own, e), |(model, e)| (model, e));
    let mut remarks = Vec::new();
    let sections = model.graph.merging(|| {
        let reduced = match e.principle {
            Principle::Restricted => None,
            Principle::Chetaev | Principle::Vakonomic => reduced_in_names(model, e),
        };
        let mut sections = independent(model, e, reduced.as_ref(), &mut remarks);
        match operations_if_long(model, e).filter(|_| !is_whole) {
            Some(operations) => remarks.push(format!(
                "accelerations, multipliers and momenta are written in the whole form only: M, f, A and b have \
                 {operations} operations"
            )),
            None => {
                sections.extend(solved(model, e, reduced.as_ref(), &mut remarks));
                sections.extend(in_momenta(model, e, &mut remarks));
            }
        }
        sections
    });
    Some(Presentation::of(model, Some(e.principle), sections, remarks))
}

fn expression(left: Expr, right: Expr) -> Line {
    Line { label: Label::Expression(left), right }
}

fn section(key: &'static str, heading: &'static str, lines: Vec<Line>) -> Section {
    Section { key, heading, lines }
}

/// Where quasi-velocities can be used.
pub(crate) fn validity(model: &Workspace, quasi: &QuasiVelocities) -> Option<String> {
    /// Longer conditions tell nobody anything.
    const LONGEST: usize = 300;
    let page = Graph::new();
    let factors = model.graph.varying_factors(&quasi.pivots, &page);
    let texts: Vec<String> = factors.iter().map(|&f| page.to_text(f)).collect();
    let all = texts.join(", ");
    (!texts.is_empty()).then(|| {
        if all.len() <= LONGEST {
            format!("the quasi-velocities are valid where {all} ≠ 0")
        } else {
            "the quasi-velocities are valid where their divisors, which are longer than a few lines, are not zero"
                .into()
        }
    })
}

/// The quasi-velocities and (U).
fn independent(
    model: &Workspace,
    e: &Equations,
    reduced: Option<&ReducedEquations>,
    remarks: &mut Vec<String>,
) -> Vec<Section> {
    if e.principle == Principle::Restricted {
        let mut sections = super::restricted::inserted(model, e);
        let g = &model.graph;
        let a = model.accelerations();
        let base = (0..a.len()).filter(|k| !e.dependent.contains(k));
        let lines = base.map(|k| expression(g.dot(&e.mass[k], &a), e.force[k])).collect();
        sections.push(section("reduced_equations", "Equations of L_c", lines));
        return sections;
    }
    let Some(reduced) = reduced else {
        remarks.push(
            "no independent quasi-velocities: they need constraints that are linear or affine in the velocities, \
             do not contradict each other, and are without `along`"
                .into(),
        );
        return Vec::new();
    };
    let g = &model.graph;
    let quasi = &reduced.quasi;
    let pairs = |left: &[Expr], right: &[Expr]| -> Vec<Line> {
        left.iter().zip(right).map(|(&l, &r)| expression(l, r)).collect()
    };
    let equations = reduced
        .mass
        .iter()
        .zip(&reduced.force)
        .map(|(row, &f)| equation(model, g.dot(row, &quasi.rates), f))
        .collect();
    remarks.extend(validity(model, quasi));
    vec![
        section(
            "quasi_velocities",
            "Independent quasi-velocities",
            pairs(&quasi.symbols, &quasi.definitions),
        ),
        section(
            "velocities",
            "Velocities q' = B u + b",
            pairs(&model.velocities(), &reduced.velocities_in_names(model)),
        ),
        section(
            "reduced_equations",
            "Equations B^T M B u' = B^T (f - M (B u + b)')",
            equations,
        ),
    ]
}

/// The left side of $e = 0$ without denominators and common factors that are constant, and without those that vary
/// where that is shorter; no sign stands in front.
pub(crate) fn cleared(g: &Graph, e: Expr) -> Expr {
    /// What is longer is written as it was derived.
    const LONG: usize = 400;
    if g.operations(&[e]) > LONG {
        return e;
    }
    let whole = g.div(e, without_decimal(g, g.factor_of_equation(e)));
    let desk = Graph::new();
    let without_constants = |e: Expr| match desk.node(g.on_paper(&[e], &desk)[0]) {
        Node::Div(above, below) if !desk.varies(below) => above,
        _ => g.on_paper(&[e], &desk)[0],
    };
    let width = |e: &Expr| desk.to_text(*e).len();
    let own = without_constants(whole);
    let multiplied = g.factor_of_quotients(whole).map(|f| without_constants(g.div(whole, f)));
    let shortest = multiplied.filter(|m| width(m) < width(&own)).unwrap_or(own);
    let opposite = desk.to_text(shortest).starts_with('-').then(|| desk.neg(shortest));
    let turned = opposite.map(|o| g.as_written(|| desk.on_paper(&[o], g)[0]));
    turned.unwrap_or_else(|| g.as_written(|| desk.in_reading_order(&[shortest], g))[0])
}

/// $\ddot q$ and $\lambda$ as expressions, and Helmholtz's test of what they make.
///
/// On the constraints velocities are functions of the quasi-velocities: what is shorter in these is written in these.
fn solved(
    model: &Workspace,
    e: &Equations,
    reduced: Option<&ReducedEquations>,
    remarks: &mut Vec<String>,
) -> Vec<Section> {
    let Some(solution) = explicit(model, e) else {
        remarks.push(
            "accelerations and multipliers are not written out: the equations are singular everywhere, or more \
             than 16"
                .into(),
        );
        return Vec::new();
    };
    let lines = |left: &[Expr], right: &[Expr]| -> Vec<Line> {
        left.iter().zip(right).map(|(&l, &r)| expression(l, r)).collect()
    };
    let is_redundant = model.graph.rank(&e.jacobian) < e.jacobian.len();
    if is_redundant && e.principle == Principle::Chetaev {
        remarks.push(
            "constraints are redundant: reactions are determined, multipliers are not; a run shows those of least \
             norm"
                .into(),
        );
    }
    let reduced =
        reduced.filter(|_| e.principle == Principle::Chetaev && !e.jacobian.is_empty());
    let on_constraints =
        reduced.and_then(|reduced| in_quasi_velocities(model, reduced, &solution));
    let is_inserted = on_constraints.is_some();
    let shown = on_constraints.as_ref().unwrap_or(&solution);
    let multipliers = match e.principle {
        Principle::Chetaev if is_redundant => Vec::new(),
        Principle::Chetaev => lines(&model.results.lambda, &shown.multipliers),
        Principle::Vakonomic => lines(&model.results.mu_rate, &shown.multipliers),
        Principle::Restricted => Vec::new(),
    };
    let headings = if is_inserted {
        ["Multipliers on the constraints", "Accelerations on the constraints"]
    } else {
        ["Multipliers as functions of the state", "Accelerations"]
    };
    let mut sections = vec![
        section("multipliers", headings[0], multipliers),
        section(
            "accelerations",
            headings[1],
            lines(&model.accelerations(), &shown.accelerations),
        ),
    ];
    if e.principle == Principle::Chetaev && !e.jacobian.is_empty() {
        sections.extend(total_force(model, e, &solution.multipliers, remarks));
    }
    sections
}

/// Accelerations and multipliers with $\dot q = Bu + b$ inserted, where that is shorter.
fn in_quasi_velocities(
    model: &Workspace,
    reduced: &ReducedEquations,
    solution: &ExplicitSolution,
) -> Option<ExplicitSolution> {
    /// What is longer fills a page in either way.
    const LONG: usize = 400;
    let g = &model.graph;
    let n = solution.accelerations.len();
    let own = [solution.accelerations.as_slice(), &solution.multipliers].concat();
    if g.operations(&own) > LONG {
        return None;
    }
    let velocities = model.velocities();
    let images: Vec<(Expr, Expr)> =
        velocities.into_iter().zip(reduced.velocities.iter().copied()).collect();
    let mut inserted = g.substitute(&own, &images);
    let width = |list: &[Expr]| -> usize {
        let desk = Graph::new();
        g.on_paper(list, &desk).into_iter().map(|e| desk.to_text(e).len()).sum()
    };
    if width(&inserted) >= width(&own) {
        return None;
    }
    let multipliers = inserted.split_off(n);
    Some(ExplicitSolution { accelerations: inserted, multipliers })
}

/// $\Lambda = Q + R$ with all forces beside the kinetic ones, and whether it has a potential.
fn total_force(
    model: &Workspace,
    e: &Equations,
    λ: &[Expr],
    remarks: &mut Vec<String>,
) -> Vec<Section> {
    let g = &model.graph;
    let potential = e.kinetic.as_ref().map(|k| k.potential.unwrap_or_else(|| g.neg(k.scalar)));
    let slopes = potential.map(|v| g.gradient(v, &model.positions()));
    let force: Vec<Expr> = (0..model.coordinates.len())
        .map(|k| {
            let given = g.sum(model.forces.iter().map(|f| f.components[k]));
            let reaction = g.sum(e.directions.iter().zip(λ).map(|(w, &λ)| g.mul(w[k], λ)));
            let drawn = slopes.as_ref().map_or(g.zero(), |s| g.neg(s[k]));
            g.simplify(g.sum([drawn, given, reaction]))
        })
        .collect();
    let entry = |text, latex, index: Vec<String>, right| Line {
        label: Label::Entry { text, latex, indices: index },
        right,
    };
    let lines = model
        .coordinates
        .iter()
        .zip(&force)
        .map(|(c, &f)| entry("Lambda", "\\Lambda", vec![c.name.clone()], f))
        .collect();
    let mut sections = vec![section(
        "total_force",
        "Total force Lambda = Q + R, extended off the constraints by these expressions",
        lines,
    )];
    let name = |k: usize| &model.coordinates[k].name;
    let off = "for the extension of Lambda off the constraints written here";
    match helmholtz(model, &force) {
        Helmholtz::Potential(Some(u)) => {
            sections.push(section(
                "potential",
                "Generalised potential of Lambda",
                vec![entry("U", "U", vec![], u)],
            ));
            remarks.push(format!("Helmholtz's conditions hold, {off}: the equations are those of a free system \
                with the potential U"));
        }
        Helmholtz::Potential(None) => remarks.push(format!(
            "Helmholtz's conditions hold, {off}: a generalised potential exists, but no elementary formula was \
             found for it"
        )),
        Helmholtz::Fails { condition, pair: (k, m) } => remarks.push(format!(
            "Helmholtz's conditions fail, {off}: the {} one for {}, {}; the total force has no generalised potential",
            if condition == 1 { "first" } else { "second" },
            name(k),
            name(m)
        )),
        Helmholtz::Undecided => remarks.push(format!("Helmholtz's conditions could not be decided, {off}")),
    }
    sections
}

/// The velocities and the constraints in canonical momenta.
fn in_momenta(model: &Workspace, e: &Equations, remarks: &mut Vec<String>) -> Vec<Section> {
    let g = &model.graph;
    let p: Vec<Expr> = model
        .coordinates
        .iter()
        .map(|c| g.symbol(&format!("p[{}]", c.name), Role::Free))
        .collect();
    let Some((velocities, constraints)) = canonical(model, e, &p) else {
        remarks.push(
            "canonical momenta do not give the velocities: the Lagrangian is not quadratic in them, or its mass \
             matrix is singular"
                .into(),
        );
        return Vec::new();
    };
    let momenta = p.iter().zip(&e.momenta).map(|(&p, &m)| expression(p, m)).collect();
    let zero = g.zero();
    vec![
        section("momenta", "Canonical momenta", momenta),
        section(
            "velocities_of_momenta",
            "Velocities in them",
            model
                .velocities()
                .iter()
                .zip(&velocities)
                .map(|(&v, &x)| expression(v, x))
                .collect(),
        ),
        section(
            "constraints_of_momenta",
            "Constraints in them",
            constraints.into_iter().map(|c| expression(cleared(g, c), zero)).collect(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use pfaff::{Model, derive};

    use super::present_reduced;
    use crate::ToText;

    fn text_of(model: &str) -> String {
        let model = Model::parse(model).expect("it is right");
        present_reduced(&derive(&model, None).expect("it has equations"))
            .expect("a form")
            .to_text()
    }

    /// The components of a velocity make a constant mass vary: angles are better quasi-velocities.
    #[test]
    fn components_of_a_velocity_are_not_taken_for_angles() {
        let text = text_of(
            "coordinates th, ph\nparameters m = 1, l = 10, g = 9.81, W = 0.1\n\
             let r = l*[sin(th)*cos(ph), sin(th)*sin(ph), -cos(th)]\n\
             let v = r' + cross([0, 0, W], r)\nkinetic m*dot(v, v)/2\npotential m*g*r[3]\n",
        );
        assert!(text.contains("u1 = th'\n  u2 = ph'"), "{text}");
    }

    /// Of the velocities that constraints can be solved for, those that divide by least are dependent.
    #[test]
    fn dependent_velocities_divide_by_least() {
        let text = text_of(
            "coordinates th, ph, w[3]\nparameters m = 1, a = 0.1, R = 1, g = 9.81\n\
             let I = 2/5*m*a^2\nlet n = [sin(th)*cos(ph), sin(th)*sin(ph), -cos(th)]\n\
             let c = (R - a)*n\nkinetic m*dot(c', c')/2 + I*dot(w', w')/2\n\
             potential m*g*c[3]\nlet slip = c' + cross(w', a*n)\n\
             constraint one: slip[1] = 0\nconstraint two: slip[2] = 0\n",
        );
        assert!(text.contains("the quasi-velocities are valid where cos(th) ≠ 0"), "{text}");
        assert!(text.contains("u3 = w[3]'"), "{text}");
    }

    /// No decimal is multiplied out, no number divides the left side, and accelerations keep their sign.
    #[test]
    fn equations_are_cleared_as_on_paper() {
        let text = text_of(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x*z^2\n\
             constraint tilt: x*x' + (1 + y)*y' + sin(z)*z' = 0.3\n",
        );
        assert!(text.contains("x' = (3/10 - y*u1 - u1 - u2*sin(z))/x\n"), "{text}");
        assert!(text.contains("x*p[x] + (1 + y)*p[y] + sin(z)*p[z] - 3/10 = 0"), "{text}");
        assert!(text.contains("s1/(x^2 + (1 + y)^2 + sin(z)^2)"), "{text}");
        let left = "(x^2 + (1 + y)^2)*u1' + (1 + y)*sin(z)*u2' = ";
        assert!(text.contains(left) && !text.contains("10*("), "{text}");
        let text = text_of(
            "coordinates th, ph\nparameters m = 1, R = 3, r = 1, g = 9.81\n\
             lagrangian m*(R - r)^2*th'^2/2 + m*r^2*ph'^2/4 + m*g*(R - r)*cos(th)\n\
             constraint roll: (R - r)*th' = r*ph'\n",
        );
        assert!(text.contains("3*(R - r)*u1' = -2*g*sin(th)\n"), "{text}");
        let text = text_of(
            "coordinates r, ph\nparameters m = 1, g = 9.81, alpha = 0.4\n\
             lagrangian m*(r'^2 + r^2*sin(alpha)^2*ph'^2)/2 - m*g*r*cos(alpha)\n",
        );
        assert!(text.contains("r*u2' = -2*u1*u2\n"), "{text}");
    }
}
