//! The equations in momenta, for people: `derive --form hamilton`.
//!
//! Under Chetaev's principle these are Hamilton's equations with the reactions of the constraints,
//!
//! $$ \dot q = \frac{\partial H}{\partial p}, \qquad \dot p = -\frac{\partial H}{\partial q} + Q +
//! W^\top\lambda, \qquad \varphi(q, \dot q(q, p), t) = 0, $$
//!
//! and, where there are constraints, the cotangent form (Co) without multipliers, with momenta of the transverse
//! coordinates. Under the vakonomic principle it is Hamilton's form (Ha), with all momenta.

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::{
    Equations, LegendreInput, Refusal, cotangent, cotangent_equations, hamilton_form,
    normal_form, short_legendre,
};
use pfaff_model::{Principle, Workspace};

use crate::equations::reduced::cleared;
use crate::equations::short::operations_if_long;
use crate::equations::short_words::in_short_words;
use crate::equations::symmetric::with_symmetric_matrices;
use crate::equations::{Label, Line, Presentation, Section, refused};
use pfaff::{Derivation, Dynamics, Error};

/// Coordinates up to which velocities are written by momenta.
const LARGEST: usize = 24;

/// Lays out the equations of a model in momenta; `dependent` names the leaf coordinates of the cotangent form.
///
/// # Errors
///
/// [`Error`] says which hypothesis of the form fails.
pub fn present_hamilton(
    derivation: &Derivation,
    dependent: Option<&[usize]>,
) -> Result<Presentation, Error> {
    if let Some((merged, remark)) = with_symmetric_matrices(derivation) {
        return Ok(present_hamilton(&merged, dependent)?.with_remark(remark));
    }
    let Dynamics::Saddle(e) = &derivation.dynamics else {
        let message = "an `equation` model has no Lagrangian, and so no Hamiltonian form";
        return Err(Error::Usage(message.into()));
    };
    let short = in_short_words(derivation);
    let own = derivation.workspace();
    let (model, e) = short.as_ref().map_or((&own, e), |(model, e)| (model, e));
    let refused = |r: Refusal| refused(&r, model);
    let mut remarks = Vec::new();
    let sections = match e.principle {
        Principle::Chetaev if model.coordinates.len() > LARGEST => {
            remarks.push(format!(
                "H(q, p) is written out for up to {LARGEST} coordinates: here the momenta are functions of the \
                 velocities, and their rates too"
            ));
            in_velocities(model, e)
        }
        Principle::Chetaev => {
            let mut sections = in_all_canonical(model, e, &mut remarks);
            if sections.is_empty() || !e.jacobian.is_empty() {
                let mut said = Vec::new();
                let form = in_cotangent_form(model, e, dependent, &mut said);
                let form = form.map_err(refused)?;
                if e.jacobian.is_empty() {
                    sections = with_energy(model, e);
                } else {
                    sections.extend(form);
                    remarks.extend(said);
                }
            }
            sections
        }
        Principle::Vakonomic => in_all_momenta(model, e).map_err(refused)?,
        Principle::Restricted => {
            let message =
                "the Hamiltonian form is built for the principles chetaev and vakonomic only";
            return Err(Error::Usage(message.into()));
        }
    };
    Ok(Presentation::of(model, Some(e.principle), sections, remarks))
}

/// Whether the equations fill more than two pages already in velocities.
pub fn is_long_in_velocities(derivation: &Derivation) -> bool {
    let model = &derivation.workspace();
    let Dynamics::Saddle(e) = &derivation.dynamics else { return false };
    operations_if_long(model, e).is_some()
}

/// The same with velocities in the place of H(q, p), for models whose Hamiltonian would fill pages; `None` where there
/// are momenta of another kind.
pub fn present_hamilton_in_velocities(derivation: &Derivation) -> Option<Presentation> {
    if let Some((merged, remark)) = with_symmetric_matrices(derivation) {
        return Some(present_hamilton_in_velocities(&merged)?.with_remark(remark));
    }
    let Dynamics::Saddle(e) = &derivation.dynamics else { return None };
    if e.principle != Principle::Chetaev {
        return None;
    }
    let short = in_short_words(derivation);
    let own = derivation.workspace();
    let (model, e) = short.as_ref().map_or((&own, e), |(model, e)| (model, e));
    let remarks = vec![
        "H(q, p) is the energy E with the velocities that the momenta give; written out it is longer than two pages"
            .to_owned(),
    ];
    Some(Presentation::of(model, Some(e.principle), with_energy(model, e), remarks))
}

fn pairs(left: &[Expr], right: &[Expr]) -> Vec<Line> {
    let line = |(&l, &r)| Line { label: Label::Expression(l), right: r };
    left.iter().zip(right).map(line).collect()
}

