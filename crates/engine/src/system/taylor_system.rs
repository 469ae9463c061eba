//! Taylor coefficients at a state, by whichever way is fastest: machine code with all orders written out, or
//! run once for each order.
//!
//! $$ \dot y = f(t, y, x), \qquad K(t, y)\, x = r(t, y) \qquad (\mathrm F) $$
//!
//! In saddle-point form $x = (\ddot q, -\lambda)$ and (K) stays one node: factorised once a step, substituted
//! once an order. The reduced form has its mass matrix as $K$, or
//! its solution written out, whichever takes fewer steps; `equation` models have the matrix of their highest
//! derivatives. Pivots of what is written out are watched as in
//! `unrolled.rs`; where one falls away the loops take over, which pivot anew.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::{Equations, Ordinary, Reduction};
use pfaff_model::{Principle, Workspace};
use pfaff_program::{
    Backend, Executor, TaylorError, TaylorInterpreter, TaylorPasses, TaylorRecurrences,
    VectorField,
};
use pfaff_solver::EvalError;

/// Instructions beyond which orders are not written out: their code no longer fits the caches.
const MOST_WRITTEN: usize = 3_000;
/// Steps from which on writing them out pays: it takes about a quarter of a microsecond for each instruction,
/// and saves a fifth of a nanosecond of it in every step.
const LONG_RUN: f64 = 1_000.0;
/// A pivot below this fraction of its value at the start is not trusted: up to six digits may be lost to it.
const GROWTH: f64 = 1e-6;

/// What a run asks of its series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) order: usize,
    pub(crate) tolerance: f64,
    /// How long all runs are together.
    pub(crate) span: f64,
    /// What evaluates them.
    pub(crate) backend: Backend,
}

/// Taylor coefficients of (F).
#[derive(Clone, Debug)]
pub(crate) struct TaylorExpansion {
    program: TaylorProgram,
    loops: TaylorInterpreter,
    /// With pivots, which the rows of a step have no place for.
    outputs: Vec<f64>,
    /// What the pivots may not fall below.
    floor: Vec<f64>,
    /// How many coefficients there are.
    rows: usize,
}

impl Demand {
    /// About how many steps it takes if all are as long as the first, which has this last coefficient.
    fn steps(&self, last: &[f64]) -> f64 {
        if self.span.is_infinite() {
            return self.span;
        }
        let size = last.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        self.span * libm::pow(size / self.tolerance, 1.0 / self.order as f64)
    }
}

/// How coefficients are computed while the pivots are good.
#[derive(Clone, Debug)]
enum TaylorProgram {
    /// All orders written out.
    Written(Executor),
    /// One program for each order.
    Passes(TaylorPasses),
    /// The start is singular.
    None,
}

impl TaylorExpansion {
    /// The coefficients that are asked for; `at` is $(t, y)$ at the start.
    pub(crate) fn new(
        recurrences: &TaylorRecurrences,
        parameters: &[f64],
        demand: Demand,
        at: &[f64],
    ) -> Self {
        let order = demand.order;
        let (n, m) = (recurrences.dimension(), recurrences.unknowns());
        let mut loops = recurrences.interpreter(order, parameters);
        let at = &[at, &vec![0.0; n]].concat();
        let mut outputs = vec![0.0; n * order + m];
        let program = if !loops.evaluate(at, &mut outputs[..n * order]) {
            TaylorProgram::None
        } else if recurrences.operations(order) <= MOST_WRITTEN
            && demand.steps(&outputs[n * (order - 1)..n * order]) >= LONG_RUN
        {
            let program = recurrences.unrolled(order, &loops.matrix()).fused();
            TaylorProgram::Written(program.executor(parameters, demand.backend))
        } else {
            TaylorProgram::Passes(recurrences.passes(
                order,
                &loops.matrix(),
                parameters,
                demand.backend,
            ))
        };
        let mut system = Self { program, loops, outputs, floor: vec![0.0; m], rows: n * order };
        system.calibrate(at);
        system
    }

