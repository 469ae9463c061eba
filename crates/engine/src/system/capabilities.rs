//! What compiled systems offer to single methods: whole steps in machine code, and Taylor series.

use pfaff_solver::{Block, EvalError, ExplicitSteps, RungeKuttaStep, TaylorSeries};

use crate::system::compiled::{Compiled, CompiledSystem};
use crate::system::explicit_steps;

impl ExplicitSteps for CompiledSystem {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        self.machine_code(step).is_some_and(|rates| explicit_steps::step(rates, step))
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        self.machine_code(step)
            .is_some_and(|rates| explicit_steps::dense_output(rates, step, dense))
    }
}

impl TaylorSeries for CompiledSystem {
    fn coefficients(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), EvalError> {
        match (&mut self.dynamics, &mut self.series) {
            (Compiled::Reduced(reduced), _) => reduced.coefficients(at, rows),
            (_, Some(series)) => series.evaluate(at, rows),
            (_, None) => Err(EvalError::NotFinite),
        }
    }
}
