//! The discrete Lagrange–d'Alembert principle with the midpoint rule.
//!
//! With $\bar q = \tfrac12(q_0 + q_1)$, $\bar v = (q_1 - q_0)/h$ and $F = \partial L/\partial q + Q$ at
//! $(\bar t, \bar q, \bar v)$
//!
//! $$ p_0 + \tfrac h2 F + W(q_0)^\top\lambda = \frac{\partial L}{\partial\dot q}(\bar t, \bar q, \bar v), \qquad
//!    \varphi(t_1, q_1) = 0 \;\text{ or }\; \psi(\bar t, \bar q, \bar v) = 0, \qquad
//!    p_1 = \frac{\partial L}{\partial\dot q} + \tfrac h2 F $$
//!
//! \[CM01, §3\], with the position level of holonomic constraints and the velocity level of the others. The
//! velocities at the end follow from $p_1$ on the constraints (`legendre.rs`): only $p_1$ up to reactions matters for
//! the next step.

use pfaff_expr::{Expr, Role};
use pfaff_mechanics::Equations;
use pfaff_model::{Dynamics, Workspace};
use pfaff_program::{Backend, CompileError};
use pfaff_solver::{EvalError, Lu};

use super::iterate;
use super::legendre::Legendre;
use super::tape::Tape;

/// The compiled method.
#[derive(Clone, Debug)]
pub(crate) struct Dalembert {
    n: usize,
    m: usize,
    /// Residual of the step, then $p_1$; over $t_0$, $h$, $q_0$, $v_0$, $q_1$, $\lambda$.
    tape: Tape,
    legendre: Legendre,
    matrix: Vec<f64>,
    step: Vec<f64>,
    lu: Lu,
    momenta: Vec<f64>,
}

impl Dalembert {
    pub(super) fn new(
        model: &Workspace,
        equations: &Equations,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let (n, m) = (model.coordinates.len(), equations.residual.len());
        let symbol = |what: &str, k: usize| g.symbol(&format!("{what} {k}"), Role::Free);
        let q1: Vec<Expr> = (0..n).map(|i| symbol("next position", i)).collect();
        let λ: Vec<Expr> = (0..m).map(|a| symbol("discrete multiplier", a)).collect();
        let h = symbol("step", 0);
        let (t, q, v) = (model.time, model.positions(), model.velocities());
        let half = g.fraction(1, 2);
        let force = applied(model);
        let functions = g.merging(|| {
            let mut middle = vec![(t, g.add(t, g.mul(half, h)))];
            for i in 0..n {
                middle.push((q[i], g.mul(half, g.add(q[i], q1[i]))));
                middle.push((v[i], g.div(g.sub(q1[i], q[i]), h)));
            }
            let mut end = vec![(t, g.add(t, h))];
            end.extend(q.iter().copied().zip(q1.iter().copied()));
            let kicks: Vec<Expr> = g
                .substitute(&force, &middle)
                .into_iter()
                .map(|f| g.mul(g.mul(half, h), f))
                .collect();
            let swing = g.substitute(&equations.momenta, &middle);
            let mut functions: Vec<Expr> = (0..n)
                .map(|i| {
                    let pushed = λ.iter().zip(&equations.directions);
                    let reaction = g.sum(pushed.map(|(&λ, w)| g.mul(λ, w[i])));
                    let start = g.add(equations.momenta[i], g.add(kicks[i], reaction));
                    g.sub(start, swing[i])
                })
                .collect();
            for (position, &ψ) in equations.position.iter().zip(&equations.residual) {
                functions.push(match position {
                    Some(φ) => g.substitute(&[*φ], &end)[0],
                    None => g.substitute(&[ψ], &middle)[0],
                });
            }
            functions.extend((0..n).map(|i| g.add(swing[i], kicks[i])));
            functions
        });
        let mut inputs = vec![t, h];
        inputs.extend(q.iter().chain(&v).chain(&q1).chain(&λ));
        let unknowns: Vec<Expr> = q1.iter().chain(&λ).copied().collect();
        Ok(Self {
            n,
            m,
            tape: Tape::new(model, &inputs, &functions, n + m, &unknowns, backend)?,
            legendre: Legendre::new(model, equations, backend)?,
            matrix: Vec::new(),
            step: vec![0.0; n + m],
            lu: Lu::new(n + m),
            momenta: vec![0.0; n],
        })
    }

    /// A step of length `h` from positions and velocities.
    pub(crate) fn step(
        &mut self,
        t: f64,
        h: f64,
        y: &[f64],
        end: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, size) = (self.n, self.n + self.m);
        let (q, v) = (&y[..n], &y[n..2 * n]);
        let inputs = &mut self.tape.inputs;
        inputs[0] = t;
        inputs[1] = h;
        inputs[2..2 + n].copy_from_slice(q);
        inputs[2 + n..2 + 2 * n].copy_from_slice(v);
        let first = 2 + 2 * n;
        for i in 0..n {
            inputs[first + i] = q[i] + h * v[i];
        }
        // NOTE: the multipliers of the step before are a good guess.
        let speed = v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let Self { tape, matrix, step, lu, .. } = self;
        iterate(|| {
            tape.evaluate();
            tape.matrix(matrix);
            step.copy_from_slice(&tape.values()[..size]);
            if matrix.iter().chain(&*step).any(|x| !x.is_finite()) {
                return Err(EvalError::NotFinite);
            }
            lu.factor(size, matrix).map_err(|_| EvalError::Singular)?;
            lu.solve(step);
            let unknowns = &mut tape.inputs[first..first + size];
            unknowns.iter_mut().zip(&*step).for_each(|(x, δ)| *x -= δ);
            let largest = |x: &[f64]| x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let scale = largest(&unknowns[..n]).max(h.abs() * speed);
            Ok(largest(&step[..n]) / scale.max(f64::MIN_POSITIVE))
        })?;
        self.tape.evaluate();
        self.momenta.copy_from_slice(&self.tape.values()[size..]);
        end[..n].copy_from_slice(&self.tape.inputs[first..first + n]);
        for i in 0..n {
            end[n + i] = 2.0 * (end[i] - q[i]) / h - v[i];
        }
        let (q1, rest) = end.split_at_mut(n);
        self.legendre.solve(t + h, q1, &self.momenta, &mut rest[..n])
    }
}

/// $\partial L/\partial q + Q$
pub(super) fn applied(model: &Workspace) -> Vec<Expr> {
    let g = &model.graph;
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
        unreachable!("geometric methods are for Lagrangian models");
    };
    g.merging(|| {
        let slopes = g.gradient(lagrangian, &model.positions());
        slopes
            .into_iter()
            .enumerate()
            .map(|(i, slope)| g.add(slope, g.sum(model.forces.iter().map(|f| f.components[i]))))
            .collect()
    })
}
