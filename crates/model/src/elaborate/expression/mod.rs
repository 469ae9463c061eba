//! Expressions of the syntax tree into values: scalars, vectors and matrices of the graph.

mod composition;
pub(crate) mod constants;
mod delay;
pub(crate) mod derivative;
pub(crate) mod fold;
pub(crate) mod functions;
pub(crate) mod machine;
mod memory;
mod names;
mod operators;
mod results;
pub(crate) mod table;
