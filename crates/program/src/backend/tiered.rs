//! Tiered execution: the interpreter first, machine code once a program has been evaluated often enough.
//!
//! Compiling takes about as long as `COMPILE_COST` evaluations by the interpreter, with Cranelift
//! `CRANELIFT_COST`, and a little more for executable memory. Waiting just that long costs at most twice the
//! time of the better choice, whatever the number of evaluations turns out to be (the ski-rental argument).
//! Programs that are evaluated a few times only, as at the start of a run or at its outputs, are never
//! compiled.

use std::sync::{Arc, OnceLock};

use crate::backend::Backend;
use crate::backend::executor::Executor;
use crate::backend::interpreter::Interpreter;
use crate::backend::lanes::Lanes;
use crate::backend::native_executor::NativeCode;
use crate::tape::program::Program;

/// Evaluations by the interpreter that take as long as compiling their machine code.
const COMPILE_COST: usize = 40;
/// The same for Cranelift.
const CRANELIFT_COST: usize = 800;
/// Interpreted instructions that take as long as asking the system for executable memory.
const MAPPING_COST: usize = 8_000;

/// A program that is interpreted until compiling it is worth it.
#[derive(Clone, Debug)]
pub struct TieredExecutor {
    program: Program,
    parameters: Vec<f64>,
    run: Interpreter,
    backend: Backend,
    /// Evaluations until it is compiled.
    left: usize,
    /// Shared by all copies, so that it is compiled once; `None` where the backend has no code.
    native: Arc<OnceLock<Option<NativeCode>>>,
}

impl TieredExecutor {
    pub(crate) fn new(program: &Program, parameters: &[f64], backend: Backend) -> Self {
        let instructions = program.counts().per_evaluation;
        let cost = if backend.compiles_slowly() { CRANELIFT_COST } else { COMPILE_COST };
        Self {
            program: program.clone(),
            parameters: parameters.to_vec(),
            run: program.interpreter(parameters),
            backend,
            left: MAPPING_COST.checked_div(instructions).map_or(usize::MAX, |n| cost + n),
            native: Arc::default(),
        }
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.parameters.copy_from_slice(parameters);
        self.run.set_parameters(parameters);
    }

    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// The outputs at these inputs; also the executor that takes over, when it is time for that.
    pub(crate) fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) -> Option<Executor> {
        self.run.evaluate(inputs, outputs);
        self.left -= 1;
        (self.left == 0).then(|| self.promoted())
    }

    pub(crate) fn promoted(&self) -> Executor {
        match self.native.get_or_init(|| self.program.native_code(Lanes::One, self.backend)) {
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
    fn a_program_is_compiled_after_as_many_evaluations_as_that_costs_once_for_all_copies() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let program = Program::compile(&g, &[x], &[], &[g.add(g.sin(x), x)]).unwrap();
        for backend in Backend::ALL {
            let mut first = TieredExecutor::new(&program, &[], backend);
            let copy = first.clone();
            let count = (1..1_000_000).find(|_| first.evaluate(&[0.3], &mut [0.0]).is_some());
            let cost =
                if backend == Backend::Cranelift { CRANELIFT_COST } else { COMPILE_COST };
            let mapping = MAPPING_COST / program.counts().per_evaluation;
            assert_eq!(count, Some(cost + mapping));
            assert!(copy.native.get().is_some(), "the copy has it too");
        }
    }
}
