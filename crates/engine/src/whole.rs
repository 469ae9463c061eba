//! Whole steps of DOP853 around machine code: the method of the solver, carried out by the program.

use pfaff_program::{DENSE, LATER, NativeExecutor, STAGES, StepBuffers, Tableau, Weights};
use pfaff_solver::{Block, Coefficients, Term, WholeStep};

/// The coefficients of the solver for the program.
struct Dop853;

impl Tableau for Dop853 {
    const NODES: [f64; STAGES] = Coefficients::DOP853.nodes;
    const ROWS: [Weights; STAGES] = spread(Coefficients::DOP853.rows);
    const ENDS: Weights = spread([Coefficients::DOP853.weights])[0];
    const SUMS: [Weights; 2] = spread(Coefficients::DOP853.errors);
    const LATER_NODES: [f64; LATER] = Coefficients::DOP853.later_nodes;
    const LATER_ROWS: [Weights; LATER] = spread(Coefficients::DOP853.later_rows);
    const DENSE: [Weights; DENSE] = spread(Coefficients::DOP853.dense);
}

/// Terms at the places of their stages.
const fn spread<const N: usize>(rows: [&[Term]; N]) -> [Weights; N] {
    let mut spread = [[0.0; 16]; N];
    let mut i = 0;
    while i < N {
        let mut l = 0;
        while l < rows[i].len() {
            let (stage, weight) = rows[i][l];
            spread[i][stage] = weight;
            l += 1;
        }
        i += 1;
    }
    spread
}

/// Carries out a step with this right-hand side; says whether all numbers are finite.
pub(crate) fn whole_step(rates: &mut NativeExecutor, step: &mut WholeStep<'_>) -> bool {
    rates.step::<Dop853>(&mut rows(step))
}

/// Dense output of the step carried out last; says whether all numbers are finite.
pub(crate) fn refine_step(
    rates: &mut NativeExecutor,
    step: &mut WholeStep<'_>,
    dense: &mut [Block],
) -> bool {
    rates.refine::<Dop853>(&mut rows(step), dense)
}

/// The same rows there.
fn rows<'a>(step: &'a mut WholeStep<'_>) -> StepBuffers<'a> {
    let WholeStep { t, h, y, k, stage, end, errors: [five, three] } = step;
    StepBuffers { t: *t, h: *h, y, k, stage, end, sums: [five, three] }
}