/// $H(q, p)$ and Hamilton's equations; nothing where the momenta do not give the velocities.
fn in_all_canonical(
    model: &Workspace,
    e: &Equations,
    remarks: &mut Vec<String>,
) -> Vec<Section> {
    let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
        return Vec::new();
    };
    let g = &model.graph;
    let named = |after: &str| -> Vec<Expr> {
        let symbol = |c: &pfaff_model::Coordinate| {
            g.symbol(&format!("p[{}]{after}", c.name), Role::Free)
        };
        model.coordinates.iter().map(symbol).collect()
    };
    let (p, rates, v) = (named(""), named("'"), model.velocities());
    let input = LegendreInput { lagrangian, residuals: &[], velocities: &v, momenta: &p };
    let form = match g.merging(|| short_legendre(g, input)) {
        Ok(form) => form,
        Err(why) => {
            let energy = if e.jacobian.is_empty() {
                "; it is the energy E with the velocities that the momenta give"
            } else {
                ""
            };
            remarks.push(format!("H(q, p) has no formula here: {why}{energy}"));
            return Vec::new();
        }
    };
    let inserted: Vec<(Expr, Expr)> =
        v.iter().copied().zip(form.velocities.iter().copied()).collect();
    let slopes = g.gradient(form.hamiltonian, &model.positions());
    let forces: Vec<Expr> = (0..v.len())
        .map(|k| {
            let given = g.sum(model.forces.iter().map(|f| f.components[k]));
            let λ = &model.results.lambda;
            let reaction = g.sum(λ.iter().zip(&e.directions).map(|(&λ, w)| g.mul(w[k], λ)));
            let [given, reaction] = g.substitute(&[given, reaction], &inserted)[..] else {
                return g.zero();
            };
            g.sum([g.neg(slopes[k]), given, reaction])
        })
        .collect();
    let label = Label::Entry { text: "H", latex: "\\mathcal H", indices: Vec::new() };
    let held = g.substitute(&e.residual, &inserted);
    let held: Vec<Expr> = held.into_iter().map(|c| cleared(g, c)).collect();
    let zeros = vec![g.zero(); held.len()];
    let section = |key, heading, lines| Section { key, heading, lines };
    let mut equations = pairs(&v, &form.velocities);
    equations.extend(pairs(&rates, &forces));
    vec![
        section("canonical_momenta", "Momenta p = dL/dq'", pairs(&p, &e.momenta)),
        section(
            "hamiltonian",
            "Hamiltonian H = p*q' - L",
            vec![Line { label, right: form.hamiltonian }],
        ),
        section(
            "hamilton_equations",
            match (model.forces.is_empty(), e.directions.is_empty()) {
                (true, true) => "Hamilton's equations q' = dH/dp, p' = -dH/dq",
                (true, false) => "Hamilton's equations q' = dH/dp, p' = -dH/dq + R",
                (false, true) => "Hamilton's equations q' = dH/dp, p' = -dH/dq + Q",
                (false, false) => "Hamilton's equations q' = dH/dp, p' = -dH/dq + Q + R",
            },
            equations,
        ),
        section("constraints_of_momenta", "Constraints in momenta", pairs(&held, &zeros)),
    ]
}

/// The same with the energy, which is $H$ with the velocities that the momenta give.
fn with_energy(model: &Workspace, e: &Equations) -> Vec<Section> {
    let mut sections = in_velocities(model, e);
    let label = Label::Entry { text: "E", latex: "E", indices: Vec::new() };
    let energy =
        e.kinetic.as_ref().map_or(e.energy, |k| k.energy(&model.graph, &model.velocities()));
    let lines = vec![Line { label, right: energy }];
    sections.push(Section { key: "energy", heading: "Energy", lines });
    sections
}

/// $p = \partial L/\partial\dot q$ and $\dot p = \partial L/\partial q + Q + R$ with the velocities as they are.
fn in_velocities(model: &Workspace, e: &Equations) -> Vec<Section> {
    let pfaff_model::Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
        return Vec::new();
    };
    let g = &model.graph;
    let named = |after: &str| -> Vec<Expr> {
        let name = |c: &pfaff_model::Coordinate| format!("p[{}]{after}", c.name);
        model.coordinates.iter().map(|c| g.symbol(&name(c), Role::Free)).collect()
    };
    let λ = &model.results.lambda;
    let slopes = g.gradient(lagrangian, &model.positions());
    let forces: Vec<Expr> = (0..slopes.len())
        .map(|k| {
            let given = g.sum(model.forces.iter().map(|f| f.components[k]));
            let reaction = g.sum(λ.iter().zip(&e.directions).map(|(&λ, w)| g.mul(w[k], λ)));
            g.sum([slopes[k], given, reaction])
        })
        .collect();
    let held: Vec<Expr> = e.residual.iter().map(|&c| cleared(g, c)).collect();
    let zeros = vec![g.zero(); held.len()];
    let section = |key, heading, lines| Section { key, heading, lines };
    vec![
        section("canonical_momenta", "Momenta p = dL/dq'", pairs(&named(""), &e.momenta)),
        section(
            "equations",
            match (model.forces.is_empty(), e.directions.is_empty()) {
                (true, true) => "Rates of the momenta p' = dL/dq",
                (true, false) => "Rates of the momenta p' = dL/dq + R",
                (false, true) => "Rates of the momenta p' = dL/dq + Q",
                (false, false) => "Rates of the momenta p' = dL/dq + Q + R",
            },
            pairs(&named("'"), &forces),
        ),
        section("constraints", "Constraints", pairs(&held, &zeros)),
    ]
}

