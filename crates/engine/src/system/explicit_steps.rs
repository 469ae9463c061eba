//! DOP853 steps around machine code: the tableau of the solver, carried out by the program.

use pfaff_program::{RungeKuttaMethod, StepBuffers, Tableau};
use pfaff_solver::{Block, Dop853Tableau, ExplicitSteps, RungeKuttaStep};

use crate::system::compiled::CompiledSystem;

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

impl ExplicitSteps for CompiledSystem {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        self.machine_code(step).is_some_and(|rates| rates.step::<Dop853>(&mut rows(step)))
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        self.machine_code(step)
            .is_some_and(|rates| rates.dense_output::<Dop853>(&mut rows(step), dense))
    }
}

/// The rows of a step as the program names them.
fn rows<'a>(step: &'a mut RungeKuttaStep<'_>) -> StepBuffers<'a> {
    let RungeKuttaStep { t, h, y, k, stage, end, errors: [five, three] } = step;
    StepBuffers { t: *t, h: *h, y, k, stage, end, errors: [five, three] }
}
