//! A system and its initial state into a run.
//!
//! Each turn tries a step; a trial that passes the error control is projected (and repeated smaller
//! if that takes it far away), its end rates are
//! evaluated, its dense output refined if someone will look at it or an event may be near, and its events located.
//! Only then it becomes part of the run. A trial that meets a point without value
//! ([`EvalError`]) anywhere on this way is repeated with a quarter of its size.
//!
//! **Tolerance.** Local error $\le E\,(1 + |y|)$ a step in every controlled component.
//!
//! **Invariants.** Nothing is allocated after the first step begins; the end `t1` is hit
//! exactly; stopping is data: [`Outcome`] holds the last good state and says why it is the last.

use std::mem::swap;

use crate::ode::dense_output::{DenseStep, Kind, hermite_rows};
use crate::ode::dop853::Dop853;
use crate::ode::events::Watch;
use crate::ode::observer::{Control, Observer};
use crate::ode::rk4::Rk4;
use crate::ode::step_control::{Controller, first_step};
use crate::ode::stepper::{Allowed, Base, Stepper};
use crate::ode::system::{Counted, EvalError, System, finite};
use crate::ode::taylor::{Series, State};

/// Integrates `system` from `y0`, and tells `observer` every accepted step and event.
pub fn integrate(
    system: &mut dyn System,
    y0: &[f64],
    options: &OdeOptions,
    observer: &mut dyn Observer,
) -> Outcome {
    let mut run = Run::new(system, y0, options);
    let stop = run.complete(observer);
    run.statistics.evaluations = run.system.evaluations;
    Outcome { stop, t: run.t, y: run.y, statistics: run.statistics }
}

/// How to integrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OdeOptions {
    /// Where to start.
    pub t0: f64,
    /// Where to end; before `t0` for a run backward in time.
    pub t1: f64,
    /// Allowed local error $E$: at most $E\,(1 + |y|)$ a step. Below 1e-15 counts as 1e-15.
    pub tolerance: f64,
    /// Which method.
    pub method: Method,
    /// Size of the first step ([`Method::Dop853`]; chosen if not given; the most for [`Method::Taylor`]) or
    /// of every step
    /// ([`Method::Rk4`]; a thousandth of the run if not given).
    pub step: Option<f64>,
    /// Most steps to try, rejected ones included.
    pub max_steps: usize,
}

impl Default for OdeOptions {
    fn default() -> Self {
        Self {
            t0: 0.0,
            t1: 1.0,
            tolerance: 1e-10,
            method: Method::Dop853,
            step: None,
            max_steps: 10_000_000,
        }
    }
}

/// The methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Method {
    /// Dormand and Prince of order 8(5,3), with step size control.
    #[default]
    Dop853,
    /// Classical Runge–Kutta of order 4, with a fixed step and no error control.
    Rk4,
    /// Taylor series of the order that belongs to the tolerance ([`taylor_order`](crate::taylor_order)), for
    /// systems that give their coefficients.
    Taylor,
}

/// Where a run ended, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Why it ended.
    pub stop: StopReason,
    /// Where it ended.
    pub t: f64,
    /// The state there.
    pub y: Vec<f64>,
    /// What it took.
    pub statistics: Statistics,
}

/// Why a run ended. Except for the first two it is short of its end, and the state is the last
/// good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The end was reached.
    End,
    /// This stopping event was met; the state is the one at its zero.
    Event(usize),
    /// The tolerance asks for steps below the rounding of time.
    StepTooSmall,
    /// The rates cannot be solved for beyond.
    Singular,
    /// The rates are not finite beyond.
    NotFinite,
    /// The allowed number of steps was used up.
    MaxSteps,
    /// The observer stopped it.
    Interrupted,
}

