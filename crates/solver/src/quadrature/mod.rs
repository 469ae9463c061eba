//! Quadrature rules on the unit interval, and the polynomials that belong to them.

mod clenshaw_curtis;
mod gauss_jacobi;
mod nodal_basis;
mod polynomial;
mod rule;

pub(crate) use clenshaw_curtis::clenshaw_curtis;
pub use gauss_jacobi::gauss_jacobi;
pub(crate) use gauss_jacobi::tridiagonal;
pub(crate) use nodal_basis::NodalBasis;
pub(crate) use polynomial::{integrate_coefficients, lagrange, legendre};
pub use rule::QuadratureRule;
