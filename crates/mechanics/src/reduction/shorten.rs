//! Fewer divisions: what is divided by several times is inverted once.
//!
//! $a/c$ and $b/c$ become $a\,c^{-1}$ and $b\,c^{-1}$: a division takes as long as several products. Each result gets one rounding more.

use pfaff_expr::{Expr, Graph, Node};
use rustc_hash::FxHashMap;

/// Quotients within quotients are looked at this often.
const DEPTH: usize = 8;

/// Writes products by inverses instead of quotients whose denominator varies and occurs several times in the blocks; `order` is to name the same nodes.
pub(super) fn shorten(g: &Graph, blocks: &mut [&mut Vec<Expr>], order: &mut Vec<Expr>) {
    for _ in 0..DEPTH {
        let roots: Vec<Expr> = blocks.iter().flat_map(|b| b.iter().copied()).collect();
        let replaced = products(g, &roots);
        if replaced.is_empty() {
            return;
        }
        g.as_written(|| {
            blocks.iter_mut().for_each(|b| **b = g.substitute(b, &replaced));
            *order = g.substitute(order, &replaced);
        });
    }
}

/// Quotients, each with the product that is to stand in its place.
fn products(g: &Graph, roots: &[Expr]) -> Vec<(Expr, Expr)> {
    let mut quotients: Vec<(Expr, Expr, Expr)> = Vec::new();
    let mut count: FxHashMap<Expr, usize> = FxHashMap::default();
    for e in g.live(roots) {
        if let Node::Div(above, below) = g.node(e)
            && g.varies(below)
        {
            quotients.push((e, above, below));
            *count.entry(below).or_default() += 1;
        }
    }
    quotients.retain(|&(_, above, below)| count[&below] > 1 && above != g.one());
    let inverted = |(e, above, below)| (e, g.mul(above, g.div(g.one(), below)));
    // NOTE: merged, the product would become the quotient that it is equal to.
    g.as_written(|| quotients.into_iter().map(inverted).collect())
}
