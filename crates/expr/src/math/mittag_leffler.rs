//! $E_{\alpha,\beta}(z)$ and its derivative in $z$, by the method that fits the arguments.
//!
//! | where | how |
//! | --- | --- |
//! | $(\alpha,\beta) = (1,1), (1,2), (2,1), (2,2)$ | exponential and trigonometric functions |
//! | $\lvert z\rvert$ small beside $\beta^\alpha$ | Taylor series |
//! | $\lvert z\rvert^{1/\alpha} \ge 40 + 2\lvert\beta\rvert$ | residues and the series in $1/z$ |
//! | else | residues and the trapezoidal sum of [`contour`](contour) |
//!
//! For $\beta = 0, -1, …$ the first coefficient vanishes, and if $\alpha$ is whole perhaps more:
//! $E_{\alpha,\beta} = z E_{\alpha,\alpha+\beta}$ takes them away.

mod contour;
mod pole;
mod power_series;

use std::cell::RefCell;
use std::f64::consts::PI;
use std::rc::Rc;
use std::sync::OnceLock;

use super::complex::{Complex, Scalar};
use contour::{Contour, ContourRule};
use pole::{Pole, poles};
use power_series::{Coefficients, Sizes};

/// The function $z \mapsto E_{\alpha,\beta}(z)$ for fixed parameters; what does not depend on $z$ is kept
/// once it was needed.
///
/// ```
/// # use pfaff_expr::special::MittagLeffler;
/// let relaxation = MittagLeffler::new(0.5, 1.0);
/// let erfcx = 0.427_583_576_155_807; // e·erfc(1)
/// assert!((relaxation.value(-1.0) - erfcx).abs() < 1e-15);
/// ```
pub struct MittagLeffler {
    α: f64,
    /// The parameter after the shifts.
    β: f64,
    /// The bits of both parameters as they were given.
    given: [u64; 2],
    /// The power of $z$ in front.
    shifts: u32,
    /// Up to this $|z|$ the Taylor series is used.
    small: f64,
    /// From this $\ln|z|$ on the series in $1/z$ is used.
    large: f64,
    path: &'static Contour,
    /// By the shift of the nodes, and whether the known part is taken away.
    rules: [[OnceLock<ContourRule>; 2]; 2],
    ascending: Coefficients,
    descending: Coefficients,
}

/// $\alpha$ and $\beta$.
#[derive(Clone, Copy)]
struct Parameters {
    α: f64,
    β: f64,
}

impl MittagLeffler {
    /// The function with these parameters. Unless $\alpha > 0$ and both are finite, its values are not numbers.
    pub fn new(alpha: f64, beta: f64) -> Self {
        let α = alpha;
        let valid = α > 0.0 && α.is_finite() && beta.is_finite();
        // How many of the first coefficients vanish.
        let zeros = if α.fract() == 0.0 && beta <= 0.0 && beta.fract() == 0.0 {
            (-beta / α).floor() + 1.0
        } else {
            0.0
        };
        let (β, shifts) =
            if valid && zeros < 1e6 { (beta + zeros * α, zeros as u32) } else { (beta, 0) };
        Self {
            α: if valid { α } else { f64::NAN },
            β,
            given: [alpha, beta].map(f64::to_bits),
            shifts,
            small: small(α, β),
            large: large(α, β),
            path: Contour::of(β),
            rules: [const { [const { OnceLock::new() }; 2] }; 2],
            ascending: Coefficients::new(α, β),
            descending: Coefficients::new(-α, β),
        }
    }

    /// $E_{\alpha,\beta}(x)$
    pub fn value(&self, x: f64) -> f64 {
        self.shifted_value(x, Self::closed)
    }

    /// $E_{\alpha,\beta}(z)$
    pub fn value_complex(&self, z: Complex) -> Complex {
        self.shifted_value(z, Self::closed_complex)
    }

