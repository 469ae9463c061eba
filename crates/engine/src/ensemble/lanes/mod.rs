//! Motions in lanes: eight or sixteen of one model at once, each with its own values, time and steps.
//!
//! A lane whose motion has ended is filled with the next one. What a lane cannot judge is left to a single run: a start
//! that needs more than a linear solve, a chart that has to be left, a narrow feature, an event that may hide another
//! one, and every motion that does not pass its checks. So a table never has a verdict that a single run would not
//! give.
//!
//! Each motion is integrated twice, the second time with a tolerance that is looser: its error is estimated as that of
//! a long single run, by the difference. The energy is balanced and the constraints are evaluated at every step; the
//! equations of motion as written (from $L$, the forces and the constraints, not from the reduced form) and the
//! differentiated constraints are evaluated at events and at the end. The first motion has passed the whole audit of a
//! single run.
//!
//! Where no event ends a motion the looser integration comes first, and says how large each component becomes: errors
//! are measured in parts of that from the first step on, not of what has been met so far. If it went astray (it has met
//! larger values than the motion itself), the motion is integrated again without them.
//!
//! Steps are those of DOP853 or of Taylor series, whichever takes less work for the first motion.

mod check;
mod consistent;
mod cubic;
mod dop853;
mod field;
mod flight;
mod group;
mod lane_run;
mod layout;
mod programs;
mod regroup;
mod step_program;
mod taylor;
mod trial;

use std::borrow::Cow;
use std::sync::OnceLock;

use pfaff_model::Workspace;
use pfaff_program::{Backend, LaneExecutor};

use crate::problem::settings::Settings;
use crate::run::template::RunTemplate;

use programs::LanePrograms;
use step_program::StepExecutor;

pub(crate) use lane_run::LaneRun;

/// A model made ready to run in lanes.
pub(crate) struct Lanes {
    programs: LanePrograms,
    settings: LaneSettings,
    events: Vec<LaneEvent>,
    /// Values of all parameters.
    values: Vec<f64>,
    backend: Backend,
    /// Compiled when the first thread asks.
    executors: OnceLock<LaneExecutors>,
}

/// The programs compiled; each thread has a copy with memory of its own.
#[derive(Clone)]
struct LaneExecutors {
    step: StepExecutor,
    start: LaneExecutor,
    point: LaneExecutor,
}

/// What all motions have in common.
#[derive(Clone, Copy, Debug)]
struct LaneSettings {
    t0: f64,
    t1: f64,
    tolerance: f64,
    /// Those of the second integration: first the looser one, then one for motions that come apart.
    looser: [f64; 2],
    /// Whether the looser integration comes first: where no event says when the motion ends.
    looser_first: bool,
}

/// An event in lanes.
#[derive(Clone, Debug)]
struct LaneEvent {
    /// The direction in which it counts: 1, −1, or 0 for both.
    direction: f64,
    stop: bool,
}

/// A motion that lanes have completed and checked.
#[derive(Clone, Debug, Default)]
pub struct LaneMotion {
    /// When it ended, and the event that stopped it, by index.
    pub t: f64,
    /// The event that stopped it, by index; `None` at the end of the run.
    pub event: Option<usize>,
    /// Positions, velocities, then what is observed, in declared order.
    pub state: Vec<f64>,
    /// The error of each coordinate at the end.
    pub errors: Vec<f64>,
    /// What was checked, and passed.
    pub checks: Vec<LaneCheck>,
    /// Steps of the first integration.
    pub steps: usize,
    /// Events on the way: index, time, direction, then positions, velocities and what is observed.
    pub events: Vec<LaneEventRecord>,
}

/// A check that a motion in a lane has passed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneCheck {
    /// What is checked.
    pub kind: LaneCheckKind,
    /// The largest deviation found.
    pub value: f64,
    /// What it may be.
    pub limit: f64,
}

