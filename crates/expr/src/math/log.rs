//! $\ln x$.

use super::lanes::{LN2_HI, LN2_LO, row, whole};
use crate::graph::node::{Expr, Node};
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::Unary;
use crate::math::function::{ArgumentForm, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::{SeriesKind, SeriesRelation};
use crate::math::spelling::{Spelling, Spellings};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $\ln x$.
pub(crate) struct Log;

impl UnaryFunction for Log {
    const NAME: &'static str = "log";
    const MEANING: &'static str = "the natural logarithm";

    fn value(x: f64) -> f64 {
        libm::log(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::log))
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        [1.0 / x, -1.0 / (x * x)]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        store.div(ONE, a)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|_, a, _| SeriesRelation::over(a, a));

    const PARITY: Parity = Parity::None;

    fn exact(store: &mut Store, a: Expr) -> Option<Expr> {
        match store.node(a) {
            _ if a == ONE => Some(ZERO),
            Node::Unary(Unary::Exp, x) => Some(x),
            _ => None,
        }
    }

    const IS_SMOOTH: bool = false;

    fn range(_: Interval) -> Interval {
        Interval::ALL
    }

    fn error(x: Bounded, _: f64) -> f64 {
        if x.error < 0.5 * x.value { 2.0 * x.error / x.value } else { f64::INFINITY }
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Log, x)
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Product, branched: true, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        point.logarithm_of(a)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\ln", typst: "ln", mathml: "<mi>ln</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Library("log"),
        rust: Spelling::Library("ln"),
        python: Spelling::Library("log"),
    };
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    const LG: [f64; 7] = [
        6.666_666_666_666_735_130e-01,
        3.999_999_999_940_941_908e-01,
        2.857_142_874_366_239_149e-01,
        2.222_219_843_214_978_396e-01,
        1.818_357_216_161_805_012e-01,
        1.531_383_769_920_937_332e-01,
        1.479_819_860_511_658_591e-01,
    ];
    let shifted = x.to_bits().wrapping_add((0x3ff0_0000 - 0x3fe6_a09e) << 32);
    let dk = whole(shifted >> 52) - 1023.0;
    let reduced = (shifted & 0x000f_ffff_ffff_ffff).wrapping_add(0x3fe6_a09e << 32);
    let f = f64::from_bits(reduced) - 1.0;
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (LG[1] + w * (LG[3] + w * LG[5]));
    let odd = z * (LG[0] + w * (LG[2] + w * (LG[4] + w * LG[6])));
    let r = odd + even;
    let y = s * (half + r) + dk * LN2_LO - half + f + dk * LN2_HI;
    (y, (f64::MIN_POSITIVE..=f64::MAX).contains(&x))
}
