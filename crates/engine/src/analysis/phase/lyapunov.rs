//! The Lyapunov spectrum of a motion: `pfaff lyapunov`.
//!
//! $$ \lambda_k = \lim_{T\to\infty} \frac1T \log\lVert s_k\rVert $$
//!
//! for directions that are made orthonormal again and again (Benettin, Galgani, Giorgilli and Strelcyn 1980), on the
//! tangent space of the constraints. Their sum is the mean divergence of the flow, which is integrated separately.
//!
//! Where no end is given, the beginning of the motion is followed alone, and then eight stretches of it beside each
//! other in lanes, from states that lie apart on it: means over an attractor do not ask in which order it is visited.

use pfaff_model::Principle;
use pfaff_program::{Backend, LANES};
use pfaff_solver::{
    self as solver, Control, DenseStep, Observer, OdeOptions, System, integrate,
};

use crate::analysis::phase::jumping_exponents;
use crate::analysis::phase::linearize::{LinearizeRequest, Phase};
use crate::analysis::phase::tangent_flow::TangentFlow;
use crate::analysis::phase::tangent_lanes::{LaneSums, TangentLanes};
use crate::analysis::phase::zero_exponents::ZeroExponents;
use crate::error::{Error, Failure};
use crate::model::Model;
use crate::motion::StopReason;

/// The part of a run before which nothing counts.
const TRANSIENT: f64 = 0.1;
/// Into how many parts the rest is divided for the error.
const BATCHES: usize = 20;
/// How exact exponents are where no end is given, in parts of 1 + |λ|.
const WANTED: f64 = 1.2e-4;
/// Most steps of a single motion where no end is given, of one program and of solves.
const MOST: [usize; 2] = [3_000_000, 40_000];
/// Steps before the error counts.
const LEAST: usize = 20_000;
/// Pieces of a single motion between two starts of lanes.
const APART: usize = 4;
/// Trials of lanes between two records, and records between two looks at the error.
const RECORD: usize = 256;
const LOOK: usize = 40;
/// Most instructions in lanes, which take about two seconds.
const INSTRUCTIONS: usize = 3_000_000_000;
/// By how much a step may be longer than the mean of those before.
const LARGEST_STEP: f64 = 5.0;
/// Parts of each lane for the error.
const PARTS: usize = 4;
/// By how much the logarithm of a length changes over a stretch at least, if that is no power of time: in a regular
/// motion lengths grow as t, by less than a factor of ten after the transient.
const POWER: f64 = 3.0;
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
    /// The standard error of each, from the parts of the motion; no less than an exponent itself that may be zero.
    pub error: Vec<f64>,
    /// The sum of the exponents.
    pub sum: f64,
    /// The mean divergence of the flow; not a number where jumps add to it.
    pub divergence: f64,
    /// The dimension of Kaplan and Yorke.
    pub dimension: f64,
    /// Exponents that are zero for a known reason.
    pub zeros: ZeroExponents,
    /// From when to when; of stretches beside each other from the first beginning to the last end.
    pub time: (f64, f64),
    /// How many stretches of the motion were followed beside each other.
    pub stretches: usize,
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
pub(super) type Sums = LaneSums;

/// Counts steps while the motion goes on.
struct Counter<'a> {
    watch: &'a mut dyn FnMut() -> bool,
    steps: usize,
}

impl Observer for Counter<'_> {
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

/// Means and standard errors.
pub(super) struct Means {
    pub(super) exponents: Vec<f64>,
    pub(super) error: Vec<f64>,
    divergence: f64,
    pub(super) from: f64,
}