/// What is checked of a motion in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneCheckKind {
    /// A constraint, by index.
    Constraint(usize),
    /// Energy against work.
    EnergyBalance,
    /// The equations of motion, as written, at events and at the end.
    Equations,
    /// The constraints, differentiated, at events and at the end.
    Differentiated,
    /// The error that a second integration finds.
    SecondIntegration,
}

impl LaneCheckKind {
    /// The name of the same check in the audit of a single run, with the names of the constraints.
    pub fn name(self, constraints: &[String]) -> Cow<'static, str> {
        match self {
            Self::Constraint(a) => {
                let name = constraints.get(a).map_or("", String::as_str);
                format!("constraint {name}").into()
            }
            Self::EnergyBalance => "energy balance".into(),
            Self::Equations => "equations of motion at steps".into(),
            Self::Differentiated => "constraints differentiated at steps".into(),
            Self::SecondIntegration => "error by a second integration".into(),
        }
    }
}

/// An event on the way of a motion in a lane.
#[derive(Clone, Debug)]
pub struct LaneEventRecord {
    /// The event, by index.
    pub event: usize,
    /// When.
    pub t: f64,
    /// 1 if the function rises, else −1.
    pub direction: f64,
    /// Positions, velocities, then what is observed.
    pub state: Vec<f64>,
}

/// Looser by so much, as the second integration of a long single run, and never looser than this.
const LOOSER: f64 = 1e6;
const CAREFUL: f64 = 1e3;
const LOOSEST: f64 = 1e-3;
/// Tolerances below this are left to single runs, which know the rounding of the equations.
const STRICTEST: f64 = 1e-12;

impl Lanes {
    /// Makes a model ready; `None` where lanes do not apply.
    pub(crate) fn new(
        model: &Workspace,
        template: &RunTemplate,
        settings: &Settings,
    ) -> Option<Self> {
        let is_free = settings.is_adaptive() && settings.tolerance() >= STRICTEST;
        if !is_free || settings.options.longest.is_finite() || settings.options.step.is_some() {
            return None;
        }
        let reduction = template.reduction()?;
        let (t0, t1) = settings.span();
        let tolerance = settings.tolerance();
        let programs = LanePrograms::all(model, &reduction, tolerance)?;
        let looser = [LOOSER, CAREFUL]
            .map(|factor| (factor * tolerance).min(LOOSEST).max(10.0 * tolerance));
        let direction = |d: pfaff_model::Direction| match d {
            pfaff_model::Direction::Rising => 1.0,
            pfaff_model::Direction::Falling => -1.0,
            pfaff_model::Direction::Both => 0.0,
        };
        let events = model
            .events
            .iter()
            .map(|event| LaneEvent { direction: direction(event.direction), stop: event.stop });
        let events: Vec<LaneEvent> = events.collect();
        let looser_first = !events.iter().any(|event| event.stop);
        let with = |programs| Self {
            programs,
            settings: LaneSettings { t0, t1, tolerance, looser, looser_first },
            events: events.clone(),
            values: model.parameter_values(),
            backend: settings.backend,
            executors: OnceLock::new(),
        };
        let mut candidates: Vec<Self> = programs.into_iter().map(with).collect();
        if candidates.len() > 1 {
            candidates.sort_by_cached_key(Self::cost);
        }
        candidates.into_iter().next()
    }

    fn executors(&self) -> LaneExecutors {
        let Self { programs, values, backend, .. } = self;
        let compile = || LaneExecutors {
            step: programs.step.executor(programs.layout, values, *backend),
            start: programs.start.lane_executor(&[], *backend),
            point: programs.point.lane_executor(&[], *backend),
        };
        self.executors.get_or_init(compile).clone()
    }

    /// How much work the first motion takes; as much as can be if it does not stay in its lane.
    fn cost(&self) -> usize {
        let mut stays = false;
        let mut take = |_, motion: Option<&LaneMotion>| stays = motion.is_some();
        let trials = LaneRun::new(self).run(1, &mut |_, _| {}, &mut take, &|| true);
        if stays { trials * self.programs.step.work() } else { usize::MAX }
    }
}
