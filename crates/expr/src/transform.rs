//! Expressions into others: substitution, and the split into what is linear in given symbols and the rest.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::node::{Expr, Node};
use crate::store::ZERO;

/// $e = \sum_i c_i s_i + r$ with $c$ and $r$ free of the symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// $c_i$, one for each symbol.
    pub coefficients: Vec<Expr>,
    /// $r$
    pub rest: Expr,
}

impl Graph {
    /// Replaces symbols (or any nodes) by expressions, in all outputs at once.
    pub fn substitute(&self, outputs: &[Expr], replacement: &[(Expr, Expr)]) -> Vec<Expr> {
        let mut images: FxHashMap<Expr, Expr> = replacement.iter().copied().collect();
        let mut store = self.store.borrow_mut();
        for e in store.live(outputs) {
            if images.contains_key(&e) {
                continue;
            }
            let node = store.node(e);
            let image = |o: Expr| images.get(&o).copied().unwrap_or(o);
            if node.operands().any(|o| image(o) != o) {
                let made = store.rebuild(node, image);
                images.insert(e, made);
            }
        }
        outputs.iter().map(|o| images.get(o).copied().unwrap_or(*o)).collect()
    }

    /// Splits off the linear part, or `None` if the expression is not (provably) affine in the symbols.
    ///
    /// The coefficients are derivatives; whether they are free of the symbols is decided by
    /// [`is_zero`](Self::is_zero) of the second derivatives, so that $(x+y)^2 - x^2 - y^2 - 2xy + x$ is linear.
    pub fn try_linear(&self, e: Expr, symbols: &[Expr]) -> Option<Linear> {
        let coefficients = self.gradient(e, symbols);
        let zeros: Vec<(Expr, Expr)> = symbols.iter().map(|&s| (s, ZERO)).collect();
        let mut free = Vec::with_capacity(symbols.len());
        for &c in &coefficients {
            if !self.contains(c, symbols) {
                free.push(c);
                continue;
            }
            let second = self.gradient(c, symbols);
            if !second.iter().all(|&s| self.is_zero(s)) {
                return None;
            }
            free.push(self.substitute(&[c], &zeros)[0]);
        }
        let rest = self.substitute(&[e], &zeros)[0];
        Some(Linear { coefficients: free, rest })
    }

    /// Whether the expression is a number, $\pi$ or a symbol.
    pub fn is_leaf(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_) | Node::Pi | Node::Symbol(_))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn hidden_linearity_is_found() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let two = g.integer(2);
        let square = g.pow(g.add(x, y), two);
        let e =
            g.sub(g.sub(g.sub(square, g.pow(x, two)), g.pow(y, two)), g.mul(two, g.mul(x, y)));
        let linear = g.try_linear(g.add(e, x), &[x, y]).unwrap();
        assert!(g.is_zero(g.sub(linear.coefficients[0], g.one())));
        assert!(g.is_zero(linear.coefficients[1]) && g.is_zero(linear.rest));
        assert_eq!(g.try_linear(square, &[x, y]), None);
    }

    #[test]
    fn substitution_is_simultaneous() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let swapped = g.substitute(&[g.sub(x, y)], &[(x, y), (y, x)])[0];
        assert_eq!(swapped, g.sub(y, x));
    }
}
