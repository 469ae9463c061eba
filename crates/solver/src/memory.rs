//! Systems with memory: fractional derivatives and integrals, and other kernels.
//!
//! [`MemorySystem`] says what is to be solved, [`integrate_memory`] solves it: collocation at the nodes of
//! Radau (`collocation.rs`), exact local singular
//! integrals (`basis.rs`), the past as a sum of exponentials (`exponentials.rs`, `history.rs`). The cost is
//! linear in the number of steps and the
//! storage does not depend on it, except for kernels that are neither powers nor solve a linear equation with
//! constant coefficients (`linear.rs`).
//! [`Recount`] integrates the memory of a run a second time, directly, at a few of its times.
//!
//! Beside it stand operators on given functions: [`gauss_jacobi`] rules, and [`operate_on_samples`] on a
//! uniform grid by fast convolution.

mod basis;
mod blocks;
mod collocation;
mod events;
mod exponentials;
mod gauss;
mod history;
mod linear;
mod local;
mod opening;
mod recount;
mod resolved;
mod run;
mod samples;
mod system;
mod waves;

pub use exponentials::Exponentials;
pub use gauss::gauss_jacobi;
pub use recount::{KernelValues, Recount};
pub use resolved::Resolved;
pub use run::{MemoryObserver, MemoryOptions, MemoryOutcome, Piece, integrate_memory};
pub use samples::{SampleOperator, operate_on_samples};
pub use system::{Kernel, MemorySystem, Operand, Wave};
