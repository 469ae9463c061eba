//! $\Gamma$, $\ln\Gamma$ and the entire function $1/\Gamma$, real and complex.
//!
//! Real values come from [`libm`]. Complex ones from Stirling's series
//!
//! $$ \ln\Gamma(z) \sim (z - ½)\ln z - z + ½\ln 2\pi + \sum_{k\ge1}\frac{B_{2k}}{2k(2k-1)z^{2k-1}} $$
//!
//! after a step up to $\operatorname{Re} z \ge 12$ or $|{\operatorname{Im} z}| \ge 12$, and from the reflection
//! $\Gamma(z)\Gamma(1-z) = \pi/\sin\pi z$ for $\operatorname{Re} z < ½$. The large terms are formed with thirty digits.

use super::lanes::{high, row};
use super::{exp, power};
use crate::graph::node::Expr;
use crate::graph::residue;
use crate::graph::store::{ONE, Store, TWO};
use crate::math::function::{ArgumentForm, Identities, Parity, UnaryFunction};
use crate::math::notation::{FunctionName, NameStyle, Notation};
use crate::math::series::SeriesKind;
use crate::math::spelling::{Spelling, Spellings};
use crate::math::{Binary, Unary};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::{Bounded, U};
use crate::zero::quadratic::Z;
use std::f64::consts::PI;

use super::complex::{Complex, Scalar};
use super::double_double::{Double, DoubleComplex};

/// $\Gamma(x)$, not a number at its poles.
pub fn gamma(x: f64) -> f64 {
    if x <= 0.0 && x.fract() == 0.0 { f64::NAN } else { libm::tgamma(x) }
}

/// $1/\Gamma(x)$, zero at the poles of $\Gamma$.
pub fn reciprocal_gamma(x: f64) -> f64 {
    reciprocal_gamma_of_sum(x, 0.0, 0.0)
}

/// $\ln|\Gamma(x)|$, infinite at the poles.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// The coefficients of $1/\Gamma(1+t)$ [AS64, (6.1.34)] from $t^1$ on; that of $t^0$ is 1.
const RECIPROCAL: [f64; 21] = [
    0.577_215_664_901_532_9,
    -0.655_878_071_520_253_9,
    -0.042_002_635_034_095_24,
    0.166_538_611_382_291_48,
    -0.042_197_734_555_544_33,
    -0.009_621_971_527_876_973,
    0.007_218_943_246_663_1,
    -0.001_165_167_591_859_065_2,
    -0.000_215_241_674_114_950_98,
    0.000_128_050_282_388_116_2,
    -2.013_485_478_078_824e-5,
    -1.250_493_482_142_670_6e-6,
    1.133_027_231_981_696e-6,
    -2.056_338_416_977_607e-7,
    6.116_095_104_481_416e-9,
    5.002_007_644_469_223e-9,
    -1.181_274_570_487_02e-9,
    1.043_426_711_691_100_5e-10,
    7.782_263_439_905_071e-12,
    -3.696_805_618_642_206e-12,
    5.100_370_287_454_476e-13,
];

/// Between minus this and this, recurrence to $[½, \frac32]$ is as accurate as [`libm`] and much faster.
const NEAR: f64 = 24.0;

/// $1/\Gamma(a + b + c)$ for a small $c$, as if the sum were not rounded: beside a pole its last digits are
/// all there is.
pub(super) fn reciprocal_gamma_of_sum(a: f64, b: f64, c: f64) -> f64 {
    let x = a + b;
    let back = x - a;
    let rest = ((a - (x - back)) + (b - back)) + c;
    if x.abs() <= NEAR {
        return reciprocal_by_recurrence(x, rest);
    }
    if x >= 0.5 {
        let value = if x < 171.0 { 1.0 / libm::tgamma(x) } else { libm::exp(-libm::lgamma(x)) };
        return if rest == 0.0 { value } else { value * (1.0 - rest * rough_digamma(x)) };
    }
    // 1/Γ(x) = Γ(1 − x) sin(πx)/π, the sine by its distance to the nearest zero.
    let zero = x.round();
    let sign = if zero.rem_euclid(2.0) == 0.0 { 1.0 } else { -1.0 };
    let sine = sign * libm::sin(PI * ((x - zero) + rest));
    let y = 1.0 - x;
    let missing = ((1.0 - y) - x) - rest;
    let factor = libm::tgamma(y);
    if factor.is_infinite() {
        return if sine == 0.0 { 0.0 } else { libm::exp(libm::lgamma(y)) * sine / PI };
    }
    factor * (1.0 + missing * rough_digamma(y)) * sine / PI
}

