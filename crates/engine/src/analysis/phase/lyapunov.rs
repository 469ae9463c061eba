//! The Lyapunov spectrum of a motion: `pfaff lyapunov`.
//!
//! $$ \lambda_k = \lim_{T\to\infty} \frac1T \log\lVert s_k\rVert $$
//!
//! for directions that are made orthonormal again and again (Benettin, Galgani, Giorgilli and Strelcyn 1980), on the
//! tangent space of the constraints. Their sum is the mean divergence of the flow, which is integrated separately.

use pfaff_model::Principle;
use pfaff_program::Backend;
use pfaff_solver::{
    self as solver, Control, DenseStep, Observer, OdeOptions, System, integrate,
};

use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::tangent_flow::TangentFlow;
use crate::analysis::phase::zero_exponents::ZeroExponents;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::StopReason;

/// The part of a run before which nothing counts.
const TRANSIENT: f64 = 0.1;
/// Into how many parts the rest is divided for the error.
const BATCHES: usize = 20;
/// How exact exponents are where no end is given, in parts of 1 + |λ|.
const WANTED: f64 = 2e-4;
/// Most steps where no end is given, of one program and of solves.
const MOST: [usize; 2] = [3_000_000, 40_000];
/// Steps between two looks at the error.
const LOOK: usize = 20_000;
const TOLERANCE: f64 = 1e-8;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct LyapunovRequest {
    /// The principle instead of the model's own.
    pub principle: Option<Principle>,
    /// When the motion ends; until the errors are small if `None`.
    pub t1: Option<f64>,
    /// The largest local error of a step; 1e-8 if `None`.
    pub tolerance: Option<f64>,
    /// What evaluates compiled expressions.
    pub backend: Option<Backend>,
}

/// The spectrum of a motion.
#[derive(Clone, Debug)]
pub struct Lyapunov {
    /// The title of the model.
    pub title: String,
    /// The exponents, the largest first.
    pub exponents: Vec<f64>,
    /// The standard error of each, from the parts of the motion.
    pub error: Vec<f64>,
    /// The sum of the exponents.
    pub sum: f64,
    /// The mean divergence of the flow.
    pub divergence: f64,
    /// The dimension of Kaplan and Yorke.
    pub dimension: f64,
    /// Exponents that are zero for a known reason.
    pub zeros: ZeroExponents,
    /// From when to when.
    pub time: (f64, f64),
    /// Steps.
    pub steps: usize,
    /// Why the motion ended; `None` if it was to end there.
    pub stop: Option<StopReason>,
}

/// Computes the spectrum of the motion from the initial state. `watch` is asked now and then and may end it by `false`.
///
/// # Errors
///
/// [`Error`] if no motion can begin.
pub fn lyapunov(
    model: &Model,
    request: &LyapunovRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Lyapunov, Error> {
    spectrum(model, request, watch).map_err(|failure| failure.in_source(&model.source))
}

/// Sums at some times: those of the logarithms, and the divergence.
struct Sums {
    t: f64,
    logarithms: Vec<f64>,
    divergence: f64,
}

/// Collects sums while the motion goes on.
struct Collector<'a> {
    watch: &'a mut dyn FnMut() -> bool,
    sums: Vec<Sums>,
    steps: usize,
}

impl Observer for Collector<'_> {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }

    fn step(&mut self, _step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        self.steps += 1;
        if self.steps.is_multiple_of(256) && !(self.watch)() {
            return Control::Stop;
        }
        Control::Continue
    }
}

/// Means and standard errors from the sums after the transient.
fn means(sums: &[Sums]) -> Option<(usize, Vec<f64>, Vec<f64>, f64)> {
    let (begin, end) = (sums.first()?.t, sums.last()?.t);
    let first = sums.iter().position(|s| s.t >= begin + TRANSIENT * (end - begin))?;
    let (from, to) = (&sums[first], sums.last()?);
    let span = to.t - from.t;
    if span <= 0.0 {
        return None;
    }
    let r = from.logarithms.len();
    let rate = |a: &Sums, b: &Sums, k: usize| (b.logarithms[k] - a.logarithms[k]) / (b.t - a.t);
    let mean: Vec<f64> = (0..r).map(|k| rate(from, to, k)).collect();
    let batches = BATCHES.min(sums.len() - 1 - first);
    let edge = |i: usize| first + (sums.len() - 1 - first) * i / batches.max(1);
    let error = (0..r).map(|k| {
        let square: f64 = (0..batches)
            .map(|i| {
                let (a, b) = (&sums[edge(i)], &sums[edge(i + 1)]);
                let weight = (b.t - a.t) / span;
                weight * (rate(a, b, k) - mean[k]).powi(2)
            })
            .sum();
        (square / (batches.max(2) - 1) as f64).sqrt()
    });
    let error = error.collect();
    Some((first, mean, error, (to.divergence - from.divergence) / span))
}

