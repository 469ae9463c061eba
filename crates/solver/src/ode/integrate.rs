//! A system and its initial state into a run.
//!
//! Each turn tries a step; a trial that passes the error control is projected (and repeated smaller
//! if that takes it far away), its end rates are
//! evaluated, its dense output refined if someone will look at it or an event may be near, and its events located.
//! Only then it becomes part of the run. A trial that meets a point without value
//! ([`EvalError`]) anywhere on this way is repeated with a quarter of its size.
//!
//! **Tolerance.** Local error $\le E\,s_i$ a step in every controlled component, with the scales of `scale.rs`.
//!
//! **Invariants.** Nothing is allocated after the first step begins; the end `t1` is hit
//! exactly; stopping is data: [`Outcome`] holds the last good state and says why it is the last.

mod jump;

use std::mem::swap;

use crate::ode::dense_output::DenseStep;
use crate::ode::dop853::Dop853;
use crate::ode::events::EventFinder;
use crate::ode::features::{FeatureWatch, Sampling};
use crate::ode::knots::KnotWatch;
use crate::ode::observer::{Control, Observer};
use crate::ode::options::{Method, OdeOptions, Outcome, Statistics, StopReason};
use crate::ode::own_steps::OwnSteps;
use crate::ode::radau::Radau;
use crate::ode::refinement::EventRefiner;
use crate::ode::rk4::Rk4;
use crate::ode::rosenbrock::Rosenbrock;
use crate::ode::runge_kutta::RungeKutta;
use crate::ode::scale::Scale;
use crate::ode::stepper::{ScaledState, StepClock, StepEnds, Stepper, Trial};
use crate::ode::stiffness::StiffnessWatch;
use crate::ode::system::{Counted, EvalError, System, finite};
use crate::ode::taylor::Taylor;

use jump::JumpLog;

/// Integrates `system` from `y0`, and tells `observer` every accepted step and event.
pub fn integrate(
    system: &mut dyn System,
    y0: &[f64],
    options: &OdeOptions,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut run = OdeRun::new(system, y0, options);
    let stop = run.complete(observer);
    run.statistics.evaluations = run.system.evaluations;
    let n = run.y.len();
    // NOTE: roundings of so many steps add up like those of their root.
    let steps = run.statistics.steps.max(1) as f64;
    let length = (run.clock.t - options.t0) / steps.sqrt();
    let (scales, roundings) = (run.scale.sizes(n, length), run.scale.roundings(n));
    let OdeRun { y, vague, fallback, stiff, has_features, statistics, clock, jumps, .. } = run;
    Outcome {
        stop,
        t: clock.t,
        y,
        scales,
        roundings,
        vague,
        fallback,
        stiff,
        has_features,
        accumulated: jumps.accumulated,
        statistics,
    }
}

/// The storage of a method for a system of `n` components.
fn stepper(method: Method, order: Option<usize>, n: usize, scale: &Scale) -> Box<dyn Stepper> {
    match method {
        Method::Dop853 => Box::new(RungeKutta::new(Dop853::new(n, scale), n)),
        Method::Rk4 => Box::new(RungeKutta::new(Rk4::new(n), n)),
        Method::Taylor => Box::new(Taylor::new(n, order, scale)),
        Method::Radau => Box::new(Radau::new(n, order)),
        Method::Own => Box::new(RungeKutta::new(OwnSteps::new(n, scale.controlled), n)),
        Method::Rosenbrock => Box::new(Rosenbrock::new(n)),
    }
}

/// The error of a step in which an event function varies too fast for its zeros to be found: the next trial is
/// a third as long.
const UNRESOLVED: f64 = 1e6;

/// How many such steps in a row are tried again; then the function is given up.
const MOST_UNRESOLVED: usize = 8;

