//! The canonical equations of a model with constraints, as a boundary value problem.
//!
//! $$ p = \mathcal L_{\dot q}, \quad \psi(t, q, \dot q) = 0 \qquad (\mathrm{LT}) \qquad\qquad
//!    q' = T\,\dot q, \quad p' = T\,(\mathcal L_q + Q) \qquad (\mathrm{CE}) $$
//!
//! with $\mathcal L = L - \mu\cdot\psi$ and $t = t_0 + sT$. At a state $(q, p)$ the velocities and
//! multipliers follow from (LT), one linear solve where $L$ is quadratic and ψ affine in $\dot q$,
//! else Newton's iteration from the last solution. In these variables no constraint is left to satisfy, a
//! coordinate that is free at an end has $p = 0$ there, and the equations stay regular
//! where only $\mathcal L_{\dot q\dot q}$ on the admissible velocities is. Derivatives come from
//! differentiating (LT) implicitly, with second derivatives of $\mathcal L$ from the graph.
//!
//! **State.** $(q, p, c, T)$: $c$ are the forces of holonomic constraints at the end, where something is free
//! there, and $T$ the duration where it is free; both have zero rates.
//!
//! **Units.** All numbers here, conditions and times among them, are in the [`Units`] of the problem.

mod end_values;
mod lagrangian;
pub(crate) mod parameters;

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::{Dynamics, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{
    Advance, BoundaryProblem, EvalError, Lu, NewtonProblem, NewtonReport, NewtonRule, Stall,
    least_squares, newton,
};

use crate::run::bvp::conditions::Conditions;
use crate::run::bvp::search_budget::TimeLimit;
use crate::run::bvp::units::{UnitSymbols, Units};
use crate::system::saddle_point::write_matrix;

/// (CE) with its conditions.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    pub(crate) n: usize,
    pub(crate) m: usize,
    pub(crate) conditions: Conditions,
    pub(crate) units: Units,
    /// $\mathcal L_{\dot q}$, ψ, $\mathcal L_{\dot q\dot q}$, A at $(t, q, \dot q, \mu)$
    legendre: Executor,
    /// $\mathcal L_q + Q$, $\mathcal L_q$, $\mathcal L_t$, $L$
    push: Executor,
    /// $\mathcal L_{\dot q q}$, $\psi_q$, derivatives of $\mathcal L_q + Q$ by q, $\dot q$, μ; and of all these by t
    bend: Executor,
    /// φ, $\partial\varphi/\partial q$ and $\partial^2\varphi/\partial q^2$ of the holonomic constraints at $(t, q)$
    surface: Executor,
    /// The final values and their derivatives at t.
    data: Executor,
    /// Whether one solve is exact.
    linear: bool,
    /// Whether there are no forces besides those of the Lagrangian.
    conservative: bool,
    /// Where Newton's iteration for (LT) begins at $s = 0$.
    pub(crate) branch: Vec<f64>,
    /// When a search ends: from then on nothing has a value.
    pub(crate) limit: Option<TimeLimit>,
    solve: Solve,
}

/// What (LT) consists of at a state, by rows.
pub(crate) struct LegendreForm {
    pub(crate) momenta: Vec<f64>,
    pub(crate) mass: Vec<f64>,
    /// $A$
    pub(crate) rows: Vec<f64>,
}

/// The solution of (LT) at a state, with what was computed for it.
#[derive(Clone, Debug, Default)]
struct Solve {
    /// $t, q, \dot q, \mu$
    inputs: Vec<f64>,
    legendre: Vec<f64>,
    push: Vec<f64>,
    bend: Vec<f64>,
    lu: Lu,
    matrix: Vec<f64>,
    /// Whether the matrix is singular, so that repeated constraints share their multipliers.
    degenerate: bool,
    right: Vec<f64>,
    /// $\partial(\dot q, \mu)/\partial(q, p)$ and, last, by t; one column after another
    slopes: Vec<f64>,
}

