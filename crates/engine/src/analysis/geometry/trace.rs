//! A curve over the coordinates of a model that is no motion of its principle: a lift, a geodesic, an autoparallel.

use pfaff_model::Workspace;
use pfaff_solver::{
    Control, DenseStep, LocatedEvent, Observer, OdeOptions, System, Trajectory, integrate,
};

use crate::clock::Interrupt;
use crate::motion::{Series, StopReason};
use crate::problem::settings::Settings;

/// A curve at its output times.
#[derive(Clone, Debug)]
pub struct Trace {
    /// `geodesic`, `autoparallel` or `lift`
    pub kind: &'static str,
    /// The title of the model.
    pub title: String,
    /// Names of the base coordinates.
    pub base: Vec<String>,
    /// Names of the dependent coordinates.
    pub dependent: Vec<String>,
    /// Why it ended.
    pub reason: StopReason,
    /// Where it ended.
    pub end: f64,
    /// The times.
    pub t: Vec<f64>,
    /// Positions by coordinate.
    pub q: Vec<Series>,
    /// Velocities by coordinate.
    pub v: Vec<Series>,
    /// What is worth knowing, as name and number: `speed change` along geodesics and autoparallels.
    pub figures: Vec<(&'static str, f64)>,
    /// What a loop of the base changes in the dependent coordinates; `None` where the path is not closed, or
    /// is no path.
    pub holonomy: Option<Vec<(String, f64)>>,
}

/// Integrates a system and gives its states at the output times that were reached.
pub(crate) fn states(
    system: &mut dyn System,
    start: &[f64],
    settings: &Settings,
) -> (Vec<(f64, Vec<f64>)>, StopReason, f64) {
    let options = OdeOptions { ..settings.options };
    let mut watched = Watched { kept: Trajectory::default(), interrupt: settings.interrupt };
    let outcome = integrate(system, start, &options, &mut watched);
    let kept = watched.kept;
    let mut reached = Vec::new();
    for &t in &settings.times {
        if t == settings.t0 {
            reached.push((t, start.to_vec()));
        } else if let Some(y) = kept.state(t) {
            reached.push((t, y));
        }
    }
    let reason = match outcome.stop {
        pfaff_solver::StopReason::End | pfaff_solver::StopReason::Event(_) => StopReason::End,
        pfaff_solver::StopReason::StepTooSmall => StopReason::StepTooSmall,
        pfaff_solver::StopReason::Singular => StopReason::Singular,
        pfaff_solver::StopReason::NotFinite => StopReason::NotFinite,
        pfaff_solver::StopReason::MaxSteps => StopReason::MaxSteps,
        pfaff_solver::StopReason::Interrupted => StopReason::Interrupted,
    };
    (reached, reason, outcome.t)
}

/// A trajectory that ends when it is asked to.
struct Watched {
    kept: Trajectory,
    interrupt: Option<Interrupt>,
}

impl Observer for Watched {
    fn step(&mut self, step: &DenseStep<'_>, system: &mut dyn System) -> Control {
        let control = self.kept.step(step, system);
        if Interrupt::is_asked(self.interrupt) { Control::Stop } else { control }
    }

    fn event(&mut self, event: &LocatedEvent, y: &[f64]) -> Control {
        self.kept.event(event, y)
    }
}

/// One series for each coordinate from rows of values.
pub(crate) fn series(model: &Workspace, rows: &[Vec<f64>]) -> Vec<Series> {
    let column = |k: usize| rows.iter().map(|r| r[k]).collect();
    let coordinates = model.coordinates.iter().enumerate();
    coordinates.map(|(k, c)| Series { name: c.name.clone(), values: column(k) }).collect()
}

impl Trace {
    /// Whether the curve came to its end.
    pub fn is_whole(&self) -> bool {
        self.reason == StopReason::End
    }
}
