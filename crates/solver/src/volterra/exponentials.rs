//! The power-law kernel as a sum of exponentials.
//!
//! $$ \frac{t^{\nu-1}}{\Gamma(\nu)} = \frac{1}{\Gamma(\nu)\Gamma(1-\nu)} \int_{-\infty}^{\infty} e^{(1-\nu)x}
//! e^{-e^x t}\,dx
//!    \approx \sum_l w_l\,e^{-s_l t}, \qquad \delta \le t \le T,\ 0 < \nu < 1 \qquad (\mathrm S) $$
//!
//! by the trapezoidal rule in $x$, which converges exponentially; the nodes far below $1/T$ are replaced by
//! the Gauss rule of their
//! discrete measure (Lanczos), so that few are left.
//!
//! On a step of length $h$ an exponential meets a polynomial in the moments
//! $\int_0^1 e^{-z(1-\theta)} P_m(2\theta-1)\,d\theta = e^{-z/2}\,i_m(z/2)$ with the modified spherical
//! Bessel functions, all positive and
//! found by their backward recurrence.

use crate::linalg::dot::dot_in_order as dot;
use crate::quadrature::tridiagonal;

/// Nodes that the low end is compressed to at most: its exponentials with $s T \le 6$ are then exact to rounding.
const LOW: usize = 14;
/// −log of the smallest error of (S): rounding, and half a digit more.
const DIGITS: f64 = 36.0;

/// The terms of (S), by ascending rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExponentialSum {
    /// $s_l$
    pub rates: Vec<f64>,
    /// $w_l$
    pub weights: Vec<f64>,
}

/// The lags that kernels are met at, and how well.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LagRange {
    pub(crate) shortest: f64,
    pub(crate) longest: f64,
    /// Relative error.
    pub(crate) error: f64,
}

impl LagRange {
    /// The power-law kernel of order `nu` as a sum of exponentials.
    pub(crate) fn power(self, nu: f64) -> ExponentialSum {
        ExponentialSum::power_to(nu, self.shortest, self.longest, self.error)
    }
}

impl ExponentialSum {
    /// The kernel of order `nu` on `[shortest, longest]`, to a relative error of about 1e-15.
    pub fn power(nu: f64, shortest: f64, longest: f64) -> Self {
        Self::power_to(nu, shortest, longest, 0.0)
    }

    /// The same to a given relative error, with as few terms as that needs.
    pub fn power_to(nu: f64, shortest: f64, longest: f64, error: f64) -> Self {
        let rest = 1.0 - nu;
        let digits = (-libm::log(error)).clamp(6.0, DIGITS);
        let step = std::f64::consts::PI * std::f64::consts::PI / (digits + 1.5);
        let scale = step / (libm::tgamma(rest) * libm::tgamma(nu));
        let cut = 6.0 / longest;
        let (mut low, mut low_weights) = (Vec::new(), Vec::new());
        let mut terms = Self::default();
        let mut k = ((-4.0 - digits - libm::log(longest)) / step).floor();
        // Slower rates are constants: a geometric sum of weights at the rate 0.
        low.push(0.0);
        low_weights.push(scale * libm::exp(rest * k * step) / -libm::expm1(-rest * step));
        k += 1.0;
        loop {
            let x = k * step;
            let rate = libm::exp(x);
            if rate * shortest > digits + 4.0 || !rate.is_finite() {
                break;
            }
            let weight = scale * libm::exp(rest * x);
            if rate < cut {
                low.push(rate);
                low_weights.push(weight);
            } else {
                terms.rates.push(rate);
                terms.weights.push(weight);
            }
            k += 1.0;
        }
        if !low.is_empty() {
            let (rates, weights) = compressed(&low, &low_weights, cut, digits);
            terms.rates.splice(0..0, rates);
            terms.weights.splice(0..0, weights);
        }
        terms
    }

    /// The sum at `t`.
    pub fn value(&self, t: f64) -> f64 {
        self.rates.iter().zip(&self.weights).map(|(s, w)| w * libm::exp(-s * t)).sum()
    }
}

/// The Gauss rule of a discrete measure on $[0, \text{cut}]$.
fn compressed(rates: &[f64], weights: &[f64], cut: f64, digits: f64) -> (Vec<f64>, Vec<f64>) {
    // A rule of n nodes errs by (3/2)^{2n}/(2n)!, half the length of sT ≤ 6 being 3.
    let n = LOW.min(3 + (0.32 * digits) as usize).min(rates.len());
    let total: f64 = weights.iter().sum();
    let mut q: Vec<f64> = weights.iter().map(|w| (w / total).sqrt()).collect();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for _ in 0..n {
        let mut r: Vec<f64> = q.iter().zip(rates).map(|(q, s)| q * s / cut).collect();
        diagonal.push(dot(&r, &q));
        basis.push(q);
        // NOTE: orthogonalised twice, since Lanczos' short recurrence forgets.
        for _ in 0..2 {
            for b in &basis {
                let d = dot(&r, b);
                r.iter_mut().zip(b).for_each(|(r, b)| *r -= d * b);
            }
        }
        let norm = dot(&r, &r).sqrt();
        beside.push(norm);
        if norm < 1e-14 {
            break;
        }
        q = r.iter().map(|r| r / norm).collect();
    }
    let first = tridiagonal(&mut diagonal, &mut beside);
    let mut rule: Vec<(f64, f64)> =
        diagonal.iter().zip(&first).map(|(x, v)| (x.max(0.0) * cut, v * v * total)).collect();
    rule.sort_by(|p, q| p.0.total_cmp(&q.0));
    rule.into_iter().unzip()
}

