//! One trial of a step: solved, checked, and accepted or not.
//!
//! Beside the estimate of its error a step is *sampled*: the equations are evaluated at places between the nodes,
//! on the polynomials of densities and operands. What they lack there, felt in an operand, may not be more than
//! what the polynomials are known to leave out: a step that has passed over a feature of the equations is cut.

use super::{COARSE, TrialPoint, VolterraObserver, VolterraRun, VolterraTrial, rounded};
use crate::ode::integrate::StopReason;
use crate::ode::system::EvalError;
use crate::volterra::history::StepSpan;
use crate::volterra::system::VolterraPoint;

/// Where a step is sampled: between the nodes, in no regular distances.
const PLACES: [f64; 4] = [0.113, 0.317, 0.566, 0.803];
/// What a sample may lack, in tolerances, and in multiples of what the polynomials leave out.
const LACKING: (f64, f64) = (10.0, 300.0);

/// What became of a trial.
pub(super) enum Attempt {
    /// It is part of the run.
    Accepted,
    /// A shorter one is to be tried.
    Rejected(StopReason),
    /// The run ends.
    Ended(StopReason),
}

impl From<EvalError> for Attempt {
    fn from(error: EvalError) -> Self {
        Self::Ended(error.into())
    }
}

impl VolterraRun<'_> {
    /// Tries a step of length `h`.
    pub(super) fn attempt(
        &mut self,
        h: f64,
        observer: &mut dyn VolterraObserver,
    ) -> Attempt {
        self.tried(h, observer).unwrap_or_else(Attempt::from)
    }

    fn tried(
        &mut self,
        h: f64,
        observer: &mut dyn VolterraObserver,
    ) -> Result<Attempt, EvalError> {
        self.guess(h);
        if let Err(error) = self.solve(h) {
            if self.progress.steps == 0 {
                return Err(error);
            }
            self.h = 0.25 * h;
            return Ok(Attempt::Rejected(error.into()));
        }
        let error = if self.options.step.is_some() { 0.0 } else { self.error(h) };
        // NOTE: the first step after the start or a break meets what is not smooth; it is very short.
        let opens = self.progress.steps == 0 || self.switching.opens;
        if error > 1.0 && !opens {
            self.h = rounded(h * self.factor(error).clamp(0.1, 0.8), COARSE);
            return Ok(Attempt::Rejected(StopReason::StepTooSmall));
        }
        if !opens && self.options.step.is_none() && !self.is_sampled(h) {
            self.h = rounded(0.3 * h, COARSE);
            return Ok(Attempt::Rejected(StopReason::StepTooSmall));
        }
        let mut trial = VolterraTrial { h, end: self.end_of(h).0 };
        let fired = match self.first_switch(trial) {
            Ok(fired) => fired,
            Err(_) if opens => None,
            Err(error) => {
                self.h = rounded(0.25 * h, COARSE);
                return Ok(Attempt::Rejected(error.into()));
            }
        };
        if let Some((_, at)) = fired {
            let shorter = at - self.progress.elapsed;
            if shorter < self.switching.shortest_segment(self.progress.elapsed) {
                return self.renewed(fired.map(|f| f.0));
            }
            if shorter < (1.0 - 1e-14) * h {
                if !matches!(self.at(at, trial)?, TrialPoint::Within(_)) {
                    return self.renewed(fired.map(|f| f.0));
                }
                self.main.x.copy_from_slice(&self.inner.x);
                if let Err(error) = self.solve(shorter) {
                    self.h = 0.25 * h;
                    return Ok(Attempt::Rejected(error.into()));
                }
                trial = VolterraTrial { h: shorter, end: self.end_of(shorter).0 };
            }
        }
        if !self.scan_events(trial)? && !opens {
            self.h = rounded(0.25 * h, COARSE);
            return Ok(Attempt::Rejected(StopReason::StepTooSmall));
        }
        if let Some(stop) = self.accept(trial.h, observer)? {
            return Ok(Attempt::Ended(stop));
        }
        self.switching.opens = false;
        self.h = self.following(trial.h, error);
        self.warned = false;
        let is_break = self.switching.is_break(self.progress.elapsed);
        if fired.is_some() || is_break {
            return self.renewed(fired.map(|f| f.0));
        }
        Ok(Attempt::Accepted)
    }

    pub(super) fn solve(&mut self, h: f64) -> Result<(), EvalError> {
        let at = StepSpan { start: self.progress.elapsed, h };
        self.main.solve(&self.frame, &mut self.history, at, self.system)
    }

    /// The run goes on with other branches.
    fn renewed(&mut self, fired: Option<usize>) -> Result<Attempt, EvalError> {
        let goes_on = self.settle(fired)?;
        Ok(if goes_on { Attempt::Accepted } else { Attempt::Ended(StopReason::Singular) })
    }

    /// Whether the equations hold between the nodes of the trial, as far as its polynomials can know.
    fn is_sampled(&mut self, h: f64) -> bool {
        let (s, n, count) = (self.frame.basis.stages, self.frame.n, self.frame.operands.len());
        let (mut x, mut z, mut lack) = (vec![0.0; n], vec![0.0; count], vec![0.0; n]);
        let mut worst = vec![0.0_f64; n];
        for place in PLACES {
            self.interpolate(place, &mut x, &mut z);
            let elapsed = self.progress.elapsed + place * h;
            let at = VolterraPoint { t: self.options.t0 + elapsed, elapsed, x: &x, z: &z };
            if self.system.residual(at, &mut lack).is_err() {
                return false;
            }
            for (worst, lack) in worst.iter_mut().zip(&lack) {
                // NOTE: what is not a number stays.
                *worst = if lack.is_nan() { f64::NAN } else { worst.max(lack.abs()) };
            }
        }
        let slopes = self.main.slopes();
        let mut lacking = vec![0.0_f64; n];
        for (row, lack) in worst.iter().enumerate() {
            let slopes = &slopes[row * n..(row + 1) * n];
            let most = slopes.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
            for (unknown, slope) in slopes.iter().enumerate() {
                // Rows of mixed unknowns say something of those that weigh most in them.
                if slope.abs() > 0.1 * most {
                    let share = lack / slope.abs();
                    lacking[unknown] =
                        if share.is_nan() { f64::NAN } else { lacking[unknown].max(share) };
                }
            }
        }
        self.frame.operands.iter().enumerate().filter(|o| o.1.controlled).all(|(p, operand)| {
            let size = 1.0 + self.main.z[(s - 1) * count + p].abs();
            let weight = libm::pow(h, operand.smoothing())
                / (self.options.tolerance.max(1e-14) * size);
            let (last, ratio) = self.decay(operand.unknown);
            let allowed = LACKING.0 + LACKING.1 * weight * last * ratio;
            weight * lacking[operand.unknown] <= allowed
        })
    }

    /// Densities and operands at a part of the trial, on polynomials through the nodes.
    pub(in crate::volterra) fn interpolate(&self, part: f64, x: &mut [f64], z: &mut [f64]) {
        let (n, count) = (self.frame.n, self.frame.operands.len());
        x.fill(0.0);
        z.fill(0.0);
        // The operands begin with what they are at the start of the step; the densities may jump there.
        let begins = self.progress.steps > 0 && self.z.iter().all(|z| z.is_finite());
        let mut first = 1.0;
        for (j, weight) in self.frame.basis.values_at(part).enumerate() {
            let node = self.frame.basis.nodes[j];
            for (x, value) in x.iter_mut().zip(&self.main.x[j * n..]) {
                *x += weight * value;
            }
            let weight = if begins { weight * part / node } else { weight };
            first *= (node - part) / node;
            for (z, value) in z.iter_mut().zip(&self.main.z[j * count..]) {
                *z += weight * value;
            }
        }
        if begins {
            z.iter_mut().zip(&self.z).for_each(|(z, start)| *z += first * start);
        }
    }
}