/// $1/\Gamma(n + t)$ from $1/\Gamma(1 + t)$, $|t| \le ½$, by $1/\Gamma(x) = x/\Gamma(x+1)$.
fn reciprocal_by_recurrence(x: f64, rest: f64) -> f64 {
    let n = x.round();
    let t = x - n;
    let near = 1.0 + t * RECIPROCAL.iter().rev().fold(0.0, |sum, &c| sum * t + c);
    // The distance to the nearest pole or its mirror image, with all its digits.
    let distance = t + rest;
    let mut product = 1.0;
    if n >= 1.0 {
        let mut i = 1.0;
        while i < n {
            product *= t + i;
            i += 1.0;
        }
        let value = near / product;
        return if rest == 0.0 {
            value
        } else {
            value * (1.0 - rest * rough_digamma(x.max(0.5)))
        };
    }
    let mut i = -1.0;
    while i >= n {
        product *= t + i;
        i -= 1.0;
    }
    let value = near * distance * product;
    if rest == 0.0 { value } else { value * (1.0 - rest * rough_digamma(1.0 - x)) }
}

/// $\psi(x)$ for $x \ge ½$ to two digits, enough for the effect of a rounding.
fn rough_digamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 2.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    sum + libm::log(x) - 0.5 / x - 1.0 / (12.0 * x * x)
}

/// $\Gamma(z)$, not a number at its poles.
pub fn gamma_complex(z: Complex) -> Complex {
    if z.im == 0.0 {
        return Complex::new(gamma(z.re), 0.0);
    }
    if z.re >= 0.5 {
        let (ln, product) = raised(widened(z));
        return ln.exp() / product;
    }
    let (ln, product) = raised(reflected(z));
    if z.im.abs() > FAR {
        return product * (-(ln + ln_sine_far(z))).exp() * PI;
    }
    product * (-ln).exp() / sin_pi(z) * PI
}

/// $1/\Gamma(z)$, entire.
pub fn reciprocal_gamma_complex(z: Complex) -> Complex {
    if z.im == 0.0 {
        return Complex::new(reciprocal_gamma(z.re), 0.0);
    }
    if z.re >= 0.5 {
        let (ln, product) = raised(widened(z));
        return product * (-ln).exp();
    }
    let (ln, product) = raised(reflected(z));
    if z.im.abs() > FAR {
        return (ln + ln_sine_far(z)).exp() / product * (1.0 / PI);
    }
    sin_pi(z) * (ln.exp() / product) * (1.0 / PI)
}

/// $\ln\Gamma(z)$, continued from the positive axis with the cut along the negative one, which belongs to the
/// upper side.
pub fn ln_gamma_complex(z: Complex) -> Complex {
    if !z.is_finite() {
        return Complex::new(f64::NAN, f64::NAN);
    }
    if z.re < 0.5 {
        // ln Γ(z) = ln π − ln sin πz − ln Γ(1 − z), with the branch of ln sin that is analytic in the half plane of z:
        // ln sin πz = −iπz + iπ/2 − ln 2 + ln(1 − e^{2πiz}) above the axis.
        let up = if z.im < 0.0 { z.conj() } else { z };
        let zero = up.re.round();
        let (x, y) = (PI * (up.re - zero), PI * up.im);
        // 1 − e^{2πiz} = −2i e^{iπz} sin πz, the exponential from the distance to the nearest zero.
        let (sin, cos) = libm::sincos(x);
        let decay = libm::exp(-2.0 * y);
        let difference = Complex::new(
            -libm::expm1(-2.0 * y) + 2.0 * decay * sin * sin,
            -2.0 * decay * sin * cos,
        );
        let ln_sine =
            Complex::new(y - std::f64::consts::LN_2, PI * (0.5 - up.re)) + difference.ln();
        let value = Complex::from(LN_PI) - ln_sine - ln_gamma_right(reflected(up)).rounded();
        return if z.im < 0.0 { value.conj() } else { value };
    }
    ln_gamma_right(widened(z)).rounded()
}