fn in_cotangent_form(
    model: &Workspace,
    e: &Equations,
    wanted: Option<&[usize]>,
    remarks: &mut Vec<String>,
) -> Result<Vec<Section>, Refusal> {
    let g = &model.graph;
    let normal = normal_form(model, e, wanted)?;
    let form = cotangent(model, e, &normal)?;
    let equations = cotangent_equations(model, &normal, &form);
    let name = |&k: &usize| model.coordinates[k].name.clone();
    let names: Vec<String> = normal.transverse.iter().map(name).collect();
    let leaves: Vec<String> = normal.leaf.iter().map(name).collect();
    let k = names.len();
    let matrix = |text: &'static str, entries: &[Expr]| -> Vec<Line> {
        let mut lines = Vec::new();
        for i in 0..k {
            for j in 0..k {
                let indices = vec![names[i].clone(), names[j].clone()];
                let label = Label::Entry { text, latex: text, indices };
                lines.push(Line { label, right: entries[i * k + j] });
            }
        }
        lines.retain(|l| l.right != g.zero());
        lines
    };
    let section = |key, heading, lines| Section { key, heading, lines };
    let y = normal.transverse_velocities(model);
    let v = model.velocities();
    let leaf: Vec<Expr> = normal.leaf.iter().map(|&i| v[i]).collect();
    let mut sections = vec![
        section(
            "momenta",
            "Momenta p = dL/dq' on the constraint",
            pairs(&equations.symbols, &form.momenta),
        ),
        section(
            "J",
            "J = dp/dq', which must be invertible",
            matrix("J", &form.jacobian.entries),
        ),
    ];
    match &equations.velocities {
        Some(h) => {
            sections.push(section("velocities", "Velocities", pairs(&y, h)));
        }
        None => remarks.push(format!(
            "the velocities {} follow from the momenta and the constraints; they have no formula here, because the \
             momenta are not linear in them",
            names.iter().map(|n| format!("{n}'")).collect::<Vec<_>>().join(", ")
        )),
    }
    if normal.is_explicit {
        let lines = pairs(&leaf, &equations.leaf_rates);
        sections.push(section("leaf_velocities", "Dependent velocities", lines));
    } else {
        let zeros: Vec<Expr> = normal.rows.iter().map(|_| g.zero()).collect();
        let written: Vec<Expr> = normal.rows.iter().map(|&a| e.residual[a]).collect();
        sections.push(section("constraints", "Constraints", pairs(&written, &zeros)));
    }
    sections.push(section(
        "H",
        "K = 1 + C^T h J^-1 with C = dq'_u/dq'_k, h = dp_u/dq'_k",
        matrix("K", &equations.matrix.entries),
    ));
    let left: Vec<Expr> = equations
        .matrix
        .entries
        .chunks(k.max(1))
        .map(|row| g.dot(row, &equations.rates))
        .collect();
    sections.push(section("equations", "Equations K p' = ...", pairs(&left, &equations.right)));
    remarks.push(format!(
        "momenta of {}; dependent {}",
        names.join(", "),
        if leaves.is_empty() { "none".to_owned() } else { leaves.join(", ") }
    ));
    Ok(sections)
}

fn in_all_momenta(model: &Workspace, e: &Equations) -> Result<Vec<Section>, Refusal> {
    let form = hamilton_form(model, e)?;
    let section = |key, heading, lines| Section { key, heading, lines };
    let hamiltonian = Line {
        label: Label::Entry { text: "H", latex: "\\mathcal H", indices: Vec::new() },
        right: form.hamiltonian,
    };
    Ok(vec![
        section(
            "momenta",
            "Momenta p = d(L - mu*phi)/dq'",
            pairs(&form.symbols, &form.momenta),
        ),
        section(
            "multipliers",
            "Multipliers in them",
            pairs(&model.results.mu, &form.multipliers),
        ),
        section("velocities", "Velocities", pairs(&model.velocities(), &form.velocities)),
        section("equations", "Rates of the momenta", pairs(&form.rates, &form.forces)),
        section("hamiltonian", "Hamiltonian p*q' - L + mu*phi", vec![hamiltonian]),
    ])
}
