//! Factorisations of full and sparse matrices, least squares, rank, eigenvalues, complementarity.
//!
//! Matrices are `f64`, stored by rows. The factorisations that run in every step reuse their storage and do
//! not allocate.

pub(crate) mod complementarity;
pub(crate) mod complex_lu;
pub(crate) mod dot;
pub(crate) mod eigen;
pub(crate) mod least_squares;
pub(crate) mod lu;
pub(crate) mod rank;
pub(crate) mod singular_values;
pub(crate) mod sparse_lu;
pub(crate) mod symmetric;

pub use complementarity::{ContactProblem, ContactSolution, ContactState, Pad, Rubbing};
pub use eigen::{Eigenvector, eigenvalues, eigenvector};
pub use least_squares::{LeastSquares, LeastSquaresFit, LeastSquaresSolution, least_squares};
pub use lu::{Lu, Singular};
pub use rank::RankRevealing;
pub use singular_values::{SingularValues, singular_values};
pub use sparse_lu::SparseLu;
pub use symmetric::{cholesky, cholesky_solve, symmetric_eigenvalues};
