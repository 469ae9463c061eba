//! The exact value of a node at two random points modulo a prime.
//!
//! Sine and cosine of an argument are a random point of the circle, `exp`, `sinh` and `cosh` share one random
//! number, every other function is a random number that depends on the values of its arguments. Equal expressions
//! thus have equal values; identities beyond rational arithmetic in these are missed, never invented. Parameters
//! have one value at both points, so what agrees at both is constant during a run.

use crate::graph::field;
use crate::graph::node::{Expr, Node, Role};
use crate::graph::store::Store;
use crate::math::Unary;

/// Values at the two points.
pub(crate) type Residues = [u64; 2];

/// The value of a node whose operands are in the store.
pub(crate) fn residues(store: &Store, node: Node) -> Residues {
    let of = |e: Expr| store.values[e.index()];
    let both = |a: Expr, b: Expr, f: fn(u64, u64) -> u64| {
        let (x, y) = (of(a), of(b));
        [f(x[0], y[0]), f(x[1], y[1])]
    };
    match node {
        Node::Add(a, b) => both(a, b, field::add),
        Node::Sub(a, b) => both(a, b, field::sub),
        Node::Mul(a, b) => both(a, b, field::mul),
        Node::Div(a, b) if !of(b).contains(&0) => {
            let ([x, y], [p, q]) = (of(a), field::inverses(of(b)));
            [field::mul(x, p), field::mul(y, q)]
        }
        Node::Family { family, part, list } => {
            store.part_values[&(family, list)][part as usize]
        }
        Node::Unary(Unary::Sin, a) => circles(of(a)).map(|c| c.sin),
        Node::Unary(Unary::Cos, a) => circles(of(a)).map(|c| c.cos),
        _ => [0, 1].map(|point| at(store, node, point, |e| of(e)[point])),
    }
}

/// The value of a node at any point, from those of its operands there.
pub(crate) fn at(store: &Store, node: Node, point: usize, v: impl Fn(Expr) -> u64) -> u64 {
    let opaque = |tag: u64, parts: &[u64]| {
        parts.iter().fold(field::random(tag), |h, &x| field::random(h ^ x.rotate_left(17)))
    };
    match node {
        Node::Number(n) => store.numbers.residue(n),
        Node::Pi => field::random(0x314_159),
        Node::Symbol(s) => {
            let varies = store.symbols[s as usize].role != Role::Parameter;
            opaque(0x51, &[u64::from(s), if varies { point as u64 } else { 0 }])
        }
        Node::Neg(a) => field::neg(v(a)),
        Node::Add(a, b) => field::add(v(a), v(b)),
        Node::Sub(a, b) => field::sub(v(a), v(b)),
        Node::Mul(a, b) => field::mul(v(a), v(b)),
        Node::Div(_, b) if v(b) == 0 => opaque(0xd1, &[store.nodes.len() as u64]),
        Node::Div(a, b) => field::mul(v(a), field::inv(v(b))),
        Node::Pow(a, b) => match store.small_integer(b) {
            Some(n) if n >= 0 => field::pow(v(a), n.unsigned_abs()),
            Some(n) => field::inv(field::pow(v(a), n.unsigned_abs())),
            None => opaque(0x90, &[v(a), v(b)]),
        },
        Node::Unary(f, a) => f.residue(v(a)),
        Node::Binary(f, a, b) => opaque(0xb1 + f as u64, &[v(a), v(b)]),
        Node::MittagLeffler(a, b, z) => opaque(0x171, &[v(a), v(b), v(z)]),
        Node::If(c, a, b) => opaque(0x1f, &[v(c), v(a), v(b)]),
        Node::Compare(r, a, b) => opaque(0xc0 + r as u64, &[v(a), v(b)]),
        Node::Not(a) => opaque(0x40, &[v(a)]),
        Node::And(a, b) => opaque(0xa0, &[v(a), v(b)]),
        Node::Or(a, b) => opaque(0x0e, &[v(a), v(b)]),
        Node::Table { table, order, argument } => {
            opaque(0x7ab, &[u64::from(table), u64::from(order), v(argument)])
        }
        Node::List(a, b) => opaque(0x115, &[v(a), v(b)]),
        Node::Family { family, part, list } => {
            opaque(0xfa3, &[u64::from(family), u64::from(part), v(list)])
        }
        // NOTE: a memory operator sees the whole past of its operands, so its value hangs on the handles, not
        // on their values now.
        Node::Memory(kind, a, b) => {
            opaque(0x3e0 + kind as u64, &[u64::from(a.0), u64::from(b.0), point as u64])
        }
    }
}

/// Sine and cosine of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CircleResidue {
    pub(crate) sin: u64,
    pub(crate) cos: u64,
}

/// Hyperbolic sine and cosine of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyperbolaResidue {
    pub(crate) sinh: u64,
    pub(crate) cosh: u64,
}

/// A random point of the circle for each argument: $(2t, 1 - t^2)/(1 + t^2)$.
pub(crate) fn circle(x: u64) -> CircleResidue {
    circles([x; 2])[0]
}

fn circles(x: Residues) -> [CircleResidue; 2] {
    let t = x.map(|x| field::random(x ^ 0x5151));
    let square = t.map(|t| field::mul(t, t));
    let scale = field::inverses(square.map(|s| field::add(1, s)));
    [0, 1].map(|i| CircleResidue {
        sin: field::mul(field::add(t[i], t[i]), scale[i]),
        cos: field::mul(field::sub(1, square[i]), scale[i]),
    })
}

/// A random number for the exponential of each argument.
pub(crate) fn exponential(x: u64) -> u64 {
    field::random(x ^ 0xe4e4)
}

/// $(e - 1/e)/2$ and $(e + 1/e)/2$ with the [`exponential`] $e$.
pub(crate) fn hyperbola(x: u64) -> HyperbolaResidue {
    let half = field::P.div_ceil(2);
    let (e, r) = (exponential(x), field::inv(exponential(x)));
    HyperbolaResidue {
        sinh: field::mul(half, field::sub(e, r)),
        cosh: field::mul(half, field::add(e, r)),
    }
}

/// A random number for each argument of a function that has no identities here.
pub(crate) fn opaque(f: Unary, x: u64) -> u64 {
    field::random(field::random(0xf0 + f as u64) ^ x)
}
