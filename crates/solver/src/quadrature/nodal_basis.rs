//! Polynomials by their values at nodes: Lagrange basis, Legendre coefficients, fractional integrals.
//!
//! On $[0,1]$ with the nodes $c_1 < \dots < c_s$ a polynomial of degree $s - 1$ is its values at the nodes, or
//! its coefficients in $P_m(2\theta - 1)$. Fractional integrals of the basis are exact by (G):
//!
//! $$ (J^\mu p)(c) = \frac{c^\mu}{\Gamma(\mu)} \int_0^1 (1-y)^{\mu-1} p(cy)\,dy $$

use super::gauss_jacobi::gauss_jacobi;
use super::polynomial::{lagrange, legendre};
use super::rule::QuadratureRule;

/// The polynomials of degree $s-1$.
#[derive(Clone, Debug)]
pub(crate) struct NodalBasis {
    /// $s$
    pub(crate) stages: usize,
    /// $c$
    pub(crate) nodes: Vec<f64>,
    /// Coefficients from values, s × s by rows.
    pub(crate) analysis: Vec<f64>,
}

impl NodalBasis {
    /// At the nodes of Radau, the last of which is 1.
    pub(crate) fn radau(stages: usize) -> Self {
        // The nodes left of 1 are those of Gauss and Jacobi with the weight 1 − θ.
        let mut nodes =
            if stages > 1 { gauss_jacobi(stages - 1, 2.0).nodes } else { Vec::new() };
        nodes.push(1.0);
        Self::at(nodes)
    }

    /// At the nodes of Gauss.
    pub(crate) fn gauss(stages: usize) -> Self {
        Self::at(gauss_jacobi(stages, 1.0).nodes)
    }

    fn at(nodes: Vec<f64>) -> Self {
        let stages = nodes.len();
        // p̂_m = (2m+1) ∫ p P_m, with the Lagrange polynomials integrated by a rule of degree 2s − 1.
        let QuadratureRule { nodes: x, weights: w } = gauss_jacobi(stages, 1.0);
        let mut analysis = vec![0.0; stages * stages];
        for (x, w) in x.iter().zip(&w) {
            let legendre = legendre(stages, *x);
            for k in 0..stages {
                let value = lagrange(&nodes, k, *x);
                for m in 0..stages {
                    analysis[m * stages + k] += (2 * m + 1) as f64 * w * value * legendre[m];
                }
            }
        }
        Self { stages, nodes, analysis }
    }

    /// $J^\mu$ of the polynomial with value 1 at node $k$ and 0 at the others, at each of `points`: a row for each.
    pub(crate) fn integrals_at(&self, mu: f64, points: &[f64]) -> Vec<f64> {
        let QuadratureRule { nodes: y, weights: w } = gauss_jacobi(self.stages, mu);
        let gamma = libm::tgamma(mu);
        let mut rows = Vec::with_capacity(points.len() * self.stages);
        for &c in points {
            let scale = libm::pow(c, mu) / gamma;
            rows.extend((0..self.stages).map(|k| {
                let terms = y.iter().zip(&w).map(|(y, w)| w * lagrange(&self.nodes, k, c * y));
                scale * terms.sum::<f64>()
            }));
        }
        rows
    }

    /// [`NodalBasis::integrals_at`] the nodes, s × s by rows.
    pub(crate) fn integrals(&self, mu: f64) -> Vec<f64> {
        self.integrals_at(mu, &self.nodes)
    }

    /// The basis polynomials at `x`.
    pub(crate) fn values_at(&self, x: f64) -> impl Iterator<Item = f64> + '_ {
        (0..self.stages).map(move |k| lagrange(&self.nodes, k, x))
    }

    /// The value at `x` of the polynomial with these values at the nodes.
    pub(crate) fn value(&self, values: &[f64], x: f64) -> f64 {
        self.values_at(x).zip(values).map(|(l, v)| v * l).sum()
    }

    /// Legendre coefficients of the polynomial with these values.
    pub(crate) fn coefficients(&self, values: &[f64], out: &mut [f64]) {
        for (m, out) in out.iter_mut().enumerate().take(self.stages) {
            let row = &self.analysis[m * self.stages..(m + 1) * self.stages];
            *out = row.iter().zip(values).map(|(a, v)| a * v).sum();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::polynomial::integrate_coefficients;
    use super::*;

    #[test]
    fn fractional_integrals_of_powers_are_exact() {
        let basis = NodalBasis::radau(6);
        let values: Vec<f64> = basis.nodes.iter().map(|c| c.powi(5)).collect();
        for mu in [0.3, 1.0, 1.5] {
            let exact = libm::tgamma(6.0) / libm::tgamma(6.0 + mu) * libm::pow(0.8, 5.0 + mu);
            let row = basis.integrals_at(mu, &[0.8]);
            let sum: f64 = row.iter().zip(&values).map(|(a, v)| a * v).sum();
            // Rounding of six terms below 1.
            assert!((sum - exact).abs() < 1e-14, "{mu} {sum} {exact}");
        }
    }

    #[test]
    fn coefficients_are_integrated() {
        let basis = NodalBasis::radau(4);
        let values: Vec<f64> = basis.nodes.iter().map(|c| 3.0 * c * c).collect();
        let (mut p, mut q) = (vec![0.0; 4], vec![0.0; 5]);
        basis.coefficients(&values, &mut p);
        integrate_coefficients(&p, &mut q);
        let at: f64 = legendre(5, 0.7).iter().zip(&q).map(|(a, b)| a * b).sum();
        assert!((at - 0.343).abs() < 1e-15, "{at}");
    }
}
