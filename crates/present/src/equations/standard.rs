//! The equations in the forms that books give, for people: `derive --form routhian`, `gibbs_appell`, `kane`, `maggi`,
//! `voronets`, `chaplygin`, `boltzmann_hamel`.

use pfaff::{Derivation, Dynamics, Error};
use pfaff_expr::{Expr, Graph};
use pfaff_mechanics::{
    BoltzmannHamel, Equations, Maggi, ProjectedForm, QuasiVelocities, Refusal, Routhian,
    Voronets, boltzmann_hamel, chaplygin_form, maggi, projected_form, routhian, voronets,
};
use pfaff_model::Workspace;

use crate::equations::equation::equation;
use crate::equations::reduced::validity;
use crate::equations::short_words::in_short_words;
use crate::equations::symmetric::with_symmetric_matrices;
use crate::equations::vectors::names_with_rates;
use crate::equations::{Label, Line, Presentation, Section, refused};

/// A form of the equations of motion that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardForm {
    /// Cyclic coordinates eliminated by their momenta.
    Routhian,
    /// The energy of accelerations differentiated by the rates of quasi-velocities.
    GibbsAppell,
    /// Partial velocities, generalised active and inertia forces.
    Kane,
    /// Lagrange's operators along the directions that the constraints allow.
    Maggi,
    /// Dependent velocities inserted into the Lagrangian.
    Voronets,
    /// The same where the dependent coordinates occur as velocities only.
    Chaplygin,
    /// Quasi-velocities with γ symbols.
    BoltzmannHamel,
}

impl StandardForm {
    /// All forms with their words.
    pub const ALL: [(Self, &str); 7] = [
        (Self::Routhian, "routhian"),
        (Self::GibbsAppell, "gibbs_appell"),
        (Self::Kane, "kane"),
        (Self::Maggi, "maggi"),
        (Self::Voronets, "voronets"),
        (Self::Chaplygin, "chaplygin"),
        (Self::BoltzmannHamel, "boltzmann_hamel"),
    ];

    /// The form that has this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(form, _)| *form)
    }

    /// What its symbols are, in one sentence.
    pub(super) fn symbols(self) -> &'static str {
        match self {
            Self::Routhian => {
                "beta[k] = dL/dq'_k is the constant momentum of a cyclic coordinate, R = L - beta*q' the Routhian \
                 with the cyclic velocities eliminated"
            }
            Self::GibbsAppell => {
                "u are independent quasi-velocities, S is the energy of accelerations without terms that have no \
                 u', Pi are the forces along u"
            }
            Self::Kane => {
                "u are generalised speeds, v[k,a] = dq'_k/du_a partial velocities, also of the points and bodies \
                 that the text names, F generalised active forces and F* generalised inertia forces"
            }
            Self::Maggi => {
                "B[k,a] = dq'_k/du_a are the directions that the constraints allow, u being independent \
                 quasi-velocities"
            }
            Self::Voronets => {
                "L_c is the Lagrangian with the dependent velocities inserted, p[c] = dL/dq'_c the momentum of a \
                 dependent coordinate on the constraints, F[c,m,n] = X_m e[c,n] - X_n e[c,m] the curvature of \
                 q'_c = e[c,m] q'_m + b[c] with X_m = d/dq_m + e[c,m] d/dq_c; F[c,m,0] belongs to b and to time"
            }
            Self::Chaplygin => {
                "L_c is the Lagrangian with the dependent velocities inserted, p[c] = dL/dq'_c the momentum of a \
                 dependent coordinate on the constraints, F[c,m,n] = de[c,n]/dq_m - de[c,m]/dq_n the curvature of \
                 q'_c = e[c,m] q'_m + b[c]; F[c,m,0] belongs to b and to time"
            }
            Self::BoltzmannHamel => {
                "u are independent quasi-velocities and omega those of the constraints, l(q, u, t) is the \
                 Lagrangian on omega = 0, P = dL/du and dL/domega there, gamma[c,a,b] the components of the bracket \
                 [X_a, X_b] of the fields X_a = dq'/du_a; gamma[c,a,0] is that with what does not contain u"
            }
        }
    }
}

