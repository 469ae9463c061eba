//! Symmetries of a Lagrangian, and the momenta that they keep.

pub(crate) mod momenta;

pub use momenta::{Momentum, kept_momenta, momenta};