    /// $dE_{\alpha,\beta}/dx$
    pub fn slope(&self, x: f64) -> f64 {
        self.shifted_slope(x, Self::closed)
    }

    /// $dE_{\alpha,\beta}/dz$
    pub fn slope_complex(&self, z: Complex) -> Complex {
        self.shifted_slope(z, Self::closed_complex)
    }

    fn parameters(&self) -> Parameters {
        Parameters { α: self.α, β: self.β }
    }

    fn shifted_value<S: Scalar>(&self, z: S, closed: impl Fn(&Self, S) -> Option<(S, S)>) -> S {
        if !z.modulus().is_finite() || self.α.is_nan() {
            return S::real(f64::NAN);
        }
        let value =
            closed(self, z).map_or_else(|| self.evaluate::<S, false>(z).0, |pair| pair.0);
        if self.shifts == 0 { value } else { value * whole_power(z, self.shifts) }
    }

    fn shifted_slope<S: Scalar>(&self, z: S, closed: impl Fn(&Self, S) -> Option<(S, S)>) -> S {
        if !z.modulus().is_finite() || self.α.is_nan() {
            return S::real(f64::NAN);
        }
        let (value, slope) = closed(self, z).unwrap_or_else(|| self.evaluate::<S, true>(z));
        if self.shifts == 0 {
            return slope;
        }
        // (zⁿE)′ = zⁿ⁻¹(nE + zE′)
        (value * f64::from(self.shifts) + slope * z) * whole_power(z, self.shifts - 1)
    }

    /// Value and derivative in closed form, where there is one and it does not cancel.
    fn closed(&self, x: f64) -> Option<(f64, f64)> {
        if self.α == 1.0 && self.β == 1.0 {
            let e = libm::exp(x);
            return Some((e, e));
        }
        if x.abs() < self.small {
            return None;
        }
        let root = x.abs().sqrt();
        let waves = || {
            if x < 0.0 {
                (libm::cos(root), libm::sin(root) / root)
            } else {
                (libm::cosh(root), libm::sinh(root) / root)
            }
        };
        self.combined(x, || (libm::exp(x), libm::expm1(x) / x), waves)
    }

    fn closed_complex(&self, z: Complex) -> Option<(Complex, Complex)> {
        if self.α == 1.0 && self.β == 1.0 {
            let e = z.exp();
            return Some((e, e));
        }
        if z.abs() < self.small {
            return None;
        }
        let waves = || {
            let root = z.sqrt();
            let (sin, cos) = libm::sincos(root.im);
            let (sinh, cosh) = (libm::sinh(root.re), libm::cosh(root.re));
            (Complex::new(cosh * cos, sinh * sin), Complex::new(sinh * cos, cosh * sin) / root)
        };
        let exponentials = || {
            let e = z.exp();
            (e, (e - Complex::from(1.0)) / z)
        };
        self.combined(z, exponentials, waves)
    }

    /// From $E_{1,1}, E_{1,2}$ or $E_{2,1}, E_{2,2}$ the one that is asked for, and its derivative.
    fn combined<S: Scalar>(
        &self,
        z: S,
        exponentials: impl Fn() -> (S, S),
        waves: impl Fn() -> (S, S),
    ) -> Option<(S, S)> {
        match (self.α, self.β) {
            (1.0, 2.0) => {
                let (e, value) = exponentials();
                Some((value, (e - value) * z.recip()))
            }
            (2.0, 1.0) => {
                let (cos, sin) = waves();
                Some((cos, sin * 0.5))
            }
            (2.0, 2.0) => {
                let (cos, sin) = waves();
                Some((sin, (cos - sin) * z.recip() * 0.5))
            }
            _ => None,
        }
    }

