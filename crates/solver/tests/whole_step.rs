//! Systems that carry out whole steps themselves: the run is the same.

mod common;

use common::{ellipse, kepler};
use pfaff_solver::{Coefficients, Halt, Options, Outcome, System, Trajectory, integrate};

/// The Kepler problem with whole steps, in the order of operations of the method.
struct Whole {
    steps: usize,
    /// Every so many steps the numbers are spoilt.
    spoilt: usize,
}

impl System for Whole {
    fn dimension(&self) -> usize {
        4
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), Halt> {
        kepler().rates(t, y, rates)
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn whole_step(&mut self, at: &[f64], rows: &mut [f64]) -> bool {
        let Coefficients { nodes, rows: a, weights, errors } = Coefficients::dop853();
        let (t, h, y) = (at[0], at[1], &at[2..6]);
        let mut k = vec![at[6..].to_vec()];
        let sum = |k: &[Vec<f64>], terms: &[(usize, f64)], i: usize| {
            terms.iter().map(|&(j, w)| w * k[j][i]).reduce(|a, b| a + b).expect("terms")
        };
        let along = |k: &[Vec<f64>], terms: &[(usize, f64)]| -> Vec<f64> {
            (0..4).map(|i| y[i] + h * sum(k, terms, i)).collect()
        };
        let rates = |t: f64, y: &[f64]| {
            let mut rates = vec![0.0; 4];
            kepler().rates(t, y, &mut rates).expect("away from the centre");
            rates
        };
        for (node, row) in nodes.iter().zip(a) {
            let state = along(&k, row);
            k.push(rates(t + node * h, &state));
        }
        let end = along(&k, weights);
        let mut found = k[1..].concat();
        found.extend(&end);
        errors.iter().for_each(|terms| found.extend((0..4).map(|i| sum(&k, terms, i))));
        found.extend(rates(t + h, &end));
        rows.copy_from_slice(&found);
        self.steps += 1;
        if self.steps.is_multiple_of(self.spoilt) {
            rows[11 * 4] = f64::NAN; // of the end
        }
        true
    }
}

fn recorded(system: &mut dyn System) -> (Outcome, Vec<f64>) {
    let mut trajectory = Trajectory::default();
    let options = Options { t1: 20.0, ..Options::default() };
    let outcome = integrate(system, &ellipse(0.5), &options, &mut trajectory);
    let dense = (0..200).flat_map(|i| trajectory.state(0.1 * f64::from(i)).expect("inside"));
    let dense = dense.collect();
    (outcome, dense)
}

#[test]
fn whole_steps_are_the_steps_of_the_method() {
    let (by_stages, dense) = recorded(&mut kepler());
    let mut system = Whole { steps: 0, spoilt: usize::MAX };
    let (at_once, same) = recorded(&mut system);
    assert_eq!(at_once.y, by_stages.y);
    assert_eq!(at_once.statistics.steps, by_stages.statistics.steps);
    assert_eq!(same, dense);
    assert!(system.steps >= by_stages.statistics.steps);
}

#[test]
fn numbers_that_are_not_finite_are_not_believed() {
    let mut system = Whole { steps: 0, spoilt: 3 };
    assert_eq!(recorded(&mut system).0.y, recorded(&mut kepler()).0.y);
}
