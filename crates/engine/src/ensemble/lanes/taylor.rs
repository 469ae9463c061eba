//! A trial of the Taylor method in lanes, as three straight-line programs: the coefficients at a state, the length of
//! the step that they allow, and its end with its acceptance and its checks. The length is a program of its own because
//! its roots wait for each other: while those of some lanes do, others have their turn.
//!
//! $$ y(t + s) = \sum_{k=0}^{p} y^{[k]} s^k, \qquad \max_i \frac{|y_i^{[k]}|}{s_i} h^k \le \tfrac12 E
//!    \quad\text{for } k = p - 1, p \qquad (\mathrm H) $$
//!
//! The order $p$ is 8 or 16, so that the root in (H) is a few square roots. What is neglected are terms beyond $p$:
//! with $r = h/\rho$, about $E^{1/p}$, they add up to $\tfrac12 E r/(1-r)$, which is less than $E$ for all tolerances
//! below $10^{-3}$. As in a single run (`solver/ode/taylor.rs`), a step is compared with the equations at its end:
//! $|h| \sum_i |\dot u_i - f_i|/s_i \le 100 E$.
//! Models whose coefficients may not show what lies ahead are not integrated in this way.

use pfaff_expr::{Expr, Relation, Role};
use pfaff_program::{Program, TaylorRecurrences, VectorField};

use crate::ensemble::lanes::field::{
    ANY_LENGTH, Field, larger, magnitude, real, scale, smaller, symbols,
};
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::regroup::regrouped;
use crate::ensemble::lanes::trial::Trial;

/// The part of the tolerance that the last terms may have.
const SHARE: f64 = 0.5;
/// How many tolerances the rates may differ in at the end of a step, all components together: in a step of the looser
/// integration the first neglected terms of a component have about a sixth of that.
const DEFECT: f64 = 100.0;
/// By how much less the work counts.
const CARRIED: f64 = 0.01;
/// Factor after a step that was rejected, and the growth of those that follow.
const SHORTER: f64 = 0.5;
const LONGER: f64 = 2.0;
/// Instructions of all coefficients beyond which the code would not fit the caches.
const MOST_WRITTEN: usize = 20_000;

/// The programs of a step.
pub(super) struct TaylorPrograms {
    pub(super) order: usize,
    /// $(t, y, e)$ to $y^{\[1\]}, \dots, y^{\[p\]}$
    pub(super) coefficients: Program,
    /// Rows with the coefficients behind them, to the length of the step and all that goes with it.
    pub(super) length: Program,
    /// Rows with both behind them, to rows.
    pub(super) end: Program,
}

impl TaylorPrograms {
    /// In the order in which they run.
    pub(super) fn all(&self) -> impl Iterator<Item = &Program> {
        [&self.coefficients, &self.length, &self.end].into_iter()
    }

    /// `None` where there are no coefficients, or too many of them.
    pub(super) fn new(
        field: &Field<'_>,
        layout: StepLayout,
        parameters: &[Expr],
        tolerance: f64,
    ) -> Option<Self> {
        let g = field.g;
        let mut state = field.state.clone();
        state.extend((layout.work > 0).then(|| g.symbol("lane work", Role::Free)));
        let variables: Vec<Expr> = state.iter().copied().chain([field.time]).collect();
        let rates = regrouped(g, &field.rates_with_power(layout), &variables);
        let recurrences = TaylorRecurrences::of(&VectorField {
            graph: g,
            time: field.time,
            state: &state,
            parameters,
            rates: &rates,
            unknowns: &[],
            matrix: &[],
            right: &[],
        });
        let recurrences = recurrences.ok()?;
        // What is evaluated for a step, over its length in parts of the radius of convergence.
        let cost = |order: usize| {
            let sums = recurrences.operations(order) + 2 * order * layout.carried();
            sums as f64 / libm::pow(SHARE * tolerance, 1.0 / order as f64)
        };
        let order = if cost(8) < cost(16) { 8 } else { 16 };
        if recurrences.operations(order) > MOST_WRITTEN {
            return None;
        }
        let coefficients = recurrences.unrolled(order, &[]).fused();
        let symbols = StepSymbols::new(field, layout, order);
        let length = length(field, layout, parameters, &symbols)?;
        let end = end(field, layout, parameters, &symbols)?;
        Some(Self { order, coefficients, length, end })
    }
}

/// What the programs read.
struct StepSymbols {
    order: usize,
    all: usize,
    rows: Vec<Expr>,
    coefficients: Vec<Expr>,
    /// The length, that of the next step, the time at the end; then one over the scale of each component.
    lengths: Vec<Expr>,
}

impl StepSymbols {
    fn new(field: &Field<'_>, layout: StepLayout, order: usize) -> Self {
        let (g, all) = (field.g, layout.carried());
        let rows = symbols(g, layout.outputs(), "row");
        let coefficients = symbols(g, order * all, "coefficient");
        let lengths = symbols(g, 3 + all, "length");
        Self { order, all, rows, coefficients, lengths }
    }