impl Means {
    /// From the sums of some stretches after the transient of each, divided into so many parts.
    pub(super) fn of(stretches: &[Vec<Sums>], parts: usize) -> Option<Self> {
        let mut pieces: Vec<(&Sums, &Sums)> = Vec::new();
        let (mut from, mut longest) = (f64::INFINITY, 0.0_f64);
        for sums in stretches {
            let (begin, end) = (sums.first()?.t, sums.last()?.t);
            let first = sums.iter().position(|s| s.t >= begin + TRANSIENT * (end - begin))?;
            let rest = sums.len() - 1 - first;
            let edge = |i: usize| &sums[first + rest * i / parts.min(rest).max(1)];
            pieces.extend((0..parts.min(rest)).map(|i| (edge(i), edge(i + 1))));
            longest = longest.max(end - sums[first].t);
            from = from.min(sums[first].t);
        }
        let span: f64 = pieces.iter().map(|(a, b)| b.t - a.t).sum();
        if pieces.is_empty() || span <= 0.0 {
            return None;
        }
        let r = pieces[0].0.logarithms.len();
        let gain = |(a, b): &(&Sums, &Sums), k: usize| b.logarithms[k] - a.logarithms[k];
        let mean = |k: usize| pieces.iter().map(|p| gain(p, k)).sum::<f64>() / span;
        let exponents: Vec<f64> = (0..r).map(mean).collect();
        let error = (0..r).map(|k| {
            let square: f64 = pieces
                .iter()
                .map(|piece| {
                    let length = piece.1.t - piece.0.t;
                    length / span * (gain(piece, k) / length - exponents[k]).powi(2)
                })
                .sum();
            let by_chance = (square / (pieces.len().max(2) - 1) as f64).sqrt();
            // What may be a power of time may be zero.
            let is_power = exponents[k].abs() * longest < POWER;
            if is_power { by_chance.max(exponents[k].abs()) } else { by_chance }
        });
        let error = error.collect();
        let gained: f64 = pieces.iter().map(|(a, b)| b.divergence - a.divergence).sum();
        Some(Self { error, divergence: gained / span, from, exponents })
    }

    /// Whether all errors are as small as they should be.
    fn is_exact(&self) -> bool {
        let pairs = self.exponents.iter().zip(&self.error);
        pairs.into_iter().all(|(λ, ε)| *ε <= WANTED * (1.0 + λ.abs()))
    }
}

/// The dimension of Kaplan and Yorke. Exponents within twice their error count as zero, and the least ones as far as
/// zeros are known.
pub(super) fn dimension(exponents: &[f64], error: &[f64], zeros: usize) -> f64 {
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

/// A motion in one piece after another, at whose ends the sums are looked at.
struct Single<'a> {
    flow: TangentFlow,
    counter: Counter<'a>,
    t: f64,
    state: Vec<f64>,
    tolerance: f64,
    /// The length of a piece, and of the first step in it.
    length: f64,
    step: Option<f64>,
    sums: Vec<Sums>,
}

