//! $\tanh x = \sinh x/\cosh x$.

use super::lanes::{expm1, high, row};
use crate::graph::field;
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::function::{ArgumentForm, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::{SeriesKind, SeriesRelation};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $\tanh x = \sinh x/\cosh x$.
pub(crate) struct Tanh;

impl UnaryFunction for Tanh {
    const NAME: &'static str = "tanh";
    const MEANING: &'static str = "the hyperbolic tangent";

    fn value(x: f64) -> f64 {
        libm::tanh(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::tanh))
    }

    fn slopes(_: f64, y: f64) -> [f64; 2] {
        [1.0 - y * y, -2.0 * y * (1.0 - y * y)]
    }

    fn derivative(store: &mut Store, e: Expr, _: Expr) -> Expr {
        // 1 − tanh²
        let square = store.mul(e, e);
        store.sub(ONE, square)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, y| {
        // y' = (1 − y²) a'
        let (square, one) = (series.square(y), series.constant(1.0));
        SeriesRelation::along(series.difference(one, square), a)
    });

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
        let both = residue::hyperbola(x);
        field::mul(both.sinh, field::inv(both.cosh))
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        let both = point.hyperbola_of(a)?;
        both.sinh.over(both.cosh)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\tanh", typst: "tanh", mathml: "<mi>tanh</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings::library("tanh");
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let size = x.abs();
    let small = size < high(0x3fd0_58af);
    let middle = size < high(0x3fe1_93eb);
    // By bits, because the compiler would make two exponentials of a selection.
    let sign = u64::from(small) << 63;
    let signed = |x: f64| f64::from_bits(x.to_bits() ^ sign);
    let t = expm1(signed(2.0 * size));
    let above = signed(t);
    let quotient = if middle { above } else { 2.0 } / (t + 2.0);
    let y = if middle { quotient } else { 1.0 - quotient };
    let y = if size < high(0x4034_0001) { y } else { 1.0 };
    (y.copysign(x), size <= f64::MAX)
}
