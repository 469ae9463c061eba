//! The equations of motion as a vector field, with exact derivatives at a state.
//!
//! The unknowns $x$ (accelerations and multipliers, or the highest derivatives of an `equation` model) solve
//! $r(t, y, x) = 0$. With the matrix of that solve,
//!
//! $$ \frac{\partial x}{\partial y} = -\Bigl(\frac{\partial r}{\partial x}\Bigr)^{-1}
//!    \frac{\partial r}{\partial y}. \qquad (\mathrm F) $$
//!
//! All derivatives are expressions of the graph from which $r$ comes. Constraints that repeat others take no part.

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;
use pfaff_program::{Backend, CompileError, Executor, Program};
use pfaff_solver::{EvalError, Lu, RankRevealing};

use crate::system::dynamics::Dynamics;
use crate::system::linearisation::{Rate, Variables, balance};

/// Rows of $A$ count as dependent below this part of the first pivot.
const DEPENDENT: f64 = 1e-9;
/// Constraints that repeat others must agree with them to this part of their terms.
const AGREEMENT: f64 = 1e-7;
/// Newton's iteration for equations that are not affine in their unknowns.
const ITERATIONS: usize = 50;

/// The vector field of a model.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Coordinates.
    pub(crate) n: usize,
    /// Constraints.
    pub(crate) m: usize,
    /// The components of the state: `x`, `x'`, `mu(c)`.
    pub(crate) names: Vec<String>,
    /// The symbols of the state.
    pub(crate) symbols: Vec<Expr>,
    /// Where the velocity of each coordinate stands in the state, if it is part of it.
    pub(crate) velocity_at: Vec<Option<usize>>,
    /// Whether time occurs explicitly.
    pub(crate) has_time: bool,
    /// How well each velocity serves as one that follows from the others: the smaller the better. First those whose
    /// position nothing depends on and whose column of $A$ is constant.
    pub(crate) preference: Vec<u8>,
    rates: Vec<Rate>,
    unknowns: usize,
    affine: bool,
    balance: Tape,
    slopes: Tape,
    constraints: Tape,
    /// A symmetry along which the observer moves.
    pub(crate) frame: Option<Frame>,
}

/// An affine field $\xi(q) = Gq + c$ that is a symmetry of the flow. Seen from a frame that moves along it, the flow is
/// $\dot y - (\xi, G\dot q)$, without time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    /// $G$ by rows.
    pub(crate) matrix: Vec<f64>,
    /// $c$
    pub(crate) shift: Vec<f64>,
}

/// A program with its inputs and outputs, and the places of the outputs in matrices.
#[derive(Clone, Debug)]
struct Tape {
    run: Executor,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// How many of the outputs are values; slopes follow, by rows and columns.
    values: usize,
    places: Vec<(usize, usize)>,
    columns: usize,
}

/// Values of constraints and their slopes by the state, by rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    pub(crate) values: Vec<f64>,
    pub(crate) slopes: Vec<f64>,
}

/// The field at a state.
#[derive(Clone, Debug)]
pub(crate) struct FieldPoint {
    pub(crate) t: f64,
    pub(crate) y: Vec<f64>,
    /// $\dot y$
    pub(crate) rates: Vec<f64>,
    /// $\partial\dot y/\partial y$ by rows.
    pub(crate) jacobian: Vec<f64>,
    /// $M$ by rows; empty for an `equation` model.
    pub(crate) mass: Vec<f64>,
    /// $\varphi$ of the holonomic constraints.
    pub(crate) positions: Rows,
    /// $\psi$ of all constraints.
    pub(crate) velocities: Rows,
}

/// The entries of a Jacobian that are not identically zero, with their places.
fn entries(g: &Graph, functions: &[Expr], by: &[Expr]) -> (Vec<Expr>, Vec<(usize, usize)>) {
    let columns = g.merging(|| g.jacobian_columns(functions, by));
    let mut found = Vec::new();
    for (j, column) in columns.into_iter().enumerate() {
        let entries = column.into_iter().filter(|&(_, slope)| slope != g.zero());
        found.extend(entries.map(|(i, slope)| (slope, (i, j))));
    }
    found.into_iter().unzip()
}

