//! Where an expression has a value: the domain of a node, as a set of conditions.
//!
//! A condition is one operation that is not defined everywhere, with the operand that decides: $1/b$, $\sqrt a$,
//! $\log a$. The domain of a node is the intersection of the domains of its operands and its own condition.
//!
//! **Safety rule of merging.** A node may stand for another of equal value only if its domain contains that of
//! the other: wherever the other has a value, the node then has one too, and the same. So
//! $\sin\theta\cos\psi/\sin\theta$ becomes $\cos\psi$, and never the other way round.

use rustc_hash::FxHashMap;

use crate::graph::node::Expr;

/// A domain, interned. Domains of more than [`MOST`] conditions are not told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Domain(u32);

/// No condition: finite and smooth for all finite values of the symbols.
pub(crate) const EVERYWHERE: Domain = Domain(0);
/// More conditions than can be told apart, or of a kind that is never merged.
pub(crate) const UNKNOWN_DOMAIN: Domain = Domain(u32::MAX);

/// Conditions of one node beyond which its domain is [`UNKNOWN_DOMAIN`].
const MOST: usize = 24;

/// An operation that is not defined everywhere: its kind, and the operand that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DomainCondition {
    pub(crate) kind: u32,
    pub(crate) operand: Expr,
}

/// The domains that occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct Domains {
    sets: Vec<Vec<DomainCondition>>,
    by_set: FxHashMap<Vec<DomainCondition>, u32>,
    intersections: FxHashMap<(Domain, Domain), Domain>,
}

impl Domains {
    fn intern(&mut self, set: Vec<DomainCondition>) -> Domain {
        if set.is_empty() {
            return EVERYWHERE;
        }
        if set.len() > MOST {
            return UNKNOWN_DOMAIN;
        }
        if let Some(&known) = self.by_set.get(&set) {
            return Domain(known);
        }
        self.sets.push(set.clone());
        let made = self.sets.len() as u32;
        self.by_set.insert(set, made);
        Domain(made)
    }

    fn conditions(&self, domain: Domain) -> &[DomainCondition] {
        domain.0.checked_sub(1).map_or(&[], |i| &self.sets[i as usize])
    }

    /// Where one more condition holds.
    pub(crate) fn with(&mut self, domain: Domain, condition: DomainCondition) -> Domain {
        let single = self.intern(vec![condition]);
        self.intersection(domain, single)
    }

    /// Where both have a value.
    pub(crate) fn intersection(&mut self, a: Domain, b: Domain) -> Domain {
        if a == b || b == EVERYWHERE || a == UNKNOWN_DOMAIN {
            return a;
        }
        if a == EVERYWHERE || b == UNKNOWN_DOMAIN {
            return b;
        }
        if let Some(&known) = self.intersections.get(&(a, b)) {
            return known;
        }
        let mut set = [self.conditions(a), self.conditions(b)].concat();
        set.sort_unstable();
        set.dedup();
        let made = self.intern(set);
        self.intersections.insert((a, b), made);
        made
    }

    /// Whether `a` contains `b`: every condition of `a` is one of `b`.
    pub(crate) fn contains(&self, a: Domain, b: Domain) -> bool {
        if a == UNKNOWN_DOMAIN || b == UNKNOWN_DOMAIN {
            return a == EVERYWHERE;
        }
        let conditions = self.conditions(b);
        a == EVERYWHERE || a == b || self.conditions(a).iter().all(|c| conditions.contains(c))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn quotients_of_equal_value_merge_only_towards_larger_domains() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        g.merging(|| {
            // (x y)/y is x where it has a value.
            assert_eq!(g.div(g.mul(x, y), y), x);
            // Two ways to write y/√(1 + x²)·x share their domain and become one node.
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
    fn a_constant_with_conditions_becomes_its_value() {
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