impl Canonical {
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        mut conditions: Conditions,
        units: Units,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
            unreachable!("equations come from a Lagrangian")
        };
        let (q, v, μ) = (model.positions(), model.velocities(), model.results.mu.clone());
        let (n, m) = (q.len(), μ.len());
        let symbols = units.symbols(g);
        let (legendre, push, bend, linear) = g.merging(|| {
            let Scaled { lagrangian, ψ, rows, forces } =
                Scaled::new(model, equations, lagrangian, &symbols);
            let ψ = &ψ;
            let whole = g.sub(lagrangian, g.dot(&μ, ψ));
            let momenta = g.gradient(whole, &v);
            let mass = g.jacobian(&momenta, &v);
            let slopes = g.gradient(whole, &q);
            let force: Vec<Expr> =
                (0..n).map(|k| forces.iter().fold(slopes[k], |f, Q| g.add(f, Q[k]))).collect();
            let moving: Vec<Expr> = v.iter().chain(&μ).copied().collect();
            let fixed =
                |rows: &[Vec<Expr>]| rows.iter().flatten().all(|&e| !g.contains(e, &moving));
            let linear = fixed(&mass) && fixed(&rows);
            let flat = |rows: Vec<Vec<Expr>>| rows.into_iter().flatten();
            let mut legendre = momenta.clone();
            legendre.extend(ψ);
            legendre.extend(flat(mass));
            legendre.extend(flat(rows));
            let mut push = force.clone();
            push.extend(&slopes);
            push.push(g.derivative(whole, model.time));
            push.push(lagrangian);
            let mut bend: Vec<Expr> = flat(g.jacobian(&momenta, &q)).collect();
            bend.extend(flat(g.jacobian(ψ, &q)));
            for by in [&q, &v, &μ] {
                bend.extend(flat(g.jacobian(&force, by)));
            }
            for part in [&momenta, ψ, &force] {
                bend.extend(part.iter().map(|&e| g.derivative(e, model.time)));
            }
            (legendre, push, bend, linear)
        });
        let holonomic = surfaces(model, equations, &symbols);
        let mut surface = holonomic.clone();
        surface.extend(g.jacobian(&holonomic, &q).into_iter().flatten());
        for &φ in &holonomic {
            surface.extend(g.hessian(φ, &q).into_iter().flatten());
        }
        let mut inputs = vec![model.time];
        inputs.extend(q.iter().chain(&v).chain(&μ));
        let (mut parameters, mut values) =
            (model.parameter_symbols(), model.parameter_values());
        if !units.are_ones() {
            parameters.extend(symbols.all());
            values.extend(units.values());
        }
        let compile = |inputs: &[Expr], outputs: &[Expr]| -> Result<Executor, CompileError> {
            let program = Program::compile(g, inputs, &parameters, outputs)?;
            Ok(program.executor(&values, backend))
        };
        conditions.measure(model, &units);
        let data = conditions.data.clone();
        let solve = Solve {
            inputs: vec![0.0; inputs.len()],
            legendre: vec![0.0; legendre.len()],
            push: vec![0.0; push.len()],
            bend: vec![0.0; bend.len()],
            lu: Lu::new(n + m),
            matrix: vec![0.0; (n + m) * (n + m)],
            degenerate: false,
            right: vec![0.0; n + m],
            slopes: vec![0.0; (n + m) * (2 * n + 1)],
        };
        Ok(Self {
            n,
            m,
            legendre: compile(&inputs, &legendre)?,
            push: compile(&inputs, &push)?,
            bend: compile(&inputs, &bend)?,
            surface: compile(&inputs[..=n], &surface)?,
            data: compile(&[model.time], &data)?,
            linear,
            conservative: model.forces.is_empty(),
            branch: vec![0.0; n + m],
            limit: None,
            conditions,
            units,
            solve,
        })
    }

    /// $T$ at a state.
    pub(crate) fn duration(&self, y: &[f64]) -> f64 {
        match self.conditions.duration {
            Some(duration) => duration,
            None => y[y.len() - 1],
        }
    }

    /// $t$ at a place of a path.
    pub(crate) fn time(&self, s: f64, y: &[f64]) -> f64 {
        self.conditions.t0 + s * self.duration(y)
    }

    /// Solves (LT).
    fn invert(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        let n = self.n;
        let s = &mut self.solve;
        s.inputs[0] = t;
        s.inputs[1..=n].copy_from_slice(&y[..n]);
        if self.linear {
            s.inputs[1 + n..].fill(0.0);
        }
        let rule = if self.linear { ONE_STEP } else { RULE };
        let report = newton(&mut Inversion { canonical: self, momenta: &y[n..2 * n] }, &rule)?;
        match report {
            NewtonReport { size, .. } if !size.is_finite() => Err(EvalError::NotFinite),
            NewtonReport { converged: false, .. } => Err(EvalError::Singular),
            _ => Ok(()),
        }
    }

    /// Derivatives of the solution of (LT).
    fn differentiate(&mut self) {
        let (n, m) = (self.n, self.m);
        let s = &mut self.solve;
        let size = n + m;
        if !self.linear {
            // The factors of the last step of Newton's iteration belong to the point before it.
            self.legendre.evaluate(&s.inputs, &mut s.legendre);
            let (mass, rows) = s.legendre[n + m..].split_at(n * n);
            write_matrix(&mut s.matrix, [n, m], mass, rows, rows);
            s.degenerate = s.lu.factor(size, &s.matrix).is_err();
        }
        self.bend.evaluate(&s.inputs, &mut s.bend);
        let by_time = n * n + m * n + 2 * n * n + n * m;
        for c in 0..=2 * n {
            let column = &mut s.slopes[c * size..(c + 1) * size];
            column.fill(0.0);
            if c < n {
                (0..n).for_each(|i| column[i] = -s.bend[i * n + c]);
                (0..m).for_each(|a| column[n + a] = -s.bend[n * n + a * n + c]);
            } else if c < 2 * n {
                column[c - n] = 1.0;
            } else {
                (0..size).for_each(|i| column[i] = -s.bend[by_time + i]);
            }
            solved(&s.lu, s.degenerate.then_some(&s.matrix), column);
        }
    }

    /// $\dot q$ and μ at a state.
    pub(crate) fn velocities(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), EvalError> {
        self.invert(t, y)?;
        let (v, μ) = self.solve.inputs[1 + self.n..].split_at(self.n);
        Ok((v.to_vec(), μ.to_vec()))
    }

    /// $L$ at a state.
    pub(crate) fn lagrangian(&mut self, t: f64, y: &[f64]) -> Result<f64, EvalError> {
        self.invert(t, y)?;
        self.push.evaluate(&self.solve.inputs, &mut self.solve.push);
        Ok(self.solve.push[2 * self.n + 1])
    }

    /// $p$ and the branch of (LT) at given velocities and multipliers.
    pub(crate) fn momenta(&mut self, t: f64, q: &[f64], v: &[f64], μ: &[f64]) -> Vec<f64> {
        let s = &mut self.solve;
        let parts = [&[t][..], q, v, μ].concat();
        s.inputs.copy_from_slice(&parts);
        self.legendre.evaluate(&s.inputs, &mut s.legendre);
        s.legendre[..self.n].to_vec()
    }

    /// Momenta, $L_{\dot q\dot q}$ and A at given velocities, without multipliers.
    pub(crate) fn form_at(&mut self, t: f64, q: &[f64], v: &[f64]) -> LegendreForm {
        let (n, m) = (self.n, self.m);
        let momenta = self.momenta(t, q, v, &vec![0.0; m]);
        let (mass, rows) = self.solve.legendre[n + m..].split_at(n * n);
        LegendreForm { momenta, mass: mass.to_vec(), rows: rows.to_vec() }
    }

    /// $\mathcal L_{\dot q\dot q}$ and A at a state, by rows.
    pub(crate) fn legendre_form(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), EvalError> {
        let (n, m) = (self.n, self.m);
        self.invert(t, y)?;
        self.legendre.evaluate(&self.solve.inputs, &mut self.solve.legendre);
        let (mass, rows) = self.solve.legendre[n + m..].split_at(n * n);
        Ok((mass.to_vec(), rows.to_vec()))
    }
}

