//! A motion on its way through the lanes: its values, its two integrations, and how it enters and leaves a lane.

use pfaff_program::LANES;

use crate::ensemble::lanes::LaneEventRecord;

/// Scales that the looser integration found may be this many times those of the motion.
const ASTRAY: f64 = 1.5;

/// A motion on its way through the lanes.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub(super) struct InFlight {
    pub(super) case: usize,
    pub(super) values: Vec<f64>,
    /// The rows of its first step.
    pub(super) start: Vec<f64>,
    /// What the step needs to know of its parameters.
    pub(super) prepared: Vec<f64>,
    /// The integration that it is in, and which of the two are over.
    pub(super) is_looser: bool,
    pub(super) has_end: bool,
    pub(super) has_looser: bool,
    /// Which of the tolerances the looser integration has.
    pub(super) attempt: usize,
    /// Whether errors are measured by what this integration has met alone.
    pub(super) by_itself: bool,
    pub(super) landing: Option<Landing>,
    pub(super) end: Ended,
    pub(super) looser: Ended,
    pub(super) events: Vec<LaneEventRecord>,
    /// The state that is read off next: events, then the end.
    pub(super) points: Vec<(f64, Vec<f64>)>,
}

/// On the way to an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Landing {
    pub(super) event: usize,
    pub(super) tries: usize,
    /// The step that was intended.
    pub(super) h: f64,
    /// The length of the step that it was found in.
    pub(super) within: f64,
}

/// Where an integration ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    pub(super) t: f64,
    pub(super) y: Vec<f64>,
    pub(super) largest: Vec<f64>,
    pub(super) steps: f64,
    /// The largest imbalance of energy, the largest size of its terms, and the largest residual of each constraint.
    pub(super) energy_off: f64,
    pub(super) energy_size: f64,
    pub(super) residuals: Vec<f64>,
    pub(super) event: Option<usize>,
}

impl InFlight {
    /// Whether the looser integration went so far astray that the scales it found are not those of the motion.
    pub(super) fn is_mismeasured(&self) -> bool {
        let mut both = self.looser.largest.iter().zip(&self.end.largest);
        !self.by_itself && both.any(|(looser, own)| *looser > ASTRAY * own)
    }
}

/// Writes the numbers of a lane, from the first row on.
#[inline]
pub(super) fn write_lane(rows: &mut [f64], lane: usize, values: &[f64]) {
    for (row, value) in rows.as_chunks_mut::<LANES>().0.iter_mut().zip(values) {
        row[lane % LANES] = *value;
    }
}

/// The numbers of a lane.
#[inline]
pub(super) fn read_lane(rows: &[f64], lane: usize, values: &mut Vec<f64>) {
    values.clear();
    values.extend(rows.as_chunks::<LANES>().0.iter().map(|row| row[lane % LANES]));
}
