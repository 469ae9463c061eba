//! The elementary and special functions of the model language, and their values.
//!
//! Every other place (tape, dual numbers, printers) asks here for the name and the value of a function.

mod complex;
mod double_double;
mod gamma;
mod mittag_leffler;
pub mod special;
pub(crate) mod table;

/// A function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    /// $\sin x$
    Sin,
    /// $\cos x$
    Cos,
    /// $\tan x$
    Tan,
    /// $\arcsin x$
    Asin,
    /// $\arccos x$
    Acos,
    /// $\arctan x$
    Atan,
    /// $\sinh x$
    Sinh,
    /// $\cosh x$
    Cosh,
    /// $\tanh x$
    Tanh,
    /// $e^x$
    Exp,
    /// $\ln x$
    Log,
    /// $\sqrt x$
    Sqrt,
    /// $|x|$
    Abs,
    /// $x/|x|$, and 0 at 0.
    Sign,
    /// The error function.
    Erf,
    /// $\Gamma(x)$
    Gamma,
    /// $\psi(x) = \Gamma'(x)/\Gamma(x)$
    Digamma,
}

/// A function of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    /// The angle of the point $(b, a)$: `atan2(a, b)`.
    Atan2,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// $\psi^{(a)}(b)$, the `a`-th derivative of $\psi$ for a whole number $a \ge 1$.
    Polygamma,
}

impl Unary {
    /// Every function of one argument.
    pub const ALL: [Self; 17] = [
        Self::Sin,
        Self::Cos,
        Self::Tan,
        Self::Asin,
        Self::Acos,
        Self::Atan,
        Self::Sinh,
        Self::Cosh,
        Self::Tanh,
        Self::Exp,
        Self::Log,
        Self::Sqrt,
        Self::Abs,
        Self::Sign,
        Self::Erf,
        Self::Gamma,
        Self::Digamma,
    ];

    /// The word of the model language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Tan => "tan",
            Self::Asin => "asin",
            Self::Acos => "acos",
            Self::Atan => "atan",
            Self::Sinh => "sinh",
            Self::Cosh => "cosh",
            Self::Tanh => "tanh",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Abs => "abs",
            Self::Sign => "sign",
            Self::Erf => "erf",
            Self::Gamma => "gamma",
            Self::Digamma => "digamma",
        }
    }

    /// Its value; not a number outside its domain.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Sinh => libm::sinh(x),
            Self::Cosh => libm::cosh(x),
            Self::Tanh => libm::tanh(x),
            Self::Exp => libm::exp(x),
            Self::Log => libm::log(x),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Sign => {
                if x == 0.0 {
                    0.0
                } else {
                    x.signum()
                }
            }
            Self::Erf => libm::erf(x),
            Self::Gamma => gamma(x),
            Self::Digamma => polygamma(0, x),
        }
    }

    /// Whether it has a finite value and derivatives for every real argument.
    pub fn is_entire(self) -> bool {
        matches!(
            self,
            Self::Sin
                | Self::Cos
                | Self::Atan
                | Self::Sinh
                | Self::Cosh
                | Self::Tanh
                | Self::Exp
                | Self::Erf
        )
    }
}

impl Binary {
    /// Every function of two arguments.
    pub const ALL: [Self; 4] = [Self::Atan2, Self::Min, Self::Max, Self::Polygamma];

    /// The word of the model language.
    pub fn name(self) -> &'static str {
        match self {
            Self::Atan2 => "atan2",
            Self::Min => "min",
            Self::Max => "max",
            Self::Polygamma => "polygamma",
        }
    }

    /// Its value. As soon as one argument is not a number, neither is the value.
    pub fn value(self, a: f64, b: f64) -> f64 {
        if a.is_nan() || b.is_nan() {
            return f64::NAN;
        }
        match self {
            Self::Atan2 => libm::atan2(a, b),
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Polygamma if a.fract() == 0.0 && (0.0..=170.0).contains(&a) => {
                polygamma(a as u32, b)
            }
            Self::Polygamma => f64::NAN,
        }
    }
}

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

/// $\Gamma(x)$, not a number at its poles.
fn gamma(x: f64) -> f64 {
    if x <= 0.0 && x.fract() == 0.0 { f64::NAN } else { libm::tgamma(x) }
}

/// $\psi^{(n)}(x)$: recurrence up to $x \ge 20 + n$, then the asymptotic series [AS64, (6.4.11)]; reflection
/// by recurrence downwards for $x < 0$.
fn polygamma(n: u32, x: f64) -> f64 {
    /// $B_{2k}$, k = 1 …
    const BERNOULLI: [f64; 10] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2730.0,
        7.0 / 6.0,
        -3617.0 / 510.0,
        43867.0 / 798.0,
        -174_611.0 / 330.0,
    ];
    if !x.is_finite() || (x <= 0.0 && x.fract() == 0.0) || x < -1e6 {
        return f64::NAN;
    }
    let order = f64::from(n);
    let sign = if n.is_multiple_of(2) { -1.0 } else { 1.0 }; // (−1)^{n+1}
    let factorial = libm::tgamma(order + 1.0);
    let (mut z, mut sum) = (x, 0.0);
    while z < 20.0 + order {
        // ψ⁽ⁿ⁾(z) = ψ⁽ⁿ⁾(z+1) + (−1)^{n+1} n! / z^{n+1}
        sum += sign * factorial / power(z, order + 1.0);
        z += 1.0;
    }
    let leading = if n == 0 {
        libm::log(z) - 0.5 / z
    } else {
        sign * (libm::tgamma(order) / power(z, order)
            + factorial / (2.0 * power(z, order + 1.0)))
    };
    let mut tail = 0.0;
    for (k, b) in BERNOULLI.iter().enumerate() {
        let twice = 2.0 * (k as f64 + 1.0);
        // B_{2k} (2k+n−1)! / ((2k)! z^{2k+n})
        let ratio = (0..n).map(|j| twice + f64::from(j)).product::<f64>() / twice;
        tail += b * ratio / power(z, twice + order);
    }
    sum + leading + if n == 0 { -tail } else { sign * tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygamma_values() {
        // [AS64, tables 6.1–6.4]; the tolerance is a few units of rounding.
        let cases = [
            (0, 1.0, -0.577_215_664_901_532_9),
            (0, 0.5, -1.963_510_026_021_423_5),
            (1, 1.0, 1.644_934_066_848_226_4),
            (2, 1.0, -2.404_113_806_319_188_6),
            (1, -0.5, 8.934_802_200_544_679),
        ];
        for (n, x, expected) in cases {
            let value = polygamma(n, x);
            assert!(
                (value - expected).abs() < 1e-13 * (1.0 + f64::abs(expected)),
                "{n} {x} {value}"
            );
        }
    }

    #[test]
    fn whole_powers_are_products() {
        assert_eq!(power(1.1, 2.0), 1.1 * 1.1);
        assert_eq!(power(2.0, -3.0), 0.125);
        assert_eq!(power(0.0, 0.0), 1.0);
    }
}
