//! A run under way, as it is shown to who watches it: how far it is, and the motion so far.

use pfaff_model::{Principle, Workspace};

use crate::motion::recorder::Record;
use crate::motion::{Form, Motion, Stop, StopReason};
use crate::pipeline::collect;

/// A run after one of its steps. Looking at it costs nothing; [`Progress::motion`] copies what was computed.
pub struct Progress<'a> {
    /// The end of the step.
    pub t: f64,
    /// Steps so far.
    pub steps: usize,
    /// Output times reached so far.
    pub rows: usize,
    pub(crate) setting: Setting<'a>,
    pub(crate) record: &'a Record,
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

impl Progress<'_> {
    /// The part of the run that is done, from 0 to 1.
    pub fn done(&self) -> f64 {
        let Setting { t0, t1, .. } = self.setting;
        (self.t - t0) / (t1 - t0)
    }

    /// Start and end of the run.
    pub fn range(&self) -> (f64, f64) {
        (self.setting.t0, self.setting.t1)
    }

    /// The motion so far: what the run would give back if it were interrupted here, without its audit.
    pub fn motion(&self) -> Motion {
        let mut motion = collect(&self.setting, self.record);
        motion.stop = Stop { reason: StopReason::Interrupted, t: self.t };
        motion.statistics.steps = self.steps;
        motion
    }
}