impl Tape {
    fn new(
        model: &Workspace,
        functions: &[Expr],
        by: &[Expr],
        inputs: &[Expr],
        backend: Backend,
        with_values: bool,
    ) -> Result<Self, CompileError> {
        let (slopes, places) = entries(&model.graph, functions, by);
        let columns = by.len();
        Self::of(model, functions, (slopes, places, columns), inputs, backend, with_values)
    }

    /// Of slopes that are already there, with their places and the number of columns.
    fn of(
        model: &Workspace,
        functions: &[Expr],
        (slopes, places, columns): (Vec<Expr>, Vec<(usize, usize)>, usize),
        inputs: &[Expr],
        backend: Backend,
        with_values: bool,
    ) -> Result<Self, CompileError> {
        let mut outputs = if with_values { functions.to_vec() } else { Vec::new() };
        let values = outputs.len();
        outputs.extend(slopes);
        let program =
            Program::compile(&model.graph, inputs, &model.parameter_symbols(), &outputs)?;
        Ok(Self {
            run: program.tiered(&model.parameter_values(), backend),
            inputs: vec![0.0; inputs.len()],
            outputs: vec![0.0; outputs.len()],
            values,
            places,
            columns,
        })
    }

    fn evaluate(&mut self, t: f64, y: &[f64], x: &[f64]) -> Result<(), EvalError> {
        self.inputs[0] = t;
        let (state, unknowns) = self.inputs[1..].split_at_mut(y.len());
        state.copy_from_slice(y);
        unknowns.copy_from_slice(x);
        self.run.evaluate(&self.inputs, &mut self.outputs);
        let is_finite = self.outputs.iter().all(|x| x.is_finite());
        if is_finite { Ok(()) } else { Err(EvalError::NotFinite) }
    }

    fn values(&self) -> &[f64] {
        &self.outputs[..self.values]
    }

    /// The slopes of some of the functions, by rows.
    fn matrix(&self, rows: std::ops::Range<usize>) -> Vec<f64> {
        let mut matrix = vec![0.0; rows.len() * self.columns];
        for (&(i, j), &x) in self.places.iter().zip(&self.outputs[self.values..]) {
            if rows.contains(&i) {
                matrix[(i - rows.start) * self.columns + j] = x;
            }
        }
        matrix
    }
}

