//! Words and numbers that the answers about the flow share.

use pfaff::{Note, Stability, StabilityReason, brief};
use serde_json::Value;

use crate::json::{number, numbers, object};
use crate::number::significant;

/// Given values that had to be moved, in sentences.
pub fn moved_values(notes: &[Note]) -> Vec<String> {
    let sentence = |note: &Note| match note {
        Note::Moved { name, old, new, constraint, residual } => Some(format!(
            "{name} moved from {old} to {new}: the given values contradict the constraint `{constraint}` (residual {})",
            brief(*residual)
        )),
        Note::Remark(text) => Some(text.clone()),
        Note::Solved { .. } | Note::Redundant { .. } | Note::Equivalence | Note::Stopped(_) => {
            None
        }
    };
    notes.iter().filter_map(sentence).collect()
}

/// Values by name as an object.
pub(crate) fn named(values: &[(String, f64)]) -> Value {
    object(values.iter().map(|(name, x)| (name.clone(), number(*x))))
}

/// Values by name in a sentence.
pub(crate) fn listed(values: &[(String, f64)]) -> String {
    // What is rounding beside the others is zero.
    let largest = values.iter().fold(1.0_f64, |m, (_, x)| m.max(x.abs()));
    let rounded = |x: f64| if x.abs() <= 1e-15 * largest { 0.0 } else { x };
    let shown =
        values.iter().map(|(name, x)| format!("{name} = {}", significant(rounded(*x), 10)));
    shown.collect::<Vec<_>>().join(", ")
}

/// Pairs of real and imaginary part.
pub(crate) fn pairs(values: &[[f64; 2]]) -> Value {
    Value::Array(values.iter().map(|v| numbers(v)).collect())
}

/// A complex number with few digits; parts that are rounding are left out.
pub(crate) fn complex(value: [f64; 2], digits: usize) -> String {
    let size = libm::hypot(value[0], value[1]);
    let part = |x: f64| if x.abs() <= 1e-13 * size { 0.0 } else { x };
    let (re, im) = (part(value[0]), part(value[1]));
    let imaginary = format!("{}i", significant(im.abs(), digits));
    match (re, im) {
        (_, 0.0) => significant(re, digits),
        (0.0, _) => format!("{}{imaginary}", if im < 0.0 { "-" } else { "" }),
        _ => {
            let sign = if im < 0.0 { '-' } else { '+' };
            format!("{} {sign} {imaginary}", significant(re, digits))
        }
    }
}

/// The verdict and how it is known, in a sentence.
pub(crate) fn verdict(stability: Stability, reason: StabilityReason) -> String {
    let why = match reason {
        StabilityReason::Growth => "an eigenvalue has a positive real part".to_owned(),
        StabilityReason::Decay => "all eigenvalues have negative real parts".to_owned(),
        StabilityReason::Family(dimension) => format!(
            "eigenvalues other than those of the {dimension}-dimensional family of equilibria have negative real parts"
        ),
        StabilityReason::Energy => {
            "the energy is definite on the level of the conserved momenta".to_owned()
        }
        StabilityReason::Reversible => {
            "the flow is reversible, and all motions nearby are periodic".to_owned()
        }
        StabilityReason::Linear => {
            "the equations are linear, and no oscillation is there twice".to_owned()
        }
        StabilityReason::Fixed => "nothing can move".to_owned(),
        StabilityReason::Oscillation => {
            "imaginary eigenvalues: the linear equations do not decide, and no energy is definite".to_owned()
        }
        StabilityReason::Degenerate => {
            "zero eigenvalues that belong to no family of equilibria: the linear equations do not decide".to_owned()
        }
        StabilityReason::NoEquilibrium => "the state is not an equilibrium".to_owned(),
        StabilityReason::ExplicitTime => {
            "the equations contain t, so their coefficients are those of one instant".to_owned()
        }
    };
    format!("{}: {why}", stability.name())
}
