//! Sums of powers of one symbol, and what Caputo's derivative makes of them.
//!
//! $$ e = \sum_j c_j\,x^{e_j}, \qquad D_x^\alpha e = \sum_j
//! c_j\,\frac{\Gamma(e_j+1)}{\Gamma(e_j+1-\alpha)}\,x^{e_j-\alpha} $$
//!
//! with base point 0; powers below $\lceil\alpha\rceil$ that are whole numbers are annihilated, and others of
//! that size have no derivative. \[TZ06, (108)\] gives the rule for all $e_j > -1$, which is true of Riemann
//! and Liouville's derivative.

use std::collections::BTreeMap;

use pfaff_expr::{Expr, Graph, Node, Unary, number};

/// Terms, whole powers and products beyond these counts are not written out.
const TERMS: usize = 200;
const WHOLE: i64 = 40;

/// Exponents with their coefficients, which do not contain the symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Powers(BTreeMap<Expr, Expr>);

impl Powers {
    /// Reads an expression; the part that is no sum of powers if there is one.
    pub(crate) fn of(g: &Graph, e: Expr, x: Expr) -> Result<Self, Expr> {
        let mut known: BTreeMap<Expr, Self> = BTreeMap::new();
        // NOTE: operands come before the nodes that use them, so that nothing recurs.
        for node in g.live(&[e]) {
            let powers = match g.node(node) {
                _ if node == x => Self([(g.one(), g.one())].into()),
                _ if !g.contains(node, &[x]) => Self::constant(g, node),
                Node::Neg(a) => known[&a].scaled(g, g.integer(-1)),
                Node::Add(a, b) => known[&a].plus(g, &known[&b]),
                Node::Sub(a, b) => known[&a].plus(g, &known[&b].scaled(g, g.integer(-1))),
                Node::Mul(a, b) => known[&a].times(g, &known[&b]).ok_or(node)?,
                Node::Div(a, b) if !g.contains(b, &[x]) => {
                    known[&a].scaled(g, g.div(g.one(), b))
                }
                Node::Pow(a, b) if !g.contains(b, &[x]) => {
                    known[&a].raised(g, b).ok_or(node)?
                }
                Node::Unary(Unary::Sqrt, a) => {
                    known[&a].raised(g, g.fraction(1, 2)).ok_or(node)?
                }
                _ => return Err(node),
            };
            known.insert(node, powers);
        }
        Ok(known.remove(&e).unwrap_or_else(|| Self::constant(g, e)))
    }

    /// $D_x^\alpha$; `value` evaluates exponents. The exponent that has no derivative if there is one.
    pub(crate) fn caputo(
        &self,
        g: &Graph,
        alpha: Expr,
        value: &dyn Fn(Expr) -> f64,
    ) -> Result<Self, Expr> {
        let order = value(alpha).ceil();
        let mut derived = Self(BTreeMap::new());
        for (&exponent, &c) in &self.0 {
            let size = value(exponent);
            if size < order && size >= 0.0 && size == size.floor() {
                continue;
            }
            if size.is_nan() || size <= order - 1.0 {
                return Err(exponent);
            }
            let above = gamma(g, g.add(exponent, g.one()));
            let below = gamma(g, g.sub(g.add(exponent, g.one()), alpha));
            let ratio = product(g, g.div(above, below), g.simplify(c));
            derived.add(g, g.simplify(g.sub(exponent, alpha)), ratio);
        }
        Ok(derived)
    }

    /// $x^s$ times $c$ times the sum.
    pub(crate) fn shifted(&self, g: &Graph, by: Expr, factor: Expr) -> Self {
        let term = |(&e, &c)| (g.simplify(g.add(e, by)), product(g, factor, c));
        Self(self.0.iter().map(term).collect())
    }

    /// The sum as an expression.
    pub(crate) fn expression(&self, g: &Graph, x: Expr) -> Expr {
        g.sum(self.0.iter().map(|(&e, &c)| product(g, c, g.pow(x, e))))
    }

