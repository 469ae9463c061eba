//! Special functions: $\Gamma$ and the Mittag-Leffler function, real and complex.
//!
//! $$ E_{\alpha,\beta}(z) = \sum_{k \ge 0} \frac{z^k}{\Gamma(\alpha k + \beta)},
//!    \qquad \alpha > 0,\ \beta \in \mathbb R,\ z \in \mathbb C $$
//!
//! solves the linear equations of fractional order as the exponential solves those of first order.
//! Everything is computed in doubles with [`libm`] alone, so that the last bit is the same on every machine.
//!
//! Arguments outside the domain ($\alpha \le 0$, a pole of $\Gamma$, something infinite) give what is not a
//! number.

pub use super::complex::Complex;
pub use super::gamma::{
    gamma, gamma_complex, ln_gamma, ln_gamma_complex, reciprocal_gamma,
    reciprocal_gamma_complex,
};
pub use super::mittag_leffler::{
    MittagLeffler, mittag_leffler, mittag_leffler_complex, mittag_leffler_slope,
    mittag_leffler_slope_complex,
};
