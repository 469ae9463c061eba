//! Gauss's collocation of order 4 for Hamilton's equations, written in positions and velocities.
//!
//! $$ Q_i = q_0 + h\sum_j a_{ij} V_j, \qquad
//!    \frac{\partial L}{\partial\dot q}(Q_i, V_i) = p_0 + h\sum_j a_{ij} F(Q_j, V_j), \qquad
//!    F = \frac{\partial L}{\partial q} + Q \qquad (\mathrm G) $$
//!
//! with $p = \partial L/\partial\dot q$: the method of Gauss applied to $(q, p)$, which is symplectic whatever the mass
//! matrix (Hairer, Lubich and Wanner 2006, §VI.4 and §VI.6.3).

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError};
use pfaff_solver::{EvalError, Lu};

use super::dalembert::applied;
use super::iterate;
use super::legendre::Legendre;
use super::tape::Tape;

const STAGES: usize = 2;
/// $\sqrt3/6$
const ROOT: f64 = 0.288_675_134_594_812_9;
const A: [[f64; STAGES]; STAGES] = [[0.25, 0.25 - ROOT], [0.25 + ROOT, 0.25]];
const NODES: [f64; STAGES] = [0.5 - ROOT, 0.5 + ROOT];

/// The compiled method.
#[derive(Clone, Debug)]
pub(crate) struct Gauss {
    n: usize,
    /// $p$ and $F$ with their slopes by $q$ and $\dot q$.
    tape: Tape,
    legendre: Legendre,
    /// $V$, stage by stage.
    stages: Vec<f64>,
    /// Momenta, forces and their slopes, stage by stage.
    values: Vec<f64>,
    slopes: [Vec<f64>; STAGES],
    start: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    lu: Lu,
}

impl Gauss {
    pub(super) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let n = model.coordinates.len();
        let functions = [equations.momenta.clone(), applied(model)].concat();
        let state: Vec<Expr> =
            model.positions().into_iter().chain(model.velocities()).collect();
        let inputs: Vec<Expr> = [model.time].into_iter().chain(state.iter().copied()).collect();
        Ok(Self {
            n,
            tape: Tape::new(model, &inputs, &functions, 2 * n, &state, backend)?,
            legendre: Legendre::new(model, equations, backend)?,
            stages: vec![0.0; STAGES * n],
            values: vec![0.0; STAGES * 2 * n],
            slopes: [Vec::new(), Vec::new()],
            start: vec![0.0; n],
            matrix: vec![0.0; STAGES * n * STAGES * n],
            right: vec![0.0; STAGES * n],
            lu: Lu::new(STAGES * n),
        })
    }

    fn evaluate(&mut self, i: usize, t: f64, h: f64, q: &[f64]) {
        let n = self.n;
        let inputs = &mut self.tape.inputs;
        inputs[0] = t + NODES[i] * h;
        for k in 0..n {
            let moved: f64 = (0..STAGES).map(|j| A[i][j] * self.stages[j * n + k]).sum();
            inputs[1 + k] = q[k] + h * moved;
            inputs[1 + n + k] = self.stages[i * n + k];
        }
        self.tape.evaluate();
        self.values[i * 2 * n..(i + 1) * 2 * n].copy_from_slice(self.tape.values());
        self.tape.matrix(&mut self.slopes[i]);
    }

    /// The Newton matrix of (G) and its right side.
    fn assemble(&mut self, h: f64) {
        let (n, size) = (self.n, STAGES * self.n);
        for i in 0..STAGES {
            for k in 0..n {
                let mut right = self.values[i * 2 * n + k] - self.start[k];
                for (j, a) in A[i].iter().enumerate() {
                    right -= h * a * self.values[j * 2 * n + n + k];
                }
                self.right[i * n + k] = right;
                for l in 0..STAGES {
                    for c in 0..n {
                        // ∂/∂V_l of p(Q_i, V_i) − h Σ_j a_ij F(Q_j, V_j)
                        let at = |stage: usize, row: usize, column: usize| {
                            self.slopes[stage][row * 2 * n + column]
                        };
                        let mut x = h * A[i][l] * at(i, k, c);
                        if i == l {
                            x += at(i, k, n + c);
                        }
                        x -= h * A[i][l] * at(l, n + k, n + c);
                        for j in 0..STAGES {
                            x -= h * A[i][j] * h * A[j][l] * at(j, n + k, c);
                        }
                        self.matrix[(i * n + k) * size + l * n + c] = x;
                    }
                }
            }
        }
    }

    /// A step of length `h` from positions and velocities.
    pub(crate) fn step(
        &mut self,
        t: f64,
        h: f64,
        y: &[f64],
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, size) = (self.n, STAGES * self.n);
        let (q, v) = (&y[..n], &y[n..2 * n]);
        let inputs = &mut self.tape.inputs;
        inputs[0] = t;
        inputs[1..].copy_from_slice(&y[..2 * n]);
        self.tape.evaluate();
        self.start.copy_from_slice(&self.tape.values()[..n]);
        self.stages.chunks_exact_mut(n).for_each(|stage| stage.copy_from_slice(v));
        iterate(|| {
            (0..STAGES).for_each(|i| self.evaluate(i, t, h, q));
            self.assemble(h);
            if self.matrix.iter().chain(&self.right).any(|x| !x.is_finite()) {
                return Err(EvalError::NotFinite);
            }
            self.lu.factor(size, &self.matrix).map_err(|_| EvalError::Singular)?;
            self.lu.solve(&mut self.right);
            self.stages.iter_mut().zip(&self.right).for_each(|(x, δ)| *x -= δ);
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            Ok(largest(&self.right) / largest(&self.stages).max(f64::MIN_POSITIVE))
        })?;
        (0..STAGES).for_each(|i| self.evaluate(i, t, h, q));
        for k in 0..n {
            let stages = |offset: usize, width: usize, list: &[f64]| -> f64 {
                (0..STAGES).map(|i| list[i * width + offset]).sum()
            };
            end[k] = q[k] + 0.5 * h * stages(k, n, &self.stages);
            self.start[k] += 0.5 * h * stages(n + k, 2 * n, &self.values);
        }
        let (q1, rest) = end.split_at_mut(n);
        self.legendre.solve(t + h, q1, &self.start, &mut rest[..n])
    }
}
