//! Sine and cosine together, branch-free, with the same bits one at a time, in lanes and in native code.
//!
//! Reduction: $k$ is $x \cdot 2/\pi$ rounded and $r - r' = x - k\pi/2$ with $|x| \le 10^8$, $|k| < 2^{26}$.
//!
//! **Rounding twice.** $\pi/2 = P_1 + P_2 + P_3 + P_4$; $P_1, P_2, P_3$ end at $2^{-26}, 2^{-53}, 2^{-80}$
//! and have at most 27 bits, so that
//!
//! - $k P_1, k P_2, k P_3$ are exact products;
//! - $x - k P_1$ and then $- k P_2$ are exact differences: multiples of $2^{-53}$ below 1;
//! - both later differences keep their rounding error. Dekker's short form of it is valid, also after
//!   cancellation, because the minuend is a multiple of the subtrahend's last place.
//!
//! What remains is the rounding of $k P_4$, at most $k\,2^{-134}$. No double up to $10^8$ comes closer than
//! $2^{-61}$ to a multiple of $\pi/2$, and only three come closer than $k\,2^{-78}$ (14461176.67027838 and
//! its doubles; the tests have them), so that this is below 2⁻³ units elsewhere.
//!
//! **Rounding once.** $\pi/2 = Q_1 + Q_2 + Q_3$, doubles. $x - k Q_1$ is a multiple of $2^{-53}$ below 1,
//! hence exact; $k Q_2 = p + e$ exactly, and the difference that $p$ is taken from is a multiple of the last
//! place of $p$, as above. What remains is $k\,2^{-163}$.
//!
//! The polynomials on $|r| \le \pi/4$ are those of fdlibm (`__kernel_sin`, `__kernel_cos`). Beyond $10^8$,
//! and for what is not finite, `libm` answers.
//!
//! **Invariant.** Only `+ - *`, multiply-adds and operations on bits. Native code performs these operations
//! in this order.

#![allow(
    clippy::inline_always,
    reason = "these become parts of loops that are compiled for more instructions"
)]

use crate::rounding::{Rounding, SoftwareFma, TwoRoundings};

/// Up to here the reduction is exact enough.
pub(crate) const LIMIT: f64 = 1e8;

pub(crate) const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;
/// $1.5 \cdot 2^{52}$: adding it rounds to a whole number, which then stands in the last bits.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0;

/// $P_1 \dots P_4$ by their bits.
pub(crate) const HALF_PI: [f64; 4] = [
    f64::from_bits(0x3ff9_21fb_5400_0000),
    f64::from_bits(0x3e11_0b46_0000_0000),
    f64::from_bits(0x3c91_a626_3000_0000),
    f64::from_bits(0x3ae8_a2e0_3707_344a),
];

/// $Q_1 \dots Q_3$ by their bits.
pub(crate) const HALF_PI_WHOLE: [f64; 3] = [
    f64::from_bits(0x3ff9_21fb_5444_2d18),
    f64::from_bits(0x3c91_a626_3314_5c07),
    f64::from_bits(0xb91f_1976_b7ed_8fbc),
];

/// $(\sin r - r)/r^3$ in powers of $r^2$.
pub(crate) const SIN: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];

/// $(\cos r - 1 + r^2/2)/r^4$ in powers of $r^2$.
pub(crate) const COS: [f64; 6] = [
    4.166_666_666_666_66e-2,
    -1.388_888_888_887_411e-3,
    2.480_158_728_947_673e-5,
    -2.755_731_435_139_066_3e-7,
    2.087_572_321_298_175e-9,
    -1.135_964_755_778_819_5e-11,
];

/// $(\sin x, \cos x)$, each within one unit in the last place.
///
/// ```
/// let (s, c) = pfaff_program::sincos(std::f64::consts::FRAC_PI_2);
/// assert_eq!((s, c), (1.0, 6.123233995736766e-17));
/// ```
#[inline(never)] // its registers and its 60 operations do not belong into the loop over instructions
pub fn sincos(x: f64) -> (f64, f64) {
    if x.abs() <= LIMIT { reduced_twice(x) } else { beyond(x) }
}

/// Both, with multiply-adds that round once.
#[inline(always)]
pub(crate) fn sincos_with_fma<R: Rounding>(x: f64) -> (f64, f64) {
    if x.abs() <= LIMIT { reduced_once::<R>(x) } else { beyond(x) }
}