/// A model in units.
struct Scaled {
    lagrangian: Expr,
    ψ: Vec<Expr>,
    /// $A$
    rows: Vec<Vec<Expr>>,
    forces: Vec<Vec<Expr>>,
}

impl Scaled {
    fn new(
        model: &Workspace,
        equations: &Equations,
        lagrangian: Expr,
        units: &UnitSymbols,
    ) -> Self {
        let g = &model.graph;
        let energy = g.div(units.action, units.time);
        let of = |expressions: &[Expr], unit: &dyn Fn(usize) -> Expr| -> Vec<Expr> {
            let written = units.written_in(model, expressions);
            written.into_iter().enumerate().map(|(i, e)| g.div(e, unit(i))).collect()
        };
        let row = |(a, row): (usize, &Vec<Expr>)| {
            of(row, &|k| g.div(units.residuals[a], units.velocity(g, k)))
        };
        let force = |Q: &Vec<Expr>| of(Q, &|k| g.div(energy, units.lengths[k]));
        Self {
            lagrangian: of(&[lagrangian], &|_| energy)[0],
            ψ: of(&equations.residual, &|a| units.residuals[a]),
            rows: equations.jacobian.iter().enumerate().map(row).collect(),
            forces: model.forces.iter().map(|Q| force(&Q.components)).collect(),
        }
    }
}

