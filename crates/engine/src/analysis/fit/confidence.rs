//! How well parameters are known: covariance, intervals, profiles, and what cannot be known.

use pfaff_solver::singular_values;

use crate::analysis::fit::columns::Column;
use crate::analysis::fit::freedom::echelon;
use crate::analysis::fit::request::{Estimate, Fit, Loss};
use crate::analysis::fit::student::student_quantile;
use crate::analysis::fit::{Evaluation, Problem, VANISHING};
use crate::error::Failure;

impl Problem {
    /// The result: estimates with their confidence.
    pub(super) fn finish(
        &mut self,
        found: Evaluation,
        iterations: usize,
        is_converged: bool,
    ) -> Result<Fit, Failure> {
        let (n, p) = (found.residuals.len(), self.names.len());
        let weights = self.weights(&found);
        let is_absolute = self.has_sigmas || !self.priors.is_empty();
        let is_huber = self.loss != Loss::Squares && !is_absolute;
        let weight = |i: usize| if is_huber { 1.0 } else { weights[i] };
        let matrix: Vec<f64> = (0..n * p)
            .map(|at| weight(at / p) * found.slopes[at] * self.sizes[at % p])
            .collect();
        let is_held = |k: usize| {
            self.values[k] <= self.bounds[k][0] || self.values[k] >= self.bounds[k][1]
        };
        let svd = singular_values(&matrix, n, p);
        let largest = svd.values.first().copied().unwrap_or_default();
        let is_known = |σ: f64| σ > VANISHING * largest;
        let squares: f64 =
            found.residuals.iter().zip(&weights).map(|(r, w)| (w * r).powi(2)).sum();
        let rank = svd.values.iter().filter(|σ| is_known(**σ)).count();
        let freedom = n.saturating_sub(rank);
        let variance = if is_absolute { 1.0 } else { squares / freedom.max(1) as f64 };
        let spread = if is_huber { self.huber_variance(&found, freedom) } else { variance };
        let mut covariance = vec![vec![0.0; p]; p];
        let mut is_determined = vec![true; p];
        let scaled = |direction: &[f64]| -> Vec<f64> {
            direction.iter().zip(&self.sizes).map(|(v, s)| v * s).collect()
        };
        let (known, unknown): (Vec<_>, Vec<_>) =
            svd.values.iter().zip(&svd.directions).partition(|(σ, _)| is_known(**σ));
        for (σ, direction) in known {
            let step = scaled(direction);
            for i in 0..p {
                for j in 0..p {
                    covariance[i][j] += spread * step[i] * step[j] / (σ * σ);
                }
            }
        }
        let (mut unidentifiable, mut freedoms) = (Vec::new(), Vec::new());
        for direction in echelon(unknown.into_iter().map(|(_, v)| v.clone()).collect()) {
            let step = scaled(&direction);
            let most = direction.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let largest = step.iter().zip(&direction).filter(|(_, v)| v.abs() > 1e-4 * most);
            let largest =
                largest.fold(0.0_f64, |m: f64, (x, _)| if x.abs() > m.abs() { *x } else { m });
            let mut parts = Vec::new();
            for k in 0..p {
                if direction[k].abs() > 1e-4 * most {
                    is_determined[k] = false;
                    parts.push((self.names[k].clone(), step[k] / largest));
                }
            }
            freedoms.push(self.freedom(&found, &parts, largest)?);
            unidentifiable.push(parts);
        }
        let quantile = if is_absolute {
            student_quantile(f64::INFINITY)
        } else {
            student_quantile(freedom as f64)
        };
        let mut notes = self.notes.clone();
        let mut parameters = Vec::new();
        for k in 0..p {
            if !is_determined[k] || is_held(k) {
                for j in 0..p {
                    covariance[k][j] = f64::NAN;
                    covariance[j][k] = f64::NAN;
                }
            }
            if is_held(k) {
                notes.push(format!("`{}` is held at its bound", self.names[k]));
            }
            let sigma = covariance[k][k].sqrt();
            let value = self.values[k];
            parameters.push(Estimate {
                name: self.names[k].clone(),
                value,
                sigma,
                interval: [value - quantile * sigma, value + quantile * sigma],
                profile: None,
            });
        }
        if self.wants_profile {
            let best = Best { values: self.values.clone(), loss: found.loss };
            for (k, estimate) in parameters.iter_mut().enumerate() {
                let sigma = estimate.sigma;
                if sigma.is_finite() && sigma > 0.0 {
                    let rise = quantile * quantile * variance;
                    estimate.profile = Some(self.profile(&best, k, sigma, rise)?);
                }
            }
        }
        for parts in &unidentifiable {
            if let [(name, _)] = parts.as_slice() {
                notes.push(format!("the data do not depend on `{name}`"));
            }
        }
        if !is_converged {
            notes.push(
                "the iteration did not converge: the values are the best ones found".into(),
            );
        }
        if freedom == 0 && !self.has_sigmas {
            notes.push("there are as many parameters as values: nothing is left to estimate errors from".into());
        }
        let residuals = self.by_column(&found);
        let measured = n - self.priors.len();
        let sum: f64 = if self.has_sigmas {
            found.residuals[..measured].iter().map(|r| r * r).sum()
        } else {
            residuals.iter().flatten().flatten().map(|r| r * r).sum()
        };
        let sigma_of = |c: &Column| {
            let given = c.sigmas.first().copied().unwrap_or(f64::NAN);
            let is_estimated = !is_absolute && !is_huber && self.runs[0].columns.len() < 2;
            if is_estimated { variance.sqrt() } else { given }
        };
        let mut labels = Vec::new();
        for (k, run) in self.runs.iter().enumerate() {
            for column in &run.columns {
                let label = if k == 0 {
                    column.name.clone()
                } else {
                    format!("{} (run {})", column.name, k + 1)
                };
                labels.push((label, k));
            }
        }
        Ok(Fit {
            parameters,
            covariance,
            residual: (sum / measured.max(1) as f64).sqrt(),
            unidentifiable,
            freedoms,
            values: measured,
            iterations,
            is_converged,
            times: labels.iter().map(|(_, k)| self.runs[*k].t.clone()).collect(),
            residuals: labels.into_iter().map(|(label, _)| label).zip(residuals).collect(),
            sigmas: self.runs[0]
                .columns
                .iter()
                .map(|c| (c.name.clone(), sigma_of(c)))
                .collect(),
            notes,
            motion: found.motion,
        })
    }

