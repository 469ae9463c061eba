//! Who watches a run: called after every accepted step, and at every event.
//!
//! **Order.** [`Observer::wants_dense`], then [`Observer::step`], then [`Observer::event`]
//! for the events within that step in the order of the run (in declared order when they
//! coincide), then [`Observer::jump`] if the state jumps at the end of the step. An event that stops
//! the run or lets the state jump shortens its step: nothing beyond it is ever shown.

use crate::ode::dense_output::DenseStep;
use crate::ode::system::System;

/// Watches a run.
pub trait Observer {
    /// Whether the step from `start` to `end` will be looked at between its ends. Steps for
    /// which this says no save the evaluations for dense output, and interpolate by a cubic
    /// only. It may be asked again for a shorter step from the same start. Steps in
    /// which an event may be near pay for dense output in any case.
    fn wants_dense(&self, start: f64, end: f64) -> bool {
        let _ = (start, end);
        true
    }

    /// One accepted step. The system is there to be evaluated at states of the step.
    fn step(&mut self, step: &DenseStep<'_>, system: &mut dyn System) -> Control {
        let _ = (step, system);
        Control::Continue
    }

    /// One event, with the state there as an integration to rounding from the start of the step has it (not
    /// projected again).
    fn event(&mut self, event: &LocatedEvent, y: &[f64]) -> Control {
        let _ = (event, y);
        Control::Continue
    }

    /// A control was sampled at the end of the step.
    fn sampled(&mut self, t: f64, after: &[f64]) {
        let _ = (t, after);
    }

    /// The state has jumped, after its step and events were shown.
    fn jump(&mut self, t: f64, before: &[f64], after: &[f64]) {
        let _ = (t, before, after);
    }
}

/// Watches nothing: only the outcome counts.
impl Observer for () {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// End the run after this step, as interrupted.
    Stop,
}

/// A located zero of an event function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocatedEvent {
    /// Position in [`System::events`].
    pub index: usize,
    /// When.
    pub t: f64,
    /// How the function went through zero.
    pub crossing: Crossing,
    /// The value at which it was located: below zero where a [barrier](crate::EventKind::barrier) was left and reached
    /// again within its rounding.
    pub level: f64,
}

/// How an event function goes through zero, in the order in which the run meets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// It reaches zero and does not change its sign.
    Touch,
}
