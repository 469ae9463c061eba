//! Antiderivatives $\int e\,dq$ by patterns, for expressions whose integral is elementary in the usual ways.
//!
//! $e$ is expanded into products of powers $\prod b_i^{k_i}$. A product is integrated if it is $f(u)\,u'$ up
//! to a constant, a polynomial times sine, cosine or exponential of linear forms,
//! a polynomial times one power of a linear form, or a rational function with linear factors or one quadratic
//! factor below. Products of sines and cosines become sums first.
//! Nothing here is proved: who asks differentiates the answer and compares.

use pfaff_expr::{Expr, Graph, Node, Unary};

/// Terms that a product may have.
const TERMS: usize = 256;
/// How deep sums and products may be nested.
const DEPTH: usize = 200;
/// How often a rule may be applied to what another rule left: degrees of polynomials, products of sines.
const ROUNDS: usize = 16;
/// The largest degree of a polynomial factor.
const DEGREE: usize = 12;

/// $\int e\,dq$, or `None` where no pattern fits.
pub(crate) fn antiderivative(g: &Graph, e: Expr, q: Expr) -> Option<Expr> {
    Antiderivative { g, q }.of(e, ROUNDS)
}

/// A power $b^k$ with a constant exponent.
type Power = (Expr, Expr);

/// Everything is integrated over `q`.
struct Antiderivative<'a> {
    g: &'a Graph,
    q: Expr,
}

