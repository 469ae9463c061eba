//! $\cosh x = (e^x + e^{-x})/2$.

use super::exp;
use super::lanes::{expm1, high, row};
use super::sinh::HYPERBOLA;
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
use crate::zero::numeric::{Bounded, U};
use crate::zero::quadratic::Z;

/// $\cosh x = (e^x + e^{-x})/2$.
pub(crate) struct Cosh;

impl UnaryFunction for Cosh {
    const NAME: &'static str = "cosh";
    const MEANING: &'static str = "the hyperbolic cosine";

    fn value(x: f64) -> f64 {
        libm::cosh(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::cosh))
    }

    fn slopes(x: f64, y: f64) -> [f64; 2] {
        [libm::sinh(x), y]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        store.unary(Unary::Sinh, a)
    }

    const SERIES: SeriesKind = SeriesKind::Pair(HYPERBOLA);

    const PARITY: Parity = Parity::Even;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ONE)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval { low: 1.0, high: f64::INFINITY }
    }

    fn error(x: Bounded, y: f64) -> f64 {
        2.0 * libm::cosh(x.value) * x.error * x.factor_below(0.5) + U * y.abs()
    }

    fn residue(x: u64) -> u64 {
        residue::hyperbola(x).cosh
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        Some(point.hyperbola_of(a)?.cosh)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\cosh", typst: "cosh", mathml: "<mi>cosh</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings::library("cosh");
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let size = x.abs();
    let t = expm1(size);
    let near = 1.0 + t * t / (2.0 * (1.0 + t));
    let (t, usual) = exp::usual(size);
    let far = 0.5 * (t + 1.0 / t);
    (if size < high(0x3fe6_2e42) { near } else { far }, usual)
}
