//! Operands of one node, each with what belongs to it: a derivative, or the adjoint that is handed on to it.

use crate::graph::node::{Expr, ZERO};

/// At most two operands have any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    count: usize,
    pairs: [(Expr, Expr); 2],
}

impl Pairs {
    pub(crate) const NONE: Self = Self { count: 0, pairs: [(ZERO, ZERO); 2] };

    pub(crate) fn one(pair: (Expr, Expr)) -> Self {
        Self { count: 1, pairs: [pair, (ZERO, ZERO)] }
    }

    pub(crate) fn two(first: (Expr, Expr), second: (Expr, Expr)) -> Self {
        Self { count: 2, pairs: [first, second] }
    }

    pub(crate) fn push(&mut self, pair: (Expr, Expr)) {
        self.pairs[self.count] = pair;
        self.count += 1;
    }
}

impl IntoIterator for Pairs {
    type Item = (Expr, Expr);
    type IntoIter = std::iter::Take<std::array::IntoIter<(Expr, Expr), 2>>;

    fn into_iter(self) -> Self::IntoIter {
        self.pairs.into_iter().take(self.count)
    }
}
