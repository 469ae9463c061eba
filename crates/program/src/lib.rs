//! Expressions to straight-line programs, and the backends that evaluate them.
//!
//! ```text
//! outputs: [Expr] ──tape: lower, fuse, allocate──► Program ──backend──► Executor ──evaluate──► numbers
//!                                                     └──export──► source text in C, Rust or Python
//! field: t, y to y' ──taylor──► recurrences ──► Program ──backend──► Taylor coefficients
//! ```
//!
//! | room | |
//! |---|---|
//! | `tape/` | from expressions to a [`Program`]: instructions, constant folding, fused multiply-adds, slots |
//! | `backend/` | what evaluates a program: interpreter, batch interpreter, machine code, tiered execution |
//! | `taylor/` | Taylor coefficients of a first-order system |
//! | `export/` | programs as source text |
//!
//! Constants are folded when the program is made. What depends on parameters alone is evaluated once for each
//! set of parameters, the rest at every evaluation. The same program and inputs give the same bits with every
//! [`Backend`]; the contract stands in `tape/program.rs`.
//!
//! This crate depends on `expr` only. It uses no file, clock or thread, and `unsafe` code in `backend/native`
//! alone. Where there is no machine code (WebAssembly, for example) that module contains only portable loops.

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
pub use backend::lane_executor::{LANES, LaneExecutor, LaneRows};
pub use backend::lanes::Lanes;
pub use backend::native::sincos_fused;
pub use backend::native_executor::{NativeCode, NativeExecutor};
pub use backend::runge_kutta::{
    BLOCK, Block, MAX_STAGES, RungeKuttaMethod, StepBuffers, Tableau, Weights,
};
pub use backend::tiered::TieredExecutor;
pub use error::CompileError;
pub use export::{Argument, ExportedFunction, Language, Module, UnsupportedFunction};
pub use sincos::sincos;
pub use tape::program::{Counts, Program};
pub use taylor::{DoubleSeries, NoDoubleSeries};
pub use taylor::{
    NotAnalytic, TaylorError, TaylorInterpreter, TaylorPasses, TaylorRecurrences, VectorField,
};
