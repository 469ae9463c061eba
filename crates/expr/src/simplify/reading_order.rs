//! Products in reading order: `m*(a*(sin(x)*x'*x'))` becomes `m*a*sin(x)*x'^2`.
//!
//! Factors of a product are gathered, equal ones become powers, and they are sorted: numbers, parameters,
//! positions, functions, sums, velocities, accelerations, the rest. Sums keep their order and their shape. One
//! pass over the graph; values are unchanged up to rounding.

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::node::{Expr, Node, Role};
use crate::math::Unary;

/// Products with more factors than this are left as they are, so that shared products do not swell.
const MOST: usize = 12;

/// A product as bases with whole positive exponents.
type FactorList = Vec<(Expr, i64)>;

impl Graph {
    /// The same expressions in another graph, with every product in reading order.
    ///
    /// Another graph, because a sum or product that is known in one order is never written in the other.
    pub fn in_reading_order(&self, outputs: &[Expr], into: &Self) -> Vec<Expr> {
        let mut node_map: FxHashMap<Expr, Expr> = FxHashMap::default();
        let mut factors: FxHashMap<Expr, FactorList> = FxHashMap::default();
        for e in self.live(outputs) {
            let node = self.node(e);
            let image = match node {
                Node::Number(_) => {
                    into.number(self.number_of(e).expect("a number has its value"))
                }
                Node::Symbol(_) => {
                    let symbol = self.symbol_of(e).expect("a symbol has its name");
                    into.symbol(&symbol.name, symbol.role)
                }
                Node::Table { table, order, argument } => {
                    into.table_derivative(self.table_of(table), order, node_map[&argument])
                }
                Node::Mul(a, b) => {
                    let (a, b) = (node_map[&a], node_map[&b]);
                    match gather(into, &factors, a, b) {
                        Some(list) => {
                            let product = into.product(&list);
                            factors.insert(product, list);
                            product
                        }
                        None => into.mul(a, b),
                    }
                }
                Node::Unary(Unary::Cos, a) => into.cos(
                    self.turned(a)
                        .map_or(node_map[&a], |[x, y]| into.sub(node_map[&x], node_map[&y])),
                ),
                _ => into.store.borrow_mut().rebuild(node, |o| node_map[&o]),
            };
            node_map.insert(e, image);
        }
        outputs.iter().map(|o| node_map[o]).collect()
    }

    /// $a - b$ for a difference $b - a$ of symbols of which $a$ is the older one.
    fn turned(&self, e: Expr) -> Option<[Expr; 2]> {
        let Node::Sub(b, a) = self.node(e) else { return None };
        let are_symbols = [a, b].iter().all(|&s| matches!(self.node(s), Node::Symbol(_)));
        (are_symbols && a < b).then_some([a, b])
    }

    fn product(&self, list: &FactorList) -> Expr {
        let power = |&(base, n): &(Expr, i64)| self.pow(base, self.integer(n));
        list.iter().map(power).fold(self.one(), |p, f| self.mul(p, f))
    }
}

/// The factors of a product of two node_map, in order; `None` if there are too many or it is better left alone.
fn gather(
    g: &Graph,
    known: &FxHashMap<Expr, FactorList>,
    a: Expr,
    b: Expr,
) -> Option<FactorList> {
    let of = |e: Expr| -> FactorList {
        match (known.get(&e), g.node(e)) {
            (Some(list), _) => list.clone(),
            (None, Node::Pow(base, n)) => match whole(g, n) {
                Some(n) => vec![(base, n)],
                None => vec![(e, 1)],
            },
            _ => vec![(e, 1)],
        }
    };
    let mut list = of(a);
    for (base, n) in of(b) {
        match list.iter_mut().find(|(known, _)| *known == base) {
            // NOTE: powers of a number would fold.
            Some((_, m)) if g.number_of(base).is_none() => *m += n,
            _ => list.push((base, n)),
        }
    }
    if list.len() > MOST {
        return None;
    }
    list.sort_by_key(|&(base, _)| rank(g, base));
    Some(list)
}

fn whole(g: &Graph, n: Expr) -> Option<i64> {
    use num_traits::ToPrimitive;
    let n = g.number_of(n).filter(num_rational::Ratio::is_integer)?;
    n.numer().to_i64().filter(|n| (1..1000).contains(n))
}

/// Where a factor stands in a product.
fn rank(g: &Graph, e: Expr) -> u8 {
    match g.node(e) {
        Node::Number(_) => 0,
        Node::Pi => 1,
        Node::Symbol(_) => match g.symbol_of(e).map(|s| s.role) {
            Some(Role::Parameter) => 2,
            Some(Role::Time) => 3,
            Some(Role::Coordinate { order: 0 }) => 4,
            Some(Role::Coordinate { order }) => 7 + order.min(8),
            _ => 20,
        },
        Node::Add(..) | Node::Sub(..) => 6,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_read_as_on_paper() {
        let (g, page) = (Graph::new(), Graph::new());
        let [m, a] = ["m", "a"].map(|n| g.symbol(n, Role::Parameter));
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        let v = g.symbol("x", Role::Coordinate { order: 1 });
        let inner = g.mul(g.mul(g.sin(x), v), v);
        let e = g.mul(g.mul(v, m), g.mul(a, inner));
        let e = g.sub(g.mul(g.fraction(1, 2), e), g.mul(v, m));
        let read = g.in_reading_order(&[e], &page)[0];
        assert_eq!(page.to_text(read), "m*a*sin(x)*x'^3/2 - m*x'");
    }

    #[test]
    fn tables_and_sums_stay() {
        let (g, page) = (Graph::new(), Graph::new());
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let data = crate::Table::new("f.csv", "c", &[0.0, 1.0], &[0.0, 2.0]).unwrap();
        let e = g.add(g.mul(g.sin(x), g.fraction(2, 3)), g.div(g.table(data, x), y));
        let e = g.add(e, g.derivative(e, x));
        assert_eq!(page.to_text(g.in_reading_order(&[e], &page)[0]), g.to_text(e));
    }

    #[test]
    fn shared_products_do_not_swell() {
        let g = Graph::new();
        let mut e = g.symbol("x", Role::Free);
        for k in 0..60 {
            let other = g.symbol(&format!("y{k}"), Role::Free);
            e = g.mul(e, g.add(g.mul(e, other), other));
        }
        let page = Graph::new();
        g.in_reading_order(&[e], &page);
        assert!(page.len() < 40 * g.len(), "linear in the graph");
    }
}
