//! The check of an error that a second integration found.

use crate::motion::verdict::{Check, Verdict};

/// Errors in parts of a coordinate's size that belong to a tolerance: amplified so much at most, in a hundred steps.
const AMPLIFIED: f64 = 1e5;
/// What rounding adds to a tolerance.
const ROUNDING: f64 = 2e-12;
/// The same where the motion keeps the size of a change, in a hundred steps: ten tolerances each, because the error of
/// a step is itself an estimate.
const PLAIN: f64 = 1e3;
/// What rounding adds to a tolerance there: some five hundred roundings, about forty for each of the twelve stages of a
/// step.
const PLAIN_ROUNDING: f64 = 1e-13;
/// How much the rounding of time may be amplified.
pub(crate) const AMPLIFIED_TIME: f64 = 100.0;
/// Whatever the tolerance, no digit is right beyond this.
pub(crate) const WORST: f64 = 1e-2;

/// The largest error that belongs to a tolerance after some steps, in parts of the size of a coordinate.
pub(crate) fn error_limit(tolerance: f64, steps: f64) -> f64 {
    (AMPLIFIED * (tolerance + ROUNDING) * (1.0 + 0.01 * steps)).min(WORST)
}

/// The largest error that belongs to a tolerance after some steps of a motion that makes changes `growth` times as
/// large: what is more does not come from the steps as the tolerance controls them.
pub(crate) fn plain_limit(tolerance: f64, steps: f64, growth: f64) -> f64 {
    growth * PLAIN * (tolerance + PLAIN_ROUNDING) * (1.0 + 0.01 * steps)
}

/// The check of an error after some steps, in parts of the size of a coordinate.
pub(crate) fn error_check(error: Option<f64>, tolerance: f64, steps: usize) -> Check {
    against_limit(error, error_limit(tolerance, steps as f64))
}

/// The check of an error against a limit.
pub(crate) fn against_limit(error: Option<f64>, limit: f64) -> Check {
    let reason = "errors of steps add up and grow as the motion makes changes grow, and time is rounded; more than \
        1000 tolerances in each hundred steps, times that growth and the margin of the estimate, would mean that the \
        tolerance says nothing about the motion";
    let check = Check::measured("error by a second integration".into(), error, limit, reason);
    // NOTE: a motion that magnifies errors is not wrong, but its last digits are.
    Check { is_needed: true, verdict: check.verdict.min(Verdict::Warn), ..check }
}
