//! The classical Runge–Kutta method of order four with a fixed step.
//!
//! $$ y_1 = y_0 + \tfrac h6 (k_1 + 2 k_2 + 2 k_3 + k_4) \qquad (\mathrm{RK4}) $$
//!
//! Dense output is the cubic Hermite polynomial through both ends, whose error is of order
//! four as well. There is no error estimate.

use crate::ode::runge_kutta::ExplicitMethod;
use crate::ode::stepper::Base;
use crate::ode::system::{Counted, EvalError};

/// Storage of (RK4).
pub(crate) struct Rk4 {
    stage: Vec<f64>,
    k: Vec<f64>,
}

impl Rk4 {
    pub(crate) fn new(n: usize) -> Self {
        Self { stage: vec![0.0; n], k: vec![0.0; n] }
    }
}

impl ExplicitMethod for Rk4 {
    const CONTROLLED: bool = false;

    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let &Base { t, h, y, f } = from;
        self.k.copy_from_slice(f);
        // `end` gathers k₁ + 2k₂ + 2k₃ + k₄.
        end.copy_from_slice(f);
        for (node, weight) in [(0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            for ((stage, y), k) in self.stage.iter_mut().zip(y).zip(&self.k) {
                *stage = y + node * h * k;
            }
            system.rates(t + node * h, &self.stage, &mut self.k)?;
            for (end, k) in end.iter_mut().zip(&self.k) {
                *end += weight * k;
            }
        }
        for (end, y) in end.iter_mut().zip(y) {
            *end = y + h / 6.0 * *end;
        }
        Ok(())
    }
}
