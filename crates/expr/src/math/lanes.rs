//! What the functions of several numbers at once share.
//!
//! Each of them carries out the operations of `libm` (those of fdlibm) in their order, with selections instead
//! of branches, and says whether the argument is one for which this gives the bits of `libm`. For the others
//! (not finite, subnormal, near a change of its branches) `libm` itself answers, number by number. So one
//! value, several at once and native code agree in every bit, and each function has the accuracy of `libm`.
//!
//! **Invariant.** Nothing is contracted or reassociated; the tests compare bits.

/// $1.5 \cdot 2^{52}$: added and taken away again, it rounds to the nearest whole number.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0;

// NOTE: a macro, because a large closure stays a function of its own and is then not compiled for wider registers.
/// A function of every number, by the branch-free way where it has the right bits, else by the exact one.
macro_rules! row {
    ($n:ident, |$($x:ident),+| $usual:path, $exact:expr) => {{
        let (mut y, mut usual) = ([0.0; $n], [0_u64; $n]);
        for l in 0..$n {
            let (value, is_usual) = $usual($($x[l]),+);
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
pub(super) use row;

/// The double whose upper half is this and whose lower half is zero.
pub(super) const fn high(word: u64) -> f64 {
    f64::from_bits(word << 32)
}

#[inline(always)]
pub(super) fn upper(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_0000_0000)
}

/// The whole number in the last bits, below $2^{51}$, as a double.
#[inline(always)]
pub(super) fn whole(bits: u64) -> f64 {
    // 2⁵² + n, exactly.
    f64::from_bits(bits | 0x4330_0000_0000_0000) - 4_503_599_627_370_496.0
}

/// $2^k$ for a whole number in −1022 … 1023.
#[inline(always)]
pub(super) fn two_to(k: f64) -> f64 {
    f64::from_bits((k + ROUND).to_bits().wrapping_add(1023) << 52)
}

pub(super) const LN2_HI: f64 = 6.931_471_803_691_238_164_90e-01;
pub(super) const LN2_LO: f64 = 1.908_214_929_270_587_700_02e-10;
pub(super) const EXP: [f64; 5] = [
    1.666_666_666_666_660_190_37e-01,
    -2.777_777_777_701_559_338_42e-03,
    6.613_756_321_437_934_361_17e-05,
    -1.653_390_220_546_525_153_90e-06,
    4.138_136_797_057_238_460_39e-08,
];

/// The multiple of $\ln 2$ that is taken from the argument of an exponential.
#[inline(always)]
pub(super) fn multiples_of_ln2(x: f64) -> f64 {
    let size = x.abs();
    let k = (std::f64::consts::LOG2_E * x + 0.5_f64.copysign(x)).trunc();
    let k = if size < high(0x3ff0_a2b2) { 1.0_f64.copysign(x) } else { k };
    if size < high(0x3fd6_2e43) { 0.0 } else { k }
}

/// The rest of $\pi/2$ beyond its double.
pub(super) const FRAC_PI_2_LO: f64 = 6.123_233_995_736_766_035_87e-17;

/// $e^x - 1$ for $-1 < x \le 709$.
#[inline(always)]
pub(super) fn expm1(x: f64) -> f64 {
    const Q: [f64; 5] = [
        -3.333_333_333_333_313_164_28e-02,
        1.587_301_587_254_814_601_65e-03,
        -7.936_507_578_674_879_424_73e-05,
        4.008_217_827_329_362_395_52e-06,
        -2.010_992_181_836_243_713_26e-07,
    ];
    let k = multiples_of_ln2(x);
    let hi = x - k * LN2_HI;
    let lo = k * LN2_LO;
    let r = hi - lo;
    let c = (hi - r) - lo;
    let half = 0.5 * r;
    let square = r * half;
    let series = 1.0
        + square * (Q[0] + square * (Q[1] + square * (Q[2] + square * (Q[3] + square * Q[4]))));
    let t = 3.0 - series * half;
    let e = square * ((series - t) / (6.0 - r * t));
    let near_zero = r - (r * e - square);
    let e = r * (e - c) - c - square;
    let below = 0.5 * (r - e) - 0.5;
    let above = if r < -0.25 { -2.0 * (e - (r + 0.5)) } else { 1.0 + 2.0 * (r - e) };
    let (scale, inverse) = (two_to(k), two_to(-k));
    let few = (r - e + (1.0 - inverse)) * scale;
    let many = (r - (e + inverse) + 1.0) * scale;
    let most = (r - e + 1.0) * scale - 1.0;
    let far = if k < 20.0 { few } else { many };
    let far = if k > 56.0 { most } else { far };
    let far = if k == 1.0 { above } else { far };
    let y = if k < 0.0 { below } else { far };
    let y = if k == 0.0 { near_zero } else { y };
    if x.abs() < high(0x3c90_0000) { x } else { y }
}
