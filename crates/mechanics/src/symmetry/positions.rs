//! Functions of positions and time that several velocity constraints keep together.
//!
//! With $\dot q = B u + b$ a function $h(q, t)$ is kept where $h_q B = 0$ and $h_q b + h_t = 0$. The ansatz for $h$ has
//! constant coefficients: coordinates, their products in pairs, time, and the sines, cosines and other functions that
//! the constraints are written with, sines for cosines as well.

use pfaff_expr::{Expr, Node, Unary};
use pfaff_model::Workspace;

use super::ansatz::{relations, somewhere};
use super::conserved_quantity::{Conserved, ConservedKind};
use super::null_space::NullSpace;
use crate::equations::{Class, Equations};
use crate::reduction::quasi_velocities;

/// Coordinates up to which products of pairs are in the ansatz.
const PAIRED: usize = 8;
/// Coordinates up to which there is an ansatz.
const MOST: usize = 24;
/// Functions that are taken from the constraints.
const FUNCTIONS: usize = 8;

/// What the velocity constraints keep beside the holonomic ones.
pub(super) fn kept_positions(model: &Workspace, equations: &Equations) -> Vec<Conserved> {
    let g = &model.graph;
    let holonomic: Vec<bool> =
        equations.classes.iter().map(|c| *c == Class::Holonomic).collect();
    if holonomic.iter().all(|&h| h) || model.coordinates.len() > MOST {
        return Vec::new();
    }
    let q = model.positions();
    let mut candidates: Vec<Expr> = Vec::new();
    if q.len() <= PAIRED {
        for (k, &x) in q.iter().enumerate() {
            candidates.extend(q[k..].iter().map(|&y| g.mul(x, y)));
        }
    }
    let products = candidates.len();
    candidates.extend(functions(model, equations));
    candidates.push(model.time);
    candidates.extend(q.iter().rev());
    if !may_be_kept(model, equations, &candidates) {
        return Vec::new();
    }
    let Some(quasi) = quasi_velocities(model, equations) else { return Vec::new() };
    let columns: Vec<Vec<(Expr, Expr)>> = (0..quasi.symbols.len())
        .map(|a| q.iter().zip(&quasi.basis).map(|(&q, row)| (q, row[a])).collect())
        .collect();
    let mut drift: Vec<(Expr, Expr)> =
        q.iter().copied().zip(quasi.offset.iter().copied()).collect();
    drift.push((model.time, g.one()));
    let mut rates: Vec<Vec<Expr>> = vec![Vec::new(); candidates.len()];
    for direction in columns.iter().chain([&drift]) {
        let slopes = g.directional(&candidates, direction);
        rates.iter_mut().zip(slopes).for_each(|(all, s)| all.push(s));
    }
    // What holonomic constraints keep is no news.
    let mut known: Vec<Vec<Expr>> = equations
        .jacobian
        .iter()
        .zip(&holonomic)
        .filter(|(_, h)| **h)
        .map(|(row, _)| row.clone())
        .collect();
    let mut found = Vec::new();
    // A linear integral before its square.
    let mut relations = relations(g, &rates);
    relations.reverse();
    relations.sort_by_key(|r| r.iter().filter(|&&(j, _)| j < products).count());
    for relation in relations {
        let h = g.sum(relation.iter().map(|&(j, c)| g.mul(c, candidates[j])));
        known.push(g.gradient(h, &q));
        if g.rank(&known) == known.len() {
            let kind = ConservedKind::Position;
            found.push(Conserved { name: String::new(), kind, quantity: h });
        } else {
            known.pop();
        }
    }
    found
}

/// Whether a combination of functions is kept at some points: a sure "no" otherwise, by numbers alone.
fn may_be_kept(model: &Workspace, equations: &Equations, candidates: &[Expr]) -> bool {
    let g = &model.graph;
    let (n, q) = (model.coordinates.len(), model.positions());
    let still: Vec<(Expr, Expr)> = model.velocities().iter().map(|&v| (v, g.zero())).collect();
    // (A, a) with Aq̇ + a = 0: time as one more coordinate.
    let rest = g.substitute(&equations.residual, &still);
    let mut wanted: Vec<Expr> = Vec::new();
    for (row, &a) in equations.jacobian.iter().zip(&rest) {
        wanted.extend(row.iter().copied().chain([a]));
    }
    let rows = rest.len();
    for &h in candidates {
        wanted.extend(g.gradient(h, &q));
        wanted.push(g.derivative(h, model.time));
    }
    let mut space = NullSpace::new(candidates.len());
    let mut evaluator = g.evaluator(&wanted);
    for point in 0..2 * candidates.len() as u64 {
        let values = evaluator.at(&|s| somewhere(g, s, point));
        if values.iter().any(|x| !x.is_finite()) {
            continue;
        }
        let mut allowed = NullSpace::new(n + 1);
        let (constraints, slopes) = values.split_at(rows * (n + 1));
        constraints.chunks_exact(n + 1).for_each(|row| {
            allowed.add(row.to_vec());
        });
        for direction in allowed.basis() {
            let along =
                |slope: &[f64]| slope.iter().zip(&direction).map(|(x, y)| x * y).sum::<f64>();
            space.add(slopes.chunks_exact(n + 1).map(along).collect());
        }
        if space.dimension() == 0 {
            return false;
        }
    }
    true
}

/// Functions of single positions in the constraints.
fn functions(model: &Workspace, equations: &Equations) -> Vec<Expr> {
    let g = &model.graph;
    let (q, mut others) = (model.positions(), model.velocities());
    others.push(model.time);
    let is_wanted = |e: &Expr| {
        matches!(g.node(*e), Node::Unary(..)) && g.contains(*e, &q) && !g.contains(*e, &others)
    };
    let live = g.live(&equations.residual).into_iter();
    let found: Vec<Expr> = live.filter(is_wanted).take(FUNCTIONS).collect();
    // The integral of a cosine is a sine.
    let mut all = found.clone();
    for e in found {
        let Node::Unary(function, argument) = g.node(e) else { continue };
        let partner = match function {
            Unary::Sin => Unary::Cos,
            Unary::Cos => Unary::Sin,
            Unary::Sinh => Unary::Cosh,
            Unary::Cosh => Unary::Sinh,
            _ => continue,
        };
        let partner = g.unary(partner, argument);
        if !all.contains(&partner) {
            all.push(partner);
        }
    }
    all
}
