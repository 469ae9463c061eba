//! Explicit Runge–Kutta methods as steppers: rates at both ends, cubic dense output, step size control.
//!
//! The rates at the end of a step are the first stage of the next. Dense output begins as the cubic Hermite
//! polynomial of both ends (`dense_output.rs`); methods of higher order append rows to it when asked.

use std::mem::swap;

use crate::ode::dense_output::{Kind, StepPoint, hermite_rows};
use crate::ode::scale::Scale;
use crate::ode::step_control::{Controller, given_or_first_step};
use crate::ode::stepper::{Base, ScaledState, StepClock, StepEnds, Stepper, Trial};
use crate::ode::system::{Counted, EvalError, finite};

/// A method by its stages.
pub(crate) trait ExplicitMethod {
    /// Whether it estimates its error, so that the step size is controlled.
    const CONTROLLED: bool;

    /// Writes the state at the end of a step into `end`.
    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), EvalError>;

    /// The rates at the end that the last [`ExplicitMethod::advance`] came to, if it has computed them too;
    /// more than the state may follow behind.
    fn end_rates(&self) -> Option<&[f64]> {
        None
    }

    /// Estimated local error of the last [`ExplicitMethod::advance`], as a multiple of the allowed one.
    fn error(&mut self, from: &Base<'_>, scale: &Scale) -> f64 {
        let _ = (from, scale);
        0.0
    }

    /// Appends to the four Hermite rows of dense output what raises it to the method's order; `end_rates` are
    /// the rates at the (projected) end.
    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end_rates: &[f64],
        rows: &mut Vec<f64>,
    ) -> Result<(), EvalError> {
        let _ = (system, from, end_rates, rows);
        Ok(())
    }
}

/// A method with the rates at both ends of its step.
pub(crate) struct RungeKutta<M> {
    method: M,
    controller: Controller,
    /// Rates at the start and at the end.
    f: Vec<f64>,
    f1: Vec<f64>,
    /// Dense output.
    rows: Vec<f64>,
}

impl<M: ExplicitMethod> RungeKutta<M> {
    pub(crate) fn new(method: M, n: usize) -> Self {
        Self {
            method,
            controller: Controller::new(),
            f: vec![0.0; n],
            f1: vec![0.0; n],
            rows: Vec::with_capacity(8 * n),
        }
    }
}

impl<M: ExplicitMethod> Stepper for RungeKutta<M> {
    fn begin(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        at: &ScaledState<'_>,
        given: Option<f64>,
    ) -> Result<f64, EvalError> {
        system.rates(clock.t0, at.y, &mut self.f)?;
        let span = clock.t1 - clock.t0;
        let given = given.or_else(|| (!M::CONTROLLED).then_some(span.abs() / 1000.0));
        Ok(given_or_first_step(system, clock, at, given, &self.f, &mut self.rows))
    }

    fn trial(&self, clock: &StepClock) -> Trial {
        let &StepClock { t0, t, h, steps, .. } = clock;
        if M::CONTROLLED {
            return clock.trial();
        }
        // Rounding must not leave a sliver before the end.
        clock.last(1.0 + 1e-9).unwrap_or_else(|| {
            // Counted from the start, so that rounding does not add up.
            let end = t0 + (steps + 1) as f64 * h;
            Trial { t, end, h: end - t }
        })
    }

    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        from: &ScaledState<'_>,
        end: &mut [f64],
    ) -> Result<f64, EvalError> {
        let base = Base { t: trial.t, h: trial.h, y: from.y, f: &self.f };
        self.method.advance(system, &base, end)?;
        finite(end)?;
        let error = self.method.error(&base, from.scale);
        finite(&[error])?;
        Ok(error)
    }

    fn finish(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        ends: &StepEnds<'_>,
    ) -> Result<f64, EvalError> {
        match self.method.end_rates().filter(|_| ends.reached.is_none()) {
            Some(rates) => self.f1.copy_from_slice(&rates[..ends.y.len()]),
            None => system.rates(trial.end, ends.end, &mut self.f1)?,
        }
        let start = StepPoint { y: ends.y, f: &self.f };
        let end = StepPoint { y: ends.end, f: &self.f1 };
        hermite_rows(trial.h, start, end, &mut self.rows);
        Ok(0.0)
    }

    fn is_cubic_first(&self) -> bool {
        true
    }

    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        y: &[f64],
    ) -> Result<(), EvalError> {
        let from = Base { t: trial.t, h: trial.h, y, f: &self.f };
        self.method.refine(system, &from, &self.f1, &mut self.rows)
    }

    fn dense(&self) -> (Kind, &[f64]) {
        (Kind::Hermite, &self.rows)
    }

    fn accept(&mut self, trial: Trial, error: f64, clock: &StepClock) -> f64 {
        swap(&mut self.f, &mut self.f1);
        if M::CONTROLLED { self.controller.accepted(trial.h, error) } else { clock.h }
    }

    fn reject(&mut self, h: f64, error: f64) -> f64 {
        self.controller.rejected(h, error)
    }

    fn fail(&mut self, h: f64) -> Option<f64> {
        M::CONTROLLED.then(|| self.controller.failed(h))
    }

    fn controls_error(&self) -> bool {
        M::CONTROLLED
    }

    fn restart(
        &mut self,
        system: &mut Counted<'_>,
        t: f64,
        y: &[f64],
    ) -> Result<(), EvalError> {
        system.rates(t, y, &mut self.f)
    }
}
