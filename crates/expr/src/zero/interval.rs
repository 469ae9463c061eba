//! Which comparisons come out the same for all real values of the symbols.
//!
//! Interval arithmetic over the whole line: $1 + x^2 \ge 1$, $2 + \cos x \ge 1$. Bounds are widened by
//! rounding, so that a sign that is claimed is true.

use rustc_hash::FxHashMap;

use super::compared_with_zero;
use crate::graph::node::{Expr, Node};
use crate::graph::store::Store;
use crate::math::power::power;

/// Signs that hold everywhere: 1 for $\ge 0$, −1 for $\le 0$, by the node that asks.
pub(super) type Signs = FxHashMap<Expr, i8>;

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The known signs of what `abs`, `sign`, `min`, `max` and comparisons look at.
pub(super) fn known_signs(store: &Store, live: &[Expr]) -> Signs {
    let mut intervals: FxHashMap<Expr, Interval> = FxHashMap::default();
    let mut signs = Signs::default();
    for &e in live {
        let of = |o: Expr| intervals[&o];
        let compared = match store.node(e) {
            node @ Node::Unary(..) => compared_with_zero(store, node).map(of),
            Node::Binary(f, a, b) if f.compares() => Some(of(b).minus(of(a))),
            Node::Compare(_, a, b) => Some(of(b).minus(of(a))),
            _ => None,
        };
        match compared {
            Some(Interval { low, .. }) if low >= 0.0 => _ = signs.insert(e, 1),
            Some(Interval { high, .. }) if high <= 0.0 => _ = signs.insert(e, -1),
            _ => {}
        }
        let result = interval(store, e, of);
        intervals.insert(e, result);
    }
    signs
}

fn interval(store: &Store, e: Expr, of: impl Fn(Expr) -> Interval) -> Interval {
    match store.node(e) {
        Node::Number(n) => Interval::around(store.numbers.double(n)),
        Node::Pi => Interval::around(std::f64::consts::PI),
        Node::Neg(a) => of(a).opposite(),
        Node::Add(a, b) => of(a).plus(of(b)),
        Node::Sub(a, b) => of(a).minus(of(b)),
        Node::Mul(a, b) => of(a).times(of(b)),
        Node::Div(a, b) if of(b).low > 0.0 || of(b).high < 0.0 => {
            let inverse = Interval { low: 1.0 / of(b).high, high: 1.0 / of(b).low };
            of(a).times(inverse.widened())
        }
        Node::Pow(a, b) => match store.small_integer(b) {
            Some(n) if n % 2 == 0 => {
                let low = power(of(a).least_magnitude(), n as f64);
                Interval { low, high: f64::INFINITY }.widened_above_zero()
            }
            _ if of(a).low >= 0.0 => Interval { low: 0.0, high: f64::INFINITY },
            _ => Interval::ALL,
        },
        Node::Unary(f, a) => f.range(of(a)),
        Node::Binary(f, a, b) => f.range(of(a), of(b)),
        Node::If(_, a, b) => {
            Interval { low: of(a).low.min(of(b).low), high: of(a).high.max(of(b).high) }
        }
        Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => {
            Interval { low: 0.0, high: 1.0 }
        }
        Node::Symbol(_)
        | Node::Div(..)
        | Node::MittagLeffler(..)
        | Node::Table { .. }
        | Node::List(..)
        | Node::Family { .. }
        | Node::Memory(..) => Interval::ALL,
    }
}

impl Interval {
    /// All real numbers.
    pub(crate) const ALL: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// A number with its rounding.
    fn around(x: f64) -> Self {
        Self { low: x, high: x }.widened()
    }

    fn opposite(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }

    fn plus(self, o: Self) -> Self {
        Self { low: self.low + o.low, high: self.high + o.high }.widened()
    }

    fn minus(self, o: Self) -> Self {
        self.plus(o.opposite())
    }

    fn times(self, o: Self) -> Self {
        // 0 · ∞ is 0 here: an interval that ends at infinity has no infinite member.
        let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
        let corners = [
            times(self.low, o.low),
            times(self.low, o.high),
            times(self.high, o.low),
            times(self.high, o.high),
        ];
        let low = corners.iter().copied().fold(f64::INFINITY, f64::min);
        let high = corners.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high }.widened()
    }

    /// The least $|x|$ in it.
    pub(crate) fn least_magnitude(self) -> f64 {
        if self.low > 0.0 {
            self.low
        } else if self.high < 0.0 {
            -self.high
        } else {
            0.0
        }
    }

    /// Outwards by rounding; zero stays where it is, for it is exact.
    fn widened(self) -> Self {
        let slack = |x: f64| if x.is_finite() { x.abs() * 1e-14 } else { 0.0 };
        Self { low: self.low - slack(self.low), high: self.high + slack(self.high) }
    }

    /// The same for what is never negative.
    pub(crate) fn widened_above_zero(self) -> Self {
        let Self { low, high } = self.widened();
        Self { low: low.max(0.0), high }
    }
}