/// Whether the momenta of the cyclic coordinates are called `p`, because the model has `beta`.
fn has_plain_momenta(g: &Graph, symbols: &[Expr]) -> bool {
    symbols.iter().any(|&s| g.to_text(s).starts_with("p["))
}

/// What the symbols of a Routhian are then.
const ROUTHIAN_WITH_P: &str = "p[k] = dL/dq'_k is the constant momentum of a cyclic coordinate, R = L - p*q' the \
                               Routhian with the cyclic velocities eliminated";

/// Lays out the equations of a model in a standard form; `dependent` names the dependent coordinates of those of
/// Voronets and Chaplygin.
///
/// # Errors
///
/// [`Error`] says why the form does not apply.
pub fn present_standard(
    derivation: &Derivation,
    form: StandardForm,
    dependent: Option<&[usize]>,
) -> Result<Presentation, Error> {
    if let Some((merged, remark)) = with_symmetric_matrices(derivation) {
        return Ok(present_standard(&merged, form, dependent)?.with_remark(remark));
    }
    let Dynamics::Saddle(e) = &derivation.dynamics else {
        let message = "an `equation` model has no Lagrangian, and so none of the other forms";
        return Err(Error::Usage(message.into()));
    };
    let short = in_short_words(derivation);
    let own = derivation.workspace();
    let (model, e) = short.as_ref().map_or((&own, e), |(model, e)| (model, e));
    let refused = |r: Refusal| refused(&r, model);
    let mut remarks = Vec::new();
    let page = Page { model, e };
    let sections = model.graph.merging(|| match form {
        StandardForm::Routhian => Ok(page.of_routh(&routhian(model, e)?)),
        StandardForm::GibbsAppell => {
            let made = projected_form(model, e, "the form of Gibbs and Appell")?;
            remarks.extend(validity(model, &made.reduced.quasi));
            Ok(page.of_gibbs_and_appell(&made))
        }
        StandardForm::Kane => {
            let made = projected_form(model, e, "Kane's form")?;
            remarks.extend(validity(model, &made.reduced.quasi));
            Ok(page.of_kane(&made))
        }
        StandardForm::Maggi => {
            let made = maggi(model, e)?;
            remarks.extend(validity(model, &made.quasi));
            Ok(page.of_maggi(&made))
        }
        StandardForm::Voronets => Ok(page.of_voronets(&voronets(model, e, dependent)?)),
        StandardForm::Chaplygin => Ok(page.of_voronets(&chaplygin_form(model, e, dependent)?)),
        StandardForm::BoltzmannHamel => {
            let made = boltzmann_hamel(model, e)?;
            remarks.extend(validity(model, &made.quasi));
            Ok(page.of_boltzmann_and_hamel(&made))
        }
    });
    let sections = sections.map_err(refused)?;
    let mut shown = Presentation::of(model, Some(e.principle), sections, remarks);
    let is_plain = |s: &Section| s.key == "routhian" && s.heading.contains("p*q'");
    let is_plain = shown.sections.iter().any(is_plain);
    shown.symbols = Some(if is_plain { ROUTHIAN_WITH_P } else { form.symbols() });
    // Only Routh's form has multipliers, whose signs need a convention.
    shown.is_constrained &= form == StandardForm::Routhian;
    Ok(shown)
}

fn section(key: &'static str, heading: &'static str, lines: Vec<Line>) -> Section {
    Section { key, heading, lines }
}

fn pairs(left: &[Expr], right: &[Expr]) -> Vec<Line> {
    let line = |(&l, &r)| Line { label: Label::Expression(l), right: r };
    left.iter().zip(right).map(line).collect()
}

fn entry(text: &'static str, latex: &'static str, indices: &[&str], right: Expr) -> Line {
    let indices = indices.iter().map(|&i| i.to_owned()).collect();
    Line { label: Label::Entry { text, latex, indices }, right }
}

