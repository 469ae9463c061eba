//! Memory operators on given functions of time: `pfaff eval`.
//!
//! A right operator on $[t, b]$ is the left one of $u \mapsto f(b-u)$, so everything is a left operator on $[0, x]$:
//!
//! $$ J^\mu f = \frac{1}{\Gamma(\mu)}\int_0^x (x-u)^{\mu-1} f(u)\,du, \qquad {}^{C}D^\alpha f = J^{m-\alpha}
//! f^{(m)}, \qquad
//!    {}^{RL}D^\alpha f = {}^{C}D^\alpha f + \sum_{k<m} \frac{f^{(k)}(0)\,x^{k-\alpha}}{\Gamma(k+1-\alpha)} $$
//!
//! Powers, exponentials, sines and cosines have closed forms, with Mittag-Leffler functions; whatever else
//! there is goes by Gauss–Jacobi quadrature with splitting. A function with branches is integrated from one of its
//! breaks $b$ to the next; where it or a derivative below the order jumps, its derivative gains
//! $[f^{(k)}]_b\,(x-b)^{k-\alpha}/\Gamma(k+1-\alpha)$.

use pfaff_expr::special::{mittag_leffler, reciprocal_gamma};
use pfaff_expr::{Expr, Graph, Memory, Node, Role, number};
use pfaff_solver::{Kernel, gauss_jacobi};

use crate::analysis::nested_operator::operate_nested;
use crate::problem::break_points::Variable;
use crate::run::memory_operator::MemoryOperator;
use crate::run::volterra::kernel::{KernelSymbols, Term, terms};
use crate::run::volterra::small_lag::{LagSymbols, SmallLag};

/// Ends of the operators, and the time at which they are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    pub(crate) from: f64,
    pub(crate) to: Option<f64>,
    pub(crate) at: f64,
}

/// The function under an operator: an expression of one symbol, and what the others are.
struct Function<'a> {
    g: &'a Graph,
    expr: Expr,
    /// $u$
    symbol: Expr,
    value: &'a dyn Fn(Expr) -> f64,
}

/// The value of a memory operator.
///
/// # Errors
///
/// A sentence that says why there is none.
pub(crate) fn operate(
    g: &Graph,
    term: MemoryOperator,
    time: Expr,
    ends: Ends,
    value: &dyn Fn(Expr) -> f64,
) -> Result<f64, String> {
    let MemoryOperator { kind, operand, second } = term;
    if g.has_memory(operand) {
        return operate_nested(g, term, time, ends, value);
    }
    let right = matches!(kind, Memory::CaputoRight | Memory::RiemannLiouvilleRight);
    let real = |x: f64| {
        number::from_f64(x)
            .map(|x| g.number(x))
            .ok_or_else(|| format!("{x} cannot be an end of the interval"))
    };
    let u = g.symbol("elapsed", Role::Free);
    let (shifted, x) = if right {
        let Some(to) = ends.to else {
            return Err(format!("`{}` needs the end of its interval", kind.name()));
        };
        (g.sub(real(to)?, u), to - ends.at)
    } else {
        (g.add(real(ends.from)?, u), ends.at - ends.from)
    };
    if x < 0.0 {
        return Err("the point lies outside the interval of the operator".into());
    }
    let expr = g.simplify(g.substitute(&[operand], &[(time, shifted)])[0]);
    let f = Function { g, expr, symbol: u, value };
    let order = value_of(g, second, value);
    let result = match kind {
        Memory::Integral => f.fractional(order, x),
        Memory::Mean => f.fractional(1.0, x).map(|sum| sum / x),
        Memory::Kernel => f.kernel(second, time, ends.at, x),
        Memory::Caputo | Memory::CaputoRight => f.caputo(order, x),
        Memory::RiemannLiouville | Memory::RiemannLiouvilleRight => f.riemann(order, x),
    }?;
    if result.is_finite() { Ok(result) } else { Err(does_not_exist(kind)) }
}

pub(crate) fn does_not_exist(kind: Memory) -> String {
    format!("`{}` of this function has no finite value there", kind.name())
}

fn value_of(g: &Graph, e: Expr, value: &dyn Fn(Expr) -> f64) -> f64 {
    g.evaluate(&[e], value)[0]
}

/// A term with a closed form.
enum Shape {
    /// $c\,u^p$
    Power(f64, f64),
    /// $c\,e^{ru}$
    Exponential(f64, f64),
    /// $f'' = kf$ with $f(0)$, $f'(0)$
    Oscillation(f64, f64, f64),
    Other,
}

