//! Complex numbers of two doubles, and what the special functions share between real and complex arguments.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// $x + iy$
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    /// $x$
    pub re: f64,
    /// $y$
    pub im: f64,
}

impl Complex {
    /// $x + iy$
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// $r e^{i\varphi}$
    pub fn polar(r: f64, φ: f64) -> Self {
        let (sin, cos) = libm::sincos(φ);
        Self::new(r * cos, r * sin)
    }

    /// $x - iy$
    #[must_use]
    pub fn conj(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// $|z|$
    pub fn abs(self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    /// The angle in $(-\pi, \pi]$.
    pub fn arg(self) -> f64 {
        libm::atan2(self.im, self.re)
    }

    /// $e^z$
    #[must_use]
    pub fn exp(self) -> Self {
        if self.im == 0.0 {
            return Self::new(libm::exp(self.re), self.im);
        }
        Self::polar(libm::exp(self.re), self.im)
    }

    /// $\ln z$, the angle in $(-\pi, \pi]$.
    #[must_use]
    pub fn ln(self) -> Self {
        let (large, small) = {
            let (x, y) = (self.re.abs(), self.im.abs());
            if x > y { (x, y) } else { (y, x) }
        };
        // |z| near 1: ln|z| = ½ ln(1 + (|z|² − 1)), where the difference is formed without cancellation.
        let modulus = if (0.5..=1.5).contains(&large) {
            0.5 * libm::log1p((large - 1.0) * (large + 1.0) + small * small)
        } else {
            libm::log(self.abs())
        };
        Self::new(modulus, self.arg())
    }

    /// The root with $\operatorname{Re}\sqrt z \ge 0$.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let r = self.abs();
        if r == 0.0 {
            return Self::new(0.0, self.im);
        }
        // The larger part of the root is free of cancellation; the other follows from 2xy = Im z.
        if self.re >= 0.0 {
            let x = (0.5 * (r + self.re)).sqrt();
            Self::new(x, self.im / (2.0 * x))
        } else {
            let y = (0.5 * (r - self.re)).sqrt().copysign(self.im);
            Self::new(self.im / (2.0 * y), y)
        }
    }

    /// Whether both parts are finite.
    pub fn is_finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
}

impl From<f64> for Complex {
    fn from(x: f64) -> Self {
        Self::new(x, 0.0)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.re + o.re, self.im + o.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.re - o.re, self.im - o.im)
    }
}

impl Neg for Complex {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.re, -self.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self::new(self.re * o.re - self.im * o.im, self.re * o.im + self.im * o.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;
    fn mul(self, x: f64) -> Self {
        Self::new(self.re * x, self.im * x)
    }
}

impl Div for Complex {
    type Output = Self;
    #[expect(
        clippy::suspicious_arithmetic_impl,
        reason = "a quotient is a product with the reciprocal"
    )]
    fn div(self, o: Self) -> Self {
        self * o.recip()
    }
}

/// What real and complex arguments have in common.
pub(super) trait Scalar:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Mul<f64, Output = Self>
{
    /// Whether it is a real number, so that conjugate contributions may be folded.
    const REAL: bool;
    /// A real number as this kind.
    fn real(x: f64) -> Self;
    /// The part of a complex number that is of this kind.
    fn part(z: Complex) -> Self;
    /// The number as a complex one.
    fn complex(self) -> Complex;
    /// $|z|$
    fn modulus(self) -> f64;
    /// $|x| + |y|$, a cheap measure of size.
    fn size(self) -> f64;
    /// $1/z$
    fn recip(self) -> Self;
}

impl Scalar for f64 {
    const REAL: bool = true;
    fn real(x: f64) -> Self {
        x
    }
    fn part(z: Complex) -> Self {
        z.re
    }
    fn complex(self) -> Complex {
        Complex::new(self, 0.0)
    }
    fn modulus(self) -> f64 {
        self.abs()
    }
    fn size(self) -> f64 {
        self.abs()
    }
    fn recip(self) -> Self {
        1.0 / self
    }
}

impl Scalar for Complex {
    const REAL: bool = false;
    fn real(x: f64) -> Self {
        Self::new(x, 0.0)
    }
    fn part(z: Self) -> Self {
        z
    }
    fn complex(self) -> Self {
        self
    }
    fn modulus(self) -> f64 {
        self.abs()
    }
    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    fn recip(self) -> Self {
        let norm = self.re * self.re + self.im * self.im;
        if (1e-290..1e290).contains(&norm) {
            return Self::new(self.re / norm, -self.im / norm);
        }
        // Scaled by its size, so that the square neither overflows nor vanishes.
        let r = self.re.abs().max(self.im.abs());
        let (x, y) = (self.re / r, self.im / r);
        let norm = (x * x + y * y) * r;
        Self::new(x / norm, -y / norm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elementary_identities() {
        for z in [
            Complex::new(0.3, -1.2),
            Complex::new(-2.0, 0.5),
            Complex::new(-1e-3, -1e-9),
            Complex::new(1.0, 1e-8),
        ] {
            let near = |a: Complex, b: Complex| (a - b).abs() < 1e-15 * b.abs() * 4.0; // few roundings
            assert!(near(z.ln().exp(), z), "{z:?}");
            assert!(near(z.sqrt() * z.sqrt(), z), "{z:?}");
            assert!(near(z * (Complex::from(1.0) / z), Complex::from(1.0)), "{z:?}");
        }
        // ln(1 + 1e−8 i) has the real part ½·10⁻¹⁶, lost if |z| is rounded first.
        assert!((Complex::new(1.0, 1e-8).ln().re - 0.5e-16).abs() < 1e-30);
        assert!(
            (Complex::new(1e200, 1e200).recip() - Complex::new(5e-201, -5e-201)).abs() < 1e-215
        );
    }
}
