//! Which comparisons come out the same for all real values of the symbols.
//!
//! Interval arithmetic over the whole line: $1 + x^2 \ge 1$, $2 + \cos x \ge 1$. Bounds are widened by
//! rounding, so that a sign that is claimed is true.

use rustc_hash::FxHashMap;

use super::compared_with_zero;
use crate::graph::node::{Expr, Node};
use crate::graph::store::Store;
use crate::math::{Binary, Unary};

/// Signs that hold everywhere: 1 for $\ge 0$, −1 for $\le 0$, by the node that asks.
pub(super) type Signs = FxHashMap<Expr, i8>;

type Interval = (f64, f64);

const ALL: Interval = (f64::NEG_INFINITY, f64::INFINITY);

/// The known signs of what `abs`, `sign`, `min`, `max` and comparisons look at.
pub(super) fn known_signs(store: &Store, live: &[Expr]) -> Signs {
    let mut intervals: FxHashMap<Expr, Interval> = FxHashMap::default();
    let mut signs = Signs::default();
    for &e in live {
        let of = |o: Expr| intervals[&o];
        let compared = match store.node(e) {
            node @ Node::Unary(..) => compared_with_zero(store, node).map(of),
            Node::Binary(Binary::Min | Binary::Max, a, b) | Node::Compare(_, a, b) => {
                Some(sum(of(b), negative(of(a))))
            }
            _ => None,
        };
        match compared {
            Some((low, _)) if low >= 0.0 => _ = signs.insert(e, 1),
            Some((_, high)) if high <= 0.0 => _ = signs.insert(e, -1),
            _ => {}
        }
        let result = interval(store, e, of);
        intervals.insert(e, result);
    }
    signs
}

fn interval(store: &Store, e: Expr, of: impl Fn(Expr) -> Interval) -> Interval {
    match store.node(e) {
        Node::Number(n) => widen((store.numbers.double(n), store.numbers.double(n))),
        Node::Pi => widen((std::f64::consts::PI, std::f64::consts::PI)),
        Node::Neg(a) => negative(of(a)),
        Node::Add(a, b) => sum(of(a), of(b)),
        Node::Sub(a, b) => sum(of(a), negative(of(b))),
        Node::Mul(a, b) => product(of(a), of(b)),
        Node::Div(a, b) if of(b).0 > 0.0 || of(b).1 < 0.0 => {
            product(of(a), widen((1.0 / of(b).1, 1.0 / of(b).0)))
        }
        Node::Pow(a, b) => match store.small_integer(b) {
            Some(n) if n % 2 == 0 => {
                let low = least_magnitude(of(a));
                widen_positive((crate::math::power(low, n as f64), f64::INFINITY))
            }
            _ if of(a).0 >= 0.0 => (0.0, f64::INFINITY),
            _ => ALL,
        },
        Node::Unary(f, a) => match f {
            Unary::Sin | Unary::Cos | Unary::Tanh | Unary::Sign | Unary::Erf => (-1.0, 1.0),
            Unary::Atan | Unary::Asin => (-1.6, 1.6),
            Unary::Acos => (0.0, 3.2),
            Unary::Exp => (0.0, f64::INFINITY),
            Unary::Sqrt => {
                let (low, high) = of(a);
                widen_positive((low.max(0.0).sqrt(), high.max(0.0).sqrt()))
            }
            Unary::Abs => {
                let (low, high) = of(a);
                (least_magnitude((low, high)), low.abs().max(high.abs()))
            }
            Unary::Cosh => (1.0, f64::INFINITY),
            Unary::Gamma if of(a).0 >= 0.0 => (0.0, f64::INFINITY),
            _ => ALL,
        },
        Node::Binary(Binary::Min, a, b) => (of(a).0.min(of(b).0), of(a).1.min(of(b).1)),
        Node::Binary(Binary::Max, a, b) => (of(a).0.max(of(b).0), of(a).1.max(of(b).1)),
        Node::Binary(Binary::Atan2, ..) => (-3.2, 3.2),
        Node::If(_, a, b) => (of(a).0.min(of(b).0), of(a).1.max(of(b).1)),
        Node::Compare(..) | Node::Not(_) | Node::And(..) | Node::Or(..) => (0.0, 1.0),
        _ => ALL,
    }
}

fn negative((low, high): Interval) -> Interval {
    (-high, -low)
}

fn sum(a: Interval, b: Interval) -> Interval {
    widen((a.0 + b.0, a.1 + b.1))
}

fn product(a: Interval, b: Interval) -> Interval {
    // 0 · ∞ is 0 here: an interval that ends at infinity has no infinite member.
    let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let corners = [times(a.0, b.0), times(a.0, b.1), times(a.1, b.0), times(a.1, b.1)];
    widen((
        corners.iter().copied().fold(f64::INFINITY, f64::min),
        corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    ))
}

fn least_magnitude((low, high): Interval) -> f64 {
    if low > 0.0 {
        low
    } else if high < 0.0 {
        -high
    } else {
        0.0
    }
}

/// Outwards by rounding; zero stays where it is, for it is exact.
fn widen((low, high): Interval) -> Interval {
    let slack = |x: f64| x.abs() * 1e-14;
    (
        low - if low.is_finite() { slack(low) } else { 0.0 },
        high + if high.is_finite() { slack(high) } else { 0.0 },
    )
}

fn widen_positive(i: Interval) -> Interval {
    let (low, high) = widen(i);
    (low.max(0.0), high)
}
