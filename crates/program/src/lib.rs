//! Expressions to straight-line tapes, and their interpreters.
//!
//! ```text
//! outputs: [Expr] ──lower, fuse──► instructions ──allocate──► Program ──start──► Run, Batch ──evaluate──► numbers
//! ```
//!
//! What is a number is computed once, when the program is made; what depends on parameters alone, once a run; the rest at every evaluation.
//! Instructions stand in the order in which the expressions were written. The same program and the same inputs give the same bits, one state at a
//! time ([`Run`]) or many ([`Batch`]). Native code keeps the contract that stands in `program.rs`.
//!
//! Sees `expr` only. No file, clock, thread or `unsafe`.

mod allocate;
mod batch;
mod error;
mod fuse;
mod instruction;
mod lower;
mod native;
mod program;
mod rounding;
mod run;
mod sincos;

pub use batch::Batch;
pub use error::CompileError;
pub use program::{Counts, Program};
pub use run::Run;
pub use sincos::{sincos, sincos_fused};
