//! Total derivatives that are remembered: a chain of bodies costs one node each, not one chain each.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::graph::store::ZERO;

/// The total derivatives that are known, by expression.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    known: FxHashMap<Expr, Expr>,
}

impl Graph {
    /// $de/dt$ as [`total_derivative`](Self::total_derivative), with the derivatives of all its parts kept for later.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Rates, Role};
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Coordinate { order: 0 });
    /// let e = g.mul(g.sin(x), x);
    /// assert_eq!(g.rate_of(e, &mut Rates::default()), g.total_derivative(e));
    /// ```
    pub fn rate_of(&self, e: Expr, rates: &mut Rates) -> Expr {
        let mut stack = vec![e];
        let mut fresh = Vec::new();
        while let Some(x) = stack.pop() {
            if rates.known.contains_key(&x) {
                continue;
            }
            // A placeholder marks the visit; operands are older, so ascending order fills them first.
            rates.known.insert(x, ZERO);
            if self.varies(x) {
                fresh.push(x);
                stack.extend(self.node(x).operands());
            }
        }
        fresh.sort_unstable();
        for x in fresh {
            let rate = match self.node(x) {
                Node::Symbol(_) => self.rate(x).unwrap_or(ZERO),
                node if node.operands().all(|o| rates.known[&o] == ZERO) => ZERO,
                node => self.store.borrow_mut().tangent(x, node, |o| rates.known[&o]),
            };
            rates.known.insert(x, rate);
        }
        rates.known[&e]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Memory, Role};

    #[test]
    fn remembered_rates_are_total_derivatives() {
        let g = Graph::new();
        let mut rates = Rates::default();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Coordinate { order: 0 }));
        let t = g.symbol("t", Role::Time);
        let k = g.symbol("k", Role::Parameter);
        let past = g.memory(Memory::Caputo, x, k);
        let mut e = g.div(g.mul(k, y), g.add(t, past));
        for _ in 0..20 {
            e = g.add(g.sin(e), g.mul(x, g.pow(e, k)));
            assert_eq!(g.rate_of(e, &mut rates), g.total_derivative(e));
        }
        assert_eq!(g.rate_of(k, &mut rates), g.zero());
        assert_eq!(g.rate_of(past, &mut rates), g.total_derivative(past));
    }
}
