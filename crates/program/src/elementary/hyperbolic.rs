//! Hyperbolic functions by $e^x - 1$: the operations of `libm` with selections instead of branches.

use super::{LN2_HI, LN2_LO, exp, high, multiples_of_ln2, two_to};

/// $e^x - 1$ for $-1 < x \le 709$.
#[inline(always)]
fn expm1(x: f64) -> f64 {
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

#[inline(always)]
pub(super) fn sinh(x: f64) -> (f64, bool) {
    let size = x.abs();
    let t = expm1(size);
    let y = if size < 1.0 { 2.0 * t - t * t / (t + 1.0) } else { t + t / (t + 1.0) };
    let y = 0.5_f64.copysign(x) * y;
    (if size < high(0x3e50_0000) { x } else { y }, size <= 709.0)
}

#[inline(always)]
pub(super) fn cosh(x: f64) -> (f64, bool) {
    let size = x.abs();
    let t = expm1(size);
    let near = 1.0 + t * t / (2.0 * (1.0 + t));
    let (t, usual) = exp(size);
    let far = 0.5 * (t + 1.0 / t);
    (if size < high(0x3fe6_2e42) { near } else { far }, usual)
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> (f64, bool) {
    let size = x.abs();
    let small = size < high(0x3fd0_58af);
    let middle = size < high(0x3fe1_93eb);
    // By bits, because the compiler would make two exponentials of a selection.
    let sign = u64::from(small) << 63;
    let signed = |x: f64| f64::from_bits(x.to_bits() ^ sign);
    let t = expm1(signed(2.0 * size));
    let above = signed(t);
    let quotient = if middle { above } else { 2.0 } / (t + 2.0);
    let y = if middle { quotient } else { 1.0 - quotient };
    let y = if size < high(0x4034_0001) { y } else { 1.0 };
    (y.copysign(x), size <= f64::MAX)
}
