//! Elementary functions with some thirty digits.
//!
//! Each begins with the value in doubles or with a reduced argument, and ends with one step of Newton's iteration or
//! with a series whose terms do not cancel.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::Double;

const PI_2: Double = Double::new(std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);
/// The third part of $\pi/2$, for the reduction of large angles.
const PI_2_REST: f64 = -1.497_384_904_859_169_8e-33;
const LN_2: Double = Double::new(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
/// $2/\sqrt\pi$
const BELL: Double = Double::new(std::f64::consts::FRAC_2_SQRT_PI, 1.533_545_961_316_588e-17);
/// Terms below this part of a sum do not change it.
const SMALL: f64 = 1e-34;

impl Double {
    /// $\pi$
    pub const PI: Self = Self::new(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
    /// $2/\sqrt\pi$
    pub const TWO_OVER_ROOT_PI: Self = BELL;

    /// A rational number, rounded.
    pub fn from_rational(x: &BigRational) -> Self {
        let high = x.to_f64().unwrap_or(f64::NAN);
        let Some(exact) = BigRational::from_float(high) else { return Self::new(high, 0.0) };
        let low = (x - exact).to_f64().unwrap_or(0.0);
        Self::sum(high, low)
    }

    /// Whether it is a finite number.
    pub fn is_finite(self) -> bool {
        self.high.is_finite() && self.low.is_finite()
    }

    /// $|x|$
    #[must_use]
    pub fn abs(self) -> Self {
        if self.high < 0.0 { -self } else { self }
    }

    /// $\sqrt x$
    #[must_use]
    pub fn sqrt(self) -> Self {
        if self.high <= 0.0 {
            return Self::new(self.high.sqrt(), 0.0);
        }
        let mut root = Self::from(self.high.sqrt());
        for _ in 0..2 {
            root = root + (self - root * root) / (root + root);
        }
        root
    }

    /// $e^x$
    #[must_use]
    pub fn exp(self) -> Self {
        if self.high.is_nan() || self.high.abs() >= 700.0 {
            return Self::from(libm::exp(self.high));
        }
        let turns = libm::round(self.high / std::f64::consts::LN_2);
        let rest = (self - LN_2 * Self::from(turns)).scaled(1.0 / 512.0);
        // e^r − 1 for |r| < 7e-4, then squared nine times.
        let (mut term, mut sum) = (rest, rest);
        for k in 2..12 {
            term = term * rest / Self::from(f64::from(k));
            sum = sum + term;
        }
        for _ in 0..9 {
            sum = sum + sum + sum * sum;
        }
        (sum + Self::from(1.0)).scaled(libm::ldexp(1.0, turns as i32))
    }

    /// $\ln x$
    #[must_use]
    pub fn ln(self) -> Self {
        let mut y = Self::from(libm::log(self.high));
        if !y.is_finite() {
            return y;
        }
        for _ in 0..2 {
            y = y + self * (-y).exp() - Self::from(1.0);
        }
        y
    }

    /// $\sin x$ and $\cos x$
    #[must_use]
    pub fn sin_cos(self) -> (Self, Self) {
        let turns = libm::round(self.high / PI_2.high);
        if turns.is_nan() || turns.abs() >= 1e9 {
            return (Self::from(f64::NAN), Self::from(f64::NAN));
        }
        let n = Self::from(turns);
        let r = (self - PI_2 * n) - Self::from(PI_2_REST * turns);
        let square = r * r;
        let series = |first: Self, mut k: f64| {
            let (mut term, mut sum) = (first, first);
            while term.high.abs() > SMALL * sum.high.abs() && k < 60.0 {
                term = -(term * square) / Self::from(k * (k + 1.0));
                sum = sum + term;
                k += 2.0;
            }
            sum
        };
        let (sin, cos) = (series(r, 2.0), series(Self::from(1.0), 1.0));
        match turns.rem_euclid(4.0) as u8 {
            0 => (sin, cos),
            1 => (cos, -sin),
            2 => (-sin, -cos),
            _ => (-cos, sin),
        }
    }

    /// The angle of the point (x, y).
    #[must_use]
    pub fn atan2(y: Self, x: Self) -> Self {
        let rough = Self::from(libm::atan2(y.high, x.high));
        let radius = (x * x + y * y).sqrt();
        if radius.high == 0.0 || !radius.is_finite() {
            return rough;
        }
        let (sin, cos) = rough.sin_cos();
        // sin(a − a₀), which is a − a₀ up to its cube.
        rough + (y / radius) * cos - (x / radius) * sin
    }

    /// $\sinh x$ and $\cosh x$
    #[must_use]
    pub fn sinh_cosh(self) -> (Self, Self) {
        let e = self.exp();
        let inverse = Self::from(1.0) / e;
        let cosh = (e + inverse).scaled(0.5);
        if self.high.abs() > 0.5 {
            return ((e - inverse).scaled(0.5), cosh);
        }
        let square = self * self;
        let (mut term, mut sum, mut k) = (self, self, 2.0);
        while term.high.abs() > SMALL * sum.high.abs() && k < 60.0 {
            term = term * square / Self::from(k * (k + 1.0));
            sum = sum + term;
            k += 2.0;
        }
        (sum, cosh)
    }

    /// $\operatorname{erf} x = \frac{2}{\sqrt\pi} e^{-x^2} \sum_n \frac{2^n x^{2n+1}}{(2n+1)!!}$
    #[must_use]
    pub fn erf(self) -> Self {
        if self.high.abs() > 9.0 {
            return Self::from(self.high.signum());
        }
        let square = (self * self).scaled(2.0);
        let (mut term, mut sum, mut k) = (self, self, 3.0);
        while term.high.abs() > SMALL * sum.high.abs() && k < 1000.0 {
            term = term * square / Self::from(k);
            sum = sum + term;
            k += 2.0;
        }
        BELL * (-(self * self)).exp() * sum
    }

    /// With so many significant decimal digits.
    pub fn to_decimal(self, digits: usize) -> String {
        let exact = |x: f64| BigRational::from_float(x);
        let (Some(high), Some(low)) = (exact(self.high), exact(self.low)) else {
            return format!("{}", self.high);
        };
        let x = high + low;
        if x.is_zero() {
            return "0".into();
        }
        let sign = if x.is_negative() { "-" } else { "" };
        let size = x.abs();
        let ten = BigRational::from_integer(10.into());
        let power = |e: i32| {
            let p = num_traits::pow(ten.clone(), e.unsigned_abs() as usize);
            if e < 0 { p.recip() } else { p }
        };
        let mut exponent = libm::floor(libm::log10(self.high.abs())) as i32;
        if size < power(exponent) {
            exponent -= 1;
        } else if size >= power(exponent + 1) {
            exponent += 1;
        }
        let places = digits as i32 - 1 - exponent;
        let mut whole = (size * power(places)).round().to_integer().to_string();
        if whole.len() > digits {
            whole.pop();
            exponent += 1;
        }
        let plain = (-5..digits as i32).contains(&exponent);
        let (first, rest) = whole.split_at(1);
        if !plain {
            return format!("{sign}{first}.{rest}e{exponent}");
        }
        if exponent < 0 {
            let zeros = "0".repeat((-exponent - 1) as usize);
            return format!("{sign}0.{zeros}{whole}");
        }
        let (before, after) = whole.split_at(exponent as usize + 1);
        if after.is_empty() {
            format!("{sign}{before}")
        } else {
            format!("{sign}{before}.{after}")
        }
    }
}
