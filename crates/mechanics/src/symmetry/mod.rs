//! Symmetries of a Lagrangian, and what they keep.

mod ansatz;
mod conserved;
mod linear_field;
mod momenta;
mod null_space;
mod positions;
mod quadratic;

pub use conserved::{Conserved, ConservedKind, Effort, conserved};
pub(crate) use momenta::check;
pub use momenta::{Momentum, kept_momenta, momenta};
