//! How far the data stay the same along a direction in which they determine nothing.
//!
//! The singular values speak of small changes only. Two ways to go on are tried, each by one more motion of every run
//! with parameters that are far away:
//!
//! $$ p_k\,f^{c_k} \quad\text{with}\quad c_k \propto \frac{\delta p_k}{p_k}, \qquad\text{and}\qquad
//!    p_k + s\,\delta p_k, $$
//!
//! a scale, as where a motion depends on `k/m` or `a*b` only, and a straight line, as where it depends on a sum.

use crate::analysis::fit::request::Freedom;
use crate::analysis::fit::{Evaluation, Problem};
use crate::error::Failure;

/// The factor that is tried.
const FACTOR: f64 = 1.5;
/// Values that change by less than this part of what such a change of one parameter does count as the same.
const SAME: f64 = 1e-4;
/// Exponents are fractions with such denominators, to this error.
const DENOMINATORS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
const NEAR: f64 = 2e-3;

impl Problem {
    /// What becomes of a direction far away: `parts` are its changes in units of the largest one, `largest`.
    pub(super) fn freedom(
        &self,
        found: &Evaluation,
        parts: &[(String, f64)],
        largest: f64,
    ) -> Result<Freedom, Failure> {
        let place = |name: &String| self.names.iter().position(|n| n == name);
        let moved: Vec<(usize, f64)> =
            parts.iter().filter_map(|(name, x)| Some((place(name)?, *x))).collect();
        if moved.len() < 2 {
            return Ok(Freedom::Line(parts.to_vec()));
        }
        if let Some(exponents) = self.exponents(&moved) {
            let scaled = |k: usize, c: f64| self.values[k] * libm::pow(FACTOR, c);
            let there = exponents.iter().map(|&(k, c)| (k, scaled(k, c)));
            if self.is_same(found, &there.collect::<Vec<_>>())? {
                let named = |&(k, c): &(usize, f64)| (self.names[k].clone(), c);
                return Ok(Freedom::Factor(exponents.iter().map(named).collect()));
            }
        }
        // As far as the parameter that changes most, in parts of its size, by the same factor.
        let part = |&(k, x): &(usize, f64)| (largest * x / self.sizes[k]).abs();
        let most = moved.iter().map(part).fold(0.0, f64::max);
        let s = (FACTOR - 1.0) * largest / most;
        let there = moved.iter().map(|&(k, x)| (k, self.values[k] + s * x));
        Ok(if self.is_same(found, &there.collect::<Vec<_>>())? {
            Freedom::Line(parts.to_vec())
        } else {
            Freedom::Tangent(parts.to_vec())
        })
    }

    /// Exponents of a scale along a direction, whole numbers without common factor if they are in such ratios.
    fn exponents(&self, moved: &[(usize, f64)]) -> Option<Vec<(usize, f64)>> {
        let rates: Vec<f64> = moved.iter().map(|&(k, x)| x / self.values[k]).collect();
        let least = rates.iter().map(|x| x.abs()).fold(f64::INFINITY, f64::min);
        if rates.iter().any(|x| !x.is_finite()) || least == 0.0 {
            return None;
        }
        let sign = rates[0].signum();
        let ratios = || rates.iter().map(|x| sign * x / least);
        let is_whole = |d: &f64| ratios().all(|x| (x * d - (x * d).round()).abs() < NEAR * d);
        let exponents: Vec<f64> = match DENOMINATORS.iter().find(|d| is_whole(d)) {
            Some(d) => ratios().map(|x| (x * d).round()).collect(),
            None => ratios().collect(),
        };
        // NOTE: beyond, a factor of 1.5 is another size of the parameter, not a try nearby.
        let is_small = exponents.iter().all(|c| c.abs() <= 6.0);
        is_small.then(|| moved.iter().map(|m| m.0).zip(exponents).collect())
    }

    /// Whether all measured values are the same with other values of some parameters.
    fn is_same(&self, found: &Evaluation, there: &[(usize, f64)]) -> Result<bool, Failure> {
        let mut values = self.values.clone();
        there.iter().for_each(|&(k, x)| values[k] = x);
        let Some(other) = self.evaluate(&values)? else { return Ok(false) };
        let p = self.names.len();
        let measured = found.residuals.len() - self.priors.len();
        // What the change of each parameter alone would do.
        let alone = |k: usize| {
            let δ = values[k] - self.values[k];
            (0..measured).map(|i| (found.slopes[i * p + k] * δ).powi(2)).sum::<f64>().sqrt()
        };
        let size = there.iter().map(|&(k, _)| alone(k)).fold(0.0, f64::max);
        let pairs = found.residuals.iter().zip(&other.residuals).take(measured);
        let distance = pairs.map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        Ok(distance <= SAME * size)
    }
}

/// Another basis of the space of some directions, in which each has a parameter that no other one changes: what
/// belongs together stays together.
pub(super) fn echelon(mut directions: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut pivots: Vec<usize> = Vec::new();
    for i in 0..directions.len() {
        let free = (0..directions[i].len()).filter(|k| !pivots.contains(k));
        let places = free.flat_map(|k| (i..directions.len()).map(move |row| (row, k)));
        let size = |&(row, k): &(usize, usize)| directions[row][k].abs();
        let Some((row, k)) = places.max_by(|a, b| size(a).total_cmp(&size(b))) else { break };
        directions.swap(i, row);
        pivots.push(k);
        let pivot = directions[i].clone();
        for (row, direction) in directions.iter_mut().enumerate() {
            let factor = if row == i { 0.0 } else { direction[k] / pivot[k] };
            direction.iter_mut().zip(&pivot).for_each(|(x, y)| *x -= factor * y);
        }
    }
    directions
}
