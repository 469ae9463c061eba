//! Derivatives: forward along a direction, backward to all symbols, and along the motion.
//!
//! Forward, $\dot e = \sum_i (\partial e/\partial o_i)\,\dot o_i$ over the operands $o_i$; backward,
//! $\bar o_i \mathrel{+}= \bar e\,\partial e/\partial o_i$. Both visit each shared node once. Memory operators
//! are held fixed: their derivative is zero, which is what $A = \partial\varphi/\partial\dot q$ means for them.

mod chain;
pub(crate) mod rate;
mod users;

use rustc_hash::FxHashMap;

use crate::derivative::users::Users;
use crate::graph::Graph;
use crate::graph::node::{Expr, Node, Role, Symbol};
use crate::graph::pairs::Pairs;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::Unary;

impl Graph {
    /// $\partial e/\partial s$
    pub fn derivative(&self, e: Expr, symbol: Expr) -> Expr {
        self.directional(&[e], &[(symbol, ONE)])[0]
    }

    /// The derivative of each output along a direction, given as rates of symbols. One pass for all outputs.
    pub fn directional(&self, outputs: &[Expr], direction: &[(Expr, Expr)]) -> Vec<Expr> {
        self.store.borrow_mut().directional(outputs, direction)
    }

    /// $\partial e/\partial s$, where derivatives by the same symbol are known already; what is computed is added
    /// to them. Only nodes that contain the symbol, as `within` says, are visited.
    pub fn derivative_further(
        &self,
        e: Expr,
        symbol: Expr,
        known: &mut FxHashMap<Expr, Expr>,
        within: &dyn Fn(Expr) -> bool,
    ) -> Expr {
        let mut store = self.store.borrow_mut();
        known.insert(symbol, ONE);
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            if known.contains_key(&x) || !within(x) {
                stack.pop();
                continue;
            }
            let node = store.node(x);
            let before = stack.len();
            stack.extend(node.operands().filter(|o| !known.contains_key(o) && within(*o)));
            if stack.len() == before {
                let tangent =
                    store.tangent(x, node, |o| known.get(&o).copied().unwrap_or(ZERO));
                known.insert(x, tangent);
                stack.pop();
            }
        }
        known.get(&e).copied().unwrap_or(ZERO)
    }

    /// $\partial e/\partial s$ for every symbol by one backward pass.
    pub fn gradient(&self, e: Expr, symbols: &[Expr]) -> Vec<Expr> {
        self.store.borrow_mut().gradient(&[(e, ONE)], symbols)
    }

    /// $\sum_i w_i\,\partial e_i/\partial s$ for every symbol by one backward pass.
    pub fn weighted_gradient(&self, weighted: &[(Expr, Expr)], symbols: &[Expr]) -> Vec<Expr> {
        self.store.borrow_mut().gradient(weighted, symbols)
    }

    /// Rows $\partial e_i/\partial s_j$.
    pub fn jacobian(&self, outputs: &[Expr], symbols: &[Expr]) -> Vec<Vec<Expr>> {
        let mut rows = vec![vec![ZERO; symbols.len()]; outputs.len()];
        for (j, column) in self.jacobian_columns(outputs, symbols).into_iter().enumerate() {
            column.into_iter().for_each(|(i, slope)| rows[i][j] = slope);
        }
        rows
    }

    /// $\partial e_i/\partial s_j$ for each symbol $s_j$: those that are not zero, with their $i$.
    ///
    /// A symbol costs as much as there are nodes that contain it.
    pub fn jacobian_columns(
        &self,
        outputs: &[Expr],
        symbols: &[Expr],
    ) -> Vec<Vec<(usize, Expr)>> {
        self.store.borrow_mut().jacobian_columns(outputs, symbols)
    }

    /// $\partial^2 e/\partial s_i\partial s_j$, exactly symmetric.
    pub fn hessian(&self, e: Expr, symbols: &[Expr]) -> Vec<Vec<Expr>> {
        let gradient = self.gradient(e, symbols);
        let mut rows = self.jacobian(&gradient, symbols);
        for i in 0..rows.len() {
            for j in 0..i {
                rows[i][j] = rows[j][i];
            }
        }
        rows
    }

    /// $de/dt$: $q \to \dot q \to \ddot q$, $\mu \to \dot\mu$, $t \to 1$; parameters rest.
    pub fn total_derivative(&self, e: Expr) -> Expr {
        self.total_derivatives(&[e])[0]
    }

    /// $d/dt$ of several expressions in one pass.
    pub fn total_derivatives(&self, outputs: &[Expr]) -> Vec<Expr> {
        let direction: Vec<(Expr, Expr)> = self
            .symbols(outputs)
            .into_iter()
            .filter_map(|s| Some((s, self.rate(s)?)))
            .collect();
        self.directional(outputs, &direction)
    }

    /// The rate of a symbol: the next dot of a coordinate or multiplier, 1 for time, `None` for what rests.
    pub fn rate(&self, symbol: Expr) -> Option<Expr> {
        let Symbol { name, role } = self.symbol_of(symbol)?;
        match role {
            Role::Time => Some(ONE),
            Role::Coordinate { order } => {
                Some(self.symbol(&name, Role::Coordinate { order: order + 1 }))
            }
            Role::Multiplier { order } => {
                Some(self.symbol(&name, Role::Multiplier { order: order + 1 }))
            }
            Role::Parameter | Role::Free => None,
        }
    }
}