/// A run under way.
struct OdeRun<'a> {
    system: Counted<'a>,
    stepper: Box<dyn Stepper>,
    /// Whether another method may go on where this one cannot.
    falls_back: bool,
    projects: bool,
    watch: EventFinder,
    options: &'a OdeOptions,
    scale: Scale,
    statistics: Statistics,
    clock: StepClock,
    /// Steps in a row at whose size the end is out of reach.
    crawling: usize,
    /// Steps in a row that were too long for an event function.
    unresolved: usize,
    /// Narrow features, and trials in a row that stepped over one.
    features: FeatureWatch,
    has_features: bool,
    unsampled: usize,
    knots: KnotWatch,
    /// Event functions that were given up, and where.
    fallback: Option<f64>,
    stiffness: StiffnessWatch,
    stiff: Vec<f64>,
    vague: Vec<(usize, f64)>,
    /// Locates events, if there are any to watch.
    refiner: Option<EventRefiner>,
    y: Vec<f64>,
    /// The state at the end of the trial, and where the method had brought it before the projection.
    y1: Vec<f64>,
    reached: Vec<f64>,
    jumps: JumpLog,
}

impl<'a> OdeRun<'a> {
    fn new(system: &'a mut dyn System, y0: &[f64], options: &'a OdeOptions) -> Self {
        let n = system.dimension();
        assert_eq!(y0.len(), n, "the initial state has the dimension of the system");
        let controlled = system.controlled().min(n);
        let mut scale =
            Scale::new(options.tolerance.max(1e-15), options.absolute, controlled, y0);
        scale.motion = system.motion().min(controlled);
        let mut sizes = vec![0.0; n];
        system.known_sizes(&mut sizes);
        scale.include(&sizes);
        if options.follows_decay {
            scale.expect_decay();
        }
        scale.forget(options.follows_decay && options.method.is_implicit());
        let OdeOptions { t0, t1, .. } = *options;
        let watched = system.events().len() + system.event_phases().len();
        let features = FeatureWatch::new(system.feature_count(), n);
        let knots = KnotWatch::new(system.knot_count(), n);
        let refiner = (watched > 0).then(|| EventRefiner::new(n, &scale, watched));
        Self {
            watch: EventFinder::new(system),
            projects: system.has_invariants(),
            system: Counted { system, evaluations: 0 },
            stepper: stepper(options.method, options.order, n, &scale),
            falls_back: options.falls_back && options.method == Method::Taylor,
            options,
            scale,
            statistics: Statistics::default(),
            clock: StepClock { t0, t1, target: t1, t: t0, h: 0.0, steps: 0 },
            crawling: 0,
            unresolved: 0,
            features,
            has_features: false,
            unsampled: 0,
            knots,
            fallback: None,
            stiffness: StiffnessWatch::new(n, options.edge()),
            stiff: Vec::new(),
            vague: Vec::new(),
            refiner,
            y: y0.to_vec(),
            y1: vec![0.0; n],
            reached: vec![0.0; n],
            jumps: JumpLog::default(),
        }
    }

