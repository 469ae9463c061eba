//! Lyapunov exponents of motions that jump: with contacts, resets and friction.
//!
//! The motion is followed in pieces. Over each the derivatives follow the variational equations, with the saltation at
//! every jump (`run/jump_sensitivity.rs`); at its end the directions are made orthonormal, and the logarithms of their
//! lengths are added up. What jumps add to the divergence of the flow is part of the sum of the exponents, and is not
//! known otherwise.

use pfaff_model::Workspace;

use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::lyapunov::{LyapunovRequest, Means, Sums, dimension};
use crate::analysis::phase::return_map::{has_jumps, starting_at};
use crate::analysis::phase::tangent_flow::add_to_basis;
use crate::analysis::phase::zero_exponents::ZeroExponents;
use crate::error::Failure;
use crate::model::Model;
use crate::motion::StopReason;
use crate::problem::settings::Run;
use crate::run::jump_sensitivity::end_tangents;

use super::lyapunov::Lyapunov;

/// Pieces of a motion, and parts of it for the error.
const PIECES: usize = 200;
const BATCHES: usize = 20;
const TOLERANCE: f64 = 1e-10;
/// A direction that has become so much shorter over a piece is lost: a contact that stays closed has taken it away.
const LOST: f64 = 1e-12;

/// What cannot be begun anew at the end of a piece, or has no derivative.
fn refuse(model: &Workspace) -> Result<(), Failure> {
    let hybrid = &model.hybrid;
    let what = if !hybrid.modes.is_empty() {
        "modes"
    } else if !hybrid.samplers.is_empty() {
        "sampled controls"
    } else if !hybrid.delays.is_empty() {
        "delays"
    } else if model.resets.iter().any(|reset| !reset.parameters.is_empty()) {
        "jumps of parameters"
    } else {
        return Ok(());
    };
    Err(Failure::Usage(format!(
        "Lyapunov exponents of models with {what} are not available: what holds there is not part of the state"
    )))
}

