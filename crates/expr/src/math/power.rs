//! $x^y$, with whole exponents by repeated squaring.

use super::lanes::{EXP as P, row, two_to, upper, whole};

/// $x^y$ with whole exponents by repeated squaring, so that `x^2` is `x*x` to the last bit.
pub fn power(x: f64, y: f64) -> f64 {
    if y.fract() == 0.0 && y.abs() <= 64.0 {
        let p = whole_power(x, y.abs() as u32);
        return if y < 0.0 { 1.0 / p } else { p };
    }
    libm::pow(x, y)
}

/// $x^n$ by repeated squaring.
pub fn whole_power(x: f64, n: u32) -> f64 {
    let (mut result, mut square, mut rest) = (1.0, x, n);
    while rest > 0 {
        if rest & 1 == 1 {
            result *= square;
        }
        rest >>= 1;
        if rest > 0 {
            square *= square;
        }
    }
    result
}

/// [`power`] of several pairs at once, with the same bits.
#[inline(always)]
pub fn power_row<const N: usize>(x: &[f64; N], y: &[f64; N]) -> [f64; N] {
    let whole = |y: f64| y.fract() == 0.0 && y.abs() <= 64.0;
    if whole(y[0]) && y.iter().all(|&other| other == y[0]) {
        let n = y[0].abs() as u32;
        let mut powers = x.map(|x| whole_power(x, n));
        if y[0] < 0.0 {
            powers = powers.map(|p| 1.0 / p);
        }
        return powers;
    }
    row!(N, |x, y| usual, power)
}

/// $x^y$ without branches, and whether the arguments are ones for which it has the bits of `libm`.
#[inline(always)]
pub(super) fn usual(x: f64, y: f64) -> (f64, bool) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_powers_are_products() {
        assert_eq!(power(1.1, 2.0), 1.1 * 1.1);
        assert_eq!(power(2.0, -3.0), 0.125);
        assert_eq!(power(0.0, 0.0), 1.0);
    }
}
