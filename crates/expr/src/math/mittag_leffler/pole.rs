//! The poles $s_*^\alpha = z$ of the integrand, their residues, and their weight beside a trapezoidal sum.
//!
//! The residue of $e^s s^{\alpha-\beta}/(s^\alpha - z)$ is $\rho = \frac1\alpha s_*^{1-\beta}e^{s_*}$. Summing
//! the kernel $1/(1 - e^{-2\pi i(w/h - \delta)})$ around the nodes shows that the trapezoidal sum $T$ on the
//! parabola $s = \mu(1+iw)^2$ satisfies
//!
//! $$ E_{\alpha,\beta}(z) = T + \sum_{s_*} K\rho, \qquad K = \frac1{1 - \pm e^{H(1-q)}},\quad q =
//! \sqrt{s_*/\mu},\quad H = 2\pi/h, $$
//!
//! with $+$ for nodes $jh$ and $-$ for nodes $(j+½)h$: $K$ is 0 for a pole far to the left of the parabola, 1 far
//! to the right, and in between it takes exactly what the sum does not see. One of the two sets of nodes keeps
//! away from the pole.

use std::f64::consts::PI;

use super::Parameters;
use super::contour::Contour;
use crate::math::complex::{Complex, Scalar};
use crate::math::double_double::exact_product;

/// One pole on the principal sheet.
#[derive(Clone, Copy)]
pub(super) struct Pole {
    s: Complex,
    /// The angle of $s_*$, in $[-\pi, \pi]$.
    angle: f64,
    /// Its modulus.
    radius: f64,
    /// 2 if it stands for its conjugate too.
    fold: f64,
}

/// All poles for this $z$; for real $z$ those of the upper half plane.
pub(super) fn poles<S: Scalar>(α: f64, z: S) -> Vec<Pole> {
    let mut found = Vec::new();
    let θ =
        if S::REAL { if S::complex(z).re < 0.0 { PI } else { 0.0 } } else { z.complex().arg() };
    let turns = ((α + 1.0) * 0.5).ceil();
    if θ.abs() > α * PI && turns < 2.0 {
        return found;
    }
    let radius = root(z.modulus(), α);
    let mut turn = if S::REAL { 0.0 } else { -turns };
    while turn <= turns {
        let angle = (θ + 2.0 * PI * turn) / α;
        // A pole infinitely far to the left does not count.
        if angle.abs() <= PI && (radius.is_finite() || angle.abs() < PI / 2.0) {
            let fold = if S::REAL && angle != 0.0 { 2.0 } else { 1.0 };
            let s = if angle == 0.0 {
                Complex::new(radius, 0.0)
            } else {
                Complex::polar(radius, angle)
            };
            found.push(Pole { s, angle, radius, fold });
        }
        turn += 1.0;
    }
    found
}

/// $r^{1/\alpha}$, mindful of the rounding of $1/\alpha$.
fn root(r: f64, α: f64) -> f64 {
    let inverse = 1.0 / α;
    let power = libm::pow(r, inverse);
    if !power.is_finite() || α == 1.0 {
        return power;
    }
    // 1 − α·inverse exactly, by Dekker's product.
    let (product, rest) = exact_product(α, inverse);
    let missing = ((1.0 - product) - rest) * inverse;
    power * (1.0 + missing * libm::log(r))
}

impl Pole {
    /// The residue $\rho$, doubled if the pole stands for two.
    fn residue(&self, α: f64, β: f64) -> Complex {
        let power = 1.0 - β;
        if !self.radius.is_finite() {
            let im = if self.angle == 0.0 { 0.0 } else { f64::INFINITY.copysign(self.angle) };
            return Complex::new(f64::INFINITY, im);
        }
        if self.s.re < 600.0 && self.radius > 0.0 {
            let size = libm::pow(self.radius, power);
            if (1e-200..1e200).contains(&size) {
                let phase = self.s.im + power * self.angle;
                return Complex::polar(libm::exp(self.s.re) * size * self.fold / α, phase);
            }
        }
        let exponent = self.s + Complex::new(libm::log(self.radius), self.angle) * power;
        exponent.exp() * (self.fold / α)
    }

    /// $\pm e^{H(1-q)}$ for unshifted nodes, and $q$; nothing if the pole has no influence.
    fn kernel(&self, path: &Contour) -> Option<(Complex, Complex)> {
        let q = Complex::polar((self.radius / path.vertex).sqrt(), 0.5 * self.angle);
        if 1.0 - q.re >= path.reach {
            return None;
        }
        Some((((Complex::from(1.0) - q) * path.rate).exp(), q))
    }

    /// How far it is from the nodes, unshifted and shifted; 1 is far.
    pub(super) fn distances(&self, path: &Contour) -> (f64, f64) {
        let Some((e, _)) = self.kernel(path) else {
            return (1.0, 1.0);
        };
        let one = Complex::from(1.0);
        ((one - e).size().min(1.0), (one + e).size().min(1.0))
    }

    /// $K\rho$ and its derivative in $z$.
    pub(super) fn beside_sum(
        &self,
        Parameters { α, β }: Parameters,
        z: Complex,
        path: &Contour,
        shifted: bool,
    ) -> (Complex, Complex) {
        let Some((e, q)) = self.kernel(path) else {
            return (Complex::default(), Complex::default());
        };
        let e = if shifted { -e } else { e };
        let K = (Complex::from(1.0) - e).recip();
        let ρ = self.residue(α, β);
        let value = K * ρ;
        // ρ′ = ρ(s + 1 − β)/(αz), q′ = q/(2αz), K′ = −H e K² q′
        let growth = self.s + Complex::from(1.0 - β) - e * K * q * (0.5 * path.rate);
        (value, value * growth / (z * α))
    }

    /// $\rho$ and its derivative in $z$.
    pub(super) fn alone(
        &self,
        Parameters { α, β }: Parameters,
        z: Complex,
    ) -> (Complex, Complex) {
        let ρ = self.residue(α, β);
        (ρ, ρ * (self.s + Complex::from(1.0 - β)) / (z * α))
    }
}
