//! Logarithms and powers that are good enough for the length of a step.

/// $\log_2 x$ to about 2e-5, which is enough for the length of a step.
#[inline]
pub(crate) fn log2(x: f64) -> f64 {
    // Least squares over the octave, in the distance from its middle.
    const C: [f64; 6] =
        [0.584_950_5, 0.961_821_23, -0.319_749_1, 0.141_718_16, -0.080_010_88, 0.043_928_63];
    if !x.is_normal() {
        return libm::log2(x);
    }
    let bits = x.to_bits();
    let exponent = f64::from((bits >> 52) as i32 - 1023);
    let z = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52) - 1.5;
    let z2 = z * z;
    let low = (C[0] + C[1] * z) + z2 * (C[2] + C[3] * z);
    exponent + (low + z2 * z2 * (C[4] + C[5] * z))
}

/// $2^x$ to about 3e-6.
#[inline]
pub(crate) fn exp2(x: f64) -> f64 {
    /// Adding this leaves the nearest whole number in the last digits.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    // Least squares within half a unit of zero.
    const C: [f64; 5] = [1.000_000_08, 0.693_121_03, 0.240_221_07, 0.055_922_04, 0.009_676_04];
    if x.is_nan() || x.abs() > 1000.0 {
        return libm::exp2(x);
    }
    let whole = (x + SHIFT) - SHIFT;
    let r = x - whole;
    let r2 = r * r;
    let power = f64::from_bits(((whole as i64 + 1023) as u64) << 52);
    power * ((C[0] + C[1] * r) + r2 * ((C[2] + C[3] * r) + r2 * C[4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_and_powers_are_good_enough() {
        for x in [1.0, 2.0, 1e-300, 3.7e250, 0.1, 123.456, 1.999_999, 1e-310] {
            assert!((log2(x) - libm::log2(x)).abs() < 2e-5, "{x}");
        }
        for x in [0.0, 0.499, 0.501, -3.3, 700.1, -999.9, 1010.0, 0.5] {
            let exact = libm::exp2(x);
            assert!((exp2(x) - exact).abs() <= 4e-6 * exact, "{x}");
        }
        assert_eq!((log2(0.0), exp2(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY));
        assert!(exp2(f64::NAN).is_nan() && log2(f64::NAN).is_nan());
    }
}
