//! After what time, and up to what turn, a motion comes back to its start best.
//!
//! A motion on which symmetries act need not return as it was: that of a spherical pendulum returns after each
//! oscillation of its height, turned about the vertical by some angle. The turns that are tried are those about the
//! axis about which the motion turns at its start.

use std::f64::consts::TAU;

use pfaff_solver::{OdeOptions, StopReason, System, integrate, least_squares};

use crate::analysis::phase::field::FieldPoint;
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::shooting::{Shooter, largest};
use crate::analysis::phase::symmetries::Carried;

/// Places of a period that are looked at, and angles at each of them.
const PLACES: usize = 60;
const ANGLES: usize = 64;
/// A miss of this part of what the components move is as good as none: Newton's iteration does the rest.
const ROUGH: f64 = 0.05;

/// The time, from half of a period to two of them, after which a motion is nearest to its start up to turns; these are
/// set. `None` where the motion cannot be followed.
pub(crate) fn nearest_return(
    shooter: &mut Shooter,
    quotient: &Quotient,
    point: &FieldPoint,
    period: f64,
    watch: &mut dyn FnMut() -> bool,
) -> Option<f64> {
    let axis = axis(shooter, point);
    let maps: Vec<(f64, Carried)> = (0..ANGLES)
        .map(|k| {
            let angle = TAU * (k as f64 / ANGLES as f64 - 0.5);
            let back: Vec<f64> = axis.iter().map(|x| -angle * x).collect();
            (angle, Carried::along(&shooter.phase.field, &shooter.turning, &back))
        })
        .collect();
    let states = followed(shooter, &point.y, period / PLACES as f64, 2 * PLACES, watch)?;
    // All components: those that follow from the others tell on which side of the constraints a state is.
    let apart = |c: usize, y: &[f64]| shooter.less_turns(c, y[c] - point.y[c]).abs();
    let size = |c: usize| states.iter().fold(1e-300_f64, |m, y| m.max(apart(c, y)));
    let sizes: Vec<(usize, f64)> = (0..point.y.len())
        .filter(|c| !quotient.cyclic.contains(c))
        .map(|c| (c, size(c)))
        .collect();
    let mut best: Option<(f64, f64, f64)> = None;
    for (k, state) in states.iter().enumerate().skip(PLACES / 2) {
        let part = k as f64 / PLACES as f64;
        for (angle, map) in &maps {
            let back = map.apply(&shooter.phase.field, state, true);
            let off = sizes.iter().fold(0.0_f64, |m, &(c, size)| m.max(apart(c, &back) / size));
            // Of returns that are alike the one after about the period is meant.
            let off = (off + ROUGH) * (1.0 + libm::log(part).abs());
            if best.is_none_or(|(known, ..)| off < known) {
                best = Some((off, part * period, *angle));
            }
        }
    }
    let (_, time, angle) = best?;
    shooter.turned = axis.iter().map(|x| angle * x).collect();
    Some(closest(shooter, quotient, point, time, watch))
}

/// The time and the turn near given ones after which a motion is nearest to its start, which stays where it is: by
/// Gauss and Newton.
fn closest(
    shooter: &mut Shooter,
    quotient: &Quotient,
    point: &FieldPoint,
    mut time: f64,
    watch: &mut dyn FnMut() -> bool,
) -> f64 {
    const ITERATIONS: usize = 12;
    let Some(mut here) = shooter.shoot(quotient, &point.y, time) else { return time };
    for _ in 0..ITERATIONS {
        if !watch() {
            break;
        }
        let field = &shooter.phase.field;
        let turns: Vec<Vec<f64>> =
            shooter.turning.iter().map(|s| field.prolonged(&s.frame, &here.end.y)).collect();
        let columns = 1 + turns.len();
        let row = |&c: &usize| {
            std::iter::once(here.end.rates[c]).chain(turns.iter().map(move |x| -x[c]))
        };
        let matrix: Vec<f64> = quotient.variables.iter().flat_map(row).collect();
        let right: Vec<f64> = here.miss.iter().map(|x| -x).collect();
        let step = least_squares(&matrix, right.len(), columns, &right, 1e-9).x;
        let before = shooter.turned.clone();
        shooter.turned.iter_mut().zip(&step[1..]).for_each(|(turned, more)| *turned += more);
        let next = shooter.shoot(quotient, &point.y, time + step[0]);
        match next.filter(|next| largest(&next.miss) < largest(&here.miss)) {
            Some(next) => (time, here) = (time + step[0], next),
            None => {
                shooter.turned = before;
                break;
            }
        }
    }
    time
}

/// The axis about which a state turns, as weights of the symmetries.
fn axis(shooter: &Shooter, point: &FieldPoint) -> Vec<f64> {
    let turning = &shooter.turning;
    if turning.len() == 1 {
        return vec![1.0];
    }
    let field = &shooter.phase.field;
    let fields: Vec<Vec<f64>> =
        turning.iter().map(|s| field.prolonged(&s.frame, &point.y)).collect();
    let rows = (0..point.y.len()).flat_map(|i| fields.iter().map(move |x| x[i]));
    let rows: Vec<f64> = rows.collect();
    let rates = least_squares(&rows, point.y.len(), turning.len(), &point.rates, 1e-9).x;
    let size = rates.iter().map(|x| x * x).sum::<f64>().sqrt();
    if size > 0.0 { rates.into_iter().map(|x| x / size).collect() } else { rates }
}

/// States along a motion at equal distances in time, the start first.
pub(crate) fn followed(
    shooter: &mut Shooter,
    start: &[f64],
    step: f64,
    count: usize,
    watch: &mut dyn FnMut() -> bool,
) -> Option<Vec<Vec<f64>>> {
    let mut state = start.to_vec();
    state.resize(shooter.flow.dimension(), 0.0);
    let (mut t, mut states) = (shooter.phase.t, vec![start.to_vec()]);
    for _ in 0..count {
        if !watch() {
            return None;
        }
        let options =
            OdeOptions { t0: t, t1: t + step, tolerance: 1e-9, ..OdeOptions::default() };
        let outcome = integrate(&mut shooter.flow, &state, &options, &mut ());
        if outcome.stop != StopReason::End {
            return None;
        }
        (t, state) = (outcome.t, outcome.y);
        states.push(state[..start.len()].to_vec());
    }
    Some(states)
}
