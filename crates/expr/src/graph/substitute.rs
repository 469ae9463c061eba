//! Expressions into others: substitution, and the split into what is linear in given symbols and the rest.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::graph::store::{ONE, ZERO};
use crate::math::{Binary, Unary};

/// $e = \sum_i c_i s_i + r$ with $c$ and $r$ free of the symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSplit {
    /// $c_i$, one for each symbol.
    pub coefficients: Vec<Expr>,
    /// $r$
    pub rest: Expr,
}

/// A substitution that grows, and remembers what it has made.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    node_map: FxHashMap<Expr, Expr>,
    /// What was visited since the last [`Substitution::mark`].
    recent: Vec<Expr>,
}

impl Substitution {
    /// From here on, what is visited counts as recent.
    pub fn mark(&mut self) {
        self.recent.clear();
    }

    /// Replaces a symbol from now on. What was made before and contains it is forgotten: cheaply, if the
    /// symbol was met only recently.
    pub fn define(&mut self, g: &Graph, symbol: Expr, image: Expr) {
        if self.node_map.contains_key(&symbol) {
            if self.recent.contains(&symbol) {
                let store = g.store.borrow();
                let mask = store.masks[symbol.index()];
                for e in &self.recent {
                    if store.masks[e.index()] & mask != 0 {
                        self.node_map.remove(e);
                    }
                }
            } else {
                // NOTE: the replaced symbols must stay, everything else is made again.
                let symbols: Vec<Expr> =
                    self.node_map.keys().copied().filter(|&e| g.is_leaf(e)).collect();
                let mut kept: Vec<(Expr, Expr)> =
                    symbols.into_iter().map(|e| (e, self.node_map[&e])).collect();
                kept.sort_unstable();
                self.node_map = kept.into_iter().collect();
            }
        }
        self.node_map.insert(symbol, image);
    }

    /// The image of an expression.
    pub fn apply(&mut self, g: &Graph, e: Expr) -> Expr {
        let mut store = g.store.borrow_mut();
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            if self.node_map.contains_key(&x) {
                stack.pop();
                continue;
            }
            let node = store.node(x);
            let before = stack.len();
            stack.extend(node.operands().filter(|o| !self.node_map.contains_key(o)));
            if stack.len() > before {
                continue;
            }
            let node_map = &self.node_map;
            let made = if node.operands().all(|o| node_map[&o] == o) {
                x
            } else {
                store.rebuild(node, |o| node_map[&o])
            };
            self.node_map.insert(x, made);
            self.recent.push(x);
            stack.pop();
        }
        self.node_map[&e]
    }
}

impl Graph {
    /// Replaces symbols (or any nodes) by expressions, in all outputs at once.
    pub fn substitute(&self, outputs: &[Expr], replacement: &[(Expr, Expr)]) -> Vec<Expr> {
        let mut store = self.store.borrow_mut();
        let mut node_map = std::mem::take(&mut store.node_map);
        node_map.begin(store.nodes.len());
        replacement.iter().for_each(|&(e, image)| node_map.insert(e, image));
        // What contains a replaced node contains its symbols; what has none could be anywhere.
        let masks = replacement.iter().map(|&(e, _)| store.masks[e.index()]);
        let mask = masks.fold(0, |m, x| if x == 0 { u128::MAX } else { m | x });
        for e in store.live_with(outputs, mask) {
            if node_map.get(e).is_some() {
                continue;
            }
            let node = store.node(e);
            let image = |o: Expr| node_map.get(o).unwrap_or(o);
            if node.operands().any(|o| image(o) != o) {
                let made = store.rebuild(node, image);
                node_map.insert(e, made);
            }
        }
        let found = outputs.iter().map(|&o| node_map.get(o).unwrap_or(o)).collect();
        store.node_map = node_map;
        found
    }

