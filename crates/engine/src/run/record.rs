//! What a run writes down: rows of samples, events, and what does not change meanwhile.

use pfaff_model::{Principle, Workspace};
use pfaff_solver::{Crossing, LocatedEvent};

use crate::motion::Form;
use crate::motion::sample::{Sample, SampleLayout};

/// Numbers for which there is room from the beginning: 128 MB.
const ROOM: usize = 1 << 24;
/// Numbers that become columns at once, at least.
const PART: usize = 1 << 17;

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

    /// What it holds, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.rows.as_slice()) + size_of_val(self.work.as_slice())
    }

    /// The columns that are wanted, by their places in a row; the others are empty.
    pub(crate) fn columns(&self, wanted: &dyn Fn(usize) -> bool) -> Vec<Vec<f64>> {
        let mut columns = self.no_columns(wanted);
        lay(&self.rows, 0, &mut columns);
        columns
    }

    /// As [`columns`](Self::columns), in place of the rows: these go as the columns come, so that a motion that fills
    /// the memory can end.
    pub(crate) fn take_columns(&mut self, wanted: &dyn Fn(usize) -> bool) -> Vec<Vec<f64>> {
        let mut columns = self.no_columns(wanted);
        let width = columns.len();
        let mut left = self.rows.len() / width;
        let part = left.div_ceil(16).max(PART.div_ceil(width));
        while left > 0 {
            let first = left.saturating_sub(part);
            lay(&self.rows[first * width..], first, &mut columns);
            self.rows.truncate(first * width);
            // NOTE: the end of a large piece of memory goes back to the system.
            self.rows.shrink_to_fit();
            left = first;
        }
        columns
    }

    /// Columns of zeros, which take no memory until they are written.
    fn no_columns(&self, wanted: &dyn Fn(usize) -> bool) -> Vec<Vec<f64>> {
        let width = self.layout.width + self.observed;
        let count = self.rows.len() / width;
        (0..width).map(|place| vec![0.0; if wanted(place) { count } else { 0 }]).collect()
    }

    /// The rows in the order of time.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = &[f64]> {
        self.rows.chunks_exact(self.layout.width + self.observed)
    }
}

/// Puts rows into columns, from a place on.
fn lay(rows: &[f64], first: usize, columns: &mut [Vec<f64>]) {
    let width = columns.len();
    for (place, column) in columns.iter_mut().enumerate().filter(|(_, c)| !c.is_empty()) {
        let rows = rows.chunks_exact(width);
        column[first..].iter_mut().zip(rows).for_each(|(x, row)| *x = row[place]);
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
    /// Numbers that they have, at most: 32 MB.
    const ROOM: usize = 1 << 22;

    fn push(&mut self, number: usize, row: &[f64], work: Option<[f64; 2]>) {
        if !number.is_multiple_of(1 << self.power) {
            return;
        }
        let width = row.len();
        let most = 1 << (Self::ROOM / width.max(1)).clamp(64, Self::MOST).ilog2();
        if self.count == most {
            let half = most / 2;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// More rows than become columns at once, none, one and some.
    #[test]
    fn rows_become_columns_in_their_place() {
        let model = crate::model::Model::parse(
            "coordinates x, y\nlagrangian x'^2 + y'^2\nobserve r = x\n",
        );
        let model = model.expect("a model").workspace();
        for count in [0, 1, 1000, 3 * PART / 10] {
            let mut record = Record::new(&model, 0);
            let width = record.layout.width + record.observed;
            record.rows = (0..count * width).map(|i| i as f64).collect();
            let wanted = |place: usize| !matches!(place, 2 | 3);
            let copied = record.columns(&wanted);
            for (place, column) in copied.iter().enumerate() {
                let rows = if wanted(place) { count } else { 0 };
                let expected = (0..rows).map(|row| (row * width + place) as f64);
                assert!(column.iter().copied().eq(expected), "{count} {place}");
            }
            assert!(record.take_columns(&wanted) == copied, "{count}");
            assert_eq!((record.rows.len(), record.rows.capacity()), (0, 0));
        }
    }

    /// However long rows are, those that are kept for the audit take a bounded memory.
    #[test]
    fn kept_rows_are_bounded_and_evenly_spaced() {
        for width in [2, 1000] {
            let mut sparse = SparseRows::default();
            let count = 4 * SparseRows::ROOM / width / 3;
            let mut row = vec![0.0; width];
            for number in 0..count {
                row[0] = number as f64;
                sparse.push(number, &row, None);
            }
            assert!(sparse.rows.len() <= SparseRows::ROOM, "{width}");
            let stride = (1_usize << sparse.power) as f64;
            let numbers = sparse.rows.chunks_exact(width).map(|row| row[0]);
            let expected = (0..sparse.count).map(|k| k as f64 * stride);
            assert!(numbers.eq(expected), "{width}");
            assert!(sparse.count > 1000 && sparse.count <= SparseRows::MOST, "{width}");
        }
    }
}
