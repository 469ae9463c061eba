//! The exact Jacobian of the rates, for implicit methods.
//!
//! Every form of the equations has unknowns $x$ beside the state $y$:
//!
//! $$ \dot y = F(t, y, x), \qquad r(t, y, x) = 0, \qquad
//!    \frac{\partial\dot y}{\partial y} = \frac{\partial F}{\partial y}
//!    {} - \frac{\partial F}{\partial x}\Bigl(\frac{\partial r}{\partial x}\Bigr)^{-1}\frac{\partial r}{\partial y}.
//!    \qquad (\mathrm D) $$
//!
//! In the saddle-point form $x$ are accelerations and multipliers and $r$ is (K), in the reduced form $x = \dot u$, and
//! in an `equation` model they are its highest derivatives. All derivatives are expressions of the graph from which
//! the equations come, compiled when a run first asks for them. Where there are many components and few entries, the
//! entries of all four matrices are handed over and (D) is never formed.

use std::sync::{Arc, Mutex, PoisonError};

use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::{Equations, Reduction, SparseBlocks};
use pfaff_model::{Principle, Workspace};
use pfaff_program::{Backend, CompileError};
use pfaff_solver::{EvalError, Lu, SparseJacobian};

use crate::system::dynamics::Dynamics;
use crate::system::kkt::given_power;
use crate::system::linearisation::{Slopes, Variables};

/// Components from which on entries are handed over, if there is no more than one in [`FEW`].
const LARGE: usize = 64;
const FEW: usize = 8;

/// (D) as expressions.
#[derive(Clone, Debug)]
pub(crate) struct DescriptorForm {
    time: Expr,
    state: Vec<Expr>,
    unknowns: Vec<Expr>,
    /// $F$; components of the state beyond have rates that depend on nothing.
    rates: Vec<Expr>,
    /// $r$
    residual: Vec<Expr>,
}

impl DescriptorForm {
    /// Of derived dynamics, with the powers that the state carries along.
    pub(crate) fn of(model: &Workspace, dynamics: &Dynamics) -> Self {
        let variables = Variables::of(model, dynamics, Vec::new());
        match dynamics {
            Dynamics::Saddle(equations) => Self::saddle(model, equations, variables),
            Dynamics::Ordinary(ordinary) => {
                let n = model.coordinates.len();
                let second = |k: &usize| ordinary.orders[*k] == 2;
                let velocity = |k: usize| model.coordinates[k].velocity;
                let first = (0..n)
                    .map(|k| if second(&k) { velocity(k) } else { variables.unknowns[k] });
                let rates = first.chain((0..n).filter(second).map(|k| variables.unknowns[k]));
                Self {
                    time: variables.time,
                    rates: rates.collect(),
                    state: variables.state,
                    residual: ordinary.residual.clone(),
                    unknowns: variables.unknowns,
                }
            }
        }
    }

    fn saddle(model: &Workspace, equations: &Equations, variables: Variables) -> Self {
        let g = &model.graph;
        let n = model.coordinates.len();
        let SparseBlocks { mass, definitions, jacobian, directions } = equations.sparse(g);
        let extra = definitions.len();
        let (a, λ) = variables.unknowns.split_at(n);
        let free = |what: &str, k: usize| g.symbol(&format!("{what} {k}"), Role::Free);
        let ξ: Vec<Expr> = (0..extra).map(|k| free("auxiliary acceleration", k)).collect();
        let ν: Vec<Expr> = (0..extra).map(|k| free("auxiliary multiplier", k)).collect();
        let moving = [a, &ξ].concat();
        let pushing = [&ν, λ].concat();
        let rows: Vec<_> = definitions.iter().chain(&jacobian).collect();
        let along: Vec<_> = definitions.iter().chain(&directions).collect();
        let residual = g.merging(|| {
            let product =
                |row: &[(usize, Expr)]| g.sum(row.iter().map(|&(j, e)| g.mul(e, moving[j])));
            let mut reactions: Vec<Vec<Expr>> = vec![Vec::new(); n + extra];
            for (&row, &λ) in along.iter().zip(&pushing) {
                row.iter().for_each(|&(j, w)| reactions[j].push(g.mul(λ, w)));
            }
            let zero = g.zero();
            let force = |i: usize| equations.force.get(i).copied().unwrap_or(zero);
            let balance = reactions.into_iter().enumerate().map(|(i, reaction)| {
                let inertia = mass.get(i).map_or(zero, |row| product(row));
                g.sub(g.sub(inertia, g.sum(reaction)), force(i))
            });
            let mut residual: Vec<Expr> = balance.collect();
            for (k, row) in rows.iter().enumerate() {
                let b = k.checked_sub(extra).map_or(zero, |a| equations.drift[a]);
                residual.push(g.sub(product(row), b));
            }
            residual
        });
        let mut rates = model.velocities();
        rates.extend(a);
        rates.extend(λ.iter().take(equations.multipliers.len()));
        rates.extend(powers(model, equations, a, λ));
        Self {
            time: variables.time,
            state: variables.state,
            unknowns: [moving, pushing].concat(),
            rates,
            residual,
        }
    }

