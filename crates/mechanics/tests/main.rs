//! The formulas of mechanics against numbers from a second road.
//!
//! The second road differentiates $L$, $\varphi$ and $Q$ by finite differences along curves and solves the
//! balance of forces with plain numbers (`support`). It shares nothing with the derivation but the values of
//! the expressions that the text gives.

#![expect(clippy::unwrap_used, reason = "tests")]

mod chaplygin;
mod charts;
mod conserved;
mod constraint;
mod exterior;
mod factors;
mod geometry;
mod hamiltonian;
mod lagrangian;
mod large;
mod lengths;
mod principle;
mod reduction;
mod support;
mod symmetry;
