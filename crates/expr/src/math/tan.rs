//! $\tan x$.

use super::lanes::{FRAC_PI_2_LO, ROUND, high, row, upper};
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

/// $\tan x$.
pub(crate) struct Tan;

impl UnaryFunction for Tan {
    const NAME: &'static str = "tan";
    const MEANING: &'static str = "the tangent of an angle in radians";

    fn value(x: f64) -> f64 {
        libm::tan(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::tan))
    }

    fn slopes(_: f64, y: f64) -> [f64; 2] {
        [1.0 + y * y, 2.0 * y * (1.0 + y * y)]
    }

    fn derivative(store: &mut Store, e: Expr, _: Expr) -> Expr {
        // 1 + tan²
        let square = store.mul(e, e);
        store.add(ONE, square)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, y| {
        // y' = (1 + y²) a'
        let (square, one) = (series.square(y), series.constant(1.0));
        SeriesRelation::along(series.sum(one, square), a)
    });

    const PARITY: Parity = Parity::Odd;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ZERO).then_some(ZERO)
    }

    const IS_SMOOTH: bool = false;

    fn range(_: Interval) -> Interval {
        Interval::ALL
    }

    fn error(x: Bounded, y: f64) -> f64 {
        let slope = (1.0 + y * y) * x.error;
        if slope * (1.0 + y.abs()) < 0.05 { 2.0 * slope } else { f64::INFINITY }
    }

    fn residue(x: u64) -> u64 {
        let circle = residue::circle(x);
        field::mul(circle.sin, field::inv(circle.cos))
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        let circle = point.circle_of(a)?;
        circle.sin.over(circle.cos)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName { latex: "\\tan", typst: "tan", mathml: "<mi>tan</mi>" },
        style: NameStyle::Power,
    };

    const SPELLINGS: Spellings = Spellings::library("tan");
}

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    const PIO2_1: f64 = 1.570_796_326_734_125_614_17e+00;
    const PIO2_1T: f64 = 6.077_100_506_506_192_249_32e-11;
    const T: [f64; 13] = [
        3.333_333_333_333_340_919_86e-01,
        1.333_333_333_332_012_426_99e-01,
        5.396_825_397_622_605_213_77e-02,
        2.186_948_829_485_954_245_99e-02,
        8.863_239_823_599_300_057_37e-03,
        3.592_079_107_591_312_353_56e-03,
        1.456_209_454_325_290_255_16e-03,
        5.880_412_408_202_640_968_74e-04,
        2.464_631_348_184_699_068_12e-04,
        7.817_944_429_395_570_923_00e-05,
        7.140_724_913_826_081_903_05e-05,
        -1.855_863_748_552_754_566_54e-05,
        2.590_730_518_636_337_128_84e-05,
    ];
    let size = x.abs();
    let small = size < high(0x3fe9_21fc);
    let turns = x * std::f64::consts::FRAC_2_PI;
    let shifted = turns + ROUND;
    let k = shifted - ROUND;
    let near = x - k * PIO2_1;
    let w = k * PIO2_1T;
    let y0 = near - w;
    let y1 = (near - y0) - w;
    // Near half turns `libm` may choose the other multiple, and near zeros and poles it takes more terms.
    let between = ((turns - k).abs() - 0.5).abs() > 1e-5;
    let away = y0.abs() > size * 1.0 / 32_768.0;
    let usual = small | (between & away & (size < high(0x4139_21fb)));
    let (a, b) = (if small { x } else { y0 }, if small { 0.0 } else { y1 });
    let odd = !small & (shifted.to_bits() & 1 == 1);
    let large = a.abs() >= high(0x3fe5_9428);
    let sign = 1.0_f64.copysign(a);
    let inward = (std::f64::consts::FRAC_PI_4 - a * sign) + (0.5 * FRAC_PI_2_LO - b * sign);
    let (p, q) = (if large { inward } else { a }, if large { 0.0 } else { b });
    let z = p * p;
    let w = z * z;
    let r = T[1] + w * (T[3] + w * (T[5] + w * (T[7] + w * (T[9] + w * T[11]))));
    let v = z * (T[2] + w * (T[4] + w * (T[6] + w * (T[8] + w * (T[10] + w * T[12])))));
    let s = z * p;
    let r = q + z * (s * (r + v) + q) + s * T[0];
    let w = p + r;
    let turn = if odd { -1.0 } else { 1.0 };
    let of_large = sign * (turn - 2.0 * (p + (r - w * w / (w + turn))));
    let w0 = upper(w);
    let v = r - (w0 - p);
    let inverse = -1.0 / w;
    let a0 = upper(inverse);
    let of_odd = a0 + inverse * (1.0 + a0 * w0 + a0 * v);
    let y = if odd { of_odd } else { w };
    let y = if large { of_large } else { y };
    (if size < high(0x3e40_0000) { x } else { y }, usual)
}
