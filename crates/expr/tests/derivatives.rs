//! Symbolic derivatives against hyper-dual numbers over the same graph, and the rules of merging.

use crate::support::{Kind, Random, parse, random};
use num_dual::{Dual64, DualNum, HyperDual64};
use pfaff_expr::{Binary, Expr, Graph, Node, Role, Unary, power};
use std::collections::HashMap;

type H = HyperDual64;

/// $f(x)$ from $f, f', f''$ at the real part.
fn chain(x: H, [f0, f1, f2]: [f64; 3]) -> H {
    H::new(f0, f1 * x.eps1, f1 * x.eps2, f2 * x.eps1 * x.eps2 + f1 * x.eps1eps2)
}

fn unary(f: Unary, x: H) -> H {
    let psi = |n: f64| Binary::Polygamma.value(n, x.re);
    match f {
        Unary::Sin => x.sin(),
        Unary::Cos => x.cos(),
        Unary::Tan => x.tan(),
        Unary::Asin => x.asin(),
        Unary::Acos => x.acos(),
        Unary::Atan => x.atan(),
        Unary::Sinh => x.sinh(),
        Unary::Cosh => x.cosh(),
        Unary::Tanh => x.tanh(),
        Unary::Exp => x.exp(),
        Unary::Log => x.ln(),
        Unary::Sqrt => x.sqrt(),
        Unary::Abs => {
            if x.re < 0.0 {
                -x
            } else {
                x
            }
        }
        Unary::Sign => H::from_re(f.value(x.re)),
        Unary::Erf => {
            let bell = 2.0 / std::f64::consts::PI.sqrt() * libm::exp(-x.re * x.re);
            chain(x, [f.value(x.re), bell, -2.0 * x.re * bell])
        }
        Unary::Erfc => H::from_re(1.0) - unary(Unary::Erf, x),
        Unary::Gamma => {
            let (v, p) = (f.value(x.re), Unary::Digamma.value(x.re));
            chain(x, [v, v * p, v * (p * p + psi(1.0))])
        }
        Unary::Digamma => chain(x, [f.value(x.re), psi(1.0), psi(2.0)]),
    }
}

/// The value of an expression in hyper-dual numbers.
fn hyper(g: &Graph, e: Expr, symbol: &dyn Fn(Expr) -> H) -> H {
    let mut values: HashMap<Expr, H> = HashMap::new();
    for x in g.live(&[e]) {
        let v = |o: Expr| values[&o];
        let value = match g.node(x) {
            Node::Number(_) | Node::Pi => H::from_re(g.double_of(x).expect("a number")),
            Node::Symbol(_) => symbol(x),
            Node::Neg(a) => -v(a),
            Node::Add(a, b) => v(a) + v(b),
            Node::Sub(a, b) => v(a) - v(b),
            Node::Mul(a, b) => v(a) * v(b),
            Node::Div(a, b) => v(a) / v(b),
            Node::Pow(a, b) => match g.double_of(b) {
                Some(n) => {
                    let p = |k: f64| power(v(a).re, k);
                    chain(v(a), [p(n), n * p(n - 1.0), n * (n - 1.0) * p(n - 2.0)])
                }
                None => (v(b) * v(a).ln()).exp(),
            },
            Node::Unary(f, a) => unary(f, v(a)),
            Node::Binary(Binary::Atan2, a, b) => {
                // The slope of atan2 is that of atan(a/b), or of −atan(b/a).
                let (y, x) = (v(a), v(b));
                let mut angle =
                    if x.re.abs() > y.re.abs() { (y / x).atan() } else { -(x / y).atan() };
                angle.re = libm::atan2(y.re, x.re);
                angle
            }
            Node::Binary(Binary::Min, a, b) => {
                if v(a).re <= v(b).re {
                    v(a)
                } else {
                    v(b)
                }
            }
            Node::Binary(Binary::Max, a, b) => {
                if v(a).re > v(b).re {
                    v(a)
                } else {
                    v(b)
                }
            }
            Node::Binary(Binary::Polygamma, n, a) => {
                let n = g.double_of(n).expect("a whole order");
                chain(v(a), [0.0, 1.0, 2.0].map(|k| Binary::Polygamma.value(n + k, v(a).re)))
            }
            Node::If(c, a, b) => {
                if v(c).re == 0.0 {
                    v(b)
                } else {
                    v(a)
                }
            }
            Node::Compare(r, a, b) => {
                H::from_re(f64::from(u8::from(r.holds(v(a).re, v(b).re))))
            }
            Node::Table { table, order, argument } => {
                let data = g.table_of(table);
                chain(v(argument), [0, 1, 2].map(|k| data.value(order + k, v(argument).re)))
            }
            other => panic!("{other:?} has no hyper-dual value"),
        };
        values.insert(x, value);
    }
    values[&e]
}

