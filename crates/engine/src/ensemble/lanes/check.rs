//! The checks of a motion in a lane, after both its integrations.

use crate::audit::error::error_limit;
use crate::ensemble::lanes::flight::InFlight;
use crate::ensemble::lanes::{LaneCheck, LaneCheckKind, LaneMotion, Lanes};

/// Differences beyond this part of a coordinate's size say nothing.
const APART: f64 = 0.03;
/// Residuals of the equations as written, in parts of their terms: rounding alone.
const AT_STEPS: f64 = 1e-9;
/// The error of a single step, in parts of the tolerance.
const OF_STEP: f64 = 1.0;

/// Whether a motion passes, and what it is then: `read` is what was read off its end, `off` the largest residuals of
/// the equations as written and of the differentiated constraints, at its events and at its end.
pub(super) fn checked(
    lanes: &Lanes,
    flight: &mut InFlight,
    read: &[f64],
    off: [f64; 2],
    motion: &mut LaneMotion,
) -> bool {
    let Lanes { programs, settings, .. } = lanes;
    let layout = programs.layout;
    let n = layout.n;
    if flight.is_mismeasured() {
        return false;
    }
    let LaneMotion { state, errors, checks, .. } = motion;
    errors.clear();
    checks.clear();
    let (end, second) = (&flight.end, &flight.looser);
    let tolerance = settings.tolerance;
    let rounding = 3.0 * f64::EPSILON * end.steps.sqrt();
    // NOTE: a margin that is three times that of a long run, because these may be short.
    let by_tolerance = (30.0 * tolerance + rounding) / settings.looser[flight.attempt];
    let by_steps = 3.0 * (second.steps / end.steps).powi(programs.step.order());
    let margin = by_tolerance.max(by_steps.min(1.0));
    let mut largest = 0.0_f64;
    for ((&y, &other), &size) in end.y[..n].iter().zip(&second.y).zip(&end.largest) {
        let distance = (y - other).abs();
        if distance > APART * size || distance.is_nan() {
            return false;
        }
        largest = largest.max(if distance > 0.0 { margin * distance / size } else { 0.0 });
        let of_rounding = f64::EPSILON * (y.abs() + end.steps * size);
        errors.push(margin * distance + of_rounding + OF_STEP * tolerance * size);
    }
    let mut check = |kind, value, limit| checks.push(LaneCheck { kind, value, limit });
    for (a, residual) in end.residuals.iter().enumerate() {
        // Every velocity is computed from those that are free, to rounding.
        check(LaneCheckKind::Constraint(a), *residual, 1e-12);
    }
    let work = if layout.work > 0 { end.y[layout.controlled()] } else { 0.0 };
    let scale = end.energy_size.max(work.abs());
    let per_step = tolerance + 4.0 * f64::EPSILON;
    let quadrature =
        if layout.work > 0 { 100.0 * libm::pow(tolerance, 0.875) * work.abs() } else { 0.0 };
    let limit = 10.0 * per_step * (end.steps + 1.0) * scale + quadrature;
    check(LaneCheckKind::EnergyBalance, end.energy_off, limit.min(1e-2 * scale));
    check(LaneCheckKind::Equations, off[0], AT_STEPS);
    check(LaneCheckKind::Differentiated, off[1], AT_STEPS);
    check(LaneCheckKind::SecondIntegration, largest, error_limit(tolerance, end.steps));
    // Written so that what is not a number does not pass.
    if !checks.iter().all(|check| check.value <= check.limit) {
        return false;
    }
    state.clear();
    state.extend_from_slice(&end.y[..n]);
    state.extend_from_slice(read);
    (motion.t, motion.event, motion.steps) = (end.t, end.event, end.steps as usize);
    std::mem::swap(&mut motion.events, &mut flight.events);
    flight.events.clear();
    true
}
