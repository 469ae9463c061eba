//! Narrow features that a step did not sample.
//!
//! A bump of width $\varepsilon$ that lies between the stages of a step leaves no trace in its error estimate. Systems
//! name their features by *phases* ([`System::feature_phases`](crate::System)): functions of the state that vary by
//! about 1 each time that the distance to a feature halves. A step over which all phases vary little has sampled what
//! there is. In any other step the parts in which a phase varies are halved, towards the feature, and at each point
//! the dense output is compared with the equations:
//!
//! $$ |h|\,\bigl|\dot u_i(t) - f_i(t, u(t))\bigr| \le 100\,E^{3/4}\,s_i. $$
//!
//! $E^{3/4}$ is the accuracy of a differentiated interpolant. What a narrow part of length l has beyond ten times the
//! least deviation in the quarters of the step counts as missed from $10\,E\,s_i/l$ on. A step that fails, or has more
//! features than can be looked at, is repeated shorter.

use std::collections::VecDeque;

use crate::ode::dense_output::DenseStep;
use crate::ode::scale::Scale;
use crate::ode::system::Counted;

/// How much a phase may vary over a part of a step that is not halved.
const QUIET: f64 = 1.0;
/// Points that are looked at in a step, and how often a part is halved.
const MOST: usize = 128;
const DEPTH: u32 = 30;

/// Looks for features in steps.
pub(crate) struct FeatureWatch {
    count: usize,
    /// Phases at the start of the step, if they are known, at its end and at points within.
    start: Vec<f64>,
    is_known: bool,
    end: Vec<f64>,
    within: Vec<f64>,
    /// Parts that are still to be looked at.
    parts: VecDeque<Part>,
    y: Vec<f64>,
    slopes: Vec<f64>,
    rates: Vec<f64>,
    /// The least deviations in the quarters of the step; infinite in `usual` before all are known.
    quarters: Vec<f64>,
    usual: Vec<f64>,
}

/// Whether a step sampled the features that lie in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    Complete,
    Missed,
    /// There are more parts than can be looked at.
    Unknown,
}

/// A part of a step, with the places of the phases at its ends in `within`.
#[derive(Clone, Copy)]
struct Part {
    from: (f64, usize),
    to: (f64, usize),
    depth: u32,
    /// Whether a phase varies in the part beside it.
    is_near: bool,
}

impl FeatureWatch {
    pub(crate) fn new(count: usize, n: usize) -> Self {
        Self {
            count,
            start: vec![0.0; count],
            is_known: false,
            end: vec![0.0; count],
            within: Vec::with_capacity((MOST + 4) * count),
            parts: VecDeque::with_capacity(2 * MOST),
            y: vec![0.0; n],
            slopes: vec![0.0; n],
            rates: vec![0.0; n],
            quarters: vec![0.0; n],
            usual: vec![0.0; n],
        }
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_idle(&self) -> bool {
        self.count == 0
    }

    /// The step was accepted.
    pub(crate) fn accept(&mut self) {
        std::mem::swap(&mut self.start, &mut self.end);
    }

    /// The state was changed between steps.
    pub(crate) fn forget(&mut self) {
        self.is_known = false;
    }

    /// Whether a step varies little; its dense output may still be a cubic.
    pub(crate) fn is_quiet(&mut self, system: &mut Counted<'_>, step: &DenseStep<'_>) -> bool {
        if !self.is_known {
            step.state(step.start(), &mut self.y);
            system.system.feature_phases(step.start(), &self.y, &mut self.start);
            self.is_known = true;
        }
        system.system.feature_phases(step.end(), step.state_at_end(), &mut self.end);
        let middle = 0.5 * (step.start() + step.end());
        step.state(middle, &mut self.y);
        self.within.clear();
        self.within.resize(self.count, 0.0);
        system.system.feature_phases(middle, &self.y, &mut self.within);
        let ends = self.start.iter().zip(&self.end).zip(&self.within);
        ends.fold(true, |quiet, ((a, b), m)| {
            let is_near = |x: &f64| x == m || (x - m).abs() <= 0.5 * QUIET;
            quiet & is_near(a) & is_near(b)
        })
    }

    /// Whether the step sampled its features, with dense output of full order.
    pub(crate) fn sampling(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        scale: &Scale,
    ) -> Sampling {
        let (start, end) = (step.start(), step.end());
        let allowed = 100.0 * libm::pow(scale.tolerance, 0.75);
        self.within.clear();
        self.within.extend_from_slice(&self.start);
        self.within.extend_from_slice(&self.end);
        self.parts.clear();
        self.parts.push_back(Part { from: (start, 0), to: (end, 1), depth: 0, is_near: true });
        let mut points = 0;
        self.quarters.fill(f64::INFINITY);
        self.usual.fill(f64::INFINITY);
        while let Some(part) = self.parts.pop_front() {
            // NOTE: a feature in the middle of a part looks the same from both of its ends, but not from beside it.
            let is_looked_at = part.depth < 2 || part.is_near || self.varies(part);
            if !is_looked_at || part.depth > DEPTH {
                continue;
            }
            if points == MOST {
                return Sampling::Unknown;
            }
            points += 1;
            let t = 0.5 * (part.from.0 + part.to.0);
            step.state(t, &mut self.y);
            let place = self.within.len() / self.count;
            self.within.resize((place + 1) * self.count, 0.0);
            let phases = &mut self.within[place * self.count..];
            system.system.feature_phases(t, &self.y, phases);
            step.derivative(t, &mut self.slopes);
            if system.rates(t, &self.y, &mut self.rates).is_err() {
                return Sampling::Missed;
            }
            let h = end - start;
            let share = ((part.to.0 - part.from.0) / h).abs();
            for i in 0..scale.controlled {
                let defect = (h * (self.slopes[i] - self.rates[i])).abs();
                let size = scale.at(i, h, self.y[i].abs());
                let beyond = defect - 10.0 * self.usual[i];
                if defect > allowed * size || share * beyond > 10.0 * scale.tolerance * size {
                    return Sampling::Missed;
                }
                if part.depth < 2 {
                    self.quarters[i] = self.quarters[i].min(defect);
                }
            }
            if points == 3 {
                self.usual.copy_from_slice(&self.quarters);
            }
            let depth = part.depth + 1;
            let mut halves = [(part.from, (t, place)), ((t, place), part.to)]
                .map(|(from, to)| Part { from, to, depth, is_near: false });
            let varies = halves.map(|half| self.varies(half));
            (halves[0].is_near, halves[1].is_near) = (varies[1], varies[0]);
            self.parts.extend(halves);
        }
        Sampling::Complete
    }

    fn varies(&self, part: Part) -> bool {
        let at = |place: usize| &self.within[place * self.count..(place + 1) * self.count];
        let pairs = at(part.from.1).iter().zip(at(part.to.1));
        pairs.fold(false, |varies, (a, b)| {
            // NOTE: where both are infinite, far from the feature, they differ by what is no number.
            let change = if a == b { 0.0 } else { (a - b).abs() };
            varies || change > QUIET || change.is_nan()
        })
    }
}
