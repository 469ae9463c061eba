//! What a Lagrangian is made of: kinetic energy and potential, and forces that come from a potential.

mod helmholtz;
pub(crate) mod kinetic;
pub(crate) mod motion;

pub use helmholtz::{Helmholtz, helmholtz};
pub use kinetic::Kinetic;
