//! Functions without instructions of their own, of several numbers at once, with the bits of `libm` one at a time.
//!
//! Each function carries out the operations of `libm` (those of fdlibm) in their order, with selections
//! instead of branches, and says whether the argument is an
//! ordinary one. For others (not finite, subnormal, near a change of its branches) `libm` itself answers,
//! lane by lane. So one value, lanes and native code agree
//! in every bit, and each function has the accuracy of `libm`.
//!
//! **Invariant.** Nothing is contracted or reassociated; the tests compare bits.

#![allow(
    clippy::inline_always,
    reason = "these become parts of loops that are compiled for more instructions"
)]
#![allow(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch, and branches are not vectors"
)]
#![allow(clippy::excessive_precision, reason = "the constants are written as in fdlibm")]

mod arc;
mod error_function;
mod gamma;
mod hyperbolic;
#[cfg(test)]
mod tests;

use pfaff_expr::{Binary, Unary, power, whole_power};

use arc::{acos, asin};
use error_function::erf;
use gamma::gamma;
use hyperbolic::{cosh, sinh, tanh};

use crate::sincos::ROUND;

// NOTE: macros, because a large closure stays a function of its own and is then not compiled for more instructions.
macro_rules! row {
    ($n:ident, |$($x:ident),+| $ordinary:ident, $exact:expr) => {{
        let (mut y, mut usual) = ([0.0; $n], [0_u64; $n]);
        for l in 0..$n {
            let (value, is_usual) = $ordinary($($x[l]),+);
            (y[l], usual[l]) = (value, u64::from(is_usual));
        }
        if usual.iter().sum::<u64>() != $n as u64 {
            for l in 0..$n {
                if usual[l] == 0 {
                    y[l] = $exact($($x[l]),+);
                }
            }
        }
        y
    }};
}

/// The function of every lane, if it is one of these.
#[inline(always)]
pub(crate) fn unary_row<const N: usize>(function: Unary, x: &[f64; N]) -> Option<[f64; N]> {
    Some(match function {
        Unary::Exp => row!(N, |x| exp, libm::exp),
        Unary::Log => row!(N, |x| log, libm::log),
        Unary::Tan => row!(N, |x| tan, libm::tan),
        Unary::Atan => row!(N, |x| atan, libm::atan),
        Unary::Asin => row!(N, |x| asin, libm::asin),
        Unary::Acos => row!(N, |x| acos, libm::acos),
        Unary::Sinh => row!(N, |x| sinh, libm::sinh),
        Unary::Cosh => row!(N, |x| cosh, libm::cosh),
        Unary::Tanh => row!(N, |x| tanh, libm::tanh),
        Unary::Erf => row!(N, |x| erf, libm::erf),
        Unary::Gamma => row!(N, |x| gamma, gamma_one),
        _ => return None,
    })
}

/// The function of every lane, if it is one of these.
#[inline(always)]
pub(crate) fn binary_row<const N: usize>(
    function: Binary,
    a: &[f64; N],
    b: &[f64; N],
) -> Option<[f64; N]> {
    match function {
        Binary::Atan2 => Some(row!(N, |a, b| atan2, atan2_one)),
        _ => None,
    }
}

fn gamma_one(x: f64) -> f64 {
    Unary::Gamma.value(x)
}

fn atan2_one(a: f64, b: f64) -> f64 {
    Binary::Atan2.value(a, b)
}

/// [`power`] of every lane.
#[inline(always)]
pub(crate) fn power_row<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
    let whole = |y: f64| y.fract() == 0.0 && y.abs() <= 64.0;
    if whole(y[0]) && y.iter().all(|&other| other == y[0]) {
        let n = y[0].abs() as u32;
        let mut powers = x.map(|x| whole_power(x, n));
        if y[0] < 0.0 {
            powers = powers.map(|p| 1.0 / p);
        }
        return powers;
    }
    row!(N, |x, y| pow, power)
}

/// The double whose upper half is this and whose lower half is zero.
const fn high(word: u64) -> f64 {
    f64::from_bits(word << 32)
}

#[inline(always)]
fn upper(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}

