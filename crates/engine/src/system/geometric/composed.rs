//! A symplectic method of order 4 on holonomic constraints: five steps of RATTLE, symmetrically composed.
//!
//! $$ \Phi_h = \phi_{sh}\circ\phi_{sh}\circ\phi_{(1-4s)h}\circ\phi_{sh}\circ\phi_{sh}, \qquad
//!    s = \frac{1}{4 - 4^{1/3}} $$
//!
//! (Suzuki 1990; Hairer, Lubich and Wanner 2006, §II.4 and §VII.1). Each step is symmetric and symplectic and ends on
//! the constraints at both levels, and so does the composition.

use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError};
use pfaff_solver::EvalError;

use super::dalembert::Dalembert;

/// $1/(4 - 4^{1/3})$
const SHARE: f64 = 0.414_490_771_794_375_7;
const SHARES: [f64; 5] = [SHARE, SHARE, 1.0 - 4.0 * SHARE, SHARE, SHARE];

/// The compiled method.
#[derive(Clone, Debug)]
pub(crate) struct Composed {
    step: Dalembert,
    state: Vec<f64>,
    next: Vec<f64>,
}

impl Composed {
    pub(super) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let n = model.coordinates.len();
        let step = Dalembert::new(model, equations, backend)?;
        Ok(Self { step, state: vec![0.0; 2 * n], next: vec![0.0; 2 * n] })
    }

    /// A step of length `h` from positions and velocities.
    pub(crate) fn step(
        &mut self,
        t: f64,
        h: f64,
        y: &[f64],
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let size = self.state.len();
        self.state.copy_from_slice(&y[..size]);
        let mut part = 0.0;
        for share in SHARES {
            self.step.step(t + part * h, share * h, &self.state, &mut self.next)?;
            self.state.copy_from_slice(&self.next);
            part += share;
        }
        end[..size].copy_from_slice(&self.state);
        Ok(())
    }
}
