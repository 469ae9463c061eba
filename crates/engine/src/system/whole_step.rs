//! Whole steps of DOP853 around machine code: the method of the solver, carried out by the program.

use pfaff_program::{NativeExecutor, RungeKuttaMethod, StepBuffers, Tableau, Weights};
use pfaff_solver::{Block, Coefficients, Term, WholeStep};

/// The method whose coefficients the solver owns.
struct Dop853;

impl RungeKuttaMethod for Dop853 {
    const TABLEAU: Tableau = Tableau {
        nodes: &Coefficients::DOP853.nodes,
        rows: &spread(Coefficients::DOP853.rows),
        weights: spread([Coefficients::DOP853.weights])[0],
        errors: spread(Coefficients::DOP853.errors),
        dense_nodes: &Coefficients::DOP853.later_nodes,
        dense_rows: &spread(Coefficients::DOP853.later_rows),
        dense: &spread(Coefficients::DOP853.dense),
    };
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
    rates.dense_output::<Dop853>(&mut rows(step), dense)
}

/// The same rows there.
fn rows<'a>(step: &'a mut WholeStep<'_>) -> StepBuffers<'a> {
    let WholeStep { t, h, y, k, stage, end, errors: [five, three] } = step;
    StepBuffers { t: *t, h: *h, y, k, stage, end, errors: [five, three] }
}