    /// Value and, if `SLOPE`, derivative.
    fn evaluate<S: Scalar, const SLOPE: bool>(&self, z: S) -> (S, S) {
        let size = z.modulus();
        if size <= self.small
            && let Some(sums) = self.ascending.taylor(z)
        {
            return sums;
        }
        if self.α > LARGEST_ORDER {
            return (S::real(f64::NAN), S::real(f64::NAN));
        }
        let found = poles(self.α, z);
        self.at_large::<S>(z, size, &found)
            .unwrap_or_else(|| self.by_contour::<S, SLOPE>(z, &found))
    }

    fn at_large<S: Scalar>(&self, z: S, size: f64, found: &[Pole]) -> Option<(S, S)> {
        let ln = libm::log(size);
        if ln < self.large {
            return None;
        }
        let radius = libm::exp((ln / self.α).min(700.0));
        let (mut value, mut slope) = (S::real(0.0), S::real(0.0));
        for pole in found {
            let (ρ, rate) = pole.alone(self.parameters(), z.complex());
            value = value + S::part(ρ);
            slope = slope + S::part(rate);
        }
        if !(value.size() + slope.size()).is_finite() {
            return Some((value, slope));
        }
        let last = (radius + self.β) / self.α;
        let beside = Sizes { value: value.size(), slope: slope.size() };
        let (sum, rate) = self.descending.asymptotic(z, beside, last)?;
        Some((value - sum, slope - rate))
    }

    fn by_contour<S: Scalar, const SLOPE: bool>(&self, z: S, found: &[Pole]) -> (S, S) {
        // The set of nodes that keeps away from all poles.
        let (plain, moved) = found.iter().fold((1.0, 1.0), |(a, b): (f64, f64), pole| {
            let (c, d) = pole.distances(self.path);
            (a.min(c), b.min(d))
        });
        let shifted = moved >= plain;
        let reduced = ContourRule::is_reduced(self.α, z);
        let rule = self.rules[usize::from(shifted)][usize::from(reduced)]
            .get_or_init(|| ContourRule::new(self.path, self.parameters(), shifted, reduced));
        let (mut value, mut slope) =
            if SLOPE { rule.value_and_slope(z) } else { (rule.value(z), S::real(0.0)) };
        for pole in found {
            let (a, b) = pole.beside_sum(self.parameters(), z.complex(), self.path, shifted);
            value = value + S::part(a);
            slope = slope + S::part(b);
        }
        (value, slope)
    }
}

/// For larger $\alpha$ every finite $z$ is small, and the series fails only where its coefficients overflow.
const LARGEST_ORDER: f64 = 250.0;

/// The largest $|z|$ where the Taylor series neither takes many terms nor loses digits to cancellation.
fn small(α: f64, β: f64) -> f64 {
    let plain = if α <= 0.25 {
        0.05
    } else if α <= 0.5 {
        // With few or no digits from the first coefficient the series is worth its terms.
        if β <= 0.0 { 0.4 } else { 0.2 }
    } else if α <= 1.0 {
        0.5
    } else {
        // The terms are largest at the radius r = |z|^{1/α}, and E is of the size exp(r cos(π/α)): at most
        // e^{2.5} is lost.
        let radius = 2.5 / (1.0 - libm::cos(PI / α));
        libm::pow(radius.min(30.0), α)
    };
    if β <= 2.0 {
        return plain;
    }
    // Large β makes the coefficients fall from the start: c_{k+1}/c_k ≈ β^{−α}.
    plain.max(0.4 * libm::pow(β, α))
}

/// The least $\ln|z|$ where the series in $1/z$ reaches rounding, and does so soon.
fn large(α: f64, β: f64) -> f64 {
    // Its smallest term, and the exponentials it knows nothing of, are of the size exp(−|z|^{1/α}).
    let accurate = α * libm::log(40.0 + 2.0 * β.abs());
    // The term of index n is about Γ(αn − β)|z|^{−n}, by Stirling's formula, and should be e^{−40}.
    let n = 24.0;
    let x = (α * n - β).max(1.0);
    let soon = (40.0 + x * (libm::log(x) - 1.0)) / n;
    accurate.max(soon)
}

