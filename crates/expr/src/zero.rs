//! Is this expression zero?

use crate::graph::Graph;
use crate::node::Expr;

impl Graph {
    /// Whether the expression is zero for all values of its symbols, as far as values modulo a prime tell.
    pub fn is_zero(&self, e: Expr) -> bool {
        self.store.borrow().values[e.index()] == [0, 0]
    }
}