    fn complete(&mut self, observer: &mut dyn Observer) -> StopReason {
        if self.clock.t == self.clock.t1 {
            return StopReason::End;
        }
        if let Err(error) = self.begin()
            && !self.fall_back()
        {
            return error.into();
        }
        let mut in_a_row = 0;
        loop {
            if self.statistics.steps + self.statistics.rejected >= self.options.max_steps {
                return StopReason::MaxSteps;
            }
            let at = ScaledState { y: &self.y, scale: &self.scale };
            match self.stepper.prepare(&mut self.system, &self.clock, &at) {
                Ok(h) => {
                    self.clock.h = h;
                    if self.clock.steps == 0 && self.stepper.controls_error() {
                        self.measure();
                    }
                }
                Err(_) if self.fall_back() => continue,
                Err(error) => return error.into(),
            }
            self.clock.target = self.target();
            if self.clock.h.abs() > self.options.longest && self.stepper.controls_error() {
                self.clock.h = self.options.longest.copysign(self.clock.h);
            }
            let trial = self.stepper.trial(&self.clock);
            let mut reason = StopReason::StepTooSmall;
            match self.attempt(trial, observer) {
                Ok(error) if error <= 1.0 => {
                    in_a_row = 0;
                    if let Some(stop) = self.accept(trial, error, observer) {
                        return stop;
                    }
                }
                Ok(_) if self.knots.was_missed() => self.statistics.rejected += 1,
                Ok(error) => {
                    self.statistics.rejected += 1;
                    self.clock.h = self.stepper.reject(trial.h, error);
                    in_a_row += 1;
                    if in_a_row % 2 == 0 {
                        // NOTE: at a symmetric state terms may be free of rounding.
                        let at = (trial.t, &self.y[..]);
                        self.scale.measure_at(&mut self.system, at, self.clock.h, in_a_row);
                    }
                }
                Err(error) => {
                    self.statistics.rejected += 1;
                    reason = error.into();
                    let Some(h) = self.stepper.fail(trial.h) else { return reason };
                    self.clock.h = h;
                }
            }
            if self.is_too_small() && !self.fall_back() {
                return reason;
            }
        }
    }

    /// The next place where a step must end.
    fn target(&self) -> f64 {
        let StepClock { t1, t, .. } = self.clock;
        if !self.stepper.controls_error() {
            return t1;
        }
        let between = |place: &f64| *place > t.min(t1) && *place < t.max(t1);
        let place = self.system.system.next_break(t, t1).filter(between).unwrap_or(t1);
        match self.knots.target.filter(between) {
            Some(knot) if (knot - t).abs() < (place - t).abs() => knot,
            _ => place,
        }
    }

    /// Prepares the method at the initial state.
    fn begin(&mut self) -> Result<(), EvalError> {
        let StepClock { t0, t1, .. } = self.clock;
        finite(&[t0])?;
        if (t1 - t0).is_nan() {
            return Err(EvalError::NotFinite);
        }
        finite(&self.y)?;
        let given = self.options.step.map(f64::abs).filter(|h| *h > 0.0);
        if self.stepper.controls_error() {
            self.scale.begin(&mut self.system, (t0, &self.y), t1 - t0);
        }
        let at = ScaledState { y: &self.y, scale: &self.scale };
        self.clock.h = self.stepper.begin(&mut self.system, &self.clock, &at, given)?;
        Ok(())
    }

    /// Goes on with [`Method::Dop853`] from the present state, if that is allowed and it can begin there.
    fn fall_back(&mut self) -> bool {
        if !std::mem::take(&mut self.falls_back) {
            return false;
        }
        let mut other = stepper(Method::Dop853, None, self.y.len(), &self.scale);
        let clock = StepClock { t0: self.clock.t, ..self.clock };
        let at = ScaledState { y: &self.y, scale: &self.scale };
        match other.begin(&mut self.system, &clock, &at, None) {
            Ok(h) => {
                self.clock.h = h;
                self.stepper = other;
                self.fallback = Some(self.clock.t);
                true
            }
            Err(_) => false,
        }
    }

