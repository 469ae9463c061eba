//! What a run writes down: rows of samples, events, and what does not change meanwhile.

use pfaff_model::{Principle, Workspace};
use pfaff_solver::{Crossing, LocatedEvent};

use crate::motion::Form;
use crate::motion::sample::Sample;

/// What was written down so far.
#[derive(Default)]
pub(crate) struct Record {
    /// [`Sample::inputs`] and what is observed, row after row.
    pub(crate) rows: Vec<f64>,
    /// $w$ and $u$ at each sample.
    pub(crate) work: Vec<[f64; 2]>,
    pub(crate) width: usize,
    /// Output times that were reached.
    pub(crate) reached: usize,
    pub(crate) events: Vec<(LocatedEvent, Sample)>,
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
