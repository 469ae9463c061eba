//! Systems with memory: fractional derivatives and integrals, and other kernels.
//!
//! [`VolterraSystem`] says what is to be solved, [`integrate_volterra`] solves it: collocation at the nodes of
//! Radau (`collocation.rs`), exact local singular
//! integrals (`nodal_basis.rs`), the past as a sum of exponentials (`exponentials.rs`, `history.rs`). The cost is
//! linear in the number of steps and the
//! storage does not depend on it, except for kernels that are neither powers nor solve a linear equation with
//! constant coefficients (`linear_kernel.rs`).
//! [`DirectQuadrature`] integrates the memory of a run a second time, directly, at a few of its times.

mod block_history;
mod collocation;
mod damped_waves;
mod direct_quadrature;
mod event_watch;
mod events;
mod exponentials;
mod history;
mod integrate;
mod linear_kernel;
mod local_integrals;
mod resolution;
mod starting_step;
mod system;
mod units;

pub use direct_quadrature::{DirectQuadrature, KernelValues};
pub use exponentials::ExponentialSum;
pub use integrate::{
    VolterraObserver, VolterraOptions, VolterraOutcome, VolterraStep, integrate_volterra,
};
pub use resolution::{KernelResolution, narrow_places};
pub use system::{DampedWave, Kernel, Operand, VolterraPoint, VolterraSystem};
pub use units::{natural_units, ordinary_unit, units_serve};
