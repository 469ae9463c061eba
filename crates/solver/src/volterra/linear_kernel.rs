//! Kernels that satisfy a linear equation with constant coefficients: $e^{-rs}\cos\omega s$, $s\,e^{-rs}$ and
//! their like.
//!
//! $$ k^{(d)} = \sum_{j<d} a_j k^{(j)}, \qquad K = (k, k', \dots, k^{(d-1)}), \qquad K(s) = e^{Cs} K(0)
//! \qquad (\mathrm C) $$
//!
//! with the companion matrix $C$. The past is the vector $\psi = \int K(t-\sigma)\,x\,d\sigma$: it turns with
//! $e^{Ch}$ and takes up one step at a time.
//! Derivatives are scaled by powers of a rate $\omega$ that bounds the roots, so that all entries are of one size.

use crate::linalg::dot::dot_in_order as dot;
use crate::quadrature::{NodalBasis, lagrange};
use crate::quadrature::{QuadratureRule, gauss_jacobi};

/// A kernel (C), scaled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Linear {
    /// $\omega$
    rate: f64,
    /// $a_j\,\omega^{j-d}$
    last: Vec<f64>,
    /// $k^{(j)}(0)\,\omega^{-j}$
    start: Vec<f64>,
}

/// What depends on the length of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinearTable {
    /// The first row of $e^{Cc_jh}$ for each node, s × d.
    pub(crate) reach: Vec<f64>,
    /// $e^{Ch}$, d × d.
    turn: Vec<f64>,
    /// $\psi$ gained from node values, d × s.
    intake: Vec<f64>,
    /// The local integrals, s × s.
    pub(crate) local: Vec<f64>,
}

impl Linear {
    /// From $a_j$ and $k^{(j)}(0)$.
    pub(crate) fn new(coefficients: &[f64], start: &[f64]) -> Self {
        let d = coefficients.len();
        // Fujiwara's bound of the roots of r^d = Σ a_j r^j, without its factor of two.
        let bounds = coefficients.iter().enumerate();
        let bound = bounds
            .map(|(j, a)| libm::pow(a.abs(), 1.0 / (d - j) as f64))
            .fold(0.0_f64, f64::max);
        let rate = if bound > 0.0 { bound } else { 1.0 };
        let power = |j: usize| libm::pow(rate, j as f64);
        Self {
            rate,
            last: coefficients.iter().enumerate().map(|(j, a)| a / power(d - j)).collect(),
            start: start.iter().enumerate().map(|(j, k)| k / power(j)).collect(),
        }
    }

    /// $d$
    pub(crate) fn size(&self) -> usize {
        self.last.len()
    }

    /// $v$ becomes $e^{Cs} v$.
    fn turned(&self, s: f64, v: &mut [f64]) {
        let d = v.len();
        let norm = 1.0 + self.last.iter().map(|a| a.abs()).sum::<f64>();
        let parts = (2.0 * norm * self.rate * s.abs()).ceil().clamp(1.0, 1e6);
        let h = self.rate * s / parts;
        let mut term = vec![0.0; d];
        for _ in 0..parts as usize {
            term.copy_from_slice(v);
            // Terms of the exponential series at a norm of 1/2: the seventeenth is below 1e-19.
            for n in 1..=16 {
                let end: f64 = self.last.iter().zip(&term).map(|(a, t)| a * t).sum();
                term.rotate_left(1);
                term[d - 1] = end;
                term.iter_mut().for_each(|t| *t *= h / f64::from(n));
                v.iter_mut().zip(&term).for_each(|(v, t)| *v += t);
            }
        }
    }

    /// The tables of a step of length `h`.
    pub(crate) fn table(&self, basis: &NodalBasis, h: f64) -> LinearTable {
        let (s, d) = (basis.stages, self.size());
        let mut table = LinearTable {
            reach: vec![0.0; s * d],
            turn: vec![0.0; d * d],
            intake: vec![0.0; d * s],
            local: vec![0.0; s * s],
        };
        for column in 0..d {
            for (j, c) in basis.nodes.iter().enumerate() {
                let mut unit = vec![0.0; d];
                unit[column] = 1.0;
                self.turned(c * h, &mut unit);
                table.reach[j * d + column] = unit[0];
                if j + 1 == s {
                    (0..d).for_each(|i| table.turn[i * d + column] = unit[i]);
                }
            }
        }
        // As many panels as the fastest part of the kernel needs.
        let QuadratureRule { nodes: points, weights } = gauss_jacobi(16, 1.0);
        for (j, c) in basis.nodes.iter().enumerate() {
            let panels = (self.rate * c * h / 2.0).ceil().clamp(1.0, 1e4);
            for panel in 0..panels as usize {
                for (y, w) in points.iter().zip(&weights) {
                    let θ = c * (panel as f64 + y) / panels;
                    let mut k = self.start.clone();
                    self.turned((c - θ) * h, &mut k);
                    for node in 0..s {
                        let share = w * c * h / panels * lagrange(&basis.nodes, node, θ);
                        table.local[j * s + node] += share * k[0];
                        if j + 1 == s {
                            (0..d).for_each(|i| table.intake[i * s + node] += share * k[i]);
                        }
                    }
                }
            }
        }
        table
    }
}

impl LinearTable {
    /// Takes up a step with these node values.
    pub(crate) fn advance(&self, psi: &mut [f64], values: &[f64]) {
        let (d, s) = (psi.len(), values.len());
        let next: Vec<f64> = (0..d)
            .map(|i| {
                dot(&self.turn[i * d..(i + 1) * d], psi)
                    + dot(&self.intake[i * s..(i + 1) * s], values)
            })
            .collect();
        psi.copy_from_slice(&next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damped_waves_and_polynomials_are_met() {
        // e^{−s} cos 3s: k″ = −2k′ − 10k. s² e^{−s/2}: three times the root −1/2.
        type Case = (Vec<f64>, Vec<f64>, fn(f64) -> f64);
        let cases: [Case; 2] = [
            (vec![-10.0, -2.0], vec![1.0, -1.0], |s| libm::exp(-s) * libm::cos(3.0 * s)),
            (vec![-0.125, -0.75, -1.5], vec![0.0, 0.0, 2.0], |s| s * s * libm::exp(-0.5 * s)),
        ];
        for (a, start, k) in cases {
            let linear = Linear::new(&a, &start);
            for s in [0.01, 0.7, 2.0, 9.0] {
                let mut v = linear.start.clone();
                linear.turned(s, &mut v);
                // Some hundred parts of the exponential, each rounded.
                assert!((v[0] - k(s)).abs() < 1e-13, "{s} {} {}", v[0], k(s));
            }
        }
    }
}
