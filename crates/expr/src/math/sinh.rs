//! $\sinh x = (e^x - e^{-x})/2$.

use super::lanes::{expm1, high, row};
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
use crate::zero::numeric::{Bounded, U};
use crate::zero::quadratic::Z;

/// $\sinh x = (e^x - e^{-x})/2$.
pub(crate) struct Sinh;

impl UnaryFunction for Sinh {
    const NAME: &'static str = "sinh";
    const MEANING: &'static str = "the hyperbolic sine";

    fn value(x: f64) -> f64 {
        libm::sinh(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::sinh))
    }

    fn slopes(x: f64, y: f64) -> [f64; 2] {
        [libm::cosh(x), y]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        store.unary(Unary::Cosh, a)
    }

    const SERIES: SeriesKind = SeriesKind::Pair(HYPERBOLA);

    const PARITY: Parity = Parity::Odd;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ZERO)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval::ALL
    }

    fn error(x: Bounded, y: f64) -> f64 {
        2.0 * libm::cosh(x.value) * x.error * x.factor_below(0.5) + U * y.abs()
    }

    fn residue(x: u64) -> u64 {
        residue::hyperbola(x).sinh
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        Some(point.hyperbola_of(a)?.sinh)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\sinh", typst: "sinh", mathml: "<mi>sinh</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings::library("sinh");
}

/// $(\sinh a)' = \cosh a\;\dot a$ and $(\cosh a)' = \sinh a\;\dot a$.
pub(super) const HYPERBOLA: FunctionPair =
    FunctionPair { odd: Unary::Sinh, even: Unary::Cosh, turns: false };

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let size = x.abs();
    let t = expm1(size);
    let y = if size < 1.0 { 2.0 * t - t * t / (t + 1.0) } else { t + t / (t + 1.0) };
    let y = 0.5_f64.copysign(x) * y;
    (if size < high(0x3e50_0000) { x } else { y }, size <= 709.0)
}
