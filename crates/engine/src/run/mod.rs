//! From equations to a motion, for each kind of problem: given starts, given ends, memory, and both.

pub(crate) mod bvp;
pub(crate) mod prepare;
pub(crate) mod variational;
pub(crate) mod volterra;
