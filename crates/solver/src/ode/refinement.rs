//! Events located on the motion itself instead of on the dense output of a step.
//!
//! Dense output is as good as the tolerance. So the step is integrated once more from its start to the event, with
//! steps of Dormand and Prince that are good to rounding, and the zero is searched around the state $(t_a, y_a)$
//! reached there on
//!
//! $$ y(t_a + \delta) = y_a + \tfrac\delta2\bigl(f(t_a, y_a) + f(t_a + \delta,\, y_a + \delta f(t_a, y_a))\bigr) $$
//!
//! whose error $O(\delta^3)$ is below rounding for $\delta \le 10^{-5} h$; a zero that is farther away becomes
//! the next $t_a$. A zero that comes to lie beyond the end of the step is searched backwards from that end, which
//! is where the run goes on. Where nothing is found (a function that jumps, a pair of zeros of the dense output
//! alone) the place on the dense output stays.

use std::mem::swap;

use crate::ode::dense_output::DenseStep;
use crate::ode::dop853::Dop853;
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::root_finding::{TimeValue, bracketed_zero};
use crate::ode::runge_kutta::RungeKutta;
use crate::ode::scale::Scale;
use crate::ode::stepper::{ScaledState, StepClock, StepEnds, Stepper, Trial};
use crate::ode::system::{Counted, EvalError, finite};

/// The local error of the second integration.
const TIGHT: f64 = 1e-14;
/// Its steps at most.
const MOST: usize = 400;
/// Within this part of a step the formula above is exact up to rounding, and within that one good enough to see
/// which way the zero lies.
const EXACT: f64 = 1e-5;
const VISIBLE: f64 = 1e-2;
/// By how much a function may be larger at an extremum found by differences than where the dense output has it, as
/// a part of its value at [`SPACING`].
const SMOOTH: f64 = 1e-8;
/// The distance between the points of a difference, in steps.
const SPACING: f64 = 0.02;

/// Searches events on the motion.
pub(crate) struct EventRefiner {
    stepper: RungeKutta<Dop853>,
    /// The scales of the run, with a strict tolerance.
    scale: Scale,
    /// $t_a$, $y_a$ and the rates there.
    t: f64,
    y: Vec<f64>,
    f: Vec<f64>,
    /// A state near it, with its rates.
    near: Vec<f64>,
    rates: Vec<f64>,
    values: Vec<f64>,
    /// The value of the function that is searched.
    level: f64,
    /// States at the events.
    states: Vec<f64>,
}

impl EventRefiner {
    /// For so many components, of which some are controlled, and so many values of events.
    pub(crate) fn new(n: usize, scale: &Scale, values: usize) -> Self {
        Self {
            stepper: RungeKutta::new(Dop853::new(n, scale), n),
            scale: scale.tighter(TIGHT),
            t: 0.0,
            y: vec![0.0; n],
            f: vec![0.0; n],
            near: vec![0.0; n],
            rates: vec![0.0; n],
            values: vec![0.0; values],
            level: 0.0,
            states: Vec::with_capacity(8 * n),
        }
    }

    /// Locates the events of a step that starts at `y`, and sorts them.
    pub(crate) fn relocate(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        from: &ScaledState<'_>,
        events: &mut [LocatedEvent],
    ) {
        let y = from.y;
        self.scale.take_sizes(from.scale);
        let n = y.len();
        let forward = step.end() >= step.start();
        self.begin(step.start(), y);
        let mut states = std::mem::take(&mut self.states);
        states.resize(n * events.len(), 0.0);
        for i in 0..events.len() {
            let (event, state) = (events[i], &mut states[i * n..(i + 1) * n]);
            if (self.t > event.t) == forward {
                self.begin(step.start(), y);
            }
            events[i].t = self.locate(system, step, &event, state);
            let is_later = |a: &LocatedEvent, b: &LocatedEvent| {
                (if forward { a.t > b.t } else { a.t < b.t })
                    || (a.t == b.t && a.index > b.index)
            };
            for k in (1..=i).rev() {
                if !is_later(&events[k - 1], &events[k]) {
                    break;
                }
                events.swap(k - 1, k);
                let (before, after) = states.split_at_mut(k * n);
                before[(k - 1) * n..].swap_with_slice(&mut after[..n]);
            }
        }
        self.states = states;
    }

    /// The state at each event that was located last, in their order.
    pub(crate) fn states(&self) -> impl Iterator<Item = &[f64]> {
        self.states.chunks_exact(self.y.len().max(1))
    }

    /// Begins at a state.
    fn begin(&mut self, t: f64, y: &[f64]) {
        self.t = t;
        self.y.copy_from_slice(y);
    }

    /// The time and the state of an event, on the motion if it is found there. Events come in the order of the run.
    fn locate(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        event: &LocatedEvent,
        state: &mut [f64],
    ) -> f64 {
        self.level = event.level;
        let located = match event.crossing {
            Crossing::Touch => self.touch(system, step, event),
            Crossing::Rising => self.zero(system, step, event, 1.0),
            Crossing::Falling => self.zero(system, step, event, -1.0),
        };
        match located {
            Ok(Some(t)) => {
                state.copy_from_slice(&self.near);
                t
            }
            Ok(None) | Err(_) => {
                step.state(event.t, state);
                event.t
            }
        }
    }

    /// A zero behind which the function has the sign `side`; the state is left in `near`.
    fn zero(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        event: &LocatedEvent,
        side: f64,
    ) -> Result<Option<f64>, EvalError> {
        self.carry(system, event.t)?;
        let found = self.search(system, step, event.index, side)?;
        let forward = (step.end() - step.start()).signum();
        if found.is_some_and(|t| (t - step.end()) * forward <= 0.0) {
            return Ok(found);
        }
        if found.is_none() && (step.end() - event.t).abs() > VISIBLE * step.length.abs() {
            return Ok(None);
        }
        // The trajectory that the run follows comes from the other side of this end.
        self.begin(step.end(), step.state_at_end());
        let found = self.search(system, step, event.index, side)?;
        Ok(found.filter(|&t| (t - step.end()) * forward <= 0.0))
    }

