//! $|x|$.

use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::Store;
use crate::math::Unary;
use crate::math::function::{Compares, Identities, LogForm, Parity, UnaryFunction};
use crate::math::notation::Notation;
use crate::math::series::SeriesKind;
use crate::math::spelling::{Spelling, Spellings};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $|x|$.
pub(crate) struct Abs;

impl UnaryFunction for Abs {
    const NAME: &'static str = "abs";
    const MEANING: &'static str = "the magnitude";

    fn value(x: f64) -> f64 {
        x.abs()
    }

    fn row<const N: usize>(_: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        [Unary::Sign.value(x), 0.0]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        store.unary(Unary::Sign, a)
    }

    const SERIES: SeriesKind = SeriesKind::None;

    const PARITY: Parity = Parity::Even;

    fn exact(store: &mut Store, a: Expr) -> Option<Expr> {
        if !store.is_number(a) {
            return None;
        }
        Some(if store.is_negative(a) { store.neg(a) } else { a })
    }

    const IS_SMOOTH: bool = false;

    fn range(a: Interval) -> Interval {
        Interval { low: a.least_magnitude(), high: a.low.abs().max(a.high.abs()) }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        x.error
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Abs, x)
    }

    const IDENTITIES: Identities = Identities {
        branched: true,
        log: LogForm::Multiple { numerator: 1, denominator: 1 },
        compares: Compares::Argument,
        ..Identities::NONE
    };

    fn modular(point: &mut FieldPoint<'_>, e: Expr, a: Expr) -> Option<Z> {
        let x = point.value(a);
        Some(point.signed(e, a).times(x))
    }

    const NOTATION: Notation = Notation::Bars;

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Library("fabs"),
        rust: Spelling::Library("abs"),
        python: Spelling::Library("fabs"),
    };
}