/// $\ln\Gamma(z)$ for $\operatorname{Re} z \ge ½$.
fn ln_gamma_right(z: DoubleComplex) -> DoubleComplex {
    let (mut up, mut logs) = (z, DoubleComplex::default());
    while is_low(up) {
        logs = logs + up.ln();
        up = up + DoubleComplex::real(1.0);
    }
    stirling(up) - logs
}

/// $\ln\Gamma(z + n)$ in the domain of Stirling's series, and $z(z+1)…(z+n-1)$.
fn raised(z: DoubleComplex) -> (DoubleComplex, Complex) {
    let (mut up, mut product) = (z, DoubleComplex::real(1.0));
    while is_low(up) {
        product = product * up;
        up = up + DoubleComplex::real(1.0);
    }
    (stirling(up), product.rounded())
}

fn is_low(z: DoubleComplex) -> bool {
    z.re.high < 12.0 && z.im.high.abs() < 12.0
}

fn widened(z: Complex) -> DoubleComplex {
    DoubleComplex::new(Double::from(z.re), Double::from(z.im))
}

/// $1 - z$, not rounded.
fn reflected(z: Complex) -> DoubleComplex {
    DoubleComplex::new(Double::sum(1.0, -z.re), Double::from(-z.im))
}

/// Stirling's series for $\ln\Gamma$, its large terms with thirty digits.
fn stirling(z: DoubleComplex) -> DoubleComplex {
    /// $B_{2k}/(2k(2k-1))$
    const COEFFICIENTS: [f64; 9] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
        43_867.0 / 244_188.0,
    ];
    const HALF_LN_TWO_PI: Double =
        Double::new(0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);
    let inverse = z.rounded().recip();
    let square = inverse * inverse;
    let tail = COEFFICIENTS
        .iter()
        .rev()
        .fold(Complex::default(), |sum, &c| sum * square + Complex::from(c));
    let constant = DoubleComplex::new(HALF_LN_TWO_PI, Double::default());
    (z - DoubleComplex::real(0.5)) * z.ln() - z + constant + widened(tail * inverse)
}

/// Beyond this distance from the axis $e^{-2\pi|y|}$ is nothing beside 1.
const FAR: f64 = 6.0;
const LN_PI: f64 = 1.144_729_885_849_400_2;

/// $\sin \pi z$, accurate near its zeros.
fn sin_pi(z: Complex) -> Complex {
    let zero = z.re.round();
    let sign = if zero.rem_euclid(2.0) == 0.0 { 1.0 } else { -1.0 };
    let (sin, cos) = libm::sincos(PI * (z.re - zero));
    let y = PI * z.im;
    Complex::new(sin * libm::cosh(y), cos * libm::sinh(y)) * sign
}

/// $\ln \sin \pi z$ far from the axis up to whole turns: $\sin\pi z = \pm\frac i2 e^{\pi|y| \mp i\pi x}$.
fn ln_sine_far(z: Complex) -> DoubleComplex {
    const PI_TWICE: DoubleComplex =
        DoubleComplex::new(Double::new(PI, 1.224_646_799_147_353_2e-16), Double::new(0.0, 0.0));
    const LN_2: Double = Double::new(std::f64::consts::LN_2, 2.319_046_813_846_3e-17);
    let turned = z.re - 2.0 * (0.5 * z.re).round();
    let phase = Double::sum(0.5, -turned);
    let phase = if z.im < 0.0 { -phase } else { phase };
    let scaled = PI_TWICE * DoubleComplex::new(Double::from(z.im.abs()), phase);
    DoubleComplex::new(scaled.re - LN_2, scaled.im)
}

/// $\Gamma$
pub(crate) struct Gamma;

impl UnaryFunction for Gamma {
    const NAME: &'static str = "gamma";
    const MEANING: &'static str = "Euler's Γ";

    fn value(x: f64) -> f64 {
        gamma(x)
    }

    #[inline(always)]
    fn row<const N: usize>(x: &[f64; N]) -> Option<[f64; N]> {
        Some(row!(N, |x| usual, gamma))
    }

    fn slopes(x: f64, y: f64) -> [f64; 2] {
        let (ψ, ψ1) = (Unary::Digamma.value(x), Binary::Polygamma.value(1.0, x));
        [y * ψ, y * (ψ * ψ + ψ1)]
    }

