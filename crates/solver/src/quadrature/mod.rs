//! Quadrature rules.

mod gauss_jacobi;

pub use gauss_jacobi::gauss_jacobi;
pub(crate) use gauss_jacobi::tridiagonal;
