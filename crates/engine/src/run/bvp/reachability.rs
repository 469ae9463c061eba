//! Ends that no admissible path joins: the constraints keep a function of position constant.
//!
//! The functions come from the closure of the distribution of admissible velocities under brackets; those
//! that are elementary are written down there, and are compared at both ends.

use pfaff_expr::Expr;
use pfaff_mechanics::{Class, Distribution, Equations, integrals, split};
use pfaff_model::{Diagnostic, Workspace};

use crate::motion::note::brief;
use crate::run::bvp::conditions::{Conditions, at};

/// What forbids the given ends.
pub(crate) fn unreachable(
    model: &Workspace,
    equations: &Equations,
    conditions: &Conditions,
) -> Vec<Diagnostic> {
    if !equations.classes.contains(&Class::Linear) {
        return Vec::new();
    }
    let Ok(split) = split(model, equations, None) else { return Vec::new() };
    let g = &model.graph;
    let distribution = Distribution::new(model, &split);
    let flag = distribution.flag(g);
    if !flag.complete || flag.closure_rank() == distribution.dimension() {
        return Vec::new();
    }
    let kept = integrals(g, &distribution, &flag);
    kept.into_iter().filter_map(|h| forbidden(model, equations, conditions, h)).collect()
}

/// Why the ends are not joined, if a function that the constraints keep is finite at both and differs.
fn forbidden(
    model: &Workspace,
    equations: &Equations,
    conditions: &Conditions,
    h: Expr,
) -> Option<Diagnostic> {
    let g = &model.graph;
    let used: Vec<usize> = (0..model.coordinates.len())
        .filter(|&k| g.contains(h, &[model.coordinates[k].position]))
        .collect();
    if g.contains(h, &[model.time])
        || used.iter().any(|&k| conditions.first[k].is_none() || conditions.last[k].is_none())
    {
        return None;
    }
    let value = |end: &[Option<f64>]| at(model, h, conditions.t0, &|k| end[k].unwrap_or(0.0));
    let difference = value(&conditions.last) - value(&conditions.first);
    // Given decimals are rounded; what differs by more was meant so.
    if !difference.is_finite() || difference.abs() <= 1e-9 {
        return None;
    }
    // The constraint that contains most of it, by name if it is the only one.
    let integrable = pfaff_mechanics::integrable(model, equations);
    let owners: Vec<usize> = (0..model.constraints.len())
        .filter(|&a| integrable[a] == Some(true) && equations.classes[a] == Class::Linear)
        .filter(|&a| used.iter().any(|&k| !g.is_zero(equations.jacobian[a][k])))
        .collect();
    let subject = match owners[..] {
        [a] => {
            format!("the constraint `{}` is integrable and keeps", model.constraints[a].name)
        }
        _ => "the constraints together keep".to_owned(),
    };
    let message = format!(
        "the end cannot be reached: {subject} `{}` constant, but its value differs by {} between the ends",
        g.to_text(h),
        brief(difference)
    );
    let span = conditions.spans.iter().find(|(k, _)| used.contains(k));
    let span = span.map_or(model.constraints[0].span, |(_, span)| *span);
    let mut diagnostic = Diagnostic::error("E0633", span, message)
        .with_hint("leave one of its coordinates free at one end");
    if let [a] = owners[..] {
        diagnostic = diagnostic.with_note(model.constraints[a].span, "this constraint".into());
    }
    Some(diagnostic)
}
