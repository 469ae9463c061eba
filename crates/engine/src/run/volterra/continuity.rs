//! Whether an expression jumps where its branches change.
//!
//! For every switching function pairs of states are drawn at which it has different signs. On the way from one to
//! the other the place of the change is halved to rounding; the expression must have one value on both sides.

use std::collections::HashMap;

use pfaff_expr::{Expr, Graph};
use pfaff_model::Workspace;

use crate::problem::break_points::switching_functions;
use crate::split_mix::SplitMix64;

/// Pairs of states for each switching function.
const PAIRS: usize = 200;
/// Changes of sign that are looked at.
const CHANGES: usize = 12;

/// Whether an expression of the time, coordinates and their derivatives jumps somewhere in a run from `start` of
/// this `length`.
pub(crate) fn jumps(model: &Workspace, e: Expr, start: f64, length: f64) -> bool {
    let g = &model.graph;
    let moving: Vec<Expr> =
        g.symbols(&[e]).into_iter().filter(|s| parameter(model, *s).is_none()).collect();
    let mut random = SplitMix64(0x6a75_6d70);
    let functions = switching_functions(g, &[e]);
    let mut functions: Vec<Expr> =
        functions.into_iter().filter(|u| g.contains(*u, &moving)).collect();
    functions.dedup();
    functions.into_iter().any(|u| {
        let mut seen = 0;
        for _ in 0..PAIRS {
            let [a, b] = [0, 1].map(|_| -> Vec<f64> {
                let one = |s: &Expr| {
                    let part = (random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
                    if *s == model.time { start + part * length } else { 4.0 * part - 2.0 }
                };
                moving.iter().map(one).collect()
            });
            let way = Way { model, g, moving: &moving, a: &a, b: &b };
            if way.value(u, 0.0) * way.value(u, 1.0) < 0.0 {
                seen += 1;
                if way.jumps(u, e) {
                    return true;
                }
            }
            if seen == CHANGES {
                break;
            }
        }
        false
    })
}

/// The straight way between two states.
struct Way<'a> {
    model: &'a Workspace,
    g: &'a Graph,
    moving: &'a [Expr],
    a: &'a [f64],
    b: &'a [f64],
}

impl Way<'_> {
    fn value(&self, e: Expr, part: f64) -> f64 {
        let ends = self.moving.iter().zip(self.a.iter().zip(self.b));
        let at: HashMap<Expr, f64> =
            ends.map(|(s, (a, b))| (*s, (1.0 - part) * a + part * b)).collect();
        let value = |s: Expr| {
            at.get(&s).copied().unwrap_or_else(|| parameter(self.model, s).unwrap_or(f64::NAN))
        };
        self.g.evaluate(&[e], &value)[0]
    }

    /// Whether `e` has different values on both sides of the change of sign of `u`.
    fn jumps(&self, u: Expr, e: Expr) -> bool {
        let (mut from, mut to) = (0.0, 1.0);
        let side = self.value(u, 0.0) > 0.0;
        for _ in 0..48 {
            let middle = f64::midpoint(from, to);
            if (self.value(u, middle) > 0.0) == side {
                from = middle;
            } else {
                to = middle;
            }
        }
        let (before, after) = (self.value(e, from), self.value(e, to));
        // NOTE: a root that begins there rises by the root of the rounding.
        (after - before).abs() > 1e-5 * (1.0 + before.abs().min(after.abs()))
    }
}

fn parameter(model: &Workspace, symbol: Expr) -> Option<f64> {
    model.parameters.iter().find(|p| p.symbol == symbol).map(|p| p.value)
}