impl Single<'_> {
    /// One piece more, at most to an end; why it stopped before.
    fn piece(&mut self, t1: f64) -> Option<StopReason> {
        let before = self.counter.steps;
        let left = t1 - self.t;
        let end = if left < 1.5 * self.length { t1 } else { self.t + self.length };
        let (tolerance, step) = (self.tolerance, self.step);
        let options =
            OdeOptions { t0: self.t, t1: end, tolerance, step, ..OdeOptions::default() };
        let outcome = integrate(&mut self.flow, &self.state, &options, &mut self.counter);
        let taken = self.counter.steps - before;
        self.step = Some((outcome.t - self.t) / taken.max(1) as f64);
        (self.t, self.state) = (outcome.t, outcome.y);
        self.flow.renew(&mut self.state);
        self.record();
        if t1 == f64::INFINITY && taken > 0 {
            // Pieces of about a hundred steps.
            self.length *= (100.0 / taken as f64).clamp(0.2, 5.0);
        }
        match outcome.stop {
            solver::StopReason::End | solver::StopReason::Event(_) => None,
            solver::StopReason::StepTooSmall => Some(StopReason::StepTooSmall),
            solver::StopReason::Singular => Some(StopReason::Singular),
            solver::StopReason::NotFinite => Some(StopReason::NotFinite),
            solver::StopReason::MaxSteps => Some(StopReason::MaxSteps),
            solver::StopReason::Interrupted => Some(StopReason::Interrupted),
        }
    }

    fn record(&mut self) {
        let logarithms = self.flow.logarithms.clone();
        let divergence = self.state[self.state.len() - 1];
        self.sums.push(Sums { t: self.t, logarithms, divergence });
    }

    /// Until a time.
    fn until(&mut self, t1: f64) -> Option<StopReason> {
        while t1 - self.t > 1e-12 * self.length {
            if let Some(stop) = self.piece(t1) {
                return Some(stop);
            }
        }
        None
    }

    /// Until the errors are small, or for so many steps.
    fn until_exact(&mut self, most: usize) -> Option<StopReason> {
        while self.counter.steps < most {
            if let Some(stop) = self.piece(f64::INFINITY) {
                return Some(stop);
            }
            if self.sums.len().is_multiple_of(50) && self.counter.steps > LEAST {
                let found = Means::of(std::slice::from_ref(&self.sums), BATCHES);
                if found.is_some_and(|found| found.is_exact()) {
                    break;
                }
            }
        }
        None
    }

    /// One motion until the last step before a time, the same in all lanes; `None` where it is short or does not go
    /// on. Otherwise its sums, and why it ended before.
    fn in_a_lane(
        &mut self,
        lanes: &mut TangentLanes,
        t1: f64,
    ) -> Option<(Vec<Sums>, Option<StopReason>)> {
        /// Steps in a piece, one of four hundred, below which a single motion is quick.
        const FEW: usize = 5;
        // The first steps of all are short.
        for _ in 0..4 {
            if self.piece(t1).is_some() {
                return None;
            }
        }
        let before = self.counter.steps;
        if self.piece(t1).is_some() || self.counter.steps - before < FEW {
            return None;
        }
        let mut h = self.step?;
        (0..LANES).for_each(|lane| lanes.start(lane, self.t, h, &self.state));
        let most = (self.counter.steps - before).min(RECORD);
        let mut sums = vec![lanes.sums(0)?];
        loop {
            let t = sums[sums.len() - 1].t;
            // Steps vary: as many as surely fit, then one by one.
            let fit = ((t1 - t) / (LARGEST_STEP * h)) as usize;
            if t1 - t < 2.0 * h {
                return Some((sums, None));
            }
            if !(self.counter.watch)() {
                return Some((sums, Some(StopReason::Interrupted)));
            }
            let trials = fit.clamp(1, most);
            lanes.advance(trials);
            let found = lanes.sums(0)?;
            if found.t > t {
                h = (found.t - t) / trials as f64;
            }
            if found.t > t1 {
                return Some((sums, None));
            }
            sums.push(found);
        }
    }

    /// Follows the beginning of the motion and starts lanes on it; why it stopped before.
    fn start(&mut self, lanes: &mut TangentLanes) -> Option<StopReason> {
        for lane in 0..LANES {
            for _ in 0..APART {
                if let Some(stop) = self.piece(f64::INFINITY) {
                    return Some(stop);
                }
            }
            let h = self.step.unwrap_or(self.length);
            lanes.start(lane, self.t, h, &self.state);
        }
        None
    }
}

/// Follows lanes until the errors are small. Why they stopped before; no sums where single motions know better.
fn follow(
    lanes: &mut TangentLanes,
    watch: &mut dyn FnMut() -> bool,
) -> (Vec<Vec<Sums>>, Option<StopReason>) {
    let mut stretches = vec![Vec::new(); LANES];
    let most = INSTRUCTIONS / lanes.instructions.max(1) / RECORD;
    let mut records = 0;
    loop {
        for (lane, stretch) in stretches.iter_mut().enumerate() {
            match lanes.sums(lane) {
                Some(sums) => stretch.push(sums),
                None => return (Vec::new(), Some(StopReason::StepTooSmall)),
            }
        }
        if records >= most.max(LOOK) {
            return (stretches, None);
        }
        if records % LOOK == 0 && records * RECORD > LEAST {
            let found = Means::of(&stretches, PARTS);
            if found.is_some_and(|found| found.is_exact()) {
                return (stretches, None);
            }
        }
        if !watch() {
            return (stretches, Some(StopReason::Interrupted));
        }
        lanes.advance(RECORD);
        records += 1;
    }
}

fn spectrum(
    model: &Model,
    request: &LyapunovRequest,
    watch: &mut dyn FnMut() -> bool,
) -> Result<Lyapunov, Failure> {
    if let Some(found) = jumping_exponents::spectrum(model, request, watch)? {
        return Ok(found);
    }
    let plain = spectrum_along(model, request, watch, false)?;
    // Where components of directions begin as high powers of time, no first step is short enough.
    plain
        .map_or_else(|| spectrum_along(model, request, watch, true), |found| Ok(Some(found)))?
        .ok_or_else(|| Failure::usage("the motion is too short for exponents"))
}

