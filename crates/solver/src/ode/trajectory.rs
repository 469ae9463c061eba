//! A whole run, kept: the steps and events of an integration as a function of time.

use crate::ode::dense_output::{DenseStep, StoredStep};
use crate::ode::observer::{Control, LocatedEvent, Observer};
use crate::ode::system::System;

/// An observer that keeps every step and every event.
///
/// ```
/// # use pfaff_solver::{EvalError, OdeOptions, System, Trajectory, integrate};
/// struct Decay;
/// impl System for Decay {
///     fn dimension(&self) -> usize { 1 }
///     fn rates(&mut self, _t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
///         rates[0] = -y[0];
///         Ok(())
///     }
/// }
/// let mut trajectory = Trajectory::default();
/// integrate(&mut Decay, &[1.0], &OdeOptions { t1: 2.0, ..OdeOptions::default() }, &mut trajectory);
/// let half = trajectory.state(std::f64::consts::LN_2).expect("log 2 lies within the run");
/// assert!((half[0] - 0.5).abs() < 1e-9);
/// assert!(trajectory.state(2.1).is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Trajectory {
    steps: Vec<StoredStep>,
    events: Vec<(LocatedEvent, Vec<f64>)>,
}

impl Trajectory {
    /// The state at `t`; none outside of the run.
    pub fn state(&self, t: f64) -> Option<Vec<f64>> {
        self.step_at(t).map(|step| {
            let mut y = vec![0.0; step.state_at_end().len()];
            step.state(t, &mut y);
            y
        })
    }

    /// The time derivative of the interpolated state at `t`; none outside of the run.
    pub fn derivative(&self, t: f64) -> Option<Vec<f64>> {
        self.step_at(t).map(|step| {
            let mut rates = vec![0.0; step.state_at_end().len()];
            step.derivative(t, &mut rates);
            rates
        })
    }

    /// The first step that contains `t`.
    pub fn step_at(&self, t: f64) -> Option<DenseStep<'_>> {
        let forward = self.steps.first()?.as_step();
        let forward = forward.start() <= forward.end();
        let before = |step: &StoredStep| {
            let end = step.as_step().end();
            if forward { end < t } else { end > t }
        };
        let step = self.steps.get(self.steps.partition_point(before))?.as_step();
        step.contains(t).then_some(step)
    }

    /// All steps, in the order of the run.
    pub fn steps(&self) -> &[StoredStep] {
        &self.steps
    }

    /// All events with their states, in the order of the run.
    pub fn events(&self) -> &[(LocatedEvent, Vec<f64>)] {
        &self.events
    }
}

impl Observer for Trajectory {
    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        self.steps.push(step.into());
        Control::Continue
    }

    fn event(&mut self, event: &LocatedEvent, y: &[f64]) -> Control {
        self.events.push((*event, y.to_vec()));
        Control::Continue
    }
}
