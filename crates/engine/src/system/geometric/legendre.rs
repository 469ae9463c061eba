//! Velocities from momenta on the constraints.
//!
//! $$ \frac{\partial L}{\partial\dot q}(t, q, v) - W^\top\nu = p, \qquad \psi(t, q, v) = 0 \qquad (\mathrm P) $$
//!
//! by Newton's iteration; one step where $L$ is quadratic in the velocities and $\psi$ linear.

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError};
use pfaff_solver::{EvalError, Lu};

use super::iterate;
use super::tape::Tape;

/// The system (P).
#[derive(Clone, Debug)]
pub(super) struct Legendre {
    n: usize,
    m: usize,
    tape: Tape,
    matrix: Vec<f64>,
    step: Vec<f64>,
    lu: Lu,
}

impl Legendre {
    pub(super) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let (n, m) = (model.coordinates.len(), equations.residual.len());
        let symbol = |what: &str, k: usize| g.symbol(&format!("{what} {k}"), Role::Free);
        let p: Vec<Expr> = (0..n).map(|i| symbol("momentum", i)).collect();
        let ν: Vec<Expr> = (0..m).map(|a| symbol("push", a)).collect();
        let v = model.velocities();
        let functions: Vec<Expr> = g.merging(|| {
            let balance = (0..n).map(|i| {
                let pushed = ν.iter().zip(&equations.directions).map(|(&ν, w)| g.mul(ν, w[i]));
                g.sub(g.sub(equations.momenta[i], g.sum(pushed)), p[i])
            });
            balance.chain(equations.residual.iter().copied()).collect()
        });
        let mut inputs = vec![model.time];
        inputs.extend(model.positions());
        let unknowns: Vec<Expr> = v.iter().chain(&ν).copied().collect();
        inputs.extend(&unknowns);
        inputs.extend(&p);
        Ok(Self {
            n,
            m,
            tape: Tape::new(model, &inputs, &functions, n + m, &unknowns, backend)?,
            matrix: Vec::new(),
            step: vec![0.0; n + m],
            lu: Lu::new(n + m),
        })
    }

    /// Replaces the velocities, which are a guess, by those of the momenta.
    pub(super) fn solve(
        &mut self,
        t: f64,
        q: &[f64],
        p: &[f64],
        v: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, size) = (self.n, self.n + self.m);
        let inputs = &mut self.tape.inputs;
        inputs[0] = t;
        inputs[1..=n].copy_from_slice(q);
        inputs[n + 1..=2 * n].copy_from_slice(v);
        inputs[2 * n + 1..=n + size].fill(0.0);
        inputs[n + size + 1..].copy_from_slice(p);
        let Self { tape, matrix, step, lu, .. } = self;
        iterate(|| {
            tape.evaluate();
            tape.matrix(matrix);
            step.copy_from_slice(tape.values());
            if matrix.iter().chain(&*step).any(|x| !x.is_finite()) {
                return Err(EvalError::NotFinite);
            }
            lu.factor(size, matrix).map_err(|_| EvalError::Singular)?;
            lu.solve(step);
            let unknowns = &mut tape.inputs[n + 1..=n + size];
            unknowns.iter_mut().zip(&*step).for_each(|(x, δ)| *x -= δ);
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            // NOTE: pushes have other units, and vanish where the guess is right.
            Ok(largest(&step[..n]) / largest(&unknowns[..n]).max(f64::MIN_POSITIVE))
        })?;
        v.copy_from_slice(&self.tape.inputs[n + 1..=2 * n]);
        Ok(())
    }
}
