//! $\cos x$.

use super::sin::CIRCLE;
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::Unary;
use crate::math::function::{ArgumentForm, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::SeriesKind;
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $\cos x$.
pub(crate) struct Cos;

impl UnaryFunction for Cos {
    const NAME: &'static str = "cos";
    const MEANING: &'static str = "the cosine of an angle in radians";

    fn value(x: f64) -> f64 {
        libm::cos(x)
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(x: f64, y: f64) -> [f64; 2] {
        [-libm::sin(x), -y]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        let sine = store.unary(Unary::Sin, a);
        store.neg(sine)
    }

    const SERIES: SeriesKind = SeriesKind::Pair(CIRCLE);

    const PARITY: Parity = Parity::Even;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ONE)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval { low: -1.0, high: 1.0 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        x.error
    }

    fn residue(x: u64) -> u64 {
        residue::circle(x).cos
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        Some(point.circle_of(a)?.cos)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\cos", typst: "cos", mathml: "<mi>cos</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings::library("cos");
}
