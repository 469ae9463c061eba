//! An unknown function as the integral of its density, and what operators make of it.
//!
//! $$ q = \sum_{j<\lceil N\rceil} c_j\frac{x^j}{j!} + J^N y , $$
//!
//! with the distance $x$ from the function's own end. Operators from the same end lower the order: $D^\beta q =
//! J^{N-\beta}y + \ldots$, the constants being those of Caputo or of Riemann and Liouville.
//! Operators from the other end act on the ordinary derivative: with $m = \lceil\beta\rceil \le N$ and the
//! distance $z$ from that end
//!
//! $$ D_{\text{other}}^\beta q = (-1)^m J_{\text{other}}^{m-\beta}\,q^{(m)}, \qquad \text{and for
//! Riemann–Liouville } + \sum_{k<m} (-1)^k q^{(k)}(\text{far})\,\frac{z^{k-\beta}}{\Gamma(k+1-\beta)}, $$
//!
//! derivatives being counted along the function's own direction.

use super::sinc_grid::IntervalPoint;

/// An end of the interval, as the origin of an operator or of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the start.
    Left,
    /// To the end.
    Right,
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// The distance from it.
    pub(crate) fn distance(self, place: IntervalPoint) -> f64 {
        match self {
            Self::Left => place.left,
            Self::Right => place.right,
        }
    }
}

/// One unknown function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unknown {
    /// The end that its integral starts from.
    pub side: Side,
    /// $N \ge 0$; with 0 the function is its own density.
    pub order: f64,
}

/// A linear operator on an unknown function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FractionalOperator {
    /// $d^k/dt^k$
    Derivative(u8),
    /// Caputo's derivative from a side.
    Caputo(Side, f64),
    /// That of Riemann and Liouville.
    RiemannLiouville(Side, f64),
    /// The fractional integral from a side.
    Integral(Side, f64),
}

/// An operator on the density: integrals one after the other, the last applied first; and values at the far
/// end times powers of the distance from it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    pub(crate) sign: f64,
    pub(crate) factors: Vec<(Side, f64)>,
    /// Factor, exponent of $z$, and order $k$ of the derivative at the far end.
    pub(crate) far: Vec<(f64, f64, usize)>,
}

impl Unknown {
    /// $\lceil N\rceil$, how many constants there are.
    pub fn constants(self) -> usize {
        libm::ceil(self.order) as usize
    }

    /// −1 to the number of derivatives if the function counts backwards.
    pub(crate) fn orientation(self, k: usize) -> f64 {
        if self.side == Side::Right && !k.is_multiple_of(2) { -1.0 } else { 1.0 }
    }

    /// The operator on the density.
    pub(crate) fn chain(self, operator: FractionalOperator) -> Chain {
        let (own, order) = (self.side, self.order);
        let alone =
            |sign: f64, nu: f64| Chain { sign, factors: vec![(own, nu)], far: Vec::new() };
        match operator {
            FractionalOperator::Derivative(k) => {
                alone(self.orientation(usize::from(k)), order - f64::from(k))
            }
            FractionalOperator::Caputo(side, beta)
            | FractionalOperator::RiemannLiouville(side, beta)
                if side == own =>
            {
                alone(1.0, order - beta)
            }
            FractionalOperator::Integral(side, nu) if side == own => alone(1.0, order + nu),
            FractionalOperator::Integral(side, nu) => {
                Chain { sign: 1.0, factors: vec![(side, nu), (own, order)], far: Vec::new() }
            }
            FractionalOperator::Caputo(side, beta)
            | FractionalOperator::RiemannLiouville(side, beta) => {
                let m = libm::ceil(beta);
                let far = match operator {
                    FractionalOperator::Caputo(..) => Vec::new(),
                    _ => (0..m as usize).map(|k| far_term(k, beta)).collect(),
                };
                let sign = if libm::fmod(m, 2.0) == 0.0 { 1.0 } else { -1.0 };
                Chain { sign, factors: vec![(side, m - beta), (own, order - m)], far }
            }
        }
    }

    /// What the operator makes of $x^j/j!$.
    pub(crate) fn on_constant(
        self,
        operator: FractionalOperator,
        j: usize,
        place: IntervalPoint,
        length: f64,
    ) -> f64 {
        let x = self.side.distance(place);
        let (j_real, z) = (j as f64, self.side.other().distance(place));
        match operator {
            FractionalOperator::Derivative(k) if usize::from(k) > j => 0.0,
            FractionalOperator::Derivative(k) => {
                self.orientation(usize::from(k)) * power(x, j_real - f64::from(k))
            }
            FractionalOperator::Caputo(side, beta) if side == self.side => {
                if j_real < libm::ceil(beta) { 0.0 } else { power(x, j_real - beta) }
            }
            FractionalOperator::RiemannLiouville(side, beta) if side == self.side => {
                power(x, j_real - beta)
            }
            FractionalOperator::Integral(side, nu) if side == self.side => {
                power(x, j_real + nu)
            }
            FractionalOperator::Integral(_, nu) => across(j, nu, z, length),
            FractionalOperator::Caputo(_, beta)
            | FractionalOperator::RiemannLiouville(_, beta) => {
                let m = libm::ceil(beta);
                let sign = if libm::fmod(m, 2.0) == 0.0 { 1.0 } else { -1.0 };
                let mut value = 0.0;
                if j_real >= m {
                    value = sign * across(j - m as usize, m - beta, z, length);
                }
                for (factor, exponent, k) in self.chain(operator).far {
                    if k <= j {
                        value +=
                            factor * libm::pow(z, exponent) * power(length, (j - k) as f64);
                    }
                }
                value
            }
        }
    }
}

fn far_term(k: usize, beta: f64) -> (f64, f64, usize) {
    let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
    let exponent = k as f64 - beta;
    (sign / libm::tgamma(exponent + 1.0), exponent, k)
}

/// $x^p/\Gamma(p+1)$
pub(crate) fn power(x: f64, p: f64) -> f64 {
    if p < 0.0 && p == libm::floor(p) { 0.0 } else { libm::pow(x, p) / libm::tgamma(p + 1.0) }
}

/// The integral of order `nu` over $z$ of $(T - z)^p/p!$.
fn across(p: usize, nu: f64, z: f64, length: f64) -> f64 {
    let term = |i: usize| {
        let sign = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        sign * power(length, (p - i) as f64) * power(z, i as f64 + nu)
    };
    (0..=p).map(term).sum()
}