#[inline(never)]
pub(crate) fn sincos_software_fma(x: f64) -> (f64, f64) {
    sincos_with_fma::<SoftwareFma>(x)
}

#[cold]
#[inline(never)]
fn beyond(x: f64) -> (f64, f64) {
    (libm::sin(x), libm::cos(x))
}

/// [`sincos`] of every lane, with the same bits.
#[inline(always)]
pub(crate) fn sincos_lanes<const N: usize>(x: &[f64; N]) -> ([f64; N], [f64; N]) {
    lanes(x, reduced_twice)
}

/// [`sincos_with_fma`] of every lane, with the same bits.
#[inline(always)]
pub(crate) fn sincos_lanes_with_fma<R: Rounding, const N: usize>(
    x: &[f64; N],
) -> ([f64; N], [f64; N]) {
    lanes(x, reduced_once::<R>)
}

#[inline(always)]
fn lanes<const N: usize>(
    x: &[f64; N],
    reduced: impl Fn(f64) -> (f64, f64),
) -> ([f64; N], [f64; N]) {
    let (mut sin, mut cos) = ([0.0; N], [0.0; N]);
    let mut inside = true;
    for l in 0..N {
        (sin[l], cos[l]) = reduced(x[l]);
        inside &= x[l].abs() <= LIMIT;
    }
    if !inside {
        for l in 0..N {
            if x[l].abs() > LIMIT || x[l].is_nan() {
                (sin[l], cos[l]) = beyond(x[l]);
            }
        }
    }
    (sin, cos)
}

/// The branch-free part; meaningless beyond [`LIMIT`].
#[inline(always)]
fn reduced_twice(x: f64) -> (f64, f64) {
    let [p1, p2, p3, p4] = HALF_PI;
    let shifted = x * TWO_OVER_PI + ROUND;
    let k = shifted - ROUND;
    let exact = x - k * p1 - k * p2;
    // r − rest = exact − k P₃ − k P₄. Differences, not sums, so that −0 stays −0.
    let third = k * p3;
    let high = exact - third;
    let behind = k * p4 - ((exact - high) - third);
    let r = high - behind;
    let rest = behind - (high - r);
    kernels::<TwoRoundings>(shifted.to_bits(), r, rest)
}

/// The same with multiply-adds that round once.
#[inline(always)]
fn reduced_once<R: Rounding>(x: f64) -> (f64, f64) {
    let [q1, q2, q3] = HALF_PI_WHOLE;
    let shifted = R::mul_add(x, TWO_OVER_PI, ROUND);
    let k = shifted - ROUND;
    let exact = R::mul_add(-k, q1, x);
    let p = k * q2;
    let e = R::mul_add(k, q2, -p);
    let r = exact - p;
    let rest = R::mul_add(k, q3, ((r - exact) + p) + e);
    kernels::<R>(shifted.to_bits(), r, rest)
}

/// $\sin$ and $\cos$ of $r - \mathrm{rest}$ and `quadrant` quarter turns.
#[inline(always)]
fn kernels<R: Rounding>(quadrant: u64, r: f64, rest: f64) -> (f64, f64) {
    let z = r * r;
    let w = z * z;
    let cube = z * w;
    let first = R::mul_add(SIN[5], z, SIN[4]);
    let tail = R::mul_add(SIN[3], z, SIN[2]);
    let tail = R::mul_add(tail, z, SIN[1]);
    let tail = R::mul_add(first, cube, tail);
    let series = R::mul_add(tail, z, SIN[0]);
    let sin = (r - R::mul_add(-series, z * r, rest)).to_bits();
    let first = R::mul_add(COS[5], z, COS[4]);
    let first = R::mul_add(first, z, COS[3]);
    let tail = R::mul_add(COS[2], z, COS[1]);
    let tail = R::mul_add(tail, z, COS[0]);
    let series = R::mul_add(first, cube, tail);
    let small = R::mul_add(series, w, r * rest);
    let half = z * 0.5;
    let one = 1.0 - half;
    let cos = (one + (((1.0 - one) - half) + small)).to_bits();
    // An odd quadrant exchanges the two; the second bit of k and of k + 1 are their signs.
    let odd = (quadrant & 1).wrapping_neg();
    let exchange = (sin ^ cos) & odd;
    let sin_sign = (quadrant & 2) << 62;
    let cos_sign = (quadrant.wrapping_add(1) & 2) << 62;
    (f64::from_bits(sin ^ exchange ^ sin_sign), f64::from_bits(cos ^ exchange ^ cos_sign))
}
