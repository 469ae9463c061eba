//! The inverse Laplace transform on a parabola: nodes that depend on $\beta$ only by its size, and not at all on $z$.
//!
//! With all poles of the integrand to the left of the path,
//!
//! $$ E_{\alpha,\beta}(z) = \frac1{2\pi i}\int \frac{e^s s^{\alpha-\beta}}{s^\alpha - z}\,ds,
//!    \qquad s = \mu(1+iw)^2,\quad w \in \mathbb R \qquad (\mathrm{H}) $$
//!
//! and the trapezoidal rule with nodes $w_j = (j + \delta)h$ converges exponentially [Weideman & Trefethen 2007].
//! The path stays where it is whatever $z$ is: a pole $s_*$ near it or to its right enters by its residue,
//! weighted as [`pole`](super::pole) says, exactly. That is where this differs from [Garrappa 2015], which moves
//! the path between the poles.
//!
//! **Choice of $\mu$ and $h$.** With $H = 2\pi/h$, shifting the path to $\operatorname{Im} w = y$ shows the
//! error of the rule to be $\min_y \exp(\Phi(y) - Hy)$ relative to the integrand at the vertex, where upwards,
//! towards the branch point at $y = 1$, $\Phi = \mu((1-y)^2 - 1) - (2\beta-1)\ln(1-y)$ and downwards
//! $\Phi = \mu((1+y)^2-1) - (2p-1)\ln(1+y)$ with the least power $p$ of $1/s$ there. $H$ is the smallest number
//! that makes both less than $e^{-38}$. The vertex $\mu = \max(2, \beta)$ is near the saddle point of
//! $e^s s^{-\beta}$, so that little is lost in the sum; for $\beta \le 0$ the integrand is largest on the
//! negative axis, and the smaller $\mu = 6/(3 - \beta)$ keeps the path close to it.
//!
//! **Small $\alpha$.** There $s^\alpha \approx 1$ and the integral is nearly that of $e^s s^{-\beta}/(1-z)$,
//! which is known, and may be zero. What remains,
//!
//! $$ \frac{s^\alpha}{s^\alpha - z} - \frac1{1-z} = -\frac{z\,(s^\alpha - 1)}{(s^\alpha - z)(1 - z)}, $$
//!
//! is summed with $s^\alpha - 1$ to full relative accuracy.

use std::f64::consts::PI;
use std::sync::OnceLock;

use super::Parameters;
use crate::math::complex::{Complex, Scalar};
use crate::math::gamma::reciprocal_gamma;

/// The largest size of $\beta$ with a path of its own; $1/\Gamma$ underflows beyond.
const PATHS: usize = 172;
/// Enough for $s$ far beyond the largest $|s|$ where $e^s$ matters.
const NODES: usize = 192;
/// $\ln$ of the error of the rule.
const ACCURACY: f64 = -38.0;

/// One parabola with its nodes in the upper half plane.
pub(super) struct Contour {
    /// The vertex $\mu$.
    pub(super) vertex: f64,
    /// $H = 2\pi/h$.
    pub(super) rate: f64,
    /// How far upwards the path may be shifted: poles beyond have no influence.
    pub(super) reach: f64,
    /// The nodes $w_j = jh$, and those at $(j + ½)h$.
    nodes: [Vec<ContourNode>; 2],
}

/// $w_j$ by what the integrand needs.
struct ContourNode {
    /// $\frac{h\mu}{\pi}e^{s - \mu}(1 + iw)$
    weight: Complex,
    /// $\ln (s/\mu)$
    ln: Complex,
    /// $\mu/s$
    inverse: Complex,
}

