//! A system with memory into a run: steps, outputs, events.
//!
//! The densities are not smooth at the start, so the first step is very short and the steps grow
//! geometrically from there, as far as the error allows. The error of a
//! step is estimated by the decay of the Legendre coefficients $\hat x_m$: the first that is left out and
//! matters at the end of
//! the step, where collocation is better than within, is about $\hat x_{s-1}^3/\hat x_{s-2}^2$, felt in an
//! operand as $h^\mu$ times that.
//!
//! **Dense output** is exact: an output within a step is the end of a shorter step from the same start, so
//! that it satisfies all equations as a step does.
//! Events are located in the same way.

mod attempt;
mod begin;
pub(super) mod in_step;
mod switching;

use super::collocation::{RunFrame, StepCollocation};
use super::event_watch::EventWatch;
use super::exponentials::LagRange;
use super::history::{History, StepSpan};
use super::system::VolterraSystem;
use super::units::{ObserverInUnits, SystemInUnits, Units};
use crate::ode::observer::{Control, LocatedEvent};
use crate::ode::options::StopReason;
use crate::ode::system::EvalError;
use crate::quadrature::lagrange;
use attempt::{Attempt, Sampling};
use begin::{first, stops};
use switching::Switching;

/// How to integrate a system with memory.
#[derive(Clone, Debug, PartialEq)]
pub struct VolterraOptions {
    /// Where to start.
    pub t0: f64,
    /// Where to end, after `t0`.
    pub t1: f64,
    /// Allowed error of a step, relative to $1 + |z|$ in the units.
    pub tolerance: f64,
    /// Units of the unknowns and of what is integrated of them; ones if there are none.
    pub units: Vec<f64>,
    /// Nodes in each step.
    pub stages: usize,
    /// Length of the first step as a fraction of the run.
    pub first: f64,
    /// A given length of the steps, without error control; the first ones are shorter, graded towards the start.
    pub step: Option<f64>,
    /// Output times, ascending, within the run.
    pub outputs: Vec<f64>,
    /// Most steps to try.
    pub max_steps: usize,
    /// The smallest exponent $e > -1$ with which a density begins, $x \sim \tau^e$; 0 if all are bounded.
    pub exponent: f64,
    /// How far Newton's iteration goes, as a part of the tolerance; 0 is to rounding, so that equations hold
    /// at every output.
    pub settled: f64,
}

impl Default for VolterraOptions {
    fn default() -> Self {
        Self {
            t0: 0.0,
            t1: 1.0,
            tolerance: 1e-11,
            units: Vec::new(),
            stages: 6,
            first: 1e-14,
            step: None,
            outputs: Vec::new(),
            max_steps: 10_000_000,
            exponent: 0.0,
            settled: 0.0,
        }
    }
}

/// One step as the polynomials of its unknowns.
#[derive(Clone, Copy, Debug)]
pub struct VolterraStep<'a> {
    /// Where it begins, from the start of the run.
    pub elapsed: f64,
    /// Its length.
    pub h: f64,
    /// The unknowns, node by node.
    pub x: &'a [f64],
    /// How many there are at each node.
    pub unknowns: usize,
}

/// Who watches a run with memory.
pub trait VolterraObserver {
    /// One of the output times: unknowns and operands there.
    fn sample(&mut self, t: f64, x: &[f64], z: &[f64]) {
        let _ = (t, x, z);
    }

    /// The step that ends at the output time `t`, which is told next.
    fn last(&mut self, t: f64, piece: &VolterraStep<'_>) {
        let _ = (t, piece);
    }

    /// One accepted step, before it is told that it ends.
    fn piece(&mut self, piece: &VolterraStep<'_>) {
        let _ = piece;
    }

    /// One accepted step ends.
    fn step(&mut self, t: f64, x: &[f64], z: &[f64]) -> Control {
        let _ = (t, x, z);
        Control::Continue
    }

    /// One event.
    fn event(&mut self, event: &LocatedEvent, x: &[f64], z: &[f64]) {
        let _ = (event, x, z);
    }
}

impl VolterraObserver for () {}

