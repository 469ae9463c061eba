//! $e^x$.

use super::lanes::{EXP as P, LN2_HI, LN2_LO, high, multiples_of_ln2, row, two_to};
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::function::{ArgumentForm, Identities, LogForm, Parity, UnaryFunction};
use crate::math::notation::Notation;
use crate::math::series::{SeriesKind, SeriesRelation};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::{Bounded, TINY};
use crate::zero::quadratic::Z;

/// $e^x$.
pub(crate) struct Exp;

impl UnaryFunction for Exp {
    const NAME: &'static str = "exp";
    const MEANING: &'static str = "e to this power";

    fn value(x: f64) -> f64 {
        libm::exp(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::exp))
    }

    fn slopes(_: f64, y: f64) -> [f64; 2] {
        [y, y]
    }

    fn derivative(_: &mut Store, e: Expr, _: Expr) -> Expr {
        e
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|_, a, y| SeriesRelation::along(y, a));

    const PARITY: Parity = Parity::None;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ONE)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval { low: 0.0, high: f64::INFINITY }
    }

    fn error(x: Bounded, y: f64) -> f64 {
        2.0 * y * x.error * x.factor_below(0.5) + TINY
    }

    fn residue(x: u64) -> u64 {
        residue::exponential(x)
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, log: LogForm::Argument, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        point.exponential_of(a)
    }

    const NOTATION: Notation = Notation::Exponential;

    const SPELLINGS: Spellings = Spellings::library("exp");
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let size = x.abs();
    let k = multiples_of_ln2(x);
    let hi = x - k * LN2_HI;
    let lo = k * LN2_LO;
    let r = hi - lo;
    let rr = r * r;
    let c = r - rr * (P[0] + rr * (P[1] + rr * (P[2] + rr * (P[3] + rr * P[4]))));
    let y = (1.0 + (r * c / (2.0 - c) - lo + hi)) * two_to(k);
    (if size < high(0x3e30_0001) { 1.0 + x } else { y }, size <= 708.0)
}
