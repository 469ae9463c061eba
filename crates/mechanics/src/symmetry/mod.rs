//! Symmetries of a Lagrangian, and what they keep.

mod ansatz;
mod conserved;
mod conserved_quantity;
mod linear_field;
mod momenta;
mod null_space;
mod positions;
mod quadratic;
mod quadratic_numbers;
mod turns;

pub(crate) use ansatz::somewhere;
pub use conserved::{Effort, conserved};
pub use conserved_quantity::{Conserved, ConservedKind};
pub(crate) use momenta::check;
pub use momenta::{Momentum, kept_momenta, momenta};
pub(crate) use null_space::{NullSpace, small_fraction};
