//! Derivatives of the canonical equations and of their conditions by parameters and by what is given at the ends.
//!
//! At a fixed state $(q, p)$ the velocities and multipliers follow a parameter by (LT) differentiated:
//!
//! $$ \mathcal L_{\dot q\dot q}\,\delta\dot q - A^\top\delta\mu = -\partial_p\mathcal L_{\dot q}, \qquad
//!    A\,\delta\dot q = -\partial_p\psi. \qquad (\mathrm{LP}) $$

use pfaff_expr::Expr;
use pfaff_mechanics::Equations;
use pfaff_model::{Dynamics, Quantity, Workspace};
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{BoundaryProblem, EvalError};

use crate::run::bvp::canonical::{Canonical, solved};
use crate::run::bvp::conditions::Condition;
use crate::run::volterra::volterra_equations::real;

/// What varies: changes of all parameters, and of what is given at the ends.
#[derive(Clone, Debug)]
pub(crate) struct EndDirection {
    pub(crate) parameters: Vec<f64>,
    /// Changes of the given initial values.
    pub(crate) first: Vec<(Quantity, f64)>,
    /// The final value that varies by itself.
    pub(crate) last: Option<Quantity>,
}

/// The slopes of all parts of a problem along some directions.
#[derive(Clone, Debug)]
pub(crate) struct ParameterSlopes {
    pub(crate) directions: Vec<EndDirection>,
    /// For each direction the slopes of $\mathcal L_{\dot q}$, ψ, $\mathcal L_q + Q$ and $\mathcal L$.
    bend: Executor,
    bend_values: Vec<f64>,
    /// For each direction the slopes of φ and $\partial\varphi/\partial q$.
    surface: Executor,
    surface_values: Vec<f64>,
    /// For each direction the slopes of final values and of their derivatives by t.
    data: Executor,
    data_values: Vec<f64>,
}

impl ParameterSlopes {
    pub(crate) fn new(
        model: &Workspace,
        equations: &Equations,
        problem: &Canonical,
        directions: Vec<EndDirection>,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
            unreachable!("equations come from a Lagrangian")
        };
        let (q, v, μ) = (model.positions(), model.velocities(), model.results.mu.clone());
        let ψ = &equations.residual;
        let symbols = model.parameter_symbols();
        let along = |functions: &[Expr]| -> Vec<Expr> {
            let one = |d: &EndDirection| {
                let moved = symbols.iter().zip(&d.parameters).filter(|(_, δ)| **δ != 0.0);
                let moved: Vec<(Expr, Expr)> = moved.map(|(&s, &δ)| (s, real(g, δ))).collect();
                g.directional(functions, &moved)
            };
            directions.iter().flat_map(one).collect()
        };
        let bend = g.merging(|| {
            let whole = g.sub(lagrangian, g.dot(&μ, ψ));
            let slopes = g.gradient(whole, &q);
            let force = (0..q.len())
                .map(|k| model.forces.iter().fold(slopes[k], |f, Q| g.add(f, Q.components[k])));
            let mut functions = g.gradient(whole, &v);
            functions.extend(ψ);
            functions.extend(force);
            functions.push(whole);
            along(&functions)
        });
        let holonomic: Vec<Expr> = equations.position.iter().flatten().copied().collect();
        let mut surface = holonomic.clone();
        surface.extend(g.jacobian(&holonomic, &q).into_iter().flatten());
        let surface = along(&surface);
        let data = along(&problem.conditions.data);
        let mut inputs = vec![model.time];
        inputs.extend(q.iter().chain(&v).chain(&μ));
        let compile = |inputs: &[Expr], outputs: &[Expr]| -> Result<Executor, CompileError> {
            let program = Program::compile(g, inputs, &symbols, outputs)?;
            Ok(program.executor(&model.parameter_values(), backend))
        };
        Ok(Self {
            bend: compile(&inputs, &bend)?,
            bend_values: vec![0.0; bend.len()],
            surface: compile(&inputs[..=q.len()], &surface)?,
            surface_values: vec![0.0; surface.len()],
            data: compile(&[model.time], &data)?,
            data_values: vec![0.0; data.len()],
            directions,
        })
    }

    /// The derivatives of final values and of their rates at a time, along each direction.
    pub(crate) fn data_at(&mut self, t: f64) -> Vec<Vec<f64>> {
        self.data.evaluate(&[t], &mut self.data_values);
        let count = self.directions.len();
        (0..count).map(|k| Self::of(&self.data_values, count, k).to_vec()).collect()
    }

    /// The part of a direction in values that are evaluated for all.
    fn of(values: &[f64], directions: usize, k: usize) -> &[f64] {
        let size = values.len() / directions;
        &values[k * size..(k + 1) * size]
    }
}

impl Canonical {
    /// $\delta\dot q$ and $\delta\mu$ of (LP) at a state that was differentiated last, one direction after another.
    fn responses(&mut self, slopes: &mut ParameterSlopes) -> Vec<f64> {
        let (n, m) = (self.n, self.m);
        slopes.bend.evaluate(&self.solve.inputs, &mut slopes.bend_values);
        let count = slopes.directions.len();
        let mut found = Vec::with_capacity(count * (n + m));
        for k in 0..count {
            let part = ParameterSlopes::of(&slopes.bend_values, count, k);
            let mut right: Vec<f64> = part[..n + m].iter().map(|x| -x).collect();
            let s = &self.solve;
            solved(&s.lu, s.degenerate.then_some(&s.matrix), &mut right);
            found.extend(right);
        }
        found
    }

