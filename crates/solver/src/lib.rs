//! First-order systems into trajectories.
mod least_squares;
mod lu;
mod rank;
#[cfg(test)]
mod sample;
mod symmetric;

pub use least_squares::{Fit, LeastSquares, Solution, least_squares};
pub use lu::{Lu, Singular};
pub use rank::RankRevealing;
pub use symmetric::{cholesky, cholesky_solve, symmetric_eigenvalues};
