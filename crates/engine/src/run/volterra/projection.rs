//! Positions on the holonomic constraints.
//!
//! The integrals $z$ of the accelerations drift from $\varphi(q, t) = 0$ by the error of integration, since
//! collocation imposes $d\varphi/dt = 0$. Everything is
//! evaluated at the projected positions instead,
//!
//! $$ q = z + A^\top\eta, \qquad \varphi(q, t) = 0, \qquad A = \partial\varphi/\partial q, \qquad (\mathrm J) $$
//!
//! so that both levels hold at every node and output. Memory is that of $z$, which differs by the drift.
//! Derivatives are taken through $\partial q/\partial z = 1 - A^\top(AA^\top)^{-1}A$, exact up to terms of
//! the size of $\eta$.

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_program::{CompileError, Interpreter, Program};
use pfaff_solver::{Advance, EvalError, Lu, NewtonProblem, NewtonRule, Stall, newton};

use crate::run::volterra::volterra_equations::VolterraEquations;

/// Newton's iteration starts within the error of a step: a few turns are enough.
const ITERATIONS: usize = 12;

/// (J), compiled; nothing where there is no holonomic constraint.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    /// Where the positions stand among the operands.
    places: Vec<usize>,
    /// $\varphi$ and $A$.
    run: Option<Interpreter>,
    rows: usize,
    inputs: Vec<f64>,
    values: Vec<f64>,
    /// $AA^\top$
    gram: Vec<f64>,
    η: Vec<f64>,
    lu: Lu,
}

/// Rounding: nothing moves, or no less than before.
const RULE: NewtonRule = NewtonRule {
    steps: ITERATIONS,
    converged: 1e-16,
    stall: Some(Stall { below: 1e-13, ratio: 0.3, after: 0 }),
    ..NewtonRule::DEFAULT
};

impl NewtonProblem for Projection {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let (Some(run), m, n) = (&mut self.run, self.rows, self.places.len()) else {
            return Ok(0.0);
        };
        run.evaluate(&self.inputs, &mut self.values);
        let (residual, rows) = self.values.split_at(m);
        let row = |a: usize| &rows[a * n..(a + 1) * n];
        for a in 0..m {
            for b in 0..m {
                self.gram[a * m + b] = row(a).iter().zip(row(b)).map(|(x, y)| x * y).sum();
            }
        }
        if self.gram.iter().chain(residual).any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        self.lu.factor(m, &self.gram).map_err(|_| EvalError::Singular)?;
        self.η.copy_from_slice(residual);
        self.lu.solve(&mut self.η);
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let (m, n) = (self.rows, self.places.len());
        let rows = &self.values[m..];
        let mut moved = 0.0_f64;
        for (k, q) in self.inputs[1..].iter_mut().enumerate() {
            let change: f64 = (0..m).map(|a| rows[a * n + k] * self.η[a]).sum();
            *q -= change;
            moved = moved.max(change.abs() / (1.0 + q.abs()));
        }
        Ok(Advance::Taken(moved))
    }
}

impl Projection {
    pub(crate) fn new(
        model: &Workspace,
        plan: &VolterraEquations,
    ) -> Result<Self, CompileError> {
        let positions = model.positions();
        let rows = plan.holonomic.len();
        let mut projection = Self {
            places: Vec::new(),
            run: None,
            rows,
            inputs: vec![0.0; positions.len() + 1],
            values: vec![0.0; rows * (positions.len() + 1)],
            gram: vec![0.0; rows * rows],
            η: vec![0.0; rows],
            lu: Lu::new(rows),
        };
        if rows == 0 {
            return Ok(projection);
        }
        let place = |q: &Expr| plan.symbols.iter().position(|s| s == q);
        projection.places = positions.iter().filter_map(place).collect();
        let inputs: Vec<Expr> = [model.time].into_iter().chain(positions).collect();
        let mut outputs: Vec<Expr> = plan.holonomic.iter().map(|c| c.0).collect();
        outputs.extend(plan.holonomic.iter().flat_map(|c| &c.1));
        let symbols = model.parameter_symbols();
        let program = Program::compile(&model.graph, &inputs, &symbols, &outputs)?;
        projection.run = Some(program.interpreter(&model.parameter_values()));
        Ok(projection)
    }

    /// Puts the positions among the operands `z` onto the constraints.
    pub(crate) fn apply(&mut self, t: f64, z: &mut [f64]) -> Result<(), EvalError> {
        if self.run.is_none() {
            return Ok(());
        }
        self.inputs[0] = t;
        for (q, &p) in self.inputs[1..].iter_mut().zip(&self.places) {
            *q = z[p];
        }
        if !newton(self, &RULE)?.converged {
            return Err(EvalError::Singular);
        }
        for (q, &p) in self.inputs[1..].iter().zip(&self.places) {
            z[p] = *q;
        }
        Ok(())
    }

    /// Carries derivatives by positions, in rows of the given width, to derivatives by the integrals: $F_z =
    /// F_q(1 - A^\top(AA^\top)^{-1}A)$ where [`Projection::apply`] was last.
    pub(crate) fn carry(&self, derivatives: &mut [f64], width: usize) {
        if self.run.is_none() {
            return;
        }
        let (m, n) = (self.rows, self.places.len());
        let row = |a: usize| &self.values[m + a * n..m + (a + 1) * n];
        for by_z in derivatives.chunks_exact_mut(width) {
            let of =
                |a: usize| row(a).iter().zip(&self.places).map(|(x, &p)| x * by_z[p]).sum();
            let mut η: Vec<f64> = (0..m).map(of).collect();
            self.lu.solve(&mut η);
            for (k, &p) in self.places.iter().enumerate() {
                by_z[p] -= (0..m).map(|a| row(a)[k] * η[a]).sum::<f64>();
            }
        }
    }
}
