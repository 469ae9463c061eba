//! Local integrals of a kernel that may be singular at the lag 0.
//!
//! $$ L_{jk} = \int_0^{c_j h} k(s)\,\ell_k(c_j - s/h)\,ds, \qquad k(s) = s^{\mu-1} g(s) \qquad (\mathrm L) $$
//!
//! The panel next to the lag 0 has a rule with the singular weight, as far as $g$ is smooth; those beyond are
//! rules of Gauss. Where $g$ is not smooth at 0, panels halve towards it.

use super::block_history::Values;
use super::resolution::{KernelResolution, POINTS, Panel, Tail};
use crate::quadrature::{NodalBasis, lagrange};
use crate::quadrature::{QuadratureRule, gauss_jacobi};

/// Octaves of the lag after which nothing is left of a bounded kernel.
const OCTAVES: f64 = 54.0;

/// Most panels of one row for a kernel of which nothing is known.
const MOST: usize = 6000;

/// The rules of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Local {
    mu: f64,
    singular: QuadratureRule,
    plain: QuadratureRule,
    tail: Tail,
}

impl Local {
    pub(crate) fn new(mu: f64) -> Self {
        let (singular, plain) = (gauss_jacobi(POINTS, mu), gauss_jacobi(POINTS, 1.0));
        Self { mu, singular, plain, tail: Tail::new() }
    }

    /// Rows of (L) for some nodes. `kernel` writes values at given lags; without `resolved` nothing is known
    /// of where it is smooth.
    pub(crate) fn rows(
        &self,
        basis: &NodalBasis,
        nodes: std::ops::Range<usize>,
        h: f64,
        resolved: Option<&KernelResolution>,
        kernel: Values<'_>,
    ) -> Vec<f64> {
        let (s, mu) = (basis.stages, self.mu);
        let mut matrix = vec![0.0; nodes.len() * s];
        let (mut lags, mut values) = ([0.0; POINTS], [0.0; POINTS]);
        for (row, c) in matrix.chunks_exact_mut(s).zip(&basis.nodes[nodes]) {
            let mut take = |lag: f64, share: f64| {
                for (k, out) in row.iter_mut().enumerate() {
                    *out += share * lagrange(&basis.nodes, k, c - lag / h);
                }
            };
            let end = c * h;
            let smooth = resolved.map_or(0.0, |r| r.start);
            let first = if smooth > 0.0 {
                smooth.min(end)
            } else {
                end * libm::exp2(-(OCTAVES / mu.min(1.0)).min(900.0))
            };
            for (lag, y) in lags.iter_mut().zip(&self.singular.nodes) {
                *lag = first * (1.0 - y);
            }
            kernel(&lags, &mut values);
            let scale = libm::pow(first, mu);
            for i in 0..POINTS {
                let factor = values[i] * libm::pow(lags[i], 1.0 - mu);
                take(lags[i], scale * self.singular.weights[i] * factor);
            }
            let mut from = first;
            let mut to = from;
            let (mut size, mut looked) = (0.0_f64, 0);
            while from < end {
                looked += 1;
                if to <= from {
                    to = match resolved {
                        Some(resolved) => resolved.panel(from, end, smooth == 0.0),
                        None => end.min(2.0 * from),
                    };
                }
                for (lag, y) in lags.iter_mut().zip(&self.plain.nodes) {
                    *lag = from + y * (to - from);
                }
                kernel(&lags, &mut values);
                // What has no value, and what halving does not resolve, has no integral.
                if looked > MOST || !values.iter().all(|k| k.is_finite()) {
                    take(lags[0], f64::NAN);
                    break;
                }
                let mean = values.iter().map(|k| k.abs()).sum::<f64>() / POINTS as f64;
                size = size.max((to - from) * mean);
                if resolved.is_none() && to - from > 8.0 * f64::EPSILON * to {
                    let mut at = |lag: f64| {
                        let mut value = [0.0];
                        kernel(&[lag], &mut value);
                        value[0]
                    };
                    let (panel, nothing) = (Panel { from, to }, 1e-15 * size / (to - from));
                    if !self.tail.resolves(panel, &values, nothing, &mut at) {
                        to = 0.5 * (from + to);
                        continue;
                    }
                }
                for i in 0..POINTS {
                    take(lags[i], (to - from) * self.plain.weights[i] * values[i]);
                }
                from = to;
            }
        }
        matrix
    }
}
