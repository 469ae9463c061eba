//! Sums of two doubles with some thirty digits, and complex numbers of them.
//!
//! Complex ones have just what $(z - ½)\ln z - z$ needs, whose rounding in doubles would cost $\Gamma$ as many digits
//! as $|z|\ln|z|$ has before the point.

mod functions;

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::complex::Complex;

/// `high + low` with $|low| \le \frac{\varepsilon}2|high|$: a number of some thirty digits.
///
/// ```
/// use pfaff_expr::DoubleDouble;
/// let third = DoubleDouble::from(1.0) / DoubleDouble::from(3.0);
/// assert_eq!(third.to_decimal(30), "0.333333333333333333333333333333");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Double {
    /// The number, rounded.
    pub high: f64,
    /// What is left of it.
    pub low: f64,
}

impl Double {
    /// From its two parts.
    pub const fn new(high: f64, low: f64) -> Self {
        Self { high, low }
    }

    /// $a + b$ exactly.
    pub fn sum(a: f64, b: f64) -> Self {
        let s = a + b;
        let back = s - a;
        Self::new(s, (a - (s - back)) + (b - back))
    }

    fn scaled(self, power_of_two: f64) -> Self {
        Self::new(self.high * power_of_two, self.low * power_of_two)
    }

    fn recip(self) -> Self {
        // One step of Newton's on the rounded reciprocal.
        let q = Self::from(1.0 / self.high);
        q + q * (Self::from(1.0) - q * self)
    }
}

impl From<f64> for Double {
    fn from(x: f64) -> Self {
        Self::new(x, 0.0)
    }
}

impl Add for Double {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        let s = Self::sum(self.high, o.high);
        let t = Self::sum(self.low, o.low);
        let s = Self::sum(s.high, s.low + t.high);
        Self::sum(s.high, s.low + t.low)
    }
}

impl Neg for Double {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.high, -self.low)
    }
}

impl Sub for Double {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        self + -o
    }
}

impl Div for Double {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let q = Self::from(self.high / o.high);
        if !q.high.is_finite() {
            return q;
        }
        // Two further digits of the long division in base 2⁵³.
        let r = self - q * o;
        let q = q + Self::from(r.high / o.high);
        let r = self - q * o;
        q + Self::from(r.high / o.high)
    }
}

impl Mul for Double {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        let (p, rest) = exact_product(self.high, o.high);
        if !p.is_finite() {
            return Self::new(p, 0.0);
        }
        Self::sum(p, rest + (self.high * o.low + self.low * o.high))
    }
}

/// $x + iy$ with thirty digits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DoubleComplex {
    pub(super) re: Double,
    pub(super) im: Double,
}

const LN_2: Double = Double::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
const EIGHTH_TURN: Double = Double::new(std::f64::consts::FRAC_PI_4, 3.061_616_997_868_383e-17);
const HALF_ROOT: Double =
    Double::new(std::f64::consts::FRAC_1_SQRT_2, -4.833_646_656_726_457e-17);

impl DoubleComplex {
    pub(super) const fn new(re: Double, im: Double) -> Self {
        Self { re, im }
    }

    pub(super) fn real(x: f64) -> Self {
        Self::new(Double::from(x), Double::default())
    }

    /// Rounded to doubles.
    pub(super) fn rounded(self) -> Complex {
        Complex::new(self.re.high, self.im.high)
    }

    fn recip(self) -> Self {
        let norm = (self.re * self.re + self.im * self.im).recip();
        Self::new(self.re * norm, -(self.im * norm))
    }

    /// $\ln z$ for $z \ne 0$, the angle in $(-\pi, \pi]$.
    pub(super) fn ln(self) -> Self {
        let rough = self.rounded();
        let (_, exponent) = libm::frexp(rough.abs());
        let turns = libm::round(rough.arg() / EIGHTH_TURN.high);
        let down = libm::ldexp(1.0, -exponent);
        let z = Self::new(self.re.scaled(down), self.im.scaled(down)) * rotation(-turns);
        // ln z = 2 artanh t with t = (z − 1)/(z + 1), here |t| < 0.4
        let t = (z - Self::real(1.0)) * (z + Self::real(1.0)).recip();
        let square = t * t;
        let mut sum = Self::default();
        for k in (0..35).rev() {
            let odd = Double::from(2.0 * f64::from(k) + 1.0).recip();
            sum = sum * square + Self::new(odd, Double::default());
        }
        let two = Self::real(2.0);
        let known = Self::new(
            LN_2 * Double::from(f64::from(exponent)),
            EIGHTH_TURN * Double::from(turns),
        );
        t * sum * two + known
    }

