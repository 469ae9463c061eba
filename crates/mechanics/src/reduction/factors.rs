//! (K) solved on paper: the factors $L D L^\top$ of the saddle-point matrix written out, in an order that
//! keeps them sparse.
//!
//! $$ \begin{pmatrix} M & A^\top \\\\ A & 0 \end{pmatrix}\begin{pmatrix} \ddot q \\\\ -\lambda \end{pmatrix} =
//! \begin{pmatrix} f \\\\ b \end{pmatrix} $$
//!
//! The order is that of `elimination_order.rs`. For positive definite $M$ and independent rows every such order has
//! non-zero pivots: those of coordinates are positive, those of constraints negative.
//! The order is fixed on paper, so the pivots must be watched when numbers are put in.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph};
use pfaff_model::Principle;

use crate::algebra::elimination_order::EliminationOrder;
use crate::equations::{Equations, SparseBlocks};

/// The solution of (K) as expressions.
#[derive(Clone, Debug)]
pub struct SaddleSolution {
    /// $\ddot q$
    pub accelerations: Vec<Expr>,
    /// $\lambda$, or $\dot\mu$ under the vakonomic principle
    pub multipliers: Vec<Expr>,
    /// $D$, in the order of elimination: what was divided by
    pub pivots: Vec<Expr>,
}

/// Solves (K), in at most so many steps of elimination.
///
/// `None` if that is not enough, if the matrix is not symmetric (reactions along other directions than the
/// constraints', the restricted principle), or if it is
/// singular at every state, as with redundant constraints.
pub fn solve_saddle(g: &Graph, equations: &Equations, most: usize) -> Option<SaddleSolution> {
    let SparseBlocks { mass, definitions, jacobian, .. } = equations.sparse(g);
    let (n, size) = (equations.force.len(), mass.len());
    let is_saddle = equations.principle != Principle::Restricted;
    if !is_symmetric(&mass) || !is_saddle || !equations.has_chetaev_reactions() {
        return None;
    }
    let (extra, has_definitions) = (definitions.len(), !definitions.is_empty());
    let mut matrix: Vec<BTreeMap<usize, Expr>> =
        mass.into_iter().map(|row| row.into_iter().collect()).collect();
    for (a, row) in definitions.into_iter().chain(jacobian).enumerate() {
        for &(i, e) in &row {
            matrix[i].insert(size + a, e);
        }
        matrix.push(row.into_iter().collect());
    }
    let zeros = || std::iter::repeat_n(g.zero(), extra);
    let forces = equations.force.iter().copied().chain(zeros());
    let right: Vec<Expr> =
        forces.chain(zeros()).chain(equations.drift.iter().copied()).collect();
    let mut order = EliminationOrder::new(matrix.len());
    if has_definitions {
        let neighbours: Vec<Vec<usize>> =
            matrix.iter().map(|row| row.keys().copied().collect()).collect();
        order = order.with_care(size, &neighbours);
    }
    let (x, pivots) = g.as_written(|| factor(g, matrix, right, order, most))?;
    Some(SaddleSolution {
        accelerations: x[..n].to_vec(),
        multipliers: x[size + extra..].iter().map(|&y| g.neg(y)).collect(),
        pivots,
    })
}

fn is_symmetric(rows: &[Vec<(usize, Expr)>]) -> bool {
    let entry = |i: usize, j: usize| {
        let place = rows[i].binary_search_by_key(&j, |entry| entry.0).ok()?;
        Some(rows[i][place].1)
    };
    rows.iter().enumerate().all(|(i, row)| row.iter().all(|&(j, e)| entry(j, i) == Some(e)))
}

/// One pivot with its inverse and the factors of its neighbours.
struct EliminationStep {
    p: usize,
    inverse: Expr,
    factors: Vec<(usize, Expr)>,
}

/// The solution and the pivots of a symmetric matrix, given by the entries of its rows that are not zero, eliminated in
/// an order.
fn factor(
    g: &Graph,
    mut k: Vec<BTreeMap<usize, Expr>>,
    mut x: Vec<Expr>,
    mut order: EliminationOrder,
    most: usize,
) -> Option<(Vec<Expr>, Vec<Expr>)> {
    let zero = g.zero();
    let usable = |row: &BTreeMap<usize, Expr>, i: usize| {
        row.get(&i).filter(|&&e| !g.vanishes_modulo_prime(e)).map(|_| row.len())
    };
    (0..x.len()).for_each(|i| order.put(i, usable(&k[i], i)));
    let mut done: Vec<EliminationStep> = Vec::new();
    let (mut pivots, mut steps) = (Vec::new(), 0);
    while done.len() < x.len() {
        let p = order.next()?;
        let mut row = std::mem::take(&mut k[p]);
        let pivot = row.remove(&p)?;
        let inverse = g.div(g.one(), pivot);
        pivots.push(pivot);
        steps += 1 + row.len() * (row.len() + 5) / 2;
        if steps > most {
            return None;
        }
        let factors: Vec<(usize, Expr)> =
            row.iter().map(|(&i, &e)| (i, g.mul(e, inverse))).collect();
        for &i in row.keys() {
            k[i].remove(&p);
        }
        for &(i, l) in &factors {
            for (&j, &e) in row.range(..=i) {
                let known = k[i].get(&j).copied().unwrap_or(zero);
                let entry = g.sub(known, g.mul(l, e));
                if entry == zero {
                    k[i].remove(&j);
                    k[j].remove(&i);
                } else {
                    k[i].insert(j, entry);
                    k[j].insert(i, entry);
                }
            }
            x[i] = g.sub(x[i], g.mul(l, x[p]));
        }
        row.keys().for_each(|&i| order.put(i, usable(&k[i], i)));
        done.push(EliminationStep { p, inverse, factors });
    }
    for EliminationStep { p, inverse, factors } in done.iter().rev() {
        let mut sum = g.mul(x[*p], *inverse);
        for &(i, l) in factors {
            sum = g.sub(sum, g.mul(l, x[i]));
        }
        x[*p] = sum;
    }
    Some((x, pivots))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solution_satisfies_the_system() {
        let g = Graph::new();
        // An arrow: the first coordinate would fill everything and must come last; one constraint.
        let number = |x: i64| g.integer(x);
        let rows = [[5, 1, 1, 1], [1, 3, 0, 0], [1, 0, 4, 2], [1, 0, 2, 0]];
        let entries = |row: &[i64; 4]| {
            let row = row.iter().copied().enumerate().filter(|&(_, x)| x != 0);
            row.map(|(j, x)| (j, number(x))).collect()
        };
        let matrix: Vec<BTreeMap<usize, Expr>> = rows.iter().map(entries).collect();
        let right: Vec<Expr> = [1, 2, 3, 4].map(number).to_vec();
        let order = || EliminationOrder::new(4);
        let (x, pivots) = factor(&g, matrix, right.clone(), order(), 100).unwrap();
        assert_eq!(pivots.len(), 4);
        for (row, &b) in rows.iter().zip(&right) {
            let sum = g.sum(row.iter().zip(&x).map(|(&k, &x)| g.mul(number(k), x)));
            assert_eq!(sum, b, "exact in rational numbers");
        }
        let singular = vec![BTreeMap::new()];
        assert!(factor(&g, singular, vec![g.one()], EliminationOrder::new(1), 100).is_none());
    }
}
