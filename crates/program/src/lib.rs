//! Expressions to straight-line tapes, and their interpreters.
//!
//! ```text
//! outputs: [Expr] ──lower, fuse──► instructions ──allocate──► Program ──start──► Interpreter, BatchInterpreter ──evaluate──► numbers
//!                                                                └──native──► NativeCode ──start──► NativeExecutor ──evaluate──► numbers
//! ```
//!
//! What is a number is computed once, when the program is made; what depends on parameters alone, once a run;
//! the rest at every evaluation.
//! Instructions stand in the order in which the expressions were written. The same program and the same
//! inputs give the same bits, one state at a
//! time ([`Interpreter`]), many ([`BatchInterpreter`]), or by machine code ([`NativeCode`]): the contract stands in `program.rs`. An
//! [`Executor`] is whichever is fastest here;
//! a [`Backend`] names who writes the code. With the feature `cranelift` processors other than x86-64 have
//! machine code too.
//!
//! Sees `expr` only. No file, clock or thread; `unsafe` in the module `native` alone.

mod backend;
mod error;
mod export;
mod rounding;
mod sincos;
mod tape;
mod taylor;

pub use backend::Backend;
pub use backend::batch::BatchInterpreter;
pub use backend::executor::Executor;
pub use backend::graph_evaluator::GraphEvaluator;
pub use backend::interpreter::Interpreter;
pub use backend::lanes::Lanes;
pub use backend::native_executor::{NativeCode, NativeExecutor};
pub use backend::runge_kutta::{
    BLOCK, Block, MAX_STAGES, RungeKuttaMethod, StepBuffers, Tableau, Weights,
};
pub use backend::tiered::TieredExecutor;
pub use error::CompileError;
pub use export::{Argument, ExportedFunction, Language, Module, UnsupportedFunction};
pub use sincos::{sincos, sincos_fused};
pub use tape::program::{Counts, Program};
pub use taylor::{
    NotAnalytic, TaylorError, TaylorInterpreter, TaylorPasses, TaylorRecurrences, VectorField,
};