    fn derivative(store: &mut Store, e: Expr, a: Expr) -> Expr {
        let psi = store.unary(Unary::Digamma, a);
        store.mul(e, psi)
    }

    const SERIES: SeriesKind = SeriesKind::None;

    const PARITY: Parity = Parity::None;

    fn exact(_: &mut Store, a: Expr) -> Option<Expr> {
        (a == ONE || a == TWO).then_some(ONE)
    }

    const IS_SMOOTH: bool = false;

    fn range(a: Interval) -> Interval {
        if a.low >= 0.0 { Interval { low: 0.0, high: f64::INFINITY } } else { Interval::ALL }
    }

    fn error(x: Bounded, y: f64) -> f64 {
        let slope = y.abs() * Unary::Digamma.value(x.value).abs();
        4.0 * slope * x.error * x.factor_below(1e-3) + 40.0 * U * y.abs()
    }

    fn residue(x: u64) -> u64 {
        residue::opaque(Unary::Gamma, x)
    }

    const IDENTITIES: Identities =
        Identities { argument: ArgumentForm::Sum, branched: true, ..Identities::NONE };

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr) -> Option<Z> {
        point.gamma_of(a)
    }

    const NOTATION: Notation = Notation::Name {
        name: FunctionName {
            latex: "\\Gamma",
            typst: "Γ",
            mathml: "<mi mathvariant=\"normal\">Γ</mi>",
        },
        style: NameStyle::Brackets,
    };

    const SPELLINGS: Spellings = Spellings {
        c: Spelling::Library("tgamma"),
        rust: Spelling::None,
        python: Spelling::Library("gamma"),
    };
}

/// $g - 1/2$
const SHIFT: f64 = 5.524_680_040_776_729_583_740_234_375;

/// The coefficients of $S$ above and below the line.
const S: [(f64, f64); 13] = [
    (23_531_376_880.410_759_688_572_007_674_451_636_754_734_846_804_940, 0.0),
    (42_919_803_642.649_098_768_957_899_047_001_988_850_926_355_848_959, 39_916_800.0),
    (35_711_959_237.355_668_049_440_185_451_547_166_705_960_488_635_843, 120_543_840.0),
    (17_921_034_426.037_209_699_919_755_754_458_931_112_671_403_265_390, 150_917_976.0),
    (6_039_542_586.352_028_005_064_291_644_307_297_921_069_938_842_070_8, 105_258_076.0),
    (1_439_720_407.311_721_673_663_223_072_794_912_393_971_548_578_677_2, 45_995_730.0),
    (248_874_557.862_054_156_511_460_386_413_229_423_216_321_251_278_01, 13_339_535.0),
    (31_426_415.585_400_194_380_614_231_628_318_205_362_874_684_987_640, 2_637_558.0),
    (2_876_370.628_935_372_441_225_409_051_620_849_613_599_114_537_876_8, 357_423.0),
    (186_056.265_395_223_495_040_294_989_716_045_699_282_207_842_363_28, 32_670.0),
    (8_071.672_002_365_816_210_638_002_902_272_250_613_821_851_632_502_4, 1_925.0),
    (210.824_277_751_579_345_872_509_733_920_713_362_711_669_695_802_91, 66.0),
    (2.506_628_274_631_000_270_164_908_177_133_837_338_626_431_079_340_8, 1.0),
];

/// $f(x)$ without branches, and whether the argument is one for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64) -> (f64, bool) {
    let (mut above, mut below) = (0.0, 0.0);
    let (mut far_above, mut far_below) = (0.0, 0.0);
    for i in 0..S.len() {
        let (near, far) = (S[S.len() - 1 - i], S[i]);
        (above, below) = (above * x + near.0, below * x + near.1);
        (far_above, far_below) = (far_above / x + far.0, far_below / x + far.1);
    }
    let is_near = x < 8.0;
    let s = if is_near { above } else { far_above } / if is_near { below } else { far_below };
    let y = x + SHIFT;
    // What rounding took from the sum.
    let lost = if x > SHIFT { (y - x) - SHIFT } else { (y - SHIFT) - x };
    let r = s * exp::usual(-y).0;
    let r = r + lost * (SHIFT + 0.5) * r / y;
    let (root, usual) = power::usual(y, 0.5 * (x - 0.5));
    let inside = (x >= high(0x3c90_0000)) & (x < 184.0) & (x.trunc() != x);
    (r * root * root, usual & inside)
}
