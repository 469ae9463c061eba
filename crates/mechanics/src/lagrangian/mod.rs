//! What a Lagrangian is made of: kinetic energy and potential, and forces that come from a potential.

pub(crate) mod auxiliary_velocities;
mod helmholtz;
pub(crate) mod kinetic;
pub(crate) mod motion;

pub use auxiliary_velocities::AuxiliaryVelocities;
pub use helmholtz::{Helmholtz, helmholtz};
pub use kinetic::Kinetic;
