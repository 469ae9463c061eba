//! Fractional operators on samples of a uniform grid, by fast convolution.
//!
//! $$ (J^\mu f)_n \approx h^\mu \sum_{j \le n} w_{n-j} f_j, \qquad \sum_k w_k \zeta^k =
//!    \bigl(\tfrac{11}{6} - 3\zeta + \tfrac32\zeta^2 - \tfrac13\zeta^3\bigr)^{-\mu} \qquad (\mathrm C) $$
//!
//! the convolution quadrature of the backward differentiation formula of order 3 (Lubich 1986); derivatives
//! have $\mu = -\alpha$. It has its order for functions that begin with zeros, so
//! the Taylor polynomial at the start, from one-sided differences, is taken off and treated exactly. Cost
//! $O(N \log N)$ by the fast Fourier transform; this road shares nothing with the
//! collocation, and the two check each other.

use realfft::RealFftPlanner;
use realfft::num_complex::Complex;

/// The Taylor polynomial that is treated exactly has this many terms.
const TERMS: usize = 4;

/// Which operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleOperator {
    /// $J^\mu$
    Integral(f64),
    /// Caputo's derivative of order $\alpha$.
    Caputo(f64),
    /// The derivative of Riemann and Liouville of order $\alpha$; not finite at the first sample where the
    /// function does not vanish.
    RiemannLiouville(f64),
}

/// Applies a left operator to samples at $0, h, 2h, \dots$; the start of the grid is the start of the operator.
/// Order 3 for smooth data. Fewer than six samples give `None`.
///
/// ```
/// use pfaff_solver::{SampleOperator, operate_on_samples};
/// let h = 1e-3;
/// let squares: Vec<f64> = (0..1001).map(|i| (f64::from(i) * h).powi(2)).collect();
/// let half = operate_on_samples(SampleOperator::Caputo(0.5), h, &squares).expect("enough samples");
/// assert!((half[1000] - 2.0 / libm::tgamma(2.5)).abs() < 1e-9);
/// ```
pub fn operate_on_samples(operator: SampleOperator, h: f64, f: &[f64]) -> Option<Vec<f64>> {
    if f.len() < 6 {
        return None;
    }
    let (mu, kept) = match operator {
        SampleOperator::Integral(mu) => (mu, 0),
        // Caputo's derivative forgets the powers below its order.
        SampleOperator::Caputo(alpha) => (-alpha, alpha.ceil() as usize),
        SampleOperator::RiemannLiouville(alpha) => (-alpha, 0),
    };
    let taylor = taylor(h, f);
    let polynomial = |t: f64| taylor.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let rest: Vec<f64> =
        f.iter().enumerate().map(|(i, f)| f - polynomial(i as f64 * h)).collect();
    let mut result = convolve(&weights(mu, f.len()), &rest);
    let scale = libm::pow(h, mu);
    // Γ(p+1)/Γ(p+1+μ), zero at the poles.
    let factor = |p: usize| {
        let order = p as f64 + 1.0 + mu;
        let pole = order <= 0.0 && order == order.floor();
        if pole { 0.0 } else { libm::tgamma(p as f64 + 1.0) / libm::tgamma(order) }
    };
    let exact: Vec<f64> = (kept..TERMS).map(|p| taylor[p] * factor(p)).collect();
    if exact.is_empty() {
        result.iter_mut().for_each(|r| *r *= scale);
        return Some(result);
    }
    let exponent = kept as f64 + mu;
    let unit = libm::pow(h, exponent);
    for ((i, r), lowest) in result.iter_mut().enumerate().zip(powers(exponent, f.len())) {
        let t = i as f64 * h;
        let sum = exact.iter().rev().fold(0.0, |sum, c| sum * t + c);
        *r = *r * scale + unit * lowest * sum;
    }
    Some(result)
}

/// $i^e$ for all $i$ below `count`: a product of two earlier ones where 2, 3 or 5 divides $i$, which leaves a
/// quarter to be found.
fn powers(e: f64, count: usize) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(count);
    for i in 0..count {
        let prime = [2, 3, 5].into_iter().find(|p| i > *p && i % p == 0);
        found.push(match prime {
            Some(p) => found[p] * found[i / p],
            None => libm::pow(i as f64, e),
        });
    }
    found
}

/// $f(0), f'(0), f''(0)/2, \dots$ by the polynomial through the first six samples.
fn taylor(h: f64, f: &[f64]) -> Vec<f64> {
    // Newton's divided differences on the grid, then expanded in powers.
    let mut differences: Vec<f64> = f[..6].to_vec();
    for k in 1..6 {
        for i in (k..6).rev() {
            differences[i] = (differences[i] - differences[i - 1]) / (k as f64 * h);
        }
    }
    let mut powers = vec![0.0; 6];
    for k in (0..6).rev() {
        // p(t) ← d_k + (t − k h) p(t)
        for i in (0..6).rev() {
            let below = if i > 0 { powers[i - 1] } else { 0.0 };
            powers[i] = below - k as f64 * h * powers[i];
        }
        powers[0] += differences[k];
    }
    powers.truncate(TERMS);
    powers
}