    /// Of reduced equations.
    pub(crate) fn reduced(reduction: &Reduction) -> Self {
        let g = &reduction.graph;
        let x = &reduction.independent_rates;
        let k = x.len();
        let entry =
            |a: usize, b: usize| reduction.mass[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
        let residual = g.merging(|| {
            (0..k)
                .map(|a| {
                    let inertia = g.sum((0..k).map(|b| g.mul(entry(a, b), x[b])));
                    g.sub(inertia, reduction.force[a])
                })
                .collect()
        });
        let mut rates = reduction.velocities.clone();
        rates.extend(x);
        let driven = g.merging(|| g.dot(&reduction.power[1..], x));
        rates.push(g.add(reduction.power[0], driven));
        Self {
            time: reduction.time,
            state: reduction.positions.iter().chain(&reduction.independent).copied().collect(),
            unknowns: x.clone(),
            rates,
            residual,
        }
    }
}

/// The rates of $w$ and $u$, as `Kkt::power` and `Kkt::total_power` have them.
fn powers(model: &Workspace, equations: &Equations, a: &[Expr], λ: &[Expr]) -> [Expr; 2] {
    let g = &model.graph;
    let v = model.velocities();
    let terms = &equations.multiplier_terms;
    g.merging(|| {
        let given = given_power(model);
        // A v = ∂ψ/∂q̇ · q̇
        let direction: Vec<(Expr, Expr)> = v.iter().map(|&v| (v, v)).collect();
        let along = || -> Vec<Expr> {
            if equations.auxiliary.is_some() || equations.has_chetaev_reactions() {
                g.directional(&equations.residual, &direction)
            } else {
                equations.directions.iter().map(|w| g.dot(w, &v)).collect()
            }
        };
        let added = || {
            let force = |i: usize| g.add(terms.force[i], g.dot(&terms.mass[i], a));
            g.sum((0..v.len()).map(|i| g.mul(force(i), v[i])))
        };
        let work = match equations.principle {
            Principle::Chetaev => {
                let parts = along().into_iter().zip(&equations.residual).zip(λ);
                g.sum(parts.map(|((w, &ψ), &λ)| g.mul(λ, g.sub(w, ψ))))
            }
            Principle::Vakonomic => {
                let parts = along().into_iter().zip(λ).map(|(w, &λ)| g.mul(λ, w));
                g.add(g.sum(parts), added())
            }
            Principle::Restricted => added(),
        };
        [g.add(given, work), g.add(given, terms.power)]
    })
}

/// (D) as numbers.
#[derive(Clone, Debug)]
pub(crate) struct DescriptorJacobian {
    slopes: Slopes,
    /// Components of the state that slopes are taken by, rates, and unknowns.
    states: usize,
    rates: usize,
    unknowns: usize,
    /// All slopes by rows: of $F$ and $r$ by $t$, $y$ and $x$.
    full: Vec<f64>,
    matrix: Vec<f64>,
    lu: Lu,
    column: Vec<f64>,
    entries: Option<Columns>,
}

/// The same by columns, over the whole state and then the unknowns.
#[derive(Clone, Debug)]
struct Columns {
    begins: Vec<usize>,
    rows: Vec<usize>,
    /// Where each value stands among the slopes.
    places: Vec<usize>,
    values: Vec<f64>,
}

impl DescriptorJacobian {
    pub(crate) fn new(
        g: &Graph,
        form: &DescriptorForm,
        parameters: (&[Expr], &[f64]),
        backend: Backend,
    ) -> Result<Self, CompileError> {
        let functions = [form.rates.as_slice(), &form.residual].concat();
        let by: Vec<Expr> = [form.time]
            .into_iter()
            .chain(form.state.iter().chain(&form.unknowns).copied())
            .collect();
        Ok(Self {
            slopes: Slopes::new(g, parameters, &functions, &by, &by, backend)?,
            states: form.state.len(),
            rates: form.rates.len(),
            unknowns: form.unknowns.len(),
            full: vec![0.0; functions.len() * by.len()],
            matrix: Vec::new(),
            lu: Lu::default(),
            column: vec![0.0; form.unknowns.len()],
            entries: None,
        })
    }

    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.slopes.set_parameters(parameters);
    }

    /// Evaluates all slopes at a state and its unknowns.
    pub(crate) fn evaluate(&mut self, t: f64, y: &[f64], x: &[f64]) -> Result<(), EvalError> {
        self.slopes.evaluate(t, &y[..self.states], x);
        let is_finite = self.slopes.rows().values.iter().all(|x| x.is_finite());
        if is_finite { Ok(()) } else { Err(EvalError::NotFinite) }
    }

