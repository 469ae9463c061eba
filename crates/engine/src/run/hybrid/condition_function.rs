//! Conditions of `when` as functions that are positive where they hold.
//!
//! | condition | function |
//! |---|---|
//! | $a < b$, $a \le b$ | $h = b - a$ |
//! | $A$ and $B$ | $\min(h_A, h_B)$ |
//! | $A$ or $B$ | $\max(h_A, h_B)$ |
//!
//! Where both sides of a comparison are equal for a while, $h$ stays at zero, and no zero of it says when that ends:
//! $\max(x, 0) \le 0$ has $h = 0$ for all $x < 0$. So where an operation with branches, of the switching function u,
//! leaves an $h^\pm$ on one side that nothing moves, h becomes
//!
//! $$ \max\bigl(\min(u, h^+),\, \min(-u, h^-)\bigr), $$
//!
//! with $\pm1$ in the place of what does not move: there the comparison holds or does not. For $\max(x, 0) \le 0$ that
//! is $-x$.

use pfaff_expr::{Binary, Expr, Graph, Node, Relation, Unary};
use pfaff_model::Workspace;

/// Operations with branches within each other that are told apart.
const MOST: usize = 6;

/// A function that is positive where a condition holds.
pub(super) fn function(g: &Graph, model: &Workspace, condition: Expr) -> Expr {
    match g.node(condition) {
        Node::And(a, b) => g.binary(Binary::Min, function(g, model, a), function(g, model, b)),
        Node::Or(a, b) => g.binary(Binary::Max, function(g, model, a), function(g, model, b)),
        Node::Compare(relation, a, b) => {
            let difference = g.sub(b, a);
            let known = Known::new(g, model);
            known.told(difference, relation, MOST).unwrap_or(difference)
        }
        _ => sign_of(g, condition),
    }
}

/// 1 where a condition that nothing moves holds, else −1.
fn sign_of(g: &Graph, condition: Expr) -> Expr {
    g.choose(condition, g.one(), g.integer(-1))
}

/// What does not move.
struct Known<'a> {
    g: &'a Graph,
    parameters: Vec<Expr>,
    state: Vec<Expr>,
}

impl<'a> Known<'a> {
    fn new(g: &'a Graph, model: &Workspace) -> Self {
        let mut state = vec![model.time];
        state.extend(model.positions().into_iter().chain(model.velocities()));
        let parameters = model.parameters.iter().map(|p| p.symbol).collect();
        Self { g, parameters, state }
    }

    /// A function with the sign of `difference` that is not zero where that does not move; `None` if it moves
    /// everywhere.
    fn told(&self, difference: Expr, relation: Relation, most: usize) -> Option<Expr> {
        let g = self.g;
        if let Some(fixed) = self.fixed(difference) {
            return Some(sign_of(g, g.compare(relation, g.zero(), fixed)));
        }
        let (operation, u, sides) = self.innermost(difference).filter(|_| most > 0)?;
        let [above, below] =
            sides.map(|side| g.substitute(&[difference], &[(operation, side)])[0]);
        let told = [above, below].map(|side| self.told(side, relation, most - 1));
        if told == [None, None] {
            return None;
        }
        let [above, below] = [told[0].unwrap_or(above), told[1].unwrap_or(below)];
        let above = g.binary(Binary::Min, u, above);
        let below = g.binary(Binary::Min, g.neg(u), below);
        Some(g.binary(Binary::Max, above, below))
    }

    /// The first operation with branches that moves: itself, its switching function, what it is above and below zero.
    fn innermost(&self, e: Expr) -> Option<(Expr, Expr, [Expr; 2])> {
        let g = self.g;
        let mut all = g.live(&[e]).into_iter();
        all.find_map(|e| {
            let (u, sides) = match g.node(e) {
                Node::Unary(Unary::Abs, a) => (a, [a, g.neg(a)]),
                Node::Unary(Unary::Sign, a) => (a, [g.one(), g.integer(-1)]),
                Node::Unary(Unary::Sqrt, a) => match g.node(a) {
                    Node::Pow(base, two) if two == g.integer(2) => (base, [base, g.neg(base)]),
                    _ => return None,
                },
                Node::Binary(Binary::Max, a, b) => (g.sub(a, b), [a, b]),
                Node::Binary(Binary::Min, a, b) => (g.sub(a, b), [b, a]),
                Node::If(condition, a, b) => match g.node(condition) {
                    Node::Compare(Relation::Less | Relation::LessEqual, x, y) => {
                        (g.sub(y, x), [a, b])
                    }
                    _ => return None,
                },
                _ => return None,
            };
            g.contains(u, &self.state).then_some((e, u, sides))
        })
    }

    /// A function of parameters that has the same value, if nothing moves it.
    fn fixed(&self, e: Expr) -> Option<Expr> {
        let g = self.g;
        let is_fixed = |e: Expr| g.symbols(&[e]).iter().all(|s| self.parameters.contains(s));
        if is_fixed(e) {
            return Some(e);
        }
        let moves = || g.gradient(e, &self.state).iter().any(|&slope| slope != g.zero());
        if self.innermost(e).is_some() || moves() {
            return None;
        }
        let origin: Vec<(Expr, Expr)> = self.state.iter().map(|&x| (x, g.zero())).collect();
        let there = g.substitute(&[e], &origin)[0];
        is_fixed(there).then_some(there)
    }
}
