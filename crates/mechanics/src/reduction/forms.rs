//! Quasi-velocities from the model's own words: linear forms in $\dot q$ that it uses in several places, such as angular velocities.

use pfaff_expr::{Expr, Graph, Node};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Statement;

/// More unknowns than this are left as they are: determinants grow.
const MOST: usize = 4;
/// Models with more shared sums than this have no few forms of their own.
const MOST_SUMS: usize = 24;
/// Models beyond this many nodes are left as they are.
const NODES: usize = 4_000;

/// The forms used in several places that are not only parts of one another, if there are $k$ of them.
pub(super) fn suggest(s: &Statement, k: usize) -> Vec<Expr> {
    let g = &s.graph;
    let mut roots = s.rows.clone();
    roots.push(s.lagrangian);
    let live = g.live(&roots);
    if k == 0 || k > MOST || live.len() > NODES {
        return Vec::new();
    }
    let mut parents: FxHashMap<Expr, Vec<Expr>> = FxHashMap::default();
    for &x in &live {
        for o in g.node(x).operands() {
            let list = parents.entry(o).or_default();
            if list.last() != Some(&x) {
                list.push(x);
            }
        }
    }
    let is_shared_sum = |x: Expr| {
        let shared = parents.get(&x).is_some_and(|p| p.len() > 1);
        shared && matches!(g.node(x), Node::Add(..) | Node::Sub(..))
    };
    let sums: Vec<Expr> = live.iter().copied().filter(|&x| is_shared_sum(x)).collect();
    if sums.len() > MOST_SUMS {
        return Vec::new();
    }
    let is_form = |x: &Expr| g.contains(*x, &s.velocities) && is_linear(g, *x, &s.velocities);
    let shared: Vec<Expr> = sums.into_iter().filter(is_form).collect();
    let below: Vec<FxHashSet<Expr>> =
        shared.iter().map(|&y| g.live(&[y]).into_iter().collect()).collect();
    let is_part = |x: Expr| {
        parents[&x]
            .iter()
            .all(|p| shared.iter().zip(&below).any(|(&y, inside)| y != x && inside.contains(p)))
    };
    let forms: Vec<Expr> = shared.iter().copied().filter(|&x| !is_part(x)).collect();
    if forms.len() == k { forms } else { Vec::new() }
}

/// Whether all coefficients are free of velocities.
fn is_linear(g: &Graph, x: Expr, velocities: &[Expr]) -> bool {
    g.gradient(x, velocities).iter().all(|&c| !g.contains(c, velocities))
}

/// The determinant and the solution of $W x = r$ by Cramer's rule: where a quotient is simple, its value is found among the nodes.
pub(super) fn cramer(
    g: &Graph,
    matrix: &[Vec<Expr>],
    right: &[Expr],
) -> Option<(Expr, Vec<Expr>)> {
    let k = right.len();
    let whole = determinant(g, matrix);
    if g.vanishes_modulo_prime(whole) {
        return None;
    }
    let solution = (0..k).map(|f| {
        g.sum((0..k).map(|a| {
            let rows = (0..k).filter(|&i| i != a);
            let minor: Vec<Vec<Expr>> = rows
                .map(|i| (0..k).filter(|&j| j != f).map(|j| matrix[i][j]).collect())
                .collect();
            let share = g.mul(g.div(determinant(g, &minor), whole), right[a]);
            if (a + f) % 2 == 0 { share } else { g.neg(share) }
        }))
    });
    Some((whole, solution.collect()))
}

/// How far forms with this mass (its lower triangle) are from depending on each other: $\sqrt{\det m/\prod m_{aa}}$,
/// the volume that unit forms span in the kinetic metric. `None` where it is 1 everywhere.
pub(super) fn spread(g: &Graph, mass: &[Expr], k: usize) -> Option<Expr> {
    let entry = |a: usize, b: usize| mass[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
    let mut pairs = (0..k).flat_map(|a| (0..a).map(move |b| (a, b)));
    if pairs.all(|(a, b)| g.vanishes_modulo_prime(entry(a, b))) {
        return None;
    }
    let matrix: Vec<Vec<Expr>> =
        (0..k).map(|a| (0..k).map(|b| entry(a, b)).collect()).collect();
    let product = (0..k).fold(g.one(), |product, a| g.mul(product, entry(a, a)));
    Some(g.sqrt(g.div(determinant(g, &matrix), product)))
}

/// By the first row; the depth is at most [`MOST`].
fn determinant(g: &Graph, m: &[Vec<Expr>]) -> Expr {
    if m.is_empty() {
        return g.one();
    }
    (0..m.len()).fold(g.zero(), |sum, j| {
        if m[0][j] == g.zero() {
            return sum;
        }
        let minor: Vec<Vec<Expr>> = m[1..]
            .iter()
            .map(|r| r.iter().enumerate().filter(|x| x.0 != j).map(|x| *x.1).collect())
            .collect();
        let term = g.mul(m[0][j], determinant(g, &minor));
        if j % 2 == 0 { g.add(sum, term) } else { g.sub(sum, term) }
    })
}