fn vector([text, latex]: [&'static str; 2], names: &[String], values: &[Expr]) -> Vec<Line> {
    let lines = names.iter().zip(values);
    lines.map(|(n, &x)| entry(text, latex, &[n.as_str()], x)).collect()
}

/// What all forms are laid out with.
struct Page<'a> {
    model: &'a Workspace,
    e: &'a Equations,
}

impl Page<'_> {
    fn name(&self, k: usize) -> &str {
        &self.model.coordinates[k].name
    }

    fn quasi_names(&self, quasi: &QuasiVelocities) -> Vec<String> {
        let g = &self.model.graph;
        quasi.symbols.iter().map(|&u| g.to_text(u)).collect()
    }

    /// Without the lines whose right side is zero.
    fn nonzero(&self, mut lines: Vec<Line>) -> Vec<Line> {
        let g = &self.model.graph;
        lines.retain(|l| !g.is_zero(l.right));
        lines
    }

    /// Mass times rates equals force, common factors left out.
    fn equations(&self, mass: &[Vec<Expr>], rates: &[Expr], force: &[Expr]) -> Vec<Line> {
        let g = &self.model.graph;
        let line = |(row, &f): (&Vec<Expr>, &Expr)| equation(self.model, g.dot(row, rates), f);
        mass.iter().zip(force).map(line).collect()
    }

    fn quasi_velocities(&self, quasi: &QuasiVelocities, velocities: &[Expr]) -> Vec<Section> {
        let v = self.model.velocities();
        vec![
            section(
                "quasi_velocities",
                "Independent quasi-velocities",
                pairs(&quasi.symbols, &quasi.definitions),
            ),
            section("velocities", "Velocities", pairs(&v, velocities)),
        ]
    }

    /// $B$, one line for each entry that is not zero.
    fn directions(&self, symbol: [&'static str; 2], quasi: &QuasiVelocities) -> Vec<Line> {
        let names = self.quasi_names(quasi);
        let mut lines = Vec::new();
        for (k, row) in quasi.basis.iter().enumerate() {
            for (u, &x) in names.iter().zip(row) {
                lines.push(entry(symbol[0], symbol[1], &[self.name(k), u.as_str()], x));
            }
        }
        self.nonzero(lines)
    }

    /// $\partial\dot P/\partial u_a$ of the points whose rates stand in the text, and $\partial W/\partial u_a$ of its
    /// velocities.
    fn named_directions(&self, quasi: &QuasiVelocities) -> Vec<Line> {
        let (model, g) = (self.model, &self.model.graph);
        let (q, v) = (model.positions(), model.velocities());
        let points = names_with_rates(model);
        let names = self.quasi_names(quasi);
        let mut lines = Vec::new();
        for (name, e) in &model.abbreviations {
            let (base, index) = name.split_once('[').unwrap_or((name, ""));
            let is_velocity = g.contains(*e, &v);
            let is_point = points.iter().any(|p| p == base) && g.contains(*e, &q);
            if index.contains(',') || !(is_velocity || is_point) {
                continue;
            }
            let slopes = g.gradient(*e, if is_velocity { &v } else { &q });
            if slopes.iter().any(|&s| g.contains(s, &v)) {
                continue;
            }
            for (a, u) in names.iter().enumerate() {
                let column: Vec<Expr> = quasi.basis.iter().map(|row| row[a]).collect();
                lines.push(entry(
                    "v",
                    "v",
                    &[name.as_str(), u.as_str()],
                    g.dot(&slopes, &column),
                ));
            }
        }
        self.nonzero(lines)
    }

    fn of_routh(&self, made: &Routhian) -> Vec<Section> {
        let g = &self.model.graph;
        let headings = if has_plain_momenta(g, &made.symbols) {
            ["Routhian R = L - p*q'", "Velocities of the cyclic coordinates q' = -dR/dp"]
        } else {
            ["Routhian R = L - beta*q'", "Velocities of the cyclic coordinates q' = -dR/dbeta"]
        };
        let pick =
            |list: &[Expr], ks: &[usize]| ks.iter().map(|&k| list[k]).collect::<Vec<_>>();
        let velocities = pick(&self.model.velocities(), &made.cyclic);
        let rates = pick(&self.model.accelerations(), &made.base);
        let λ = &self.model.results.lambda;
        let right = |i: usize| {
            let reaction = λ.iter().zip(&made.directions).map(|(&λ, w)| g.mul(w[i], λ));
            g.add(made.force[i], g.sum(reaction))
        };
        let right: Vec<Expr> = (0..made.base.len()).map(right).collect();
        let zeros = vec![g.zero(); made.constraints.len()];
        let momenta = pick(&self.e.momenta, &made.cyclic);
        vec![
            section(
                "cyclic_momenta",
                "Momenta of the cyclic coordinates",
                pairs(&made.symbols, &momenta),
            ),
            section("routhian", headings[0], vec![entry("R", "R", &[], made.routhian)]),
            section(
                "equations",
                "Equations (dR/dq')' - dR/dq = Q + A^T lambda",
                self.equations(&made.mass, &rates, &right),
            ),
            section("cyclic_velocities", headings[1], pairs(&velocities, &made.velocities)),
            section("constraints", "Constraints", pairs(&made.constraints, &zeros)),
        ]
    }

    fn of_gibbs_and_appell(&self, made: &ProjectedForm) -> Vec<Section> {
        let g = &self.model.graph;
        let quasi = &made.reduced.quasi;
        let names = self.quasi_names(quasi);
        let mut sections =
            self.quasi_velocities(quasi, &made.reduced.velocities_in_names(self.model));
        sections.extend([
            section(
                "gibbs_function",
                "Energy of accelerations",
                vec![entry("S", "S", &[], made.gibbs_function(g))],
            ),
            section(
                "forces",
                "Forces along the quasi-velocities",
                self.nonzero(vector(["Pi", "\\Pi"], &names, &made.active)),
            ),
            section(
                "equations",
                "Equations dS/du' = Pi",
                pairs(&made.inertia_terms(g), &made.active),
            ),
        ]);
        sections
    }

    fn of_kane(&self, made: &ProjectedForm) -> Vec<Section> {
        let g = &self.model.graph;
        let quasi = &made.reduced.quasi;
        let names = self.quasi_names(quasi);
        let inertia: Vec<Expr> = made.inertia_terms(g).into_iter().map(|x| g.neg(x)).collect();
        let sums: Vec<Expr> =
            made.active.iter().zip(&inertia).map(|(&f, &i)| g.add(f, i)).collect();
        let zeros = vec![g.zero(); sums.len()];
        let mut sections =
            self.quasi_velocities(quasi, &made.reduced.velocities_in_names(self.model));
        sections.extend([
            section(
                "partial_velocities",
                "Partial velocities",
                self.directions(["v", "v"], quasi),
            ),
            section(
                "partial_velocities_of_names",
                "Partial velocities of points and bodies",
                self.named_directions(quasi),
            ),
            section(
                "active_forces",
                "Generalised active forces",
                self.nonzero(vector(["F", "F"], &names, &made.active)),
            ),
            section(
                "inertia_forces",
                "Generalised inertia forces",
                vector(["F*", "F^{*}"], &names, &inertia),
            ),
            section("equations", "Kane's equations F + F* = 0", pairs(&sums, &zeros)),
        ]);
        sections
    }

    fn of_maggi(&self, made: &Maggi) -> Vec<Section> {
        let g = &self.model.graph;
        let zeros = vec![g.zero(); self.e.residual.len()];
        let rates = self.model.accelerations();
        vec![
            section(
                "quasi_velocities",
                "Independent quasi-velocities",
                pairs(&made.quasi.symbols, &made.quasi.definitions),
            ),
            section("directions", "Directions B", self.directions(["B", "B"], &made.quasi)),
            section(
                "equations",
                "Maggi's equations B^T ((dL/dq')' - dL/dq - Q) = 0",
                self.equations(&made.mass, &rates, &made.force),
            ),
            section("constraints", "Constraints", pairs(&self.e.residual, &zeros)),
        ]
    }

    fn of_voronets(&self, made: &Voronets) -> Vec<Section> {
        let (base, dependent) = (&made.split.base, &made.split.dependent);
        let names = |ks: &[usize]| -> Vec<String> {
            ks.iter().map(|&k| self.name(k).to_owned()).collect()
        };
        let (base_names, leaves) = (names(base), names(dependent));
        let pick =
            |list: &[Expr], ks: &[usize]| ks.iter().map(|&k| list[k]).collect::<Vec<_>>();
        let velocities = pick(&self.model.velocities(), dependent);
        let rates = pick(&self.model.accelerations(), base);
        let bent = self.symbols_of_three(
            ["F", "F"],
            &leaves,
            &base_names,
            &made.curvature,
            &made.curvature_in_time,
        );
        vec![
            section(
                "dependent_velocities",
                "Dependent velocities",
                pairs(&velocities, &made.rates),
            ),
            section(
                "lagrangian",
                "Lagrangian with them",
                vec![entry("L_c", "L_c", &[], made.lagrangian)],
            ),
            section(
                "dependent_momenta",
                "Momenta of the dependent coordinates",
                self.nonzero(vector(["p", "p"], &leaves, &made.momenta)),
            ),
            section("curvature", "Curvature F (antisymmetric)", bent),
            section(
                "equations",
                "Equations (dL_c/dq'_m)' - X_m L_c + p_c (F[c,m,n] q'_n + F[c,m,0]) = Q_m + e[c,m] Q_c",
                self.equations(&made.mass, &rates, &made.force),
            ),
        ]
    }

    fn of_boltzmann_and_hamel(&self, made: &BoltzmannHamel) -> Vec<Section> {
        let quasi = &made.quasi;
        let names = self.quasi_names(quasi);
        let held: Vec<String> =
            made.constraints.iter().map(|&a| self.model.constraints[a].name.clone()).collect();
        let residual: Vec<Expr> =
            made.constraints.iter().map(|&a| self.e.residual[a]).collect();
        let all = [names.as_slice(), &held].concat();
        let mut sections = self.quasi_velocities(quasi, &made.velocities);
        sections.extend([
            section(
                "constraint_velocities",
                "Quasi-velocities of the constraints, which are zero",
                vector(["omega", "\\omega"], &held, &residual),
            ),
            section(
                "lagrangian",
                "Lagrangian in quasi-velocities",
                vec![entry("l", "\\ell", &[], made.lagrangian)],
            ),
            section(
                "quasi_momenta",
                "Momenta of the quasi-velocities",
                self.nonzero(vector(["P", "P"], &all, &made.momenta)),
            ),
            section(
                "gamma",
                "Symbols gamma (antisymmetric)",
                self.symbols_of_three(
                    ["gamma", "\\gamma"],
                    &all,
                    &names,
                    &made.gamma,
                    &made.gamma_in_time,
                ),
            ),
            section(
                "equations",
                "Equations (dl/du_a)' - X_a l + P_c (gamma[c,a,b] u_b + gamma[c,a,0]) = Q*X_a",
                self.equations(&made.mass, &quasi.rates, &made.force),
            ),
        ]);
        sections
    }

    /// Components with one index above and two below, antisymmetric in these, and those with time.
    fn symbols_of_three(
        &self,
        symbol: [&'static str; 2],
        upper: &[String],
        lower: &[String],
        values: &[Vec<Vec<Expr>>],
        in_time: &[Vec<Expr>],
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        for (c, up) in upper.iter().enumerate() {
            for (a, first) in lower.iter().enumerate() {
                let later = (a + 1..lower.len()).map(|b| (lower[b].clone(), values[c][a][b]));
                for (second, right) in later.chain([("0".to_owned(), in_time[c][a])]) {
                    let [text, latex] = symbol;
                    let (upper, lower) = (vec![up.clone()], vec![first.clone(), second]);
                    let label = Label::Component { text, latex, upper, lower };
                    lines.push(Line { label, right });
                }
            }
        }
        self.nonzero(lines)
    }
}
