//! The generic rank of a matrix of expressions, by exact values modulo a prime.

use crate::field;
use crate::graph::Graph;
use crate::node::Expr;

impl Graph {
    /// The rank that a matrix (by rows) has at almost every point.
    ///
    /// Identities that values modulo a prime miss can make it too large, never too small.
    pub fn rank(&self, rows: &[Vec<Expr>]) -> usize {
        self.independent_rows(rows).len()
    }

    /// The first rows, in order, that are independent at almost every point.
    pub fn independent_rows(&self, rows: &[Vec<Expr>]) -> Vec<usize> {
        let store = self.store.borrow();
        let values =
            rows.iter().map(|r| r.iter().map(|e| store.values[e.index()][0]).collect());
        independent(values)
    }

    /// Whether the value modulo a prime is zero: a sure sign of "not zero" if it is not, up to missed identities.
    pub fn vanishes_modulo_prime(&self, e: Expr) -> bool {
        self.store.borrow().values[e.index()] == [0, 0]
    }
}

/// The first rows, in order, that are independent, by elimination.
pub(crate) fn independent(rows: impl Iterator<Item = Vec<u64>>) -> Vec<usize> {
    let mut echelon: Vec<(usize, Vec<u64>)> = Vec::new();
    let mut independent = Vec::new();
    for (i, mut row) in rows.enumerate() {
        for (pivot, known) in &echelon {
            let factor = field::neg(row[*pivot]);
            for (x, k) in row.iter_mut().zip(known) {
                *x = field::add(*x, field::mul(factor, *k));
            }
        }
        if let Some(pivot) = row.iter().position(|&x| x != 0) {
            let scale = field::inv(row[pivot]);
            row.iter_mut().for_each(|x| *x = field::mul(*x, scale));
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
}
