//! Arcsine and arccosine: the operations of fdlibm (`__ieee754_asin`, `__ieee754_acos`) with selections
//! instead of branches.
//!
//! $|x| < 1/2$: $\arcsin x = x + x R(x^2)$. Beyond: $\arcsin x = \pi/2 - 2 \arcsin\sqrt{(1 - |x|)/2}$, where
//! the root is split in two parts.

use super::{FRAC_PI_2_LO, high, upper};

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

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

#[inline(always)]
pub(super) fn asin(x: f64) -> (f64, bool) {
    let Parts { size, small, r, s, f, c } = Parts::of(x);
    let near_one = FRAC_PI_2 - (2.0 * (s + s * r) - FRAC_PI_2_LO);
    let between = FRAC_PI_4 - (2.0 * s * r - (FRAC_PI_2_LO - 2.0 * c) - (FRAC_PI_4 - 2.0 * f));
    let large = if size < high(0x3fef_3333) { between } else { near_one };
    let y = if small { x + x * r } else { large.copysign(x) };
    (if size < high(0x3e50_0000) { x } else { y }, size < 1.0)
}

#[inline(always)]
pub(super) fn acos(x: f64) -> (f64, bool) {
    let Parts { size, small, r, s, f, c } = Parts::of(x);
    let above = 2.0 * (f + (r * s + c));
    let below = 2.0 * (FRAC_PI_2 - (s + (r * s - FRAC_PI_2_LO)));
    let large = if x < 0.0 { below } else { above };
    (if small { FRAC_PI_2 - (x - (FRAC_PI_2_LO - x * r)) } else { large }, size < 1.0)
}

/// What both are made of: with $z = x^2$ for small $|x|$, else $(1 - |x|)/2$, $R(z)$ and $\sqrt z = f + c$,
/// where $f^2$ is exact.
struct Parts {
    size: f64,
    small: bool,
    r: f64,
    s: f64,
    f: f64,
    c: f64,
}

impl Parts {
    #[inline(always)]
    fn of(x: f64) -> Self {
        let size = x.abs();
        let small = size < 0.5;
        let z = if small { x * x } else { (1.0 - size) * 0.5 };
        let s = z.sqrt();
        let f = upper(s);
        Self { size, small, r: rest(z), s, f, c: (z - f * f) / (s + f) }
    }
}