/// Where the second derivative is tame, rounding enlarged by it stays below this.
fn agree(a: f64, b: f64, size: f64) -> bool {
    (a - b).abs() <= 1e-8 * (1.0 + size + b.abs())
}

struct Case {
    g: Graph,
    symbols: Vec<Expr>,
    values: Vec<f64>,
}

impl Case {
    fn new(r: &mut Random) -> Self {
        let g = Graph::new();
        let symbols: Vec<Expr> = ["x", "y", "q", "q'"].iter().map(|s| parse(&g, s)).collect();
        let values = symbols.iter().map(|_| r.uniform(0.1, 1.4)).collect();
        Self { g, symbols, values }
    }

    fn at(&self, s: Expr) -> f64 {
        self.symbols.iter().position(|&x| x == s).map_or(0.7, |i| self.values[i])
    }

    fn hyper(&self, e: Expr, i: usize, j: usize) -> H {
        hyper(&self.g, e, &|s| {
            let is = |k: usize| f64::from(u8::from(self.symbols[k] == s));
            H::new(self.at(s), is(i), is(j), 0.0)
        })
    }

    /// Compares gradient and Hessian; false where the expression is not finite or wild.
    fn check(&self, e: Expr) -> bool {
        let (g, n) = (&self.g, self.symbols.len());
        let gradient = g.gradient(e, &self.symbols);
        let hessian = g.hessian(e, &self.symbols);
        let evaluate = |outputs: &[Expr]| g.evaluate(outputs, &|s| self.at(s));
        if !evaluate(&[e])[0].is_finite() {
            return false;
        }
        let mut checked = false;
        for i in 0..n {
            for j in 0..n {
                assert_eq!(hessian[i][j], hessian[j][i]);
                let h = self.hyper(e, i, j);
                let all = [h.re, h.eps1, h.eps2, h.eps1eps2];
                let size = all.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
                if !all.iter().all(|x| x.is_finite()) || size > 1e5 {
                    continue;
                }
                checked = true;
                let forward = g.derivative(e, self.symbols[i]);
                let values = evaluate(&[gradient[i], forward, hessian[i][j]]);
                let text = || format!("{} at {:?}", g.to_text(e), self.values);
                assert!(agree(values[0], h.eps1, size), "backward {values:?} {h} {}", text());
                assert!(agree(values[1], h.eps1, size), "forward {values:?} {h} {}", text());
                assert!(agree(values[2], h.eps1eps2, size), "second {values:?} {h} {}", text());
            }
        }
        checked
    }
}

#[test]
fn every_function_has_the_right_slope_and_curvature() {
    let mut r = Random(5);
    for f in Unary::ALL {
        for inner in ["x", "x*y", "x/(1 + y^2) - 1/10", "sin(x)*y"] {
            let case = Case::new(&mut r);
            let argument = parse(&case.g, inner);
            let argument = match f {
                Unary::Asin | Unary::Acos => case.g.div(argument, case.g.integer(3)),
                Unary::Log | Unary::Sqrt => case.g.add(argument, case.g.integer(2)),
                _ => argument,
            };
            let e = case.g.mul(case.g.unary(f, argument), parse(&case.g, "y + q"));
            assert!(case.check(e), "{} {inner}", f.name());
        }
    }
    let others = [
        "atan2(x, y*q)",
        "atan2(-x, -y)",
        "min(x, y)*q",
        "max(x*q, y)",
        "polygamma(1, x*y)",
        "polygamma(3, x + y)",
        "x^y",
        "(x*y)^(q + 1)",
        "x^(1/3)*y",
        "x^(-5/2)",
        "2^(x*y)",
        "x^3/y^2",
        "if(x < y, x^2*y, y^3)",
        "table(x*y, \"f\", \"c\")",
        "digamma(x)*gamma(y)",
        "x^x^y",
    ];
    for text in others {
        let case = Case::new(&mut r);
        assert!(case.check(parse(&case.g, text)), "{text}");
    }
}

#[test]
fn random_expressions_have_the_right_derivatives() {
    let mut r = Random(23);
    let mut checked = 0;
    for round in 0..600 {
        let case = Case::new(&mut r);
        let kind = if round % 2 == 0 { Kind::All } else { Kind::Smooth };
        let size = 3 + r.below(14);
        let e = random(&case.g, &mut r, &case.symbols, size, kind);
        checked += usize::from(case.check(e));
    }
    assert!(checked > 400, "{checked} of 600 were finite");
}

/// $\dot e$ along $\dot q, \ddot q$ is the dual part of $e$ at $q + \epsilon\dot q$, $\dot q + \epsilon\ddot
/// q$; free symbols rest.
#[test]
fn total_derivative_is_the_rate_along_the_motion() {
    let mut r = Random(31);
    for _ in 0..200 {
        let case = Case::new(&mut r);
        let e = random(&case.g, &mut r, &case.symbols, 12, Kind::Smooth);
        let rate = case.g.total_derivative(e);
        let dual = hyper(&case.g, e, &|s| {
            let speed = case.g.rate(s).map_or(0.0, |d| case.at(d));
            H::new(case.at(s), speed, 0.0, 0.0)
        });
        let value = case.g.evaluate(&[rate], &|s| case.at(s))[0];
        if dual.eps1.is_finite() && dual.eps1.abs() < 1e6 {
            assert!(agree(value, dual.eps1, dual.re.abs()), "{}", case.g.to_text(e));
        }
    }
}

