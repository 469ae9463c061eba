//! Whole integrations by DOP853 against the same method written by hand in C.
//!
//! The error is that of the end point against a run at 1e-13. Both control the local error by one tolerance;
//! ours in the largest component, the rival in the
//! mean over all, so that ours takes more steps for the same number.

use std::hint::black_box;

use pfaff_program::{Backend, Executor, Program};
use pfaff_solver::{
    Block, EvalError, ExplicitSteps, OdeOptions as Integration, RungeKuttaStep, System,
    integrate,
};

use crate::common::{BALL, chain_text, model, program, reduction};
use crate::explicit_steps;
use crate::library::compile_c;
use crate::table::{Row, pair};

/// $\dot y$ by native code and whole steps around it, as the engine has them.
struct Reduced {
    code: Executor,
    input: Vec<f64>,
}

impl Reduced {
    fn new(code: &Program, values: &[f64]) -> Self {
        let input = vec![0.0; code.inputs()];
        Self { code: code.executor(values, Backend::default()), input }
    }
}

impl ExplicitSteps for Reduced {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        let Executor::Native(code) = &mut self.code else { return false };
        explicit_steps::step(code, step)
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        let Executor::Native(code) = &mut self.code else { return false };
        explicit_steps::dense_output(code, step, dense)
    }
}

impl System for Reduced {
    fn dimension(&self) -> usize {
        self.input.len() - 1
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        self.input[0] = t;
        self.input[1..].copy_from_slice(y);
        self.code.evaluate(&self.input, rates);
        Ok(())
    }

    fn explicit_steps(&mut self) -> Option<&mut dyn ExplicitSteps> {
        Some(self)
    }

    fn has_invariants(&self) -> bool {
        false
    }
}

/// One problem.
struct Problem<'a> {
    name: &'a str,
    function: &'a str,
    parameters: &'a [f64],
    /// Ours, and which of its components the rival has.
    start: Vec<f64>,
    kept: Vec<usize>,
    t1: f64,
    tolerance: f64,
    limit: f64,
}

fn compare(text: &str, problem: &Problem<'_>) {
    let Some(library) = compile_c("hand_dop853.c", &[]) else { return };
    let made = model(text);
    let q = &problem.start[..made.coordinates.len()];
    let code = program(&made, &reduction(&made, q));
    let mut system = Reduced::new(&code, &made.parameter_values());
    let mut solve = |tolerance: f64| {
        let options = Integration { t1: problem.t1, tolerance, ..Integration::default() };
        integrate(&mut system, black_box(&problem.start), &options, &mut ())
    };
    let rival = library.integration(problem.function);
    let short: Vec<f64> = problem.kept.iter().map(|&i| problem.start[i]).collect();
    let mut end = short.clone();
    let exact = solve(1e-13).y;
    let exact: Vec<f64> = problem.kept.iter().map(|&i| exact[i]).collect();
    let outcome = solve(problem.tolerance);
    let found: Vec<f64> = problem.kept.iter().map(|&i| outcome.y[i]).collect();
    let evaluations = rival(&mut end, problem.parameters, problem.t1, problem.tolerance);
    let error = |y: &[f64]| {
        let pairs = y.iter().zip(&exact);
        pairs.fold(0.0_f64, |m, (a, b)| m.max((a - b).abs() / (1.0 + b.abs())))
    };
    let note = format!(
        "{:.0e}, rival {:.0e}; {} and {evaluations} evaluations",
        error(&found),
        error(&end),
        outcome.statistics.evaluations
    );
    let (a, b) = pair(&mut || drop(solve(problem.tolerance)), &mut || {
        end.copy_from_slice(&short);
        rival(black_box(&mut end), problem.parameters, problem.t1, problem.tolerance);
    });
    Row::new(problem.name, "C, DOP853 by hand", a, b, problem.limit).note(note).print();
}

/// P4 to T = 10.
pub(crate) fn chain() {
    let n = 20;
    let mut start = vec![0.0, 0.0];
    start.extend((0..=n).map(|i| 0.3 * libm::sin(0.9 * f64::from(i))));
    start.extend([1.0, 0.2, 0.5]);
    let kept = (0..start.len()).collect();
    compare(
        &chain_text(20),
        &Problem {
            name: "chain of 20 to T = 10",
            function: "p4_dop853_20",
            parameters: &[1.0, 0.1, 0.5, 0.5],
            start,
            kept,
            t1: 10.0,
            tolerance: 1e-9,
            limit: 1.0,
        },
    );
}

/// P3 to T = 20.
pub(crate) fn ball() {
    let (x, y): (f64, f64) = (0.6, 0.1);
    let z = 0.5 * (0.5 * x * x + 0.8 * y * y);
    compare(
        BALL,
        &Problem {
            name: "ball in a bowl to T = 20",
            function: "p3_dop853",
            parameters: &[0.3, 0.5, 0.8, 9.81, 0.4],
            start: vec![x, y, z, 0.3, 1.3, 0.0, 0.8, 1.5, 0.7],
            kept: vec![0, 1, 3, 4, 5, 6, 7, 8],
            t1: 20.0,
            tolerance: 1e-10,
            limit: 1.3,
        },
    );
}
