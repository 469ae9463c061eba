//! The constructors: each brings its node into canonical form at constant cost, and never looks deeper.
//!
//! Numbers fold as long as they stay short (beyond [`Numbers::MAX_BITS`] the operation is kept, and evaluated in
//! doubles as all others are), signs move outwards, `x - y` and `x / y` stay as they are, equal factors become a
//! power. Sums are never flattened: `a + b + c` is `(a + b) + c`, so that partial sums are shared.

use num_traits::Zero;

use crate::graph::node::{Expr, Node, Relation};
use crate::graph::numbers::{Numbers, Operation};
use crate::graph::store::{ONE, Store, TWO, ZERO};
use crate::math::function::Parity;
use crate::math::{Binary, Unary};

/// Powers of numbers fold while the result stays below this many bits.
const MAX_BITS: u64 = Numbers::MAX_BITS;

impl Store {
    pub(crate) fn add(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(sum) = self.folded(Operation::Add, a, b) {
            return sum;
        }
        match (self.node(a), self.node(b)) {
            _ if a == ZERO => b,
            _ if b == ZERO => a,
            (_, Node::Neg(y)) => self.sub(a, y),
            (Node::Neg(x), _) => self.sub(b, x),
            (_, Node::Number(_)) if self.is_negative(b) => {
                let y = self.neg(b);
                self.sub(a, y)
            }
            _ if a == b => self.mul(TWO, a),
            _ => match self.common_factor(a, b) {
                Some((k, x, y)) => {
                    let sum = self.add(x, y);
                    self.mul(k, sum)
                }
                None => match self.like_terms(a, b) {
                    Some((j, k, x)) => {
                        let sum = self.add(j, k);
                        self.mul(sum, x)
                    }
                    None => self.intern(Node::Add(a, b)),
                },
            },
        }
    }

    pub(crate) fn sub(&mut self, a: Expr, b: Expr) -> Expr {
        if a == b {
            return ZERO;
        }
        if let Some(difference) = self.folded(Operation::Sub, a, b) {
            return difference;
        }
        match (self.node(a), self.node(b)) {
            _ if a == ZERO => self.neg(b),
            _ if b == ZERO => a,
            (_, Node::Neg(y)) => self.add(a, y),
            (_, Node::Number(_)) if self.is_negative(b) => {
                let y = self.neg(b);
                self.add(a, y)
            }
            (Node::Neg(x), _) => {
                let sum = self.add(x, b);
                self.neg(sum)
            }
            _ => match self.common_factor(a, b) {
                Some((k, x, y)) => {
                    let difference = self.sub(x, y);
                    self.mul(k, difference)
                }
                None => match self.like_terms(a, b) {
                    Some((j, k, x)) => {
                        let difference = self.sub(j, k);
                        self.mul(difference, x)
                    }
                    None => self.intern(Node::Sub(a, b)),
                },
            },
        }
    }

    pub(crate) fn neg(&mut self, a: Expr) -> Expr {
        match self.node(a) {
            Node::Number(n) => {
                let opposite = self.numbers.opposite(n);
                self.intern(Node::Number(opposite))
            }
            Node::Neg(x) => x,
            // NOTE: through `sub` only for `-(-2 - y)`: what is known of differences of equal factors may
            // lead back to this one.
            Node::Sub(x, y) if self.is_negative(x) => self.sub(y, x),
            Node::Sub(x, y) => self.intern(Node::Sub(y, x)),
            _ => self.intern(Node::Neg(a)),
        }
    }

