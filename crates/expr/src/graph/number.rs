//! Exact rational numbers: what is written as `0.1` is one tenth.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

/// An exact rational number.
pub type Rational = BigRational;

/// The nearest double. Infinite where it is out of range.
pub fn to_f64(number: &Rational) -> f64 {
    number.to_f64().unwrap_or(f64::NAN)
}

/// The exact value of a double, `None` where it is not finite.
pub fn from_f64(value: f64) -> Option<Rational> {
    BigRational::from_float(value)
}

/// Whole number to rational.
pub fn integer(value: i64) -> Rational {
    BigRational::from_integer(BigInt::from(value))
}

/// The largest exponent of ten, and the most digits: reading them takes time with the square of their number.
const LONGEST: u32 = 5_000;

/// `digits · 10^exponent`, the meaning of a decimal. `None` if the exponent or the number of digits is out of reason.
pub fn decimal(digits: &str, exponent: i32) -> Option<Rational> {
    if exponent.unsigned_abs() > LONGEST || digits.len() > LONGEST as usize {
        return None;
    }
    if let Some(short) = short_decimal(digits, exponent) {
        return Some(short);
    }
    let mantissa: BigInt = digits.parse().ok()?;
    let scale = num_traits::pow(BigInt::from(10), exponent.unsigned_abs() as usize);
    Some(if exponent < 0 {
        BigRational::new(mantissa, scale)
    } else {
        BigRational::from_integer(mantissa * scale)
    })
}

/// The same for what fits machine integers.
fn short_decimal(digits: &str, exponent: i32) -> Option<Rational> {
    let mantissa: i64 = digits.parse().ok()?;
    let scale = 10_i64.checked_pow(exponent.unsigned_abs())?;
    let (n, d) = if exponent < 0 {
        let common = num_integer::gcd(mantissa, scale);
        (mantissa / common, scale / common)
    } else {
        (mantissa.checked_mul(scale)?, 1)
    };
    Some(Rational::new_raw(n.into(), d.into()))
}

/// The number as the shortest exact text: `3`, `-1/3`, `0.25`.
///
/// A denominator of twos and fives is written as a decimal when that is short, else as a fraction.
pub fn to_text(number: &Rational) -> String {
    if number.is_integer() {
        return number.numer().to_string();
    }
    match terminating(number) {
        Some(text) => text,
        None => format!("{}/{}", number.numer(), number.denom()),
    }
}

/// Whether the text is a quotient of whole numbers.
pub(crate) fn is_quotient(number: &Rational) -> bool {
    !number.is_integer() && places(number).is_none()
}

/// A decimal with at most 17 places, if the number is one and no simple fraction.
fn terminating(number: &Rational) -> Option<String> {
    let places = places(number)?;
    let scale = num_traits::pow(BigInt::from(10), places);
    let digits = (number.numer() * scale / number.denom()).magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if number < &BigRational::zero() { "-" } else { "" };
    Some(format!("{sign}{whole}.{fraction}"))
}

/// The places of a decimal, up to 17; `None` for simple fractions and for what is no decimal.
fn places(number: &Rational) -> Option<usize> {
    let below = number.denom().to_u64()?;
    let is_simple = below <= 16 || (below.is_power_of_two() && below <= 1024);
    let twos = below.trailing_zeros() as usize;
    let (mut rest, mut fives) = (below >> twos, 0);
    if is_simple {
        return None;
    }
    while rest % 5 == 0 {
        rest /= 5;
        fives += 1;
    }
    let places = twos.max(fives);
    (rest == 1 && places <= 17).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_read_back() {
        let tenth = decimal("1", -1).unwrap();
        assert_eq!(tenth, Rational::new(1.into(), 10.into()));
        assert_eq!(to_text(&tenth), "1/10");
        assert_eq!(to_text(&Rational::new(9.into(), 32.into())), "9/32");
        assert_eq!(to_text(&Rational::new(3.into(), 2000.into())), "0.0015");
        assert_eq!(to_text(&decimal("-12345", -3).unwrap()), "-12.345");
        assert_eq!(to_text(&Rational::new(1.into(), 3.into())), "1/3");
        assert_eq!(to_f64(&tenth), 0.1);
        assert!(decimal("1", 999_999).is_none());
        assert!(decimal(&"7".repeat(5_001), 0).is_none());
        // Around where machine integers end.
        for digits in ["0", "15", "-250", "9223372036854775807", "9223372036854775808"] {
            for exponent in [-19, -18, -3, 0, 2, 18, 19] {
                let mantissa = Rational::from_integer(digits.parse().unwrap());
                let scale = integer(10).pow(exponent);
                let (found, expected) = (decimal(digits, exponent).unwrap(), mantissa * scale);
                assert_eq!(found.numer(), expected.numer(), "{digits} {exponent}");
                assert_eq!(found.denom(), expected.denom(), "{digits} {exponent}");
            }
        }
    }
}
