//! Symmetries of a Lagrangian, and the momenta that they keep.

mod momenta;

pub(crate) use momenta::check;
pub use momenta::{Momentum, kept_momenta, momenta};
