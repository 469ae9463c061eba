//! Principles of motion: each turns a model into the blocks of (K), one file each.
//!
//! ```text
//! Model ──► chetaev ──► Equations
//!              ├──► vakonomic    (multipliers μ with equations of their own)
//!              └──► restricted   (dependent velocities inserted into L)
//! Model ──► fractional           (extrema of Lagrangians with memory)
//! Model ──► ordinary             (`equation` models: no principle, equations as written)
//! ```

pub(crate) mod chetaev;
pub(crate) mod equations;
mod fractional;
mod ordinary;
pub(crate) mod refusal;
mod restricted;
mod vakonomic;

pub use equations::{Equations, MultiplierTerms, derive};
pub use fractional::{FractionalEquations, adjoint, fractional_equations};
pub use ordinary::{Ordinary, ordinary};
pub use pfaff_model::Principle;
pub use refusal::Refusal;