/// The holonomic constraints in units.
fn surfaces(model: &Workspace, equations: &Equations, units: &UnitSymbols) -> Vec<Expr> {
    let g = &model.graph;
    let one = |(a, φ): (usize, &Option<Expr>)| {
        let written = units.written_in(model, &[(*φ)?])[0];
        Some(g.div(written, g.mul(units.residuals[a], units.time)))
    };
    equations.position.iter().enumerate().filter_map(one).collect()
}

/// Replaces a right side of the linear system of (LT) by its solution; the shortest where constraints repeat
/// each other and the matrix is singular.
fn solved(lu: &Lu, singular: Option<&Vec<f64>>, right: &mut [f64]) {
    match singular {
        Some(matrix) => {
            let size = right.len();
            // Well above rounding of entries of order one, well below what regular problems have.
            let shortest = least_squares(matrix, size, size, right, 1e-11).x;
            right.copy_from_slice(&shortest);
        }
        None => lu.solve(right),
    }
}

/// From a neighbouring solution a few steps are enough; after four, rounding of the multipliers is accepted.
const RULE: NewtonRule = NewtonRule {
    steps: 30,
    converged: 1e-14,
    stall: Some(Stall { below: 1e-11, ratio: 0.0, after: 5 }),
    ..NewtonRule::DEFAULT
};
/// Where (LT) is linear, one step is exact.
const ONE_STEP: NewtonRule = NewtonRule { steps: 1, acceptable: f64::INFINITY, ..RULE };

/// (LT) as equations for $\dot q$ and $\mu$.
struct Inversion<'a> {
    canonical: &'a mut Canonical,
    momenta: &'a [f64],
}