    /// Changes between explicit steps and Radau's where the other kind is better.
    fn change_method(&mut self) {
        /// Explicit steps that must be left: fewer are cheaper than the start of another method.
        const WORTH: f64 = 300.0;
        /// Below so many units of the last place of time a step is not known well enough for an explicit method, of
        /// which each one counts in full.
        const UNITS: f64 = 1e6;
        let (t, is_implicit) = (self.clock.t, self.stiff.len() % 2 == 1);
        let is_coarse = self.clock.h.abs() < UNITS * f64::EPSILON * t.abs();
        if is_implicit && is_coarse {
            return;
        }
        if !is_implicit && (self.clock.t1 - t).abs() < WORTH * self.clock.h.abs() {
            return;
        }
        let at = (t, &self.y[..]);
        let (watch, system, h) = (&mut self.stiffness, &mut self.system, self.clock.h);
        let is_better = watch.is_other_better(system, at, h, &self.scale, is_implicit);
        // Once the equations were stiff, Radau's method goes through what is too short for explicit steps.
        if !is_better && (!is_coarse || self.stiff.is_empty()) {
            return;
        }
        let method = if is_implicit { Method::Dop853 } else { Method::Radau };
        let mut other = stepper(method, None, self.y.len(), &self.scale);
        let clock = StepClock { t0: t, ..self.clock };
        let at = ScaledState { y: &self.y, scale: &self.scale };
        if other.begin(&mut self.system, &clock, &at, Some(self.clock.h.abs())).is_ok() {
            self.stepper = other;
            self.scale.forget(self.options.follows_decay && method == Method::Radau);
            self.stiff.push(t);
        }
    }

    /// Tries a step; returns its error as a multiple of the allowed one. If that is at most 1, the trial is
    /// complete: projected, with dense output and events.
    fn attempt(&mut self, trial: Trial, observer: &dyn Observer) -> Result<f64, EvalError> {
        let from = ScaledState { y: &self.y, scale: &self.scale };
        let error = self.stepper.advance(&mut self.system, trial, &from, &mut self.y1)?;
        if error > 1.0 {
            return Ok(error);
        }
        if self.projects {
            self.reached.copy_from_slice(&self.y1);
            self.system.system.project(trial.end, &mut self.y1)?;
            finite(&self.y1)?;
            let moved = self.moved(trial.h);
            if moved > 1.0 && self.stepper.controls_error() {
                return Ok(moved);
            }
        }
        let reached = self.projects.then_some(&self.reached[..]);
        let ends = StepEnds { y: &self.y, scale: &self.scale, reached, end: &self.y1 };
        let at_end = self.stepper.finish(&mut self.system, trial, &ends)?;
        if at_end > 1.0 {
            return Ok(at_end);
        }
        if self.is_beyond_knot(trial)? {
            return Ok(UNRESOLVED);
        }
        if !self.features.is_idle() && self.is_unsampled(trial)? {
            return Ok(UNRESOLVED);
        }
        if self.stepper.is_cubic_first() {
            let wanted = observer.wants_dense(trial.t, trial.end);
            if !wanted && !self.watch.is_idle() {
                let step = dense_step(&*self.stepper, trial, &self.y1);
                if self.watch.is_far(&step, self.system.system) {
                    return Ok(error);
                }
            }
            if wanted || !self.watch.is_idle() {
                self.stepper.refine(&mut self.system, trial, &self.y)?;
            }
        }
        let step = dense_step(&*self.stepper, trial, &self.y1);
        if !self.watch.is_idle() && self.watch.is_far(&step, self.system.system) {
            self.unresolved = 0;
            return Ok(error);
        }
        while !self.watch.scan(&step, self.system.system)? {
            if self.stepper.controls_error() && self.unresolved < MOST_UNRESOLVED {
                self.unresolved += 1;
                return Ok(UNRESOLVED);
            }
            let before = self.vague.len();
            self.vague.extend(self.watch.give_up().map(|index| (index, trial.t)));
            if self.vague.len() == before {
                break;
            }
        }
        self.unresolved = 0;
        if let Some(refiner) = &mut self.refiner {
            let from = ScaledState { y: &self.y, scale: &self.scale };
            self.watch.relocate(refiner, &mut self.system, &step, &from);
        }
        Ok(error)
    }