impl Field {
    /// Compiles the field of derived dynamics with their full mass matrix.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let n = model.coordinates.len();
        let prime = |k: usize| format!("{}'", model.coordinates[k].name);
        let Variables { state: symbols, unknowns, rates, .. } =
            Variables::of(model, dynamics, Vec::new());
        let mut names: Vec<String> = model.coordinates.iter().map(|c| c.name.clone()).collect();
        let mut velocity_at = vec![None; n];
        for (k, at) in velocity_at.iter_mut().enumerate() {
            let velocity = model.coordinates[k].velocity;
            *at = symbols.iter().position(|&s| s == velocity);
            names.extend(at.map(|_| prime(k)));
        }
        let residual = balance(model, dynamics);
        let (constraints, m, affine): (Vec<Expr>, usize, bool) = match dynamics {
            Dynamics::Saddle(equations) => {
                let carried = !equations.multipliers.is_empty();
                let multiplier = |c: &pfaff_model::Constraint| format!("mu({})", c.name);
                names.extend(model.constraints.iter().filter(|_| carried).map(multiplier));
                let positions = equations.position.iter().flatten().copied();
                let all = positions.chain(equations.residual.iter().copied()).collect();
                (all, equations.residual.len(), true)
            }
            Dynamics::Ordinary(ordinary) => (Vec::new(), 0, ordinary.affine),
        };
        let state: Vec<Expr> =
            [model.time].into_iter().chain(symbols.iter().copied()).collect();
        let inputs: Vec<Expr> = state.iter().chain(&unknowns).copied().collect();
        let places = |k: usize| {
            let absent = !residual
                .iter()
                .chain(&constraints)
                .any(|&e| g.contains(e, &[model.coordinates[k].position]));
            let column = |e: &Expr| g.derivative(*e, model.coordinates[k].velocity);
            let constant = constraints.iter().all(|e| !g.contains(column(e), &state));
            u8::from(!absent) * 2 + u8::from(!constant)
        };
        let has_time =
            residual.iter().chain(&constraints).any(|&e| g.contains(e, &[model.time]));
        let size = unknowns.len();
        let preference = if m == 0 { vec![0; n] } else { (0..n).map(places).collect() };
        Ok(Self {
            n,
            m,
            names,
            velocity_at,
            has_time,
            preference,
            rates,
            unknowns: size,
            affine,
            balance: Tape::new(model, &residual, &unknowns, &inputs, backend, true)?,
            slopes: Tape::new(model, &residual, &symbols, &inputs, backend, false)?,
            constraints: Tape::new(model, &constraints, &symbols, &state, backend, true)?,
            symbols,
            frame: None,
        })
    }

    /// Gives the parameters other values.
    pub(crate) fn set_parameters(&mut self, values: &[f64]) {
        for tape in [&mut self.balance, &mut self.slopes, &mut self.constraints] {
            tape.run.set_parameters(values);
        }
    }

    /// Components of the state.
    pub(crate) fn size(&self) -> usize {
        self.rates.len()
    }

    /// Holonomic constraints.
    pub(crate) fn holonomic(&self) -> usize {
        self.constraints.values - self.m
    }

    /// $\varphi$ and $\psi$ at a state, with their slopes.
    pub(crate) fn constraints(&mut self, t: f64, y: &[f64]) -> Result<[Rows; 2], EvalError> {
        self.constraints.evaluate(t, y, &[])?;
        let (h, all) = (self.holonomic(), self.constraints.values);
        Ok([0..h, h..all].map(|rows| Rows {
            values: self.constraints.values()[rows.clone()].to_vec(),
            slopes: self.constraints.matrix(rows),
        }))
    }

    /// Solves for the unknowns; the factors that did it, and the rows that took part.
    fn solve(&mut self, t: f64, y: &[f64]) -> Result<(Vec<f64>, Lu, Vec<usize>), EvalError> {
        let (n, size) = (self.n, self.unknowns);
        let mut x = vec![0.0; size];
        let mut lu = Lu::new(size);
        let mut kept: Vec<usize> = (0..size).collect();
        // The second step of an affine system takes away the rounding of the first.
        let steps = if self.affine { 2 } else { ITERATIONS };
        for step in 0..steps {
            self.balance.evaluate(t, y, &x)?;
            let matrix = self.balance.matrix(0..size);
            if self.m > 0 && step == 0 {
                let rows = (n..size).flat_map(|i| &matrix[i * size..i * size + n]);
                let rows: Vec<f64> = rows.copied().collect();
                let mut split = RankRevealing::default();
                split.factor(self.m, n, &rows, DEPENDENT);
                kept.retain(|&i| i < n || !split.dependent_rows().contains(&(i - n)));
            }
            let part: Vec<f64> = kept
                .iter()
                .flat_map(|&i| kept.iter().map(move |&j| (i, j)))
                .map(|(i, j)| matrix[i * size + j])
                .collect();
            lu.factor(kept.len(), &part).map_err(|_| EvalError::Singular)?;
            let mut δ: Vec<f64> = kept.iter().map(|&i| self.balance.values()[i]).collect();
            lu.solve(&mut δ);
            let mut change = 0.0_f64;
            for (&i, δ) in kept.iter().zip(&δ) {
                x[i] -= δ;
                change = change.max(δ.abs() / (1.0 + x[i].abs()));
            }
            if !change.is_finite() {
                return Err(EvalError::NotFinite);
            }
            if change < 1e-14 {
                break;
            }
            if !self.affine && step + 1 == steps && change > 1e-10 {
                return Err(EvalError::Singular);
            }
        }
        if kept.len() < size {
            self.balance.evaluate(t, y, &x)?;
            let matrix = self.balance.matrix(0..size);
            for i in (n..size).filter(|i| !kept.contains(i)) {
                let terms = matrix[i * size..(i + 1) * size].iter().zip(&x);
                let scale: f64 = terms.map(|(a, x)| (a * x).abs()).sum();
                if self.balance.values()[i].abs() > AGREEMENT * (1.0 + scale) {
                    return Err(EvalError::Singular);
                }
            }
        }
        Ok((x, lu, kept))
    }

    /// The rates of a state.
    pub(crate) fn rates(&mut self, t: f64, y: &[f64]) -> Result<Vec<f64>, EvalError> {
        let (x, ..) = self.solve(t, y)?;
        Ok(self.read(y, &x))
    }

    fn read(&self, y: &[f64], x: &[f64]) -> Vec<f64> {
        let value = |rate: &Rate| match *rate {
            Rate::State(i) => y[i],
            Rate::Unknown(i) => x[i],
        };
        let mut rates: Vec<f64> = self.rates.iter().map(value).collect();
        if let Some(frame) = &self.frame {
            let moved = self.prolonged(frame, y);
            rates.iter_mut().zip(&moved).for_each(|(rate, ξ)| *rate -= ξ);
        }
        rates
    }

    /// $(\xi, G\dot q)$ at a state.
    pub(crate) fn prolonged(&self, frame: &Frame, y: &[f64]) -> Vec<f64> {
        let (n, d) = (self.n, self.size());
        let mut moved = vec![0.0; d];
        for i in 0..n {
            let row = &frame.matrix[i * n..(i + 1) * n];
            moved[i] = frame.shift[i] + row.iter().zip(y).map(|(g, q)| g * q).sum::<f64>();
            if let Some(at) = self.velocity_at[i] {
                let terms = row.iter().zip(&self.velocity_at);
                moved[at] = terms.map(|(g, v)| v.map_or(0.0, |v| g * y[v])).sum();
            }
        }
        moved
    }

    /// Takes the derivative of $(\xi, G\dot q)$ off a Jacobian.
    fn leave_frame(&self, jacobian: &mut [f64]) {
        let Some(frame) = &self.frame else { return };
        let (n, d) = (self.n, self.size());
        for i in 0..n {
            for j in 0..n {
                let entry = frame.matrix[i * n + j];
                jacobian[i * d + j] -= entry;
                if let (Some(a), Some(b)) = (self.velocity_at[i], self.velocity_at[j]) {
                    jacobian[a * d + b] -= entry;
                }
            }
        }
    }

    /// The field at a state, with its derivatives.
    pub(crate) fn at(&mut self, t: f64, y: &[f64]) -> Result<FieldPoint, EvalError> {
        let (n, d) = (self.n, self.size());
        let [positions, velocities] = self.constraints(t, y)?;
        let (x, lu, kept) = self.solve(t, y)?;
        let mass =
            if self.m + n == self.unknowns && self.velocity_at.iter().all(Option::is_some) {
                let matrix = self.balance.matrix(0..n);
                let rows = matrix.chunks(self.unknowns).flat_map(|row| &row[..n]);
                rows.copied().collect()
            } else {
                Vec::new()
            };
        self.slopes.evaluate(t, y, &x)?;
        let slopes = self.slopes.matrix(0..self.unknowns);
        let mut jacobian = vec![0.0; d * d];
        for j in 0..d {
            let mut column: Vec<f64> = kept.iter().map(|&i| -slopes[i * d + j]).collect();
            lu.solve(&mut column);
            let mut response = vec![0.0; self.unknowns];
            kept.iter().zip(&column).for_each(|(&i, x)| response[i] = *x);
            for (i, rate) in self.rates.iter().enumerate() {
                jacobian[i * d + j] = match *rate {
                    Rate::State(k) => f64::from(u8::from(k == j)),
                    Rate::Unknown(k) => response[k],
                };
            }
        }
        self.leave_frame(&mut jacobian);
        if jacobian.iter().any(|x| !x.is_finite()) {
            return Err(EvalError::NotFinite);
        }
        let rates = self.read(y, &x);
        Ok(FieldPoint { t, y: y.to_vec(), rates, jacobian, mass, positions, velocities })
    }

    /// The matrices of $r(t, y, x) = 0$ at a state: $\partial r/\partial x$ and $\partial r/\partial y$ by rows.
    pub(crate) fn balance_slopes(
        &mut self,
        t: f64,
        y: &[f64],
    ) -> Result<(Vec<f64>, Vec<f64>), EvalError> {
        let (x, ..) = self.solve(t, y)?;
        self.balance.evaluate(t, y, &x)?;
        self.slopes.evaluate(t, y, &x)?;
        let all = 0..self.unknowns;
        Ok((self.balance.matrix(all.clone()), self.slopes.matrix(all)))
    }

    /// Where the rate of each component of the state stands.
    pub(crate) fn rate_places(&self) -> &[Rate] {
        &self.rates
    }
}