impl Store {
    fn directional(&mut self, outputs: &[Expr], direction: &[(Expr, Expr)]) -> Vec<Expr> {
        let mask = direction.iter().fold(0, |m, (s, _)| m | self.masks[s.index()]);
        let mut tangents = std::mem::take(&mut self.node_map);
        tangents.begin(self.nodes.len());
        direction.iter().for_each(|&(s, rate)| tangents.insert(s, rate));
        for e in self.live_with(outputs, mask) {
            if tangents.get(e).is_some() {
                continue;
            }
            let of = |o: Expr| tangents.get(o).unwrap_or(ZERO);
            let node = self.node(e);
            if node.operands().all(|o| of(o) == ZERO) {
                continue;
            }
            let tangent = self.tangent(e, node, of);
            if tangent != ZERO {
                tangents.insert(e, tangent);
            }
        }
        let found = outputs.iter().map(|&o| tangents.get(o).unwrap_or(ZERO)).collect();
        self.node_map = tangents;
        found
    }

    fn jacobian_columns(
        &mut self,
        outputs: &[Expr],
        symbols: &[Expr],
    ) -> Vec<Vec<(usize, Expr)>> {
        let mask = symbols.iter().fold(0, |m, s| m | self.masks[s.index()]);
        let mut users = Users::new(self, outputs, mask);
        symbols
            .iter()
            .map(|&s| {
                let reached = users.of(s);
                let mut tangents = std::mem::take(&mut self.node_map);
                tangents.begin(self.nodes.len());
                tangents.insert(s, ONE);
                for &k in &reached {
                    let e = users.nodes[k as usize];
                    let of = |o: Expr| tangents.get(o).unwrap_or(ZERO);
                    let node = self.node(e);
                    if e == s || node.operands().all(|o| of(o) == ZERO) {
                        continue;
                    }
                    let tangent = self.tangent(e, node, of);
                    if tangent != ZERO {
                        tangents.insert(e, tangent);
                    }
                }
                let mut column: Vec<(usize, Expr)> = Vec::new();
                for &k in &reached {
                    if let Some(slope) = tangents.get(users.nodes[k as usize]) {
                        column.extend(users.outputs(k).iter().map(|&i| (i as usize, slope)));
                    }
                }
                self.node_map = tangents;
                column.sort_unstable();
                column
            })
            .collect()
    }

    /// The derivative of one node from those of its operands.
    pub(crate) fn tangent(&mut self, e: Expr, node: Node, of: impl Fn(Expr) -> Expr) -> Expr {
        match node {
            Node::Neg(a) => self.neg(of(a)),
            Node::Add(a, b) => self.add(of(a), of(b)),
            Node::Sub(a, b) => self.sub(of(a), of(b)),
            Node::Mul(a, b) => {
                let (x, y) = (self.mul(of(a), b), self.mul(a, of(b)));
                self.add(x, y)
            }
            Node::Div(a, b) => {
                // (ȧ − e ḃ)/b
                let product = self.mul(e, of(b));
                let numerator = self.sub(of(a), product);
                self.div(numerator, b)
            }
            Node::If(c, a, b) => self.choose(c, of(a), of(b)),
            Node::List(a, b) => self.list_cell(of(a), of(b)),
            Node::Family { family, part, list } => {
                let slopes = self.part_slopes(family, part, list, &|_, e| of(e) != ZERO);
                slopes.into_iter().fold(ZERO, |sum, (entry, slope)| {
                    let term = self.mul(slope, of(entry));
                    self.add(sum, term)
                })
            }
            _ => {
                let mut sum = ZERO;
                for (o, partial) in self.partials(e, node) {
                    if of(o) != ZERO {
                        let term = self.mul(partial, of(o));
                        sum = self.add(sum, term);
                    }
                }
                sum
            }
        }
    }

    pub(crate) fn gradient(
        &mut self,
        weighted: &[(Expr, Expr)],
        symbols: &[Expr],
    ) -> Vec<Expr> {
        let mask = symbols.iter().fold(0, |m, s| m | self.masks[s.index()]);
        let mut adjoints = std::mem::take(&mut self.node_map);
        adjoints.begin(self.nodes.len());
        for &(e, w) in weighted {
            let sum = self.add(adjoints.get(e).unwrap_or(ZERO), w);
            adjoints.insert(e, sum);
        }
        let roots: Vec<Expr> = weighted.iter().map(|&(e, _)| e).collect();
        for e in self.live_with(&roots, mask).into_iter().rev() {
            let Some(adjoint) = adjoints.get(e) else { continue };
            let node = self.node(e);
            let parts = self.pull_back_family(node, adjoint, mask);
            let handed = self.pull_back(e, node, adjoint, mask);
            for (o, contribution) in handed.into_iter().chain(parts) {
                let sum = self.add(adjoints.get(o).unwrap_or(ZERO), contribution);
                adjoints.insert(o, sum);
            }
        }
        let found = symbols.iter().map(|&s| adjoints.get(s).unwrap_or(ZERO)).collect();
        self.node_map = adjoints;
        found
    }