    /// The outputs with a symbol in the place of each part, and what the parts are in terms of those before them. The
    /// parts, with their symbols, are in ascending order.
    pub fn abbreviated(
        &self,
        outputs: &[Expr],
        parts: &[(Expr, Expr)],
    ) -> (Vec<Expr>, Vec<Expr>) {
        let mut store = self.store.borrow_mut();
        let mut node_map = std::mem::take(&mut store.node_map);
        node_map.begin(store.nodes.len());
        let mut definitions = Vec::with_capacity(parts.len());
        let roots: Vec<Expr> =
            outputs.iter().copied().chain(parts.iter().map(|part| part.0)).collect();
        for e in store.live(&roots) {
            let node = store.node(e);
            let image = |o: Expr| node_map.get(o).unwrap_or(o);
            let is_changed = node.operands().any(|o| image(o) != o);
            let made = if is_changed { store.rebuild(node, image) } else { e };
            if let Some(&(part, symbol)) = parts.get(definitions.len())
                && part == e
            {
                definitions.push(made);
                node_map.insert(e, symbol);
            } else if is_changed {
                node_map.insert(e, made);
            }
        }
        let found = outputs.iter().map(|&o| node_map.get(o).unwrap_or(o)).collect();
        store.node_map = node_map;
        (found, definitions)
    }

    /// Writes these quotients $a/b$, in ascending order, as $a\,b^{-1}$, also within one another.
    pub fn with_inverses(&self, outputs: &[Expr], quotients: &[Expr]) -> Vec<Expr> {
        let mut store = self.store.borrow_mut();
        let mut node_map = std::mem::take(&mut store.node_map);
        node_map.begin(store.nodes.len());
        for e in store.live(outputs) {
            let image = |o: Expr| node_map.get(o).unwrap_or(o);
            let made = match store.node(e) {
                Node::Div(above, below) if quotients.binary_search(&e).is_ok() => {
                    let inverse = store.div(ONE, image(below));
                    store.mul(image(above), inverse)
                }
                node if node.operands().any(|o| image(o) != o) => store.rebuild(node, image),
                _ => continue,
            };
            node_map.insert(e, made);
        }
        let found = outputs.iter().map(|&o| node_map.get(o).unwrap_or(o)).collect();
        store.node_map = node_map;
        found
    }

