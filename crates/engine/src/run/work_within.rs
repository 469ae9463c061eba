//! The work at an output within a step.
//!
//! The step control does not look at the work, so that its interpolant can be worse than that of the motion: a step
//! may be as long as the motion is a polynomial, whose power has twice the degree. Where energy and work come apart
//! from one output to the next by more than the tolerance, the power is integrated along the step instead.

use pfaff_solver::{DenseStep, System};

use crate::system::compiled::CompiledSystem;

/// The positive nodes of Gauss and Legendre with eight points on $[-1, 1]$, and their weights: exact up to degree 15.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// How far energy and work may come apart between two outputs, in tolerances of the largest of both.
const APART: f64 = 30.0;

/// Energy and work at the last output.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkWithin {
    /// $E - w$
    balance: Option<f64>,
    largest: f64,
    state: Vec<f64>,
    rates: Vec<f64>,
}

impl WorkWithin {
    /// An energy and the work until then.
    pub(crate) fn see(&mut self, energy: f64, work: f64) {
        self.largest = self.largest.max(energy.abs()).max(work.abs());
        self.balance = Some(energy - work);
    }

    /// Whether the work does not belong to the energy as it did at the last output.
    pub(crate) fn is_off(&self, energy: f64, work: f64, tolerance: f64) -> bool {
        let scale = self.largest.max(energy.abs()).max(work.abs());
        let limit = (APART * tolerance).max(64.0 * f64::EPSILON) * scale;
        self.balance.is_some_and(|balance| (energy - work - balance).abs() > limit)
    }

    /// The powers integrated from the start of a step; none where they have no value.
    pub(crate) fn integrate(
        &mut self,
        system: &mut CompiledSystem,
        step: &DenseStep<'_>,
        t: f64,
    ) -> Option<[f64; 2]> {
        let Self { state, rates, .. } = self;
        state.resize(system.dimension(), 0.0);
        rates.resize(system.dimension(), 0.0);
        step.state(step.start(), state);
        let mut work = system.work(state)?;
        let (middle, half) = (0.5 * (step.start() + t), 0.5 * (t - step.start()));
        for (node, weight) in GAUSS.iter().flat_map(|&(x, w)| [(-x, w), (x, w)]) {
            let at = middle + half * node;
            step.state(at, state);
            system.rates(at, state, rates).ok()?;
            let powers = system.work(rates)?;
            for (work, power) in work.iter_mut().zip(powers) {
                *work += weight * half * power;
            }
        }
        work.iter().all(|w| w.is_finite()).then_some(work)
    }
}
