//! Steps of fixed length that a system carries out itself, as geometric methods of mechanics do.
//!
//! The system writes the controlled components of the end. Quadratures that are carried along follow by the trapezoidal
//! rule. Dense output is the cubic Hermite polynomial of both ends.

use crate::ode::runge_kutta::ExplicitMethod;
use crate::ode::stepper::Base;
use crate::ode::system::{Counted, EvalError};

/// The method of the system.
pub(crate) struct OwnSteps {
    /// How many components the system writes.
    controlled: usize,
    rates: Vec<f64>,
}

impl OwnSteps {
    pub(crate) fn new(n: usize, controlled: usize) -> Self {
        Self { controlled, rates: vec![0.0; n] }
    }
}

impl ExplicitMethod for OwnSteps {
    const CONTROLLED: bool = false;

    fn advance(
        &mut self,
        system: &mut Counted<'_>,
        from: &Base<'_>,
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let &Base { t, h, y, f } = from;
        end.copy_from_slice(y);
        let steps = system.system.own_steps().ok_or(EvalError::NotFinite)?;
        steps.step(t, h, y, end)?;
        if self.controlled < y.len() {
            end[self.controlled..].copy_from_slice(&y[self.controlled..]);
            system.rates(t + h, end, &mut self.rates)?;
            for i in self.controlled..y.len() {
                end[i] = y[i] + 0.5 * h * (f[i] + self.rates[i]);
            }
        }
        Ok(())
    }
}
