//! Systems that carry out whole steps themselves: the run is the same.

use super::systems::{ellipse, kepler};
use pfaff_solver::{
    Block, Dop853Tableau, EvalError, ExplicitSteps, OdeOptions, Outcome, RungeKuttaStep,
    System, Trajectory, integrate,
};

/// The Kepler problem with whole steps, in the order of operations of the method.
struct Whole {
    steps: usize,
    refined: usize,
    /// Every so many steps it says no, and leaves numbers behind that are none.
    spoilt: usize,
}

impl System for Whole {
    fn dimension(&self) -> usize {
        4
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        kepler().rates(t, y, rates)
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn explicit_steps(&mut self) -> Option<&mut dyn ExplicitSteps> {
        Some(self)
    }
}

impl ExplicitSteps for Whole {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        let Dop853Tableau { nodes, rows, weights, errors, .. } = &Dop853Tableau::DOP853;
        for (i, (node, row)) in nodes.iter().zip(rows).enumerate() {
            step.k[i + 1] = rates(step.t + node * step.h, &along(step, row));
        }
        step.end[0] = along(step, weights);
        step.k[12] = rates(step.t + step.h, &step.end[0]);
        step.errors.iter_mut().zip(errors).for_each(|(row, terms)| row[0] = sum(step.k, terms));
        self.steps += 1;
        if self.steps.is_multiple_of(self.spoilt) {
            step.end[0] = [f64::NAN; 4];
            return false;
        }
        true
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        let Dop853Tableau { dense_nodes, dense_rows, dense: sums, .. } = &Dop853Tableau::DOP853;
        for (i, (node, row)) in dense_nodes.iter().zip(dense_rows).enumerate() {
            step.k[i + 13] = rates(step.t + node * step.h, &along(step, row));
        }
        for (row, terms) in dense.iter_mut().zip(sums) {
            *row = sum(step.k, terms).map(|x| step.h * x);
        }
        self.refined += 1;
        if self.refined.is_multiple_of(self.spoilt) {
            dense.fill([f64::NAN; 4]);
            return false;
        }
        true
    }
}

/// Four components are one block: a row is one.
fn sum(k: &[Block], weights: &[f64; 16]) -> Block {
    let terms = || weights.iter().zip(k).filter(|(w, _)| **w != 0.0);
    let added = |i: usize| terms().map(|(w, k)| w * k[i]).reduce(|a, b| a + b);
    std::array::from_fn(|i| added(i).expect("terms"))
}

fn along(step: &RungeKuttaStep<'_>, terms: &[f64; 16]) -> Block {
    let sum = sum(step.k, terms);
    std::array::from_fn(|i| step.y[0][i] + step.h * sum[i])
}

fn rates(t: f64, y: &Block) -> Block {
    let mut rates = [0.0; 4];
    kepler().rates(t, y, &mut rates).expect("away from the centre");
    rates
}

fn recorded(system: &mut dyn System) -> (Outcome, Vec<f64>) {
    let mut trajectory = Trajectory::default();
    let options = OdeOptions { t1: 20.0, ..OdeOptions::default() };
    let outcome = integrate(system, &ellipse(0.5), &options, &mut trajectory);
    let dense = (0..200).flat_map(|i| trajectory.state(0.1 * f64::from(i)).expect("inside"));
    let dense = dense.collect();
    (outcome, dense)
}

#[test]
fn whole_steps_are_the_steps_of_the_method() {
    let (by_stages, dense) = recorded(&mut kepler());
    let mut system = Whole { steps: 0, refined: 0, spoilt: usize::MAX };
    let (at_once, same) = recorded(&mut system);
    assert_eq!(at_once.y, by_stages.y);
    assert_eq!(at_once.statistics.steps, by_stages.statistics.steps);
    assert_eq!(same, dense);
    assert!(system.steps >= by_stages.statistics.steps);
    assert_eq!(system.refined, by_stages.statistics.steps);
}

#[test]
fn steps_that_are_not_carried_out_are_taken_stage_by_stage() {
    let mut system = Whole { steps: 0, refined: 0, spoilt: 3 };
    let (outcome, dense) = recorded(&mut system);
    let (by_stages, same) = recorded(&mut kepler());
    assert_eq!((outcome.y, dense), (by_stages.y, same));
}
