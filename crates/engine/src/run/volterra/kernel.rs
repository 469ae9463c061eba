//! Kernels of `memory(k, g)`: powers, exponentials, damped waves, and powers times such are recognised, sums
//! of them term by term; whatever else there is stays general.
//!
//! $k$ is a power $c\,s^p$ if $s\,k'/k$ does not depend on $s$, and an exponential $c\,e^{-rs}$ if $k'/k$ does not.
//! It is a wave or a polynomial times such if its derivatives satisfy $k^{(d)} = \sum_j a_j k^{(j)}$ with
//! constants: these are found from values at a few lags, and
//! tried at others. The frequencies of a wave are the roots of its equation.

use pfaff_expr::{Expr, Graph, Node, Unary};
use pfaff_solver::{DampedWave, Kernel, least_squares};

use crate::run::volterra::prony::weighted;

/// The most derivatives that a wave may need.
const WAVES: usize = 6;

/// One term of a kernel: a factor and what it multiplies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// A factor times a kernel that can be compressed.
    Known(f64, Kernel),
    /// A kernel as it stands.
    General(Expr),
}

/// What a kernel is a function of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelSymbols {
    /// `s`
    pub(crate) lag: Expr,
    pub(crate) time: Expr,
}

/// Splits a kernel into its terms. `value` gives numbers to parameters.
pub(crate) fn terms(
    g: &Graph,
    kernel: Expr,
    symbols: KernelSymbols,
    value: &dyn Fn(Expr, f64) -> f64,
) -> Vec<Term> {
    let mut pending = vec![(kernel, false)];
    let mut found = Vec::new();
    while let Some((k, negative)) = pending.pop() {
        match g.node(k) {
            Node::Add(a, b) => pending.extend([(b, negative), (a, negative)]),
            Node::Sub(a, b) => pending.extend([(b, !negative), (a, negative)]),
            Node::Neg(a) => pending.push((a, !negative)),
            _ => {
                let k = if negative { g.neg(k) } else { k };
                found.push(term(g, k, symbols, value));
            }
        }
    }
    found
}

/// One term, which is no sum.
pub(crate) fn term(
    g: &Graph,
    k: Expr,
    symbols: KernelSymbols,
    value: &dyn Fn(Expr, f64) -> f64,
) -> Term {
    let KernelSymbols { lag, time } = symbols;
    if g.contains(k, &[time]) || has_pieces(g, k) {
        return Term::General(k);
    }
    let slope = g.derivative(k, lag);
    let rate = g.div(slope, k);
    let constant = |e: Expr| g.is_zero(g.derivative(e, lag));
    if constant(rate) {
        let r = -value(rate, 0.7);
        let factor = value(k, 0.0);
        if r.is_finite() && factor.is_finite() {
            return Term::Known(factor, Kernel::Exponentials(vec![(1.0, r)]));
        }
    }
    let exponent = g.mul(lag, rate);
    if constant(exponent) {
        let p = value(exponent, 0.7);
        let factor = value(k, 1.0);
        if p > -1.0 && factor.is_finite() {
            let mu = p + 1.0;
            return Term::Known(factor * libm::tgamma(mu), Kernel::Power(mu));
        }
    }
    let known = wave(g, k, lag, value).or_else(|| tempered(g, k, lag, value));
    known.map_or(Term::General(k), |kernel| Term::Known(1.0, kernel))
}

/// The power of the lag that stands as a factor of a kernel, and what it multiplies.
pub(crate) fn power(
    g: &Graph,
    k: Expr,
    lag: Expr,
    value: &dyn Fn(Expr, f64) -> f64,
) -> (f64, Expr) {
    let mut pending = vec![(k, false)];
    let (mut exponent, mut rest) = (0.0, g.one());
    while let Some((factor, below)) = pending.pop() {
        match g.node(factor) {
            Node::Mul(a, b) => pending.extend([(b, below), (a, below)]),
            Node::Div(a, b) => pending.extend([(b, !below), (a, below)]),
            Node::Neg(a) => {
                pending.push((a, below));
                rest = g.neg(rest);
            }
            _ => {
                let slope = g.mul(lag, g.div(g.derivative(factor, lag), factor));
                let p = if g.contains(factor, &[lag]) && g.is_zero(g.derivative(slope, lag)) {
                    value(slope, 0.7)
                } else {
                    f64::NAN
                };
                let sign = if below { -1.0 } else { 1.0 };
                if p.is_finite() {
                    exponent += sign * p;
                    // A factor of the power stays.
                    let at = g.substitute(&[factor], &[(lag, g.one())])[0];
                    rest = if below { g.div(rest, at) } else { g.mul(rest, at) };
                } else {
                    rest = if below { g.div(rest, factor) } else { g.mul(rest, factor) };
                }
            }
        }
    }
    (exponent, rest)
}

