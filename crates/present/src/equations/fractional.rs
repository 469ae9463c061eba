//! The equations of an extremum with memory, as `derive` shows them.

use pfaff::{
    Error, FractionalHamiltonEquation, Model, Principle, fractional_hamilton, is_fractional,
};
use pfaff_expr::Expr;
use pfaff_mechanics::fractional_equations;

use super::{Label, Line, Presentation, Section, refused};

/// Lays out the Euler–Lagrange equations of a model with memory between given ends; `None` for any other
/// model or principle.
///
/// # Errors
///
/// [`Error`] if an operator stands where no adjoint is known.
pub fn present_fractional(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Option<Presentation>, Error> {
    let model = &model.workspace();
    let principle = principle.unwrap_or(model.principle);
    let vakonomic = principle == Principle::Vakonomic || model.constraints.is_empty();
    if !is_fractional(model) || !vakonomic {
        return Ok(None);
    }
    let g = &model.graph;
    let equations = fractional_equations(model).map_err(|r| refused(&r, model))?;
    let n = model.coordinates.len();
    let entry = |text: &'static str, latex: &'static str, k: usize, right: Expr| Line {
        label: Label::Entry { text, latex, indices: vec![model.coordinates[k].name.clone()] },
        right,
    };
    let zero = g.zero();
    let has = |k: usize| equations.momenta[k] != zero;
    let momenta = (0..n).filter(|&k| has(k)).map(|k| entry("p", "p", k, equations.momenta[k]));
    let rates = (0..n).map(|k| {
        let right = equations.rates[k];
        if has(k) {
            entry("p'", "\\dot p", k, right)
        } else {
            Line { label: Label::Expression(right), right: zero }
        }
    });
    let constraint =
        |c: &pfaff_model::Constraint| Line { label: Label::Expression(c.expr), right: zero };
    let vanishing = |list: &[Expr]| -> Vec<Line> {
        let lines = list.iter().filter(|e| **e != zero);
        lines.map(|&e| Line { label: Label::Expression(e), right: zero }).collect()
    };
    let sections = vec![
        Section { key: "momenta", heading: "Momenta", lines: momenta.collect() },
        Section {
            key: "equations",
            heading: "Euler–Lagrange equations",
            lines: rates.collect(),
        },
        Section {
            key: "constraints",
            heading: "Constraints",
            lines: model.constraints.iter().map(constraint).collect(),
        },
        Section {
            key: "natural",
            heading: "Where a position is free at an end",
            lines: vanishing(&equations.natural),
        },
        Section {
            key: "natural_velocity",
            heading: "Where a velocity is free at an end",
            lines: vanishing(&equations.natural_velocity),
        },
    ];
    let remarks = vec![
        "rl and rl_right of negative order are fractional integrals; right operators depend on the future, so the \
         equations connect two ends".to_owned(),
    ];
    Ok(Some(Presentation::of(model, Some(principle), sections, remarks)))
}

/// Lays out Hamilton's form of a model with memory between given ends; `None` for any other model or principle.
///
/// # Errors
///
/// [`Error`] says which hypothesis of the form fails.
pub fn present_fractional_hamilton(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Option<Presentation>, Error> {
    let Some(form) = fractional_hamilton(model, principle)? else { return Ok(None) };
    let model = &form.model;
    let line = |&(left, right): &(Expr, Expr)| Line { label: Label::Expression(left), right };
    let equation = |e: &FractionalHamiltonEquation| match *e {
        FractionalHamiltonEquation::Equation { left, right } => line(&(left, right)),
        FractionalHamiltonEquation::Rate { coordinate, right } => {
            let indices = vec![model.coordinates[coordinate].name.clone()];
            Line { label: Label::Entry { text: "p'", latex: "\\dot p", indices }, right }
        }
    };
    let section = |key, heading, lines| Section { key, heading, lines };
    let pairs = |list: &[(Expr, Expr)]| list.iter().map(line).collect();
    let label = Label::Entry { text: "H", latex: "\\mathcal H", indices: Vec::new() };
    let sections = vec![
        section("momenta", "Momenta p = d(L - mu*phi)/du", pairs(&form.momenta)),
        section("multipliers", "Multipliers in them", pairs(&form.multipliers)),
        section("hamiltonian", "Hamiltonian", vec![Line { label, right: form.hamiltonian }]),
        section("velocities", "Velocities u", pairs(&form.velocities)),
        section(
            "equations",
            "Equations of the momenta",
            form.equations.iter().map(equation).collect(),
        ),
    ];
    let remarks = vec![
        "u is the operator of the highest order on each coordinate; rl_right depends on the future, so the \
         equations connect two ends"
            .to_owned(),
    ];
    let principle = principle.unwrap_or(model.principle);
    Ok(Some(Presentation::of(model, Some(principle), sections, remarks)))
}
