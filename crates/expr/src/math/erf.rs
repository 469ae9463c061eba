//! $\operatorname{erf} x = \frac{2}{\sqrt\pi}\int_0^x e^{-t^2}\,dt$.
//!
//! Several at once, as fdlibm (`erf`): a quotient of polynomials in $x^2$ up to 0.84375, in $|x| - 1$ up to
//! 1.25, in $1/x^2$ up to 2.857 and up to 6. Shorter polynomials have zeros for coefficients, which change no
//! bit of a sum.

use super::exp;
use super::lanes::{high, row, upper};
use crate::graph::node::{Expr, Node};
use crate::graph::residue;
use crate::graph::store::{Store, TWO, ZERO};
use crate::math::Unary;
use crate::math::function::{Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::SeriesWriter;
use crate::math::series::{SeriesKind, SeriesRelation};
use crate::math::spelling::{Spelling, Spellings};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::Bounded;
use crate::zero::quadratic::Z;

/// $\operatorname{erf} x = \frac{2}{\sqrt\pi}\int_0^x e^{-t^2}\,dt$.
pub(crate) struct Erf;

impl UnaryFunction for Erf {
    const NAME: &'static str = "erf";
    const MEANING: &'static str = "the error function 2/√π ∫₀ˣ exp(-t²) dt";

    fn value(x: f64) -> f64 {
        libm::erf(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, libm::erf))
    }

    fn slopes(x: f64, _: f64) -> [f64; 2] {
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
        [slope, -2.0 * x * slope]
    }

    fn derivative(store: &mut Store, _: Expr, a: Expr) -> Expr {
        slope(store, a)
    }

    const SERIES: SeriesKind = SeriesKind::Relation(|series, a, _| {
        // y' = 2/√π e^{−a²} a'
        SeriesRelation::along(bell(series, a), a)
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
        1.2 * x.error
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Erf, x)
    }

    const IDENTITIES: Identities = Identities::NONE;

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        // odd
        let x = point.value(a);
        Some(point.odd_opaque(0xe2f, x))
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName {
            latex: "\\operatorname{erf}",
            typst: "op(\"erf\")",
            mathml: "<mi>erf</mi>",
        },
        style: NameStyle::Brackets,
    };

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Library("erf"),
        rust: Spelling::None,
        python: Spelling::Library("erf"),
    };
}

/// $\frac{2}{\sqrt\pi}e^{-a^2}$
pub(super) fn slope(store: &mut Store, a: Expr) -> Expr {
    let pi = store.intern(Node::Pi);
    let root = store.unary(Unary::Sqrt, pi);
    let square = store.mul(a, a);
    let exponent = store.neg(square);
    let bell = store.unary(Unary::Exp, exponent);
    let twice = store.mul(TWO, bell);
    store.div(twice, root)
}

/// The series of the slope.
pub(super) fn bell(series: &mut dyn SeriesWriter, a: u32) -> u32 {
    let square = series.square(a);
    let exponent = series.opposite(square);
    let bell = series.exponential(exponent);
    let factor = series.constant(std::f64::consts::FRAC_2_SQRT_PI);
    series.product(factor, bell)
}

/// Numerators, from the constant.
const A: [[f64; 4]; 8] = [
    [
        1.283_791_670_955_125_585_61e-01,
        -2.362_118_560_752_659_440_77e-03,
        -9.864_944_034_847_148_227_05e-03,
        -9.864_942_924_700_099_285_97e-03,
    ],
    [
        -3.250_421_072_470_014_993_70e-01,
        4.148_561_186_837_483_316_66e-01,
        -6.938_585_727_071_817_643_72e-01,
        -7.992_832_376_805_230_065_74e-01,
    ],
    [
        -2.848_174_957_559_851_047_66e-02,
        -3.722_078_760_357_013_238_47e-01,
        -1.055_862_622_532_329_098_14e+01,
        -1.775_795_491_775_475_198_89e+01,
    ],
    [
        -5.770_270_296_489_441_591_57e-03,
        3.183_466_199_011_617_536_74e-01,
        -6.237_533_245_032_600_603_96e+01,
        -1.606_363_848_558_219_160_62e+02,
    ],
    [
        -2.376_301_665_665_016_260_84e-05,
        -1.108_946_942_823_966_774_76e-01,
        -1.623_966_694_625_734_703_55e+02,
        -6.375_664_433_683_896_277_22e+02,
    ],
    [
        0.0,
        3.547_830_432_561_823_593_71e-02,
        -1.846_050_929_067_110_359_94e+02,
        -1.025_095_131_611_077_249_54e+03,
    ],
    [
        0.0,
        -2.166_375_594_868_790_843_00e-03,
        -8.128_743_550_630_659_342_46e+01,
        -4.835_191_916_086_513_970_19e+02,
    ],
    [0.0, 0.0, -9.814_329_344_169_145_485_92e+00, 0.0],
];

