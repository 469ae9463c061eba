//! The equations of an extremum with memory, as `derive` shows them.

use pfaff_expr::Expr;
use pfaff_mechanics::{Refusal, fractional_equations};
use pfaff_model::{Model, Principle};

use crate::fractional::is_fractional;
use crate::present::{Label, Line, Presentation, Section};

/// Lays out the Euler–Lagrange equations of a model with memory between given ends; `None` for any other model or principle.
///
/// # Errors
///
/// [`Refusal`] if an operator stands where no adjoint is known.
pub fn present_fractional(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Option<Presentation>, Refusal> {
    let principle = principle.unwrap_or(model.principle);
    let vakonomic = principle == Principle::Vakonomic || model.constraints.is_empty();
    if !is_fractional(model) || !vakonomic {
        return Ok(None);
    }
    let g = &model.graph;
    let equations = fractional_equations(model)?;
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
        "rl and rl_right of negative order are fractional integrals; operators from the right look at the future, so the equations join two ends".to_owned(),
    ];
    Ok(Some(Presentation::of(model, Some(principle), sections, remarks)))
}