    /// The zero around the present anchor.
    fn search(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        index: usize,
        side: f64,
    ) -> Result<Option<f64>, EvalError> {
        let length = step.end() - step.start();
        // Each turn brings the anchor nearer by the error of the formula.
        for _ in 0..4 {
            system.rates(self.t, &self.y, &mut self.f)?;
            let here = self.value(system, index, self.t)?;
            if here.value == 0.0 {
                return Ok(Some(self.t));
            }
            let later = if side * here.value < 0.0 { 1.0 } else { -1.0 };
            let mut from = here;
            let mut bracket = None;
            let mut part = 1e-14;
            while part <= VISIBLE && bracket.is_none() {
                let there = self.value(system, index, here.t + later * part * length)?;
                if there.value == 0.0 || (there.value > 0.0) != (here.value > 0.0) {
                    bracket = Some((from, there));
                }
                from = there;
                part *= 30.0;
            }
            let Some((from, there)) = bracket else { return Ok(None) };
            let t = bracketed_zero(from, there, 0.0, |t| {
                self.value(system, index, t).map(|point| point.value)
            })?;
            let at = self.value(system, index, t)?;
            if (t - self.t).abs() <= EXACT * length.abs() {
                return Ok(at.value.is_finite().then_some(t));
            }
            self.carry(system, t)?;
        }
        Ok(None)
    }

    /// Where the function is nearest to zero; the state is left in `near`.
    fn touch(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        event: &LocatedEvent,
    ) -> Result<Option<f64>, EvalError> {
        self.carry(system, event.t)?;
        self.stepper.restart(system, self.t, &self.y)?;
        let length = step.end() - step.start();
        let mut slope = |t: f64| -> Result<f64, EvalError> {
            let mut sum = 0.0;
            for (k, weight) in [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)] {
                let δ = k * SPACING * length;
                let after = self.value_by_step(system, event.index, t + δ)?;
                sum += weight * (after - self.value_by_step(system, event.index, t - δ)?);
            }
            Ok(sum)
        };
        let [a, b] = [-0.1, 0.1].map(|part| event.t + part * SPACING * length);
        let (a, b) =
            (TimeValue { t: a, value: slope(a)? }, TimeValue { t: b, value: slope(b)? });
        if a.value * b.value >= 0.0 {
            return Ok(None);
        }
        let t = bracketed_zero(a, b, 0.0, slope)?;
        // At a kink the difference is off its place, and the value shows it.
        let before = self.value_by_step(system, event.index, self.t)?.abs();
        let scale = self.value_by_step(system, event.index, t + SPACING * length)?.abs();
        let value = self.value_by_step(system, event.index, t)?.abs();
        let (start, end) = (step.start().min(step.end()), step.start().max(step.end()));
        Ok((t >= start && t <= end && value <= before + SMOOTH * scale).then_some(t))
    }

    /// The function near the anchor, by the formula above.
    fn value(
        &mut self,
        system: &mut Counted<'_>,
        index: usize,
        t: f64,
    ) -> Result<TimeValue, EvalError> {
        let δ = t - self.t;
        self.near.copy_from_slice(&self.y);
        if δ != 0.0 {
            let Self { y, f, near, rates, .. } = self;
            near.iter_mut().zip(&*f).for_each(|(x, f)| *x += δ * f);
            system.rates(t, near, rates)?;
            for (k, x) in near.iter_mut().enumerate() {
                *x = y[k] + 0.5 * δ * (f[k] + rates[k]);
            }
        }
        system.system.event_values(t, &self.near, &mut self.values)?;
        Ok(TimeValue { t, value: self.values[index] - self.level })
    }

    /// The function one step of Dormand and Prince away from the anchor.
    fn value_by_step(
        &mut self,
        system: &mut Counted<'_>,
        index: usize,
        t: f64,
    ) -> Result<f64, EvalError> {
        let trial = Trial { t: self.t, end: t, h: t - self.t };
        let from = ScaledState { y: &self.y, scale: &self.scale };
        self.stepper.advance(system, trial, &from, &mut self.near)?;
        system.system.event_values(t, &self.near, &mut self.values)?;
        Ok(self.values[index])
    }

    /// Integrates from the anchor to another time, which becomes the anchor.
    fn carry(&mut self, system: &mut Counted<'_>, to: f64) -> Result<(), EvalError> {
        if self.t == to {
            return Ok(());
        }
        self.stepper.restart(system, self.t, &self.y)?;
        let clock = StepClock { t0: self.t, t1: to, target: to, t: self.t, h: 0.0, steps: 0 };
        let mut clock = StepClock { h: to - self.t, ..clock };
        for _ in 0..MOST {
            let trial = self.stepper.trial(&clock);
            let from = ScaledState { y: &self.y, scale: &self.scale };
            let error = self.stepper.advance(system, trial, &from, &mut self.near)?;
            if error > 1.0 {
                clock.h = self.stepper.reject(trial.h, error);
                continue;
            }
            let ends =
                StepEnds { y: &self.y, scale: &self.scale, reached: None, end: &self.near };
            self.stepper.finish(system, trial, &ends)?;
            clock.h = self.stepper.accept(trial, error, &clock);
            swap(&mut self.y, &mut self.near);
            (self.t, clock.t) = (trial.end, trial.end);
            if self.t == to {
                return finite(&self.y);
            }
        }
        Err(EvalError::NotFinite)
    }
}