/// $z^n$ by repeated squaring.
fn whole_power<S: Scalar>(z: S, n: u32) -> S {
    let (mut result, mut square, mut rest) = (S::real(1.0), z, n);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square;
        }
        rest >>= 1;
        square = square * square;
    }
    result
}

/// $E_{\alpha,\beta}(x)$; not a number unless $\alpha > 0$ and all arguments are finite.
pub fn mittag_leffler(alpha: f64, beta: f64, x: f64) -> f64 {
    with(alpha, beta, |f| f.value(x))
}

/// $E_{\alpha,\beta}(z)$ for complex $z$.
pub fn mittag_leffler_complex(alpha: f64, beta: f64, z: Complex) -> Complex {
    with(alpha, beta, |f| f.value_complex(z))
}

/// $dE_{\alpha,\beta}(x)/dx$
pub fn mittag_leffler_slope(alpha: f64, beta: f64, x: f64) -> f64 {
    with(alpha, beta, |f| f.slope(x))
}

/// $dE_{\alpha,\beta}(z)/dz$ for complex $z$.
pub fn mittag_leffler_slope_complex(alpha: f64, beta: f64, z: Complex) -> Complex {
    with(alpha, beta, |f| f.slope_complex(z))
}

/// The function for these parameters. The last few are kept, because systems of a few orders evaluate their
/// functions in turn, and the nodes of the contour cost more than a value.
///
/// A function that is kept has the bits of a new one: it is found by the bits of its parameters, and whatever
/// it computes later depends on nothing else.
fn with<T>(α: f64, β: f64, value: impl FnOnce(&MittagLeffler) -> T) -> T {
    const KEPT: usize = 8;
    #[derive(Default)]
    struct Kept {
        functions: Vec<Rc<MittagLeffler>>,
        oldest: usize,
    }
    thread_local! {
        static LAST: RefCell<Kept> = RefCell::default();
    }
    let function = LAST.with_borrow_mut(|Kept { functions, oldest }| {
        let given = [α, β].map(f64::to_bits);
        if let Some(found) = functions.iter().find(|f| f.given == given) {
            return Rc::clone(found);
        }
        let made = Rc::new(MittagLeffler::new(α, β));
        if functions.len() < KEPT {
            functions.push(Rc::clone(&made));
        } else {
            functions[*oldest] = Rc::clone(&made);
            *oldest = (*oldest + 1) % KEPT;
        }
        made
    });
    value(&function)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::field::random;

    /// What was called before changes no bit: signs of zero, invalid parameters and all ways of evaluation.
    #[test]
    fn the_order_of_calls_changes_no_bit() {
        let orders = [0.3, 0.5, 1.0, 1.5, 2.0, 2.7, 0.0, -1.0, f64::NAN];
        let betas = [0.0, -0.0, 1.0, 0.5, -1.0, -0.5, 2.0, 30.0];
        let arguments = [-40.0, -3.0, -0.1, -0.0, 0.0, 0.2, 1.7, 60.0];
        let bits = |z: Complex| [z.re, z.im].map(f64::to_bits);
        let mut state = 1_u64;
        let mut pick = |list: &[f64]| {
            state += 1;
            list[random(state) as usize % list.len()]
        };
        for call in 0..20_000 {
            let (α, β, x) = (pick(&orders), pick(&betas), pick(&arguments));
            let (z, fresh) = (Complex::new(x, pick(&arguments)), MittagLeffler::new(α, β));
            let (kept, new) = match call % 4 {
                0 => (mittag_leffler(α, β, x).into(), fresh.value(x).into()),
                1 => (mittag_leffler_slope(α, β, x).into(), fresh.slope(x).into()),
                2 => (mittag_leffler_complex(α, β, z), fresh.value_complex(z)),
                _ => (mittag_leffler_slope_complex(α, β, z), fresh.slope_complex(z)),
            };
            assert_eq!(bits(kept), bits(new), "E({α}, {β}) at {x} in call {call}");
        }
    }
}