    /// $e^z$ in doubles.
    pub(super) fn exp(self) -> Complex {
        let value = self.rounded().exp();
        value + value * Complex::new(self.re.low, self.im.low)
    }
}

/// $e^{i\pi n/4}$
fn rotation(n: f64) -> DoubleComplex {
    let one = Double::from(1.0);
    let zero = Double::default();
    let r = HALF_ROOT;
    let (re, im) = match n.rem_euclid(8.0) as u8 {
        0 => (one, zero),
        1 => (r, r),
        2 => (zero, one),
        3 => (-r, r),
        4 => (-one, zero),
        5 => (-r, -r),
        6 => (zero, -one),
        _ => (r, -r),
    };
    DoubleComplex::new(re, im)
}

impl Add for DoubleComplex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for DoubleComplex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Neg for DoubleComplex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

impl Mul for DoubleComplex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

/// $ab$ as the rounded product and the rest.
pub(crate) fn exact_product(a: f64, b: f64) -> (f64, f64) {
    let split = |x: f64| {
        let c = 134_217_729.0 * x; // 2²⁷ + 1
        let high = c - (c - x);
        (high, x - high)
    };
    let p = a * b;
    if a.abs().max(b.abs()).max(p.abs()) > 1e290 {
        return (p, 0.0); // no room to split
    }
    let ((a1, a0), (b1, b0)) = (split(a), split(b));
    (p, ((a1 * b1 - p) + a1 * b0 + a0 * b1) + a0 * b0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values with 35 digits [mpmath].
    #[test]
    fn functions_to_thirty_digits() {
        let x = Double::from(7.0) / Double::from(10.0);
        let (sin, cos) = x.sin_cos();
        let (far, _) = Double::from(1000.0).sin_cos();
        let (sinh, cosh) = x.sinh_cosh();
        let cases = [
            (x.exp(), "2.013752707470476521624549388583"),
            (x.ln(), "-0.3566749439387323789126387112412"),
            (x.sqrt(), "0.8366600265340755479781720257852"),
            (sin, "0.6442176872376910536726143513987"),
            (cos, "0.7648421872844884262558599901919"),
            (far, "0.8268795405320025602558874291092"),
            (sinh, "0.7585837018395335034598746475928"),
            (cosh, "1.255169005630943018164674740990"),
            (Double::atan2(x, Double::from(1.0)), "0.6107259643892086165437588764902"),
            (Double::atan2(x, Double::from(-1.0)), "2.530866689200584621918884506789"),
            (x.erf(), "0.6778011938374184729756288092441"),
        ];
        for (value, expected) in cases {
            let found = value.to_decimal(31);
            // The last two digits are rounding.
            assert_eq!(found[..30], expected[..30], "{found} for {expected}");
        }
        let third = Double::from(1.0) / Double::from(3.0);
        assert_eq!(third.to_decimal(30), "0.333333333333333333333333333333");
        assert_eq!((third * Double::from(-3e10)).to_decimal(20), "-10000000000.000000000");
        assert_eq!(Double::from(2.5e-7).to_decimal(3), "2.50e-7");
    }

    #[test]
    fn logarithm_to_thirty_digits() {
        // ln(3 + 4i) = ln 5 + i·arctan(4/3), [mpmath]
        let z = DoubleComplex::new(Double::from(3.0), Double::from(4.0)).ln();
        let expected = [
            (z.re, Double::new(1.609_437_912_434_100_3, LN_5_LOW)),
            (z.im, Double::new(0.927_295_218_001_612_2, ATAN_LOW)),
        ];
        for (value, exact) in expected {
            let difference = value - exact;
            assert!(difference.high.abs() < 1e-30, "{value:?} {difference:?}");
        }
    }

    const LN_5_LOW: f64 = 9.280_081_691_085_902e-17;
    const ATAN_LOW: f64 = 4.539_755_490_592_337_4e-17;
}
