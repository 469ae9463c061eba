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
    let size = n + m;
    let mut matrix = vec![vec![g.zero(); size]; size];
    for i in 0..n {
        matrix[i][..n].copy_from_slice(&equations.mass[i]);
        for a in 0..m {
            matrix[i][n + a] = equations.jacobian[a][i];
            matrix[n + a][i] = equations.jacobian[a][i];
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

/// The solution and the pivots.
fn factor(
    g: &Graph,
    mut k: Vec<Vec<Expr>>,
    mut x: Vec<Expr>,
    most: usize,
) -> Option<(Vec<Expr>, Vec<Expr>)> {
    let zero = g.zero();
    let mut left: Vec<usize> = (0..x.len()).collect();
    let mut done: Vec<EliminationStep> = Vec::new();
    let (mut pivots, mut steps) = (Vec::new(), 0);
    while !left.is_empty() {
        let degree = |i: usize| left.iter().filter(|&&j| j != i && k[i][j] != zero).count();
        let usable = left.iter().copied().filter(|&i| !g.vanishes_modulo_prime(k[i][i]));
        let p = usable.min_by_key(|&i| (degree(i), i))?;
        left.retain(|&i| i != p);
        let inverse = g.div(g.one(), k[p][p]);
        pivots.push(k[p][p]);
        let neighbours: Vec<usize> =
            left.iter().copied().filter(|&i| k[i][p] != zero).collect();
        steps += 1 + neighbours.len() * (neighbours.len() + 5) / 2;
        if steps > most {
            return None;
        }
        let factors: Vec<(usize, Expr)> =
            neighbours.iter().map(|&i| (i, g.mul(k[i][p], inverse))).collect();
        for (a, &(i, l)) in factors.iter().enumerate() {
            for &j in &neighbours[..=a] {
                let entry = g.sub(k[i][j], g.mul(l, k[j][p]));
                k[i][j] = entry;
                k[j][i] = entry;
            }
            x[i] = g.sub(x[i], g.mul(l, x[p]));
        }
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
        let matrix: Vec<Vec<Expr>> =
            rows.iter().map(|r| r.iter().map(|&x| number(x)).collect()).collect();
        let right: Vec<Expr> = [1, 2, 3, 4].map(number).to_vec();
        let (x, pivots) = factor(&g, matrix, right.clone(), 100).unwrap();
        assert_eq!(pivots.len(), 4);
        for (row, &b) in rows.iter().zip(&right) {
            let sum = g.sum(row.iter().zip(&x).map(|(&k, &x)| g.mul(number(k), x)));
            assert_eq!(sum, b, "exact in rational numbers");
        }
        let singular = vec![vec![g.zero()]];
        assert!(factor(&g, singular, vec![g.one()], 100).is_none());
    }
}
