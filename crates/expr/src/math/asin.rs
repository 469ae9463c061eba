//! $\arcsin x$, in $[-\pi/2, \pi/2]$.
//!
//! Several at once: $|x| < 1/2$: $\arcsin x = x + x R(x^2)$. Beyond: $\arcsin x = \pi/2 - 2
//! \arcsin\sqrt{(1 - |x|)/2}$, where the root is split in two parts (fdlibm, `__ieee754_asin`).

use super::lanes::{FRAC_PI_2_LO, high, row, upper};
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::Unary;
use crate::math::function::{Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::{SeriesKind, SeriesRelation};
use crate::math::spelling::Spellings;
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::{self, Z};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// $\arcsin x$, in $[-\pi/2, \pi/2]$.
pub(crate) struct Asin;

impl UnaryFunction for Asin {
    const NAME: &'static str = "asin";
    const MEANING: &'static str = "the angle between -π/2 and π/2 that has this sine";

    fn value(x: f64) -> f64 {
        libm::asin(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::asin))
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        let r = 1.0 / (1.0 - x * x).sqrt();
        [r, x * r * r * r]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        // 1/√(1 − a²)
        let square = store.mul(a, a);
        let rest = store.sub(ONE, square);
        let root = store.unary(Unary::Sqrt, rest);
        store.div(ONE, root)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, _| {
        // √(1 − a²) y' = a'
        let (one, square) = (series.constant(1.0), series.square(a));
        let rest = series.difference(one, square);
        SeriesRelation::over(series.root(rest), a)
    });

    const PARITY: Parity = Parity::Odd;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ZERO)
    }

    const IS_SMOOTH: bool = false;

    fn range(_: Interval) -> Interval {
        Interval { low: -1.6, high: 1.6 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        error_of_arc(x)
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Asin, x)
    }

    const IDENTITIES: Identities = Identities {
        branched: true,
        direction: Some(|a| Some([quadratic::ONE.minus(a.times(a)).root()?, a])),
        ..Identities::NONE
    };

    fn modular(point: &mut FieldPoint<'_>, e: Expr, _: Expr) -> Option<Z> {
        point.inverse_of_circle(e)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\arcsin", typst: "arcsin", mathml: "<mi>arcsin</mi>" },
        style: NameStyle::Plain,
    };

    const SPELLINGS: Spellings = Spellings::library("asin");
}

/// A bound of the error of both arcs, which have infinite slopes at $\pm 1$.
pub(super) fn error_of_arc(x: Bounded) -> f64 {
    let rest = 1.0 - (x.value.abs() + x.error) * (x.value.abs() + x.error);
    let holder = 2.5 * x.error.sqrt();
    if rest > 0.0 { (x.error / rest.sqrt()).min(holder) } else { holder }
}

const P: [f64; 6] = [
    1.666_666_666_666_666_574_15e-01,
    -3.255_658_186_224_009_154_05e-01,
    2.012_125_321_348_629_258_81e-01,
    -4.005_553_450_067_941_140_27e-02,
    7.915_349_942_898_145_321_76e-04,
    3.479_331_075_960_211_675_70e-05,
];
const Q: [f64; 4] = [
    -2.403_394_911_734_414_218_78e+00,
    2.020_945_760_233_505_694_71e+00,
    -6.882_839_716_054_532_930_30e-01,
    7.703_815_055_590_193_527_91e-02,
];

/// $R(z) = (\arcsin\sqrt z - \sqrt z)/\sqrt z$.
#[inline(always)]
fn rest(z: f64) -> f64 {
    let p = z * (P[0] + z * (P[1] + z * (P[2] + z * (P[3] + z * (P[4] + z * P[5])))));
    let q = 1.0 + z * (Q[0] + z * (Q[1] + z * (Q[2] + z * Q[3])));
    p / q
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let ArcParts { size, small, r, s, f, c } = ArcParts::of(x);
    let near_one = FRAC_PI_2 - (2.0 * (s + s * r) - FRAC_PI_2_LO);
    let between = FRAC_PI_4 - (2.0 * s * r - (FRAC_PI_2_LO - 2.0 * c) - (FRAC_PI_4 - 2.0 * f));
    let large = if size < high(0x3fef_3333) { between } else { near_one };
    let y = if small { x + x * r } else { large.copysign(x) };
    (if size < high(0x3e50_0000) { x } else { y }, size < 1.0)
}

/// What both are made of: with $z = x^2$ for small $|x|$, else $(1 - |x|)/2$, $R(z)$ and $\sqrt z = f + c$,
/// where $f^2$ is exact.
pub(super) struct ArcParts {
    pub(super) size: f64,
    pub(super) small: bool,
    pub(super) r: f64,
    pub(super) s: f64,
    pub(super) f: f64,
    pub(super) c: f64,
}

impl ArcParts {
    #[inline(always)]
    pub(super) fn of(x: f64) -> Self {
        let size = x.abs();
        let small = size < 0.5;
        let z = if small { x * x } else { (1.0 - size) * 0.5 };
        let s = z.sqrt();
        let f = upper(s);
        Self { size, small, r: rest(z), s, f, c: (z - f * f) / (s + f) }
    }
}
