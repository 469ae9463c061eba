//! Ends that no admissible path joins: an integrable constraint keeps a function of position constant.
//!
//! Where a multiple of the constraint is closed, $f\omega = d\Phi$, the difference of Φ between the ends is the integral of the form along the straight line between them.

use pfaff_mechanics::{Class, Equations, FirstIntegral, integrals_of_constraint};
use pfaff_model::{Diagnostic, Model};
use pfaff_solver::gauss_jacobi;

use crate::boundary::conditions::{Conditions, at};
use crate::note::brief;

/// What forbids the given ends.
pub(crate) fn unreachable(
    model: &Model,
    equations: &Equations,
    conditions: &Conditions,
) -> Vec<Diagnostic> {
    let verdicts = if equations.classes.iter().any(|c| *c == Class::Linear) {
        pfaff_mechanics::integrable(model, equations)
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    for a in (0..verdicts.len()).filter(|&a| verdicts[a] == Some(true)) {
        let integrals = integrals_of_constraint(model, equations, a);
        found.extend(integrals.iter().find_map(|i| forbidden(model, conditions, a, i)));
    }
    found
}

/// Why the ends are not joined, if an integral of a constraint is finite at both and differs.
fn forbidden(
    model: &Model,
    conditions: &Conditions,
    a: usize,
    integral: &FirstIntegral,
) -> Option<Diagnostic> {
    let g = &model.graph;
    let used: Vec<usize> = (0..model.coordinates.len())
        .filter(|&k| {
            let q = model.coordinates[k].position;
            integral.form.iter().any(|&e| g.contains(e, &[q])) || !g.is_zero(integral.form[k])
        })
        .collect();
    let ends: Option<Vec<(f64, f64)>> =
        used.iter().map(|&k| Some((conditions.first[k]?, conditions.last[k]?))).collect();
    let ends = ends?;
    let place = |s: f64, k: usize| {
        let place = used.iter().position(|&u| u == k);
        place.map_or(0.0, |i| ends[i].0 + s * (ends[i].1 - ends[i].0))
    };
    let difference = match integral.function {
        Some(Φ) => {
            let value = |s: f64| at(model, Φ, conditions.t0, &|k| place(s, k));
            value(1.0) - value(0.0)
        }
        None => {
            // NOTE: twenty points integrate what is smooth between the ends to rounding.
            let (points, weights) = gauss_jacobi(20, 1.0);
            let slope = |s: f64| -> f64 {
                let form = used.iter().zip(&ends).map(|(&k, (from, to))| {
                    (to - from) * at(model, integral.form[k], conditions.t0, &|k| place(s, k))
                });
                form.sum()
            };
            points.into_iter().zip(weights).map(|(s, w)| w * slope(s)).sum()
        }
    };
    // Given decimals are rounded; what differs by more was meant so.
    if !difference.is_finite() || difference.abs() <= 1e-9 {
        return None;
    }
    let name = &model.constraints[a].name;
    let what = integral
        .function
        .map_or_else(|| "a function of position".to_owned(), |Φ| format!("`{}`", g.to_text(Φ)));
    let message = format!(
        "the end cannot be reached: the constraint `{name}` is integrable and keeps {what} constant, which differs by {} between the ends",
        brief(difference)
    );
    let span = conditions.spans.iter().find(|(k, _)| used.contains(k));
    let span = span.map_or(model.constraints[a].span, |(_, span)| *span);
    Some(
        Diagnostic::error("E0633", span, message)
            .with_note(model.constraints[a].span, "this constraint".into())
            .with_hint("leave one of its coordinates free at one end"),
    )
}
