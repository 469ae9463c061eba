//! What a run asks of a one-step method.
//!
//! A method keeps what it needs of the last accepted state (rates, Taylor coefficients), proposes the length
//! of the next step, advances, and provides dense output. The run in `integrate.rs` does everything that all
//! methods share: projection, events, observers, and when to stop.

use crate::ode::dense_output::Kind;
use crate::ode::scale::Scale;
use crate::ode::system::{Counted, EvalError};

/// A one-step method with its storage.
pub(crate) trait Stepper {
    /// Evaluates what the method needs at the initial state; returns the length of the first step, with its
    /// sign. `given` is the length that the user asked for.
    fn begin(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        at: &ScaledState<'_>,
        given: Option<f64>,
    ) -> Result<f64, EvalError>;

    /// Called before every trial; returns the length to try.
    fn prepare(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        at: &ScaledState<'_>,
    ) -> Result<f64, EvalError> {
        let _ = (system, at);
        Ok(clock.h)
    }

    /// The end of the next trial, and its length.
    fn trial(&self, clock: &StepClock) -> Trial {
        clock.trial()
    }

    /// Writes the state at the end of a trial into `end`; returns its estimated error as a multiple of the
    /// allowed one.
    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        from: &ScaledState<'_>,
        end: &mut [f64],
    ) -> Result<f64, EvalError>;

    /// Completes a trial whose end is known, and prepares its dense output. Returns the error as a multiple
    /// of the allowed one, where only the end shows it.
    fn finish(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        ends: &StepEnds<'_>,
    ) -> Result<f64, EvalError>;

    /// Whether dense output after [`Stepper::finish`] is only a cubic polynomial, which
    /// [`Stepper::refine`] raises to the order of the method.
    fn is_cubic_first(&self) -> bool {
        false
    }

    /// Raises dense output to the order of the method.
    fn refine(
        &mut self,
        system: &mut Counted<'_>,
        trial: Trial,
        y: &[f64],
    ) -> Result<(), EvalError> {
        let _ = (system, trial, y);
        Ok(())
    }

    /// The rows of dense output of the trial, and what they mean.
    fn dense(&self) -> (Kind, &[f64]);

    /// The trial became part of the run, up to `clock.t`; returns the length of the next step.
    fn accept(&mut self, trial: Trial, error: f64, clock: &StepClock) -> f64;

    /// The trial was rejected for its error; returns the length to try next.
    fn reject(&mut self, h: f64, error: f64) -> f64;

    /// An evaluation failed; returns the length to try next, or nothing if the method cannot go on.
    fn fail(&mut self, h: f64) -> Option<f64>;

    /// Whether trials can be rejected at all.
    fn controls_error(&self) -> bool {
        true
    }

    /// The system changed its variables between two steps.
    fn restart(&mut self, system: &mut Counted<'_>, t: f64, y: &[f64])
    -> Result<(), EvalError>;
}

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepClock {
    pub(crate) t0: f64,
    pub(crate) t1: f64,
    /// Where the next step must not go beyond: the end, or a place before it where the rates are not smooth.
    pub(crate) target: f64,
    pub(crate) t: f64,
    /// Length of the next step, with its sign.
    pub(crate) h: f64,
    /// Accepted steps.
    pub(crate) steps: usize,
}

impl StepClock {
    /// The next trial of a method that controls its error. A last step shorter than a hundredth of its neighbour is
    /// not worth taking.
    pub(crate) fn trial(&self) -> Trial {
        // NOTE: far from t = 0 the time of the end is rounded: the step is as long as the time says.
        let end = self.t + self.h;
        self.last(1.01).unwrap_or(Trial { t: self.t, end, h: end - self.t })
    }

    /// A trial to the target if at most `slack` times the length `h` is left; else none.
    pub(crate) fn last(&self, slack: f64) -> Option<Trial> {
        let left = self.target - self.t;
        (slack * self.h.abs() >= left.abs()).then_some(Trial {
            t: self.t,
            end: self.target,
            h: left,
        })
    }
}

/// A step to be tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// Where it starts.
    pub(crate) t: f64,
    /// Where it ends.
    pub(crate) end: f64,
    /// Its length: `end - t` up to rounding.
    pub(crate) h: f64,
}

/// Where a step starts, and how long it is to be.
pub(crate) struct Base<'a> {
    pub(crate) t: f64,
    pub(crate) h: f64,
    pub(crate) y: &'a [f64],
    /// $f(t, y)$
    pub(crate) f: &'a [f64],
}

/// A state, with the scales of its components.
#[derive(Clone, Copy)]
pub(crate) struct ScaledState<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) scale: &'a Scale,
}

/// The states at both ends of a trial.
pub(crate) struct StepEnds<'a> {
    pub(crate) y: &'a [f64],
    pub(crate) scale: &'a Scale,
    /// The end that the method came to, if it was projected afterwards.
    pub(crate) reached: Option<&'a [f64]>,
    /// The end, projected.
    pub(crate) end: &'a [f64],
}