    pub(crate) fn mul(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(product) = self.folded(Operation::Mul, a, b) {
            return product;
        }
        match (self.is_number(a), self.is_number(b)) {
            (true, true) => return self.intern(Node::Mul(a, b)),
            (false, true) => return self.scale(b, a),
            (true, false) => return self.scale(a, b),
            (false, false) => {}
        }
        match (self.node(a), self.node(b)) {
            (Node::Neg(x), _) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (_, Node::Neg(y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
            (Node::Mul(k, x), _) if self.is_number(k) => {
                let product = self.mul(x, b);
                self.mul(k, product)
            }
            (_, Node::Mul(k, y)) if self.is_number(k) => {
                let product = self.mul(a, y);
                self.mul(k, product)
            }
            (Node::Unary(Unary::Sqrt, x), Node::Unary(Unary::Sqrt, y)) if x == y => x,
            _ => match self.common_base(a, b) {
                Some((base, exponent)) => {
                    let exponent = self.integer(exponent);
                    self.pow(base, exponent)
                }
                None => self.intern(Node::Mul(a, b)),
            },
        }
    }

    /// A number times what is no number.
    fn scale(&mut self, k: Expr, x: Expr) -> Expr {
        match self.node(x) {
            _ if k == ZERO => ZERO,
            _ if k == ONE => x,
            _ if self.is_negative(k) => {
                let k = self.neg(k);
                let product = self.scale(k, x);
                self.neg(product)
            }
            Node::Neg(y) => {
                let product = self.scale(k, y);
                self.neg(product)
            }
            Node::Mul(j, y) => match self.folded(Operation::Mul, k, j) {
                Some(product) => self.mul(product, y),
                None => self.intern(Node::Mul(k, x)),
            },
            _ => self.intern(Node::Mul(k, x)),
        }
    }

    pub(crate) fn div(&mut self, a: Expr, b: Expr) -> Expr {
        if b != ZERO {
            if a == ZERO || b == ONE {
                return a;
            }
            if a == b {
                return ONE;
            }
            if let Node::Number(y) = self.node(b) {
                let k = self.reciprocal(y);
                return self.mul(k, a);
            }
        }
        match (self.node(a), self.node(b)) {
            (_, Node::Number(_)) => self.intern(Node::Div(a, b)),
            (Node::Number(_), _) if self.is_negative(a) => {
                let x = self.neg(a);
                let quotient = self.div(x, b);
                self.neg(quotient)
            }
            (Node::Neg(x), _) => {
                let quotient = self.div(x, b);
                self.neg(quotient)
            }
            (_, Node::Neg(y)) => {
                let quotient = self.div(a, y);
                self.neg(quotient)
            }
            (Node::Mul(k, x), _) if self.is_number(k) => {
                let quotient = self.div(x, b);
                self.mul(k, quotient)
            }
            (_, Node::Mul(k, y)) if self.is_number(k) => {
                let quotient = self.div(a, y);
                let k = match self.node(k) {
                    Node::Number(k) => self.reciprocal(k),
                    _ => ONE,
                };
                self.mul(k, quotient)
            }
            _ => self.intern(Node::Div(a, b)),
        }
    }

    pub(crate) fn pow(&mut self, a: Expr, b: Expr) -> Expr {
        if let Some(n) = self.small_integer(b) {
            return self.whole_power(a, n);
        }
        match self.node(b) {
            _ if a == ONE => ONE,
            Node::Number(n) if self.numbers.small(n).is_some_and(|s| (s.n, s.d) == (1, 2)) => {
                self.unary(Unary::Sqrt, a)
            }
            _ => self.intern(Node::Pow(a, b)),
        }
    }

    fn whole_power(&mut self, a: Expr, n: i64) -> Expr {
        if n < 0 {
            let power = self.whole_power(a, -n);
            return self.div(ONE, power);
        }
        match self.node(a) {
            _ if n == 0 => ONE,
            _ if n == 1 => a,
            Node::Number(x) if n == 2 && self.numbers.small(x).is_some() => self.mul(a, a),
            Node::Number(x) => {
                let base = self.numbers.exact(x);
                let bits = base.numer().bits().max(base.denom().bits());
                if bits.saturating_mul(n.unsigned_abs()) <= MAX_BITS || a == ZERO || a == ONE {
                    let power = num_traits::pow(base.clone(), n.unsigned_abs() as usize);
                    return self.number(power);
                }
                self.raise(a, n)
            }
            Node::Neg(x) => {
                let power = self.whole_power(x, n);
                if n % 2 == 0 { power } else { self.neg(power) }
            }
            Node::Unary(Unary::Sqrt, x) if n % 2 == 0 => self.whole_power(x, n / 2),
            Node::Pow(x, m) => match self.small_integer(m).and_then(|m| m.checked_mul(n)) {
                Some(product) if product < 1 << 30 => self.raise(x, product),
                _ => self.raise(a, n),
            },
            _ => self.raise(a, n),
        }
    }

    fn raise(&mut self, base: Expr, n: i64) -> Expr {
        let exponent = self.integer(n);
        self.intern(Node::Pow(base, exponent))
    }

    pub(crate) fn unary(&mut self, f: Unary, a: Expr) -> Expr {
        if let Some(exact) = f.exact(self, a) {
            return exact;
        }
        let parity = f.parity();
        let opposite = if parity == Parity::None { None } else { self.opposite(a) };
        match (opposite, parity) {
            (None, _) | (_, Parity::None) => self.intern(Node::Unary(f, a)),
            (Some(x), Parity::Even) => self.unary(f, x),
            (Some(x), Parity::Odd) => {
                let y = self.unary(f, x);
                self.neg(y)
            }
        }
    }

    pub(crate) fn binary(&mut self, f: Binary, a: Expr, b: Expr) -> Expr {
        f.exact(self, a, b).unwrap_or_else(|| self.intern(Node::Binary(f, a, b)))
    }

    pub(crate) fn compare(&mut self, r: Relation, a: Expr, b: Expr) -> Expr {
        if let (Some(x), Some(y)) = (self.exact(a), self.exact(b)) {
            let holds = match r {
                Relation::Less => x < y,
                Relation::LessEqual => x <= y,
                Relation::Equal => x == y,
                Relation::NotEqual => x != y,
            };
            return if holds { ONE } else { ZERO };
        }
        self.intern(Node::Compare(r, a, b))
    }

    pub(crate) fn choose(&mut self, condition: Expr, a: Expr, b: Expr) -> Expr {
        match self.exact(condition) {
            Some(c) if c.is_zero() => b,
            Some(_) => a,
            None if a == b => a,
            None => self.intern(Node::If(condition, a, b)),
        }
    }

    pub(crate) fn logic_not(&mut self, a: Expr) -> Expr {
        match self.exact(a) {
            Some(x) if x.is_zero() => ONE,
            Some(_) => ZERO,
            None => self.intern(Node::Not(a)),
        }
    }

    pub(crate) fn logic_and(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.exact(a), self.exact(b)) {
            (Some(x), _) if x.is_zero() => ZERO,
            (_, Some(y)) if y.is_zero() => ZERO,
            (Some(_), Some(_)) => ONE,
            _ => self.intern(Node::And(a, b)),
        }
    }

    pub(crate) fn logic_or(&mut self, a: Expr, b: Expr) -> Expr {
        match (self.exact(a), self.exact(b)) {
            (Some(x), _) if !x.is_zero() => ONE,
            (_, Some(y)) if !y.is_zero() => ONE,
            (Some(_), Some(_)) => ZERO,
            _ => self.intern(Node::Or(a, b)),
        }
    }

    /// The same operation on other operands, through the constructors.
    pub(crate) fn rebuild(&mut self, node: Node, with: impl Fn(Expr) -> Expr) -> Expr {
        match node {
            Node::Number(_) | Node::Pi | Node::Symbol(_) => self.intern(node),
            Node::Neg(a) => self.neg(with(a)),
            Node::Add(a, b) => self.add(with(a), with(b)),
            Node::Sub(a, b) => self.sub(with(a), with(b)),
            Node::Mul(a, b) => self.mul(with(a), with(b)),
            Node::Div(a, b) => self.div(with(a), with(b)),
            Node::Pow(a, b) => self.pow(with(a), with(b)),
            Node::Unary(f, a) => self.unary(f, with(a)),
            Node::Binary(f, a, b) => self.binary(f, with(a), with(b)),
            Node::MittagLeffler(a, b, z) => {
                self.intern(Node::MittagLeffler(with(a), with(b), with(z)))
            }
            Node::If(c, a, b) => self.choose(with(c), with(a), with(b)),
            Node::Compare(r, a, b) => self.compare(r, with(a), with(b)),
            Node::Not(a) => self.logic_not(with(a)),
            Node::And(a, b) => self.logic_and(with(a), with(b)),
            Node::Or(a, b) => self.logic_or(with(a), with(b)),
            Node::Table { table, order, argument } => {
                self.intern(Node::Table { table, order, argument: with(argument) })
            }
            Node::Memory(kind, a, b) => self.intern(Node::Memory(kind, with(a), with(b))),
            Node::List(a, b) => self.list_cell(with(a), with(b)),
            Node::Family { family, part, list } => self.part(family, part, with(list)),
        }
    }

    pub(crate) fn is_negative(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(n) if self.numbers.is_negative(n))
    }

