//! Derivatives of the equations of motion: what a small change of state and parameters does to the rates.
//!
//! The unknowns $x$ of a system (accelerations and multipliers, or the highest derivatives of an `equation` model)
//! solve $r(t, y, x; p) = 0$. Along a direction $(\delta t, \delta y, \delta p)$
//!
//! $$ \frac{\partial r}{\partial x}\,\delta x = -\Bigl(\frac{\partial r}{\partial t}\,\delta t
//!    + \frac{\partial r}{\partial y}\,\delta y + \frac{\partial r}{\partial p}\,\delta p\Bigr) \qquad (\mathrm V) $$
//!
//! with the matrix that gave $x$ itself. The slopes on the right are expressions of the graph from which $r$ comes;
//! they form one sparse matrix, evaluated once for all directions; or what is on the right is one program, evaluated
//! for each direction.
//!
//! **Invariants.** The constraints that the state satisfies are linearised likewise, $\varphi(t, q)$ of the holonomic
//! ones and $\psi(t, q, \dot q)$ of all.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};

use crate::system::dynamics::Dynamics;
use crate::system::sparse_rows::{RowPattern, SparseRows};

/// Where the rate of a component of the state stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    /// It is this component of the state itself, a velocity.
    State(usize),
    /// It is this one of the unknowns.
    Unknown(usize),
}

/// The symbols over which a system is linearised.
#[derive(Clone, Debug)]
pub(crate) struct Variables {
    pub(crate) time: Expr,
    /// $y$
    pub(crate) state: Vec<Expr>,
    /// $\dot y$
    pub(crate) rates: Vec<Rate>,
    /// $x$
    pub(crate) unknowns: Vec<Expr>,
    /// $p$: those of the parameters that may vary.
    pub(crate) parameters: Vec<Expr>,
}

impl Variables {
    /// Of dynamics with these varying parameters. Under the vakonomic principle $\mu$ belongs to the state and
    /// $\dot\mu$ to the unknowns.
    pub(crate) fn of(model: &Workspace, dynamics: &Dynamics, parameters: Vec<Expr>) -> Self {
        let n = model.coordinates.len();
        let mut state = model.positions();
        let (unknowns, rates);
        match dynamics {
            Dynamics::Saddle(equations) => {
                state.extend(model.velocities());
                state.extend(&equations.multipliers);
                let carried = equations.multipliers.len();
                let results = &model.results;
                let multipliers = if carried > 0 { &results.mu_rate } else { &results.lambda };
                unknowns = [&model.accelerations(), multipliers.as_slice()].concat();
                let velocities = (0..n).map(|i| Rate::State(n + i));
                rates = velocities.chain((0..n + carried).map(Rate::Unknown)).collect();
            }
            Dynamics::Ordinary(ordinary) => {
                let second: Vec<usize> = (0..n).filter(|&k| ordinary.orders[k] == 2).collect();
                state.extend(second.iter().map(|&k| model.coordinates[k].velocity));
                unknowns = ordinary.unknowns.clone();
                let place = |k: usize| second.iter().position(|&other| other == k);
                let first =
                    (0..n).map(|k| place(k).map_or(Rate::Unknown(k), |i| Rate::State(n + i)));
                rates = first.chain(second.iter().map(|&k| Rate::Unknown(k))).collect();
            }
        }
        Self { time: model.time, state, rates, unknowns, parameters }
    }

    /// $t$, $y$ and $x$, which programs read.
    fn inputs(&self) -> Vec<Expr> {
        let rest = self.state.iter().chain(&self.unknowns).copied();
        [self.time].into_iter().chain(rest).collect()
    }

    /// How many numbers a direction $(\delta t, \delta y, \delta p)$ has.
    pub(crate) fn width(&self) -> usize {
        1 + self.state.len() + self.parameters.len()
    }

    /// $t$, $y$, $p$, by which the equations are differentiated.
    fn directions(&self) -> Vec<Expr> {
        let rest = self.state.iter().chain(&self.parameters).copied();
        [self.time].into_iter().chain(rest).collect()
    }
}

/// Slopes of some functions as a sparse matrix of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Slopes {
    run: Executor,
    inputs: Vec<f64>,
    pattern: RowPattern,
    values: Vec<f64>,
}

impl Slopes {
    /// Compiles the slopes of functions over the symbols `by`, given the symbols that have values.
    pub(crate) fn new(
        g: &Graph,
        parameters: (&[Expr], &[f64]),
        functions: &[Expr],
        by: &[Expr],
        inputs: &[Expr],
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let columns = g.merging(|| g.jacobian_columns(functions, by));
        let mut rows: Vec<Vec<(usize, Expr)>> = vec![Vec::new(); functions.len()];
        for (j, column) in columns.into_iter().enumerate() {
            for (i, slope) in column {
                if slope != g.zero() {
                    rows[i].push((j, slope));
                }
            }
        }
        let places: Vec<Vec<usize>> =
            rows.iter().map(|row| row.iter().map(|&(j, _)| j).collect()).collect();
        let outputs: Vec<Expr> = rows.iter().flatten().map(|&(_, slope)| slope).collect();
        let program = Program::compile(g, inputs, parameters.0, &outputs)?;
        Ok(Self {
            run: program.tiered(parameters.1, backend),
            inputs: vec![0.0; inputs.len()],
            pattern: RowPattern::new(places.iter().map(Vec::as_slice)),
            values: vec![0.0; outputs.len()],
        })
    }

    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.run.set_parameters(parameters);
    }

    /// Evaluates the slopes for inputs that come one after another.
    pub(crate) fn evaluate(&mut self, t: f64, y: &[f64], x: &[f64]) {
        self.inputs[0] = t;
        let (state, unknowns) = self.inputs[1..].split_at_mut(y.len());
        state.copy_from_slice(y);
        unknowns.copy_from_slice(x);
        self.run.evaluate(&self.inputs, &mut self.values);
    }

    /// The matrix last evaluated.
    pub(crate) fn rows(&self) -> SparseRows<'_> {
        self.pattern.with(&self.values)
    }
}

