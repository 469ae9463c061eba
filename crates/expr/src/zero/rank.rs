//! The generic rank of a matrix of expressions, by exact values in a finite field.

use crate::graph::Graph;
use crate::graph::node::Expr;
use crate::zero::exact_values;
use crate::zero::quadratic::{Z, ZERO};

impl Graph {
    /// The rank that a matrix (by rows) has at almost every point.
    ///
    /// Identities that the zero test does not know either can make it too large, never too small.
    pub fn rank(&self, rows: &[Vec<Expr>]) -> usize {
        self.independent_rows(rows).len()
    }

    /// The first rows, in order, that are independent at almost every point.
    pub fn independent_rows(&self, rows: &[Vec<Expr>]) -> Vec<usize> {
        // Stored values miss identities between functions, sin(a − b) among them.
        let entries: Vec<Expr> = rows.iter().flatten().copied().collect();
        let ranked = exact_values(self, &entries).into_iter().map(|values| {
            let mut values = values.into_iter();
            independent(rows.iter().map(|r| values.by_ref().take(r.len()).collect()))
        });
        // On one branch rows may agree that do not on another.
        ranked.max_by_key(Vec::len).unwrap_or_else(|| {
            let store = self.store.borrow();
            let value = |e: &Expr| Z(store.values[e.index()][0], 0);
            independent(rows.iter().map(|r| r.iter().map(value).collect()))
        })
    }

    /// Whether the value modulo a prime is zero: a sure sign of "not zero" if it is not, up to missed identities.
    pub fn vanishes_modulo_prime(&self, e: Expr) -> bool {
        self.store.borrow().values[e.index()] == [0, 0]
    }
}

/// The first rows, in order, that are independent, by elimination.
pub(crate) fn independent(rows: impl Iterator<Item = Vec<Z>>) -> Vec<usize> {
    let mut echelon: Vec<(usize, Vec<Z>)> = Vec::new();
    let mut independent = Vec::new();
    for (i, mut row) in rows.enumerate() {
        for (pivot, known) in &echelon {
            let factor = row[*pivot].opposite();
            if factor == ZERO {
                continue;
            }
            for (x, &k) in row.iter_mut().zip(known) {
                *x = x.plus(factor.times(k));
            }
        }
        let pivot = row.iter().position(|&x| x != ZERO);
        if let Some((pivot, scale)) = pivot.and_then(|p| Some((p, row[p].inverse()?))) {
            row.iter_mut().for_each(|x| *x = x.times(scale));
            echelon.push((pivot, row));
            independent.push(i);
        }
    }
    independent
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn rank_sees_through_identities() {
        let g = Graph::new();
        let a = g.symbol("a", Role::Free);
        let (s, c) = (g.sin(a), g.cos(a));
        let rotation = vec![vec![c, g.neg(s)], vec![s, c]];
        assert_eq!(g.rank(&rotation), 2);
        let projector = vec![vec![g.mul(c, c), g.mul(s, c)], vec![g.mul(s, c), g.mul(s, s)]];
        assert_eq!(g.rank(&projector), 1);
        let difference = g.sub(g.add(g.mul(s, s), g.mul(c, c)), g.one());
        assert_eq!(g.rank(&[vec![difference]]), 0);
    }

    #[test]
    fn rank_knows_the_addition_theorems() {
        let g = Graph::new();
        let [a, b] = ["a", "b"].map(|n| g.symbol(n, Role::Free));
        let difference = g.sin(g.sub(a, b));
        let written_out = g.sub(g.mul(g.sin(a), g.cos(b)), g.mul(g.cos(a), g.sin(b)));
        assert_eq!(g.rank(&[vec![g.one(), difference], vec![g.one(), written_out]]), 1);
        assert_eq!(g.rank(&[vec![a, difference], vec![b, written_out]]), 2);
        assert_eq!(g.independent_rows(&[vec![difference], vec![written_out], vec![a]]), [0]);
        let hidden_zero = g.sub(difference, written_out);
        assert_eq!(g.independent_rows(&[vec![hidden_zero], vec![a]]), [1]);
        let roots = [g.sqrt(a), g.sqrt(b), g.sqrt(g.mul(a, b))];
        assert_eq!(
            g.rank(&[vec![roots[0], roots[2]], vec![g.one(), roots[1]]]),
            1,
            "√a√b = √ab"
        );
        assert_eq!(
            g.rank(&[vec![g.unary(crate::Unary::Abs, a), a], vec![g.one(), g.one()]]),
            2,
            "where a < 0"
        );
    }
}
