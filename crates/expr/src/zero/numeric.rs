//! Evaluation in doubles with a running bound of the error: a value clearly above its bound is not zero.
//!
//! Each operation adds its own rounding to what its operands bring,
//! $\epsilon_r \le |\partial_a r|\,\epsilon_a + |\partial_b r|\,\epsilon_b + u|r|$, with a factor for the
//! curvature. Where no bound can be given (next to a singularity, at a kink, inside a memory operator) it is
//! infinite.

use super::compared_with_zero;
use crate::graph::node::{Expr, Node, Relation};
use crate::graph::store::Store;
use crate::math::power::power;
use crate::math::{Binary, Unary};

/// Twice the unit of rounding; the functions of `libm` keep within it.
pub(crate) const U: f64 = 2.3e-16;
/// Below this, products lose their digits.
pub(crate) const TINY: f64 = 1e-290;

/// A value and the bound of its error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounded {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Bounded {
    /// 1 while the error is below a bound, else infinite: a factor of what is only known close by.
    pub(crate) fn factor_below(self, bound: f64) -> f64 {
        if self.error < bound { 1.0 } else { f64::INFINITY }
    }

    /// Whether the true value cannot be zero.
    pub(super) fn is_clearly_nonzero(self) -> bool {
        self.value.is_finite()
            && self.value.abs() > 16.0 * self.error
            && self.value.abs() > 1e-280
    }
}

/// The bounded value of the last node, and the signs that `abs`, `min` and comparisons met. `values` is room
/// for those of all nodes.
pub(super) fn evaluate(
    store: &Store,
    live: &[Expr],
    symbol: &dyn Fn(Expr) -> f64,
    values: &mut Vec<Bounded>,
) -> (Bounded, Vec<(Expr, i8)>) {
    // By the position of the node in its graph.
    let unknown = Bounded { value: f64::NAN, error: f64::INFINITY };
    let needed = live.last().map_or(0, |e| e.index() + 1);
    if values.len() < needed {
        // NOTE: what is left over from other expressions is not read: operands of live nodes are live.
        values.resize(needed, unknown);
    }
    let mut signs = Vec::new();
    let mut last = Bounded { value: 0.0, error: 0.0 };
    for &e in live {
        let v = |o: Expr| values[o.index()];
        last = match store.node(e) {
            Node::Symbol(_) => Bounded { value: symbol(e), error: 0.0 },
            node => bounded(store, node, &v),
        };
        let compared = match store.node(e) {
            node @ Node::Unary(..) => compared_with_zero(store, node).map(|a| (v(a), 0.0)),
            Node::Binary(f, a, b) if f.compares() => Some((v(b), v(a).value)),
            Node::Compare(_, a, b) => Some((v(b), v(a).value)),
            _ => None,
        };
        if let Some((b, a)) = compared
            && (b.value - a).is_finite()
        {
            signs.push((e, if b.value > a { 1 } else { -1 }));
        }
        if last.error.is_nan() || !last.value.is_finite() {
            last.error = f64::INFINITY;
        }
        values[e.index()] = last;
    }
    (last, signs)
}

