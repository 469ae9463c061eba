//! Linear equations with symbolic coefficients, solved by elimination.
//!
//! $A X = Y$ by Gauss's method with complete pivoting: numbers first, then the diagonal (a positive mass is
//! zero nowhere), then the smallest entry that does not vanish identically (decided by values modulo a
//! prime). The solution is a
//! graph that shares all intermediate results; it is valid wherever no pivot is zero. Meant for views of
//! small systems: the equations themselves are never inverted.

use pfaff_expr::{Expr, Graph};

/// $X$ with $AX = Y$; `matrix` is n × n, `right` n × k, and so is the answer. `None` where the matrix is
/// singular at every point.
pub fn solve_linear(
    g: &Graph,
    matrix: &[Vec<Expr>],
    right: &[Vec<Expr>],
) -> Option<Vec<Vec<Expr>>> {
    let n = matrix.len();
    let mut a: Vec<Vec<Expr>> = matrix
        .iter()
        .zip(right)
        .map(|(row, y)| row.iter().chain(y).copied().collect())
        .collect();
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) =
        ((0..n).collect(), (0..n).collect());
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    while !rows.is_empty() {
        let (i, j) = pivot(g, &a, &rows, &columns)?;
        rows.retain(|&r| r != i);
        columns.retain(|&c| c != j);
        for &r in &rows {
            if g.vanishes_modulo_prime(a[r][j]) {
                continue;
            }
            let factor = g.div(a[r][j], a[i][j]);
            for c in columns.iter().copied().chain(n..a[i].len()) {
                a[r][c] = g.sub(a[r][c], g.mul(factor, a[i][c]));
            }
        }
        pivots.push((i, j));
    }
    let mut x = vec![Vec::new(); n];
    let mut known: Vec<usize> = Vec::new();
    for &(i, j) in pivots.iter().rev() {
        x[j] = (n..a[i].len())
            .map(|c| {
                let taken = g.sum(known.iter().map(|&l| g.mul(a[i][l], x[l][c - n])));
                g.div(g.sub(a[i][c], taken), a[i][j])
            })
            .collect();
        known.push(j);
    }
    Some(x)
}

fn pivot(
    g: &Graph,
    a: &[Vec<Expr>],
    rows: &[usize],
    columns: &[usize],
) -> Option<(usize, usize)> {
    let mut best: Option<((bool, usize), (usize, usize))> = None;
    for &i in rows {
        for &j in columns {
            let e = a[i][j];
            let cost = match g.number_of(e) {
                Some(_) => (false, 0),
                None => (i != j, g.size(&[e])),
            };
            if best.is_none_or(|(least, _)| cost < least) && !g.vanishes_modulo_prime(e) {
                best = Some((cost, (i, j)));
                if cost == (false, 0) {
                    return Some((i, j));
                }
            }
        }
    }
    best.map(|(_, place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    #[test]
    fn a_symbolic_solution_satisfies_its_equations() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let a = vec![
            vec![g.zero(), x, g.one()],
            vec![g.sin(y), g.integer(2), x],
            vec![y, g.one(), g.zero()],
        ];
        let right = vec![vec![x], vec![g.one()], vec![g.cos(y)]];
        let solution = solve_linear(&g, &a, &right).expect("regular");
        for (row, r) in a.iter().zip(&right) {
            let column: Vec<Expr> = solution.iter().map(|s| s[0]).collect();
            assert!(g.is_zero(g.sub(g.dot(row, &column), r[0])));
        }
        let twice = vec![vec![x, y], vec![g.mul(x, x), g.mul(x, y)]];
        assert_eq!(solve_linear(&g, &twice, &[vec![x], vec![y]]), None);
    }
}
