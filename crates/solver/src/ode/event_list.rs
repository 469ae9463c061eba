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
    pub(crate) fn report(&mut self, event: LocatedEvent) {
        let counts = match self.kinds[event.index].direction {
            Direction::Both => true,
            Direction::Rising => event.crossing == Crossing::Rising,
            Direction::Falling => event.crossing == Crossing::Falling,
        };
        if counts {
            self.found.push(event);
        }
    }

    /// Whether the run stays where a function is positive.
    pub(crate) fn is_barrier(&self, index: usize) -> bool {
        self.kinds[index].barrier
    }

    /// Whether there are such functions.
    pub(crate) fn has_barriers(&self) -> bool {
        self.kinds.iter().any(|kind| kind.barrier)
    }

    /// Whether the state jumps at an event.
    pub(crate) fn jumps(&self, event: &LocatedEvent) -> bool {
        self.kinds[event.index].jump
    }

    /// Whether nothing of the step is shown beyond an event.
    fn ends_step(&self, event: &LocatedEvent) -> bool {
        self.kinds[event.index].stop || self.jumps(event)
    }

    /// Sorts the zeros as the run meets them, and drops those beyond the first one that ends the step.
    pub(crate) fn finish(&mut self, forward: bool) {
        self.found.sort_unstable_by(|a, b| {
            let time = if forward { a.t.total_cmp(&b.t) } else { b.t.total_cmp(&a.t) };
            time.then(a.index.cmp(&b.index))
        });
        self.end_at_stop();
    }

    /// Drops what lies beyond the first event that ends the step.
    pub(crate) fn end_at_stop(&mut self) {
        if let Some(first) = self.found.iter().position(|event| self.ends_step(event)) {
            // NOTE: what happens at one time is located to rounding.
            let t = self.found[first].t;
            let rounding =
                if self.jumps(&self.found[first]) { 8.0 * f64::EPSILON * t.abs() } else { 0.0 };
            let is_same = |event: &&LocatedEvent| (event.t - t).abs() <= rounding;
            let same = self.found[first..].iter().take_while(is_same).count();
            self.found.truncate(first + same);
        }
    }

    /// What was found, to be located better.
    pub(crate) fn found_mut(&mut self) -> &mut [LocatedEvent] {
        &mut self.found
    }

    /// What was found, up to the first event that ends the step.
    pub(crate) fn found(&self) -> &[LocatedEvent] {
        &self.found
    }

    /// The event that ends the step; one that ends the run if there is one at the same time.
    pub(crate) fn last(&self) -> Option<LocatedEvent> {
        let stop = self.found.iter().find(|event| self.kinds[event.index].stop);
        stop.or_else(|| self.found.iter().find(|event| self.jumps(event))).copied()
    }

    /// Whether an event ends the run.
    pub(crate) fn is_stop(&self, event: &LocatedEvent) -> bool {
        self.kinds[event.index].stop
    }
}

/// How a function goes through zero that comes to this side of it.
pub(crate) fn crossing_to(side: f64) -> Crossing {
    if side > 0.0 { Crossing::Rising } else { Crossing::Falling }
}
