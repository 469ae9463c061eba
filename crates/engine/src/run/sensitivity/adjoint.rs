//! The gradient of one scalar by many parameters: the adjoint equations.
//!
//! For $\dot y = F(t, y, x)$ with $r(t, y, x; p) = 0$, and $G = g(t_1, y, x; p)$ or $G = \int g\,dt$,
//!
//! $$ \dot\ell = -\Bigl(\frac{\partial\dot y}{\partial y}\Bigr)^{\!\top}\ell
//!    {} - \frac{dg}{dy}, \qquad
//!    \frac{dG}{dp} = \ell(t_0)\cdot\frac{dy_0}{dp}
//!    {} + \int \Bigl(\ell\cdot\frac{\partial\dot y}{\partial p} + \frac{dg}{dp}\Bigr)dt \qquad (\mathrm A) $$
//!
//! backwards along the motion, where the terms of $g$ are those of an integral, and $\ell(t_1) = dg/dy$ with the
//! direct part $dg/dp$ for a value at the end. With $w = (\partial r/\partial x)^{-\top} b$ for whatever multiplies
//! $\delta x$, all products cost one solve, whatever the number of parameters.

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_program::Backend;
use pfaff_solver::{
    EvalError, Lu, Method, OdeOptions, StopReason, System, Trajectory, integrate,
};

use super::direction::{Direction, directions};
use super::outputs::results;
use super::{Base, Varied, varying};
use crate::error::Failure;
use crate::motion::sensitivity::Gradient;
use crate::motion::{Motion, Series};
use crate::problem::branches::Branches;
use crate::problem::settings::GradientRequest;
use crate::system::compiled::CompiledSystem;
use crate::system::linearisation::{Rate, Slopes, Variables, balance, output_slopes};
use crate::system::variational::{Evaluation, VariationalFlow};

/// How much stricter than the run its states are computed: they enter everywhere.
const STRICTER: f64 = 0.1;

/// Refuses what has no gradient.
pub(crate) fn check(
    model: &Workspace,
    request: &GradientRequest,
    t0: f64,
) -> Result<(), Failure> {
    quantity(model, request)?;
    let by = names(model, request);
    if by.is_empty() {
        return Err(Failure::usage(
            "the model has no parameters: say what to differentiate by",
        ));
    }
    if Branches::of(model).is_some() {
        return Err(Failure::usage(
            "gradients by the adjoint equations are not available across branches: ask for sensitivities",
        ));
    }
    directions(model, &by, (t0, None)).map(|_| ())
}

/// What has a gradient: the place of an observed quantity, a position or a velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Observed(usize),
    Position(usize),
    Velocity(usize),
}

impl Scalar {
    fn expr(self, model: &Workspace) -> Expr {
        match self {
            Self::Observed(k) => model.observed[k].expr,
            Self::Position(k) => model.coordinates[k].position,
            Self::Velocity(k) => model.coordinates[k].velocity,
        }
    }

    /// Its series among those of positions, velocities and observed quantities.
    pub(crate) fn of(self, [q, v, observed]: [&[Series]; 3]) -> &Series {
        match self {
            Self::Observed(k) => &observed[k],
            Self::Position(k) => &q[k],
            Self::Velocity(k) => &v[k],
        }
    }
}

/// The quantity of a request, and whether it is integrated.
pub(crate) fn quantity(
    model: &Workspace,
    request: &GradientRequest,
) -> Result<(Scalar, bool), Failure> {
    let inner = request.of.strip_prefix("integral(").and_then(|rest| rest.strip_suffix(')'));
    let name = inner.unwrap_or(&request.of).trim();
    let coordinate = |name: &str| model.coordinates.iter().position(|c| c.name == name);
    let velocity = || name.strip_suffix('\'').and_then(coordinate).map(Scalar::Velocity);
    let observed = model.observed.iter().position(|o| o.name == name).map(Scalar::Observed);
    let found = observed.or_else(|| coordinate(name).map(Scalar::Position)).or_else(velocity);
    found.map(|scalar| (scalar, inner.is_some())).ok_or_else(|| {
        let known: Vec<&str> = model.observed.iter().map(|o| o.name.as_str()).collect();
        let hint = if known.is_empty() {
            "add `observe NAME = …` to the model".to_owned()
        } else {
            format!("the model observes {}", known.join(", "))
        };
        Failure::Usage(format!(
            "`{name}` is not an observed quantity, a coordinate or a velocity: {hint}"
        ))
    })
}

