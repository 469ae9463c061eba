//! $\arctan x$, in $(-\pi/2, \pi/2)$.

use super::lanes::{FRAC_PI_2_LO, high, row};
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

/// $\arctan x$, in $(-\pi/2, \pi/2)$.
pub(crate) struct Atan;

impl UnaryFunction for Atan {
    const NAME: &'static str = "atan";
    const MEANING: &'static str = "the angle between -π/2 and π/2 that has this tangent";

    fn value(x: f64) -> f64 {
        libm::atan(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::atan))
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        let r = 1.0 / (1.0 + x * x);
        [r, -2.0 * x * r * r]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        // 1/(1 + a²)
        let square = store.mul(a, a);
        let sum = store.add(ONE, square);
        store.div(ONE, sum)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, _| {
        // (1 + a²) y' = a'
        let (one, square) = (series.constant(1.0), series.square(a));
        SeriesRelation::over(series.sum(one, square), a)
    });

    const PARITY: Parity = Parity::Odd;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ZERO)
    }

    const IS_SMOOTH: bool = true;

    fn range(_: Interval) -> Interval {
        Interval { low: -1.6, high: 1.6 }
    }

    fn error(x: Bounded, _: f64) -> f64 {
        x.error
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Atan, x)
    }

    const IDENTITIES: Identities = Identities {
        branched: true,
        direction: Some(|a| Some([quadratic::ONE, a])),
        ..Identities::NONE
    };

    fn modular(point: &mut FieldPoint<'_>, e: Expr, _: Expr) -> Option<Z> {
        point.inverse_of_circle(e)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\arctan", typst: "arctan", mathml: "<mi>arctan</mi>" },
        style: NameStyle::Plain,
    };

    const SPELLINGS: Spellings = Spellings::library("atan");
}

const ATAN: [f64; 11] = [
    3.333_333_333_333_293_180_27e-01,
    -1.999_999_999_987_648_324_76e-01,
    1.428_571_427_250_346_637_11e-01,
    -1.111_111_040_546_235_578_80e-01,
    9.090_887_133_436_506_561_96e-02,
    -7.691_876_205_044_829_994_95e-02,
    6.661_073_137_387_531_206_69e-02,
    -5.833_570_133_790_573_486_45e-02,
    4.976_877_994_615_932_360_17e-02,
    -3.653_157_274_421_691_552_70e-02,
    1.628_582_011_536_578_236_23e-02,
];

/// $\arctan x$ for $x \ge 0$.
#[inline(always)]
pub(super) fn of_magnitude(x: f64) -> f64 {
    let pick = |a: f64, b: f64, c: f64, d: f64, e: f64| {
        let low = if x < high(0x3fe6_0000) { b } else { c };
        let high_part = if x < high(0x4003_8000) { d } else { e };
        let rest = if x < high(0x3ff3_0000) { low } else { high_part };
        if x < high(0x3fdc_0000) { a } else { rest }
    };
    let above = pick(x, 2.0 * x - 1.0, x - 1.0, x - 1.5, -1.0);
    let below = pick(1.0, 2.0 + x, x + 1.0, 1.0 + 1.5 * x, x);
    let hi = pick(
        0.0,
        4.636_476_090_008_060_935_15e-01,
        std::f64::consts::FRAC_PI_4,
        9.827_937_232_473_290_540_82e-01,
        std::f64::consts::FRAC_PI_2,
    );
    let lo = pick(
        0.0,
        2.269_877_745_296_168_709_24e-17,
        3.061_616_997_868_383_017_93e-17,
        1.390_331_103_123_099_845_16e-17,
        FRAC_PI_2_LO,
    );
    let r = above / below;
    let z = r * r;
    let w = z * z;
    let odd = z
        * (ATAN[0]
            + w * (ATAN[2] + w * (ATAN[4] + w * (ATAN[6] + w * (ATAN[8] + w * ATAN[10])))));
    let even = w * (ATAN[1] + w * (ATAN[3] + w * (ATAN[5] + w * (ATAN[7] + w * ATAN[9]))));
    let series = r * (odd + even);
    let y = if x < high(0x3fdc_0000) { r - series } else { hi - (series - lo - r) };
    if x < high(0x3e40_0000) { x } else { y }
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let size = x.abs();
    (of_magnitude(size).copysign(x), size < high(0x4410_0000))
}