/// One direction through all symbols at once, against plain dual numbers.
#[test]
fn a_direction_is_a_sum_of_slopes() {
    let g = Graph::new();
    let symbols = ["x", "y"].map(|s| parse(&g, s));
    let e = parse(&g, "sin(x*y)*exp(x) + x/y");
    let slope =
        g.directional(&[e], &[(symbols[0], g.integer(2)), (symbols[1], parse(&g, "x"))])[0];
    let (x, y) = (Dual64::new(0.3, 2.0), Dual64::new(0.8, 0.3));
    let expected = (x * y).sin() * x.exp() + x / y;
    let value = g.evaluate(&[slope], &|s| if s == symbols[0] { 0.3 } else { 0.8 })[0];
    assert!((value - expected.eps).abs() < 1e-14, "a dozen roundings of numbers near 1");
}

#[test]
fn merging_preserves_values() {
    let mut r = Random(41);
    let mut checked = 0;
    for _ in 0..300 {
        let case = Case::new(&mut r);
        let g = &case.g;
        let e = random(g, &mut r, &case.symbols, 14, Kind::All);
        let before = g.to_text(e);
        let plain = g.gradient(e, &case.symbols);
        let merged = g.merging(|| g.gradient(e, &case.symbols));
        let merged_hessian = g.merging(|| g.hessian(e, &case.symbols));
        let hessian = g.hessian(e, &case.symbols);
        let mut all = plain.clone();
        all.extend(hessian.iter().flatten());
        let mut other = merged.clone();
        other.extend(merged_hessian.iter().flatten());
        let at = |s: Expr| case.at(s);
        for (a, b) in g.evaluate(&all, &at).into_iter().zip(g.evaluate(&other, &at)) {
            if a.is_finite() && a.abs() < 1e5 {
                checked += 1;
                assert!(agree(b, a, 1e2), "{before}: {a} and merged {b}");
            }
        }
        assert_eq!(g.to_text(e), before, "what was written stays");
    }
    assert!(checked > 3_000, "{checked}");
}

#[test]
fn merging_folds_the_circle_and_leaves_the_users_nodes() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Coordinate { order: 0 });
    let two = g.integer(2);
    let written = g.add(g.pow(g.sin(x), two), g.pow(g.cos(x), two));
    assert!(g.number_of(written).is_none(), "the user's own sum is kept");
    let h = Graph::new();
    let y = h.symbol("x", Role::Coordinate { order: 0 });
    let folded =
        h.merging(|| h.add(h.pow(h.sin(y), h.integer(2)), h.pow(h.cos(y), h.integer(2))));
    assert_eq!(folded, h.one());
    assert_eq!(g.to_text(written), "sin(x)^2 + cos(x)^2");
}

#[test]
fn differences_and_their_opposites_merge_without_end() {
    let g = Graph::new();
    let [x, y] = ["x", "y"].map(|s| parse(&g, s));
    let (a, b) = g.merging(|| (g.sub(x, y), g.sub(y, x)));
    assert_eq!(g.neg(a), b);
    let (c, d) = g.merging(|| (g.sub(g.integer(-3), x), g.add(x, g.integer(3))));
    assert_eq!(g.neg(c), d);
    // A factor times a difference against the difference of the products.
    let h = Graph::new();
    let [x, y, z] = ["x", "y", "z"].map(|s| parse(&h, s));
    let apart = h.sub(h.mul(z, y), h.mul(x, z));
    let joined = h.merging(|| h.mul(z, h.sub(x, y)));
    let both = h.merging(|| h.add(apart, joined));
    assert_eq!(h.evaluate(&[both], &|e| if e == z { 3.0 } else { 2.0 }), [0.0]);
}

#[test]
fn depth_does_not_overflow_the_stack() {
    let g = Graph::new();
    let x = g.symbol("x", Role::Free);
    let (mut nested, mut sum) = (x, x);
    for i in 0..100_000 {
        nested = g.sin(nested);
        sum = g.add(sum, g.mul(g.integer(i + 2), g.mul(x, x)));
    }
    let value = |e: Expr| g.evaluate(&[e], &|_| 1.0)[0];
    // Σ 2k x over k = 2 … 100001, and 1.
    let k = 100_001.0;
    assert_eq!(value(g.derivative(sum, x)), 1.0 + k * (k + 1.0) - 2.0);
    assert!(value(g.gradient(nested, &[x])[0]).is_finite());
}
