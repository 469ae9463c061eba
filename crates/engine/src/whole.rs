//! Whole steps of DOP853 as one program, for right-hand sides that are short.
//!
//! A short right-hand side waits more than it computes, and so does everything around it; written out over all stages the waiting of one fills with the work of
//! others. Making the program takes as long as some hundred steps save, so that it is made after as many.

use pfaff_program::{Executor, Options, Program, Stages};
use pfaff_solver::Coefficients;

/// Instructions of the right-hand side beyond which its own work hides the rest.
const SHORT: usize = 400;
/// Steps that a run takes before: making the program takes 0.2 to 0.4 ms in a fresh process, and saves less than a microsecond a step.
const EARLIER: usize = 400;

/// The steps of a right-hand side $(t, y)$ to $f(t, y)$.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    right_side: Program,
    parameters: Vec<f64>,
    asked: usize,
    step: Option<Executor>,
}

impl Whole {
    /// `None` if the right-hand side is too long.
    pub(crate) fn new(right_side: &Program, parameters: &[f64]) -> Option<Self> {
        let is_short = right_side.counts().per_evaluation <= SHORT;
        is_short.then(|| Self {
            right_side: right_side.clone(),
            parameters: parameters.to_vec(),
            asked: 0,
            step: None,
        })
    }

    /// From $(t, h, y, f(t, y))$ to the rows of [`Coefficients`]; says whether it did.
    pub(crate) fn carry_out(&mut self, at: &[f64], rows: &mut [f64]) -> bool {
        if self.step.is_none() {
            self.asked += 1;
            if self.asked == EARLIER {
                let step = step_of(&self.right_side);
                self.step = step.map(|s| s.executor(&self.parameters, Options::default()));
            }
        }
        self.step.as_mut().map(|step| step.evaluate(at, rows)).is_some()
    }
}

/// A step of DOP853 by this right-hand side.
fn step_of(right_side: &Program) -> Option<Program> {
    let Coefficients { nodes, rows, weights, errors } = Coefficients::dop853();
    right_side.step(&Stages { nodes, rows: &rows, weights, sums: &errors })
}

#[cfg(test)]
mod tests {
    use pfaff_expr::{Graph, Role};

    use super::*;

    #[test]
    fn steps_are_carried_out_once_a_run_is_long() {
        let g = Graph::new();
        let [t, x] = ["t", "x"].map(|name| g.symbol(name, Role::Free));
        let p = g.symbol("p", Role::Parameter);
        let right_side = Program::compile(&g, &[t, x], &[p], &[g.mul(p, x)]).expect("given");
        let mut whole = Whole::new(&right_side, &[0.5]).expect("short");
        let (at, mut rows) = ([0.0, 0.2, 1.0, 0.5], [0.0; Coefficients::ROWS]);
        let carried: Vec<bool> =
            (0..=EARLIER).map(|_| whole.carry_out(&at, &mut rows)).collect();
        assert_eq!(carried.iter().position(|&c| c), Some(EARLIER - 1));
        // x′ = x/2 over a fifth: the ninth power of the step is beyond rounding.
        assert!((rows[11] - libm::exp(0.1)).abs() < 1e-15, "{}", rows[11]);
    }

    #[test]
    fn long_right_hand_sides_go_stage_by_stage() {
        let g = Graph::new();
        let [t, x] = ["t", "x"].map(|name| g.symbol(name, Role::Free));
        let mut rate = x;
        for shortest in [SHORT, SHORT + 1] {
            let of = |rate| Program::compile(&g, &[t, x], &[], &[rate]).expect("given");
            while of(rate).counts().per_evaluation < shortest {
                rate = g.sin(rate);
            }
            assert_eq!(Whole::new(&of(rate), &[]).is_some(), shortest == SHORT);
        }
    }
}
