//! Backward through definitions: a symbol that is defined by an expression hands its adjoint on to it.
//!
//! With $s_j = d_j(s, x)$, acyclic, and weights $w_i$ on outputs $e_i$, one backward pass gives the total adjoint
//! $\bar s_j = \sum_i w_i\,de_i/ds_j$ of every symbol, what flows through the definitions included. Shared nodes
//! are visited once, so a chain of definitions costs its length and not its square.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::node::Expr;
use crate::graph::pairs::Pairs;
use crate::graph::store::ZERO;

impl Graph {
    /// $\bar s$ of every asked symbol, for weighted symbols or expressions, through the definitions; `None`
    /// if these are circular.
    pub fn chained_gradient(
        &self,
        weighted: &[(Expr, Expr)],
        definitions: &[(Expr, Expr)],
        symbols: &[Expr],
    ) -> Option<Vec<Expr>> {
        let definition: FxHashMap<Expr, Expr> = definitions.iter().copied().collect();
        let order = self.order(weighted, &definition)?;
        let mut store = self.store.borrow_mut();
        let mask = definitions
            .iter()
            .map(|d| d.0)
            .chain(symbols.iter().copied())
            .fold(0, |m, s| m | store.masks[s.index()]);
        let mut adjoints: FxHashMap<Expr, Expr> = FxHashMap::default();
        for &(e, w) in weighted {
            let sum = store.add(adjoints.get(&e).copied().unwrap_or(ZERO), w);
            adjoints.insert(e, sum);
        }
        for &e in order.iter().rev() {
            let Some(&adjoint) = adjoints.get(&e) else { continue };
            let (handed, parts) = if let Some(&d) = definition.get(&e) {
                (Pairs::one((d, adjoint)), Vec::new())
            } else {
                let node = store.node(e);
                let parts = store.pull_back_family(node, adjoint, mask);
                (store.pull_back(e, node, adjoint, mask), parts)
            };
            for (o, contribution) in handed.into_iter().chain(parts) {
                let sum = store.add(adjoints.get(&o).copied().unwrap_or(ZERO), contribution);
                adjoints.insert(o, sum);
            }
        }
        Some(symbols.iter().map(|s| adjoints.get(s).copied().unwrap_or(ZERO)).collect())
    }

    /// What the outputs need, operands first and symbols after their definitions.
    fn order(
        &self,
        weighted: &[(Expr, Expr)],
        definition: &FxHashMap<Expr, Expr>,
    ) -> Option<Vec<Expr>> {
        let store = self.store.borrow();
        // open while what it needs is being ordered, done afterwards
        let mut done: FxHashMap<Expr, bool> = FxHashMap::default();
        let mut order = Vec::new();
        let mut stack: Vec<Expr> = weighted.iter().rev().map(|w| w.0).collect();
        while let Some(&e) = stack.last() {
            match done.get(&e) {
                Some(true) => {
                    stack.pop();
                }
                Some(false) => {
                    done.insert(e, true);
                    order.push(e);
                    stack.pop();
                }
                None => {
                    done.insert(e, false);
                    let needs = definition.get(&e).copied();
                    for o in store.node(e).operands().chain(needs) {
                        match done.get(&o) {
                            None => stack.push(o),
                            Some(false) => return None,
                            Some(true) => {}
                        }
                    }
                }
            }
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn adjoints_flow_through_definitions() {
        let g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
        // z = 3y + x, y = 2x: d(5z + y)/dx = 5 + 5·3·2 + 2.
        let definitions = [(z, g.add(g.mul(g.integer(3), y), x)), (y, g.mul(g.integer(2), x))];
        let weighted = [(z, g.integer(5)), (y, g.one())];
        let adjoints = g.chained_gradient(&weighted, &definitions, &[x, y, z]).unwrap();
        assert_eq!(adjoints, [37, 16, 5].map(|n| g.integer(n)));
        let circular = [(z, g.mul(y, x)), (y, g.mul(z, x))];
        assert_eq!(g.chained_gradient(&weighted, &circular, &[x]), None);
    }
}
