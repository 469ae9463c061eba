//! What a run with memory remembers of its event functions.

use crate::ode::event_list::EventList;

/// What a run remembers of its event functions from step to step.
#[derive(Debug)]
pub(super) struct EventWatch {
    /// What is looked for, and what was found in the last step.
    pub(super) events: EventList,
    /// The functions at the end of the last step.
    pub(super) values: Vec<f64>,
    /// Their largest values so far.
    pub(super) reach: Vec<f64>,
    /// The functions a little before that end.
    pub(super) approach: Option<(f64, Vec<f64>)>,
    /// Which of them are zero at that end, so that the next step tells what they do there.
    pub(super) pending: Vec<bool>,
}

impl EventWatch {
    /// Before the first step.
    pub(super) fn new(events: EventList) -> Self {
        let count = events.functions();
        Self {
            events,
            values: vec![f64::NAN; count],
            reach: vec![0.0; count],
            approach: None,
            pending: vec![false; count],
        }
    }
}
