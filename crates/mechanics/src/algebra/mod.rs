//! Symbolic algebra that several rooms share: linear systems, antiderivatives, exterior forms, tensors.

pub(crate) mod annihilator;
pub(crate) mod antiderivative;
pub(crate) mod cramer;
pub(crate) mod elimination;
pub(crate) mod elimination_order;
pub(crate) mod exterior;
pub(crate) mod powers;
pub(crate) mod primitive;
pub(crate) mod tensor;

pub use elimination::solve_linear;
pub use exterior::{DifferentialForm, MixedDegrees, Space};
pub use tensor::{Tensor, simple};