    /// $y^{[k]}$ of a component, from $k = 1$.
    fn series(&self, k: usize, i: usize) -> Expr {
        self.coefficients[(k - 1) * self.all + i]
    }
}

/// The step that coefficients allow.
fn length(
    field: &Field<'_>,
    layout: StepLayout,
    parameters: &[Expr],
    symbols: &StepSymbols,
) -> Option<Program> {
    let StepSymbols { order, all, ref rows, ref coefficients, .. } = *symbols;
    let (g, d) = (field.g, layout.controlled());
    let (t, t1) = (rows[StepLayout::T], rows[StepLayout::T1]);
    let inverse_scales: Vec<Expr> = (0..all)
        .map(|i| {
            let size = magnitude(g, rows[StepLayout::y(i)]);
            if i < d {
                g.div(g.one(), scale(g, rows, layout, i, size))
            } else {
                let scale = larger(g, size, rows[StepLayout::ENERGY_SIZE]);
                g.div(real(g, CARRIED), g.add(scale, real(g, 1e-50)))
            }
        })
        .collect();
    let weighted = |k: usize| {
        let each =
            (0..all).map(|i| g.mul(magnitude(g, symbols.series(k, i)), inverse_scales[i]));
        each.reduce(|a, b| larger(g, a, b)).unwrap_or_else(|| g.zero())
    };
    // (H) from a length nearby: h = l (E/2 / max(q_p l^p, q_{p−1} l^{p−1}))^{1/p}
    let nearby = rows[StepLayout::H];
    let power = (1..order - 1).fold(nearby, |power, _| g.mul(power, nearby));
    let last = larger(g, g.mul(weighted(order), nearby), weighted(order - 1));
    let ratio = g.div(g.mul(last, power), g.mul(real(g, SHARE), rows[StepLayout::TOLERANCE]));
    let mut root = g.add(ratio, real(g, 1e-300));
    for _ in 0..order.ilog2() {
        root = g.sqrt(root);
    }
    let next = g.div(nearby, root);
    let allowed = smaller(g, next, rows[StepLayout::MOST]);
    let rest = g.sub(t1, t);
    let is_last = g.compare(Relation::LessEqual, rest, allowed);
    let h = g.choose(is_last, rest, allowed);
    let time = g.choose(is_last, t1, g.add(t, h));
    let mut outputs = vec![h, next, time];
    outputs.extend(inverse_scales);
    let inputs = [rows.as_slice(), coefficients].concat();
    Some(Program::compile(g, &inputs, parameters, &outputs).ok()?.fused())
}

/// The end of the step, and whether it is accepted.
fn end(
    field: &Field<'_>,
    layout: StepLayout,
    parameters: &[Expr],
    symbols: &StepSymbols,
) -> Option<Program> {
    let StepSymbols { order, all, ref rows, ref coefficients, ref lengths } = *symbols;
    let (g, d) = (field.g, layout.controlled());
    let ([h, next, time], inverse_scales) = lengths.split_first_chunk()?;
    let (h, next, time) = (*h, *next, *time);
    let (mut end, mut slopes) = (Vec::with_capacity(all), Vec::with_capacity(all));
    for i in 0..all {
        // Horner's scheme for the sum and its derivative.
        let (mut sum, mut slope) = (symbols.series(order, i), g.zero());
        for k in (0..order).rev() {
            slope = g.add(sum, g.mul(h, slope));
            let term = if k > 0 { symbols.series(k, i) } else { rows[StepLayout::y(i)] };
            sum = g.add(term, g.mul(h, sum));
        }
        end.push(sum);
        slopes.push(slope);
    }
    let end_rates = field.at(&field.rates_with_power(layout), time, &end[..d]);
    let defects = (0..all)
        .map(|i| g.mul(magnitude(g, g.sub(slopes[i], end_rates[i])), inverse_scales[i]));
    let defect = defects.reduce(|a, b| g.add(a, b)).unwrap_or_else(|| g.zero());
    let allowed_defect = g.mul(real(g, DEFECT), rows[StepLayout::TOLERANCE]);
    // NOTE: a sum, because what is not a number in one component must be in all.
    let is_good =
        g.compare(Relation::LessEqual, g.mul(magnitude(g, h), defect), allowed_defect);
    let most = rows[StepLayout::MOST];
    let is_free = g.compare(Relation::Less, h, most);
    let longer = g.choose(is_free, real(g, ANY_LENGTH), g.mul(real(g, LONGER), most));
    let most = g.choose(is_good, longer, g.mul(real(g, SHORTER), h));
    let rates = (0..all).map(|i| symbols.series(1, i)).collect();
    let trial = Trial { rows, h, time, end, end_rates, rates, is_good, next, most };
    let outputs = trial.outputs(field, layout);
    let inputs = [rows.as_slice(), coefficients, lengths].concat();
    Some(Program::compile(g, &inputs, parameters, &outputs).ok()?.fused())
}