impl Shape {
    /// $J^\mu f$ in closed form, for negative $\mu$ too; none where there is no such form.
    fn integral(&self, mu: f64, x: f64) -> Result<Option<f64>, String> {
        Ok(match *self {
            Self::Power(c, p) if p > -1.0 => Some(c * power(p, -mu, x)),
            Self::Power(..) => {
                return Err("the function is not integrable at its start".into());
            }
            Self::Exponential(c, r) => {
                Some(c * libm::pow(x, mu) * mittag_leffler(1.0, 1.0 + mu, r * x))
            }
            Self::Oscillation(a, b, k) => {
                let z = k * x * x;
                let (even, odd) =
                    (mittag_leffler(2.0, 1.0 + mu, z), mittag_leffler(2.0, 2.0 + mu, z));
                Some(libm::pow(x, mu) * (a * even + b * x * odd))
            }
            Self::Other => None,
        })
    }
}

impl Function<'_> {
    fn at(&self, e: Expr, u: f64) -> f64 {
        let value = |s: Expr| if s == self.symbol { u } else { (self.value)(s) };
        self.g.evaluate(&[e], &value)[0]
    }

    fn with(&self, expr: Expr) -> Self {
        Self { expr, ..*self }
    }

    fn derivative(&self, times: usize) -> Self {
        let rate = |e, _| self.g.simplify(self.g.derivative(e, self.symbol));
        self.with((0..times).fold(self.expr, rate))
    }

    /// The terms of the sum that it is, with their signs.
    fn terms(&self) -> Vec<(f64, Expr)> {
        let mut pending = vec![(1.0, self.expr)];
        let mut found = Vec::new();
        while let Some((sign, e)) = pending.pop() {
            match self.g.node(e) {
                Node::Add(a, b) => pending.extend([(sign, b), (sign, a)]),
                Node::Sub(a, b) => pending.extend([(-sign, b), (sign, a)]),
                Node::Neg(a) => pending.push((-sign, a)),
                _ => found.push((sign, e)),
            }
        }
        found
    }

    fn shape(&self) -> Shape {
        let g = self.g;
        if !g.contains(self.expr, &[self.symbol]) {
            return Shape::Power(self.at(self.expr, 1.0), 0.0);
        }
        if g.has_branches(self.expr, &[self.symbol]) {
            return Shape::Other;
        }
        let slope = g.derivative(self.expr, self.symbol);
        let steady = |e: Expr| g.is_zero(g.derivative(e, self.symbol));
        let rate = g.div(slope, self.expr);
        let exponent = g.mul(self.symbol, rate);
        if steady(exponent) {
            return Shape::Power(self.at(self.expr, 1.0), whole(self.at(exponent, 1.0)));
        }
        if steady(rate) {
            return Shape::Exponential(self.at(self.expr, 0.0), self.at(rate, 1.0));
        }
        let second = g.derivative(slope, self.symbol);
        let stiffness = g.div(second, self.expr);
        if steady(stiffness) {
            let k = self.at(stiffness, 0.3);
            return Shape::Oscillation(self.at(self.expr, 0.0), self.at(slope, 0.0), k);
        }
        Shape::Other
    }

    /// $J^\mu f$
    fn fractional(&self, mu: f64, x: f64) -> Result<f64, String> {
        let mut total = 0.0;
        let mut rest = Vec::new();
        for (sign, e) in self.terms() {
            match self.with(e).shape().integral(mu, x)? {
                Some(value) => total += sign * value,
                None => rest.push(if sign < 0.0 { self.g.neg(e) } else { e }),
            }
        }
        if !rest.is_empty() {
            let f = self.with(self.g.sum(rest));
            let sum = weighted(mu, x, &f.cuts(x), &|u| f.at(f.expr, u))?;
            total += sum * reciprocal_gamma(mu);
        }
        Ok(total)
    }

    fn caputo(&self, alpha: f64, x: f64) -> Result<f64, String> {
        let m = alpha.ceil();
        let mut total = 0.0;
        let mut rest = Vec::new();
        for (sign, e) in self.terms() {
            match self.with(e).shape() {
                Shape::Power(c, p) => {
                    if p == p.floor() && (0.0..m).contains(&p) {
                        continue;
                    }
                    if p <= m - 1.0 {
                        return Err(format!(
                            "Caputo's derivative of order {alpha} does not exist: the derivative of order {m} of \
                             the power {p} is not integrable at the start"
                        ));
                    }
                    total += sign * c * power(p, alpha, x);
                }
                _ => rest.push(if sign < 0.0 { self.g.neg(e) } else { e }),
            }
        }
        if !rest.is_empty() {
            let f = self.with(self.g.sum(rest));
            total += f.jumps(alpha, x);
            total += f.derivative(m as usize).fractional(m - alpha, x)?;
        }
        Ok(total)
    }

    /// Where the function is not smooth between 0 and `x`.
    fn breaks(&self, x: f64) -> Vec<f64> {
        if !self.g.has_branches(self.expr, &[self.symbol]) {
            return Vec::new();
        }
        let value = |e: Expr, u: f64| self.at(e, u);
        let (from, to) = (0.0, x);
        let variable =
            Variable { g: self.g, symbol: self.symbol, others: &[], value: &value, from, to };
        variable.breaks(&[self.expr])
    }

    /// Where panels of an integral between 0 and `x` are to end.
    fn cuts(&self, x: f64) -> Vec<f64> {
        let value = |e: Expr, u: f64| self.at(e, u);
        let (from, to) = (0.0, x);
        Variable { g: self.g, symbol: self.symbol, others: &[], value: &value, from, to }
            .cuts(self.expr)
    }

    /// What jumps of the function and its derivatives below the order contribute to a derivative.
    fn jumps(&self, alpha: f64, x: f64) -> f64 {
        let mut total = 0.0;
        for b in self.breaks(x) {
            for k in 0..alpha.ceil() as usize {
                let rate = self.derivative(k);
                let beside = 4.0 * f64::EPSILON * b;
                let (before, after) =
                    (rate.at(rate.expr, b - beside), rate.at(rate.expr, b + beside));
                // NOTE: a root that begins there has risen by the root of the rounding.
                if (after - before).abs() > 1e-7 * (before.abs() + after.abs()) {
                    let e = k as f64 - alpha;
                    total += (after - before) * libm::pow(x - b, e) * reciprocal_gamma(e + 1.0);
                }
            }
        }
        total
    }

    fn riemann(&self, alpha: f64, x: f64) -> Result<f64, String> {
        let m = alpha.ceil() as usize;
        let mut total = 0.0;
        let mut rest = Vec::new();
        for (sign, e) in self.terms() {
            // A Riemann–Liouville derivative is the integral of a negative order.
            match self.with(e).shape().integral(-alpha, x)? {
                Some(value) => total += sign * value,
                None => rest.push(if sign < 0.0 { self.g.neg(e) } else { e }),
            }
        }
        if !rest.is_empty() {
            let f = self.with(self.g.sum(rest));
            total += f.caputo(alpha, x)?;
            for k in 0..m {
                let rate = f.derivative(k);
                // At a break the side that follows counts.
                let branched = self.g.has_branches(f.expr, &[self.symbol]);
                let start = rate.at(rate.expr, if branched { 1e-18 * x } else { 0.0 });
                if !start.is_finite() {
                    return Err(
                        "the function has no derivatives at the start, and it is not a power there"
                            .into(),
                    );
                }
                let e = k as f64 - alpha;
                total += start * libm::pow(x, e) * reciprocal_gamma(e + 1.0);
            }
        }
        Ok(total)
    }

    /// $\int_0^x k(x-u)\,f(u)\,du$
    fn kernel(&self, kernel: Expr, time: Expr, at: f64, x: f64) -> Result<f64, String> {
        let g = self.g;
        let lag = g.symbol("s", Role::Free);
        let value = |e: Expr, s: f64| {
            let at = |y: Expr| {
                if y == lag {
                    s
                } else if y == time {
                    at
                } else {
                    (self.value)(y)
                }
            };
            g.evaluate(&[e], &at)[0]
        };
        let terms = terms(g, kernel, KernelSymbols { lag, time }, &value);
        let known =
            |t: &Term| matches!(t, Term::Known(_, Kernel::Power(_) | Kernel::Exponentials(_)));
        if !terms.iter().all(known) {
            // Both ends may be singular: each half has its own at 0.
            let h = 0.5 * x;
            let symbols = LagSymbols { lag, time, parameter: self.value };
            let exact = SmallLag::new(g, kernel, &symbols);
            let near = |s: f64| {
                let k = exact.as_ref().map_or_else(|| value(kernel, s), |k| k.value(at, s));
                k * self.at(self.expr, x - s)
            };
            let far = |u: f64| value(kernel, x - u) * self.at(self.expr, u);
            let (from, to) = (0.0, x);
            let lags = Variable { g, symbol: lag, others: &[], value: &value, from, to };
            let (lags, own) = (lags.cuts(kernel), self.cuts(x));
            let both = |a: &[f64], b: &[f64]| -> Vec<f64> {
                a.iter().copied().chain(b.iter().map(|b| x - b)).collect()
            };
            return Ok(weighted(1.0, h, &both(&lags, &own), &near)?
                + weighted(1.0, h, &both(&own, &lags), &far)?);
        }
        let mut total = 0.0;
        for term in terms {
            total += match term {
                Term::Known(factor, Kernel::Power(mu)) => factor * self.fractional(mu, x)?,
                Term::Known(factor, Kernel::Exponentials(pairs)) => {
                    let k =
                        |s: f64| pairs.iter().map(|(w, r)| w * libm::exp(-r * s)).sum::<f64>();
                    factor
                        * weighted(1.0, x, &self.cuts(x), &|u| {
                            k(x - u) * self.at(self.expr, u)
                        })?
                }
                Term::Known(..) | Term::General(_) => f64::NAN,
            };
        }
        Ok(total)
    }
}

