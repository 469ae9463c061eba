//! A run under way, as it is shown to who watches it: how far it is, and the motion so far.

use std::cell::Cell;

use crate::motion::{Motion, Stop, StopReason};
use crate::run::columns::collect;
use crate::run::record::{Record, Setting};

/// A run after one of its steps. Looking at it costs nothing; [`Progress::motion`] copies what was computed.
pub struct Progress<'a> {
    /// The end of the step.
    pub t: f64,
    /// Steps so far.
    pub steps: usize,
    /// Output times reached so far.
    pub rows: usize,
    /// Whether the run has ended, which only one that [streams](crate::Run::streams) tells.
    pub is_last: bool,
    pub(crate) setting: Setting<'a>,
    pub(crate) record: &'a Record,
    /// The rows before this one are not needed any more.
    pub(crate) forgotten: &'a Cell<usize>,
    /// What came before, where the run consists of segments.
    pub(crate) earlier: Option<&'a Motion>,
    /// Gives a segment the columns of the whole motion.
    pub(crate) complete: Option<&'a dyn Fn(&mut Motion)>,
}

impl Progress<'_> {
    /// The part of the run that is done, from 0 to 1.
    pub fn done(&self) -> f64 {
        let (t0, t1) = self.range();
        (self.t - t0) / (t1 - t0)
    }

    /// Start and end of the run.
    pub fn range(&self) -> (f64, f64) {
        (self.earlier.map_or(self.setting.t0, |motion| motion.start), self.setting.t1)
    }

    /// The first row that the motion so far has: those before it were forgotten.
    pub fn first_row(&self) -> usize {
        self.record.first_row()
    }

    /// Says that the rows before this one are not needed any more. They are forgotten if the run
    /// [streams](crate::Run::streams) and has no segments, but for some that its audit looks at.
    pub fn forget(&self, row: usize) {
        self.forgotten.set(row);
    }

    /// What was written down so far, in bytes, about: so much a copy of it takes.
    pub fn bytes(&self) -> usize {
        self.record.bytes() + self.earlier.map_or(0, Motion::bytes)
    }

    /// The motion so far: what the run would give back if it were interrupted here, without its audit. Where rows were
    /// forgotten, it begins with the [first](Self::first_row) that is left.
    pub fn motion(&self) -> Motion {
        let mut motion = collect(&self.setting, self.record);
        if let Some(complete) = self.complete {
            complete(&mut motion);
        }
        if let Some(earlier) = self.earlier {
            let segment = std::mem::replace(&mut motion, earlier.clone());
            motion.append(segment);
        }
        motion.leave_out_rates(self.setting.model);
        motion.stop = Stop { reason: StopReason::Interrupted, t: self.t };
        motion.statistics.steps = self.steps;
        motion
    }
}
