//! Small linear systems by Cramer's rule: determinants instead of nested quotients, where that is shorter.
//!
//! Elimination divides by what may vanish where the matrix does not, as in $\tan\varphi =
//! (\cdots)/\sin\varphi$. Determinants of trigonometric blocks often simplify to a constant.

use pfaff_expr::{Expr, Graph};

use super::tensor::simple;

use super::elimination::solve_linear;

/// Determinants of more rows have too many terms.
const LARGEST: usize = 3;

/// $X$ with $AX = Y$, simplified; the shorter of Cramer's rule and elimination. `None` where the matrix is
/// singular at every point.
pub(crate) fn solve_small(
    g: &Graph,
    matrix: &[Vec<Expr>],
    right: &[Vec<Expr>],
) -> Option<Vec<Vec<Expr>>> {
    let simple = |rows: Vec<Vec<Expr>>| -> Vec<Vec<Expr>> {
        rows.into_iter().map(|r| r.into_iter().map(|e| simple(g, e)).collect()).collect()
    };
    let eliminated = simple(solve_linear(g, matrix, right)?);
    if !(2..=LARGEST).contains(&matrix.len()) {
        return Some(eliminated);
    }
    let ruled = simple(cramer(g, matrix, right));
    let size = |rows: &[Vec<Expr>]| g.size(&rows.concat());
    Some(if size(&ruled) <= size(&eliminated) { ruled } else { eliminated })
}

fn cramer(g: &Graph, matrix: &[Vec<Expr>], right: &[Vec<Expr>]) -> Vec<Vec<Expr>> {
    let n = matrix.len();
    let whole = simple(g, determinant(g, matrix));
    (0..n)
        .map(|i| {
            (0..right[0].len())
                .map(|c| {
                    let mut changed = matrix.to_vec();
                    changed.iter_mut().zip(right).for_each(|(row, y)| row[i] = y[c]);
                    g.div(simple(g, determinant(g, &changed)), whole)
                })
                .collect()
        })
        .collect()
}

/// By the first row.
fn determinant(g: &Graph, rows: &[Vec<Expr>]) -> Expr {
    let [first, rest @ ..] = rows else { return g.one() };
    let mut sum = g.zero();
    for (j, &e) in first.iter().enumerate().filter(|(_, e)| **e != g.zero()) {
        let without =
            |row: &Vec<Expr>| (0..row.len()).filter(|&k| k != j).map(|k| row[k]).collect();
        let minor: Vec<Vec<Expr>> = rest.iter().map(without).collect();
        let term = g.mul(e, determinant(g, &minor));
        sum = if j % 2 == 0 { g.add(sum, term) } else { g.sub(sum, term) };
    }
    sum
}