    /// Replaces symbols by expressions, looking only at nodes that `within` says to contain one of them.
    pub fn substitute_within(
        &self,
        e: Expr,
        replacement: &[(Expr, Expr)],
        within: &dyn Fn(Expr) -> bool,
    ) -> Expr {
        let mut node_map: FxHashMap<Expr, Expr> = replacement.iter().copied().collect();
        let mut store = self.store.borrow_mut();
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            if node_map.contains_key(&x) || !within(x) {
                stack.pop();
                continue;
            }
            let node = store.node(x);
            let before = stack.len();
            stack.extend(node.operands().filter(|o| !node_map.contains_key(o) && within(*o)));
            if stack.len() == before {
                let made = store.rebuild(node, |o| node_map.get(&o).copied().unwrap_or(o));
                node_map.insert(x, made);
                stack.pop();
            }
        }
        node_map.get(&e).copied().unwrap_or(e)
    }

    /// Splits off the linear part, or `None` if the expression is not (provably) affine in the symbols.
    ///
    /// The coefficients are derivatives; whether they are free of the symbols is decided by
    /// [`is_zero`](Self::is_zero) of the second derivatives, so that $(x+y)^2 - x^2 - y^2 - 2xy + x$ is linear.
    /// A second derivative that vanishes on every branch of $|x|$ does not make it linear: what has branches that
    /// the symbols choose is not.
    pub fn try_linear(&self, e: Expr, symbols: &[Expr]) -> Option<LinearSplit> {
        if self.live(&[e]).iter().any(|&x| self.is_branched(x, symbols)) {
            return None;
        }
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
        Some(LinearSplit { coefficients: free, rest })
    }

    /// Whether an operation in one of the expressions has branches between which the symbols choose, so that
    /// [`try_linear`](Self::try_linear) does not apply.
    pub fn is_any_branched(&self, expressions: &[Expr], symbols: &[Expr]) -> bool {
        self.live(expressions).iter().any(|&x| self.is_branched(x, symbols))
    }

    /// Whether an expression has branches between which the symbols choose: $|x|$, but not $|y|\,x$ in $x$. A root of
    /// an even power of one symbol does not count: it has only one where the symbol has only one sign.
    pub fn has_branches(&self, e: Expr, symbols: &[Expr]) -> bool {
        let kink = |x: Expr| match self.node(x) {
            Node::Unary(Unary::Sqrt, square) | Node::Pow(square, _) => {
                matches!(self.node(square), Node::Pow(base, _) if !self.is_leaf(base))
                    && self.is_branched(x, symbols)
            }
            _ => self.is_branched(x, symbols),
        };
        self.live(&[e]).into_iter().any(kink)
    }

    /// Whether an operation has branches between which the symbols choose.
    fn is_branched(&self, e: Expr, symbols: &[Expr]) -> bool {
        let depends = |e: Expr| self.contains(e, symbols);
        match self.node(e) {
            Node::Unary(Unary::Abs | Unary::Sign, a) | Node::Table { argument: a, .. } => {
                depends(a)
            }
            Node::Binary(Binary::Min | Binary::Max, ..) | Node::Compare(..) => depends(e),
            Node::If(condition, ..) => depends(condition),
            // The root of a power.
            Node::Unary(Unary::Sqrt, a) => matches!(self.node(a), Node::Pow(..)) && depends(a),
            Node::Pow(a, power) => {
                let whole = self.double_of(power).is_some_and(|p| p.fract() == 0.0);
                !whole && matches!(self.node(a), Node::Pow(..)) && depends(a)
            }
            _ => false,
        }
    }

    /// Whether the expression is a number, $\pi$ or a symbol.
    pub fn is_leaf(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_) | Node::Pi | Node::Symbol(_))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Binary, Graph, Relation, Role, Substitution, Unary};

    #[test]
    fn what_has_branches_is_not_linear() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let less = g.compare(Relation::Less, x, g.one());
        for e in [
            g.unary(Unary::Abs, x),
            g.unary(Unary::Sign, x),
            g.binary(Binary::Max, x, y),
            g.binary(Binary::Min, x, g.zero()),
            g.choose(less, x, g.zero()),
            g.sqrt(g.mul(x, x)),
        ] {
            assert!(g.try_linear(g.add(e, y), &[x]).is_none(), "{}", g.to_text(e));
        }
        // Branches that other symbols choose leave an expression linear.
        let by_y = g.choose(g.compare(Relation::Less, y, g.one()), x, g.mul(y, x));
        assert!(g.try_linear(by_y, &[x]).is_some());
        assert!(g.try_linear(g.mul(g.unary(Unary::Abs, y), x), &[x]).is_some());
    }

    #[test]
    fn a_growing_substitution_forgets_what_it_must() {
        let g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
        let (sum, product) = (g.add(x, y), g.mul(g.add(x, y), z));
        let mut s = Substitution::default();
        s.define(&g, x, g.one());
        assert_eq!(s.apply(&g, sum), g.add(g.one(), y));
        s.mark();
        assert_eq!(s.apply(&g, product), g.mul(g.add(g.one(), y), z));
        // y was met before the mark: everything is made again; z after it.
        s.define(&g, z, g.integer(3));
        assert_eq!(s.apply(&g, product), g.mul(g.add(g.one(), y), g.integer(3)));
        s.define(&g, y, g.zero());
        assert_eq!(s.apply(&g, product), g.integer(3));
    }

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
    fn nested_quotients_become_products_by_inverses() {
        let g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
        let inner = g.div(x, y);
        let outer = g.div(g.add(inner, z), g.sub(y, inner));
        let written = g.with_inverses(&[outer, inner, z], &[inner, outer]);
        let product = g.mul(x, g.div(g.one(), y));
        let inverse = g.div(g.one(), g.sub(y, product));
        assert_eq!(written, [g.mul(g.add(product, z), inverse), product, z]);
        assert_eq!(g.with_inverses(&[outer], &[]), [outer]);
    }

    #[test]
    fn substitution_is_simultaneous() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let swapped = g.substitute(&[g.sub(x, y)], &[(x, y), (y, x)])[0];
        assert_eq!(swapped, g.sub(y, x));
    }
}