impl From<EvalError> for StopReason {
    fn from(halt: EvalError) -> Self {
        match halt {
            EvalError::Singular => Self::Singular,
            EvalError::NotFinite => Self::NotFinite,
        }
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Accepted steps.
    pub steps: usize,
    /// Rejected trials.
    pub rejected: usize,
    /// Evaluations of the rates.
    pub evaluations: usize,
}

/// A run under way.
struct Run<'a> {
    system: Counted<'a>,
    stepper: Box<dyn Stepper>,
    /// Instead of the stepper.
    series: Option<Series>,
    projects: bool,
    controller: Controller,
    watch: Watch,
    options: &'a OdeOptions,
    allowed: Allowed,
    statistics: Statistics,
    t: f64,
    /// What rounding took from `t` so far, by the Taylor method.
    lag: f64,
    /// Size of the next step, with its sign.
    h: f64,
    /// The longest step so far.
    longest: f64,
    /// Steps in a row at whose size the end is out of reach.
    crawling: usize,
    y: Vec<f64>,
    f: Vec<f64>,
    /// The state and rates at the end of the trial.
    y1: Vec<f64>,
    f1: Vec<f64>,
    rows: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(system: &'a mut dyn System, y0: &[f64], options: &'a OdeOptions) -> Self {
        let n = system.dimension();
        assert_eq!(y0.len(), n, "the initial state has the dimension of the system");
        let controlled = system.controlled().min(n);
        let stepper: Box<dyn Stepper> = match options.method {
            Method::Dop853 => Box::new(Dop853::new(n, controlled)),
            Method::Rk4 => Box::new(Rk4::new(n)),
            Method::Taylor => Box::new(Rk4::new(0)),
        };
        let allowed = Allowed { tolerance: options.tolerance.max(1e-15), controlled };
        Self {
            watch: Watch::new(system),
            projects: system.has_invariants(),
            system: Counted { system, evaluations: 0 },
            stepper,
            series: (options.method == Method::Taylor).then(|| Series::new(n, &allowed)),
            controller: Controller::new(),
            options,
            allowed,
            statistics: Statistics::default(),
            t: options.t0,
            lag: 0.0,
            h: 0.0,
            longest: 0.0,
            crawling: 0,
            y: y0.to_vec(),
            f: vec![0.0; n],
            y1: vec![0.0; n],
            f1: vec![0.0; n],
            rows: Vec::with_capacity(8 * n),
        }
    }

    fn complete(&mut self, observer: &mut dyn Observer) -> StopReason {
        if self.t == self.options.t1 {
            return StopReason::End;
        }
        if let Err(halt) = self.begin() {
            return halt.into();
        }
        loop {
            if self.statistics.steps + self.statistics.rejected >= self.options.max_steps {
                return StopReason::MaxSteps;
            }
            if let Err(halt) = self.prepare() {
                return halt.into();
            }
            let (t1, h) = self.next();
            let rejection = match self.attempt(t1, h, observer) {
                Ok(error) if error <= 1.0 => {
                    if let Some(stop) = self.accept(t1, h, observer) {
                        return stop;
                    }
                    if let Err(halt) = self.change_chart() {
                        return halt.into();
                    }
                    self.lengthen(h, error);
                    if self.is_crawling(h) {
                        return StopReason::StepTooSmall;
                    }
                    StopReason::StepTooSmall
                }
                Ok(error) => {
                    self.statistics.rejected += 1;
                    self.h = self.controller.rejected(h, error);
                    StopReason::StepTooSmall
                }
                Err(halt) => {
                    self.statistics.rejected += 1;
                    if self.options.method == Method::Rk4 {
                        return halt.into();
                    }
                    self.h = self.controller.halted(h);
                    halt.into()
                }
            };
            if self.is_too_small() {
                return rejection;
            }
        }
    }

    /// Evaluates the rates at the start and chooses the first step.
    fn begin(&mut self) -> Result<(), EvalError> {
        let OdeOptions { t0, t1, method, step, .. } = *self.options;
        let span = t1 - t0;
        finite(&[t0])?;
        if span.is_nan() {
            return Err(EvalError::NotFinite);
        }
        finite(&self.y)?;
        if self.series.is_none() {
            self.system.rates(t0, &self.y, &mut self.f)?;
        }
        let given = step.map(f64::abs).filter(|h| *h > 0.0);
        self.h = match (given, method) {
            (Some(h), _) => h.min(span.abs()).copysign(span),
            (None, Method::Rk4) => span / 1000.0,
            (None, Method::Taylor) => span,
            (None, Method::Dop853) => {
                let from = Base { t: t0, h: span, y: &self.y, f: &self.f };
                let work = (&mut self.y1[..], &mut self.f1[..]);
                first_step(&mut self.system, &from, &self.allowed, work)
            }
        };
        Ok(())
    }

