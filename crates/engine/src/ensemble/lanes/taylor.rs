//! A trial of the Taylor method in lanes, as two straight-line programs: the coefficients at a state, and the step that
//! they allow with its end, its acceptance and its checks.
//!
//! $$ y(t + s) = \sum_{k=0}^{p} y^{[k]} s^k, \qquad \max_i \frac{|y_i^{[k]}|}{s_i} h^k \le \tfrac15 E
//!    \quad\text{for } k = p - 1, p \qquad (\mathrm H) $$
//!
//! The order $p$ is 8 or 16, so that the root in (H) is a few square roots. As in a single run
//! (`solver/ode/taylor.rs`), a step is compared with the equations at its end:
//! $|h| \sum_i |\dot u_i - f_i|/s_i \le 100 E$.
//! Models whose coefficients may not show what lies ahead are not integrated in this way.

use pfaff_expr::{Expr, Relation, Role};
use pfaff_program::{Program, TaylorRecurrences, VectorField};

use crate::ensemble::lanes::field::{Field, larger, magnitude, real, smaller, symbols};
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::programs::ANY_LENGTH;
use crate::ensemble::lanes::trial::Trial;

/// The part of the tolerance that the last terms may have.
const SHARE: f64 = 0.2;
/// How many tolerances the rates may differ in at the end of a step, all components together: in a step of the looser
/// integration the first neglected terms have about a fifth of that.
const DEFECT: f64 = 100.0;
/// By how much less the work counts.
const CARRIED: f64 = 0.01;
/// Factor after a step that was rejected, and the growth of those that follow.
const SHORTER: f64 = 0.5;
const LONGER: f64 = 2.0;
/// Instructions of all coefficients beyond which the code would not fit the caches.
const MOST_WRITTEN: usize = 20_000;

/// The two programs of a step.
pub(super) struct TaylorPrograms {
    pub(super) order: usize,
    /// $(t, y, e)$ to $y^{\[1\]}, \dots, y^{\[p\]}$
    pub(super) coefficients: Program,
    /// Rows with the coefficients behind them, to rows.
    pub(super) control: Program,
}

impl TaylorPrograms {
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
        let recurrences = TaylorRecurrences::of(&VectorField {
            graph: g,
            time: field.time,
            state: &state,
            parameters,
            rates: &field.rates_with_power(layout),
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
        let control = control(field, layout, parameters, order)?;
        Some(Self { order, coefficients, control })
    }
}

/// The step that coefficients allow.
fn control(
    field: &Field<'_>,
    layout: StepLayout,
    parameters: &[Expr],
    order: usize,
) -> Option<Program> {
    let g = field.g;
    let (d, all) = (layout.controlled(), layout.carried());
    let rows = symbols(g, layout.outputs(), "row");
    let coefficients = symbols(g, order * all, "coefficient");
    // y^[k] of a component, from k = 1.
    let series = |k: usize, i: usize| coefficients[(k - 1) * all + i];
    let tolerance = rows[StepLayout::TOLERANCE];
    let (t, t1) = (rows[StepLayout::T], rows[StepLayout::T1]);
    let y: Vec<Expr> = (0..all).map(|i| rows[StepLayout::y(i)]).collect();
    let inverse_scales: Vec<Expr> = (0..all)
        .map(|i| {
            let size = magnitude(g, y[i]);
            if i < d {
                let scale = g.add(size, larger(g, size, rows[layout.largest(i)]));
                g.div(g.one(), g.add(scale, real(g, 1e-50)))
            } else {
                let scale = larger(g, size, rows[StepLayout::ENERGY_SIZE]);
                g.div(real(g, CARRIED), g.add(scale, real(g, 1e-50)))
            }
        })
        .collect();
    let weighted = |k: usize| {
        let parts = (0..all).map(|i| g.mul(magnitude(g, series(k, i)), inverse_scales[i]));
        parts.reduce(|a, b| larger(g, a, b)).unwrap_or_else(|| g.zero())
    };
    // (H) from a length nearby: h = l (E/5 / max(q_p l^p, q_{p−1} l^{p−1}))^{1/p}
    let nearby = rows[StepLayout::H];
    let power = (1..order - 1).fold(nearby, |power, _| g.mul(power, nearby));
    let last = larger(g, g.mul(weighted(order), nearby), weighted(order - 1));
    let ratio = g.div(g.mul(last, power), g.mul(real(g, SHARE), tolerance));
    let mut root = g.add(ratio, real(g, 1e-300));
    for _ in 0..order.ilog2() {
        root = g.sqrt(root);
    }
    let next = g.div(nearby, root);
    let most = rows[StepLayout::MOST];
    let allowed = smaller(g, next, most);
    let rest = g.sub(t1, t);
    let is_last = g.compare(Relation::LessEqual, rest, allowed);
    let h = g.choose(is_last, rest, allowed);
    let time = g.choose(is_last, t1, g.add(t, h));
    let (mut end, mut slopes) = (Vec::with_capacity(all), Vec::with_capacity(all));
    for i in 0..all {
        // Horner's scheme for the sum and its derivative.
        let (mut sum, mut slope) = (series(order, i), g.zero());
        for k in (0..order).rev() {
            slope = g.add(sum, g.mul(h, slope));
            sum = g.add(if k > 0 { series(k, i) } else { y[i] }, g.mul(h, sum));
        }
        end.push(sum);
        slopes.push(slope);
    }
    let end_rates = field.at(&field.rates_with_power(layout), time, &end[..d]);
    let defects = (0..all)
        .map(|i| g.mul(magnitude(g, g.sub(slopes[i], end_rates[i])), inverse_scales[i]));
    let defect = defects.reduce(|a, b| g.add(a, b)).unwrap_or_else(|| g.zero());
    let allowed_defect = g.mul(real(g, DEFECT), tolerance);
    // NOTE: a sum, because what is not a number in one component must be in all.
    let is_good =
        g.compare(Relation::LessEqual, g.mul(magnitude(g, h), defect), allowed_defect);
    let is_free = g.compare(Relation::Less, h, most);
    let longer = g.choose(is_free, real(g, ANY_LENGTH), g.mul(real(g, LONGER), most));
    let most = g.choose(is_good, longer, g.mul(real(g, SHORTER), h));
    let rates = (0..all).map(|i| series(1, i)).collect();
    let trial = Trial { rows: &rows, h, time, end, end_rates, rates, is_good, next, most };
    let outputs = trial.outputs(field, layout);
    let inputs = [rows.as_slice(), &coefficients].concat();
    Some(Program::compile(g, &inputs, parameters, &outputs).ok()?.fused())
}
