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
    Some(std::cmp::min_by_key(ruled, eliminated, |rows| size(rows)))
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
pub(crate) fn determinant(g: &Graph, rows: &[Vec<Expr>]) -> Expr {
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

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    fn check(g: &Graph, matrix: &[Vec<Expr>], right: &[Vec<Expr>], x: &[Vec<Expr>]) {
        for (row, r) in matrix.iter().zip(right) {
            for c in 0..r.len() {
                let column: Vec<Expr> = x.iter().map(|x| x[c]).collect();
                assert!(g.is_zero(g.sub(g.dot(row, &column), r[c])));
            }
        }
    }

    #[test]
    fn both_ways_solve_the_system() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let (c, s) = (g.cos(x), g.sin(x));
        let turned = vec![vec![c, g.neg(s)], vec![s, c]];
        let right = vec![vec![y, g.one()], vec![g.one(), x]];
        let found = solve_small(&g, &turned, &right).expect("regular");
        check(&g, &turned, &right, &found);
        // The determinant of a rotation is 1: nothing is divided by.
        let divides = |e: Expr| {
            g.live(&[e]).iter().any(|&e| matches!(g.node(e), pfaff_expr::Node::Div(..)))
        };
        assert!(found.iter().flatten().all(|&e| !divides(e)), "Cramer's rule is the shorter");
        let three = vec![
            vec![x, g.one(), y],
            vec![g.integer(2), y, g.zero()],
            vec![g.one(), g.integer(3), x],
        ];
        let right = vec![vec![g.one()], vec![x], vec![y]];
        check(&g, &three, &right, &cramer(&g, &three, &right));
        check(&g, &three, &right, &solve_small(&g, &three, &right).expect("regular"));
        let singular = vec![vec![x, y], vec![g.mul(x, y), g.mul(y, y)]];
        assert_eq!(solve_small(&g, &singular, &[vec![x], vec![y]]), None);
        assert_eq!(solve_small(&g, &[vec![x]], &[vec![y]]), Some(vec![vec![g.div(y, x)]]));
    }
}
