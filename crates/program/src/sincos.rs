//! Sine and cosine together, branch-free, with the same bits one at a time and in lanes.
//!
//! Reduction: $k$ is $x \cdot 2/\pi$ rounded and $r + r' = x - k\pi/2$ with $\pi/2 = P_1 + P_2 + P_3 + P_4$. For $|x| \le 10^8$
//! we have $|k| < 2^{26}$; $P_1, P_2, P_3$ end at $2^{-26}, 2^{-53}, 2^{-80}$ and have at most 27 bits, so that
//!
//! - $k P_1, k P_2, k P_3$ are exact products;
//! - $x - k P_1$ and then $- k P_2$ are exact differences: multiples of $2^{-53}$ below 1;
//! - both later differences keep their rounding error. Dekker's short form of it is valid, also after cancellation, because the minuend is a
//!   multiple of the subtrahend's last place.
//!
//! What remains is the rounding of $k P_4$, at most $k\,2^{-134}$. No double up to $10^8$ comes closer than $2^{-61}$ to a multiple of $\pi/2$, and
//! only three come closer than $k\,2^{-78}$ (14461176.67027838 and its doubles; the tests have them), so that this is below 2⁻³ units elsewhere.
//! The polynomials on $|r| \le \pi/4$ are those of fdlibm (`__kernel_sin`, `__kernel_cos`). Beyond $10^8$, and for what is not finite, `libm` answers.
//!
//! **Invariant.** Only `+ - *` and operations on bits, each rounded by itself: no fused multiply-add. Any code, scalar or vector, that
//! performs these operations in this order has these bits.

/// Up to here the reduction is exact enough.
const LIMIT: f64 = 1e8;

const TWO_OVER_PI: f64 = std::f64::consts::FRAC_2_PI;
/// $1.5 \cdot 2^{52}$: adding it rounds to a whole number, which then stands in the last bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// $P_1 \dots P_4$ by their bits.
const HALF_PI: [f64; 4] = [
    f64::from_bits(0x3ff9_21fb_5400_0000),
    f64::from_bits(0x3e11_0b46_0000_0000),
    f64::from_bits(0x3c91_a626_3000_0000),
    f64::from_bits(0x3ae8_a2e0_3707_344a),
];

/// $(\sin r - r)/r^3$ in powers of $r^2$.
const SIN: [f64; 6] = [
    -1.666_666_666_666_663_2e-1,
    8.333_333_333_322_49e-3,
    -1.984_126_982_985_795e-4,
    2.755_731_370_707_006_8e-6,
    -2.505_076_025_340_686_3e-8,
    1.589_690_995_211_55e-10,
];

/// $(\cos r - 1 + r^2/2)/r^4$ in powers of $r^2$.
const COS: [f64; 6] = [
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
    if x.abs() <= LIMIT { reduced(x) } else { (libm::sin(x), libm::cos(x)) }
}

/// [`sincos`] of every lane, with the same bits.
#[inline]
pub(crate) fn sincos_lanes<const N: usize>(x: &[f64; N]) -> ([f64; N], [f64; N]) {
    let (mut sin, mut cos) = ([0.0; N], [0.0; N]);
    let mut inside = true;
    for l in 0..N {
        (sin[l], cos[l]) = reduced(x[l]);
        inside &= x[l].abs() <= LIMIT;
    }
    if !inside {
        for l in 0..N {
            (sin[l], cos[l]) = sincos(x[l]);
        }
    }
    (sin, cos)
}

/// The branch-free part; meaningless beyond [`LIMIT`].
#[inline]
fn reduced(x: f64) -> (f64, f64) {
    let [p1, p2, p3, p4] = HALF_PI;
    let shifted = x * TWO_OVER_PI + ROUND;
    let quadrant = shifted.to_bits();
    let k = shifted - ROUND;
    let exact = x - k * p1 - k * p2;
    // r + lo = exact − k P₃ − k P₄. Differences, not sums, so that −0 stays −0.
    let third = k * p3;
    let high = exact - third;
    let rest = k * p4 - ((exact - high) - third);
    let r = high - rest;
    let lo = (high - r) - rest;
    let z = r * r;
    let sin = sin_kernel(r, lo, z).to_bits();
    let cos = cos_kernel(r, lo, z).to_bits();
    // An odd quadrant exchanges the two; the second bit of k and of k + 1 are their signs.
    let odd = (quadrant & 1).wrapping_neg();
    let exchange = (sin ^ cos) & odd;
    let sin_sign = (quadrant & 2) << 62;
    let cos_sign = (quadrant.wrapping_add(1) & 2) << 62;
    (f64::from_bits(sin ^ exchange ^ sin_sign), f64::from_bits(cos ^ exchange ^ cos_sign))
}

#[inline]
fn sin_kernel(r: f64, lo: f64, z: f64) -> f64 {
    let w = z * z;
    let tail = SIN[1] + z * (SIN[2] + z * SIN[3]) + z * w * (SIN[4] + z * SIN[5]);
    let v = z * r;
    r - ((z * (0.5 * lo - v * tail) - lo) - v * SIN[0])
}

#[inline]
fn cos_kernel(r: f64, lo: f64, z: f64) -> f64 {
    let w = z * z;
    let tail =
        z * (COS[0] + z * (COS[1] + z * COS[2])) + w * w * (COS[3] + z * (COS[4] + z * COS[5]));
    let half = 0.5 * z;
    let one = 1.0 - half;
    one + (((1.0 - one) - half) + (z * tail - r * lo))
}