/// By what is differentiated: all parameters if nothing is said.
pub(crate) fn names(model: &Workspace, request: &GradientRequest) -> Vec<String> {
    if request.by.is_empty() {
        model.parameters.iter().map(|p| p.name.clone()).collect()
    } else {
        request.by.clone()
    }
}

/// The gradient that a run is asked for, along directions of which it is known how the start follows.
pub(crate) fn gradient(
    base: &Base<'_>,
    request: &GradientRequest,
    along: &Varied,
    motion: &Motion,
) -> Result<Gradient, Failure> {
    let &Base { model, settings, dynamics, start } = base;
    let (scalar, is_integral) = quantity(model, request)?;
    let Varied { directions, changes, tangents } = along;
    let varied = varying(model, changes);
    let symbols = model.parameter_symbols();
    let variables =
        Variables::of(model, dynamics, varied.iter().map(|&k| symbols[k]).collect());
    let mut system = CompiledSystem::new(model, dynamics, settings.backend)?;
    let y0 = system.state(settings.t0, &start.q, &start.v, &start.multipliers);
    let method = match settings.options.method {
        Method::Radau | Method::Rosenbrock => Method::Radau,
        Method::Dop853 | Method::Taylor | Method::Rk4 | Method::Own => Method::Dop853,
    };
    let end = motion.t.last().copied().unwrap_or(settings.t0);
    let tolerance = STRICTER * settings.options.tolerance;
    let forward = OdeOptions { t1: end, tolerance, method, step: None, ..settings.options };
    let mut trajectory = Trajectory::default();
    let mut without = system.without_events();
    if let crate::system::compiled::Compiled::Saddle(kkt) = &mut without.dynamics {
        kkt.promote(model)?;
    }
    let reached = integrate(&mut without, &y0, &forward, &mut trajectory);
    if reached.stop != StopReason::End && end > settings.t0 {
        return Err(Failure::usage(
            "the motion for the adjoint equations did not reach its end",
        ));
    }
    let mut flow = AdjointFlow::new(base, variables, scalar, is_integral, trajectory)?;
    flow.inner.begin(model, settings.t0, &y0);
    let size = flow.inner.size();
    let last = &reached.y[..size];
    let no_value = |_| Failure::usage("the motion has no derivatives at its end");
    flow.at(end, last).map_err(no_value)?;
    let mut state = vec![0.0; size + flow.parameters()];
    if !is_integral {
        flow.add_output(1.0, &mut state).map_err(no_value)?;
    }
    let mut value = flow.value;
    if end > settings.t0 {
        let scale = state.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let backward = OdeOptions {
            t0: end,
            t1: settings.t0,
            tolerance,
            method,
            step: None,
            absolute: if scale > 0.0 { 1e-3 * scale } else { 0.0 },
            falls_back: false,
            watches_stiffness: settings.options.watches_stiffness,
            follows_decay: false,
            ..settings.options
        };
        let outcome = integrate(&mut flow, &state, &backward, &mut ());
        if outcome.stop != StopReason::End {
            return Err(Failure::usage("the adjoint equations could not be integrated"));
        }
        state = outcome.y;
    }
    if is_integral {
        value = integral(&mut flow, settings.t0, end).map_err(no_value)?;
    }
    let mut by = Vec::new();
    let along = directions.iter().zip(changes).zip(tangents);
    for ((Direction { name, .. }, change), tangent) in along {
        let mut δy = system.state(settings.t0, &tangent.q, &tangent.v, &tangent.multipliers);
        δy.truncate(size);
        let at_start: f64 = δy.iter().zip(&state).map(|(a, b)| a * b).sum();
        let along = varied.iter().zip(&state[size..]).map(|(&k, g)| change[k] * g);
        by.push((name.clone(), at_start + along.sum::<f64>()));
    }
    Ok(Gradient { of: request.of.clone(), value, by })
}

