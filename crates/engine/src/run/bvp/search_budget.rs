//! How long a search goes on: until it is interrupted from outside, or has taken its time.

use crate::clock::{Clock, Interrupt, Stopwatch};

/// Asked between the attempts of a search.
pub(crate) struct SearchBudget<'a> {
    /// Told how many paths were integrated; `false` interrupts.
    going: &'a mut dyn FnMut(usize) -> bool,
    limit: TimeLimit,
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
        interrupt: Option<Interrupt>,
        going: &'a mut dyn FnMut(usize) -> bool,
    ) -> Self {
        Self {
            going,
            limit: TimeLimit { watch: Stopwatch::start(clock), seconds, interrupt },
            ended: None,
        }
    }

    /// Asked while a path is integrated.
    pub(crate) fn limit(&self) -> TimeLimit {
        self.limit
    }

    /// Whether the search is to end.
    pub(crate) fn is_over(&mut self, integrations: usize) -> bool {
        if self.ended.is_none() {
            if !(self.going)(integrations) || Interrupt::is_asked(self.limit.interrupt) {
                self.ended = Some(Ended::Interrupted);
            } else if self.limit.is_over() {
                self.ended = Some(Ended::Late);
            }
        }
        self.ended.is_some()
    }
}

/// When a search ends, in the midst of an attempt too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeLimit {
    watch: Stopwatch,
    seconds: f64,
    interrupt: Option<Interrupt>,
}

impl TimeLimit {
    pub(crate) fn is_over(&self) -> bool {
        self.watch.seconds() > self.seconds || Interrupt::is_asked(self.interrupt)
    }
}