    /// $1/n$
    fn reciprocal(&mut self, n: u32) -> Expr {
        let reciprocal = self.numbers.reciprocal(n);
        self.intern(Node::Number(reciprocal))
    }

    /// `x` where the expression is written `-x` or with a negative number.
    fn opposite(&mut self, a: Expr) -> Option<Expr> {
        match self.node(a) {
            Node::Neg(x) => Some(x),
            Node::Number(_) if self.is_negative(a) => Some(self.neg(a)),
            _ => None,
        }
    }

    /// Derived sums `k·x + k·y` share their factor: squares differentiate to such.
    fn common_factor(&self, a: Expr, b: Expr) -> Option<(Expr, Expr, Expr)> {
        if !self.merging {
            return None;
        }
        match (self.node(a), self.node(b)) {
            (Node::Mul(k, x), Node::Mul(j, y)) if k == j && self.is_number(k) => {
                Some((k, x, y))
            }
            _ => None,
        }
    }

    /// Derived sums `j·x + k·x` of the same thing, as its two numbers and itself.
    fn like_terms(&self, a: Expr, b: Expr) -> Option<(Expr, Expr, Expr)> {
        if !self.merging {
            return None;
        }
        let split = |e: Expr| match self.node(e) {
            Node::Mul(k, x) if self.is_number(k) => (k, x),
            _ => (ONE, e),
        };
        let ((j, x), (k, y)) = (split(a), split(b));
        (x == y).then_some((j, k, x))
    }