/// $\int g\,dt$ by Gauss's rule over the steps of the motion.
fn integral(flow: &mut AdjointFlow, t0: f64, t1: f64) -> Result<f64, EvalError> {
    /// Nodes and weights of five points on (−1, 1).
    const NODES: [(f64, f64); 5] = [
        (-0.906_179_845_938_664, 0.236_926_885_056_189_1),
        (-0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (0.0, 0.568_888_888_888_888_9),
        (0.538_469_310_105_683_1, 0.478_628_670_499_366_5),
        (0.906_179_845_938_664, 0.236_926_885_056_189_1),
    ];
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for step in flow.trajectory.steps() {
        let step = step.as_step();
        ends.push((step.start().max(t0), step.end().min(t1)));
    }
    let mut sum = 0.0;
    for (a, b) in ends {
        for (node, weight) in NODES {
            let t = 0.5 * (a + b) + 0.5 * (b - a) * node;
            let y = flow.trajectory.state(t).ok_or(EvalError::NotFinite)?;
            let size = flow.inner.size();
            flow.at(t, &y[..size])?;
            sum += 0.5 * (b - a) * weight * flow.value;
        }
    }
    Ok(sum)
}

/// The system (A).
struct AdjointFlow {
    inner: VariationalFlow,
    trajectory: Trajectory,
    is_integral: bool,
    /// The slopes of $r$ and of $g$ by $t$, $y$, $p$ and $x$.
    residual: Slopes,
    output: Slopes,
    value_of: pfaff_program::Executor,
    inputs: Vec<f64>,
    value: f64,
    /// $(\partial r/\partial x)^\top$
    matrix: Vec<f64>,
    lu: Lu,
    right: Vec<f64>,
}

impl AdjointFlow {
    fn new(
        base: &Base<'_>,
        variables: Variables,
        scalar: Scalar,
        is_integral: bool,
        trajectory: Trajectory,
    ) -> Result<Self, Failure> {
        let &Base { model, settings, dynamics, .. } = base;
        let g = &model.graph;
        let backend: Backend = settings.backend;
        let written =
            g.substitute(&[scalar.expr(model)], &results(model, dynamics, &variables));
        let mut known = vec![variables.time];
        known.extend(variables.state.iter().chain(&variables.unknowns));
        known.extend(model.parameter_symbols());
        let is_known = |e: &Expr| g.symbols(&[*e]).iter().all(|s| known.contains(s));
        if !written.iter().all(is_known) || written.iter().any(|&e| g.has_memory(e)) {
            let name = match scalar {
                Scalar::Observed(k) => &model.observed[k].name,
                Scalar::Position(k) | Scalar::Velocity(k) => &model.coordinates[k].name,
            };
            return Err(Failure::Usage(format!("`{name}` has no derivatives")));
        }
        let equations = balance(model, dynamics);
        let residual = output_slopes(model, &equations, &variables, backend)?;
        let output = output_slopes(model, &written, &variables, backend)?;
        let inputs: Vec<Expr> = [variables.time]
            .into_iter()
            .chain(variables.state.iter().chain(&variables.unknowns).copied())
            .collect();
        let program =
            pfaff_program::Program::compile(g, &inputs, &model.parameter_symbols(), &written)?;
        let unknowns = variables.unknowns.len();
        let inner = VariationalFlow::new(
            model,
            dynamics,
            variables,
            Vec::new(),
            (Evaluation::ByDirections, settings.backend),
        )?;
        Ok(Self {
            inner,
            trajectory,
            is_integral,
            residual,
            output,
            value_of: program.tiered(&model.parameter_values(), backend),
            inputs: vec![0.0; inputs.len()],
            value: f64::NAN,
            matrix: vec![0.0; unknowns * unknowns],
            lu: Lu::new(unknowns),
            right: vec![0.0; unknowns],
        })
    }

    fn parameters(&self) -> usize {
        self.inner.variables.parameters.len()
    }

    /// Evaluates everything at a state.
    fn at(&mut self, t: f64, y: &[f64]) -> Result<(), EvalError> {
        self.inner.solve(t, y)?;
        let x = &self.inner.unknowns;
        self.residual.evaluate(t, y, x);
        self.output.evaluate(t, y, x);
        self.inputs[0] = t;
        let (state, unknowns) = self.inputs[1..].split_at_mut(y.len());
        state.copy_from_slice(y);
        unknowns.copy_from_slice(x);
        let mut value = [0.0];
        self.value_of.evaluate(&self.inputs, &mut value);
        [self.value] = value;
        let (k, first) = (x.len(), self.inner.variables.width());
        self.matrix.fill(0.0);
        let held = self.inner.repeated();
        for (i, row) in self.residual.rows().rows().enumerate() {
            if held.contains(&i) {
                self.matrix[i * k + i] = 1.0;
                continue;
            }
            for (j, a) in row.entries().filter(|(j, _)| *j >= first) {
                self.matrix[(j - first) * k + i] = a;
            }
        }
        if self.matrix.iter().any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        self.lu.factor(k, &self.matrix).map_err(|_| EvalError::Singular)
    }

    /// Adds what follows from weights of the unknowns, which are in `right`, to those of state and parameters.
    fn add_response(&mut self, into: &mut [f64]) {
        self.lu.solve(&mut self.right);
        let held = self.inner.repeated();
        let width = self.inner.variables.width();
        for (i, row) in self.residual.rows().rows().enumerate() {
            if held.contains(&i) {
                continue;
            }
            for (j, a) in row.entries().filter(|(j, _)| (1..width).contains(j)) {
                into[j - 1] -= self.right[i] * a;
            }
        }
    }

    /// Adds a multiple of $dg/dy$ and $dg/dp$.
    fn add_output(&mut self, factor: f64, into: &mut [f64]) -> Result<(), EvalError> {
        let width = self.inner.variables.width();
        self.right.fill(0.0);
        for (j, a) in self.output.rows().row(0).entries() {
            if j >= width {
                self.right[j - width] += factor * a;
            } else if j > 0 {
                into[j - 1] += factor * a;
            }
        }
        self.add_response(into);
        if into.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(EvalError::NotFinite) }
    }
}

impl System for AdjointFlow {
    fn dimension(&self) -> usize {
        self.inner.size() + self.parameters()
    }

    fn rates(&mut self, t: f64, state: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let size = self.inner.size();
        let y = self.trajectory.state(t).ok_or(EvalError::NotFinite)?;
        self.at(t, &y[..size])?;
        rates.fill(0.0);
        self.right.fill(0.0);
        for (ℓ, rate) in state.iter().zip(&self.inner.rates) {
            match *rate {
                Rate::State(j) => rates[j] += ℓ,
                Rate::Unknown(k) => self.right[k] += ℓ,
            }
        }
        self.add_response(rates);
        if self.is_integral {
            self.add_output(1.0, rates)?;
        }
        rates.iter_mut().for_each(|x| *x = -*x);
        Ok(())
    }

    fn has_invariants(&self) -> bool {
        false
    }

    fn next_break(&self, t: f64, t1: f64) -> Option<f64> {
        self.inner.next_break(t, t1)
    }
}