/// Where a run with memory ended, why, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct VolterraOutcome {
    /// Why it ended.
    pub stop: StopReason,
    /// Where it ended.
    pub t: f64,
    /// The unknowns there.
    pub x: Vec<f64>,
    /// The operands there.
    pub z: Vec<f64>,
    /// Accepted steps.
    pub steps: usize,
    /// Rejected trials.
    pub rejected: usize,
    /// Evaluations of the equations.
    pub evaluations: usize,
    /// Exponentials in use for all kernels at most.
    pub exponentials: usize,
    /// The largest size of each operand.
    pub sizes: Vec<f64>,
}

/// Integrates a system with memory.
pub fn integrate_volterra(
    system: &mut dyn VolterraSystem,
    options: &VolterraOptions,
    observer: &mut dyn VolterraObserver,
) -> VolterraOutcome {
    if options.units.iter().all(|unit| *unit == 1.0) {
        return integrated(system, options, observer);
    }
    let units = Units::new(&options.units, &system.operands());
    let mut system = SystemInUnits::new(system, &units);
    let mut observer = ObserverInUnits::new(observer, &units);
    let found = integrated(&mut system, options, &mut observer);
    let (mut x, mut z, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    units.unknowns(&found.x, &mut x);
    units.operands(&found.z, &mut z);
    units.operands(&found.sizes, &mut sizes);
    VolterraOutcome { x, z, sizes, ..found }
}

fn integrated(
    system: &mut dyn VolterraSystem,
    options: &VolterraOptions,
    observer: &mut dyn VolterraObserver,
) -> VolterraOutcome {
    let mut run = VolterraRun::new(system, options);
    let stop = run.complete(observer);
    VolterraOutcome {
        stop,
        t: if stop == StopReason::End { options.t1 } else { options.t0 + run.progress.elapsed },
        x: run.x.clone(),
        z: run.z.clone(),
        steps: run.progress.steps,
        rejected: run.progress.rejected,
        evaluations: run.main.evaluations + run.inner.evaluations,
        exponentials: run.history.terms(),
        sizes: run.sizes,
    }
}

/// Parts of an octave that lengths under error control are rounded to.
const COARSE: f64 = 4.0;
/// The same for the graded mesh of a given length, as parts of that length, so that meshes of different
/// lengths are graded alike:
/// 1 % more steps, and at most some thousand tables however many steps there are.
const FINE: f64 = 64.0;

/// The length rounded down to a part of an octave, so that lengths come back.
fn rounded(h: f64, parts: f64) -> f64 {
    libm::exp2((parts * libm::log2(h)).floor() / parts)
}

/// A sum and what rounding took from it.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let share = sum - a;
    (sum, (a - (sum - share)) + (b - share))
}

/// An empty past for a run whose first step has the length `h`.
fn past(frame: &RunFrame, options: &VolterraOptions, h: f64) -> History {
    // Outputs within the first step may ask for much shorter ones.
    let shortest = 1e-3 * frame.basis.nodes[0] * h;
    // The kernel is met a thousand times better than a step; a given length of steps says nothing of what is wanted.
    let error = if options.step.is_some() { 0.0 } else { 1e-3 * options.tolerance };
    let lags = LagRange { shortest, longest: options.t1 - options.t0, error };
    History::new(&frame.operands, &frame.basis, lags)
}

/// How a point of the trial was found.
pub(super) enum TrialPoint {
    /// It is the end of the trial.
    End,
    /// By a step of this length.
    Within(f64),
    /// It is the start of the trial.
    Start,
}

/// A step that is solved and not yet accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct VolterraTrial {
    /// Its length.
    pub(super) h: f64,
    /// Where it ends, from the start of the run.
    pub(super) end: f64,
}

pub(super) struct VolterraRun<'a> {
    pub(super) system: &'a mut dyn VolterraSystem,
    pub(super) options: &'a VolterraOptions,
    pub(super) frame: RunFrame,
    history: History,
    pub(super) main: StepCollocation,
    /// For outputs and events within a step.
    inner: StepCollocation,
    /// How far the run is.
    pub(super) progress: RunProgress,
    /// Length of the next step, if nothing shortens it.
    h: f64,
    /// The last step, for the guess of the next.
    last: LastStep,
    pub(super) x: Vec<f64>,
    pub(super) z: Vec<f64>,
    /// The largest operands at the ends of steps.
    sizes: Vec<f64>,
    /// Where the motion may have kinks, ascending: steps end there.
    stops: Vec<f64>,
    /// Whether the last trial was rejected: the next step is no longer than what then succeeds.
    warned: bool,
    /// The event functions.
    pub(super) watch: EventWatch,
    /// The switching functions.
    switching: Switching,
    sampling: Sampling,
}