/// The whole number in the last bits, below $2^{51}$, as a double.
#[inline(always)]
fn whole(bits: u64) -> f64 {
    // 2⁵² + n, exactly.
    f64::from_bits(bits | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0
}

/// $2^k$ for a whole number in −1022 … 1023.
#[inline(always)]
fn two_to(k: f64) -> f64 {
    f64::from_bits((k + ROUND).to_bits().wrapping_add(1023) << 52)
}

const LN2_HI: f64 = 6.931_471_803_691_238_164_90e-01;
const LN2_LO: f64 = 1.908_214_929_270_587_700_02e-10;
const P: [f64; 5] = [
    1.666_666_666_666_660_190_37e-01,
    -2.777_777_777_701_559_338_42e-03,
    6.613_756_321_437_934_361_17e-05,
    -1.653_390_220_546_525_153_90e-06,
    4.138_136_797_057_238_460_39e-08,
];

/// The multiple of $\ln 2$ that is taken from the argument of an exponential.
#[inline(always)]
fn multiples_of_ln2(x: f64) -> f64 {
    let size = x.abs();
    let k = (std::f64::consts::LOG2_E * x + 0.5_f64.copysign(x)).trunc();
    let k = if size < high(0x3ff0_a2b2) { 1.0_f64.copysign(x) } else { k };
    if size < high(0x3fd6_2e43) { 0.0 } else { k }
}

#[inline(always)]
fn exp(x: f64) -> (f64, bool) {
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

#[inline(always)]
fn log(x: f64) -> (f64, bool) {
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
const FRAC_PI_2_LO: f64 = 6.123_233_995_736_766_035_87e-17;

/// Of a magnitude.
#[inline(always)]
fn atan_of(x: f64) -> f64 {
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

#[inline(always)]
fn atan(x: f64) -> (f64, bool) {
    let size = x.abs();
    (atan_of(size).copysign(x), size < high(0x4410_0000))
}

#[inline(always)]
fn atan2(y: f64, x: f64) -> (f64, bool) {
    /// $2^{\pm 60}$: quotients between them take the middle way of `libm`.
    const RATIOS: std::ops::RangeInclusive<f64> = high(0x3c30_0000)..=high(0x43b0_0000);
    /// $2^{\pm 500}$
    const SIZES: std::ops::RangeInclusive<f64> = high(0x20b0_0000)..=high(0x5f30_0000);
    let ratio = (y / x).abs();
    let z = atan_of(ratio);
    let behind = std::f64::consts::PI - (z - 2.0 * FRAC_PI_2_LO);
    let angle = if x < 0.0 { behind } else { z };
    let usual = RATIOS.contains(&ratio) & SIZES.contains(&y.abs()) & SIZES.contains(&x.abs());
    (angle.copysign(y), usual)
}

#[inline(always)]
fn tan(x: f64) -> (f64, bool) {
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

#[inline(always)]
fn pow(x: f64, y: f64) -> (f64, bool) {
    const L: [f64; 6] = [
        5.999_999_999_999_946_487_25e-01,
        4.285_714_285_785_501_842_52e-01,
        3.333_333_298_183_774_329_18e-01,
        2.727_281_238_085_340_064_89e-01,
        2.306_607_457_755_617_540_67e-01,
        2.069_750_178_003_384_177_84e-01,
    ];
    const CP: f64 = 9.617_966_939_259_755_543_29e-01;
    const CP_H: f64 = 9.617_967_009_544_372_558_59e-01;
    const CP_L: f64 = -7.028_461_650_952_758_265_16e-09;
    const LG2: f64 = std::f64::consts::LN_2;
    const LG2_H: f64 = 6.931_471_824_645_996_093_75e-01;
    const LG2_L: f64 = -1.904_654_299_957_768_045_25e-09;
    let word = x.to_bits() >> 32;
    let fraction = word & 0x000f_ffff;
    let middle = (fraction > 0x3_988e) & (fraction < 0xb_b67a);
    let last = fraction >= 0xb_b67a;
    let n = whole(word >> 20) - if last { 1022.0 } else { 1023.0 };
    let word = fraction | if last { 0x3fe0_0000 } else { 0x3ff0_0000 };
    let ax = f64::from_bits((word << 32) | (x.to_bits() & 0xffff_ffff));
    let bp = if middle { 1.5 } else { 1.0 };
    let dp_h = if middle { 5.849_624_872_207_641_601_56e-01 } else { 0.0 };
    let dp_l = if middle { 1.350_039_202_129_748_971_28e-08 } else { 0.0 };
    let u = ax - bp;
    let v = 1.0 / (ax + bp);
    let ss = u * v;
    let s_h = upper(ss);
    let step = if middle { 0x000c_0000 } else { 0x0008_0000 };
    let t_h = f64::from_bits((((word >> 1) | 0x2000_0000) + step) << 32);
    let t_l = ax - (t_h - bp);
    let s_l = v * ((u - s_h * t_h) - s_h * t_l);
    let s2 = ss * ss;
    let r =
        s2 * s2 * (L[0] + s2 * (L[1] + s2 * (L[2] + s2 * (L[3] + s2 * (L[4] + s2 * L[5])))));
    let r = r + s_l * (s_h + ss);
    let s2 = s_h * s_h;
    let t_h = upper(3.0 + s2 + r);
    let t_l = r - ((t_h - 3.0) - s2);
    let u = s_h * t_h;
    let v = s_l * t_h + t_l * ss;
    let p_h = upper(u + v);
    let p_l = v - (p_h - u);
    let z_h = CP_H * p_h;
    let z_l = CP_L * p_h + p_l * CP + dp_l;
    let t1 = upper(((z_h + z_l) + dp_h) + n);
    let t2 = z_l - (((t1 - n) - dp_h) - z_h);
    // (y₁ + y₂)(t₁ + t₂)
    let y1 = upper(y);
    let p_l = (y - y1) * t1 + y * t2;
    let p_h = y1 * t1;
    let z = p_l + p_h;
    let size = upper(z).abs();
    let whole_part = (size + 0.5).trunc().copysign(z);
    let n = if size > 0.5 { whole_part } else { 0.0 };
    let usual = (f64::MIN_POSITIVE..=f64::MAX).contains(&x)
        & (y.abs() <= 2_147_483_648.0)
        & !((y.abs() <= 64.0) & (y.trunc() == y))
        & (y != 0.5)
        & (z.abs() < 1000.0);
    let p_h = p_h - n;
    let t = upper(p_l + p_h);
    let u = t * LG2_H;
    let v = (p_l - (t - p_h)) * LG2 + t * LG2_L;
    let z = u + v;
    let w = v - (z - u);
    let t = z * z;
    let t1 = z - t * (P[0] + t * (P[1] + t * (P[2] + t * (P[3] + t * P[4]))));
    let r = (z * t1) / (t1 - 2.0) - (w + z * w);
    ((1.0 - (r - z)) * two_to(n), usual)
}
