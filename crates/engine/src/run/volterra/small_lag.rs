//! Kernels at small lags, with all their digits.
//!
//! $\log(t/(t-s))$ is $s/t$ to first order, of which doubles keep nothing once $s < 10^{-16}\,t$. So every part of a
//! kernel is carried as $a + \delta$, with its value $a$ at $s = 0$ (0 where that is infinite) and the rest $\delta$:
//!
//! $$ \frac{a+\alpha}{b+\beta} = \frac ab + \frac{\alpha - (a/b)\,\beta}{b+\beta}, \qquad
//!    \log(a+\alpha) = \log a + \log(1 + \alpha/a), \qquad
//!    (a+\alpha)^p = a^p + a^p\,(e^{p\log(1+\alpha/a)} - 1), \ \dots $$

use pfaff_expr::{Expr, Graph, Node, Unary};

/// A kernel as a list of operations on pairs $(a, \delta)$.
#[derive(Clone, Debug)]
pub(crate) struct SmallLag {
    operations: Vec<Operation>,
}

/// One operation on the results of earlier ones.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Constant(f64),
    Time,
    Lag,
    Negative(usize),
    Sum(usize, usize),
    Difference(usize, usize),
    Product(usize, usize),
    Quotient(usize, usize),
    Power(usize, usize),
    Function(Unary, usize),
}

/// $a$ and $\delta$
type Pair = [f64; 2];

/// What a kernel is a function of, and the values of parameters.
pub(crate) struct LagSymbols<'a> {
    pub(crate) lag: Expr,
    pub(crate) time: Expr,
    pub(crate) parameter: &'a dyn Fn(Expr) -> f64,
}

impl SmallLag {
    /// `None` if the kernel has branches or functions of several arguments.
    pub(crate) fn new(g: &Graph, kernel: Expr, symbols: &LagSymbols<'_>) -> Option<Self> {
        let live = g.live(&[kernel]);
        let place = |e: Expr| live.binary_search(&e).ok();
        let one = |&e: &Expr| -> Option<Operation> {
            Some(match g.node(e) {
                Node::Number(_) | Node::Pi => {
                    Operation::Constant(g.evaluate(&[e], &|_| 0.0)[0])
                }
                Node::Symbol(_) if e == symbols.lag => Operation::Lag,
                Node::Symbol(_) if e == symbols.time => Operation::Time,
                Node::Symbol(_) => Operation::Constant((symbols.parameter)(e)),
                Node::Neg(a) => Operation::Negative(place(a)?),
                Node::Add(a, b) => Operation::Sum(place(a)?, place(b)?),
                Node::Sub(a, b) => Operation::Difference(place(a)?, place(b)?),
                Node::Mul(a, b) => Operation::Product(place(a)?, place(b)?),
                Node::Div(a, b) => Operation::Quotient(place(a)?, place(b)?),
                Node::Pow(a, b) => Operation::Power(place(a)?, place(b)?),
                Node::Unary(f, a) => Operation::Function(f, place(a)?),
                Node::Binary(..)
                | Node::MittagLeffler(..)
                | Node::If(..)
                | Node::Compare(..)
                | Node::Not(_)
                | Node::And(..)
                | Node::Or(..)
                | Node::Table { .. }
                | Node::List(..)
                | Node::Family { .. }
                | Node::Memory(..) => return None,
            })
        };
        let operations: Option<Vec<Operation>> = live.iter().map(one).collect();
        operations.map(|operations| Self { operations })
    }

    /// $k(t, s)$
    pub(crate) fn value(&self, t: f64, lag: f64) -> f64 {
        let mut pairs: Vec<Pair> = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            let pair = match *operation {
                Operation::Constant(x) => [x, 0.0],
                Operation::Time => [t, 0.0],
                Operation::Lag => [0.0, lag],
                Operation::Negative(x) => pairs[x].map(|x| -x),
                Operation::Sum(x, y) => [pairs[x][0] + pairs[y][0], pairs[x][1] + pairs[y][1]],
                Operation::Difference(x, y) => {
                    [pairs[x][0] - pairs[y][0], pairs[x][1] - pairs[y][1]]
                }
                Operation::Product(x, y) => {
                    let ([a, α], [b, β]) = (pairs[x], pairs[y]);
                    [a * b, a * β + α * b + α * β]
                }
                Operation::Quotient(x, y) => quotient(pairs[x], pairs[y]),
                Operation::Power(x, y) => power(pairs[x], pairs[y]),
                Operation::Function(f, x) => function(f, pairs[x]),
            };
            pairs.push(pair);
        }
        pairs.last().map_or(f64::NAN, |[a, α]| a + α)
    }
}

fn quotient([a, α]: Pair, [b, β]: Pair) -> Pair {
    if b == 0.0 {
        return [0.0, (a + α) / β];
    }
    let ratio = a / b;
    [ratio, (α - ratio * β) / (b + β)]
}

fn power([a, α]: Pair, [p, π]: Pair) -> Pair {
    if a == 0.0 {
        return [0.0, libm::pow(α, p + π)];
    }
    let first = libm::pow(a, p);
    if π == 0.0 && a > 0.0 && a + α > 0.0 {
        return [first, first * libm::expm1(p * libm::log1p(α / a))];
    }
    [first, libm::pow(a + α, p + π) - first]
}

fn function(f: Unary, [a, α]: Pair) -> Pair {
    match f {
        Unary::Log if a > 0.0 => [libm::log(a), libm::log1p(α / a)],
        Unary::Exp => [libm::exp(a), libm::exp(a) * libm::expm1(α)],
        Unary::Sqrt if a > 0.0 => {
            let root = libm::sqrt(a);
            [root, α / (root + libm::sqrt(a + α))]
        }
        Unary::Sin => [libm::sin(a), 2.0 * libm::cos(a + 0.5 * α) * libm::sin(0.5 * α)],
        Unary::Cos => [libm::cos(a), -2.0 * libm::sin(a + 0.5 * α) * libm::sin(0.5 * α)],
        _ => {
            let first = f.value(a);
            if a == 0.0 || !first.is_finite() {
                // NOTE: functions of a small argument keep its digits.
                [0.0, f.value(a + α)]
            } else {
                [first, f.value(a + α) - first]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use pfaff_expr::Role;

    use super::*;

    /// $\log(t/(t-s))^{-1/2}/(t-s) = (s/t)^{-1/2}(1 + s/(4t))\,/t\,(1 + s/t) + \dots$
    #[test]
    fn logarithms_keep_their_digits() {
        let g = Graph::new();
        let (t, s) = (g.symbol("t", Role::Time), g.symbol("s", Role::Free));
        let past = g.sub(t, s);
        let symbols = LagSymbols { lag: s, time: t, parameter: &|_| f64::NAN };
        let half = g.neg(g.fraction(1, 2));
        let log = |e: Expr| g.unary(Unary::Log, e);
        for log in [log(g.div(t, past)), g.sub(log(t), log(past))] {
            let kernel = SmallLag::new(&g, g.div(g.pow(log, half), past), &symbols);
            let kernel = kernel.expect("the kernel has no branches");
            for lag in [1e-30, 1e-18, 1e-9] {
                let ratio: f64 = lag / 3.0;
                let exact = (1.0 - ratio / 4.0) * (1.0 + ratio) / (ratio.sqrt() * 3.0);
                // The next terms are below 1e-18; each operation rounds once.
                let found = kernel.value(3.0, lag);
                assert!((found / exact - 1.0).abs() < 1e-15, "{lag} {found} {exact}");
            }
        }
    }
}
