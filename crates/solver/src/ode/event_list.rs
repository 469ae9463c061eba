//! The events found within one step, in the order of the run.

use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::system::{Direction, EventKind};

/// The event functions of a run, and their zeros within one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventList {
    kinds: Vec<EventKind>,
    found: Vec<LocatedEvent>,
}

impl EventList {
    /// An empty list with room for so many zeros of each function.
    pub(crate) fn new(kinds: &[EventKind], zeros: usize) -> Self {
        Self { kinds: kinds.to_vec(), found: Vec::with_capacity(zeros * kinds.len()) }
    }

    /// How many event functions there are.
    pub(crate) fn functions(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn clear(&mut self) {
        self.found.clear();
    }

    /// Adds a zero of a function, if its direction counts.
    pub(crate) fn report(&mut self, index: usize, t: f64, crossing: Crossing) {
        let counts = match self.kinds[index].direction {
            Direction::Both => true,
            Direction::Rising => crossing == Crossing::Rising,
            Direction::Falling => crossing == Crossing::Falling,
        };
        if counts {
            self.found.push(LocatedEvent { index, t, crossing });
        }
    }

    /// Sorts the zeros as the run meets them, and drops those beyond the first stopping event.
    pub(crate) fn finish(&mut self, forward: bool) {
        self.found.sort_unstable_by(|a, b| {
            let time = if forward { a.t.total_cmp(&b.t) } else { b.t.total_cmp(&a.t) };
            time.then(a.index.cmp(&b.index))
        });
        self.end_at_stop();
    }

    /// Drops what lies beyond the first stopping event.
    pub(crate) fn end_at_stop(&mut self) {
        if let Some(first) = self.found.iter().position(|event| self.kinds[event.index].stop) {
            let t = self.found[first].t;
            let same = self.found[first..].iter().take_while(|event| event.t == t).count();
            self.found.truncate(first + same);
        }
    }

    /// What was found, to be located better.
    pub(crate) fn found_mut(&mut self) -> &mut [LocatedEvent] {
        &mut self.found
    }

    /// What was found, up to the first stopping event.
    pub(crate) fn found(&self) -> &[LocatedEvent] {
        &self.found
    }

    /// The event that ends the run in this step.
    pub(crate) fn stop(&self) -> Option<LocatedEvent> {
        self.found.iter().find(|event| self.kinds[event.index].stop).copied()
    }
}

/// How a function goes through zero that comes to this side of it.
pub(crate) fn crossing_to(side: f64) -> Crossing {
    if side > 0.0 { Crossing::Rising } else { Crossing::Falling }
}