/// The dimension of Kaplan and Yorke. Exponents within twice their error count as zero, and the least ones as far as
/// zeros are known.
fn dimension(exponents: &[f64], error: &[f64], zeros: usize) -> f64 {
    let mut sizes: Vec<f64> = exponents.iter().map(|λ| λ.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let known = zeros.checked_sub(1).and_then(|k| sizes.get(k)).copied().unwrap_or(-1.0);
    let mut sum = 0.0;
    for (k, (&λ, &ε)) in exponents.iter().zip(error).enumerate() {
        let λ = if λ.abs() <= (2.0 * ε).max(known) { 0.0 } else { λ };
        if sum + λ < 0.0 {
            return k as f64 + sum / λ.abs();
        }
        sum += λ;
    }
    exponents.len() as f64
}

fn spectrum(
    model: &Model,
    request: &LyapunovRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Lyapunov, Failure> {
    if !model.resets.is_empty() || model.hybrid.switches() {
        return Err(Failure::usage(
            "Lyapunov exponents of models with `on` are not available: the derivatives of jumps are not derived",
        ));
    }
    let at =
        LinearizeRequest { principle: request.principle, at: None, backend: request.backend };
    let mut phase = Phase::new(model, &at)?;
    let rates = phase.point()?.rates;
    let backend = request.backend.unwrap_or_default();
    let t0 = phase.t;
    if request.t1.is_some_and(|t1| !t1.is_finite() || t1 <= t0) {
        return Err(Failure::usage("the end of the motion must be after its start"));
    }
    let tolerance = request.tolerance.unwrap_or(TOLERANCE);
    if !(1e-15..=0.1).contains(&tolerance) {
        return Err(Failure::usage("a tolerance lies between 1e-15 and 0.1"));
    }
    let Phase { model: workspace, dynamics, field, y, .. } = phase;
    let Some((mut flow, mut state)) =
        TangentFlow::new(&workspace, &dynamics, field, backend, (t0, &y))?
    else {
        return Err(Failure::usage("at the initial state the equations have no value"));
    };
    if flow.r == 0 {
        return Err(Failure::usage(
            "the constraints leave no direction free: there is no exponent",
        ));
    }
    let most = MOST[usize::from(!flow.is_explicit())];
    let mut collector = Collector { watch, sums: Vec::new(), steps: 0 };
    let last = state.len() - 1;
    let mut t = t0;
    let mut stop = None;
    // A piece ends where the sums are looked at.
    let pieces = 400;
    let mut length = request.t1.map_or(1.0, |t1| (t1 - t0) / f64::from(pieces));
    collector.sums.push(Sums { t, logarithms: flow.logarithms.clone(), divergence: 0.0 });
    let mut step = None;
    loop {
        let left = request.t1.map_or(f64::INFINITY, |t1| t1 - t);
        if left <= 1e-12 * length {
            break;
        }
        let before = collector.steps;
        let end = if left < 1.5 * length { t + left } else { t + length };
        let options = OdeOptions { t0: t, t1: end, tolerance, step, ..OdeOptions::default() };
        let outcome = integrate(&mut flow, &state, &options, &mut collector);
        let taken = collector.steps - before;
        step = Some((outcome.t - t) / taken.max(1) as f64);
        (t, state) = (outcome.t, outcome.y);
        flow.renew(&mut state);
        let (logarithms, divergence) = (flow.logarithms.clone(), state[last]);
        collector.sums.push(Sums { t, logarithms, divergence });
        stop = match outcome.stop {
            solver::StopReason::End | solver::StopReason::Event(_) => None,
            solver::StopReason::StepTooSmall => Some(StopReason::StepTooSmall),
            solver::StopReason::Singular => Some(StopReason::Singular),
            solver::StopReason::NotFinite => Some(StopReason::NotFinite),
            solver::StopReason::MaxSteps => Some(StopReason::MaxSteps),
            solver::StopReason::Interrupted => Some(StopReason::Interrupted),
        };
        if stop.is_some() {
            break;
        }
        if request.t1.is_none() {
            if collector.sums.len().is_multiple_of(50) && collector.steps > LOOK / 4 {
                let found = means(&collector.sums);
                let is_exact = found.is_some_and(|(_, mean, error, _)| {
                    mean.iter().zip(&error).all(|(λ, ε)| *ε <= WANTED * (1.0 + λ.abs()))
                });
                if is_exact && collector.steps > LOOK {
                    break;
                }
            }
            if collector.steps >= most {
                break;
            }
            // Pieces of about a hundred steps.
            if taken > 0 {
                length = (length * 100.0 / taken as f64).clamp(0.2 * length, 5.0 * length);
            }
        }
    }
    let Some((first, mean, error, divergence)) = means(&collector.sums) else {
        return Err(match stop {
            Some(stop) => Failure::Usage(format!(
                "the motion stops at t = {t:.6} ({}): that is too short for exponents",
                stop.name()
            )),
            None => Failure::usage("the motion is too short for exponents"),
        });
    };
    let mut phase = Phase::new(model, &at)?;
    let end = phase.field.at(t, &state[..flow.d]);
    let zeros = end.map(|end| ZeroExponents::of(&mut phase, &rates, &end)).unwrap_or_default();
    let mut order: Vec<usize> = (0..mean.len()).collect();
    order.sort_by(|&a, &b| mean[b].total_cmp(&mean[a]));
    let exponents: Vec<f64> = order.iter().map(|&k| mean[k]).collect();
    let error: Vec<f64> = order.iter().map(|&k| error[k]).collect();
    Ok(Lyapunov {
        title: model.name().to_owned(),
        sum: exponents.iter().sum(),
        dimension: dimension(&exponents, &error, zeros.count()),
        zeros,
        divergence,
        time: (collector.sums[first].t, t),
        steps: collector.steps,
        stop,
        exponents,
        error,
    })
}
