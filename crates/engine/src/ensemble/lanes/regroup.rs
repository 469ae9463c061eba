//! Products with factors that are fixed during a run, regrouped: $(a y) z$ becomes $a\,(y z)$.
//!
//! A product of series is a sum in every order, and one by a number a single product. With the numbers outside, equal
//! series meet and are squared, which takes half of the sum; a sign joins the number.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph, Node};

/// Expressions of some variables; everything else is fixed.
pub(super) fn regrouped(g: &Graph, list: &[Expr], variables: &[Expr]) -> Vec<Expr> {
    let mut known: BTreeMap<Expr, Factors> = BTreeMap::new();
    // NOTE: operands come before what is made of them.
    for part in g.live(list) {
        let of = |e: Expr| known.get(&e).copied().unwrap_or_else(|| Factors::varying(g, e));
        let factors = if g.contains(part, variables) {
            match g.node(part) {
                Node::Neg(a) => of(a).scaled(g, g.neg(g.one())),
                Node::Mul(a, b) => of(a).times(g, of(b)),
                Node::Add(a, b) => Factors::varying(g, g.add(of(a).whole(g), of(b).whole(g))),
                Node::Sub(a, b) => Factors::varying(g, g.sub(of(a).whole(g), of(b).whole(g))),
                _ => Factors::varying(g, part),
            }
        } else {
            Factors { fixed: part, varying: g.one() }
        };
        known.insert(part, factors);
    }
    list.iter().map(|e| known.get(e).map_or(*e, |factors| factors.whole(g))).collect()
}

/// A product of what is fixed and what varies.
#[derive(Clone, Copy)]
struct Factors {
    fixed: Expr,
    varying: Expr,
}

impl Factors {
    fn varying(g: &Graph, varying: Expr) -> Self {
        Self { fixed: g.one(), varying }
    }

    fn scaled(self, g: &Graph, by: Expr) -> Self {
        Self { fixed: g.mul(by, self.fixed), ..self }
    }

    fn times(self, g: &Graph, other: Self) -> Self {
        let fixed = g.mul(self.fixed, other.fixed);
        Self { fixed, varying: g.mul(self.varying, other.varying) }
    }

    fn whole(self, g: &Graph) -> Expr {
        g.mul(self.fixed, self.varying)
    }
}

#[cfg(test)]
mod tests {
    use pfaff_expr::Role;

    use super::*;

    #[test]
    fn numbers_stand_outside_and_equal_factors_meet() {
        let g = Graph::new();
        let [a, b] = ["a", "b"].map(|name| g.symbol(name, Role::Parameter));
        let [x, y] = ["x", "y"].map(|name| g.symbol(name, Role::Free));
        let square = g.mul(g.mul(a, x), x);
        let signed = g.neg(g.mul(g.mul(b, x), g.mul(a, y)));
        let sum = g.mul(g.add(g.mul(g.mul(a, y), y), x), x);
        let found = regrouped(&g, &[square, signed, sum, a], &[x, y]);
        assert_eq!(found[0], g.mul(a, g.mul(x, x)));
        assert_eq!(found[1], g.mul(g.neg(g.mul(b, a)), g.mul(x, y)));
        assert_eq!(found[2], g.mul(g.add(g.mul(a, g.mul(y, y)), x), x));
        assert_eq!(found[3], a);
    }
}
