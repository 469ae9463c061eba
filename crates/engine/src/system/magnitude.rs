//! The size of what an expression is made of: its rounding is that of a number of this size.
//!
//! | expression | size |
//! |---|---|
//! | $a \pm b$ | $S(a) + S(b)$ |
//! | $a b$, $a/b$ | $S(a)\,S(b)$, $S(a)/\lvert b\rvert$ |
//! | other $f$ | $\lvert f\rvert + \sum_i \lvert x_i\,\partial f/\partial x_i\rvert$ |

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph, Node, Unary};

/// The size of what an expression of some variables is made of.
pub(crate) fn magnitude(g: &Graph, e: Expr, variables: &[Expr]) -> Expr {
    let mut sizes: BTreeMap<Expr, Expr> = BTreeMap::new();
    // NOTE: operands come before what is made of them.
    for part in g.live(&[e]) {
        let known = |e: Expr| sizes.get(&e).copied().unwrap_or_else(|| leaf(g, e, variables));
        let size = match g.node(part) {
            Node::Neg(a) => known(a),
            Node::Add(a, b) | Node::Sub(a, b) => g.add(known(a), known(b)),
            Node::Mul(a, b) => g.mul(known(a), known(b)),
            Node::Div(a, b) => g.div(known(a), g.unary(Unary::Abs, b)),
            Node::If(condition, a, b) => g.choose(condition, known(a), known(b)),
            _ => leaf(g, part, variables),
        };
        sizes.insert(part, size);
    }
    sizes.get(&e).copied().unwrap_or_else(|| leaf(g, e, variables))
}

fn leaf(g: &Graph, e: Expr, variables: &[Expr]) -> Expr {
    let abs = |e: Expr| g.unary(Unary::Abs, e);
    if matches!(g.node(e), Node::Number(_) | Node::Pi | Node::Symbol(_)) {
        return abs(e);
    }
    let slopes = g.gradient(e, variables);
    let parts = slopes.iter().zip(variables).map(|(&slope, &x)| abs(g.mul(slope, x)));
    g.add(abs(e), g.sum(parts))
}
