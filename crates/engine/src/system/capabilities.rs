//! What compiled systems offer to single methods: whole steps in machine code, Taylor series, exact Jacobians and
//! geometric methods.

use pfaff_solver::{
    Block, EvalError, ExplicitSteps, Jacobian, OwnSteps, RungeKuttaStep, SparseJacobian,
    TaylorSeries,
};

use crate::system::compiled::{Compiled, CompiledSystem};
use crate::system::explicit_steps;
use crate::system::geometric::{Flow, Geometric};
use crate::system::jacobian::{DescriptorJacobian, ModelJacobian};
use crate::system::kkt::Kkt;
use crate::system::ordinary::spread;

impl ExplicitSteps for CompiledSystem {
    fn step(&mut self, step: &mut RungeKuttaStep<'_>) -> bool {
        self.machine_code(step).is_some_and(|rates| explicit_steps::step(rates, step))
    }

    fn dense_output(&mut self, step: &mut RungeKuttaStep<'_>, dense: &mut [Block]) -> bool {
        self.machine_code(step)
            .is_some_and(|rates| explicit_steps::dense_output(rates, step, dense))
    }
}

impl TaylorSeries for CompiledSystem {
    fn coefficients(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), EvalError> {
        if let Some(flow) = &mut self.tangents {
            return flow.coefficients(at, rows);
        }
        match (&mut self.dynamics, &mut self.series) {
            (Compiled::Reduced(reduced), _) => reduced.coefficients(at, rows),
            (_, Some(series)) => series.evaluate(at, rows),
            (_, None) => Err(EvalError::NotFinite),
        }
    }

    fn is_algebraic(&self) -> bool {
        self.features.is_algebraic
    }
}

impl CompiledSystem {
    /// The slopes of rates and equations at a state, evaluated, and the multipliers of constraints that repeat others.
    fn slopes(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<(&mut DescriptorJacobian, Vec<usize>), EvalError> {
        let n = self.n;
        if self.descriptor.is_none() {
            let compiled = self.jacobian.as_ref().and_then(ModelJacobian::compiled);
            self.descriptor = compiled.map(Box::new);
        }
        let mut held = Vec::new();
        let (descriptor, unknowns) = match (&mut self.dynamics, &mut self.descriptor) {
            (Compiled::Reduced(reduced), _) => return Ok((reduced.descriptor(t, y)?, held)),
            (Compiled::Saddle(kkt), Some(descriptor)) => {
                let last = 2 * n + kkt.carried;
                kkt.evaluate(t, &y[..n], &y[n..2 * n], &y[2 * n..last]);
                kkt.solve()?;
                let first = n + 2 * kkt.extra;
                held.extend(kkt.repeated().into_iter().map(|a| first + a));
                (descriptor, kkt.solution())
            }
            (Compiled::Ordinary(ordinary), Some(descriptor)) => {
                let mut v = vec![0.0; n];
                spread(&ordinary.orders, &y[n..], &mut v);
                ordinary.solve(t, &y[..n], &v)?;
                (descriptor, &*ordinary.unknowns)
            }
            (Compiled::Saddle(_) | Compiled::Ordinary(_), None) => {
                return Err(EvalError::NotFinite);
            }
        };
        descriptor.evaluate(t, y, unknowns)?;
        Ok((descriptor, held))
    }
}

impl Jacobian for CompiledSystem {
    fn jacobian(&mut self, t: f64, y: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        let (slopes, held) = self.slopes(t, y)?;
        slopes.factor(&held)?;
        slopes.write(y.len(), matrix);
        Ok(())
    }

    fn time_slope(&mut self, t: f64, y: &[f64], slope: &mut [f64]) -> Result<bool, EvalError> {
        let (slopes, held) = self.slopes(t, y)?;
        slopes.factor(&held)?;
        slopes.write_time_slope(slope);
        Ok(true)
    }

    fn sparse(&mut self, t: f64, y: &[f64]) -> Result<Option<SparseJacobian<'_>>, EvalError> {
        let (slopes, held) = self.slopes(t, y)?;
        Ok(if held.is_empty() { slopes.sparse(y.len()) } else { None })
    }
}

impl Flow for Kkt {
    fn flow(&mut self, t: f64, z: &[f64], rates: &mut [f64]) -> Result<f64, EvalError> {
        let n = self.n;
        let (q, v) = z.split_at(n);
        self.evaluate(t, q, v, &[]);
        self.solve()?;
        rates[..n].copy_from_slice(v);
        rates[n..].copy_from_slice(self.acceleration());
        Ok(self.power(v))
    }

    fn masses(&mut self) -> &[f64] {
        self.mass_diagonal()
    }
}

impl OwnSteps for CompiledSystem {
    fn step(&mut self, t: f64, h: f64, y: &[f64], end: &mut [f64]) -> Result<(), EvalError> {
        let Compiled::Saddle(kkt) = &mut self.dynamics else {
            return Err(EvalError::NotFinite);
        };
        match &mut self.geometric {
            Some(Geometric::Dalembert(method)) => method.step(t, h, y, end),
            Some(Geometric::Gauss(method)) => method.step(t, h, y, end),
            Some(Geometric::Composed(method)) => method.step(t, h, y, end),
            Some(Geometric::Energy(method)) => method.step(&mut **kkt, (t, h), y, end),
            None => Err(EvalError::NotFinite),
        }
    }
}