/// What a run has done so far.
#[derive(Clone, Debug, Default)]
pub(super) struct RunProgress {
    /// Time since the start.
    pub(super) elapsed: f64,
    /// What the sum of the lengths lost in `elapsed`: the same length a million times over loses the same way.
    lost: f64,
    /// Accepted steps.
    steps: usize,
    /// Rejected trials.
    rejected: usize,
    /// Which output comes next.
    output: usize,
}

/// The last step and its continuation.
#[derive(Clone, Debug)]
struct LastStep {
    /// Its length; 0 before the first.
    h: f64,
    /// Its unknowns at the nodes.
    values: Vec<f64>,
    /// The ratio of lengths for which `weights` continue it.
    ratio: f64,
    /// Row by row, the weights of its nodes at the nodes of the next step.
    weights: Vec<f64>,
}

impl<'a> VolterraRun<'a> {
    fn new(system: &'a mut dyn VolterraSystem, options: &'a VolterraOptions) -> Self {
        let (n, operands) = (system.unknowns(), system.operands());
        let mut frame = RunFrame::new(options.t0, n, operands, options.stages.max(2));
        frame.settled = options.settled * options.tolerance;
        let span = options.t1 - options.t0;
        let h = first(&frame, options);
        let switching = Switching::new(system, options);
        let further: Vec<f64> = system.stops().iter().map(|t| t - options.t0).collect();
        let history = past(&frame, options, switching.shortest(h));
        let z: Vec<f64> = frame.operands.iter().map(|o| o.start_at(0.0)).collect();
        let mut guess = system.guess();
        guess.resize(n, 0.0);
        Self {
            main: StepCollocation::new(&frame),
            inner: StepCollocation::new(&frame),
            history,
            progress: RunProgress::default(),
            h,
            last: LastStep {
                h: 0.0,
                values: guess.repeat(frame.basis.stages),
                ratio: 0.0,
                weights: Vec::new(),
            },
            x: vec![0.0; n],
            sizes: z.iter().map(|z| z.abs()).collect(),
            z,
            stops: stops(&frame.operands, &switching.breaks, &further, span),
            warned: false,
            watch: EventWatch::new(system.events().to_vec()),
            switching,
            sampling: Sampling::new(&frame),
            frame,
            system,
            options,
        }
    }

    fn complete(&mut self, observer: &mut dyn VolterraObserver) -> StopReason {
        let span = self.options.t1 - self.options.t0;
        if span <= 0.0 {
            return StopReason::End;
        }
        if !span.is_finite() {
            return StopReason::NotFinite;
        }
        while self
            .options
            .outputs
            .get(self.progress.output)
            .is_some_and(|&t| t <= self.options.t0)
        {
            self.progress.output += 1;
        }
        match self.settle(None) {
            Ok(true) => {}
            Ok(false) => return StopReason::Singular,
            Err(error) => return error.into(),
        }
        match self.open(observer) {
            Ok(None) => {}
            Ok(Some(stop)) => return stop,
            Err(error) => return error.into(),
        }
        loop {
            if self.progress.steps + self.progress.rejected >= self.options.max_steps {
                return StopReason::MaxSteps;
            }
            let h = self.next_length();
            let rejection = match self.attempt(h, observer) {
                Attempt::Accepted if self.progress.elapsed >= span => return StopReason::End,
                Attempt::Accepted => continue,
                Attempt::Ended(stop) => return stop,
                Attempt::Rejected(why) => why,
            };
            self.progress.rejected += 1;
            self.warned = true;
            // NOTE: rounding of the time since the start; a step that adds nothing to it would never end.
            if self.h < 4.0 * f64::EPSILON * self.progress.elapsed {
                return rejection;
            }
        }
    }

