//! Kernels of `memory(k, g)`: powers and exponentials are recognised, sums of them term by term; whatever else there is stays general.
//!
//! $k$ is a power $c\,s^p$ if $s\,k'/k$ does not depend on $s$, and an exponential $c\,e^{-rs}$ if $k'/k$ does not.

use pfaff_expr::{Expr, Graph, Node};
use pfaff_solver::Kernel;

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
    if g.contains(k, &[time]) {
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
    Term::General(k)
}