    fn constant(g: &Graph, e: Expr) -> Self {
        let zero = e == g.zero();
        Self(if zero { BTreeMap::new() } else { [(g.zero(), e)].into() })
    }

    fn scaled(&self, g: &Graph, factor: Expr) -> Self {
        Self(self.0.iter().map(|(&e, &c)| (e, g.mul(factor, c))).collect())
    }

    fn plus(&self, g: &Graph, other: &Self) -> Self {
        let mut sum = self.clone();
        for (&e, &c) in &other.0 {
            sum.add(g, e, c);
        }
        sum
    }

    fn times(&self, g: &Graph, other: &Self) -> Option<Self> {
        let mut product = Self(BTreeMap::new());
        for (&d, &a) in &self.0 {
            for (&e, &b) in &other.0 {
                product.add(g, g.add(d, e), g.mul(a, b));
            }
        }
        (product.0.len() <= TERMS).then_some(product)
    }

    /// A whole power of any sum, any constant power of one term.
    fn raised(&self, g: &Graph, exponent: Expr) -> Option<Self> {
        let whole = (0..=WHOLE).find(|&n| g.number_of(exponent) == Some(number::integer(n)));
        match (whole, self.0.iter().next(), self.0.len()) {
            (_, Some((&e, &c)), 1) => {
                Some(Self([(g.mul(e, exponent), g.pow(c, exponent))].into()))
            }
            (Some(n), ..) => {
                let mut product = Self::constant(g, g.one());
                for _ in 0..n {
                    product = product.times(g, self)?;
                }
                Some(product)
            }
            _ => None,
        }
    }

    fn add(&mut self, g: &Graph, exponent: Expr, c: Expr) {
        let sum = g.add(self.0.get(&exponent).copied().unwrap_or_else(|| g.zero()), c);
        if g.is_zero(sum) {
            self.0.remove(&exponent);
        } else {
            self.0.insert(exponent, sum);
        }
    }
}

/// $ab$ with one fraction line.
fn product(g: &Graph, a: Expr, b: Expr) -> Expr {
    let parts = |e: Expr| match g.node(e) {
        Node::Div(above, below) => (above, below),
        _ => (e, g.one()),
    };
    let ((a, c), (b, d)) = (parts(a), parts(b));
    g.div(g.mul(a, b), g.mul(c, d))
}