    /// What a part of a family hands down to the entries of its list; nothing for other nodes.
    pub(crate) fn pull_back_family(
        &mut self,
        node: Node,
        adjoint: Expr,
        mask: u128,
    ) -> Vec<(Expr, Expr)> {
        let Node::Family { family, part, list } = node else { return Vec::new() };
        let wanted = |s: &Self, entry: Expr| s.masks[entry.index()] & mask != 0;
        let mut handed = self.part_slopes(family, part, list, &wanted);
        handed.iter_mut().for_each(|(_, slope)| *slope = self.mul(adjoint, *slope));
        handed
    }

    /// What a node hands down to its operands that contain a symbol of the mask.
    pub(crate) fn pull_back(
        &mut self,
        e: Expr,
        node: Node,
        adjoint: Expr,
        mask: u128,
    ) -> Pairs {
        let wanted = |s: &Self, o: Expr| s.masks[o.index()] & mask != 0;
        let all = match node {
            Node::Neg(a) => Pairs::one((a, self.neg(adjoint))),
            Node::Add(a, b) => Pairs::two((a, adjoint), (b, adjoint)),
            Node::Sub(a, b) => Pairs::two((a, adjoint), (b, self.neg(adjoint))),
            Node::Div(a, b) => {
                let share = self.div(adjoint, b);
                if wanted(self, b) {
                    let product = self.mul(share, e);
                    Pairs::two((a, share), (b, self.neg(product)))
                } else {
                    Pairs::one((a, share))
                }
            }
            Node::If(c, a, b) => {
                let first = self.choose(c, adjoint, ZERO);
                Pairs::two((a, first), (b, self.choose(c, ZERO, adjoint)))
            }
            _ => {
                let mut handed = Pairs::NONE;
                for (o, partial) in self.partials(e, node) {
                    if wanted(self, o) {
                        handed.push((o, self.mul(adjoint, partial)));
                    }
                }
                return handed;
            }
        };
        let mut handed = Pairs::NONE;
        all.into_iter().filter(|&(o, _)| wanted(self, o)).for_each(|pair| handed.push(pair));
        handed
    }

    /// $\partial e/\partial o$ for the operands of a node. What is piecewise constant has none.
    fn partials(&mut self, e: Expr, node: Node) -> Pairs {
        match node {
            Node::Mul(a, b) => Pairs::two((a, b), (b, a)),
            Node::Pow(a, b) => self.power_partials(e, a, b),
            Node::Unary(f, a) => Pairs::one((a, f.derivative(self, e, a))),
            Node::Binary(f, a, b) => f.partials(self, a, b),
            Node::MittagLeffler(a, b, z) => {
                Pairs::one((z, self.mittag_leffler_slope(e, a, b, z)))
            }
            Node::Table { table, order, argument } => {
                let slope = self.intern(Node::Table { table, order: order + 1, argument });
                Pairs::one((argument, slope))
            }
            // NOTE: memory operators are held fixed, conditions are piecewise constant.
            _ => Pairs::NONE,
        }
    }

    fn power_partials(&mut self, e: Expr, a: Expr, b: Expr) -> Pairs {
        // ∂ₐ aᵇ = b aᵇ⁻¹, ∂_b aᵇ = aᵇ ln a
        let less = self.sub(b, ONE);
        let lower = self.pow(a, less);
        let base = self.mul(b, lower);
        if self.is_number(b) {
            return Pairs::one((a, base));
        }
        let log = self.unary(Unary::Log, a);
        Pairs::two((a, base), (b, self.mul(e, log)))
    }

    /// $E'_{\alpha,\beta}(z) = \bigl(E_{\alpha,\beta-1}(z) - (\beta-1)E_{\alpha,\beta}(z)\bigr)/(\alpha z)$
    fn mittag_leffler_slope(&mut self, e: Expr, a: Expr, b: Expr, z: Expr) -> Expr {
        let less = self.sub(b, ONE);
        let lower = self.intern(Node::MittagLeffler(a, less, z));
        let product = self.mul(less, e);
        let numerator = self.sub(lower, product);
        let denominator = self.mul(a, z);
        self.div(numerator, denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_derivative_adds_dots_and_time() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        let v = g.symbol("x", Role::Coordinate { order: 1 });
        let a = g.symbol("x", Role::Coordinate { order: 2 });
        let t = g.symbol("t", Role::Time);
        // d/dt (x v + t) = v² + x a + 1
        let e = g.add(g.mul(x, v), t);
        let expected = g.add(g.add(g.mul(v, v), g.mul(x, a)), g.one());
        assert_eq!(g.total_derivative(e), expected);
    }

    #[test]
    fn memory_is_held_fixed() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        let past = g.memory(crate::Memory::Caputo, x, g.fraction(1, 2));
        assert_eq!(g.derivative(g.mul(past, x), x), past);
    }
}
