//! Tensors, growth vectors, integrability and the theorems about them.

mod integrability;
mod tensors;
mod theorems;
