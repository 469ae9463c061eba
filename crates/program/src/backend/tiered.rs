//! A program that is run by its tape at first, and by machine code once it has been evaluated so often that
//! this would have been worth it.
//!
//! Writing machine code takes about as long as `BY_TAPE` evaluations by the tape, by Cranelift
//! `BY_CRANELIFT`, and a little more for memory that is made executable. Whoever waits that long before
//! writing it loses at most as much again as
//! the better of the two ways takes, whatever the number of evaluations turns out to be; programs that are
//! evaluated a few times, as at the start of a run or at its outputs, never get any.

use std::sync::{Arc, OnceLock};

use crate::backend::Backend;
use crate::backend::executor::{Executor, NativeCode};
use crate::backend::interpreter::Interpreter;
use crate::backend::lanes::Lanes;
use crate::tape::program::Program;

/// Evaluations by the tape that take as long as writing their machine code.
const BY_TAPE: usize = 40;
/// The same for machine code of Cranelift.
const BY_CRANELIFT: usize = 800;
/// Instructions by the tape that take as long as asking the system for executable memory.
const BY_SYSTEM: usize = 8_000;

/// A program at work that has no machine code yet.
#[derive(Clone, Debug)]
pub struct TieredExecutor {
    program: Program,
    parameters: Vec<f64>,
    run: Interpreter,
    /// Evaluations by the tape that are left.
    left: usize,
    /// Shared by all copies, so that it is written once; `None` where there is none for this processor.
    native: Arc<OnceLock<Option<NativeCode>>>,
}

impl TieredExecutor {
    pub(crate) fn new(program: &Program, parameters: &[f64]) -> Self {
        let steps = program.counts().per_evaluation;
        let by_tape = if Backend::best().compiles_slowly() { BY_CRANELIFT } else { BY_TAPE };
        Self {
            program: program.clone(),
            parameters: parameters.to_vec(),
            run: program.interpreter(parameters),
            left: BY_SYSTEM.checked_div(steps).map_or(usize::MAX, |n| by_tape + n),
            native: Arc::default(),
        }
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.parameters.copy_from_slice(parameters);
        self.run.set_parameters(parameters);
    }

    /// The outputs at these inputs; tells what to go on with, if it is time for that.
    pub(crate) fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) -> Option<Executor> {
        self.run.evaluate(inputs, outputs);
        self.left -= 1;
        (self.left == 0).then(|| self.promoted())
    }

    pub(crate) fn promoted(&self) -> Executor {
        match self.native.get_or_init(|| self.program.native(Lanes::One)) {
            Some(native) => Executor::Native(native.start(&self.parameters)),
            None => Executor::Interpreted(self.run.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use pfaff_expr::{Graph, Role};

    use super::*;

    #[test]
    fn code_is_written_after_as_many_evaluations_as_it_costs_once_for_all_copies() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let program = Program::compile(&g, &[x], &[], &[g.add(g.sin(x), x)]).unwrap();
        let mut first = TieredExecutor::new(&program, &[]);
        let copy = first.clone();
        let count = (1..1_000_000).find(|_| first.evaluate(&[0.3], &mut [0.0]).is_some());
        let by_tape =
            if Backend::best() == Backend::Cranelift { BY_CRANELIFT } else { BY_TAPE };
        assert_eq!(count, Some(by_tape + BY_SYSTEM / program.counts().per_evaluation));
        assert!(copy.native.get().is_some(), "the copy has it too");
    }
}