    /// The length of the next trial: to the next place where a step must end, neither leaving a sliver there
    /// nor taking a step twice as long as wanted.
    fn next_length(&self) -> f64 {
        let span = self.options.t1 - self.options.t0;
        let passed = |stop: &f64| *stop <= self.progress.elapsed * (1.0 + 1e-14);
        let stop = self.stops.get(self.stops.partition_point(passed));
        let left = stop.map_or(span, |s| s.min(span)) - self.progress.elapsed;
        let h = self.h.min(left);
        if h < left && left < 1.9 * h {
            if left < 1.01 * h { left } else { 0.5 * left }
        } else {
            h
        }
    }

    /// $(1/\text{error})^{1/(s+2)}$ with some safety.
    fn factor(&self, error: f64) -> f64 {
        0.85 * libm::pow(1.0 / error.max(1e-12), 1.0 / (self.frame.basis.stages as f64 + 2.0))
    }

    fn following(&self, h: f64, error: f64) -> f64 {
        if let Some(step) = self.options.step {
            // Graded: h ~ t^{0.9}, so that every power of t is met with full order.
            let span = self.options.t1 - self.options.t0;
            let since = self.progress.elapsed - self.switching.since;
            let graded = step * libm::pow((since / span.min(1.0)).min(1.0), 0.9);
            let wanted = graded.min(0.6 * since);
            // The tables of a length serve until the next part of an octave; the full length is reached exactly.
            let length = step * rounded(wanted / step, FINE);
            return if wanted >= step { step } else { length };
        }
        let factor = self.factor(error).clamp(0.2, if self.warned { 1.0 } else { 3.0 });
        // A step of a length that was there before costs no new tables.
        if (0.95..1.3).contains(&factor) { h } else { rounded(h * factor, COARSE) }
    }

    /// The last step continued: as a polynomial where that is tame, else as a constant.
    fn guess(&mut self, h: f64) {
        let (s, n) = (self.frame.basis.stages, self.frame.n);
        let LastStep { h: last, values, ratio: known, weights } = &mut self.last;
        let ratio = if *last > 0.0 { h / *last } else { f64::INFINITY };
        if ratio >= 1.3 {
            for j in 0..s {
                self.main.x[j * n..(j + 1) * n].copy_from_slice(&values[(s - 1) * n..]);
            }
            return;
        }
        if *known != ratio {
            *known = ratio;
            weights.clear();
            for c in &self.frame.basis.nodes {
                let row = (0..s).map(|k| lagrange(&self.frame.basis.nodes, k, 1.0 + c * ratio));
                weights.extend(row);
            }
        }
        for j in 0..s {
            let row = &weights[j * s..(j + 1) * s];
            for i in 0..n {
                let terms = row.iter().enumerate().map(|(k, w)| w * values[k * n + i]);
                self.main.x[j * n + i] = terms.sum();
            }
        }
    }

    /// The last Legendre coefficient of an unknown in the trial, and its ratio to the one before.
    fn decay(&self, unknown: usize) -> (f64, f64) {
        let (s, n) = (self.frame.basis.stages, self.frame.n);
        let rows = &self.frame.basis.analysis;
        let coefficient = |m: usize| -> f64 {
            let row = rows[m * s..(m + 1) * s].iter().enumerate();
            row.map(|(j, weight)| weight * self.main.x[j * n + unknown]).sum()
        };
        let last = coefficient(s - 1).abs();
        let before = coefficient(s - 2).abs().max(last);
        (last, if before > 0.0 { last / before } else { 0.0 })
    }

    /// The estimated error of the trial, as a multiple of the allowed one.
    fn error(&self, h: f64) -> f64 {
        let (s, count) = (self.frame.basis.stages, self.frame.operands.len());
        let mut worst = 0.0_f64;
        for (p, operand) in self.frame.operands.iter().enumerate().filter(|o| o.1.controlled) {
            let (last, ratio) = self.decay(operand.unknown);
            let left_out = last * ratio * ratio;
            let felt = libm::pow(h, operand.smoothing()) * left_out;
            let z = self.main.z[(s - 1) * count + p].abs();
            worst = worst.max(felt / (self.options.tolerance.max(1e-14) * (1.0 + z)));
        }
        worst
    }

    /// Where a step of length `h` ends, and what rounding took from it.
    fn end_of(&self, h: f64) -> (f64, f64) {
        let span = self.options.t1 - self.options.t0;
        let (end, lost) = two_sum(self.progress.elapsed, h + self.progress.lost);
        if (end - span).abs() <= 4.0 * f64::EPSILON * span {
            return (span, 0.0);
        }
        let at = self.stops.partition_point(|stop| *stop < end);
        let near = |stop: &&f64| (**stop - end).abs() <= 4.0 * f64::EPSILON * end;
        match self.stops[at.saturating_sub(1)..].iter().take(2).find(near) {
            Some(&stop) => (stop, 0.0),
            None => (end, lost),
        }
    }