/// Denominators, from the first power; the constant is 1.
const B: [[f64; 4]; 8] = [
    [
        3.979_172_239_591_553_528_19e-01,
        1.064_208_804_008_442_282_86e-01,
        1.965_127_166_743_925_712_92e+01,
        3.033_806_074_348_245_829_24e+01,
    ],
    [
        6.502_224_998_876_729_444_85e-02,
        5.403_979_177_021_710_489_37e-01,
        1.376_577_541_435_190_426_00e+02,
        3.257_925_129_965_739_188_26e+02,
    ],
    [
        5.081_306_281_875_765_627_76e-03,
        7.182_865_441_419_626_628_68e-02,
        4.345_658_774_752_292_288_21e+02,
        1.536_729_586_084_436_959_94e+03,
    ],
    [
        1.324_947_380_043_216_445_26e-04,
        1.261_712_198_087_616_421_12e-01,
        6.453_872_717_332_678_803_36e+02,
        3.199_858_219_508_595_539_08e+03,
    ],
    [
        -3.960_228_278_775_368_123_20e-06,
        1.363_708_391_202_905_073_62e-02,
        4.290_081_400_275_678_333_86e+02,
        2.553_050_406_433_164_425_83e+03,
    ],
    [
        0.0,
        1.198_449_984_679_910_741_70e-02,
        1.086_350_055_417_794_351_34e+02,
        4.745_285_412_069_553_672_15e+02,
    ],
    [0.0, 0.0, 6.570_249_770_319_281_701_35e+00, -2.244_095_244_658_581_833_62e+01],
    [0.0, 0.0, -6.042_441_521_485_809_874_38e-02, 0.0],
];

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    /// $\operatorname{erf}(1)$, rounded to 24 bits.
    const AT_ONE: f64 = 8.450_629_115_104_675_292_97e-01;
    /// $8(2/\sqrt\pi - 1)$
    const EIGHT_SLOPES: f64 = 1.027_033_336_764_100_690_53e+00;
    let size = x.abs();
    let (first, second) = (size < high(0x3feb_0000), size < high(0x3ff4_0000));
    let third = size < high(0x4006_db6d);
    let pick = |c: [f64; 4]| {
        let far = if third { c[2] } else { c[3] };
        let rest = if second { c[1] } else { far };
        if first { c[0] } else { rest }
    };
    let square = size * size;
    let s = pick([square, size - 1.0, 1.0 / square, 1.0 / square]);
    // Written out: a loop would look coefficients up by lane.
    let above = pick(A[0])
        + s * (pick(A[1])
            + s * (pick(A[2])
                + s * (pick(A[3])
                    + s * (pick(A[4])
                        + s * (pick(A[5]) + s * (pick(A[6]) + s * (pick(A[7]))))))));
    let below = pick(B[0])
        + s * (pick(B[1])
            + s * (pick(B[2])
                + s * (pick(B[3])
                    + s * (pick(B[4])
                        + s * (pick(B[5]) + s * (pick(B[6]) + s * (pick(B[7]))))))));
    let quotient = above / (1.0 + s * below);
    let z = upper(size);
    let tail =
        exp::usual(-z * z - 0.5625).0 * exp::usual((z - size) * (z + size) + quotient).0 / size;
    let rest = if second { 1.0 - AT_ONE - quotient } else { tail };
    let large = if size < 6.0 { 1.0 - rest } else { 1.0 };
    let small = x + x * quotient;
    let tiny = 0.125 * (8.0 * x + EIGHT_SLOPES * x);
    let y = if first { small } else { large.copysign(x) };
    (if size < high(0x3e30_0000) { tiny } else { y }, size <= f64::MAX)
}
