//! Fewer operations: what is divided by several times is inverted once, and constant factors are multiplied once a run.
//!
//! $a/c$ and $b/c$ become $a\,c^{-1}$ and $b\,c^{-1}$: a division takes as long as several products. Each result gets one rounding more.
//! $(m a\,x)\,m^{-1}$ becomes $a\,x$.

use pfaff_expr::{Expr, Graph, Node};
use rustc_hash::FxHashMap;

/// Quotients within quotients are looked at this often.
const DEPTH: usize = 8;
/// Nodes beyond which products are left as they are.
const LONG: usize = 500;

/// Writes products by inverses instead of quotients whose denominator varies and occurs several times in the blocks; `order` is to name the same nodes.
pub(super) fn shorten(g: &Graph, blocks: &mut [&mut Vec<Expr>], order: &mut Vec<Expr>) {
    for _ in 0..DEPTH {
        let replaced = products(g, &roots(blocks));
        if replaced.is_empty() {
            break;
        }
        replace(g, &replaced, blocks, order);
    }
    let roots = roots(blocks);
    let count = |roots: &[Expr]| g.live(roots).len();
    let before = count(&roots);
    let gathered = if before > LONG { Vec::new() } else { gathered(g, &roots) };
    // Products that others share would be lost: it counts what is left.
    if !gathered.is_empty() && count(&g.as_written(|| g.substitute(&roots, &gathered))) < before
    {
        replace(g, &gathered, blocks, order);
    }
}

fn roots(blocks: &[&mut Vec<Expr>]) -> Vec<Expr> {
    blocks.iter().flat_map(|b| b.iter().copied()).collect()
}

fn replace(
    g: &Graph,
    replaced: &[(Expr, Expr)],
    blocks: &mut [&mut Vec<Expr>],
    order: &mut Vec<Expr>,
) {
    g.as_written(|| {
        blocks.iter_mut().for_each(|b| **b = g.substitute(b, replaced));
        *order = g.substitute(order, replaced);
    });
}

/// Whole products with several constant factors, each with the same product that has one.
fn gathered(g: &Graph, roots: &[Expr]) -> Vec<(Expr, Expr)> {
    let live = g.live(roots);
    let mut replaced = Vec::new();
    for e in live {
        let (mut constant, mut rest, mut constants) = (g.one(), Vec::new(), 0);
        let mut stack = vec![e];
        while let Some(x) = stack.pop() {
            match g.node(x) {
                _ if !g.varies(x) => {
                    constant = g.mul(constant, x);
                    constants += 1;
                }
                Node::Mul(a, b) => stack.extend([b, a]),
                _ => rest.push(x),
            }
        }
        if constants > 1 {
            let product = |p: Expr, &x: &Expr| g.mul(p, x);
            replaced.push((e, g.as_written(|| rest.iter().fold(constant, product))));
        }
    }
    replaced
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
