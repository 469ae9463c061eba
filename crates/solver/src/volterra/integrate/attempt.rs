//! One trial of a step: solved, checked, and accepted or not.
//!
//! Beside the estimate of its error a step is *sampled*: the equations are evaluated at places between the nodes,
//! on the polynomials of densities and operands. What they lack there, felt in an operand, may not be more than
//! what the polynomials are known to leave out: a step that has passed over a feature of the equations is cut.

use super::{
    COARSE, RunFrame, TrialPoint, VolterraObserver, VolterraRun, VolterraTrial, rounded,
};
use crate::ode::options::StopReason;
use crate::ode::system::EvalError;
use crate::quadrature::NodalBasis;
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
    pub(super) fn attempt(&mut self, h: f64, observer: &mut dyn VolterraObserver) -> Attempt {
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
        if !self.scan_events(trial) && !opens {
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
        let mut sampling = std::mem::take(&mut self.sampling);
        sampling.worst.fill(0.0);
        for (place, weights) in PLACES.into_iter().zip(&sampling.weights) {
            self.interpolate_by(weights, &mut sampling.x, &mut sampling.z);
            let elapsed = self.progress.elapsed + place * h;
            let (x, z) = (&sampling.x[..], &sampling.z[..]);
            let at = VolterraPoint { t: self.options.t0 + elapsed, elapsed, x, z };
            let known = self.system.residual(at, &mut sampling.lack).is_ok();
            for (worst, lack) in sampling.worst.iter_mut().zip(&sampling.lack) {
                // NOTE: what is not a number stays.
                let is_number = known && !lack.is_nan() && !worst.is_nan();
                *worst = if is_number { worst.max(lack.abs()) } else { f64::NAN };
            }
        }
        sampling.lacking.fill(0.0);
        let slopes = self.main.slopes().chunks_exact(n);
        for (slopes, lack) in slopes.zip(&sampling.worst) {
            let most = slopes.iter().fold(0.0_f64, |m, s| m.max(s.abs()));
            for (lacking, slope) in sampling.lacking.iter_mut().zip(slopes) {
                // Rows of mixed unknowns say something of those that weigh most in them.
                if slope.abs() > 0.1 * most {
                    let share = lack / slope.abs();
                    let is_number = !share.is_nan() && !lacking.is_nan();
                    *lacking = if is_number { lacking.max(share) } else { f64::NAN };
                }
            }
        }
        let controlled = self.frame.operands.iter().enumerate().filter(|o| o.1.controlled);
        let holds = controlled.into_iter().all(|(p, operand)| {
            let size = 1.0 + self.main.z[(s - 1) * count + p].abs();
            let weight =
                libm::pow(h, operand.smoothing()) / (self.options.tolerance.max(1e-14) * size);
            let lacking = weight * sampling.lacking[operand.unknown];
            lacking <= LACKING.0 || {
                let (last, ratio) = self.decay(operand.unknown);
                lacking <= LACKING.0 + LACKING.1 * weight * last * ratio
            }
        });
        self.sampling = sampling;
        holds
    }

    /// Densities and operands at a part of the trial, on polynomials through the nodes.
    pub(in crate::volterra) fn interpolate(&self, part: f64, x: &mut [f64], z: &mut [f64]) {
        self.interpolate_by(&PlaceWeights::new(&self.frame.basis, part), x, z);
    }

    fn interpolate_by(&self, weights: &PlaceWeights, x: &mut [f64], z: &mut [f64]) {
        let (n, count) = (self.frame.n, self.frame.operands.len());
        x.fill(0.0);
        z.fill(0.0);
        // The operands begin with what they are at the start of the step; the densities may jump there.
        let begins = self.progress.steps > 0 && self.z.iter().all(|z| z.is_finite());
        let by = if begins { &weights.begun } else { &weights.nodes };
        for (j, (weight, by)) in weights.nodes.iter().zip(by).enumerate() {
            for (x, value) in x.iter_mut().zip(&self.main.x[j * n..]) {
                *x += weight * value;
            }
            for (z, value) in z.iter_mut().zip(&self.main.z[j * count..]) {
                *z += by * value;
            }
        }
        if begins {
            z.iter_mut().zip(&self.z).for_each(|(z, start)| *z += weights.start * start);
        }
    }
}

/// The weights of the nodes at a part of the step, and with the start as one more node.
#[derive(Clone, Debug)]
struct PlaceWeights {
    nodes: Vec<f64>,
    begun: Vec<f64>,
    start: f64,
}

impl PlaceWeights {
    fn new(basis: &NodalBasis, part: f64) -> Self {
        let nodes: Vec<f64> = basis.values_at(part).collect();
        let begun = nodes.iter().zip(&basis.nodes).map(|(w, node)| w * part / node).collect();
        let start = basis.nodes.iter().map(|node| (node - part) / node).product();
        Self { nodes, begun, start }
    }
}

/// Storage of the samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampling {
    weights: Vec<PlaceWeights>,
    x: Vec<f64>,
    z: Vec<f64>,
    lack: Vec<f64>,
    /// The largest residuals.
    worst: Vec<f64>,
    /// The same as errors of the unknowns.
    lacking: Vec<f64>,
}

impl Sampling {
    pub(super) fn new(frame: &RunFrame) -> Self {
        let zeros = vec![0.0; frame.n];
        Self {
            weights: PLACES.iter().map(|p| PlaceWeights::new(&frame.basis, *p)).collect(),
            x: zeros.clone(),
            z: vec![0.0; frame.operands.len()],
            lack: zeros.clone(),
            worst: zeros.clone(),
            lacking: zeros,
        }
    }
}