/// The spectrum of a motion that jumps; `None` for models that do not.
pub(super) fn spectrum(
    model: &Model,
    request: &LyapunovRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Option<Lyapunov>, Failure> {
    let workspace = model.workspace();
    let switches = !model.resets.is_empty() || model.hybrid.switches();
    if !switches || !has_jumps(&workspace) {
        return Ok(None);
    }
    refuse(&workspace)?;
    let at =
        LinearizeRequest { principle: request.principle, at: None, backend: request.backend };
    let mut phase = Phase::new(model, &at)?;
    let t0 = phase.t;
    let Some(t1) = request.t1.filter(|t1| t1.is_finite() && *t1 > t0) else {
        return Err(Failure::usage(
            "exponents of a motion that jumps need the end of the motion, after its start",
        ));
    };
    let mut directions = tangents(&mut phase)?;
    if directions.is_empty() {
        return Err(Failure::usage(
            "the constraints leave no direction free: there is no exponent",
        ));
    }
    let n = phase.field.n;
    let places = phase.field.velocity_at.clone();
    let split = |y: &[f64]| -> (Vec<f64>, Vec<f64>) {
        let velocities = places.iter().map(|p| p.map_or(0.0, |p| y[p])).collect();
        (y[..n].to_vec(), velocities)
    };
    let joined = |q: &[f64], v: &[f64]| -> Vec<f64> {
        let velocities = v.iter().zip(&places).filter(|(_, p)| p.is_some()).map(|(v, _)| *v);
        q.iter().copied().chain(velocities).collect()
    };
    let (mut t, mut y) = (t0, phase.y.clone());
    let mut sums = vec![Sums { t, logarithms: vec![0.0; directions.len()], divergence: 0.0 }];
    let (mut steps, mut stop) = (0, None);
    let length = (t1 - t0) / PIECES as f64;
    for piece in 1..=PIECES {
        if !watch() {
            stop = Some(StopReason::Interrupted);
            break;
        }
        let end = if piece == PIECES { t1 } else { t0 + length * piece as f64 };
        let (q, v) = split(&y);
        let begun = starting_at(&workspace, &q, &v)?;
        let run = Run {
            principle: request.principle,
            t0: Some(t),
            t1: Some(end),
            tolerance: Some(request.tolerance.unwrap_or(TOLERANCE)),
            samples: Some(2),
            backend: request.backend,
            ..Run::default()
        };
        let some = directions.iter().map(|s| split(s)).collect();
        let found = end_tangents(&begun, &run, some, &mut |_| watch())?;
        steps += found.motion.statistics.steps;
        if found.motion.stop.reason.is_early() {
            stop = Some(found.motion.stop.reason);
            break;
        }
        if found.rates.is_none() {
            return Err(Failure::Usage(format!(
                "between t = {t} and {end} a jump has no derivative: contacts that are hit together, or infinitely \
                 many jumps"
            )));
        }
        let last = |list: &[crate::motion::Series]| -> Vec<f64> {
            list.iter().map(|s| s.values.last().copied().unwrap_or(f64::NAN)).collect()
        };
        y = joined(&last(&found.motion.q), &last(&found.motion.v));
        directions = found.along.iter().map(|s| joined(&last(&s.q), &last(&s.v))).collect();
        let Some(logarithms) = orthonormal(&mut directions) else {
            return Err(Failure::Usage(format!(
                "between t = {t} and {end} a direction is lost: a contact that stays closed takes it away, and its \
                 exponent is minus infinity"
            )));
        };
        t = end;
        let before = &sums[sums.len() - 1].logarithms;
        let logarithms = logarithms.iter().zip(before).map(|(a, b)| a + b).collect();
        sums.push(Sums { t, logarithms, divergence: f64::NAN });
    }
    let Some(means) = Means::of(std::slice::from_ref(&sums), BATCHES) else {
        return Err(Failure::usage("the motion is too short for exponents"));
    };
    let mut order: Vec<usize> = (0..means.exponents.len()).collect();
    order.sort_by(|&a, &b| means.exponents[b].total_cmp(&means.exponents[a]));
    let exponents: Vec<f64> = order.iter().map(|&k| means.exponents[k]).collect();
    let error: Vec<f64> = order.iter().map(|&k| means.error[k]).collect();
    let time = usize::from(!phase.field.has_time && !is_timed(&workspace));
    let zeros = ZeroExponents { time, ..ZeroExponents::default() };
    Ok(Some(Lyapunov {
        title: model.name().to_owned(),
        sum: exponents.iter().sum(),
        dimension: dimension(&exponents, &error, zeros.count()),
        zeros,
        divergence: f64::NAN,
        time: (means.from, t),
        stretches: 1,
        steps,
        stop,
        exponents,
        error,
    }))
}

/// Whether jumps depend on the time.
fn is_timed(model: &Workspace) -> bool {
    let parts = super::return_map::jumping_parts(model);
    parts.iter().any(|(_, e)| model.graph.contains(*e, &[model.time]))
}

/// An orthonormal basis of the tangent space of the constraints at the start.
fn tangents(phase: &mut Phase) -> Result<Vec<Vec<f64>>, Failure> {
    let point = phase.point()?;
    let d = point.y.len();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for level in [&point.positions, &point.velocities] {
        level.slopes.chunks(d.max(1)).for_each(|row| add_to_basis(&mut basis, row.to_vec()));
    }
    let first = basis.len();
    for k in 0..d {
        let mut unit = vec![0.0; d];
        unit[k] = 1.0;
        add_to_basis(&mut basis, unit);
    }
    Ok(basis.split_off(first))
}

/// Makes directions orthonormal, one after another; the logarithms of their lengths, if none is lost.
fn orthonormal(directions: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut logarithms = Vec::with_capacity(directions.len());
    for k in 0..directions.len() {
        let (done, rest) = directions.split_at_mut(k);
        let x = &mut rest[0];
        let before = dot(x, x).sqrt();
        for _ in 0..2 {
            for b in &*done {
                let part = dot(b, x);
                x.iter_mut().zip(b).for_each(|(x, b)| *x -= part * b);
            }
        }
        let length = dot(x, x).sqrt();
        if !length.is_finite() || length <= LOST * before.max(1e-300) {
            return None;
        }
        logarithms.push(libm::log(length));
        x.iter_mut().for_each(|x| *x /= length);
    }
    Some(logarithms)
}
