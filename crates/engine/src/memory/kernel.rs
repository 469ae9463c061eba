//! Kernels of `memory(k, g)`: powers, exponentials and damped waves are recognised, sums of them term by term; smooth ones are fitted by exponentials; whatever else there is stays general.
//!
//! $k$ is a power $c\,s^p$ if $s\,k'/k$ does not depend on $s$, and an exponential $c\,e^{-rs}$ if $k'/k$ does not.
//! It is a wave or a polynomial times such if its derivatives satisfy $k^{(d)} = \sum_j a_j k^{(j)}$ with constants: these are found from values at a few lags, and
//! tried at others. A fit is a sum $\sum w_l e^{-s_l s}$ over given rates, with weights by least squares, tried at lags between those that were fitted.

use pfaff_expr::{Expr, Graph, Node, Unary};
use pfaff_solver::{Kernel, least_squares};

/// The most derivatives that a wave may need.
const WAVES: usize = 6;
/// The largest error of a fit, relative to the largest value of the kernel.
const FITTED: f64 = 1e-11;

/// One term of a kernel: a factor and what it multiplies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    /// A factor times a kernel that can be compressed.
    Known(f64, Kernel),
    /// A kernel as it stands.
    General(Expr),
}

/// Splits a kernel into its terms. `value` gives numbers to parameters, `lag` is the symbol `s`.
pub(crate) fn terms(
    g: &Graph,
    kernel: Expr,
    (lag, time): (Expr, Expr),
    value: &dyn Fn(Expr, f64) -> f64,
) -> Vec<Term> {
    let mut pending = vec![(kernel, false)];
    let mut found = Vec::new();
    while let Some((k, negative)) = pending.pop() {
        match g.node(k) {
            Node::Add(a, b) => pending.extend([(b, negative), (a, negative)]),
            Node::Sub(a, b) => pending.extend([(b, !negative), (a, negative)]),
            Node::Neg(a) => pending.push((a, !negative)),
            _ => found.push(term(g, k, negative, (lag, time), value)),
        }
    }
    if found.iter().any(|t| matches!(t, Term::General(_))) {
        return vec![Term::General(kernel)];
    }
    found
}

fn term(
    g: &Graph,
    k: Expr,
    negative: bool,
    (lag, time): (Expr, Expr),
    value: &dyn Fn(Expr, f64) -> f64,
) -> Term {
    let sign = if negative { -1.0 } else { 1.0 };
    if g.contains(k, &[time]) || has_pieces(g, k) {
        return Term::General(k);
    }
    let slope = g.derivative(k, lag);
    let rate = g.div(slope, k);
    let constant = |e: Expr| g.is_zero(g.derivative(e, lag));
    if constant(rate) {
        let r = -value(rate, 0.7);
        let factor = sign * value(k, 0.0);
        if r.is_finite() && factor.is_finite() {
            return Term::Known(factor, Kernel::Exponentials(vec![(1.0, r)]));
        }
    }
    let exponent = g.mul(lag, rate);
    if constant(exponent) {
        let p = value(exponent, 0.7);
        let factor = sign * value(k, 1.0);
        if p > -1.0 && factor.is_finite() {
            let mu = p + 1.0;
            return Term::Known(factor * libm::tgamma(mu), Kernel::Power(mu));
        }
    }
    wave(g, k, lag, value).map_or(Term::General(k), |kernel| Term::Known(sign, kernel))
}

/// Whether a kernel may be made of pieces, each of which satisfies another equation.
fn has_pieces(g: &Graph, k: Expr) -> bool {
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

/// A kernel that is bounded and smooth from the lag 0 to `longest` as a sum of exponentials, if few do.
pub(crate) fn fit(longest: f64, value: &dyn Fn(f64) -> f64) -> Option<Kernel> {
    const RATES: usize = 60;
    let largest = (0..=40)
        .map(|i| value(longest * f64::from(i) / 40.0).abs())
        .fold(0.0_f64, |a, b| if b.is_nan() { b } else { a.max(b) });
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    // From slower than the run to a thousand times faster.
    let rates: Vec<f64> = (0..RATES)
        .map(|l| {
            let exponent = -2.0 + 5.5 * l as f64 / (RATES - 1) as f64;
            if l == 0 { 0.0 } else { libm::pow(10.0, exponent) / longest }
        })
        .collect();
    // Lags that are dense at 0, where the fast rates live.
    let lags = |count: usize, shift: f64| {
        (0..count).map(move |i| {
            let u = (i as f64 + shift) / count as f64;
            longest * u * u * u
        })
    };
    let (mut matrix, mut right) = (Vec::new(), Vec::new());
    for s in lags(4 * RATES, 0.0).chain([longest]) {
        matrix.extend(rates.iter().map(|r| libm::exp(-r * s)));
        right.push(value(s) / largest);
    }
    let rows = right.len();
    let weights = least_squares(&matrix, rows, RATES, &right, 1e-14).x;
    // NOTE: weights far above the kernel would lose to rounding what they win by cancelling.
    if weights.iter().map(|w| w.abs()).sum::<f64>() > 1e3 {
        return None;
    }
    let close = |s: f64| {
        let sum: f64 = rates.iter().zip(&weights).map(|(r, w)| w * libm::exp(-r * s)).sum();
        (sum - value(s) / largest).abs() <= FITTED
    };
    let pairs = rates.iter().zip(&weights).map(|(&r, w)| (w * largest, r)).collect();
    lags(1999, 0.5).chain([0.0, longest]).all(close).then_some(Kernel::Exponentials(pairs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completely_monotone_kernels_are_fitted_and_others_refused() {
        for k in [|s: f64| 1.0 / (1.0 + s), |s: f64| libm::pow(1.0 + 3.0 * s, -1.5)] {
            assert!(matches!(fit(10.0, &k), Some(Kernel::Exponentials(_))));
        }
        // Singular at 0, and a jump of the slope.
        assert_eq!(fit(10.0, &|s| libm::pow(s, -0.5) * libm::exp(-s)), None);
        assert_eq!(fit(10.0, &|s| (1.0 - s).abs()), None);
    }
}
