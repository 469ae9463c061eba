//! Affine bodies: matrices of coordinates, their functions, their constraints and their second moments of mass.

pub(crate) mod body;
pub(crate) mod constraint;
mod inertia;
mod recognition;
