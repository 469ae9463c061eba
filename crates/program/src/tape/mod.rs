//! From expressions to a tape: straight-line instructions over numbered slots.
//!
//! ```text
//! outputs: [Expr] ──lower, builder──► SsaTape ──fuse──► fewer instructions ──allocate──► Tape in a Program
//! ```
//!
//! Up to `allocate` every value has a number of its own (static single assignment); then values share slots.

pub(crate) mod allocate;
pub(crate) mod builder;
pub(crate) mod fuse;
pub(crate) mod instruction;
pub(crate) mod layer;
pub(crate) mod lower;
pub(crate) mod program;
