//! How long a search goes on: until it is interrupted from outside, or has taken its time.

use crate::clock::{Clock, Stopwatch};

/// Asked between the attempts of a search.
pub(crate) struct SearchBudget<'a> {
    /// Told how many paths were integrated; `false` interrupts.
    going: &'a mut dyn FnMut(usize) -> bool,
    watch: Stopwatch,
    seconds: f64,
    /// Why the search ended early, if it did.
    pub(crate) ended: Option<Ended>,
}

/// Why a search ended before it had tried everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// From outside.
    Interrupted,
    /// It took too long.
    Late,
}

impl<'a> SearchBudget<'a> {
    pub(crate) fn new(
        seconds: f64,
        clock: Option<Clock>,
        going: &'a mut dyn FnMut(usize) -> bool,
    ) -> Self {
        Self { going, watch: Stopwatch::start(clock), seconds, ended: None }
    }

    /// Whether the search is to end.
    pub(crate) fn is_over(&mut self, integrations: usize) -> bool {
        if self.ended.is_none() {
            if !(self.going)(integrations) {
                self.ended = Some(Ended::Interrupted);
            } else if self.watch.seconds() > self.seconds {
                self.ended = Some(Ended::Late);
            }
        }
        self.ended.is_some()
    }
}