/// The change of $r$ along one direction $(\delta t, \delta y, \delta p)$ after another: for few evaluations, because
/// it is a shorter program than all slopes.
#[derive(Clone, Debug)]
pub(crate) struct EquationChange {
    run: Executor,
    /// $t$, $y$, $x$, and the direction.
    inputs: Vec<f64>,
    width: usize,
}

impl EquationChange {
    /// Compiles the directional derivative of $r$, given the symbols over which it is linearised.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        variables: &Variables,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let by = variables.directions();
        let symbol = |k: usize| g.symbol(&format!("change {k}"), Role::Free);
        let changes: Vec<Expr> = (0..by.len()).map(symbol).collect();
        let pairs: Vec<(Expr, Expr)> = by.into_iter().zip(changes.iter().copied()).collect();
        let residual = balance(model, dynamics);
        let along = g.merging(|| g.directional(&residual, &pairs));
        let inputs = [variables.inputs(), changes].concat();
        let program = Program::compile(g, &inputs, &model.parameter_symbols(), &along)?;
        Ok(Self {
            run: program.tiered(&model.parameter_values(), backend),
            inputs: vec![0.0; inputs.len()],
            width: pairs.len(),
        })
    }

    /// Takes the point at which directions follow.
    pub(crate) fn at(&mut self, t: f64, y: &[f64], x: &[f64]) {
        self.inputs[0] = t;
        self.inputs[1..=y.len()].copy_from_slice(y);
        self.inputs[1 + y.len()..][..x.len()].copy_from_slice(x);
    }

    /// The change along a direction at that point.
    pub(crate) fn along(&mut self, direction: &[f64], change: &mut [f64]) {
        let first = self.inputs.len() - self.width;
        self.inputs[first..].copy_from_slice(direction);
        self.run.evaluate(&self.inputs, change);
    }
}

fn slopes(
    model: &Workspace,
    functions: &[Expr],
    by: &[Expr],
    variables: &Variables,
    backend: Backend,
) -> Result<Slopes, CompileError> {
    let parameters = (&*model.parameter_symbols(), &*model.parameter_values());
    Slopes::new(&model.graph, parameters, functions, by, &variables.inputs(), backend)
}

/// The slopes of $r$ by $(t, y, p)$, over $(t, y, x)$.
pub(crate) fn equation_slopes(
    model: &Workspace,
    dynamics: &Dynamics,
    variables: &Variables,
    backend: Backend,
) -> Result<Slopes, CompileError> {
    let residual = balance(model, dynamics);
    slopes(model, &residual, &variables.directions(), variables, backend)
}

/// The slopes of other functions by $(t, y, p)$ and then $x$, over $(t, y, x)$.
pub(crate) fn output_slopes(
    model: &Workspace,
    functions: &[Expr],
    variables: &Variables,
    backend: Backend,
) -> Result<Slopes, CompileError> {
    let mut by = variables.directions();
    by.extend(&variables.unknowns);
    slopes(model, functions, &by, variables, backend)
}

/// The slopes of $\varphi$, one row for each constraint, which is empty where it is not holonomic; and those of
/// $\psi$ after them.
pub(crate) fn constraint_slopes(
    model: &Workspace,
    dynamics: &Dynamics,
    variables: &Variables,
    backend: Backend,
) -> Result<Option<Slopes>, CompileError> {
    let Dynamics::Saddle(equations) = dynamics else { return Ok(None) };
    if equations.residual.is_empty() {
        return Ok(None);
    }
    let zero = model.graph.zero();
    let mut functions: Vec<Expr> =
        equations.position.iter().map(|φ| φ.unwrap_or(zero)).collect();
    functions.extend(&equations.residual);
    slopes(model, &functions, &variables.directions(), variables, backend).map(Some)
}

/// $r$: $M\ddot q - W^\top\lambda - f$ and $A\ddot q - b$, or the equations of the text.
pub(crate) fn balance(model: &Workspace, dynamics: &Dynamics) -> Vec<Expr> {
    let g = &model.graph;
    let equations = match dynamics {
        Dynamics::Saddle(equations) => equations,
        Dynamics::Ordinary(ordinary) => return ordinary.residual.clone(),
    };
    let n = model.coordinates.len();
    let Variables { unknowns, .. } = Variables::of(model, dynamics, Vec::new());
    let (a, λ) = unknowns.split_at(n);
    g.merging(|| {
        let mut rows = Vec::with_capacity(unknowns.len());
        for i in 0..n {
            let pushed = λ.iter().zip(&equations.directions).map(|(&λ, w)| g.mul(λ, w[i]));
            let reaction = g.sum(pushed);
            let inertia = g.dot(&equations.mass[i], a);
            rows.push(g.sub(g.sub(inertia, reaction), equations.force[i]));
        }
        for (row, &b) in equations.jacobian.iter().zip(&equations.drift) {
            rows.push(g.sub(g.dot(row, a), b));
        }
        rows
    })
}