/// What a change of some parameters does to rates and constraints.
#[derive(Clone, Debug)]
pub(crate) struct ParameterSlopes {
    balance: Tape,
    constraints: Tape,
    count: usize,
}

/// Its numbers at a state, by rows, with a column for each parameter.
#[derive(Clone, Debug)]
pub(crate) struct ParameterPoint {
    /// $\partial\dot y/\partial p$
    pub(crate) rates: Vec<f64>,
    /// $\partial r/\partial p$
    pub(crate) balance: Vec<f64>,
    /// $\partial\varphi/\partial p$
    pub(crate) positions: Vec<f64>,
    /// $\partial\psi/\partial p$
    pub(crate) velocities: Vec<f64>,
    pub(crate) count: usize,
}

impl ParameterSlopes {
    /// For parameters by index. Others that are defined by them change with them.
    pub(crate) fn new(
        model: &Workspace,
        dynamics: &Dynamics,
        field: &Field,
        parameters: &[usize],
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let g = &model.graph;
        let residual = balance(model, dynamics);
        let constraints: Vec<Expr> = match dynamics {
            Dynamics::Saddle(equations) => {
                let positions = equations.position.iter().flatten();
                positions.chain(&equations.residual).copied().collect()
            }
            Dynamics::Ordinary(_) => Vec::new(),
        };
        let Variables { unknowns, .. } = Variables::of(model, dynamics, Vec::new());
        let mut state = vec![model.time];
        state.extend(&field.symbols);
        let inputs: Vec<Expr> = state.iter().chain(&unknowns).copied().collect();
        let directions: Vec<Vec<(Expr, Expr)>> =
            parameters.iter().map(|&k| parameter_direction(model, k)).collect();
        let slopes = |functions: &[Expr]| {
            let mut found = (Vec::new(), Vec::new(), parameters.len());
            for (j, direction) in directions.iter().enumerate() {
                let column = g.merging(|| g.directional(functions, direction));
                for (i, slope) in column.into_iter().enumerate() {
                    if slope != g.zero() {
                        found.0.push(slope);
                        found.1.push((i, j));
                    }
                }
            }
            found
        };
        let (first, second) = (slopes(&residual), slopes(&constraints));
        Ok(Self {
            balance: Tape::of(model, &residual, first, &inputs, backend, false)?,
            constraints: Tape::of(model, &constraints, second, &state, backend, false)?,
            count: parameters.len(),
        })
    }

