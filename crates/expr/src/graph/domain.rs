//! Where an expression has no value: the operations in it that are not defined everywhere.
//!
//! A hazard is one such operation with the operand that decides: $1/b$, $\sqrt a$, $\log a$. The hazards of a
//! node are its own and those of its operands.
//!
//! **Safety rule of merging.** A node may stand for another of equal value only where its hazards are among
//! those of the other: wherever the other has a
//! value, the node then has one too, and the same. So $\sin\theta\cos\psi/\sin\theta$ becomes $\cos\psi$, and
//! never the other way round.

use rustc_hash::FxHashMap;

use crate::graph::node::{Expr, Node};
use crate::graph::store::Store;
use crate::math::function::Domain;

/// A set of hazards, interned. Larger sets than [`MOST`] are not told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Hazards(u32);

/// None: finite and smooth for all finite values of the symbols.
pub(crate) const NO_HAZARDS: Hazards = Hazards(0);
/// More than can be told apart, or of a kind that is never merged.
pub(crate) const UNKNOWN_HAZARDS: Hazards = Hazards(u32::MAX);

/// Hazards of one node beyond which they are [`UNKNOWN_HAZARDS`].
const MOST: usize = 24;

/// The sets that occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct HazardSets {
    sets: Vec<Vec<(u32, Expr)>>,
    by_set: FxHashMap<Vec<(u32, Expr)>, u32>,
    unions: FxHashMap<(Hazards, Hazards), Hazards>,
}

impl HazardSets {
    fn intern(&mut self, set: Vec<(u32, Expr)>) -> Hazards {
        if set.is_empty() {
            return NO_HAZARDS;
        }
        if set.len() > MOST {
            return UNKNOWN_HAZARDS;
        }
        if let Some(&known) = self.by_set.get(&set) {
            return Hazards(known);
        }
        self.sets.push(set.clone());
        let made = self.sets.len() as u32;
        self.by_set.insert(set, made);
        Hazards(made)
    }

    fn of(&self, hazards: Hazards) -> &[(u32, Expr)] {
        hazards.0.checked_sub(1).map_or(&[], |i| &self.sets[i as usize])
    }

    pub(crate) fn union(&mut self, a: Hazards, b: Hazards) -> Hazards {
        if a == b || b == NO_HAZARDS || a == UNKNOWN_HAZARDS {
            return a;
        }
        if a == NO_HAZARDS || b == UNKNOWN_HAZARDS {
            return b;
        }
        if let Some(&known) = self.unions.get(&(a, b)) {
            return known;
        }
        let mut set = [self.of(a), self.of(b)].concat();
        set.sort_unstable();
        set.dedup();
        let made = self.intern(set);
        self.unions.insert((a, b), made);
        made
    }

    /// Whether whatever has the hazards `b` has those of `a` too.
    pub(crate) fn are_among(&self, a: Hazards, b: Hazards) -> bool {
        if a == UNKNOWN_HAZARDS || b == UNKNOWN_HAZARDS {
            return a == NO_HAZARDS;
        }
        a == NO_HAZARDS || a == b || self.of(a).iter().all(|h| self.of(b).contains(h))
    }
}

impl Store {
    /// The hazards of a node whose operands are in the store.
    pub(crate) fn hazards_of(&mut self, node: Node) -> Hazards {
        let mut sum = NO_HAZARDS;
        for o in node.operands() {
            sum = self.hazard_sets.union(sum, self.traits[o.index()].hazards);
        }
        // NOTE: the kinds are numbered so that no two operations share a hazard.
        let own = match node {
            Node::Div(_, b) if !self.is_number(b) || b == crate::graph::store::ZERO => {
                Some((0, b))
            }
            Node::Pow(_, b) if self.small_integer(b).is_some_and(|n| n >= 0) => None,
            Node::Pow(a, b) if self.is_number(b) => Some((1, a)),
            Node::Unary(f, a) if f.domain() == Domain::Part => Some((2 + f as u32, a)),
            Node::Pow(..)
            | Node::Binary(..)
            | Node::MittagLeffler(..)
            | Node::If(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Table { .. }
            | Node::Memory(..) => return UNKNOWN_HAZARDS,
            _ => None,
        };
        match own {
            Some(hazard) => {
                let single = self.hazard_sets.intern(vec![hazard]);
                self.hazard_sets.union(sum, single)
            }
            None => sum,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn quotients_of_equal_value_merge_only_towards_fewer_hazards() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        g.merging(|| {
            // (x y)/y is x where it has a value.
            assert_eq!(g.div(g.mul(x, y), y), x);
            // Two ways to write y/√(1 + x²)·x share their hazards and become one node.
            let root = g.sqrt(g.add(g.one(), g.mul(x, x)));
            let first = g.mul(g.div(y, root), x);
            assert_eq!(g.mul(y, g.div(x, root)), first);
            // x² + y² is made after (x³ + x y²)/x, and does not become it.
            let late = g.div(g.add(g.pow(x, g.integer(3)), g.mul(x, g.mul(y, y))), x);
            let plain = g.add(g.mul(x, x), g.mul(y, y));
            assert_ne!(late, plain);
            assert_eq!(g.evaluate(&[plain], &|_| 0.0), [0.0]);
        });
    }

    #[test]
    fn a_constant_with_hazards_becomes_its_value() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        g.merging(|| {
            let root = g.sqrt(g.add(g.one(), g.mul(x, x)));
            let (s, c) = (g.div(x, root), g.div(g.one(), root));
            // x/√ and 1/√ squared: the sum of (x² + 1)/√² is 1 by the rule √·√.
            let sum = g.div(g.add(g.mul(x, x), g.one()), g.mul(root, root));
            assert_eq!(sum, g.one());
            assert_ne!(s, c);
        });
    }

    /// $m\cos^2/\sin^2 - m/\sin^2$ is $-m$ everywhere, but its terms have no value where all symbols are zero.
    #[test]
    fn a_constant_is_never_read_off_where_a_quotient_has_no_value() {
        let g = Graph::new();
        let m = g.symbol("m", Role::Parameter);
        let x = g.symbol("x", Role::Coordinate { order: 0 });
        g.merging(|| {
            let below = g.div(g.cos(x), g.sin(x));
            let first = g.mul(m, g.mul(below, below));
            let second = g.div(m, g.mul(g.sin(x), g.sin(x)));
            let constant = g.sub(first, second);
            let at = |e| if e == m { 2.0 } else { 0.7 };
            let value = g.evaluate(&[constant], &at)[0];
            // Two quotients of size 5 cancel to 2: a few roundings.
            assert!((value + 2.0).abs() < 1e-14, "{value}");
        });
    }
}