    /// $x^m x^n$ as base and exponent, for whole positive exponents.
    fn common_base(&self, a: Expr, b: Expr) -> Option<(Expr, i64)> {
        let split = |e: Expr| match self.node(e) {
            Node::Pow(x, n) => self.small_integer(n).filter(|&n| n > 0).map(|n| (x, n)),
            _ => Some((e, 1)),
        };
        let ((x, m), (y, n)) = (split(a)?, split(b)?);
        (x == y && m + n < 1 << 30).then_some((x, m + n))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn signs_move_outwards() {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        assert_eq!(g.add(x, g.neg(y)), g.sub(x, y));
        assert_eq!(g.mul(g.neg(x), g.neg(y)), g.mul(y, x));
        assert_eq!(g.mul(g.integer(-2), x), g.neg(g.mul(g.integer(2), x)));
        assert_eq!(g.sub(g.neg(x), y), g.neg(g.add(x, y)));
        assert_eq!(g.neg(g.sub(x, y)), g.sub(y, x));
    }

    /// A difference that was written before its like terms merge with a product: its negative is not made from itself.
    #[test]
    fn negatives_of_merged_differences_come_to_an_end() {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        let three = g.integer(3);
        let like = g.sub(g.mul(three, x), x);
        let common = g.sub(g.mul(three, g.mul(y, x)), g.mul(three, g.mul(y, y)));
        g.mul(y, g.sub(x, y));
        g.merging(|| {
            for difference in [like, common] {
                let opposite = g.neg(difference);
                assert!(g.is_zero(g.add(difference, opposite)));
                assert_eq!(g.neg(opposite), difference);
            }
        });
        assert_eq!(g.neg(g.sub(g.integer(-2), y)), g.add(y, g.integer(2)));
    }

    /// What agrees modulo the prime of the values is not merged for that.
    #[test]
    fn large_powers_of_two_are_not_taken_for_small_ones() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        g.merging(|| {
            let power = |k: i64| g.pow(g.integer(2), g.integer(k));
            for (k, like) in [(-122, 0), (-61, 0), (31, -30), (52, -9), (61, 0), (122, 61)] {
                assert_ne!(g.mul(power(k), x), g.mul(power(like), x), "2^{k} and 2^{like}");
            }
        });
    }