/// $w$ of (C), by the recurrence for powers of a polynomial.
fn weights(mu: f64, count: usize) -> Vec<f64> {
    let a = [11.0 / 6.0, -3.0, 1.5, -1.0 / 3.0];
    let mut w = vec![0.0; count];
    w[0] = libm::pow(a[0], -mu);
    // a_0 n w_n = Σ_k ((1−μ) k − n) a_k w_{n−k}, with the three weights before kept at hand.
    let mut before = [w[0], 0.0, 0.0];
    for (n, w) in w.iter_mut().enumerate().skip(1) {
        let n = n as f64;
        let share = 1.0 / (a[0] * n);
        let factor = |k: usize| ((1.0 - mu) * k as f64 - n) * share * a[k];
        let older = factor(3) * before[2] + factor(2) * before[1];
        *w = older + factor(1) * before[0];
        before = [*w, before[0], before[1]];
    }
    w
}

/// $\sum_{j\le n} w_{n-j} f_j$ for all $n$.
fn convolve(w: &[f64], f: &[f64]) -> Vec<f64> {
    let count = f.len();
    let size = (2 * count).next_power_of_two();
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(size), planner.plan_fft_inverse(size));
    // One real buffer and one scratch for all three transforms: fresh pages cost as much as a transform.
    let mut result = forward.make_input_vec();
    let (needed, also) = (forward.get_scratch_len(), inverse.get_scratch_len());
    let mut scratch = vec![Complex::new(0.0, 0.0); needed.max(also)];
    let mut transform = |values: &[f64], scratch: &mut [Complex<f64>]| {
        result[..count].copy_from_slice(values);
        result[count..].fill(0.0);
        let mut output = forward.make_output_vec();
        forward
            .process_with_scratch(&mut result, &mut output, scratch)
            .expect("the lengths are the planner's own");
        output
    };
    let mut product = transform(w, &mut scratch);
    for (p, f) in product.iter_mut().zip(transform(f, &mut scratch)) {
        *p *= f;
    }
    inverse
        .process_with_scratch(&mut product, &mut result, &mut scratch)
        .expect("the product of real spectra is one");
    result.truncate(count);
    let share = 1.0 / size as f64;
    result.iter_mut().for_each(|r| *r *= share);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// $J^{\mu} e^{-t}$ by its series.
    fn exact(mu: f64, t: f64) -> f64 {
        let mut term = libm::pow(t, mu) / libm::tgamma(mu + 1.0);
        let mut sum = 0.0;
        for k in 1..60 {
            sum += term;
            term *= -t / (mu + f64::from(k));
        }
        sum
    }

    #[test]
    fn every_sample_is_met_and_not_only_the_last() {
        let h = 0.01;
        let f: Vec<f64> = (0..101).map(|i| (f64::from(i) * h).powi(4)).collect();
        let found = operate_on_samples(SampleOperator::Integral(0.5), h, &f).expect("enough");
        for (i, found) in found.iter().enumerate() {
            let t = i as f64 * h;
            let exact = libm::tgamma(5.0) / libm::tgamma(5.5) * libm::pow(t, 4.5);
            // Of order 3: a hundred times h³ at most.
            assert!((found - exact).abs() < 1e-4, "{t} {found} {exact}");
        }
    }

    #[test]
    fn the_order_is_three() {
        let error = |count: usize| {
            let h = 1.0 / count as f64;
            let f: Vec<f64> = (0..=count).map(|i| libm::exp(-(i as f64) * h)).collect();
            let j = operate_on_samples(SampleOperator::Integral(0.6), h, &f).unwrap();
            let d = operate_on_samples(SampleOperator::Caputo(0.4), h, &f).unwrap();
            // D^α e^{−t} = −J^{1−α} e^{−t}
            (j[count] - exact(0.6, 1.0)).abs().max((d[count] + exact(0.6, 1.0)).abs())
        };
        let order = libm::log2(error(100) / error(200));
        assert!(order > 2.9, "{order} {:e}", error(200));
    }

    #[test]
    fn riemann_and_liouville_keep_the_start() {
        let h = 0.01;
        let f: Vec<f64> = (0..=200).map(|i| libm::exp(-f64::from(i) * h)).collect();
        let rl = operate_on_samples(SampleOperator::RiemannLiouville(0.4), h, &f).unwrap();
        let caputo = operate_on_samples(SampleOperator::Caputo(0.4), h, &f).unwrap();
        let start = libm::pow(2.0, -0.4) / libm::tgamma(0.6);
        // Both share everything but the first power.
        assert!((rl[200] - caputo[200] - start).abs() < 1e-6);
    }

    #[test]
    fn a_few_samples_are_refused() {
        assert_eq!(operate_on_samples(SampleOperator::Integral(0.5), 0.1, &[1.0; 5]), None);
    }
}