    /// Factorises $\partial r/\partial x$; the unknowns `held` are zero, in place of their equations.
    pub(crate) fn factor(&mut self, held: &[usize]) -> Result<(), EvalError> {
        let (k, first) = (self.unknowns, 1 + self.states);
        let width = first + k;
        self.full.fill(0.0);
        for (row, values) in self.slopes.rows().rows().zip(self.full.chunks_exact_mut(width)) {
            row.entries().for_each(|(j, x)| values[j] = x);
        }
        for &i in held {
            let row = &mut self.full[(self.rates + i) * width..][..width];
            row.fill(0.0);
            row[first + i] = 1.0;
        }
        self.matrix.clear();
        for row in self.full[self.rates * width..].chunks_exact(width) {
            self.matrix.extend_from_slice(&row[first..]);
        }
        self.lu.factor(k, &self.matrix).map_err(|_| EvalError::Singular)
    }

    /// $\partial\dot y$ along $t$ (0) or a component of the state (from 1 on).
    fn along(&mut self, direction: usize, mut tell: impl FnMut(usize, f64)) {
        let first = 1 + self.states;
        let width = first + self.unknowns;
        let (rates, residual) = self.full.split_at(self.rates * width);
        for (x, row) in self.column.iter_mut().zip(residual.chunks_exact(width)) {
            *x = -row[direction];
        }
        self.lu.solve(&mut self.column);
        for (i, row) in rates.chunks_exact(width).enumerate() {
            let parts = row[first..].iter().zip(&self.column).map(|(a, x)| a * x);
            tell(i, row[direction] + parts.sum::<f64>());
        }
    }

    /// (D) by rows, for a state of `n` components.
    pub(crate) fn write(&mut self, n: usize, matrix: &mut [f64]) {
        matrix.fill(0.0);
        for j in 0..self.states {
            self.along(1 + j, |i, x| matrix[i * n + j] = x);
        }
    }

    /// $\partial\dot y/\partial t$
    pub(crate) fn write_time_slope(&mut self, slope: &mut [f64]) {
        slope.fill(0.0);
        self.along(0, |i, x| slope[i] = x);
    }

    /// The entries for a state of `n` components, where they are few.
    pub(crate) fn sparse(&mut self, n: usize) -> Option<SparseJacobian<'_>> {
        let size = n + self.unknowns;
        let slopes = self.slopes.rows();
        if size < LARGE || FEW * slopes.values.len() > size * size {
            return None;
        }
        let (rates, states) = (self.rates, self.states);
        let columns = self.entries.get_or_insert_with(|| {
            let mut list: Vec<(usize, usize, usize)> = Vec::new();
            let mut place = 0;
            for (i, row) in slopes.rows().enumerate() {
                let i = if i < rates { i } else { n + i - rates };
                for &j in row.columns {
                    if j > 0 {
                        let column = if j <= states { j - 1 } else { n + j - 1 - states };
                        list.push((column, i, place));
                    }
                    place += 1;
                }
            }
            list.sort_unstable();
            let mut begins = vec![0; size + 1];
            list.iter().for_each(|entry| begins[entry.0 + 1] += 1);
            (0..size).for_each(|j| begins[j + 1] += begins[j]);
            Columns {
                begins,
                rows: list.iter().map(|entry| entry.1).collect(),
                places: list.iter().map(|entry| entry.2).collect(),
                values: vec![0.0; list.len()],
            }
        });
        let Columns { begins, rows, places, values } = columns;
        values.iter_mut().zip(&*places).for_each(|(x, &place)| *x = slopes.values[place]);
        Some(SparseJacobian { begins, rows, values })
    }
}

/// The Jacobian of a model that is derived when a run first asks for it; copies of a system share it.
#[derive(Clone, Debug)]
pub(crate) struct ModelJacobian {
    lazy: Arc<Mutex<Lazy>>,
    /// Values of the parameters, if they are not those of the model.
    values: Option<Vec<f64>>,
}

#[derive(Debug)]
struct Lazy {
    model: Workspace,
    dynamics: Dynamics,
    backend: Backend,
    /// Nothing where the slopes cannot be compiled.
    compiled: Option<Option<DescriptorJacobian>>,
}

impl ModelJacobian {
    pub(crate) fn new(model: &Workspace, dynamics: &Dynamics, backend: Backend) -> Self {
        let (model, dynamics) = (model.clone(), dynamics.clone());
        let lazy = Lazy { model, dynamics, backend, compiled: None };
        Self { lazy: Arc::new(Mutex::new(lazy)), values: None }
    }

    /// Other parameters.
    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) {
        self.values = Some(parameters.to_vec());
    }

    /// A copy of the compiled slopes.
    pub(crate) fn compiled(&self) -> Option<DescriptorJacobian> {
        let mut lazy = self.lazy.lock().unwrap_or_else(PoisonError::into_inner);
        let Lazy { model, dynamics, backend, compiled } = &mut *lazy;
        let compiled = compiled.get_or_insert_with(|| {
            let form = DescriptorForm::of(model, dynamics);
            let (symbols, values) = (model.parameter_symbols(), model.parameter_values());
            DescriptorJacobian::new(&model.graph, &form, (&symbols, &values), *backend).ok()
        });
        let mut compiled = compiled.clone()?;
        self.values.iter().for_each(|values| compiled.set_parameters(values));
        Some(compiled)
    }
}