    /// Computes the coefficients of a new state, and the step that they allow.
    fn prepare(&mut self) -> Result<(), EvalError> {
        let Some(series) = &mut self.series else { return Ok(()) };
        let state = series.state();
        if state == State::Fresh {
            return Ok(());
        }
        self.system.evaluations += 1;
        let mut h = series.prepare(self.system.system, self.t, &self.y)?;
        if self.statistics.steps == 0 || state == State::Altered {
            h = h.min(self.h.abs());
        }
        self.h = h.copysign(self.options.t1 - self.t);
        Ok(())
    }

    /// The end of the next trial, and its size.
    fn next(&self) -> (f64, f64) {
        let OdeOptions { t0, t1, method, .. } = *self.options;
        let left = t1 - self.t;
        match method {
            // A last step shorter than a hundredth of its neighbour is not worth taking.
            Method::Dop853 if 1.01 * self.h.abs() >= left.abs() => (t1, left),
            Method::Dop853 => (self.t + self.h, self.h),
            // Rounding of time must not add up: few long steps are otherwise exact to it.
            Method::Taylor if 1.01 * self.h.abs() >= left.abs() => (t1, left - self.lag),
            Method::Taylor => (self.t + (self.h + self.lag), self.h),
            // Rounding must not leave a sliver before the end.
            Method::Rk4 if (1.0 + 1e-9) * self.h.abs() >= left.abs() => (t1, left),
            Method::Rk4 => {
                // Counted from the start, so that rounding does not add up.
                let t = t0 + (self.statistics.steps + 1) as f64 * self.h;
                (t, t - self.t)
            }
        }
    }

    /// Tries a step; gives its error as a multiple of the allowed one. If that is at most 1, the
    /// trial is complete: projected, with dense output and events.
    fn attempt(&mut self, t1: f64, h: f64, observer: &dyn Observer) -> Result<f64, EvalError> {
        let from = Base { t: self.t, h, y: &self.y, f: &self.f };
        let mut error = 0.0;
        if let Some(series) = &mut self.series {
            series.end(h, &mut self.y1);
            finite(&self.y1)?;
        } else {
            self.stepper.advance(&mut self.system, &from, &mut self.y1)?;
            finite(&self.y1)?;
            error = self.stepper.error(&from, &self.allowed);
            finite(&[error])?;
            if error > 1.0 {
                return Ok(error);
            }
        }
        if self.projects {
            self.f1.copy_from_slice(&self.y1);
            self.system.system.project(t1, &mut self.y1)?;
            finite(&self.y1)?;
            let moved = self.moved();
            if moved > 1.0 && self.options.method != Method::Rk4 {
                return Ok(moved);
            }
        }
        if let Some(series) = &mut self.series {
            if self.projects {
                series.moved(&self.f1, &self.y1);
            }
            self.system.evaluations += 1;
            let error = series.look_ahead(self.system.system, t1, &self.y1, h)?;
            if error > 1.0 {
                return Ok(error);
            }
            if self.projects {
                series.join(h, &self.f1, &self.y1);
            }
        }
        if self.series.is_none() {
            match self.stepper.end_rates().filter(|_| !self.projects) {
                Some(rates) => self.f1.copy_from_slice(&rates[..self.y.len()]),
                None => self.system.rates(t1, &self.y1, &mut self.f1)?,
            }
            hermite_rows(h, (&self.y, &self.f), (&self.y1, &self.f1), &mut self.rows);
            let wanted = observer.wants_dense(self.t, t1);
            if !wanted && !self.watch.is_idle() {
                let (kind, rows) = dense(&self.series, &self.rows);
                let step = DenseStep {
                    start: self.t,
                    end: t1,
                    length: h,
                    kind,
                    rows,
                    at_end: &self.y1,
                };
                if self.watch.is_far(&step, self.system.system) {
                    return Ok(error);
                }
            }
            if wanted || !self.watch.is_idle() {
                self.stepper.refine(&mut self.system, &from, &self.f1, &mut self.rows)?;
            }
        }
        let (kind, rows) = dense(&self.series, &self.rows);
        let step =
            DenseStep { start: self.t, end: t1, length: h, kind, rows, at_end: &self.y1 };
        self.watch.scan(&step, self.system.system)?;
        Ok(error)
    }

