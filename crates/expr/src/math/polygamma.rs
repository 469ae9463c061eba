//! $\psi^{(a)}(b)$, the `a`-th derivative of $\psi = \Gamma'/\Gamma$ for a whole number $a \ge 1$.

use super::power::power;
use crate::graph::node::Expr;
use crate::graph::pairs::Pairs;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::function::{BinaryArguments, BinaryFunction, CircleDirectionOfTwo};
use crate::math::notation::{BinaryNotation, FunctionName};
use crate::math::series::RelationOfTwo;
use crate::math::spelling::Spellings;
use crate::math::{Binary, Unary};
use crate::zero::interval::Interval;
use crate::zero::modular::FieldPoint;
use crate::zero::numeric::{Bounded, U};
use crate::zero::quadratic::Z;

/// $\psi^{(a)}(b)$, the `a`-th derivative of $\psi = \Gamma'/\Gamma$ for a whole number $a \ge 1$.
pub(crate) struct Polygamma;

impl BinaryFunction for Polygamma {
    const NAME: &'static str = "polygamma";
    const FORM: &'static str = "polygamma(n, x)";
    const MEANING: &'static str =
        "the n-th derivative of ψ; printed derivatives of `gamma` use it";
    const ARGUMENTS: BinaryArguments = BinaryArguments::OrderAndNumber;

    fn value(a: f64, b: f64) -> f64 {
        if a.fract() == 0.0 && (0.0..=170.0).contains(&a) {
            polygamma(a as u32, b)
        } else {
            f64::NAN
        }
    }

    fn row<const N: usize>(_: &[f64; N], _: &[f64; N]) -> Option<[f64; N]> {
        None
    }

    fn partials(store: &mut Store, a: Expr, b: Expr) -> Pairs {
        let next = store.add(a, ONE);
        Pairs::one((b, store.binary(Binary::Polygamma, next, b)))
    }

    const SERIES: Option<RelationOfTwo> = None;

    fn exact(store: &mut Store, a: Expr, b: Expr) -> Option<Expr> {
        // ψ⁽⁰⁾ = ψ
        (a == ZERO).then(|| store.unary(Unary::Digamma, b))
    }

    fn range(_: Interval, _: Interval) -> Interval {
        Interval::ALL
    }

    fn error(a: Bounded, b: Bounded, y: f64) -> f64 {
        let slope = Binary::Polygamma.value(a.value + 1.0, b.value).abs();
        if a.error <= U * a.value.abs() && b.error < 1e-3 {
            4.0 * slope * b.error + 1e-12 * (1.0 + y.abs() + b.value.abs())
        } else {
            f64::INFINITY
        }
    }

    const COMPARES: bool = false;

    const IS_BRANCHED: bool = false;

    const DIRECTION: Option<CircleDirectionOfTwo> = None;

    fn modular(point: &mut FieldPoint<'_>, _: Expr, a: Expr, b: Expr) -> Option<Z> {
        match point.small_integer(a) {
            Some(n) if (1..20).contains(&n) => point.polygamma_of(n, b),
            _ => Some(point.opaque(0x901, &[point.value(a), point.value(b)])),
        }
    }

    const NOTATION: BinaryNotation = BinaryNotation::Derivative(FunctionName {
        latex: "\\psi",
        typst: "ψ",
        mathml: "<mi>ψ</mi>",
    });

    const SPELLINGS: Spellings = Spellings::NONE;
}

/// $\psi^{(n)}(x)$: recurrence up to $x \ge 20 + n$, then the asymptotic series [AS64, (6.4.11)]; reflection
/// by recurrence downwards for $x < 0$.
pub(super) fn polygamma(n: u32, x: f64) -> f64 {
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
}
