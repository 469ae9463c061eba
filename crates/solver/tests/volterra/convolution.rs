//! Caputo's derivative of samples by convolution quadrature: a second road to the memory of a run.
//!
//! $$ (D^\alpha f)_n \approx h^{-\alpha} \sum_{j \le n} w_{n-j} f_j, \qquad \sum_k w_k \zeta^k =
//!    \bigl(\tfrac{11}{6} - 3\zeta + \tfrac32\zeta^2 - \tfrac13\zeta^3\bigr)^{\alpha} \qquad (\mathrm C) $$
//!
//! from the backward differentiation formula of order 3 (Lubich 1986). It has its order for functions that
//! begin with zeros, so the Taylor polynomial at the start, from one-sided differences, is taken off and
//! treated exactly. Nothing of it is shared with the collocation of the solver.

/// The Taylor polynomial that is treated exactly has this many terms.
const TERMS: usize = 4;

/// The derivative of order `alpha` at the last of the samples at $0, h, 2h, \dots$
pub(crate) fn caputo(alpha: f64, h: f64, f: &[f64]) -> f64 {
    let taylor = taylor(h, f);
    let polynomial = |t: f64| taylor.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let last = f.len() - 1;
    let weights = weights(alpha, f.len());
    let rest = |j: usize| f[j] - polynomial(j as f64 * h);
    let sum: f64 = (0..=last).map(|j| weights[last - j] * rest(j)).sum();
    // D^α t^p = Γ(p+1)/Γ(p+1−α) t^{p−α}; powers below α vanish.
    let exact = |p: usize| {
        let (p, t) = (p as f64, last as f64 * h);
        libm::tgamma(p + 1.0) / libm::tgamma(p + 1.0 - alpha) * libm::pow(t, p - alpha)
    };
    let first = libm::ceil(alpha) as usize;
    libm::pow(h, -alpha) * sum + (first..TERMS).map(|p| taylor[p] * exact(p)).sum::<f64>()
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
fn weights(alpha: f64, count: usize) -> Vec<f64> {
    let a = [11.0 / 6.0, -3.0, 1.5, -1.0 / 3.0];
    let mut w = vec![libm::pow(a[0], alpha)];
    for n in 1..count {
        // a_0 n w_n = Σ_k ((1+α) k − n) a_k w_{n−k}
        let term = |k: usize| ((1.0 + alpha) * k as f64 - n as f64) * a[k] * w[n - k];
        let sum: f64 = (1..=n.min(3)).map(term).sum();
        w.push(sum / (a[0] * n as f64));
    }
    w
}

#[test]
fn the_order_is_three() {
    // D^α e^{−t} = −J^{1−α} e^{−t}, by its series.
    let exact = |alpha: f64| {
        let mu = 1.0 - alpha;
        let mut term = 1.0 / libm::tgamma(mu + 1.0);
        let mut sum = 0.0;
        for k in 1..60 {
            sum -= term;
            term *= -1.0 / (mu + f64::from(k));
        }
        sum
    };
    let error = |count: u32| {
        let h = 1.0 / f64::from(count);
        let f: Vec<f64> = (0..=count).map(|i| libm::exp(-f64::from(i) * h)).collect();
        (caputo(0.4, h, &f) - exact(0.4)).abs()
    };
    let order = libm::log2(error(100) / error(200));
    assert!(order > 2.9, "{order} {:e}", error(200));
}
