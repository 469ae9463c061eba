//! A trial of DOP853 in lanes: stages, error, acceptance and the next step length as one straight-line program.

use pfaff_expr::{Expr, Graph, Relation};
use pfaff_program::Program;
use pfaff_solver::Dop853Tableau;

use crate::ensemble::lanes::field::{Field, larger, magnitude, real, scale, smaller, symbols};
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::trial::Trial;

/// Largest and smallest factor between the lengths of two steps.
const LONGER: f64 = 6.0;
const SHORTER: f64 = 1.0 / 3.0;
const SAFETY: f64 = 0.9;

/// $\sum_j w_j k_j$ of a component.
fn combined(g: &Graph, weights: &[f64], stages: &[Vec<Expr>], i: usize) -> Expr {
    let terms = weights.iter().zip(stages).filter(|(w, _)| **w != 0.0);
    g.sum(terms.map(|(&w, stage)| g.mul(real(g, w), stage[i])))
}

/// Rows to rows.
pub(super) fn dop853_program(
    field: &Field<'_>,
    layout: StepLayout,
    parameters: &[Expr],
) -> Option<Program> {
    let g = field.g;
    let tableau = Dop853Tableau::DOP853;
    let rows = symbols(g, layout.rows(), "row");
    let tolerance = rows[StepLayout::TOLERANCE];
    let (t, h, t1) = (rows[StepLayout::T], rows[StepLayout::H], rows[StepLayout::T1]);
    let (d, all) = (layout.controlled(), layout.carried());
    let y: Vec<Expr> = (0..all).map(|i| rows[StepLayout::y(i)]).collect();
    let rates: Vec<Expr> = (0..all).map(|i| rows[layout.rates(i)]).collect();
    let right = field.rates_with_power(layout);
    let rest = g.sub(t1, t);
    let is_last = g.compare(Relation::LessEqual, rest, h);
    let h = g.choose(is_last, rest, h);
    let mut stages = vec![rates.clone()];
    for (row, node) in tableau.rows.iter().zip(tableau.nodes) {
        let at: Vec<Expr> =
            (0..d).map(|i| g.add(y[i], g.mul(h, combined(g, row, &stages, i)))).collect();
        let time = g.add(t, g.mul(real(g, node), h));
        stages.push(field.at(&right, time, &at));
    }
    let end: Vec<Expr> = (0..all)
        .map(|i| g.add(y[i], g.mul(h, combined(g, &tableau.weights, &stages, i))))
        .collect();
    let time = g.choose(is_last, t1, g.add(t, h));
    let end_rates = field.at(&right, time, &end[..d]);
    // The error in parts of the tolerance.
    let mut worst = [g.zero(); 2];
    for i in 0..d {
        let size = magnitude(g, end[i]);
        let inverse = g.div(g.one(), scale(g, &rows, layout, i, size));
        for (worst, weights) in worst.iter_mut().zip(&tableau.errors) {
            let part = magnitude(g, combined(g, weights, &stages, i));
            *worst = larger(g, g.mul(part, inverse), *worst);
        }
    }
    let [five, three] = worst.map(|x| g.mul(x, x));
    let root = g.sqrt(g.add(g.add(five, g.mul(real(g, 0.01), three)), real(g, 1e-300)));
    let error = g.div(g.mul(magnitude(g, h), five), g.mul(root, tolerance));
    let is_good = g.compare(Relation::LessEqual, error, g.one());
    let eighth = g.sqrt(g.sqrt(g.sqrt(g.add(error, real(g, 1e-30)))));
    let factor = g.div(real(g, SAFETY), eighth);
    // NOTE: what is not a number is shortened.
    let factor = g.choose(
        g.compare(Relation::Less, real(g, SHORTER), factor),
        smaller(g, factor, real(g, LONGER)),
        real(g, SHORTER),
    );
    let next = g.mul(factor, h);
    let most = rows[StepLayout::MOST];
    let trial = Trial { rows: &rows, h, time, end, end_rates, rates, is_good, next, most };
    let outputs = trial.outputs(field, layout);
    Some(Program::compile(g, &rows, parameters, &outputs).ok()?.fused())
}