fn bounded(store: &Store, node: Node, v: &dyn Fn(Expr) -> Bounded) -> Bounded {
    let exact = |value: f64| Bounded { value, error: 0.0 };
    let with = |value: f64, error: f64| Bounded { value, error: error + U * value.abs() };
    let truth = |holds: bool, clear: bool| Bounded {
        value: f64::from(u8::from(holds)),
        error: if clear { 0.0 } else { f64::INFINITY },
    };
    let clear = |x: Bounded| x.error == 0.0 || x.value.abs() > 4.0 * x.error;
    match node {
        Node::Number(n) => {
            let value = store.numbers.double(n);
            let whole = store.numbers.exact(n).is_integer() && value.abs() < 9e15;
            if whole { exact(value) } else { with(value, 0.0) }
        }
        Node::Pi => with(std::f64::consts::PI, 0.0),
        Node::Symbol(_) => exact(f64::NAN),
        Node::Neg(a) => Bounded { value: -v(a).value, error: v(a).error },
        Node::Add(a, b) => with(v(a).value + v(b).value, v(a).error + v(b).error),
        Node::Sub(a, b) => with(v(a).value - v(b).value, v(a).error + v(b).error),
        Node::Mul(a, b) => {
            let (x, y) = (v(a), v(b));
            let error = x.value.abs() * y.error + y.value.abs() * x.error + x.error * y.error;
            with(x.value * y.value, error + TINY)
        }
        Node::Div(a, b) => {
            let (x, y) = (v(a), v(b));
            let value = x.value / y.value;
            let room = y.value.abs() - y.error;
            let error = (x.error + value.abs() * y.error) / room;
            with(value, if room > 0.0 { error + TINY } else { f64::INFINITY })
        }
        Node::Pow(a, b) => raised(v(a), v(b)),
        Node::Unary(f, a) => function(f, v(a)),
        Node::Binary(f, a, b) => pair(f, v(a), v(b)),
        Node::If(c, a, b) => {
            let chosen = if v(c).value == 0.0 { v(b) } else { v(a) };
            let error = if v(c).error == 0.0 { chosen.error } else { f64::INFINITY };
            Bounded { error, ..chosen }
        }
        Node::Compare(r, a, b) => {
            let (x, y) = (v(a), v(b));
            let difference = Bounded { value: x.value - y.value, error: x.error + y.error };
            // Equality of computed numbers says nothing.
            let certain = match r {
                Relation::Less | Relation::LessEqual => clear(difference),
                Relation::Equal | Relation::NotEqual => {
                    difference.value.abs() > 4.0 * difference.error
                }
            };
            truth(r.holds(x.value, y.value), certain)
        }
        Node::Not(a) => truth(v(a).value == 0.0, clear(v(a))),
        Node::And(a, b) => {
            truth(v(a).value != 0.0 && v(b).value != 0.0, clear(v(a)) && clear(v(b)))
        }
        Node::Or(a, b) => {
            truth(v(a).value != 0.0 || v(b).value != 0.0, clear(v(a)) && clear(v(b)))
        }
        Node::Table { table, order, argument } => {
            let data = &store.tables[table as usize];
            let x = v(argument);
            let slope = data.value(order + 1, x.value).abs();
            with(data.value(order, x.value), 4.0 * slope * x.error + 1e-13)
        }
        Node::MittagLeffler(..) | Node::Memory(..) | Node::List(..) | Node::Family { .. } => {
            Bounded { value: f64::NAN, error: f64::INFINITY }
        }
    }
}

fn raised(x: Bounded, y: Bounded) -> Bounded {
    let value = power(x.value, y.value);
    let relative = x.error / x.value.abs();
    let whole = y.error == 0.0 && y.value.fract() == 0.0;
    let error = if whole && x.value == 0.0 && x.error == 0.0 {
        0.0
    } else if relative < 0.1 && (whole || x.value > 0.0) {
        let steps = y.value.abs().max(1.0);
        let log = libm::log(x.value.abs()).abs();
        let spread = steps * relative + log * y.error;
        if spread < 0.2 {
            value.abs() * (2.0 * spread + U * (steps.min(64.0) + 4.0)) + TINY
        } else {
            f64::INFINITY
        }
    } else if whole && y.value > 0.0 {
        // Both the value and the truth lie within (|x| + ε)ⁿ of zero.
        2.0 * power(x.value.abs() + x.error, y.value)
    } else {
        f64::INFINITY
    };
    Bounded { value, error }
}

fn function(f: Unary, x: Bounded) -> Bounded {
    let value = f.value(x.value);
    Bounded { value, error: f.error(x, value) + U * value.abs() }
}

fn pair(f: Binary, a: Bounded, b: Bounded) -> Bounded {
    let value = f.value(a.value, b.value);
    Bounded { value, error: f.error(a, b, value) + U * value.abs() }
}
