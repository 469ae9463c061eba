//! What a run with memory remembers of its event functions.

use crate::ode::events::EventFinder;
use crate::ode::observer::LocatedEvent;
use crate::ode::system::{EvalError, EventKind, System};

/// What a run remembers of its event functions from step to step.
pub(super) struct EventWatch {
    pub(super) kinds: Vec<EventKind>,
    pub(super) finder: EventFinder,
    /// What was found in the trial.
    pub(super) found: Vec<LocatedEvent>,
    /// The largest values of the functions so far.
    pub(super) reach: Vec<f64>,
}

impl EventWatch {
    /// Before the first step.
    pub(super) fn new(kinds: Vec<EventKind>) -> Self {
        let finder = EventFinder::new(&Kinds(kinds.clone()));
        Self { reach: vec![0.0; kinds.len()], kinds, finder, found: Vec::new() }
    }
}

/// Event functions without anything to evaluate them.
pub(super) struct Kinds(pub(super) Vec<EventKind>);

impl System for Kinds {
    fn dimension(&self) -> usize {
        0
    }

    fn rates(&mut self, _t: f64, _y: &[f64], _rates: &mut [f64]) -> Result<(), EvalError> {
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &self.0
    }
}