    /// What the inverse of $J^\top J$ is multiplied by for a robust loss, after Huber (1981):
    ///
    /// $$ \frac{\sum\psi(r_i)^2/(n - p)}{\bigl(\tfrac1n\sum\psi'(r_i)\bigr)^2}, \qquad \psi = \rho'/2. $$
    fn huber_variance(&self, found: &Evaluation, freedom: usize) -> f64 {
        let residuals = &found.residuals;
        let pull = |r: &f64| (r * self.loss.weight(*r)).powi(2);
        let squares: f64 = residuals.iter().map(pull).sum();
        let slopes: f64 = residuals.iter().map(|r| self.loss.slope(*r)).sum();
        let slope = slopes / residuals.len().max(1) as f64;
        squares / freedom.max(1) as f64 / (slope * slope)
    }

    /// The values of a parameter at which the least loss over all others has risen by so much: on both sides.
    fn profile(
        &mut self,
        best: &Best,
        k: usize,
        sigma: f64,
        rise: f64,
    ) -> Result<[f64; 2], Failure> {
        /// The rise is met to this part, and so many points are tried on a side.
        const MET: f64 = 0.01;
        const POINTS: usize = 12;
        let mut ends = [f64::NEG_INFINITY, f64::INFINITY];
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let limit = self.bounds[k][side];
            // The root of the rise is close to a straight line in the distance.
            let (mut inside, mut outside) = ((0.0, 0.0), None::<(f64, f64)>);
            let mut distance = rise.sqrt() * sigma;
            for _ in 0..POINTS {
                let place = best.values[k] + sign * distance;
                let is_beyond = sign * (place - limit) > 0.0;
                let place = if is_beyond { limit } else { place };
                let distance_there = (place - best.values[k]).abs();
                let Some(loss) = self.least_beside(best, k, place)? else {
                    outside = Some((distance_there, f64::INFINITY));
                    distance = 0.5 * (inside.0 + distance_there);
                    continue;
                };
                let root = ((loss - best.loss).max(0.0) / rise).sqrt();
                if (root - 1.0).abs() < MET || (is_beyond && root < 1.0) {
                    ends[side] = place;
                    break;
                }
                if root < 1.0 {
                    inside = (distance_there, root);
                } else {
                    outside = Some((distance_there, root));
                }
                distance = match outside {
                    Some((far, root)) if root.is_finite() => {
                        let share = (1.0 - inside.1) / (root - inside.1);
                        inside.0 + share.clamp(0.1, 0.9) * (far - inside.0)
                    }
                    Some((far, _)) => 0.5 * (inside.0 + far),
                    None if inside.1 > 0.1 => inside.0 / inside.1 * 1.02,
                    None => 4.0 * inside.0,
                };
                ends[side] = best.values[k] + sign * distance;
            }
        }
        Ok(ends)
    }

    /// The least loss with one parameter held; `None` where no motion reaches the data.
    fn least_beside(&mut self, best: &Best, k: usize, x: f64) -> Result<Option<f64>, Failure> {
        self.values.clone_from(&best.values);
        self.values[k] = x;
        self.held[k] = true;
        let found = match self.evaluate(&self.values)? {
            Some(mut found) => {
                self.minimise(&mut found, 0)?;
                Some(found.loss)
            }
            None => None,
        };
        self.held[k] = false;
        self.values.clone_from(&best.values);
        Ok(found)
    }
}

/// Where the loss is least.
struct Best {
    values: Vec<f64>,
    loss: f64,
}