impl Antiderivative<'_> {
    fn of(&self, e: Expr, rounds: usize) -> Option<Expr> {
        let rounds = rounds.checked_sub(1)?;
        let mut sum = self.g.zero();
        for term in self.terms(e, DEPTH)? {
            sum = self.g.add(sum, self.of_product(&term, rounds)?);
        }
        Some(sum)
    }

    fn varies(&self, e: Expr) -> bool {
        self.g.contains(e, &[self.q])
    }

    /// An expression as a sum of products of powers, expanded as far as `q` occurs.
    fn terms(&self, e: Expr, depth: usize) -> Option<Vec<Vec<Power>>> {
        let g = self.g;
        let deeper = depth.checked_sub(1)?;
        let whole = || vec![vec![(e, g.one())]];
        if !self.varies(e) {
            return Some(whole());
        }
        let negative = |mut terms: Vec<Vec<Power>>| {
            terms.iter_mut().for_each(|t| t.push((g.integer(-1), g.one())));
            terms
        };
        let expanded = match g.node(e) {
            Node::Neg(a) => negative(self.terms(a, deeper)?),
            Node::Add(a, b) => [self.terms(a, deeper)?, self.terms(b, deeper)?].concat(),
            Node::Sub(a, b) => {
                [self.terms(a, deeper)?, negative(self.terms(b, deeper)?)].concat()
            }
            Node::Mul(a, b) => products(&self.terms(a, deeper)?, &self.terms(b, deeper)?)?,
            Node::Div(a, b) => {
                let below = self.powers(b, g.integer(-1), deeper)?;
                products(&self.terms(a, deeper)?, &[below])?
            }
            Node::Pow(a, k) => {
                let sum = matches!(g.node(a), Node::Add(..) | Node::Sub(..) | Node::Neg(_));
                match g.double_of(k) {
                    Some(k) if sum && (2.0..=8.0).contains(&k) && k.fract() == 0.0 => {
                        let base = self.terms(a, deeper)?;
                        let mut all = base.clone();
                        for _ in 1..k as usize {
                            all = products(&all, &base)?;
                        }
                        all
                    }
                    _ => vec![self.powers(e, g.one(), deeper)?],
                }
            }
            Node::Unary(Unary::Sqrt, _) => vec![self.powers(e, g.one(), deeper)?],
            _ => whole(),
        };
        Some(expanded)
    }

    /// $e^k$ as a product of powers.
    fn powers(&self, e: Expr, k: Expr, depth: usize) -> Option<Vec<Power>> {
        let g = self.g;
        let deeper = depth.checked_sub(1)?;
        let both = |a: Expr, ka: Expr, b: Expr, kb: Expr| {
            Some([self.powers(a, ka, deeper)?, self.powers(b, kb, deeper)?].concat())
        };
        match g.node(e) {
            Node::Mul(a, b) => both(a, k, b, k),
            Node::Div(a, b) => both(a, k, b, g.neg(k)),
            Node::Pow(a, n) if !self.varies(n) => {
                self.powers(a, g.simplify(g.mul(n, k)), deeper)
            }
            Node::Unary(Unary::Sqrt, a) => {
                self.powers(a, g.simplify(g.mul(g.fraction(1, 2), k)), deeper)
            }
            _ => Some(vec![(e, k)]),
        }
    }

    /// $\int \prod b_i^{k_i}\,dq$
    fn of_product(&self, factors: &[Power], rounds: usize) -> Option<Expr> {
        let g = self.g;
        let mut scale = g.one();
        let mut varying: Vec<Power> = Vec::new();
        let mut growth: Option<Expr> = None;
        for &(b, k) in factors {
            match g.node(b) {
                _ if !self.varies(b) => scale = g.mul(scale, g.pow(b, k)),
                Node::Unary(Unary::Exp, u) => {
                    let u = g.mul(k, u);
                    growth = Some(growth.map_or(u, |sum| g.add(sum, u)));
                }
                _ => match varying.iter_mut().find(|(known, _)| *known == b) {
                    Some((_, sum)) => *sum = g.simplify(g.add(*sum, k)),
                    None => varying.push((b, k)),
                },
            }
        }
        varying.retain(|&(_, k)| k != g.zero());
        if let Some(u) = growth.map(|u| g.simplify(u)) {
            varying.push((g.unary(Unary::Exp, u), g.one()));
        }
        let found = self
            .by_substitution(&varying)
            .or_else(|| self.of_polynomial_and_wave(&varying, rounds))
            .or_else(|| self.of_rational(&varying, rounds))
            .or_else(|| self.of_waves(&varying, rounds))?;
        Some(g.mul(scale, found))
    }

    fn product(&self, factors: &[Power]) -> Expr {
        let powers = factors.iter().map(|&(b, k)| self.g.pow(b, k));
        powers.fold(self.g.one(), |a, b| self.g.mul(a, b))
    }

    /// $\int f(u)\,u'\,dq = F(u)$, the rest being $u'$ times a constant.
    fn by_substitution(&self, factors: &[Power]) -> Option<Expr> {
        let g = self.g;
        (0..factors.len()).find_map(|i| {
            let (b, k) = factors[i];
            let mut others = factors.to_vec();
            others.remove(i);
            let rest = self.product(&others);
            let inner =
                g.node(b).operands().next().filter(|_| matches!(g.node(b), Node::Unary(..)));
            let inside = inner.and_then(|u| Some((u, of_function(g, b, k)?)));
            [Some((b, of_power(g, b, k))), inside].into_iter().flatten().find_map(
                |(u, found)| {
                    let slope = g.simplify(g.derivative(u, self.q));
                    if g.is_zero(slope) {
                        return None;
                    }
                    Some(g.mul(self.constant(g.div(rest, slope))?, found))
                },
            )
        })
    }

    /// The same value without `q`, where it does not depend on it.
    fn constant(&self, e: Expr) -> Option<Expr> {
        let g = self.g;
        let e = g.simplify(e);
        g.is_zero(g.derivative(e, self.q))
            .then(|| g.simplify(g.substitute(&[e], &[(self.q, g.one())])[0]))
    }

    /// $P\,e^{w}\sin z$ and its kin by parts: $\int P f = P F - \int P' F$.
    fn of_polynomial_and_wave(&self, factors: &[Power], rounds: usize) -> Option<Expr> {
        let g = self.g;
        let (waves, others): (Vec<Power>, Vec<Power>) =
            factors.iter().copied().partition(|&(b, k)| k == g.one() && self.is_wave(b));
        let slope = |u: Expr| self.constant(g.derivative(u, self.q));
        let part = |i: usize| match g.node(waves[i].0) {
            Node::Unary(f, u) => Some((f, u, slope(u)?)),
            _ => None,
        };
        let turn = |f: Unary, u: Expr| match f {
            Unary::Sin => (g.sin(u), g.cos(u)),
            _ => (g.cos(u), g.neg(g.sin(u))),
        };
        let wave = match waves.len() {
            1 => {
                let (_, _, a) = part(0)?;
                g.div(of_function(g, waves[0].0, g.one())?, a)
            }
            2 => {
                let (one, two) = (part(0)?, part(1)?);
                let (growth, turning) = match (one.0, two.0) {
                    (Unary::Exp, Unary::Sin | Unary::Cos) => (one, two),
                    (Unary::Sin | Unary::Cos, Unary::Exp) => (two, one),
                    _ => return None,
                };
                // ∫ e^w s = e^w (a s − s')/(a² + b²), with s' by the chain rule.
                let (a, b) = (growth.2, turning.2);
                let (s, quarter) = turn(turning.0, turning.1);
                let above = g.sub(g.mul(a, s), g.mul(b, quarter));
                let below = g.add(g.mul(a, a), g.mul(b, b));
                g.div(g.mul(g.unary(Unary::Exp, growth.1), above), below)
            }
            _ => return None,
        };
        let p = self.product(&others);
        self.degree(p)?;
        let rest = g.simplify(g.derivative(p, self.q));
        let less = self.of(g.mul(rest, wave), rounds)?;
        Some(g.sub(g.mul(p, wave), less))
    }

    /// Sine, cosine or exponential of a linear form.
    fn is_wave(&self, b: Expr) -> bool {
        match self.g.node(b) {
            Node::Unary(
                Unary::Sin | Unary::Cos | Unary::Exp | Unary::Sinh | Unary::Cosh,
                u,
            ) => self.degree(u) == Some(1),
            _ => false,
        }
    }

    /// The degree of a polynomial in `q`; `None` for anything else.
    fn degree(&self, e: Expr) -> Option<usize> {
        let mut rest = e;
        for degree in 0..=DEGREE {
            rest = self.g.simplify(self.g.derivative(rest, self.q));
            if self.g.is_zero(rest) {
                return Some(degree);
            }
        }
        None
    }

    /// A polynomial times one power of a linear form; linear factors below; a linear form over a quadratic one.
    fn of_rational(&self, factors: &[Power], rounds: usize) -> Option<Expr> {
        let g = self.g;
        let whole = |k: Expr| g.double_of(k).is_some_and(|k| k >= 1.0 && k.fract() == 0.0);
        let (above, below): (Vec<Power>, Vec<Power>) =
            factors.iter().copied().partition(|&(_, k)| whole(k));
        let p = self.product(&above);
        self.degree(p)?;
        match below.as_slice() {
            [] => self.in_powers_of(p, self.q, g.zero()),
            &[(w, k)] => match self.degree(w)? {
                1 => self.in_powers_of(p, w, k),
                2 if k == g.integer(-1) => self.over_quadratic(p, w),
                _ => None,
            },
            &[(u, k), (w, l), ..] => {
                // a w − b u = c, so 1/(u w) = (a/u − b/w)/c for linear forms with slopes a and b.
                let whole = |k: Expr| g.double_of(k).is_some_and(|k| k.fract() == 0.0);
                if !whole(k) || !whole(l) {
                    return None;
                }
                let slopes = [u, w].map(|e| self.constant(g.derivative(e, self.q)));
                let [a, b] = [slopes[0]?, slopes[1]?];
                let c = self.constant(g.sub(g.mul(a, w), g.mul(b, u)))?;
                if g.is_zero(c) {
                    return None;
                }
                let part = |slope: Expr, up: Expr| {
                    // The factor `up` is divided out by raising its exponent.
                    let raised: Vec<Power> = factors
                        .iter()
                        .map(|&(e, k)| {
                            (e, if e == up { g.simplify(g.add(k, g.one())) } else { k })
                        })
                        .filter(|&(_, k)| k != g.zero())
                        .collect();
                    Some(g.mul(g.div(slope, c), self.of_product(&raised, rounds)?))
                };
                Some(g.sub(part(a, w)?, part(b, u)?))
            }
        }
    }

    /// $\int P\,w^r\,dq$ with $P = \sum_k P^{(k)}(q_0)\,(w/a)^k/k!$ and $w = a(q - q_0)$.
    fn in_powers_of(&self, p: Expr, w: Expr, r: Expr) -> Option<Expr> {
        let g = self.g;
        let a = self.constant(g.derivative(w, self.q))?;
        let origin = g.substitute(&[w], &[(self.q, g.zero())])[0];
        let root = g.simplify(g.neg(g.div(origin, a)));
        let (mut rest, mut factor, mut sum) = (p, g.div(g.one(), a), g.zero());
        for k in 0..=DEGREE {
            let coefficient = g.simplify(g.substitute(&[rest], &[(self.q, root)])[0]);
            let power = of_power(g, w, g.simplify(g.add(r, g.integer(k as i64))));
            sum = g.add(sum, g.mul(g.mul(coefficient, factor), power));
            rest = g.simplify(g.derivative(rest, self.q));
            if g.is_zero(rest) {
                return Some(sum);
            }
            factor = g.div(factor, g.mul(a, g.integer(k as i64 + 1)));
        }
        None
    }

    /// $\int (\alpha w' + \beta)/w\,dq$ for quadratic $w$ with discriminant of known sign.
    fn over_quadratic(&self, p: Expr, w: Expr) -> Option<Expr> {
        let g = self.g;
        let slope = g.derivative(w, self.q);
        let bend = self.constant(g.derivative(slope, self.q))?;
        let α = self.constant(g.div(g.derivative(p, self.q), bend))?;
        let β = self.constant(g.sub(p, g.mul(α, slope)))?;
        let below =
            self.constant(g.sub(g.mul(g.integer(2), g.mul(bend, w)), g.mul(slope, slope)))?;
        let log = |e: Expr| g.unary(Unary::Log, e);
        let rest = match g.double_of(below)? {
            d if d > 0.0 => {
                let root = g.sqrt(below);
                let angle = g.unary(Unary::Atan, g.div(slope, root));
                g.div(g.mul(g.integer(2), angle), root)
            }
            d if d < 0.0 => {
                let root = g.sqrt(g.neg(below));
                g.div(log(g.div(g.sub(slope, root), g.add(slope, root))), root)
            }
            _ => g.div(g.integer(-2), slope),
        };
        Some(g.add(g.mul(α, log(w)), g.mul(β, rest)))
    }

    /// The first two of several sines and cosines as a sum: $\sin u\sin w = \tfrac12(\cos(u-w) - \cos(u+w))$.
    fn of_waves(&self, factors: &[Power], rounds: usize) -> Option<Expr> {
        let g = self.g;
        let mut waves = Vec::new();
        let mut others = Vec::new();
        for &(b, k) in factors {
            let count = g.double_of(k).filter(|k| k.fract() == 0.0 && (1.0..=8.0).contains(k));
            match (g.node(b), count) {
                (Node::Unary(f @ (Unary::Sin | Unary::Cos), u), Some(count)) => {
                    waves.extend(std::iter::repeat_n((f, u), count as usize));
                }
                _ => others.push((b, k)),
            }
        }
        let (&(f, u), &(h, w)) = (waves.first()?, waves.get(1)?);
        let (less, more) = (g.simplify(g.sub(u, w)), g.simplify(g.add(u, w)));
        let sum = match (f, h) {
            (Unary::Sin, Unary::Sin) => g.sub(g.cos(less), g.cos(more)),
            (Unary::Cos, Unary::Cos) => g.add(g.cos(less), g.cos(more)),
            (Unary::Sin, _) => g.add(g.sin(more), g.sin(less)),
            _ => g.sub(g.sin(more), g.sin(less)),
        };
        let left = waves[2..].iter().map(|&(f, u)| g.unary(f, u));
        let left = left.fold(self.product(&others), |a, b| g.mul(a, b));
        self.of(g.mul(g.mul(g.fraction(1, 2), left), sum), rounds)
    }
}