    /// $\dot q$ and μ along changes of the state at its beginning, with those of the parameters.
    pub(crate) fn start_response(
        &mut self,
        slopes: &mut ParameterSlopes,
        first: &[f64],
        changes: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, EvalError> {
        let size = self.n + self.m;
        self.rewind();
        self.invert(self.conditions.t0, first)?;
        self.differentiate();
        let direct = self.responses(slopes);
        let by_state = &self.solve.slopes;
        let one = |(change, direct): (&Vec<f64>, &[f64])| {
            let mut found = direct.to_vec();
            for (c, δ) in change[..2 * self.n].iter().enumerate() {
                let column = &by_state[c * size..(c + 1) * size];
                found.iter_mut().zip(column).for_each(|(x, s)| *x += s * δ);
            }
            found
        };
        Ok(changes.iter().zip(direct.chunks_exact(size.max(1))).map(one).collect())
    }

    /// Adds the direct part of the rates of each direction, at the state at which the Jacobian was taken last.
    pub(crate) fn add_parameter_rates(
        &mut self,
        slopes: &mut ParameterSlopes,
        duration: f64,
        rates: &mut [f64],
    ) {
        let (n, m) = (self.n, self.m);
        let direct = self.responses(slopes);
        let count = slopes.directions.len();
        let d = rates.len() / count.max(1);
        let by_q = n * n + m * n;
        let (by_v, by_μ) = (by_q + n * n, by_q + 2 * n * n);
        for k in 0..count {
            let part = ParameterSlopes::of(&slopes.bend_values, count, k);
            let response = &direct[k * (n + m)..(k + 1) * (n + m)];
            let rates = &mut rates[k * d..(k + 1) * d];
            let bend = &self.solve.bend;
            for i in 0..n {
                let mut push = part[n + m + i];
                push += (0..n).map(|j| bend[by_v + i * n + j] * response[j]).sum::<f64>();
                push += (0..m).map(|a| bend[by_μ + i * m + a] * response[n + a]).sum::<f64>();
                rates[i] += duration * response[i];
                rates[n + i] += duration * push;
            }
        }
    }

    /// The derivatives of all conditions along each direction, at fixed states of the ends.
    pub(crate) fn conditions_along(
        &mut self,
        slopes: &mut ParameterSlopes,
        first: &[f64],
        last: &[f64],
    ) -> Result<Vec<Vec<f64>>, EvalError> {
        let (n, h, size) = (self.n, self.conditions.holonomic, self.n + self.m);
        let (t0, end) = (self.conditions.t0, self.time(1.0, last));
        let count = slopes.directions.len();
        self.rewind();
        self.invert(t0, first)?;
        self.differentiate();
        let at_first = self.responses(slopes);
        let surface_at = |slopes: &mut ParameterSlopes, t: f64, y: &[f64]| {
            let inputs = [&[t][..], &y[..n]].concat();
            slopes.surface.evaluate(&inputs, &mut slopes.surface_values);
            slopes.surface_values.clone()
        };
        let first_surface = surface_at(slopes, t0, first);
        let last_surface = surface_at(slopes, end, last);
        slopes.data.evaluate(&[end], &mut slopes.data_values);
        self.branch_at_end(last)?;
        self.differentiate();
        let at_last = self.responses(slopes);
        let mut found = Vec::with_capacity(count);
        for (k, direction) in slopes.directions.iter().enumerate() {
            let data = ParameterSlopes::of(&slopes.data_values, count, k);
            let bend = ParameterSlopes::of(&slopes.bend_values, count, k);
            let surfaces = [&first_surface, &last_surface]
                .map(|values| ParameterSlopes::of(values, count, k));
            let response = |list: &[f64], index: usize| list[k * size + index];
            let begin = |quantity: Quantity| {
                let given = direction.first.iter().find(|(known, _)| *known == quantity);
                given.map_or(0.0, |(_, δ)| *δ)
            };
            let quantity = |index: usize| {
                if index < n {
                    Quantity::Coordinate(index, 1)
                } else {
                    Quantity::Multiplier(index - n)
                }
            };
            let given = |datum: usize, quantity: Quantity| {
                data[2 * datum] + f64::from(u8::from(direction.last == Some(quantity)))
            };
            let along = |condition: &Condition| match *condition {
                Condition::Start { component, .. } => {
                    -begin(Quantity::Coordinate(component, 0))
                }
                Condition::End { component, datum } | Condition::Shift { component, datum } => {
                    -given(datum, Quantity::Coordinate(component, 0))
                }
                Condition::Natural { component, at_end, slack } => {
                    let (surface, y) =
                        if at_end { (surfaces[1], last) } else { (surfaces[0], first) };
                    let pull = |a: usize| surface[h + a * n + component] * y[2 * n + a];
                    if slack { (0..h).map(pull).sum() } else { 0.0 }
                }
                Condition::Periodic { .. } => 0.0,
                Condition::SolvedStart { index, .. } => {
                    response(&at_first, index) - begin(quantity(index))
                }
                Condition::SolvedEnd { index, datum } => {
                    response(&at_last, index) - given(datum, quantity(index))
                }
                Condition::SolvedShift { index, datum } => {
                    let change = response(&at_last, index) - response(&at_first, index);
                    change - given(datum, quantity(index))
                }
                Condition::Surface { index } => surfaces[0][index],
                Condition::Time => {
                    let moving = self.conditions.moving.iter();
                    let pulled: f64 =
                        moving.map(|&(c, datum)| last[n + c] * data[2 * datum + 1]).sum();
                    -bend[bend.len() - 1] - pulled
                }
            };
            found.push(self.conditions.list.iter().map(along).collect());
        }
        Ok(found)
    }

    /// Solves (LT) at the end, from the solution that the path had there.
    fn branch_at_end(&mut self, last: &[f64]) -> Result<(), EvalError> {
        self.invert(self.time(1.0, last), last)
    }
}