    /// Whether the trial goes beyond a knot, which the next one will end at.
    fn is_beyond_knot(&mut self, trial: Trial) -> Result<bool, EvalError> {
        if self.knots.is_idle() || !self.stepper.controls_error() {
            return Ok(false);
        }
        let step = dense_step(&*self.stepper, trial, &self.y1);
        if !self.knots.is_crossed(&mut self.system, &step) {
            return Ok(false);
        }
        if self.stepper.is_cubic_first() {
            self.stepper.refine(&mut self.system, trial, &self.y)?;
        }
        let step = dense_step(&*self.stepper, trial, &self.y1);
        let is_beyond = self.knots.aim(&mut self.system, &step);
        self.unrefine(trial)?;
        Ok(is_beyond)
    }

    /// Whether the trial stepped over a narrow feature of the equations.
    fn is_unsampled(&mut self, trial: Trial) -> Result<bool, EvalError> {
        /// Trials in a row: what cannot be resolved is left to the audit.
        const MOST_MISSED: usize = 24;
        const MOST_UNKNOWN: usize = 3;
        let step = dense_step(&*self.stepper, trial, &self.y1);
        if !self.stepper.controls_error() || self.features.is_quiet(&mut self.system, &step) {
            self.unsampled = 0;
            return Ok(false);
        }
        self.has_features = true;
        if self.stepper.is_cubic_first() {
            self.stepper.refine(&mut self.system, trial, &self.y)?;
        }
        let step = dense_step(&*self.stepper, trial, &self.y1);
        let most = match self.features.sampling(&mut self.system, &step, &self.scale) {
            Sampling::Complete => 0,
            Sampling::Missed => MOST_MISSED,
            Sampling::Unknown => MOST_UNKNOWN,
        };
        let is_tried_again = self.unsampled < most;
        // NOTE: what was given up is not tried again before a step is complete: steps would only become shorter.
        self.unsampled = match most {
            0 => 0,
            _ => self.unsampled + usize::from(is_tried_again),
        };
        self.unrefine(trial)?;
        Ok(is_tried_again)
    }

    /// Takes dense output back to what it was: it is refined once more where it is wanted.
    fn unrefine(&mut self, trial: Trial) -> Result<(), EvalError> {
        if self.stepper.is_cubic_first() {
            let reached = self.projects.then_some(&self.reached[..]);
            let ends = StepEnds { y: &self.y, scale: &self.scale, reached, end: &self.y1 };
            self.stepper.finish(&mut self.system, trial, &ends)?;
        }
        Ok(())
    }

    /// How far the projection took the trial from where the method had brought it, as a multiple of what is
    /// allowed.
    ///
    /// The constraints are met to about the error of the step, so that the projection corrects by about as
    /// much. What it takes a thousandth away has jumped over a place where the constraints are singular.
    fn moved(&self, h: f64) -> f64 {
        const ALLOWED: f64 = 1e-3;
        let allowed = ALLOWED.max(1e3 * self.scale.tolerance);
        let pairs = self.y1.iter().zip(&self.reached).take(self.scale.controlled).enumerate();
        let parts = pairs.map(|(i, (y, was))| (y - was).abs() / self.scale.at(i, h, y.abs()));
        parts.fold(0.0, f64::max) / allowed
    }

    /// Makes the trial part of the run and shows it; says if the run ends with it.
    fn accept(
        &mut self,
        trial: Trial,
        error: f64,
        observer: &mut dyn Observer,
    ) -> Option<StopReason> {
        let event = self.watch.last();
        let mut end = trial.end;
        if let (Some(event), Some(refiner)) = (event, &self.refiner) {
            let place = self.watch.found().iter().position(|found| *found == event);
            if let Some(state) = place.and_then(|place| refiner.states().nth(place)) {
                self.y1.copy_from_slice(state);
            }
            end = event.t;
        }
        self.watch.accept();
        self.features.accept();
        self.knots.accept();
        self.statistics.steps += 1;
        let control = self.show(Trial { end, ..trial }, observer);
        self.clock.t = end;
        self.clock.steps += 1;
        swap(&mut self.y, &mut self.y1);
        self.scale.include(&self.y);
        let tried = self.clock.h;
        self.clock.h = self.stepper.accept(trial, error, &self.clock);
        if end == self.clock.target && tried.abs() > self.clock.h.abs() {
            // NOTE: the step was short because of where it had to end, not because of its error.
            self.clock.h = tried;
        }
        let ended = match (event, control) {
            (Some(stop), _) if self.watch.is_stop(&stop) => Some(StopReason::Event(stop.index)),
            (Some(_), Control::Continue) => self.jump(observer),
            _ if end == self.clock.t1 => Some(StopReason::End),
            (_, Control::Stop) => Some(StopReason::Interrupted),
            (None, Control::Continue) => None,
        };
        if ended.is_some() {
            return ended;
        }
        if let Err(error) = self.sample(observer) {
            return Some(error.into());
        }
        if let Err(error) = self.change_chart() {
            return Some(error.into());
        }
        self.change_method();
        self.is_crawling(trial.h).then_some(StopReason::StepTooSmall)
    }

