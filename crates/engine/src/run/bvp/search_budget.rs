//! How long a search goes on: until it is interrupted from outside, or has taken its time.

use std::time::{Duration, Instant as Clock};

/// Asked between the attempts of a search.
pub(crate) struct SearchBudget<'a> {
    /// Told how many paths were integrated; `false` interrupts.
    going: &'a mut dyn FnMut(usize) -> bool,
    begun: Clock,
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
    pub(crate) fn new(seconds: f64, going: &'a mut dyn FnMut(usize) -> bool) -> Self {
        Self { going, begun: Clock::now(), seconds, ended: None }
    }

    /// Whether the search is to end.
    pub(crate) fn is_over(&mut self, integrations: usize) -> bool {
        if self.ended.is_none() {
            let limit = Duration::try_from_secs_f64(self.seconds).unwrap_or(Duration::MAX);
            if !(self.going)(integrations) {
                self.ended = Some(Ended::Interrupted);
            } else if self.begun.elapsed() > limit {
                self.ended = Some(Ended::Late);
            }
        }
        self.ended.is_some()
    }
}