fn products(a: &[Vec<Power>], b: &[Vec<Power>]) -> Option<Vec<Vec<Power>>> {
    (a.len() * b.len() <= TERMS).then(|| {
        a.iter().flat_map(|x| b.iter().map(move |y| [x.as_slice(), y].concat())).collect()
    })
}

/// $\int u^k\,du$
fn of_power(g: &Graph, u: Expr, k: Expr) -> Expr {
    if k == g.integer(-1) {
        return g.unary(Unary::Log, u);
    }
    let up = g.simplify(g.add(k, g.one()));
    g.div(g.pow(u, up), up)
}

/// $\int f(u)^k\,du$ for a function that has an elementary one.
fn of_function(g: &Graph, f: Expr, k: Expr) -> Option<Expr> {
    let Node::Unary(function, u) = g.node(f) else { return None };
    let log = |e: Expr| g.unary(Unary::Log, e);
    if k == g.integer(-2) {
        return match function {
            Unary::Cos => Some(g.div(g.sin(u), f)),
            Unary::Sin => Some(g.neg(g.div(g.cos(u), f))),
            _ => None,
        };
    }
    if k != g.one() {
        return None;
    }
    Some(match function {
        Unary::Sin => g.neg(g.cos(u)),
        Unary::Cos => g.sin(u),
        Unary::Tan => g.neg(log(g.cos(u))),
        Unary::Exp => f,
        Unary::Sinh => g.unary(Unary::Cosh, u),
        Unary::Cosh => g.unary(Unary::Sinh, u),
        Unary::Tanh => log(g.unary(Unary::Cosh, u)),
        Unary::Log => g.sub(g.mul(u, f), u),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    /// Sums, products and functions of `q` and a parameter, as they come in forces.
    fn integrands(g: &Graph, q: Expr, a: Expr) -> Vec<(&'static str, Expr)> {
        let n = |k: i64| g.integer(k);
        let f = |u: Unary, e: Expr| g.unary(u, e);
        let linear = g.add(g.mul(a, q), n(2));
        let other = g.sub(n(5), q);
        let quadratic = |c: i64| g.add(g.mul(q, q), g.add(q, n(c)));
        let pow = |e: Expr, k: Expr| g.pow(e, k);
        let exp = |e: Expr| f(Unary::Exp, e);
        vec![
            ("q^3 - 2q + 7", g.add(g.sub(pow(q, n(3)), g.mul(n(2), q)), n(7))),
            ("a", a),
            ("1/q", g.div(n(1), q)),
            ("(q + a)^4", pow(g.add(q, a), n(4))),
            ("sqrt(2q + 3)", g.sqrt(g.add(g.mul(n(2), q), n(3)))),
            ("q sqrt(q + 1)", g.mul(q, g.sqrt(g.add(q, n(1))))),
            ("q^3 (aq + 2)^(1/3)", g.mul(pow(q, n(3)), pow(linear, g.fraction(1, 3)))),
            ("q^2/(aq + 2)^2", g.div(pow(q, n(2)), pow(linear, n(2)))),
            ("q^2/(aq + 2)", g.div(pow(q, n(2)), linear)),
            ("sin(q)", g.sin(q)),
            ("cos(aq + 2)", g.cos(linear)),
            ("tan(q)", f(Unary::Tan, q)),
            ("tan(2q + a)", f(Unary::Tan, g.add(g.mul(n(2), q), a))),
            ("sinh(aq)", f(Unary::Sinh, g.mul(a, q))),
            ("cosh(aq)", f(Unary::Cosh, g.mul(a, q))),
            ("tanh(q)", f(Unary::Tanh, q)),
            ("log(aq + 2)", f(Unary::Log, linear)),
            ("exp(aq)", exp(g.mul(a, q))),
            ("q exp(-q)", g.mul(q, exp(g.neg(q)))),
            ("q exp(q^2)", g.mul(q, exp(g.mul(q, q)))),
            ("exp(q) exp(-q)", g.mul(exp(q), exp(g.neg(q)))),
            ("q^2 sin(3q)", g.mul(pow(q, n(2)), g.sin(g.mul(n(3), q)))),
            ("q cosh(2q)", g.mul(q, f(Unary::Cosh, g.mul(n(2), q)))),
            ("exp(2q) sin(3q)", g.mul(exp(g.mul(n(2), q)), g.sin(g.mul(n(3), q)))),
            ("cos(3q) exp(-q)", g.mul(g.cos(g.mul(n(3), q)), exp(g.neg(q)))),
            ("q exp(q) cos(q)", g.mul(q, g.mul(exp(q), g.cos(q)))),
            ("sin(q)^2", pow(g.sin(q), n(2))),
            ("cos(q)^4", pow(g.cos(q), n(4))),
            ("sin(q) sin(3q)", g.mul(g.sin(q), g.sin(g.mul(n(3), q)))),
            ("cos(2q) cos(q)", g.mul(g.cos(g.mul(n(2), q)), g.cos(q))),
            ("sin(2q) cos(q)", g.mul(g.sin(g.mul(n(2), q)), g.cos(q))),
            ("cos(2q) sin(q)", g.mul(g.cos(g.mul(n(2), q)), g.sin(q))),
            ("q sin(q) cos(2q)", g.mul(q, g.mul(g.sin(q), g.cos(g.mul(n(2), q))))),
            ("sin(q)^3 cos(q)^2", g.mul(pow(g.sin(q), n(3)), pow(g.cos(q), n(2)))),
            ("1/cos(q)^2", g.div(n(1), pow(g.cos(q), n(2)))),
            ("1/sin(2q)^2", g.div(n(1), pow(g.sin(g.mul(n(2), q)), n(2)))),
            ("cos(q)/(2 + sin(q))^3", g.div(g.cos(q), pow(g.add(n(2), g.sin(q)), n(3)))),
            ("1/((aq + 2)(5 - q))", g.div(n(1), g.mul(linear, other))),
            ("q/((aq + 2)^2 (5 - q))", g.div(q, g.mul(pow(linear, n(2)), other))),
            (
                "q^2/((q + 1)(q + 2)(5 - q))",
                g.div(pow(q, n(2)), g.mul(g.mul(g.add(q, n(1)), g.add(q, n(2))), other)),
            ),
            ("(q + 3)/(q^2 + q + 4)", g.div(g.add(q, n(3)), quadratic(4))),
            ("1/(q^2 + q - 6)", g.div(n(1), quadratic(-6))),
            (
                "2/(4q^2 + 4q + 1)",
                g.div(n(2), g.add(g.mul(n(4), g.mul(q, q)), g.add(g.mul(n(4), q), n(1)))),
            ),
            ("-(q - a)/(-q)", g.neg(g.div(g.sub(q, a), g.neg(q)))),
            ("(-q)^(-3)", pow(g.neg(q), n(-3))),
            (
                "q^2 exp(aq) sin(2q)",
                g.mul(pow(q, n(2)), g.mul(exp(g.mul(a, q)), g.sin(g.mul(n(2), q)))),
            ),
            ("(q^2 - 1)^3/(aq + 2)^(1/2)", {
                g.div(pow(g.sub(g.mul(q, q), n(1)), n(3)), g.sqrt(linear))
            }),
            ("(2q - 7)/(3q^2 - q + 2)", {
                let below = g.add(g.sub(g.mul(n(3), g.mul(q, q)), q), n(2));
                g.div(g.sub(g.mul(n(2), q), n(7)), below)
            }),
            ("(q + 2)/(q^2 - 3q - 5)", {
                g.div(g.add(q, n(2)), g.sub(g.sub(g.mul(q, q), g.mul(n(3), q)), n(5)))
            }),
            (
                "1/((2q + 1)(aq + 2))^2",
                g.div(n(1), pow(g.mul(g.add(g.mul(n(2), q), n(1)), linear), n(2))),
            ),
            ("exp(q + 2) exp(-q)", g.mul(exp(g.add(q, n(2))), exp(g.neg(q)))),
            ("sqrt((2q + 3)^3)", g.sqrt(pow(g.add(g.mul(n(2), q), n(3)), n(3)))),
            ("(1 + sin(q))^2", pow(g.add(n(1), g.sin(q)), n(2))),
            ("q (q + 3)^(5/2)", g.mul(q, pow(g.add(q, n(3)), g.fraction(5, 2)))),
            ("(q + a)^9 (q + 1)", g.mul(pow(g.add(q, a), n(9)), g.add(q, n(1)))),
            ("sin(2q) exp(sin(q)^2)", {
                g.mul(g.sin(g.mul(n(2), q)), exp(pow(g.sin(q), n(2))))
            }),
            ("sinh(2q) exp(sinh(q)^2)", {
                let [once, twice] = [q, g.mul(n(2), q)].map(|e| f(Unary::Sinh, e));
                g.mul(twice, exp(pow(once, n(2))))
            }),
            ("sqrt(q)^3 (2/q)^2", g.mul(pow(g.sqrt(q), n(3)), pow(g.div(n(2), q), n(2)))),
        ]
    }

    /// $F(b) - F(a) = \int_a^b f\,dq$ by Gauss's rule with 8 points on small pieces.
    #[test]
    fn antiderivatives_are_integrals() {
        const NODES: [(f64, f64); 4] = [
            (0.183_434_642_495_649_8, 0.362_683_783_378_362),
            (0.525_532_409_916_329, 0.313_706_645_877_887_3),
            (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
            (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
        ];
        let g = Graph::new();
        let [q, a] = ["q", "a"].map(|s| g.symbol(s, Role::Free));
        for (name, f) in integrands(&g, q, a) {
            let found =
                antiderivative(&g, f, q).unwrap_or_else(|| panic!("no integral of {name}"));
            let at = |e: Expr, x: f64| g.evaluate(&[e], &|s| if s == q { x } else { 0.7 })[0];
            let (from, to) = (0.35, 0.95);
            let mut sum = 0.0;
            for piece in 0..4 {
                let middle = from + (to - from) * (f64::from(piece) + 0.5) / 4.0;
                let half = (to - from) / 8.0;
                for (x, w) in NODES {
                    let both = at(f, middle - half * x) + at(f, middle + half * x);
                    sum += half * w * both;
                }
            }
            // A constant of integration may be complex: log of what is negative.
            let difference = at(found, to) - at(found, from);
            if difference.is_nan() {
                let slope = g.derivative(found, q);
                assert!((at(slope, 0.6) - at(f, 0.6)).abs() < 1e-12, "{name}");
                continue;
            }
            assert!(
                (difference - sum).abs() < 1e-11 * (1.0 + sum.abs()),
                "{name}: {difference} instead of {sum}"
            );
        }
    }

    #[test]
    fn integrals_that_are_not_elementary_are_left() {
        let g = Graph::new();
        let [q, a] = ["q", "a"].map(|s| g.symbol(s, Role::Free));
        let square = g.mul(q, q);
        for e in [
            g.unary(Unary::Exp, g.neg(square)),
            g.div(g.sin(q), q),
            g.div(g.one(), g.unary(Unary::Log, q)),
            g.div(g.one(), g.add(g.pow(q, g.integer(3)), g.one())),
            // The sign of the discriminant is not known.
            g.div(g.one(), g.add(square, a)),
            g.pow(a, q),
            g.div(g.one(), g.pow(a, q)),
            g.mul(g.pow(q, g.integer(14)), g.sin(q)),
            g.pow(g.add(square, g.add(q, g.integer(4))), g.integer(-2)),
            g.div(g.one(), g.mul(g.sqrt(g.add(q, a)), g.add(q, g.integer(4)))),
            // Factors in proportion are not put together.
            g.div(g.one(), g.mul(g.add(q, a), g.add(g.mul(a, q), g.mul(a, a)))),
        ] {
            assert_eq!(antiderivative(&g, e, q), None, "{}", g.to_text(e));
        }
    }

    /// Products of up to [`TERMS`] terms are written out; what does not contain `q` is one term.
    #[test]
    fn long_products_are_left() {
        let g = Graph::new();
        let q = g.symbol("q", Role::Free);
        let sum = |name: &str, count: usize, by: Expr| {
            let symbol = |k: usize| g.symbol(&format!("{name}{k}"), Role::Free);
            g.sum((0..count).map(|k| g.mul(symbol(k), g.pow(by, g.integer(k as i64 + 1)))))
        };
        let product = |count: usize| g.mul(sum("a", count, q), sum("b", 16, q));
        assert!(antiderivative(&g, product(16), q).is_some());
        assert_eq!(antiderivative(&g, product(17), q), None);
        let found = antiderivative(&g, g.mul(g.integer(2), q), q).expect("a power");
        assert!(g.is_zero(g.sub(found, g.mul(q, q))), "no constant is added");
        // Factors around q, above and below a line.
        let nested = |depth: usize| {
            let symbol = |k: usize| g.symbol(&format!("c{k}"), Role::Free);
            g.as_written(|| (0..depth).fold(q, |e, k| g.mul(symbol(k), e)))
        };
        for (depth, found) in [(150, true), (250, false)] {
            let below = g.as_written(|| g.div(g.one(), nested(depth)));
            assert_eq!(antiderivative(&g, nested(depth), q).is_some(), found);
            assert_eq!(antiderivative(&g, below, q).is_some(), found);
        }
        let constant = g.mul(sum("a", 17, g.integer(2)), sum("b", 17, g.integer(3)));
        assert!(antiderivative(&g, g.mul(constant, g.sin(q)), q).is_some());
    }
}
