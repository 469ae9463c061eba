//! A complex matrix $\mu I - J$ with a real $J$ into its triangular factors.
//!
//! $$ P\,(\mu I - J) = L\,U $$
//!
//! with partial pivoting by $|\mathrm{Re}| + |\mathrm{Im}|$, as the simplified Newton iterations of implicit
//! Runge–Kutta methods need it. Matrices are stored by rows.

use num_complex::Complex64;

use crate::linalg::lu::Singular;

/// The factors, in storage that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShiftedLu {
    n: usize,
    factors: Vec<Complex64>,
    exchanges: Vec<usize>,
}

impl ShiftedLu {
    /// Factorises $\mu I - J$.
    pub(crate) fn factor(
        &mut self, n: usize, μ: Complex64, j: &[f64]
    ) -> Result<(), Singular> {
        self.n = n;
        self.factors.clear();
        self.factors.extend(j.iter().map(|x| Complex64::from(-x)));
        (0..n).for_each(|i| self.factors[i * n + i] += μ);
        self.exchanges.clear();
        for k in 0..n {
            let size = |i: usize| self.factors[i * n + k].l1_norm();
            let pivot = (k..n).fold(k, |best, i| if size(i) > size(best) { i } else { best });
            if !(size(pivot) > 0.0 && size(pivot).is_finite()) {
                return Err(Singular { column: k });
            }
            self.exchanges.push(pivot);
            let (upper, lower) = self.factors.split_at_mut((k + 1) * n);
            let head = &mut upper[k * n..];
            if pivot > k {
                head.swap_with_slice(&mut lower[(pivot - k - 1) * n..][..n]);
            }
            let inverse = head[k].finv();
            for row in lower.chunks_exact_mut(n) {
                let factor = row[k] * inverse;
                row[k] = factor;
                if factor != Complex64::ZERO {
                    row[k + 1..]
                        .iter_mut()
                        .zip(&head[k + 1..])
                        .for_each(|(x, u)| *x -= factor * u);
                }
            }
        }
        Ok(())
    }

    /// Solves for a right side, which becomes the solution.
    pub(crate) fn solve(&self, b: &mut [Complex64]) {
        let n = self.n;
        for (k, &pivot) in self.exchanges.iter().enumerate() {
            b.swap(k, pivot);
        }
        let product = |row: &[Complex64], b: &[Complex64]| -> Complex64 {
            row.iter().zip(b).map(|(x, y)| x * y).sum()
        };
        for i in 0..n {
            b[i] -= product(&self.factors[i * n..i * n + i], &b[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            b[i] = (b[i] - product(&row[i + 1..], &b[i + 1..n])) * row[i].finv();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_matrix_is_solved() {
        let j = [0.0, 2.0, -1.0, 4.0, 1.0, 0.5, 0.0, 3.0, -2.0];
        let μ = Complex64::new(0.0, 1.5);
        let mut lu = ShiftedLu::default();
        lu.factor(3, μ, &j).expect("regular");
        let x = [(1.0, -2.0), (0.5, 0.25), (-3.0, 1.0)].map(|(x, y)| Complex64::new(x, y));
        let mut b: Vec<Complex64> = (0..3)
            .map(|i| μ * x[i] - (0..3).map(|k| j[3 * i + k] * x[k]).sum::<Complex64>())
            .collect();
        lu.solve(&mut b);
        let off = b.iter().zip(&x).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(off < 1e-14, "a few roundings of numbers below 10: {b:?}");
        let singular = lu.factor(2, Complex64::from(1.0), &[1.0, 0.0, 0.0, 0.0]);
        assert_eq!(singular, Err(Singular { column: 0 }));
    }
}