    fn accept(
        &mut self,
        h: f64,
        observer: &mut dyn VolterraObserver,
    ) -> Result<Option<StopReason>, EvalError> {
        let span = self.options.t1 - self.options.t0;
        let (end, lost) = self.end_of(h);
        let trial = VolterraTrial { h, end };
        let stop = self.tell_events(trial, observer)?;
        let reached = stop.map_or(end, |e| e.t - self.options.t0);
        while let Some(&t) = self.options.outputs.get(self.progress.output)
            && t - self.options.t0 <= reached
        {
            let (unknowns, elapsed) = (self.frame.n, self.progress.elapsed);
            match self.at(t - self.options.t0, trial)? {
                TrialPoint::End => {
                    observer.last(t, &VolterraStep { elapsed, h, x: &self.main.x, unknowns });
                }
                TrialPoint::Within(h) => {
                    observer.last(t, &VolterraStep { elapsed, h, x: &self.inner.x, unknowns });
                }
                TrialPoint::Start => {}
            }
            observer.sample(t, &self.x, &self.z);
            self.progress.output += 1;
        }
        if let Some(event) = stop {
            self.at(event.t - self.options.t0, trial)?;
            self.progress.elapsed = reached;
            self.progress.steps += 1;
            return Ok(Some(StopReason::Event(event.index)));
        }
        let x = &self.main.x;
        observer.piece(&VolterraStep {
            elapsed: self.progress.elapsed,
            h,
            x,
            unknowns: self.frame.n,
        });
        let tables = &self.main.tables;
        let (basis, x) = (&self.frame.basis, &self.main.x);
        self.history.advance(basis, self.progress.elapsed, x, self.frame.n, tables);
        self.x.copy_from_slice(self.main.x_end(&self.frame));
        self.z.copy_from_slice(self.main.z_end(&self.frame));
        self.sizes.iter_mut().zip(&self.z).for_each(|(size, z)| *size = size.max(z.abs()));
        self.last.h = h;
        self.last.values.copy_from_slice(&self.main.x);
        (self.progress.elapsed, self.progress.lost) = (end, lost);
        self.progress.steps += 1;
        let control = observer.step(self.options.t0 + end, &self.x, &self.z);
        let interrupted = control == Control::Stop && end < span;
        Ok(interrupted.then_some(StopReason::Interrupted))
    }

    /// Unknowns and operands at `at` within the trial step, by a shorter step from the same start.
    pub(super) fn at(
        &mut self,
        at: f64,
        trial: VolterraTrial,
    ) -> Result<TrialPoint, EvalError> {
        let VolterraTrial { h, end } = trial;
        let length = at - self.progress.elapsed;
        if at >= end || length >= (1.0 - 1e-14) * h {
            self.x.copy_from_slice(self.main.x_end(&self.frame));
            self.z.copy_from_slice(self.main.z_end(&self.frame));
            return Ok(TrialPoint::End);
        }
        if length <= 1e-9 * h && self.progress.steps > 0 {
            // NOTE: nothing changes within a billionth of a step; x and z are those of its start.
            return Ok(TrialPoint::Start);
        }
        let (s, n) = (self.frame.basis.stages, self.frame.n);
        let mut column = vec![0.0; s];
        for i in 0..n {
            for (j, c) in column.iter_mut().enumerate() {
                *c = self.main.x[j * n + i];
            }
            for j in 0..s {
                let θ = self.frame.basis.nodes[j] * length / h;
                self.inner.x[j * n + i] = self.frame.basis.value(&column, θ);
            }
        }
        let (frame, history) = (&self.frame, &mut self.history);
        self.inner.solve(
            frame,
            history,
            StepSpan { start: self.progress.elapsed, h: length },
            self.system,
        )?;
        self.x.copy_from_slice(self.inner.x_end(&self.frame));
        self.z.copy_from_slice(self.inner.z_end(&self.frame));
        Ok(TrialPoint::Within(length))
    }
}