impl Contour {
    /// The path for $\beta$.
    pub(super) fn of(β: f64) -> &'static Self {
        static ABOVE: [OnceLock<Contour>; PATHS] = [const { OnceLock::new() }; PATHS];
        static BELOW: [OnceLock<Contour>; PATHS] = [const { OnceLock::new() }; PATHS];
        let most = (PATHS - 1) as f64;
        if β > 0.0 {
            let size = β.ceil().min(most);
            ABOVE[size as usize].get_or_init(|| Self::new(size, size.max(2.0)))
        } else {
            let size = (-β).floor().min(most);
            BELOW[size as usize].get_or_init(|| Self::new(0.5, 6.0 / (3.0 + size)))
        }
    }

    fn new(β: f64, μ: f64) -> Self {
        let up = |y: f64, H: f64| {
            μ * ((1.0 - y) * (1.0 - y) - 1.0) - (2.0 * β - 1.0) * libm::log(1.0 - y) - H * y
        };
        // Beyond |z| the integrand has the power β − α; orders α up to 2 are what the path is made for.
        let p = β - 2.0;
        let down = |y: f64, H: f64| {
            μ * ((1.0 + y) * (1.0 + y) - 1.0) - (2.0 * p - 1.0) * libm::log(1.0 + y) - H * y
        };
        let (mut low, mut high) = (20.0, 1000.0);
        while high - low > 0.01 {
            let H = 0.5 * (low + high);
            let worst =
                minimum(|y| up(y, H), 1.0 - 1e-9).1.max(minimum(|y| down(y, H), 20.0).1);
            if worst > ACCURACY { low = H } else { high = H }
        }
        let H = high;
        let h = 2.0 * PI / H;
        let nodes = [0.0, 0.5].map(|δ| {
            (0..NODES)
                .map(|j| {
                    let w = (j as f64 + δ) * h;
                    // The node on the axis is its own conjugate: half of it in each half plane.
                    let half = if w == 0.0 { 0.5 } else { 1.0 };
                    let size = half * h * μ / PI * libm::exp(-μ * w * w);
                    ContourNode {
                        weight: Complex::polar(size, 2.0 * μ * w) * Complex::new(1.0, w),
                        ln: Complex::new(libm::log1p(w * w), 2.0 * libm::atan(w)),
                        inverse: (Complex::new(1.0, w) * Complex::new(1.0, w)).recip(),
                    }
                })
                .collect()
        });
        Self { vertex: μ, rate: H, reach: minimum(|y| up(y, H), 1.0 - 1e-9).0, nodes }
    }
}

/// Place and value of the minimum of a function with one minimum in $[0, end]$.
fn minimum(f: impl Fn(f64) -> f64, end: f64) -> (f64, f64) {
    let (mut a, mut b) = (0.0, end);
    for _ in 0..60 {
        let (c, d) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
        if f(c) < f(d) { b = d } else { a = c }
    }
    let y = 0.5 * (a + b);
    (y, f(y))
}

/// The integrand of (H) at the nodes, up to the factors that depend on $z$.
pub(super) struct ContourRule {
    terms: Vec<ContourTerm>,
    scale: f64,
    /// $1/\Gamma(\beta)$ if the known part is taken away from the integrand.
    known: Option<f64>,
}

/// The integrand at one node of the upper half plane.
struct ContourTerm {
    /// $s^\alpha$
    power: Complex,
    /// $s^\alpha - 1$
    less: Complex,
    /// $\frac{h}{2\pi i}e^s s' s^{\alpha-\beta}$, or with $s^{-\beta}(s^\alpha - 1)$ instead, without the
    /// factor `scale`.
    weight: Complex,
}

/// Orders up to this one take the known part away.
const SMALL_ORDER: f64 = 0.3;

impl ContourRule {
    /// Whether the known part can be taken away: $1 - z$ must not be small.
    pub(super) fn is_reduced<S: Scalar>(α: f64, z: S) -> bool {
        α <= SMALL_ORDER && (z - S::real(1.0)).modulus() > 0.25
    }

    /// The rule for $(\alpha, \beta)$ on a path, with nodes shifted by half a step or not, the known part
    /// taken away or not.
    pub(super) fn new(
        path: &Contour,
        Parameters { α, β }: Parameters,
        shifted: bool,
        reduced: bool,
    ) -> Self {
        let μ = path.vertex;
        // The difference in two parts: the power of μ is large when β is.
        let γ = if reduced { -β } else { α - β };
        let rounding = if reduced {
            0.0
        } else {
            let back = γ - α;
            (α - (γ - back)) - (β + back)
        };
        let ln = libm::log(μ);
        let scale = if γ.abs() < 100.0 {
            libm::exp(μ) * libm::pow(μ, γ)
        } else {
            libm::exp(μ + γ * ln)
        } * (1.0 + rounding * ln);
        let radius = libm::pow(μ, α);
        let falling = Falling::new(γ, if reduced { f64::NAN } else { β });
        let mut terms = Vec::with_capacity(40);
        // Largest terms so far where |z| is large, and where it is small.
        let (mut large, mut small) = (0.0, 0.0);
        for node in &path.nodes[usize::from(shifted)] {
            let grown = libm::exp(α * node.ln.re);
            let power = Complex::polar(grown * radius, α * node.ln.im);
            let mut weight = node.weight * falling.of(node, power * (1.0 / radius));
            let size = weight.size();
            large = f64::max(large, size);
            small = f64::max(small, size / grown);
            // A tenth of the rounding of the largest term.
            let done = size < 1e-17 * large && size < 1e-17 * small * grown;
            if done {
                break;
            }
            let mut less = Complex::default();
            if reduced {
                less = less_one(α * (node.ln.re + ln), α * node.ln.im);
                weight = weight * less;
            }
            terms.push(ContourTerm { power, less, weight });
        }
        Self { terms, scale, known: reduced.then(|| reciprocal_gamma(β)) }
    }

