//! Expressions to straight-line tapes, and their interpreters.
//!
//! ```text
//! outputs: [Expr] ──lower, fuse──► instructions ──allocate──► Program ──start──► Run, Batch ──evaluate──► numbers
//!                                                                └──native──► Native ──start──► NativeRun ──evaluate──► numbers
//! ```
//!
//! What is a number is computed once, when the program is made; what depends on parameters alone, once a run;
//! the rest at every evaluation.
//! Instructions stand in the order in which the expressions were written. The same program and the same
//! inputs give the same bits, one state at a
//! time ([`Run`]), many ([`Batch`]), or by machine code ([`Native`]): the contract stands in `program.rs`. An
//! [`Executor`] is whichever is fastest here;
//! a [`Way`] names who writes the code. With the feature `cranelift` processors other than x86-64 have
//! machine code too.
//!
//! Sees `expr` only. No file, clock or thread; `unsafe` in the module `native` alone.

mod backend;
mod elementary;
mod error;
mod export;
mod rounding;
mod sincos;
mod tape;
mod taylor;

pub use backend::Way;
pub use backend::batch::Batch;
pub use backend::executor::{Executor, Native, NativeRun, Options};
pub use backend::graph_evaluator::Sketch;
pub use backend::interpreter::Run;
pub use backend::lanes::Lanes;
pub use backend::runge_kutta::{BLOCK, Block, DENSE, LATER, Rows, STAGES, Tableau, Weights};
pub use backend::tiered::Gradual;
pub use error::CompileError;
pub use export::{Argument, Function, Language, Module, NoWords};
pub use sincos::{sincos, sincos_fused};
pub use tape::program::{Counts, Program};
pub use taylor::{Field, Loops, NotAnalytic, Passes, Recurrences, TaylorError};
