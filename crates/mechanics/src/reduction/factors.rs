//! (K) solved on paper: the factors $L D L^\top$ of the saddle-point matrix written out, in an order that
//! keeps them sparse.
//!
//! $$ \begin{pmatrix} M & A^\top \\\\ A & 0 \end{pmatrix}\begin{pmatrix} \ddot q \\\\ -\lambda \end{pmatrix} =
//! \begin{pmatrix} f \\\\ b \end{pmatrix} $$
//!
//! The next pivot is the row with fewest neighbours (minimum degree) whose diagonal is not identically zero:
//! a constraint's is not as soon as one of its coordinates is
//! gone. For positive definite $M$ and independent rows every such order has non-zero pivots: those of
//! coordinates are positive, those of constraints negative.
//! The order is fixed on paper, so the pivots must be watched when numbers are put in.

use std::collections::{BTreeMap, BTreeSet};

use pfaff_expr::{Expr, Graph};
use pfaff_model::Principle;

use crate::equations::Equations;

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
    let (n, m) = (equations.mass.len(), equations.jacobian.len());
    let symmetric =
        (0..n).all(|i| (0..i).all(|j| equations.mass[i][j] == equations.mass[j][i]));
    let is_saddle = equations.principle != Principle::Restricted;
    if !symmetric || !is_saddle || !equations.has_chetaev_reactions() {
        return None;
    }
    let mut matrix = vec![BTreeMap::new(); n + m];
    for (i, row) in equations.mass.iter().enumerate() {
        let entries = row.iter().copied().enumerate();
        matrix[i].extend(entries.filter(|&(_, e)| e != g.zero()));
    }
    for (a, row) in equations.jacobian.iter().enumerate() {
        for (i, &e) in row.iter().enumerate().filter(|&(_, &e)| e != g.zero()) {
            matrix[i].insert(n + a, e);
            matrix[n + a].insert(i, e);
        }
    }
    let right: Vec<Expr> = equations.force.iter().chain(&equations.drift).copied().collect();
    let solved = g.as_written(|| factor(g, matrix, right, most))?;
    let (x, pivots) = solved;
    Some(SaddleSolution {
        accelerations: x[..n].to_vec(),
        multipliers: x[n..].iter().map(|&y| g.neg(y)).collect(),
        pivots,
    })
}

/// One pivot with its inverse and the factors of its neighbours.
struct EliminationStep {
    p: usize,
    inverse: Expr,
    factors: Vec<(usize, Expr)>,
}

/// The solution and the pivots of a symmetric matrix, given by the entries of its rows that are not zero.
fn factor(
    g: &Graph,
    mut k: Vec<BTreeMap<usize, Expr>>,
    mut x: Vec<Expr>,
    most: usize,
) -> Option<(Vec<Expr>, Vec<Expr>)> {
    let zero = g.zero();
    let is_usable =
        |k: &BTreeMap<usize, Expr>, i| k.get(&i).is_some_and(|&e| !g.vanishes_modulo_prime(e));
    // The rows whose diagonal can be divided by, those with fewest entries first.
    let mut usable: BTreeSet<(usize, usize)> =
        (0..x.len()).filter(|&i| is_usable(&k[i], i)).map(|i| (k[i].len(), i)).collect();
    let mut done: Vec<EliminationStep> = Vec::new();
    let (mut pivots, mut steps) = (Vec::new(), 0);
    while done.len() < x.len() {
        let (_, p) = usable.pop_first()?;
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
            usable.remove(&(k[i].len(), i));
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
        let again = row.keys().filter(|&&i| is_usable(&k[i], i));
        usable.extend(again.map(|&i| (k[i].len(), i)));
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
        let (x, pivots) = factor(&g, matrix, right.clone(), 100).unwrap();
        assert_eq!(pivots.len(), 4);
        for (row, &b) in rows.iter().zip(&right) {
            let sum = g.sum(row.iter().zip(&x).map(|(&k, &x)| g.mul(number(k), x)));
            assert_eq!(sum, b, "exact in rational numbers");
        }
        let singular = vec![BTreeMap::new()];
        assert!(factor(&g, singular, vec![g.one()], 100).is_none());
    }
}