/// $\Gamma(e)$, a number where $e$ is a whole one.
pub(crate) fn gamma(g: &Graph, e: Expr) -> Expr {
    let e = g.simplify(e);
    let whole = (1..=20).find(|&n| g.number_of(e) == Some(number::integer(n)));
    match whole {
        Some(n) => g.integer((1..n).product()),
        None => g.unary(Unary::Gamma, e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pfaff_expr::Role;

    #[test]
    fn products_and_powers_are_written_out() {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        // (x + y)³ x/y
        let e = g.div(g.mul(g.pow(g.add(x, y), g.integer(3)), x), y);
        let powers = Powers::of(&g, e, x).expect("a polynomial");
        assert!(g.is_zero(g.sub(powers.expression(&g, x), e)));
        assert_eq!(powers.0.len(), 4);
        let e = g.add(x, g.sin(g.mul(x, y)));
        assert_eq!(Powers::of(&g, e, x), Err(g.sin(g.mul(x, y))));
        assert_eq!(Powers::of(&g, g.div(y, x), x), Err(g.div(y, x)));
        for e in [g.pow(x, x), g.pow(y, x)] {
            assert_eq!(Powers::of(&g, e, x), Err(e), "{}", g.to_text(e));
        }
        assert!(Powers::of(&g, g.zero(), x).expect("nothing").0.is_empty());
    }

    /// $\sum_{i<k}x^i\sum_{j<20}x^{kj}$ has $20k$ terms.
    #[test]
    fn long_products_are_not_written_out() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let sum = |count: i64, step: i64| {
            g.sum((0..count).map(|i| g.pow(x, g.integer(step * i + 1))))
        };
        let product = |k: i64| g.mul(sum(k, 1), sum(20, k));
        assert_eq!(Powers::of(&g, product(10), x).expect("two hundred terms").0.len(), 200);
        assert_eq!(Powers::of(&g, product(11), x), Err(product(11)));
    }

    #[test]
    fn whole_powers_below_the_order_are_annihilated() {
        let g = Graph::new();
        let x = g.symbol("x", Role::Free);
        let value = |e: Expr| g.evaluate(&[e], &|_| f64::NAN)[0];
        let number = |e: Expr, at: f64| g.evaluate(&[e], &|_| at)[0];
        let half = g.fraction(1, 2);
        let e = g.add(g.integer(7), g.pow(x, half));
        let powers = Powers::of(&g, e, x).expect("powers");
        let d = powers.caputo(&g, half, &value).expect("it exists").expression(&g, x);
        // Γ(3/2) = √π/2
        let wanted = 0.5 * std::f64::consts::PI.sqrt();
        assert!((number(d, 1.3) - wanted).abs() < 1e-15);
        assert_eq!(powers.caputo(&g, g.fraction(3, 2), &value), Err(half));
        // Of order 1 it is the ordinary derivative, to the letter.
        let cube = Powers::of(&g, g.pow(x, g.integer(3)), x).expect("a power");
        let d = cube.caputo(&g, g.one(), &value).expect("it exists").expression(&g, x);
        assert!(g.is_zero(g.sub(d, g.mul(g.integer(3), g.pow(x, g.integer(2))))));
    }

    /// Terms that cancel are gone, so that nothing is differentiated that is not there.
    #[test]
    fn cancelled_powers_are_gone() {
        let g = Graph::new();
        let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
        let n = |k: i64| g.integer(k);
        // (x + y)² − x² − 2xy = y², with a product that cancels term by term
        let square = g.mul(g.add(x, y), g.add(x, y));
        let e = g.sub(g.sub(square, g.mul(x, x)), g.mul(n(2), g.mul(x, y)));
        let powers = g.as_written(|| Powers::of(&g, e, x)).expect("a polynomial");
        assert_eq!(powers.0.keys().copied().collect::<Vec<_>>(), [g.zero()]);
        assert!(g.is_zero(g.sub(powers.expression(&g, x), g.mul(y, y))));
        // −(√x − 3x)²·x^{1/2} with roots, signs and a quotient
        let root = g.sqrt(x);
        let e = g.neg(g.mul(g.pow(g.sub(root, g.mul(n(3), x)), n(2)), g.div(root, y)));
        let powers = Powers::of(&g, e, x).expect("powers");
        let at = |e: Expr| g.evaluate(&[e], &|s| if s == x { 0.7 } else { 1.9 })[0];
        assert!(
            (at(powers.expression(&g, x)) - at(e)).abs() < 1e-14,
            "rounding of a few terms"
        );
        assert_eq!(powers.0.len(), 3);
        let shifted = powers.shifted(&g, g.fraction(1, 2), y).expression(&g, x);
        assert!((at(shifted) - 0.7_f64.sqrt() * 1.9 * at(e)).abs() < 1e-14, "likewise");
    }

    /// $\Gamma(n) = (n-1)!$ as a number up to 20; a pole or a fraction stays a function.
    #[test]
    fn gamma_of_whole_numbers_is_a_factorial() {
        let g = Graph::new();
        let of = |k: i64| gamma(&g, g.integer(k));
        assert_eq!([1, 2, 3, 5].map(of), [1, 1, 2, 24].map(|k| g.integer(k)));
        assert_eq!(of(20), g.integer(121_645_100_408_832_000));
        for e in [g.zero(), g.integer(-3), g.integer(21), g.fraction(1, 2)] {
            assert_eq!(gamma(&g, e), g.unary(Unary::Gamma, e));
        }
    }
}