    /// Takes the pivots at $(t, y, e)$ as the measure for others.
    fn calibrate(&mut self, at: &[f64]) {
        self.floor.fill(0.0);
        // What is left where the start is singular is not used.
        let _ = self.evaluate(at, &mut vec![0.0; self.rows]);
        let pivots = match &mut self.program {
            TaylorProgram::Written(_) => &self.outputs[self.rows..],
            TaylorProgram::Passes(passes) => passes.pivots(),
            TaylorProgram::None => &[],
        };
        self.floor = pivots.iter().map(|d| GROWTH * d.abs()).collect();
    }

    /// Other parameters and another start, $(t, y)$.
    pub(crate) fn begin_again(&mut self, parameters: &[f64], at: &[f64]) {
        self.loops.set_parameters(parameters);
        match &mut self.program {
            TaylorProgram::Written(run) => run.set_parameters(parameters),
            TaylorProgram::Passes(passes) => passes.set_parameters(parameters),
            TaylorProgram::None => {}
        }
        let n = at.len() - 1;
        self.calibrate(&[at, &vec![0.0; n]].concat());
    }

    /// Writes $y^{[1]}, y^{[2]}, \dots$ at $(t, y, e)$ into `rows`.
    pub(crate) fn evaluate(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), EvalError> {
        let is_good = match &mut self.program {
            TaylorProgram::Written(run) if self.floor.is_empty() => {
                run.evaluate(at, rows);
                true
            }
            TaylorProgram::Written(run) => {
                run.evaluate(at, &mut self.outputs);
                let (found, pivots) = self.outputs.split_at(rows.len());
                rows.copy_from_slice(found);
                are_trusted(pivots, &self.floor)
            }
            TaylorProgram::Passes(passes) => {
                passes.evaluate(at, rows);
                are_trusted(passes.pivots(), &self.floor)
            }
            TaylorProgram::None => false,
        };
        if is_good || self.loops.evaluate(at, rows) { Ok(()) } else { Err(EvalError::Singular) }
    }
}

/// Whether all pivots are above their floor, which what is not a number is not.
fn are_trusted(pivots: &[f64], floor: &[f64]) -> bool {
    pivots.iter().zip(floor).all(|(d, f)| d.abs() > *f)
}

/// The recurrences of (K), with the work of forces and reactions.
pub(crate) fn saddle_recurrences(
    model: &Workspace,
    equations: &Equations,
) -> Result<TaylorRecurrences, TaylorError> {
    let g = &model.graph;
    let (q, v) = (model.positions(), model.velocities());
    let (n, m) = (q.len(), equations.jacobian.len());
    let a = fresh(g, "a", n);
    let opposite = fresh(g, "l", m);
    let λ: Vec<Expr> = opposite.iter().map(|&x| g.neg(x)).collect();
    let mut matrix = Vec::with_capacity((n + m) * (n + m));
    for i in 0..n {
        matrix.extend(&equations.mass[i]);
        matrix.extend(equations.directions.iter().map(|row| row[i]));
    }
    for row in &equations.jacobian {
        matrix.extend(row);
        matrix.extend(std::iter::repeat_n(g.zero(), m));
    }
    let right = [equations.force.as_slice(), &equations.drift].concat();
    let (power, total) = g.merging(|| {
        let mut work = equations.power;
        if equations.principle != Principle::Chetaev {
            let bent = equations.multiplier_terms.mass.iter().map(|row| g.dot(row, &a));
            let added: Vec<Expr> = equations
                .multiplier_terms
                .force
                .iter()
                .zip(bent)
                .map(|(&s, b)| g.add(s, b))
                .collect();
            work = g.add(work, g.dot(&added, &v));
        }
        if equations.principle != Principle::Restricted {
            for (k, row) in equations.directions.iter().enumerate() {
                let mut along = g.dot(row, &v);
                if *row == equations.jacobian[k] {
                    // On the constraint A q' = A q' − ψ, which vanishes where ψ is linear.
                    along = g.sub(along, equations.residual[k]);
                }
                if !g.vanishes_modulo_prime(along) {
                    work = g.add(work, g.mul(λ[k], along));
                }
            }
        }
        (work, g.add(equations.power, equations.multiplier_terms.power))
    });
    let state: Vec<Expr> = [q, v.clone(), equations.multipliers.clone(), fresh(g, "w", 2)]
        .into_iter()
        .flatten()
        .collect();
    let carried = &λ[..equations.multipliers.len()];
    let rates = [v.as_slice(), &a, carried, &[power, total]].concat();
    TaylorRecurrences::of(&VectorField {
        graph: g,
        time: model.time,
        state: &state,
        parameters: &model.parameter_symbols(),
        rates: &rates,
        unknowns: &[a, opposite].concat(),
        matrix: &matrix,
        right: &right,
    })
}