    #[test]
    fn powers_and_roots() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let two = g.integer(2);
        assert_eq!(g.mul(x, x), g.pow(x, two));
        assert_eq!(g.pow(g.sqrt(x), two), x);
        assert_eq!(g.sqrt(g.div(g.integer(9), g.integer(4))), g.div(g.integer(3), two));
        assert_eq!(g.pow(x, g.integer(-1)), g.div(g.one(), x));
        // A tower of exponents neither folds nor hangs.
        g.pow(two, g.pow(g.integer(10), g.integer(9)));
        g.pow(g.integer(3), g.integer(1_000_000));
    }

    /// Beyond their bound numbers are not multiplied out, and still mean the same.
    #[test]
    fn numbers_do_not_grow_without_end() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let product =
            |terms: &[i64]| terms.iter().fold(g.one(), |p, &k| g.mul(p, g.integer(k)));
        let up: Vec<i64> = (1..=3_000).collect();
        let down: Vec<i64> = up.iter().rev().copied().collect();
        let (a, b) = (product(&up), product(&down));
        assert!(g.number_of(a).is_none() && g.number_of(product(&up[..200])).is_some());
        assert!(g.is_zero(g.sub(a, b)), "modulo a prime they are exact");
        let harmonic = |terms: &[i64]| {
            terms.iter().fold(g.zero(), |s, &k| g.add(s, g.div(g.one(), g.integer(k))))
        };
        let (a, b) = (harmonic(&up), harmonic(&down));
        assert!(g.number_of(a).is_none());
        assert!(g.is_zero(g.sub(a, b)));
        let value = g.evaluate(&[a], &|_| 0.0)[0];
        // ln n + γ + 1/2n − 1/12n², and rounding of 3 000 terms
        let n = 3_000.0;
        let expected = libm::log(n) + 0.577_215_664_901_532_9 + 0.5 / n - 1.0 / (12.0 * n * n);
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
        let large = g.pow(g.integer(7), g.integer(700));
        let towers = [g.mul(large, large), g.add(large, g.div(g.one(), large))];
        for tower in towers {
            // Every constructor comes to an end with them.
            let negative = g.neg(tower);
            for e in [tower, negative, g.mul(large, tower), g.mul(tower, x)] {
                for f in [tower, negative, large, x, g.div(large, e)] {
                    g.merging(|| [g.add(e, f), g.sub(e, f), g.mul(e, f), g.div(e, f)]);
                }
            }
            assert!(g.is_zero(g.add(tower, negative)));
        }
    }

    #[test]
    fn division_by_zero_is_kept_for_the_caller_to_refuse() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        assert!(g.number_of(g.div(x, g.zero())).is_none());
        assert!(g.number_of(g.div(g.zero(), g.zero())).is_none());
    }

    #[test]
    fn sums_keep_the_order_in_which_they_were_written() {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        let sum = g.add(y, x);
        assert_eq!(g.add(x, y), sum);
        assert_eq!(g.node(sum), crate::Node::Add(y, x));
    }
}
