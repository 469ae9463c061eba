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

mod allocate;
mod batch;
mod elementary;
mod error;
mod executor;
mod export;
mod fuse;
mod gradual;
mod instruction;
mod lanes;
mod lower;
mod maker;
mod native;
mod program;
mod rounding;
mod run;
mod sincos;
mod sketch;
mod stages;
mod taylor;
mod way;

pub use batch::Batch;
pub use error::CompileError;
pub use executor::{Executor, Native, NativeRun, Options};
pub use export::{Argument, Function, Language, Module, NoWords};
pub use gradual::Gradual;
pub use lanes::Lanes;
pub use program::{Counts, Program};
pub use run::Run;
pub use sincos::{sincos, sincos_fused};
pub use sketch::Sketch;
pub use stages::{BLOCK, Block, DENSE, LATER, Rows, STAGES, Tableau, Weights};
pub use taylor::{Field, Loops, NotAnalytic, Passes, Recurrences, TaylorError};
pub use way::Way;