impl NewtonProblem for Inversion<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let Canonical { legendre, solve: s, n, m, .. } = &mut *self.canonical;
        let (n, m) = (*n, *m);
        let size = n + m;
        legendre.evaluate(&s.inputs, &mut s.legendre);
        let (momenta, rest) = s.legendre.split_at(n);
        let (ψ, rest) = rest.split_at(m);
        let (mass, rows) = rest.split_at(n * n);
        write_matrix(&mut s.matrix, [n, m], mass, rows, rows);
        (0..n).for_each(|i| s.right[i] = self.momenta[i] - momenta[i]);
        (0..m).for_each(|a| s.right[n + a] = -ψ[a]);
        if s.matrix.iter().any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        s.degenerate = s.lu.factor(size, &s.matrix).is_err();
        solved(&s.lu, s.degenerate.then_some(&s.matrix), &mut s.right);
        Ok(0.0)
    }

    fn advance(&mut self, _part: f64) -> Result<Advance, EvalError> {
        let Canonical { solve: s, n, .. } = &mut *self.canonical;
        let mut change = 0.0_f64;
        for (x, δ) in s.inputs[1 + *n..].iter_mut().zip(&s.right) {
            *x += δ;
            change = change.max(δ.abs() / (1.0 + x.abs()));
        }
        Ok(Advance::Taken(change))
    }
}

impl BoundaryProblem for Canonical {
    fn dimension(&self) -> usize {
        2 * self.n + self.conditions.slack + usize::from(self.conditions.duration.is_none())
    }

    fn conditions(&self) -> usize {
        self.conditions.list.len()
    }

    fn rewind(&mut self) {
        let n = self.n;
        self.solve.inputs[1 + n..].copy_from_slice(&self.branch);
    }

    fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let (n, duration) = (self.n, self.duration(y));
        let positive = duration > 0.0;
        if !positive || self.limit.is_some_and(|limit| limit.is_over()) {
            return Err(EvalError::NotFinite);
        }
        self.invert(self.time(s, y), y)?;
        self.push.evaluate(&self.solve.inputs, &mut self.solve.push);
        for k in 0..n {
            rates[k] = duration * self.solve.inputs[1 + n + k];
            rates[n + k] = duration * self.solve.push[k];
        }
        rates[2 * n..].fill(0.0);
        Ok(())
    }

    fn jacobian(
        &mut self,
        s: f64,
        y: &[f64],
        rates: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvalError> {
        self.rates(s, y, rates)?;
        self.differentiate();
        let (n, m, d) = (self.n, self.m, self.dimension());
        let duration = self.duration(y);
        let free = self.conditions.duration.is_none();
        let Solve { slopes, bend, .. } = &self.solve;
        let size = n + m;
        let by_q = n * n + m * n;
        let (by_v, by_μ) = (by_q + n * n, by_q + 2 * n * n);
        let by_t = by_μ + n * m + size;
        jacobian.fill(0.0);
        let columns = (0..2 * n).map(|c| (c, c, duration)).chain(
            // t = t₀ + sT
            free.then_some((2 * n, d - 1, duration * s)),
        );
        for (c, column, factor) in columns {
            let slope = &slopes[c * size..(c + 1) * size];
            for k in 0..n {
                let mut push = if c < n {
                    bend[by_q + k * n + c]
                } else if c == 2 * n {
                    bend[by_t + k]
                } else {
                    0.0
                };
                for j in 0..n {
                    push += bend[by_v + k * n + j] * slope[j];
                }
                for a in 0..m {
                    push += bend[by_μ + k * m + a] * slope[n + a];
                }
                jacobian[k * d + column] = factor * slope[k];
                jacobian[(n + k) * d + column] = factor * push;
            }
        }
        if free {
            for k in 0..2 * n {
                jacobian[k * d + d - 1] += rates[k] / duration;
            }
        }
        Ok(())
    }

    fn ends(
        &mut self,
        first: &[f64],
        last: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        for i in 0..values.len() {
            values[i] = self.condition(i, first, last)?;
        }
        Ok(())
    }

    fn ends_jacobian(
        &mut self,
        first: &[f64],
        last: &[f64],
        at_first: &mut [f64],
        at_last: &mut [f64],
    ) -> Result<(), EvalError> {
        let d = self.dimension();
        at_first.fill(0.0);
        at_last.fill(0.0);
        for i in 0..self.conditions.list.len() {
            let (at_first, at_last) = (&mut at_first[i * d..][..d], &mut at_last[i * d..][..d]);
            self.condition_slopes(i, first, last, at_first, at_last)?;
        }
        Ok(())
    }
}
