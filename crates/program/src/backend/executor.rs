//! One state at a time by any backend.

use crate::backend::interpreter::Interpreter;
use crate::backend::native_executor::NativeExecutor;
use crate::backend::tiered::TieredExecutor;

/// Evaluates a program one state at a time.
#[derive(Clone, Debug)]
pub enum Executor {
    /// The interpreter.
    Interpreted(Interpreter),
    /// Machine code.
    Native(NativeExecutor),
    /// The interpreter, until machine code is worth compiling.
    Tiered(Box<TieredExecutor>),
}

impl Executor {
    /// Other parameters; what depends on them alone is evaluated here.
    ///
    /// # Panics
    ///
    /// If their number is not that of the program.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        match self {
            Self::Interpreted(run) => run.set_parameters(parameters),
            Self::Native(run) => run.set_parameters(parameters),
            Self::Tiered(run) => run.set_parameters(parameters),
        }
    }

    /// Switches to machine code at once instead of waiting until enough evaluations were made: for callers
    /// that know that there will be many. Cranelift's code, which takes long to compile, still has to wait.
    pub fn promote(&mut self) {
        if let Self::Tiered(run) = self
            && !run.backend().compiles_slowly()
        {
            *self = run.promoted();
        }
    }

    /// The outputs at these inputs, both in the order of the program. Allocates nothing, except once when
    /// machine code takes over.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the program.
    #[inline]
    pub fn evaluate(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        match self {
            Self::Interpreted(run) => run.evaluate(inputs, outputs),
            Self::Native(run) => run.evaluate(inputs, outputs),
            Self::Tiered(_) => self.evaluate_tiered(inputs, outputs),
        }
    }

    // NOTE: apart, because room for what takes over would be made at every call of machine code.
    #[inline(never)]
    fn evaluate_tiered(&mut self, inputs: &[f64], outputs: &mut [f64]) {
        if let Self::Tiered(run) = self
            && let Some(next) = run.evaluate(inputs, outputs)
        {
            *self = next;
        }
    }
}