/// $e^{-z/2} i_m(z/2)$ for $m$ below `out.len()`; `decay` is $e^{-z}$.
pub(crate) fn moments(z: f64, decay: f64, out: &mut [f64]) {
    let count = out.len();
    if z < 1e-9 {
        // i_m(y) ≈ y^m/(2m+1)!!
        let mut term = 1.0 - 0.5 * z;
        for (m, out) in out.iter_mut().enumerate() {
            *out = term;
            term *= 0.5 * z / (2 * m + 3) as f64;
        }
        return;
    }
    let y = 0.5 * z;
    if y > 20.0 && y > (count * count) as f64 {
        // Forward where that is stable: i_{m+1} = i_{m−1} − (2m+1)/y i_m, from (1 ∓ e^{−z})/z.
        let (mut below, mut here) = ((1.0 - decay) / z, 0.0);
        out[0] = below;
        if count > 1 {
            here = (1.0 + decay) / z - below / y;
            out[1] = here;
        }
        for m in 1..count.saturating_sub(1) {
            let above = below - (2 * m + 1) as f64 / y * here;
            (below, here) = (here, above);
            out[m + 1] = here;
        }
        return;
    }
    // Backward from where i_m is below rounding of i_0: i_{m−1} = i_{m+1} + (2m+1)/y i_m.
    // Each step back wins a factor of about (y/(2m+3))².
    let reach = if y < 0.05 {
        4
    } else if y < 0.5 {
        7
    } else {
        12 + (6.0 * y.sqrt()) as usize
    };
    let top = count + reach;
    let inverse = 1.0 / y;
    let (mut above, mut here) = (0.0_f64, 1e-280_f64);
    for m in (0..top).rev() {
        let below = above + (2 * m + 3) as f64 * inverse * here;
        above = here;
        here = below;
        if m < count {
            out[m] = here;
        }
        if here > 1e200 {
            here *= 1e-200;
            above *= 1e-200;
            out.iter_mut().skip(m).for_each(|x| *x *= 1e-200);
        }
    }
    // e^{−y} i_0(y) = (1 − e^{−z})/z
    let first = if z < 0.5 { -libm::expm1(-z) / z } else { (1.0 - decay) / z };
    let scale = first / out[0];
    out.iter_mut().for_each(|x| *x *= scale);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::{QuadratureRule, gauss_jacobi, legendre};

    #[test]
    fn the_kernel_is_met_over_thirteen_decades() {
        for nu in [0.05, 0.3, 0.5, 0.9, 0.98] {
            let terms = ExponentialSum::power(nu, 1e-12, 10.0);
            for i in 0..2000 {
                let t = libm::pow(10.0, -12.0 + 13.0 * f64::from(i) / 1999.0);
                let exact = libm::pow(t, nu - 1.0) / libm::tgamma(nu);
                // The sum of about a hundred positive terms, each with an exponential of a rounded argument.
                assert!((terms.value(t) / exact - 1.0).abs() < 3e-14, "{nu} {t}");
            }
        }
    }

    #[test]
    fn fewer_terms_meet_a_larger_error() {
        let mut before = usize::MAX;
        for error in [1e-13, 1e-10, 1e-7, 1e-4] {
            for nu in [0.05, 0.3, 0.5, 0.9, 0.98] {
                let terms = ExponentialSum::power_to(nu, 1e-8, 10.0, error);
                for i in 0..500 {
                    let t = libm::pow(10.0, -8.0 + 9.0 * f64::from(i) / 499.0);
                    let exact = libm::pow(t, nu - 1.0) / libm::tgamma(nu);
                    let off = (terms.value(t) / exact - 1.0).abs();
                    // The bound of the trapezoidal rule has a factor of two, and each end of the range one of its own.
                    assert!(off < 10.0 * error, "{nu} {t} {error} {off:e}");
                }
            }
            let count = ExponentialSum::power_to(0.5, 1e-8, 10.0, error).rates.len();
            assert!(count < before, "{error} {count}");
            before = count;
        }
    }

    #[test]
    fn moments_are_those_of_quadrature() {
        let QuadratureRule { nodes: x, weights: w } = gauss_jacobi(40, 1.0);
        for z in [1e-12, 1e-3, 0.09, 0.11, 0.3, 0.99, 2.0, 9.0, 40.0] {
            let mut found = [0.0; 9];
            moments(z, libm::exp(-z), &mut found);
            for (m, found) in found.iter().enumerate() {
                let exact: f64 = x
                    .iter()
                    .zip(&w)
                    .map(|(x, w)| w * libm::exp(-z * (1.0 - x)) * legendre(9, *x)[m])
                    .sum();
                // The quadrature adds forty terms below 1.
                assert!((found - exact).abs() < 1e-15, "{z} {m} {found} {exact}");
            }
        }
    }
}
