//! The Rosenbrock method: its order with explicit time, dense output, stiff problems, and sparse Jacobians.

use pfaff_solver::{
    EvalError, Jacobian, Method, OdeOptions, SparseJacobian, StopReason, System, Trajectory,
    integrate,
};

/// $\dot x = -50\,(x - \cos t) - y$, $\dot y = x - t/10$: explicit time, and a fast decay.
struct Driven;

impl System for Driven {
    fn dimension(&self) -> usize {
        2
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates[0] = -50.0 * (y[0] - libm::cos(t)) - y[1];
        rates[1] = y[0] - 0.1 * t;
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }
}

#[test]
fn the_order_is_four_with_explicit_time() {
    let exact = {
        let options = OdeOptions { t1: 5.0, tolerance: 1e-14, ..OdeOptions::default() };
        integrate(&mut Driven, &[1.0, 0.0], &options, &mut ()).y
    };
    let error = |tolerance: f64| {
        let method = Method::Rosenbrock;
        let options = OdeOptions { t1: 5.0, tolerance, method, ..OdeOptions::default() };
        let mut trajectory = Trajectory::default();
        let outcome = integrate(&mut Driven, &[1.0, 0.0], &options, &mut trajectory);
        assert_eq!(outcome.stop, StopReason::End);
        let end = (outcome.y[0] - exact[0]).hypot(outcome.y[1] - exact[1]);
        (end, 5.0 / outcome.statistics.steps as f64)
    };
    let (coarse, fine) = (error(1e-6), error(1e-9));
    let order = libm::log(coarse.0 / fine.0) / libm::log(coarse.1 / fine.1);
    // The lengths of steps vary within a run, and stiff terms add parts of lower order.
    assert!((3.3..4.8).contains(&order), "{order}: {coarse:?}, {fine:?}");
}

/// A chain of diffusing concentrations with a source that reacts, by its entries.
struct Chain {
    n: usize,
    is_sparse: bool,
    begins: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

const STIFFNESS: f64 = 1e4;

impl Chain {
    fn new(n: usize, is_sparse: bool) -> Self {
        Self { n, is_sparse, begins: Vec::new(), rows: Vec::new(), values: Vec::new() }
    }

    fn entry(&self, i: usize, j: usize, y: &[f64]) -> f64 {
        match i.abs_diff(j) {
            0 if i == 0 || i + 1 == self.n => -STIFFNESS - 2.0 * y[i],
            0 => -2.0 * STIFFNESS - 2.0 * y[i],
            1 => STIFFNESS,
            _ => 0.0,
        }
    }
}

impl Jacobian for Chain {
    fn jacobian(&mut self, _: f64, y: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        for k in 0..self.n * self.n {
            matrix[k] = self.entry(k / self.n, k % self.n, y);
        }
        Ok(())
    }

    fn sparse(&mut self, _: f64, y: &[f64]) -> Result<Option<SparseJacobian<'_>>, EvalError> {
        if !self.is_sparse {
            return Ok(None);
        }
        self.begins.clear();
        self.rows.clear();
        self.values.clear();
        self.begins.push(0);
        for j in 0..self.n {
            for i in j.saturating_sub(1)..(j + 2).min(self.n) {
                self.rows.push(i);
                let entry = self.entry(i, j, y);
                self.values.push(entry);
            }
            self.begins.push(self.rows.len());
        }
        let Self { begins, rows, values, .. } = self;
        Ok(Some(SparseJacobian { begins, rows, values }))
    }
}

impl System for Chain {
    fn dimension(&self) -> usize {
        self.n
    }

    fn rates(&mut self, _: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        for i in 0..self.n {
            let left = if i > 0 { y[i - 1] - y[i] } else { 0.0 };
            let right = if i + 1 < self.n { y[i + 1] - y[i] } else { 0.0 };
            rates[i] = STIFFNESS * (left + right) - y[i] * y[i];
        }
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn jacobian(&mut self) -> Option<&mut dyn Jacobian> {
        Some(self)
    }
}

#[test]
fn entries_and_full_matrices_give_the_same_motion() {
    let n = 80;
    let start: Vec<f64> = (0..n).map(|i| if i % 7 == 0 { 1.0 } else { 0.1 }).collect();
    for method in [Method::Radau, Method::Rosenbrock] {
        let options = OdeOptions { t1: 2.0, tolerance: 1e-6, method, ..OdeOptions::default() };
        let [full, sparse] = [false, true].map(|is_sparse| {
            integrate(&mut Chain::new(n, is_sparse), &start, &options, &mut ())
        });
        assert_eq!(sparse.stop, StopReason::End);
        assert_eq!(full.statistics.steps, sparse.statistics.steps);
        for (a, b) in full.y.iter().zip(&sparse.y) {
            // Both solve the same linear systems, to rounding times their condition.
            assert!((a - b).abs() < 1e-9, "{method:?}: {a} and {b}");
        }
    }
}
