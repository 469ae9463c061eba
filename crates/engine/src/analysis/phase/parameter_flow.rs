//! A motion together with its derivative by a parameter, for integrators.
//!
//! $$ \dot y = f(t, y; p), \qquad \dot\delta = \frac{\partial f}{\partial y}\,\delta + \frac{\partial f}{\partial p}
//!    + \frac{T'}{T}\Bigl(f + (t - t_0)\frac{\partial f}{\partial t}\Bigr) \qquad (\mathrm D) $$
//!
//! The last term is there where the period $T(p)$ of what drives the motion is given: states are compared at the same
//! part of the period.

use pfaff_solver::{EvalError, OdeOptions, StopReason, System, integrate};

use crate::analysis::phase::field::{Field, ParameterSlopes};

/// (D) for a model.
pub(crate) struct ParameterFlow<'a> {
    pub(crate) field: &'a mut Field,
    pub(crate) slopes: &'a mut ParameterSlopes,
    /// $t_0$, $T$ and $T'$
    pub(crate) period: Option<(f64, f64, f64)>,
}

impl System for ParameterFlow<'_> {
    fn dimension(&self) -> usize {
        2 * self.field.size()
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        /// The step of a difference in time, in parts of the period: to 1e-10.
        const STEP: f64 = 1e-5;
        let d = self.field.size();
        let (state, along) = y.split_at(d);
        let point = self.field.at(t, state)?;
        let by = self.slopes.at(self.field, t, state)?;
        rates[..d].copy_from_slice(&point.rates);
        for (i, row) in point.jacobian.chunks_exact(d).enumerate() {
            let carried: f64 = row.iter().zip(along).map(|(a, x)| a * x).sum();
            rates[d + i] = carried + by.rates[i];
        }
        if let Some((t0, period, slope)) = self.period.filter(|(.., slope)| *slope != 0.0) {
            let δ = STEP * period;
            let later = self.field.rates(t + δ, state)?;
            let before = self.field.rates(t - δ, state)?;
            for i in 0..d {
                let by_time = (later[i] - before[i]) / (2.0 * δ);
                rates[d + i] += slope / period * (point.rates[i] + (t - t0) * by_time);
            }
        }
        Ok(())
    }
}

impl ParameterFlow<'_> {
    /// The derivative at the end of a motion from a state with its derivative.
    pub(crate) fn carried(
        &mut self,
        y: &[f64],
        along: &[f64],
        (t0, t1): (f64, f64),
    ) -> Option<Vec<f64>> {
        let options = OdeOptions { t0, t1, tolerance: 1e-10, ..OdeOptions::default() };
        let outcome = integrate(self, &[y, along].concat(), &options, &mut ());
        (outcome.stop == StopReason::End).then(|| outcome.y[y.len()..].to_vec())
    }
}
