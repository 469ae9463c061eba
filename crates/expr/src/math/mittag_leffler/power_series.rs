//! The two power series of $E_{\alpha,\beta}$: in $z$, and for large $|z|$ in $1/z$.
//!
//! $$ E_{\alpha,\beta}(z) = \sum_{k\ge0}\frac{z^k}{\Gamma(\beta+\alpha k)}, \qquad
//!    E_{\alpha,\beta}(z) \sim \sum_{s_*}\rho - \sum_{k\ge1}\frac{z^{-k}}{\Gamma(\beta-\alpha k)} $$
//!
//! The second one diverges; its error at the smallest term is of the size $e^{-|z|^{1/\alpha}}$.
//! Coefficients are made in blocks when they are first asked for.

use std::sync::OnceLock;

use crate::math::complex::Scalar;
use crate::math::double_double::exact_product;
use crate::math::gamma::reciprocal_gamma_of_sum;

const BLOCK: usize = 8;
const BLOCKS: usize = 8;
/// Terms less than this part of the sum no longer matter.
const NEGLIGIBLE: f64 = 1e-18;

/// How large the number is that a series is added to, and its slope.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) value: f64,
    pub(super) slope: f64,
}

/// $1/\Gamma(\beta + \alpha k)$ for $k = 0, 1, …$, with $\alpha$ of either sign.
pub(super) struct Coefficients {
    α: f64,
    β: f64,
    blocks: [OnceLock<[f64; BLOCK]>; BLOCKS],
}

impl Coefficients {
    pub(super) const fn new(α: f64, β: f64) -> Self {
        Self { α, β, blocks: [const { OnceLock::new() }; BLOCKS] }
    }

    fn block(&self, index: usize) -> &[f64; BLOCK] {
        self.blocks[index].get_or_init(|| {
            std::array::from_fn(|i| {
                let (product, rest) = exact_product(self.α, (index * BLOCK + i) as f64);
                reciprocal_gamma_of_sum(self.β, product, rest)
            })
        })
    }

    /// $\sum_{k\ge0} c_k z^k$ and its derivative; nothing if it does not converge with the terms there are.
    pub(super) fn taylor<S: Scalar>(&self, z: S) -> Option<(S, S)> {
        let (mut sum, mut slope) = (S::real(0.0), S::real(0.0));
        let (mut power, mut before) = (S::real(1.0), S::real(0.0));
        let mut still = 0;
        for index in 0..BLOCKS {
            for (i, &c) in self.block(index).iter().enumerate() {
                let k = (index * BLOCK + i) as f64;
                // Where the coefficient underflows the power may overflow.
                let (term, rate) = if c == 0.0 {
                    (S::real(0.0), S::real(0.0))
                } else {
                    (power * c, before * (c * k))
                };
                sum = sum + term;
                slope = slope + rate;
                let small = term.size() <= NEGLIGIBLE * sum.size()
                    && rate.size() <= NEGLIGIBLE * slope.size()
                    && k > 1.0;
                still = if small { still + 1 } else { 0 };
                if still == 3 {
                    return Some((sum, slope));
                }
                before = power;
                power = power * z;
            }
        }
        None
    }

    /// $\sum_{k\ge1} c_k z^{-k}$ and its derivative in $z$, to the accuracy of numbers of the given sizes beside them;
    /// nothing if the terms do not become small enough before the index `last`.
    pub(super) fn asymptotic<S: Scalar>(
        &self,
        z: S,
        beside: Sizes,
        last: f64,
    ) -> Option<(S, S)> {
        let (mut sum, mut slope) = (S::real(0.0), S::real(0.0));
        let inverse = z.recip();
        let mut power = inverse;
        let mut still = 0;
        for index in 0..BLOCKS {
            for (i, &c) in self.block(index).iter().enumerate() {
                let k = (index * BLOCK + i) as f64;
                if index + i == 0 {
                    continue;
                }
                if k > last {
                    return None;
                }
                let term = power * c;
                let rate = term * inverse * -k;
                sum = sum + term;
                slope = slope + rate;
                let small = term.size() <= NEGLIGIBLE * (sum.size() + beside.value)
                    && rate.size() <= NEGLIGIBLE * (slope.size() + beside.slope);
                still = if small { still + 1 } else { 0 };
                if still == 3 {
                    return Some((sum, slope));
                }
                power = power * inverse;
            }
        }
        None
    }
}