    /// Gives the parameters other values.
    pub(crate) fn set_parameters(&mut self, values: &[f64]) {
        self.balance.run.set_parameters(values);
        self.constraints.run.set_parameters(values);
    }

    /// At a state.
    pub(crate) fn at(
        &mut self,
        field: &mut Field,
        t: f64,
        y: &[f64],
    ) -> Result<ParameterPoint, EvalError> {
        let (x, lu, kept) = field.solve(t, y)?;
        let (d, k) = (field.size(), self.count);
        self.balance.evaluate(t, y, &x)?;
        self.constraints.evaluate(t, y, &[])?;
        let slopes = self.balance.matrix(0..field.unknowns);
        let mut rates = vec![0.0; d * k];
        for j in 0..k {
            let mut column: Vec<f64> = kept.iter().map(|&i| -slopes[i * k + j]).collect();
            lu.solve(&mut column);
            for (i, rate) in field.rates.iter().enumerate() {
                if let Rate::Unknown(unknown) = *rate
                    && let Some(at) = kept.iter().position(|&i| i == unknown)
                {
                    rates[i * k + j] = column[at];
                }
            }
        }
        let (h, all) = (field.holonomic(), field.constraints.values);
        Ok(ParameterPoint {
            rates,
            balance: slopes,
            positions: self.constraints.matrix(0..h),
            velocities: self.constraints.matrix(h..all),
            count: k,
        })
    }
}

/// What happens to all parameters when one of them changes by one.
pub(crate) fn parameter_direction(model: &Workspace, index: usize) -> Vec<(Expr, Expr)> {
    let g = &model.graph;
    let mut direction = vec![(model.parameters[index].symbol, g.one())];
    for parameter in &model.parameters[index + 1..] {
        if let Some(definition) = parameter.definition {
            let slope = g.merging(|| g.directional(&[definition], &direction)[0]);
            if slope != g.zero() {
                direction.push((parameter.symbol, slope));
            }
        }
    }
    direction
}