/// The spectrum with directions that begin as those of components, or tilted; `None` if not even the first step is
/// possible with those of components.
fn spectrum_along(
    model: &Model,
    request: &LyapunovRequest,
    watch: &mut dyn FnMut() -> bool,
    is_tilted: bool,
) -> Result<Option<Lyapunov>, Failure> {
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
    let (symbols, rows) = (field.symbols.clone(), field.m + field.holonomic());
    let Some((flow, state)) =
        TangentFlow::new(&workspace, &dynamics, field, backend, (t0, &y), is_tilted)?
    else {
        return Err(Failure::usage("at the initial state the equations have no value"));
    };
    if flow.r == 0 {
        return Err(Failure::usage(
            "the constraints leave no direction free: there is no exponent",
        ));
    }
    let most = MOST[usize::from(!flow.is_explicit())];
    // Constraints that repeat others are left to the solve of each state.
    let is_regular = flow.r + rows == flow.d;
    // One motion to a given end is followed in a lane where the alternative is a solve at each state.
    let mut lanes = if is_regular && (request.t1.is_none() || !flow.is_explicit()) {
        TangentLanes::new(&workspace, &dynamics, &symbols, flow.r, tolerance, backend)
    } else {
        None
    };
    // A piece ends where the sums are looked at.
    let length = request.t1.map_or(1.0, |t1| (t1 - t0) / 400.0);
    let counter = Counter { watch, steps: 0 };
    let sums = Vec::new();
    let mut single =
        Single { flow, counter, t: t0, state, tolerance, length, step: None, sums };
    single.record();
    let mut followed = None;
    let stop = match (&mut lanes, request.t1) {
        (None, Some(t1)) => single.until(t1),
        (Some(lanes), Some(t1)) => match single.in_a_lane(lanes, t1) {
            Some((sums, stop)) => {
                followed = Some((vec![sums], lanes.steps() / LANES, lanes.state(0)));
                stop
            }
            None => single.until(t1),
        },
        (None, None) => single.until_exact(most),
        (Some(lanes), None) => match single.start(lanes) {
            Some(stop) => Some(stop),
            None => {
                let (stretches, stop) = follow(lanes, single.counter.watch);
                if stretches.is_empty() {
                    single.until_exact(most)
                } else {
                    followed = Some((stretches, lanes.steps(), lanes.state(0)));
                    stop
                }
            }
        },
    };
    let (stretches, parts, steps, (t, end)) = match followed {
        Some((stretches, steps, end)) if stretches.len() == 1 => {
            (stretches, BATCHES, steps, end)
        }
        Some((stretches, steps, end)) => (stretches, PARTS, steps, end),
        None => {
            let end = (single.t, single.state[..single.flow.d].to_vec());
            (vec![single.sums], BATCHES, single.counter.steps, end)
        }
    };
    let Some(Means { exponents: mean, error, divergence, from }) = Means::of(&stretches, parts)
    else {
        if !is_tilted && stop == Some(StopReason::StepTooSmall) && t - t0 < 1e-9 {
            return Ok(None);
        }
        return Err(match stop {
            Some(stop) => Failure::Usage(format!(
                "the motion stops at t = {t:.6} ({}): that is too short for exponents",
                stop.name()
            )),
            None => Failure::usage("the motion is too short for exponents"),
        });
    };
    let to = stretches.iter().filter_map(|s| s.last()).fold(t, |to, sums| to.max(sums.t));
    let mut phase = Phase::new(model, &at)?;
    let end = phase.field.at(t, &end);
    let zeros = end.map(|end| ZeroExponents::of(&mut phase, &rates, &end)).unwrap_or_default();
    let mut order: Vec<usize> = (0..mean.len()).collect();
    order.sort_by(|&a, &b| mean[b].total_cmp(&mean[a]));
    let exponents: Vec<f64> = order.iter().map(|&k| mean[k]).collect();
    let error: Vec<f64> = order.iter().map(|&k| error[k]).collect();
    Ok(Some(Lyapunov {
        title: model.name().to_owned(),
        sum: exponents.iter().sum(),
        dimension: dimension(&exponents, &error, zeros.count()),
        zeros,
        divergence,
        time: (from, to),
        stretches: stretches.len(),
        steps,
        stop,
        exponents,
        error,
    }))
}
