//! Taylor coefficients at a state, by whichever way is fastest: written out as machine code, or in loops.
//!
//! $$ \dot y = f(t, y, x), \qquad K(t, y)\, x = r(t, y) \qquad (\mathrm F) $$
//!
//! In saddle-point form $x = (\ddot q, -\lambda)$ and (K) stays one node: factorised once a step, substituted once an order. The reduced form has its mass matrix as $K$, or
//! its solution written out, whichever takes fewer steps; `equation` models have the matrix of their highest derivatives. Pivots of what is written out are watched as in
//! `unrolled.rs`; where one falls away the loops take over, which pivot anew.

use pfaff_expr::{Expr, Graph, Role};
use pfaff_mechanics::{Equations, Ordinary, Reduction};
use pfaff_model::{Model, Principle};
use pfaff_program::{Executor, Field, Loops, Options, Recurrences, TaylorError};
use pfaff_solver::Halt;

/// Instructions beyond which orders run in loops: written out, they no longer fit the caches.
const MOST_WRITTEN: usize = 50_000;
/// A pivot below this fraction of its value at the start is not trusted: up to six digits may be lost to it.
const GROWTH: f64 = 1e-6;

/// Taylor coefficients of (F).
#[derive(Clone, Debug)]
pub(crate) struct Expansion {
    written: Option<Executor>,
    loops: Loops,
    /// With pivots, which the rows of a step have no place for.
    outputs: Vec<f64>,
    /// What the pivots may not fall below.
    floor: Vec<f64>,
}

impl Expansion {
    /// The coefficients up to an order; `at` is $(t, y)$ at the start.
    pub(crate) fn new(
        recurrences: &Recurrences,
        parameters: &[f64],
        order: usize,
        at: &[f64],
    ) -> Self {
        let (n, m) = (recurrences.dimension(), recurrences.unknowns());
        let mut loops = recurrences.loops(order, parameters);
        let at = &[at, &vec![0.0; n]].concat();
        let mut outputs = vec![0.0; n * order + m];
        let mut floor = Vec::new();
        let is_regular = loops.evaluate(at, &mut outputs[..n * order]);
        let mut written = (is_regular && recurrences.operations(order) <= MOST_WRITTEN)
            .then(|| recurrences.unrolled(order, &loops.matrix()).fused())
            .map(|program| program.executor(parameters, Options::default()));
        if let Some(run) = &mut written {
            run.evaluate(at, &mut outputs);
            floor.extend(outputs[n * order..].iter().map(|d| GROWTH * d));
        }
        Self { written, loops, outputs, floor }
    }

    /// Writes $y^{[1]}, y^{[2]}, \dots$ at $(t, y, e)$ into `rows`.
    pub(crate) fn evaluate(&mut self, at: &[f64], rows: &mut [f64]) -> Result<(), Halt> {
        if let Some(run) = &mut self.written {
            if self.floor.is_empty() {
                run.evaluate(at, rows);
                return Ok(());
            }
            run.evaluate(at, &mut self.outputs);
            let pivots = &self.outputs[rows.len()..];
            // NOTE: what is not a number is above no floor.
            if pivots.iter().zip(&self.floor).all(|(d, f)| d.abs() > f.abs()) {
                rows.copy_from_slice(&self.outputs[..rows.len()]);
                return Ok(());
            }
        }
        if self.loops.evaluate(at, rows) { Ok(()) } else { Err(Halt::Singular) }
    }
}

/// The recurrences of (K), with the work of forces and reactions.
pub(crate) fn saddle_recurrences(
    model: &Model,
    equations: &Equations,
) -> Result<Recurrences, TaylorError> {
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
            let bent = equations.bend.iter().map(|row| g.dot(row, &a));
            let added: Vec<Expr> =
                equations.shift.iter().zip(bent).map(|(&s, b)| g.add(s, b)).collect();
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
        (work, g.add(equations.power, equations.drive))
    });
    let state: Vec<Expr> = [q, v.clone(), equations.multipliers.clone(), fresh(g, "w", 2)]
        .into_iter()
        .flatten()
        .collect();
    let carried = &λ[..equations.multipliers.len()];
    let rates = [v.as_slice(), &a, carried, &[power, total]].concat();
    Recurrences::of(&Field {
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
) -> Result<Recurrences, TaylorError> {
    let g = &reduction.graph;
    let k = reduction.independent.len();
    let state = [reduction.positions.as_slice(), &reduction.independent, &fresh(g, "w", 2)];
    let state = state.concat();
    let rates_with = |rates: &[Expr]| {
        let driven = g.merging(|| g.dot(&reduction.power[1..], rates));
        let power = g.add(reduction.power[0], driven);
        [reduction.velocities.as_slice(), rates, &[power, g.zero()]].concat()
    };
    let whole = Field {
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
    let node = Recurrences::of(&Field {
        rates: &rates_with(unknowns),
        unknowns,
        matrix: &matrix,
        right: &reduction.force,
        ..whole
    });
    let Some(rates) = &reduction.rates else { return node };
    let solved = Recurrences::of(&Field { rates: &rates_with(rates), ..whole })?;
    match node {
        Ok(node) if node.operations(order) < solved.operations(order) => Ok(node),
        _ => Ok(solved),
    }
}

/// The recurrences of an `equation` model that is affine in its highest derivatives.
pub(crate) fn ordinary_recurrences(
    model: &Model,
    ordinary: &Ordinary,
) -> Result<Recurrences, TaylorError> {
    let g = &model.graph;
    if !ordinary.affine {
        return Err(TaylorError::Implicit);
    }
    let still: Vec<(Expr, Expr)> = ordinary.unknowns.iter().map(|&x| (x, g.zero())).collect();
    let rest = g.substitute(&ordinary.residual, &still);
    let right: Vec<Expr> = rest.into_iter().map(|e| g.neg(e)).collect();
    let (q, v) = (model.positions(), model.velocities());
    let second: Vec<usize> = (0..q.len()).filter(|&k| ordinary.orders[k] == 2).collect();
    let rate = |k: usize| if ordinary.orders[k] == 2 { v[k] } else { ordinary.unknowns[k] };
    let mut rates: Vec<Expr> = (0..q.len()).map(rate).collect();
    rates.extend(second.iter().map(|&k| ordinary.unknowns[k]));
    let mut state = q;
    state.extend(second.iter().map(|&k| v[k]));
    Recurrences::of(&Field {
        graph: g,
        time: model.time,
        state: &state,
        parameters: &model.parameter_symbols(),
        rates: &rates,
        unknowns: &ordinary.unknowns,
        matrix: &ordinary.jacobian.concat(),
        right: &right,
    })
}

/// Symbols that no text can name.
fn fresh(g: &Graph, name: &str, count: usize) -> Vec<Expr> {
    (0..count).map(|i| g.symbol(&format!(" {name}{i}"), Role::Free)).collect()
}
