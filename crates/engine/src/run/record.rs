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
    /// Rows that were forgotten; some of them are kept, as many as an audit looks at.
    forgotten: usize,
    sparse: SparseRows,
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
            forgotten: 0,
            sparse: SparseRows::default(),
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

    /// How many rows there are, with those that were forgotten.
    pub(crate) fn len(&self) -> usize {
        let width = self.layout.width + self.observed;
        self.forgotten + self.work.len().max(self.rows.len() / width)
    }

    /// The first row that is there.
    pub(crate) fn first_row(&self) -> usize {
        self.forgotten
    }

    /// Forgets the rows before this one, but for some.
    pub(crate) fn forget(&mut self, row: usize) {
        let width = self.layout.width + self.observed;
        // NOTE: the last row may be written again.
        let row = row.min(self.len().saturating_sub(1));
        let count = row.saturating_sub(self.forgotten);
        if count == 0 {
            return;
        }
        for (i, values) in self.rows[..count * width].chunks_exact(width).enumerate() {
            let work = self.work.get(i).copied();
            self.sparse.push(self.forgotten + i, values, work);
        }
        self.rows.drain(..count * width);
        self.work.drain(..count.min(self.work.len()));
        self.forgotten = row;
    }

    /// Puts the rows that were kept of the forgotten ones before the others.
    pub(crate) fn join(&mut self) {
        if self.forgotten > 0 {
            let SparseRows { mut rows, mut work, .. } = std::mem::take(&mut self.sparse);
            rows.append(&mut self.rows);
            work.append(&mut self.work);
            (self.rows, self.work) = (rows, work);
        }
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

/// Every second, fourth, … of the forgotten rows, so that there are never many.
#[derive(Default)]
struct SparseRows {
    rows: Vec<f64>,
    work: Vec<[f64; 2]>,
    count: usize,
    /// Rows whose number is a multiple of two to this power.
    power: u32,
}

impl SparseRows {
    const MOST: usize = 1 << 16;

    fn push(&mut self, number: usize, row: &[f64], work: Option<[f64; 2]>) {
        if !number.is_multiple_of(1 << self.power) {
            return;
        }
        if self.count == Self::MOST {
            let width = row.len();
            let half = Self::MOST / 2;
            for i in 0..half {
                self.rows.copy_within(2 * i * width..(2 * i + 1) * width, i * width);
                if !self.work.is_empty() {
                    self.work[i] = self.work[2 * i];
                }
            }
            self.rows.truncate(half * width);
            self.work.truncate(half);
            self.count = half;
            self.power += 1;
            if !number.is_multiple_of(1 << self.power) {
                return;
            }
        }
        self.rows.extend_from_slice(row);
        self.work.extend(work);
        self.count += 1;
    }
}

/// A jump at some events. The first of them is the surface at which it happens.
#[derive(Clone, Debug)]
pub(crate) struct Jump {
    pub(crate) t: f64,
    pub(crate) events: Vec<usize>,
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
