//! Fewer operations: what is divided by several times is inverted once, and constant factors are multiplied once a run.
//!
//! $a/c$ and $b/c$ become $a\,c^{-1}$ and $b\,c^{-1}$: a division takes as long as several products. Each
//! result gets one rounding more.
//! $(m a\,x)\,m^{-1}$ becomes $a\,x$.

use pfaff_expr::{Expr, Graph, Node};
use rustc_hash::FxHashMap;

/// Nodes beyond which products are left as they are.
const LONG: usize = 500;

/// Writes products by inverses instead of quotients whose denominator varies and occurs several times in the
/// blocks; `order` is to name the same nodes.
pub(super) fn shorten(g: &Graph, blocks: &mut [&mut Vec<Expr>], order: &mut Vec<Expr>) {
    let mut all: Vec<Expr> = blocks.iter().flat_map(|b| b.iter()).copied().collect();
    let roots = all.len();
    all.append(order);
    // Until no quotients come to have a denominator in common.
    loop {
        let quotients = quotients(g, &all[..roots]);
        // NOTE: merged, the product would become the quotient that it is equal to.
        let written = g.as_written(|| g.with_inverses(&all, &quotients));
        // What was met as equal to a quotient before stays one.
        if written == all {
            break;
        }
        all = written;
    }
    let before = g.size(&all[..roots]);
    let gathered = if before > LONG { Vec::new() } else { gathered(g, &all[..roots]) };
    let shorter = g.as_written(|| g.substitute(&all, &gathered));
    // Products that others share would be lost: it counts what is left.
    all = std::cmp::min_by_key(all, shorter, |all| g.size(&all[..roots]));
    *order = all.split_off(roots);
    let mut rest = all.into_iter();
    blocks.iter_mut().flat_map(|b| b.iter_mut()).for_each(|e| *e = rest.next().unwrap_or(*e));
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

/// Quotients with a varying denominator that others have too, in their order.
fn quotients(g: &Graph, roots: &[Expr]) -> Vec<Expr> {
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
    quotients.into_iter().map(|(e, ..)| e).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    /// $a/c$ and $b/c$ become products by $1/c$, in the order of evaluation too.
    #[test]
    fn what_is_divided_by_twice_is_inverted_once() {
        let g = Graph::new();
        let [a, b, c] = ["a", "b", "c"].map(|n| g.symbol(n, Role::Coordinate { order: 0 }));
        let below = g.add(c, g.one());
        let (mut one, mut other) = (vec![g.div(a, below), a], vec![g.div(b, below)]);
        let alone = g.div(a, b);
        let mut order = vec![one[0], alone];
        g.merging(|| shorten(&g, &mut [&mut one, &mut other], &mut order));
        let inverse = g.div(g.one(), below);
        assert_eq!((one, &other), (vec![g.mul(a, inverse), a], &vec![g.mul(b, inverse)]));
        assert_eq!(order, [g.mul(a, inverse), alone]);
    }

    /// $k^{-1}\,(k\,x)\,y$ becomes $x\,y$, in blocks up to the limit.
    #[test]
    fn constants_are_gathered_in_blocks_that_are_not_long() {
        let shortened = |size: usize| {
            let g = Graph::new();
            let x = g.symbol("x", Role::Coordinate { order: 0 });
            let k = g.symbol("k", Role::Parameter);
            let product = g.as_written(|| {
                g.mul(g.div(g.one(), k), g.mul(g.mul(k, g.sin(x)), g.add(x, g.integer(1))))
            });
            let mut padding = g.cos(x);
            while g.size(&[product, padding]) < size {
                padding = g.sin(padding);
            }
            assert_eq!(g.size(&[product, padding]), size);
            let mut block = vec![product, padding];
            g.merging(|| shorten(&g, &mut [&mut block], &mut Vec::new()));
            let value = |e: Expr| g.evaluate(&[e], &|s| if s == x { 0.7 } else { 1.3 })[0];
            assert!((value(block[0]) - value(product)).abs() < 1e-15);
            block[0] != product
        };
        assert!(shortened(LONG) && shortened(LONG / 2) && !shortened(LONG + 1));
    }
}