/// An exponent without what rounding did to a whole number: powers below the order of a derivative vanish,
/// and only they.
fn whole(p: f64) -> f64 {
    let nearest = p.round();
    if (p - nearest).abs() <= 1e-13 * (1.0 + p.abs()) { nearest } else { p }
}

/// $D^\alpha u^p = \Gamma(p+1)/\Gamma(p+1-\alpha)\,x^{p-\alpha}$
fn power(p: f64, alpha: f64, x: f64) -> f64 {
    libm::tgamma(p + 1.0) * reciprocal_gamma(p + 1.0 - alpha) * libm::pow(x, p - alpha)
}

/// $\int_0^x (x-u)^{\mu-1} f(u)\,du$ by rules of 20 points on panels that are halved until both agree, from one of
/// the `cuts` to the next.
pub(crate) fn weighted(
    mu: f64,
    x: f64,
    cuts: &[f64],
    f: &dyn Fn(f64) -> f64,
) -> Result<f64, String> {
    const POINTS: usize = 20;
    // Panels of an algebraic singularity halve towards it; 2^-1000 of the whole is the smallest of a double.
    const DEEPEST: u32 = 1000;
    if x == 0.0 {
        return Ok(0.0);
    }
    let plain = gauss_jacobi(POINTS, 1.0);
    let end = gauss_jacobi(POINTS, mu);
    let panel = |l: f64, r: f64| -> (f64, f64) {
        let h = r - l;
        let (mut sum, mut size) = (0.0, 0.0);
        let last = r == x;
        let rule = if last { &end } else { &plain };
        for (y, w) in rule.nodes.iter().zip(&rule.weights) {
            let u = l + h * y;
            let weight = if last { libm::pow(h, mu) } else { h * libm::pow(x - u, mu - 1.0) };
            let share = w * weight * f(u);
            sum += share;
            size += share.abs();
        }
        (sum, size)
    };
    let mut ends: Vec<f64> = cuts.iter().copied().filter(|c| *c > 0.0 && *c < x).collect();
    ends.extend([0.0, x]);
    ends.sort_by(f64::total_cmp);
    ends.dedup();
    let mut pending: Vec<(f64, f64, (f64, f64), u32)> =
        ends.windows(2).map(|e| (e[0], e[1], panel(e[0], e[1]), 0)).collect();
    let whole: f64 = pending.iter().map(|p| p.2.1).sum();
    let (mut total, mut lost, mut scale, mut count) = (0.0_f64, 0.0_f64, whole, 0_usize);
    while let Some((l, r, (sum, size), depth)) = pending.pop() {
        count += 1;
        if count > 20_000 {
            return Err(
                "the integral does not converge: the function varies too fast, or is not integrable"
                    .into(),
            );
        }
        let middle = 0.5 * (l + r);
        let (left, right) = (panel(l, middle), panel(middle, r));
        let halves = left.0 + right.0;
        scale = scale.max(left.1 + right.1);
        // A function that varies over a short panel feels the rounding of its argument.
        let rounding = 4.0 * f64::EPSILON * r / (r - l) * size;
        let agree = (halves - sum).abs() <= (1e-15 * scale.max(size)).max(rounding);
        if agree || depth >= DEEPEST {
            if !agree && halves.abs() > 1e-12 * scale {
                return Err("the integral does not converge at its start".into());
            }
            // Neumaier's sum.
            let next = total + halves;
            lost += if total.abs() >= halves.abs() {
                (total - next) + halves
            } else {
                (halves - next) + total
            };
            total = next;
        } else {
            pending.push((l, middle, left, depth + 1));
            pending.push((middle, r, right, depth + 1));
        }
    }
    Ok(total + lost)
}
