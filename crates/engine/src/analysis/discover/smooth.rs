//! Measured positions into positions and velocities with their uncertainty: polynomials over windows of time.
//!
//! Over a window the discrete orthonormal polynomials $p_k$ of its times give
//!
//! $$ \hat q(t) = \sum_{k \le d} c_k\,p_k(t), \qquad c_k = \sum_j p_k(t_j)\,q_j, \qquad
//!    \operatorname{Var}\dot{\hat q}(t) = \sigma^2 \sum_{k\le d} \dot p_k(t)^2 $$
//!
//! and so on, with the degree $d$ that generalised cross-validation chooses (Craven and Wahba 1979) and $\sigma^2$ from
//! the residuals. Windows overlap by half; each gives the samples near its middle.

/// Samples of a window, and the highest degree.
const WINDOW: usize = 100;
const DEGREE: usize = 45;
/// Measurements are taken to have errors of at least this part of their range.
const ROUNDING: f64 = 1e-13;

/// Position and velocity at a sample, with their variances and covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Smoothed {
    pub(super) q: f64,
    pub(super) v: f64,
    pub(super) variance_q: f64,
    pub(super) variance_v: f64,
    pub(super) covariance: f64,
}

/// The smoothed samples of each of some series over the same times, which ascend.
pub(super) fn smoothed(t: &[f64], series: &[Vec<f64>]) -> Vec<Vec<Smoothed>> {
    let n = t.len();
    let mut found = vec![vec![Smoothed::default(); n]; series.len()];
    let length = n.min(WINDOW);
    let half = (length / 2).max(1);
    let mut first = 0;
    loop {
        let first_here = first.min(n - length);
        let window = first_here..first_here + length;
        // Samples in the outer quarters belong to the windows beside.
        let from = if first_here == 0 { 0 } else { first_here + length / 4 };
        let last = first_here + length == n;
        let basis = Basis::new(&t[window.clone()]);
        for (values, found) in series.iter().zip(&mut found) {
            let smooth = basis.fit(&values[window.clone()]);
            let to = if last { n } else { window.end };
            found[from..to].copy_from_slice(&smooth[from - window.start..to - window.start]);
        }
        if last {
            return found;
        }
        first += half;
    }
}

/// Orthonormal polynomials of some times with their derivatives, each at all times.
struct Basis {
    values: Vec<Vec<f64>>,
    slopes: Vec<Vec<f64>>,
}

impl Basis {
    fn new(t: &[f64]) -> Self {
        let n = t.len();
        let (low, high) = (t[0], t[n - 1]);
        let scale = if high > low { 2.0 / (high - low) } else { 1.0 };
        let s: Vec<f64> = t.iter().map(|t| scale * (t - low) - 1.0).collect();
        let most = DEGREE.min(n.saturating_sub(3)).min(n / 2);
        let first = 1.0 / (n as f64).sqrt();
        let mut values = vec![vec![first; n]];
        let mut slopes = vec![vec![0.0; n]];
        for k in 0..most {
            // β p_{k+1} = s p_k less its parts along the polynomials before.
            let mut next: Vec<f64> = values[k].iter().zip(&s).map(|(p, s)| s * p).collect();
            let mut slope: Vec<f64> =
                (0..n).map(|j| s[j] * slopes[k][j] + scale * values[k][j]).collect();
            for _ in 0..2 {
                for (p, dp) in values.iter().zip(&slopes) {
                    let part = dot(p, &next);
                    next.iter_mut().zip(p).for_each(|(x, p)| *x -= part * p);
                    slope.iter_mut().zip(dp).for_each(|(x, p)| *x -= part * p);
                }
            }
            let norm = dot(&next, &next).sqrt();
            if norm < 1e-8 {
                break;
            }
            next.iter_mut().chain(&mut slope).for_each(|x| *x /= norm);
            values.push(next);
            slopes.push(slope);
        }
        Self { values, slopes }
    }

    fn fit(&self, data: &[f64]) -> Vec<Smoothed> {
        let n = data.len();
        let c: Vec<f64> = self.values.iter().map(|p| dot(p, data)).collect();
        let largest = data.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let least = n as f64 * (ROUNDING * largest).powi(2);
        let mut left = data.to_vec();
        let mut best = (0, f64::INFINITY, 0.0);
        for (k, p) in self.values.iter().enumerate() {
            left.iter_mut().zip(p).for_each(|(x, p)| *x -= c[k] * p);
            let sum = dot(&left, &left) + least;
            let freedom = (n - k - 1) as f64;
            let score = sum / (freedom * freedom);
            if score < best.1 {
                best = (k, score, sum / freedom);
            }
        }
        let (degree, _, variance) = best;
        (0..n)
            .map(|j| {
                let mut at = Smoothed::default();
                for k in 0..=degree {
                    let (p, dp) = (self.values[k][j], self.slopes[k][j]);
                    at.q += c[k] * p;
                    at.v += c[k] * dp;
                    at.variance_q += variance * p * p;
                    at.variance_v += variance * dp * dp;
                    at.covariance += variance * p * dp;
                }
                at
            })
            .collect()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn velocities_of_noisy_sines_are_within_their_errors() {
        let t: Vec<f64> = (0..250).map(|i| 0.04 * f64::from(i)).collect();
        // Numbers that look random, of variance 1/12.
        let noise =
            |i: usize| (libm::sin(12.9898 * i as f64) * 43758.5453).rem_euclid(1.0) - 0.5;
        let data: Vec<f64> =
            t.iter().enumerate().map(|(i, t)| libm::sin(1.7 * t) + 0.02 * noise(i)).collect();
        let found = &smoothed(&t, &[data])[0];
        let mut sum = 0.0;
        for (at, t) in found.iter().zip(&t) {
            let off = at.v - 1.7 * libm::cos(1.7 * t);
            sum += off * off / at.variance_v;
        }
        let mean = sum / 250.0;
        // Errors of neighbours go together: about as many independent ones as coefficients.
        assert!((0.3..3.0).contains(&mean), "mean square in units of the variance: {mean}");
        let exact: Vec<f64> = t.iter().map(|t| libm::exp(-0.3 * t)).collect();
        let found = &smoothed(&t, &[exact])[0];
        for (at, t) in found.iter().zip(&t) {
            let expected = -0.3 * libm::exp(-0.3 * t);
            assert!((at.v - expected).abs() < 1e-9, "{} for {expected}", at.v);
        }
    }
}
