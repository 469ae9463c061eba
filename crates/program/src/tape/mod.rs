//! Expressions to a tape: a straight line of instructions over numbered slots.
//!
//! ```text
//! outputs: [Expr] ──lower (builder)──► instructions ──fuse──► fewer instructions ──allocate──► Program
//! ```

pub(crate) mod allocate;
pub(crate) mod builder;
pub(crate) mod fuse;
pub(crate) mod instruction;
pub(crate) mod lower;
pub(crate) mod program;
