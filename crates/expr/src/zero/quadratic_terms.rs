//! How long an expression would be as a polynomial of second degree, before it is written as one.
//!
//! Values modulo a prime at $0$, $\pm e_a$ and $e_a + e_b$ give the coefficients of $c + l_a x_a + q_{ab} x_a
//! x_b$ at a random point of all other symbols; one more value at a random $x$ shows whether there is
//! anything else.

use crate::graph::Graph;
use crate::graph::field::{self, P};
use crate::graph::node::{Expr, Node};
use crate::graph::node_map::NodeMap;
use crate::graph::residue;
use crate::graph::store::Store;

impl Graph {
    /// How many terms an expression has as a polynomial of second degree in the symbols; `None` if it is not one.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
    /// let sum = g.add(x, y);
    /// assert_eq!(g.quadratic_terms(g.mul(sum, g.add(sum, y)), &[x, y]), Some(3));
    /// assert_eq!(g.quadratic_terms(g.mul(g.sin(x), y), &[x, y]), None);
    /// ```
    pub fn quadratic_terms(&self, e: Expr, symbols: &[Expr]) -> Option<usize> {
        let mut store = self.store.borrow_mut();
        let mask = symbols.iter().fold(0, |m, s| m | store.masks[s.index()]);
        let live = store.live_with(&[e], mask);
        if live.is_empty() {
            return Some(usize::from(store.values[e.index()] != [0, 0]));
        }
        // Nodes to their positions among the live ones.
        let mut places = std::mem::take(&mut store.node_map);
        places.begin(store.nodes.len());
        live.iter().enumerate().for_each(|(i, &n)| places.insert(n, Expr(i as u32)));
        let found = count(&store, &live, &places, symbols);
        store.node_map = places;
        found
    }
}

/// The number of terms of the last of the live nodes.
fn count(store: &Store, live: &[Expr], places: &NodeMap, symbols: &[Expr]) -> Option<usize> {
    let mut values: Vec<u64> = live.iter().map(|n| store.values[n.index()][0]).collect();
    let mut at = |x: &[u64]| -> u64 {
        for (s, &x) in symbols.iter().zip(x) {
            if let Some(place) = places.get(*s) {
                values[place.index()] = x;
            }
        }
        for (i, &n) in live.iter().enumerate() {
            let node = store.node(n);
            if !matches!(node, Node::Symbol(_)) {
                let of = |o: Expr| {
                    let place = places.get(o);
                    place.map_or_else(|| store.values[o.index()][0], |p| values[p.index()])
                };
                values[i] = residue::at(store, node, 0, of);
            }
        }
        // The expression is the youngest of the nodes that it needs.
        values[live.len() - 1]
    };
    let k = symbols.len();
    let mut x = vec![0; k];
    let half = P.div_ceil(2);
    let probe: Vec<u64> = (0..k as u64).map(|i| field::random(0x9a_d0 + i)).collect();
    let rest = at(&x);
    let (mut terms, mut sum) = (usize::from(rest != 0), rest);
    let mut add = |coefficient: u64, x: u64| {
        terms += usize::from(coefficient != 0);
        sum = field::add(sum, field::mul(coefficient, x));
    };
    let mut ahead = Vec::with_capacity(k);
    for a in 0..k {
        x[a] = 1;
        let plus = at(&x);
        x[a] = P - 1;
        let minus = at(&x);
        x[a] = 0;
        add(field::mul(half, field::sub(plus, minus)), probe[a]);
        let bend = field::sub(field::mul(half, field::add(plus, minus)), rest);
        add(bend, field::mul(probe[a], probe[a]));
        ahead.push(field::sub(plus, rest));
    }
    for a in 0..k {
        for b in 0..a {
            (x[a], x[b]) = (1, 1);
            let both = field::sub(at(&x), rest);
            (x[a], x[b]) = (0, 0);
            let mixed = field::sub(both, field::add(ahead[a], ahead[b]));
            add(mixed, field::mul(probe[a], probe[b]));
        }
    }
    (sum == at(&probe)).then_some(terms)
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn terms_are_counted_and_other_functions_are_not_polynomials() {
        let g = Graph::new();
        let [x, y, z] = ["x", "y", "z"].map(|n| g.symbol(n, Role::Free));
        let q = g.symbol("q", Role::Coordinate { order: 0 });
        let of = |e| g.quadratic_terms(e, &[x, y, z]);
        assert_eq!(of(g.zero()), Some(0));
        assert_eq!(of(g.sin(q)), Some(1));
        assert_eq!(of(x), Some(1));
        // (x − y)(x + y) sin q + z/q − 3 has x², y², z and a number.
        let square = g.mul(g.sub(x, y), g.add(x, y));
        let sum = g.add(g.mul(square, g.sin(q)), g.div(z, q));
        assert_eq!(of(g.sub(sum, g.integer(3))), Some(4));
        // What cancels is no term.
        assert_eq!(of(g.sub(g.mul(g.add(x, y), z), g.mul(z, y))), Some(1));
        for other in [g.pow(x, g.integer(3)), g.div(x, y), g.sqrt(z), g.mul(x, g.mul(y, z))] {
            assert_eq!(of(other), None);
        }
    }
}