/// The recurrences of the reduced form, with the work and the number of the chart, by the shorter of its two ways.
pub(crate) fn reduced_recurrences(
    reduction: &Reduction,
    parameters: &[Expr],
    order: usize,
) -> Result<TaylorRecurrences, TaylorError> {
    let g = &reduction.graph;
    let k = reduction.independent.len();
    let state = [reduction.positions.as_slice(), &reduction.independent, &fresh(g, "w", 2)];
    let state = state.concat();
    let rates_with = |rates: &[Expr]| {
        let driven = g.merging(|| g.dot(&reduction.power[1..], rates));
        let power = g.add(reduction.power[0], driven);
        [reduction.velocities.as_slice(), rates, &[power, g.zero()]].concat()
    };
    let whole = VectorField {
        graph: g,
        time: reduction.time,
        state: &state,
        parameters,
        rates: &[],
        unknowns: &[],
        matrix: &[],
        right: &[],
    };
    let mut matrix = Vec::with_capacity(k * k);
    for a in 0..k {
        for b in 0..k {
            let (i, j) = (a.max(b), a.min(b));
            matrix.push(reduction.mass[i * (i + 1) / 2 + j]);
        }
    }
    let unknowns = &reduction.independent_rates;
    let node = TaylorRecurrences::of(&VectorField {
        rates: &rates_with(unknowns),
        unknowns,
        matrix: &matrix,
        right: &reduction.force,
        ..whole
    });
    let Some(rates) = &reduction.rates else { return node };
    let solved = TaylorRecurrences::of(&VectorField { rates: &rates_with(rates), ..whole })?;
    match node {
        Ok(node) if node.operations(order) < solved.operations(order) => Ok(node),
        _ => Ok(solved),
    }
}

/// The recurrences of an `equation` model that is affine in its highest derivatives.
pub(crate) fn ordinary_recurrences(
    model: &Workspace,
    ordinary: &Ordinary,
) -> Result<TaylorRecurrences, TaylorError> {
    let g = &model.graph;
    if !ordinary.affine {
        return Err(TaylorError::Implicit);
    }
    let explicit = ordinary.explicit(g);
    let highest = explicit.as_ref().unwrap_or(&ordinary.unknowns);
    let (q, v) = (model.positions(), model.velocities());
    let second: Vec<usize> = (0..q.len()).filter(|&k| ordinary.orders[k] == 2).collect();
    let rate = |k: usize| if ordinary.orders[k] == 2 { v[k] } else { highest[k] };
    let mut rates: Vec<Expr> = (0..q.len()).map(rate).collect();
    rates.extend(second.iter().map(|&k| highest[k]));
    let mut state = q;
    state.extend(second.iter().map(|&k| v[k]));
    let field = VectorField {
        graph: g,
        time: model.time,
        state: &state,
        parameters: &model.parameter_symbols(),
        rates: &rates,
        unknowns: &[],
        matrix: &[],
        right: &[],
    };
    if explicit.is_some() {
        return TaylorRecurrences::of(&field);
    }
    TaylorRecurrences::of(&VectorField {
        unknowns: &ordinary.unknowns,
        matrix: &ordinary.full_jacobian(g).concat(),
        right: &ordinary.right_side(g),
        ..field
    })
}

/// Symbols that no text can name.
pub(crate) fn fresh(g: &Graph, name: &str, count: usize) -> Vec<Expr> {
    (0..count).map(|i| g.symbol(&format!(" {name}{i}"), Role::Free)).collect()
}
