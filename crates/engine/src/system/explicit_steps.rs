//! DOP853 steps around machine code: the tableau of the solver, carried out by the program.

use pfaff_program::{NativeExecutor, RungeKuttaMethod, StepBuffers, Tableau};
use pfaff_solver::{Block, Dop853Tableau, RungeKuttaStep};

/// The method whose coefficients the solver owns.
struct Dop853;

impl RungeKuttaMethod for Dop853 {
    const TABLEAU: Tableau = Tableau {
        nodes: &Dop853Tableau::DOP853.nodes,
        rows: &Dop853Tableau::DOP853.rows,
        weights: Dop853Tableau::DOP853.weights,
        errors: Dop853Tableau::DOP853.errors,
        dense_nodes: &Dop853Tableau::DOP853.dense_nodes,
        dense_rows: &Dop853Tableau::DOP853.dense_rows,
        dense: &Dop853Tableau::DOP853.dense,
    };
}

/// Carries out a step with this right-hand side; returns whether all numbers are finite.
pub(crate) fn step(rates: &mut NativeExecutor, step: &mut RungeKuttaStep<'_>) -> bool {
    rates.step::<Dop853>(&mut rows(step))
}

/// Dense output of the step carried out last; returns whether all numbers are finite.
pub(crate) fn dense_output(
    rates: &mut NativeExecutor,
    step: &mut RungeKuttaStep<'_>,
    dense: &mut [Block],
) -> bool {
    rates.dense_output::<Dop853>(&mut rows(step), dense)
}

/// The rows of a step as the program names them.
fn rows<'a>(step: &'a mut RungeKuttaStep<'_>) -> StepBuffers<'a> {
    let RungeKuttaStep { t, h, y, k, stage, end, errors: [five, three] } = step;
    StepBuffers { t: *t, h: *h, y, k, stage, end, errors: [five, three] }
}
