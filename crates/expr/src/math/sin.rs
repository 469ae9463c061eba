//! $\sin x$.
//!
//! Programs take both sine and cosine from polynomials of their own; this is the value of a single node.

use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{Store, ZERO};
use crate::math::Unary;
use crate::math::function::{ArgumentForm, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::{FunctionPair, SeriesKind};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $\sin x$.
pub(crate) struct Sin;

impl UnaryFunction for Sin {
    const NAME: &'static str = "sin";
    const MEANING: &'static str = "the sine of an angle in radians";

    fn value(x: f64) -> f64 {
        libm::sin(x)
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(x: f64, y: f64) -> [f64; 2] {
        [libm::cos(x), -y]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        store.unary(Unary::Cos, a)
    }

    const SERIES: SeriesKind = SeriesKind::Pair(CIRCLE);

    const PARITY: Parity = Parity::Odd;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ZERO)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval { low: -1.0, high: 1.0 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        x.error
    }

    fn residue(x: u64) -> u64 {
        residue::circle(x).sin
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        Some(point.circle_of(a)?.sin)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\sin", typst: "sin", mathml: "<mi>sin</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings::library("sin");
}

/// $(\sin a)' = \cos a\;\dot a$ and $(\cos a)' = -\sin a\;\dot a$.
pub(super) const CIRCLE: FunctionPair =
    FunctionPair { odd: Unary::Sin, even: Unary::Cos, turns: true };