    /// How far the projection took the trial from where the method had brought it (in `f1`), as a multiple of
    /// what is allowed.
    ///
    /// The constraints are met to about the error of the step, so that the projection corrects by about as
    /// much. What it takes
    /// a thousandth away has jumped over a place where the constraints are singular.
    fn moved(&self) -> f64 {
        const ALLOWED: f64 = 1e-3;
        let Allowed { tolerance, controlled } = self.allowed;
        let allowed = ALLOWED.max(1e3 * tolerance);
        let pairs = self.y1.iter().zip(&self.f1).take(controlled);
        pairs.map(|(y, was)| (y - was).abs() / (allowed * (1.0 + y.abs()))).fold(0.0, f64::max)
    }

    /// Whether the accepted steps have become so short, and stayed so, that the limit of steps would be
    /// passed a hundredfold before the end.
    fn is_crawling(&mut self, h: f64) -> bool {
        /// Steps in a row, and the fraction of the longest step: a short narrow place is passed.
        const ROW: usize = 20_000;
        const SHORT: f64 = 1e-6;
        self.longest = self.longest.max(h.abs());
        let needed = (self.options.t1 - self.t).abs() / h.abs();
        let hopeless = needed.is_finite() && needed > 100.0 * self.options.max_steps as f64;
        let crawls = hopeless && h.abs() < SHORT * self.longest;
        self.crawling = if crawls { self.crawling + 1 } else { 0 };
        self.crawling > ROW
    }

    /// Makes the trial part of the run and shows it; says if the run ends with it.
    fn accept(&mut self, t1: f64, h: f64, observer: &mut dyn Observer) -> Option<StopReason> {
        let stop = self.watch.stop();
        let mut end = t1;
        if let Some(event) = stop {
            let (kind, rows) = dense(&self.series, &self.rows);
            let whole =
                DenseStep { start: self.t, end, length: h, kind, rows, at_end: &self.y1 };
            // The rates at the start are not needed any more: the run ends here.
            whole.state(event.t, &mut self.f);
            swap(&mut self.y1, &mut self.f);
            end = event.t;
        }
        self.watch.accept();
        self.statistics.steps += 1;
        let (kind, rows) = dense(&self.series, &self.rows);
        let step = DenseStep { start: self.t, end, length: h, kind, rows, at_end: &self.y1 };
        let mut control = observer.step(&step, self.system.system);
        for event in self.watch.found() {
            // The old state is the first row of dense output too.
            step.state(event.t, &mut self.y);
            if observer.event(event, &self.y) == Control::Stop {
                control = Control::Stop;
            }
        }
        let passed = end - self.t;
        self.t = end;
        swap(&mut self.y, &mut self.y1);
        swap(&mut self.f, &mut self.f1);
        if let Some(series) = &mut self.series {
            series.pass();
            self.lag += h - passed;
            self.h = series.step().copysign(self.options.t1 - self.options.t0);
        }
        match (stop, control) {
            (Some(event), _) => Some(StopReason::Event(event.index)),
            _ if end == self.options.t1 => Some(StopReason::End),
            (None, Control::Stop) => Some(StopReason::Interrupted),
            (None, Control::Continue) => None,
        }
    }

    /// Lets the system change its variables between steps.
    fn change_chart(&mut self) -> Result<(), EvalError> {
        if !self.system.system.change_chart(self.t, &mut self.y)? {
            return Ok(());
        }
        if let Some(series) = &mut self.series {
            series.forget();
        } else {
            self.system.rates(self.t, &self.y, &mut self.f)?;
        }
        Ok(())
    }

    fn lengthen(&mut self, h: f64, error: f64) {
        if self.options.method == Method::Dop853 {
            self.h = self.controller.accepted(h, error);
        }
    }

    /// Whether the next step is below ten units in the last place of time. Near $t = 0$, time is
    /// taken as a millionth of the run.
    fn is_too_small(&self) -> bool {
        let span = (self.options.t1 - self.options.t0).abs();
        let scale = if span.is_finite() { 1e-6 * span } else { 0.0 };
        self.h.abs() < 10.0 * f64::EPSILON * self.t.abs().max(scale)
    }
}

/// The rows of dense output, and what they mean.
fn dense<'a>(series: &'a Option<Series>, rows: &'a [f64]) -> (Kind, &'a [f64]) {
    match series {
        Some(series) => (Kind::Series, series.rows()),
        None => (Kind::Hermite, rows),
    }
}