/// A singular power times a damped wave.
fn tempered(g: &Graph, k: Expr, lag: Expr, value: &dyn Fn(Expr, f64) -> f64) -> Option<Kernel> {
    let (p, rest) = power(g, k, lag, value);
    if p >= 0.0 || p <= -1.0 {
        return None;
    }
    let Kernel::Linear(a, _) = wave(g, rest, lag, value)? else { return None };
    let rates = roots(&a)?;
    let gamma = libm::tgamma(p + 1.0);
    let longest = 8.0 / rates.iter().map(|[r, w]| libm::hypot(*r, *w)).fold(0.1, f64::max);
    let lags = |count: u32, shift: f64| -> Vec<f64> {
        (0..count).map(|i| longest * (f64::from(i) + shift) / f64::from(count)).collect()
    };
    let size = lags(40, 0.0).iter().fold(0.0_f64, |m, s| m.max(value(rest, *s).abs()));
    let scaled = |s: f64| value(rest, s) / size;
    let waves = weighted(&rates, &lags(60, 0.0), &lags(97, 0.5), 1e-13, &scaled)?;
    let large = |w: DampedWave| DampedWave { weight: w.weight.map(|x| x * size * gamma), ..w };
    Some(Kernel::Waves(p + 1.0, waves.into_iter().map(large).collect()))
}

/// The $z$ with $(-z)^d = \sum_j a_j (-z)^j$ and $\operatorname{Im} z \ge 0$, if they lie apart; by
/// simultaneous iteration (Weierstrass).
fn roots(a: &[f64]) -> Option<Vec<[f64; 2]>> {
    type C = [f64; 2];
    let mul = |x: C, y: C| [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]];
    let sub = |x: C, y: C| [x[0] - y[0], x[1] - y[1]];
    let div = |x: C, y: C| {
        let n = y[0] * y[0] + y[1] * y[1];
        [(x[0] * y[0] + x[1] * y[1]) / n, (x[1] * y[0] - x[0] * y[1]) / n]
    };
    let d = a.len();
    let bound = a
        .iter()
        .enumerate()
        .map(|(j, a)| libm::pow(a.abs(), 1.0 / (d - j) as f64))
        .fold(1e-12_f64, f64::max);
    // NOTE: begun on a circle, at angles without symmetry.
    let mut x: Vec<C> = (0..d)
        .map(|k| {
            let angle = 0.4 + 2.0 * std::f64::consts::PI * k as f64 / d as f64;
            [bound * libm::cos(angle), bound * libm::sin(angle)]
        })
        .collect();
    let value = |x: C| {
        let mut sum = [1.0, 0.0];
        for a in a.iter().rev() {
            sum = sub(mul(sum, x), [*a, 0.0]);
        }
        sum
    };
    for _ in 0..200 {
        for k in 0..d {
            let mut below = [1.0, 0.0];
            for j in (0..d).filter(|&j| j != k) {
                below = mul(below, sub(x[k], x[j]));
            }
            x[k] = sub(x[k], div(value(x[k]), below));
        }
    }
    let apart = |k: usize, j: usize| {
        let off = sub(x[k], x[j]);
        libm::hypot(off[0], off[1]) > 1e-3 * bound
    };
    if (0..d).any(|k| (0..k).any(|j| !apart(k, j))) {
        return None;
    }
    // One of each conjugate pair; on the real line the imaginary part is rounding.
    let small = 1e-10 * bound;
    let upper = x.into_iter().filter(|x| x[1] > -small);
    Some(upper.map(|x| [-x[0], if x[1] < small { 0.0 } else { x[1] }]).collect())
}

/// Whether a kernel may be made of pieces, each of which satisfies another equation.
pub(crate) fn has_pieces(g: &Graph, k: Expr) -> bool {
    g.live(&[k]).into_iter().any(|e| {
        matches!(
            g.node(e),
            Node::Unary(Unary::Abs | Unary::Sign, _)
                | Node::Binary(..)
                | Node::If(..)
                | Node::Table { .. }
        )
    })
}

/// The linear equation with constant coefficients that a kernel satisfies, if there is one.
fn wave(g: &Graph, k: Expr, lag: Expr, value: &dyn Fn(Expr, f64) -> f64) -> Option<Kernel> {
    let mut derivatives = vec![k];
    for d in 1..=WAVES {
        derivatives.push(g.derivative(derivatives[d - 1], lag));
        let start: Vec<f64> = derivatives[..d].iter().map(|&k| value(k, 0.0)).collect();
        if start.iter().any(|k| !k.is_finite()) {
            return None;
        }
        let rows = 2 * d + 2;
        let (mut matrix, mut right) = (Vec::new(), Vec::new());
        for i in 0..rows {
            let s = 0.05 + 0.37 * i as f64;
            matrix.extend(derivatives[..d].iter().map(|&k| value(k, s)));
            right.push(value(derivatives[d], s));
        }
        if matrix.iter().chain(&right).any(|x| !x.is_finite()) {
            return None;
        }
        let a = least_squares(&matrix, rows, d, &right, 1e-13).x;
        let holds = |s: f64| {
            let terms: Vec<f64> =
                derivatives[..d].iter().zip(&a).map(|(&k, a)| a * value(k, s)).collect();
            let size: f64 = terms.iter().map(|t| t.abs()).sum();
            let left = value(derivatives[d], s);
            (left - terms.iter().sum::<f64>()).abs() <= 1e-11 * (size + left.abs())
        };
        if (0..40).all(|i| holds(0.013 + 0.21 * f64::from(i))) {
            return Some(Kernel::Linear(a, start));
        }
    }
    None
}
