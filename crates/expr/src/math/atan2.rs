//! The angle of the point $(b, a)$: $\operatorname{atan2}(a, b)$, in $[-\pi, \pi]$.

use super::atan;
use super::lanes::{FRAC_PI_2_LO, high, row};
use crate::graph::node::Expr;
use crate::graph::pairs::Pairs;
use crate::graph::store::Store;
use crate::math::Binary;
use crate::math::function::{BinaryArguments, BinaryFunction, CircleDirectionOfTwo};
use crate::math::notation::{BinaryNotation, FunctionName};
use crate::math::series::{RelationOfTwo, SeriesRelation, SeriesTerm};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// The angle of the point $(b, a)$: $\operatorname{atan2}(a, b)$, in $[-\pi, \pi]$.
pub(crate) struct Atan2;

impl BinaryFunction for Atan2 {
    const NAME: &'static str = "atan2";
    const FORM: &'static str = "atan2(y, x)";
    const MEANING: &'static str = "the angle of the point (x, y)";
    const ARGUMENTS: BinaryArguments = BinaryArguments::Two;

    fn value(a: f64, b: f64) -> f64 {
        libm::atan2(a, b)
    }

    #[inline(always)]
    fn row<const N: usize>(a: &[f64; N], b: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |a, b| usual, exact))
    }

    fn partials(store: &mut Store, a: Expr, b: Expr) -> Pairs {
        // d atan2(a, b) = (b da − a db)/(a² + b²)
        let (aa, bb) = (store.mul(a, a), store.mul(b, b));
        let square = store.add(aa, bb);
        let (x, y) = (store.div(b, square), store.div(a, square));
        Pairs::two((a, x), (b, store.neg(y)))
    }

    const SERIES: Option<RelationOfTwo> = Some(|series, a, b| {
        // (a² + b²) y' = b a' − a b'
        let (aa, bb) = (series.square(a), series.square(b));
        let terms = [
            Some(SeriesTerm { negative: false, f: Some(b), g: a }),
            Some(SeriesTerm { negative: true, f: Some(a), g: b }),
        ];
        SeriesRelation { over: Some(series.sum(aa, bb)), terms }
    });

    fn exact(_: &mut Store, _: Expr, _: Expr) -> Option<Expr> {
        None
    }

    fn range(_: Interval, _: Interval) -> Interval {
        Interval { low: -3.2, high: 3.2 }
    }

    fn error(a: Bounded, b: Bounded, _: f64) -> f64 {
        let square = a.value * a.value + b.value * b.value;
        let turn = (a.error * b.value.abs() + b.error * a.value.abs()) / square;
        // Next to the cut the angle may jump.
        let cut = b.value <= b.error && a.value.abs() <= a.error && a.error > 0.0;
        if turn < 0.1 && !cut { 2.0 * turn } else { f64::INFINITY }
    }

    const COMPARES: bool = false;

    const IS_BRANCHED: bool = true;

    const DIRECTION: Option<CircleDirectionOfTwo> = Some(|a, b| Some([b, a]));

    fn modular(point: &mut FieldPoint<'_>, e: Expr, _: Expr, _: Expr) -> Option<Z> {
        point.inverse_of_circle(e)
    }

    const NOTATION: BinaryNotation = BinaryNotation::Name(FunctionName {
        latex: "\\operatorname{atan2}",
        typst: "op(\"atan2\")",
        mathml: "<mi>atan2</mi>",
    });

    const SPELLINGS: Spellings = Spellings::library("atan2");
}

/// $f(y, x)$ without branches, and whether the arguments are ones for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(y: f64, x: f64) -> (f64, bool) {
    /// $2^{\pm 60}$: quotients between them take the middle way of `libm`.
    const RATIOS: std::ops::RangeInclusive<f64> = high(0x3c30_0000)..=high(0x43b0_0000);
    /// $2^{\pm 500}$
    const SIZES: std::ops::RangeInclusive<f64> = high(0x20b0_0000)..=high(0x5f30_0000);
    let ratio = (y / x).abs();
    let z = atan::of_magnitude(ratio);
    let behind = std::f64::consts::PI - (z - 2.0 * FRAC_PI_2_LO);
    let angle = if x < 0.0 { behind } else { z };
    let usual = RATIOS.contains(&ratio) & SIZES.contains(&y.abs()) & SIZES.contains(&x.abs());
    (angle.copysign(y), usual)
}

fn exact(a: f64, b: f64) -> f64 {
    Binary::Atan2.value(a, b)
}
