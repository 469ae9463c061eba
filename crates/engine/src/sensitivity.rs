//! What an error in the state is worth in energy.
//!
//! $$ \sum_i \left|\frac{\partial E}{\partial y_i}\right|\,(1 + |y_i|), \qquad y = (q, \dot q), $$
//!
//! times the tolerance, is what one step may add to the energy.

use pfaff_expr::Expr;
use pfaff_model::Model;

use crate::instant::Instant;
use crate::witness::{Gradient, Laid};

/// An energy, or another quantity, ready to be differentiated.
pub(crate) struct Sensitivity {
    laid: Option<Laid>,
    slopes: Gradient,
}

impl Sensitivity {
    /// Without an energy every error is worth nothing.
    pub(crate) fn new(model: &Model, energy: Option<Expr>) -> Self {
        Self {
            laid: energy.map(|e| Laid::new(model, &[e])),
            slopes: Gradient::new(model.coordinates.len()),
        }
    }

    /// The worth of a unit of tolerance at an instant; zero where it has no value.
    pub(crate) fn at(&mut self, instant: &Instant) -> f64 {
        let Self { laid: Some(laid), slopes } = self else { return 0.0 };
        slopes.clear();
        // NOTE: what contains multipliers has no value here.
        if !laid.evaluate(instant).is_finite() {
            return 0.0;
        }
        laid.sweep(0, 1.0, slopes);
        let state = instant.q.iter().chain(&instant.v);
        let worth: f64 = slopes
            .q
            .iter()
            .chain(&slopes.v)
            .zip(state)
            .map(|(s, y)| s.x.abs() * (1.0 + y.abs()))
            .sum();
        if worth.is_finite() { worth } else { 0.0 }
    }
}
