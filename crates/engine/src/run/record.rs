//! What a run writes down: rows of samples, events, and what does not change meanwhile.

use pfaff_model::{Principle, Workspace};
use pfaff_solver::{Crossing, LocatedEvent};

use crate::motion::Form;
use crate::motion::sample::{Sample, SampleLayout};

/// Numbers for which there is room from the beginning: 128 MB.
const ROOM: usize = 1 << 24;

/// What was written down so far.
pub(crate) struct Record {
    /// Where the numbers of a sample stand in a row; what is observed follows them.
    pub(crate) layout: SampleLayout,
    observed: usize,
    rows: Vec<f64>,
    /// $w$ and $u$ at each sample.
    pub(crate) work: Vec<[f64; 2]>,
    /// Output times that were reached.
    pub(crate) reached: usize,
    pub(crate) events: Vec<RecordedEvent>,
}

/// An event and what is known there.
pub(crate) struct RecordedEvent {
    pub(crate) event: LocatedEvent,
    pub(crate) sample: Sample,
    pub(crate) observed: Vec<f64>,
}

impl Record {
    /// Of a model, with room for so many rows.
    pub(crate) fn new(model: &Workspace, rows: usize) -> Self {
        let layout = SampleLayout::new(model.coordinates.len(), model.constraints.len());
        let observed = model.observed.len();
        let width = layout.width + observed;
        // NOTE: what is asked for may be more than there is memory, and more than the run will reach.
        let rows = rows.min(ROOM / width.max(1));
        Self {
            rows: Vec::with_capacity(rows * width),
            layout,
            observed,
            work: Vec::with_capacity(rows),
            reached: 0,
            events: Vec::new(),
        }
    }

    /// Writes one row: a sample and what is observed in it.
    pub(crate) fn push(&mut self, sample: &Sample, observed: &[f64]) {
        let start = self.rows.len();
        self.rows.resize(start + self.layout.width, 0.0);
        sample.inputs(&mut self.rows[start..]);
        self.rows.extend_from_slice(observed);
    }

    /// Writes the last row again.
    pub(crate) fn replace_last(&mut self, sample: &Sample, observed: &[f64]) {
        let width = self.layout.width + self.observed;
        self.rows.truncate(self.rows.len().saturating_sub(width));
        self.push(sample, observed);
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.work.len().max(self.rows.len() / (self.layout.width + self.observed))
    }

    /// The time of the last row.
    pub(crate) fn last_time(&self) -> Option<f64> {
        self.rows().next_back().map(|row| row[self.layout.t])
    }

    /// Gives the memory of the rows back, once they are columns.
    pub(crate) fn forget_rows(&mut self) {
        self.rows = Vec::new();
    }

    /// The rows in the order of time.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = &[f64]> {
        self.rows.chunks_exact(self.layout.width + self.observed)
    }
}

/// What does not change during a run.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) principle: Option<Principle>,
    pub(crate) method: &'static str,
    pub(crate) form: Form,
    pub(crate) t0: f64,
    pub(crate) t1: f64,
}

/// The word for the direction of a crossing.
pub(crate) fn direction(crossing: Crossing) -> &'static str {
    match crossing {
        Crossing::Rising => "rising",
        Crossing::Falling => "falling",
        Crossing::Touch => "touch",
    }
}
