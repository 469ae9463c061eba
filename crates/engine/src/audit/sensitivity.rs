//! What an error in the state is worth in energy.
//!
//! $$ \sum_i \left|\frac{\partial E}{\partial y_i}\right|\,(|y_i| + \max|y_i|), \qquad y = (q, \dot q), $$
//!
//! times the tolerance, is what one step may add to the energy.

use pfaff_expr::Expr;
use pfaff_model::Workspace;

use crate::audit::laid::{Gradient, Laid};
use crate::motion::sample::LANES;
use crate::motion::sample::Sample;

/// Samples that are looked at, at most, and dual-number operations that they may cost.
const MOST: usize = 32;
const BUDGET: usize = 1_000_000;

/// An energy, or another quantity, ready to be differentiated.
pub(crate) struct Sensitivity {
    laid: Option<Laid>,
    slopes: Gradient,
}

impl Sensitivity {
    /// Without an energy every error is worth nothing.
    pub(crate) fn new(model: &Workspace, energy: Option<Expr>) -> Self {
        Self {
            laid: energy.map(|e| Laid::new(model, &[e], 1)),
            slopes: Gradient::new(model.coordinates.len()),
        }
    }

    /// Samples that may be looked at.
    pub(crate) fn affordable(&self) -> usize {
        let cost = self.laid.as_ref().map_or(1, Laid::cost);
        (BUDGET / cost.max(1)).clamp(LANES / 2, MOST)
    }

    /// The largest worth of a unit of tolerance at some instants; zero where it has no value.
    pub(crate) fn at(&mut self, instants: impl Iterator<Item = Sample>) -> f64 {
        let Self { laid: Some(laid), slopes } = self else { return 0.0 };
        let instants: Vec<Sample> = instants.collect();
        let mut largest = 0.0;
        let mut most = vec![0.0_f64; slopes.q.len() + slopes.v.len()];
        for sample in &instants {
            let state = sample.q.iter().chain(&sample.v);
            most.iter_mut().zip(state).for_each(|(most, y)| *most = most.max(y.abs()));
        }
        for part in instants.chunks(LANES) {
            slopes.clear();
            let value = laid.evaluate(part);
            laid.sweep(0, [1.0; LANES], slopes);
            for (l, sample) in part.iter().enumerate() {
                let state = sample.q.iter().chain(&sample.v);
                let slopes = slopes.q.iter().chain(&slopes.v);
                let worth: f64 = slopes
                    .zip(state.zip(&most))
                    .map(|(s, (y, most))| s.x[l].abs() * (y.abs() + most))
                    .sum();
                // NOTE: what contains multipliers has no value here.
                if value[l].is_finite() && worth.is_finite() && worth > largest {
                    largest = worth;
                }
            }
        }
        largest
    }
}