    /// Lets the system sample its controls.
    fn sample(&mut self, observer: &mut dyn Observer) -> Result<(), EvalError> {
        let t = self.clock.t;
        if self.system.system.sample(t, &mut self.y)? {
            observer.sampled(t, &self.y);
            self.features.forget();
            self.scale.include(&self.y);
            self.stepper.restart(&mut self.system, t, &self.y)?;
        }
        Ok(())
    }

    /// Shows a step and its events.
    fn show(&mut self, trial: Trial, observer: &mut dyn Observer) -> Control {
        let step = dense_step(&*self.stepper, trial, &self.y1);
        let mut control = observer.step(&step, self.system.system);
        let states = self.refiner.iter().flat_map(EventRefiner::states);
        for (event, state) in self.watch.found().iter().zip(states) {
            if observer.event(event, state) == Control::Stop {
                control = Control::Stop;
            }
        }
        control
    }

    /// Lets the system change its variables between steps.
    fn change_chart(&mut self) -> Result<(), EvalError> {
        let t = self.clock.t;
        if self.system.system.change_chart(t, &mut self.y)? {
            let left = self.clock.t1 - t;
            self.features.forget();
            self.jumps.forget();
            self.scale.restart(&mut self.system, (t, &self.y), left);
            self.stepper.restart(&mut self.system, t, &self.y)?;
        }
        if self.stepper.controls_error() {
            self.measure();
        }
        Ok(())
    }

    /// Measures the rounding of the rates, now and then.
    fn measure(&mut self) {
        let StepClock { t, h, steps, .. } = self.clock;
        self.scale.measure(&mut self.system, steps, (t, &self.y), h);
    }

    /// Whether the accepted steps have been so short for so long that the limit of steps would be passed a
    /// hundredfold before the end.
    fn is_crawling(&mut self, h: f64) -> bool {
        /// Steps in a row: a short narrow place is passed.
        const ROW: usize = 20_000;
        let needed = (self.clock.t1 - self.clock.t).abs() / h.abs();
        let hopeless = needed.is_finite() && needed > 100.0 * self.options.max_steps as f64;
        self.crawling = if hopeless { self.crawling + 1 } else { 0 };
        self.crawling > ROW
    }

    /// Whether the next step is below ten units in the last place of time. Near $t = 0$, time is
    /// taken as a millionth of the run.
    fn is_too_small(&self) -> bool {
        let StepClock { t0, t1, t, h, .. } = self.clock;
        let span = (t1 - t0).abs();
        let scale = if span.is_finite() { 1e-6 * span } else { 0.0 };
        h.abs() < 10.0 * f64::EPSILON * t.abs().max(scale)
    }
}

/// A trial with its dense output.
fn dense_step<'a>(stepper: &'a dyn Stepper, trial: Trial, at_end: &'a [f64]) -> DenseStep<'a> {
    let (kind, rows) = stepper.dense();
    DenseStep { start: trial.t, end: trial.end, length: trial.h, kind, rows, at_end }
}