    /// The sum for $E_{\alpha,\beta}(z)$.
    pub(super) fn value<S: Scalar>(&self, z: S) -> S {
        let mut sum = S::real(0.0);
        for term in &self.terms {
            sum = sum + folded(term, z, |weight, q, _| weight * q);
        }
        let sum = sum * self.scale;
        let Some(known) = self.known else {
            return sum;
        };
        (S::real(known) - z * sum) * (S::real(1.0) - z).recip()
    }

    /// The sums for $E_{\alpha,\beta}(z)$ and its derivative in $z$.
    pub(super) fn value_and_slope<S: Scalar>(&self, z: S) -> (S, S) {
        let mut slope = S::real(0.0);
        let Some(known) = self.known else {
            for term in &self.terms {
                slope = slope + folded(term, z, |weight, q, _| weight * q * q);
            }
            return (self.value(z), slope * self.scale);
        };
        // The derivative of the reduced term: (1 − s^α)(s^α − z²)/((s^α − z)(1 − z))²
        let above = (Complex::from(1.0) - z.complex()) * (Complex::from(1.0) + z.complex());
        for term in &self.terms {
            slope = slope + folded(term, z, |weight, q, less| weight * (less + above) * q * q);
        }
        let inverse = (S::real(1.0) - z).recip();
        (self.value(z), (S::real(known) - slope * self.scale) * inverse * inverse)
    }
}

/// How $(s/\mu)^\gamma$, $\gamma = \alpha - \beta$, is found, given $(s/\mu)^\alpha$.
enum Falling {
    /// $\gamma = 0$
    Constant,
    /// By as many divisions as $\beta$ says.
    Divided(u8),
    /// By exponential and logarithm.
    Power(f64),
}

impl Falling {
    fn new(γ: f64, β: f64) -> Self {
        if γ == 0.0 {
            Self::Constant
        } else if β.fract() == 0.0 && (0.0..=4.0).contains(&β) {
            Self::Divided(β as u8)
        } else {
            Self::Power(γ)
        }
    }

    fn of(&self, node: &ContourNode, power: Complex) -> Complex {
        match *self {
            Self::Constant => Complex::from(1.0),
            Self::Divided(n) => (0..n).fold(power, |p, _| p * node.inverse),
            Self::Power(γ) => Complex::polar(libm::exp(γ * node.ln.re), γ * node.ln.im),
        }
    }
}

/// The terms of a node and its conjugate, each as a function of its weight, $1/(s^\alpha - z)$ and $s^\alpha - 1$.
fn folded<S: Scalar>(
    term: &ContourTerm,
    z: S,
    f: impl Fn(Complex, Complex, Complex) -> Complex,
) -> S {
    let upper = f(term.weight, (term.power - z.complex()).recip(), term.less);
    if S::REAL {
        return S::real(2.0 * upper.re);
    }
    let q = (term.power.conj() - z.complex()).recip();
    S::part(upper + f(term.weight.conj(), q, term.less.conj()))
}

/// $e^{x+iy} - 1$ without cancellation.
fn less_one(x: f64, y: f64) -> Complex {
    // e^x cos y − 1 = (e^x − 1) cos y − 2 sin²(y/2)
    let (sin, cos) = libm::sincos(y);
    let half = libm::sin(0.5 * y);
    let grown = libm::expm1(x);
    Complex::new(grown * cos - 2.0 * half * half, (grown + 1.0) * sin)
}
