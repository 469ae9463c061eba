//! The identities that [`simplify`](crate::Graph::simplify) knows, as text, and how they are matched.
//!
//! In a rule `a … j` and `u … z` stand for any expression and `k m n` for any number. A sum of two terms is found
//! among the terms of a larger sum, with any common factor; a product among the factors of a larger product.
//! **Domains.** The right side has the value of the left wherever the left is finite; it may be defined on more.

use std::sync::LazyLock;

use num_traits::{One, ToPrimitive, Zero};

use crate::graph::node::{Expr, Node};
use crate::graph::number::{self, Rational};
use crate::graph::store::Store;
use crate::math::{Binary, Unary};

/// Name, left side, right side.
pub(crate) const RULES: [(&str, &str, &str); 38] = [
    ("pythagoras", "sin(a)^2 + cos(a)^2", "1"),
    ("sine from one", "1 - cos(a)^2", "sin(a)^2"),
    ("cosine from one", "1 - sin(a)^2", "cos(a)^2"),
    ("cosine of double", "cos(a)^2 - sin(a)^2", "cos(2*a)"),
    ("secant", "1 + tan(a)^2", "1/cos(a)^2"),
    ("hyperbola", "cosh(a)^2 - sinh(a)^2", "1"),
    ("hyperbolic sine from one", "cosh(a)^2 - 1", "sinh(a)^2"),
    ("hyperbolic cosine from one", "1 + sinh(a)^2", "cosh(a)^2"),
    ("hyperbolic cosine of double", "cosh(a)^2 + sinh(a)^2", "cosh(2*a)"),
    ("sine of sum", "sin(a)*cos(b) + cos(a)*sin(b)", "sin(a + b)"),
    ("sine of difference", "sin(a)*cos(b) - cos(a)*sin(b)", "sin(a - b)"),
    ("cosine of sum", "cos(a)*cos(b) - sin(a)*sin(b)", "cos(a + b)"),
    ("cosine of difference", "cos(a)*cos(b) + sin(a)*sin(b)", "cos(a - b)"),
    ("sum of logarithms", "log(a) + log(b)", "log(a*b)"),
    ("difference of logarithms", "log(a) - log(b)", "log(a/b)"),
    ("arcs", "asin(a) + acos(a)", "pi/2"),
    ("least and greatest", "min(a, b) + max(a, b)", "a + b"),
    ("sine of double", "2*sin(a)*cos(a)", "sin(2*a)"),
    ("hyperbolic sine of double", "2*sinh(a)*cosh(a)", "sinh(2*a)"),
    ("tangent", "sin(a)/cos(a)", "tan(a)"),
    ("tangent times cosine", "tan(a)*cos(a)", "sin(a)"),
    ("hyperbolic tangent", "sinh(a)/cosh(a)", "tanh(a)"),
    ("hyperbolic tangent times cosine", "tanh(a)*cosh(a)", "sinh(a)"),
    ("product of exponentials", "exp(a)*exp(b)", "exp(a + b)"),
    ("quotient of exponentials", "exp(a)/exp(b)", "exp(a - b)"),
    ("product of roots", "sqrt(a)*sqrt(b)", "sqrt(a*b)"),
    ("number by root", "a/sqrt(a)", "sqrt(a)"),
    ("sign times size", "sign(a)*abs(a)", "a"),
    ("product of sizes", "abs(a)*abs(b)", "abs(a*b)"),
    ("exponential of logarithm", "exp(log(a))", "a"),
    ("root of square", "sqrt(a^2)", "abs(a)"),
    ("size of size", "abs(abs(a))", "abs(a)"),
    ("square of size", "abs(a)^2", "a^2"),
    ("sine of arc", "sin(asin(a))", "a"),
    ("cosine of arc", "cos(acos(a))", "a"),
    ("tangent of arc", "tan(atan(a))", "a"),
    ("logarithm of root", "2*log(sqrt(a))", "log(a)"),
    ("root of exponential", "sqrt(exp(n*a))", "exp(n/2*a)"),
];

/// A side of a rule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Pattern {
    Any(char),
    AnyNumber(char),
    Number(Rational),
    Pi,
    Neg(Box<Self>),
    Add(Box<Self>, Box<Self>),
    Sub(Box<Self>, Box<Self>),
    Mul(Box<Self>, Box<Self>),
    Div(Box<Self>, Box<Self>),
    Pow(Box<Self>, Box<Self>),
    Unary(Unary, Box<Self>),
    Binary(Binary, Box<Self>, Box<Self>),
}

/// A coefficient and factors with whole exponents.
#[derive(Clone, Debug)]
pub(crate) struct ProductPattern {
    pub(crate) coefficient: Rational,
    pub(crate) factors: Vec<(Pattern, i64)>,
}

/// What a rule looks for.
#[derive(Clone, Debug)]
pub(crate) enum Left {
    Sum(ProductPattern, ProductPattern),
    Product(ProductPattern),
    Node(Pattern),
}

/// A rule that is ready to be matched.
#[derive(Clone, Debug)]
pub(crate) struct RewriteRule {
    pub(crate) left: Left,
    pub(crate) right: Pattern,
}

/// All rules, read from their text once a process.
pub(crate) fn rules() -> &'static [RewriteRule] {
    static READ: LazyLock<Vec<RewriteRule>> = LazyLock::new(read_rules);
    &READ
}

fn read_rules() -> Vec<RewriteRule> {
    RULES
        .iter()
        .map(|(_, left, right)| {
            let left = match read(left) {
                Pattern::Add(a, b) => Left::Sum(product(&a, false), product(&b, false)),
                Pattern::Sub(a, b) => Left::Sum(product(&a, false), product(&b, true)),
                p @ (Pattern::Mul(..) | Pattern::Div(..)) => Left::Product(product(&p, false)),
                p => Left::Node(p),
            };
            RewriteRule { left, right: read(right) }
        })
        .collect()
}

fn product(pattern: &Pattern, negative: bool) -> ProductPattern {
    let mut result = ProductPattern { coefficient: Rational::one(), factors: Vec::new() };
    collect(pattern, 1, &mut result);
    if negative {
        result.coefficient = -result.coefficient;
    }
    result
}

fn collect(pattern: &Pattern, sign: i64, into: &mut ProductPattern) {
    match pattern {
        Pattern::Number(n) if !n.is_zero() => {
            into.coefficient *= if sign > 0 { n.clone() } else { n.recip() };
        }
        Pattern::Mul(a, b) => {
            collect(a, sign, into);
            collect(b, sign, into);
        }
        Pattern::Div(a, b) => {
            collect(a, sign, into);
            collect(b, -sign, into);
        }
        Pattern::Pow(a, n) => match &**n {
            Pattern::Number(n) if n.is_integer() => {
                let exponent = n.numer().to_i64().unwrap_or(1);
                into.factors.push(((**a).clone(), sign * exponent));
            }
            _ => into.factors.push((pattern.clone(), sign)),
        },
        _ => into.factors.push((pattern.clone(), sign)),
    }
}

/// What the letters of a rule stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bindings(Vec<(char, Expr)>);

impl Bindings {
    fn bind(&mut self, store: &Store, name: char, e: Expr) -> bool {
        if let Some(bound) = self.get(name) {
            return same(store, bound, e);
        }
        self.0.push((name, e));
        true
    }

    fn get(&self, name: char) -> Option<Expr> {
        self.0.iter().find(|(n, _)| *n == name).map(|&(_, e)| e)
    }
}

/// Equal handles, or equal values of well-behaved nodes.
pub(crate) fn same(store: &Store, a: Expr, b: Expr) -> bool {
    let total = |e: Expr| store.facts[e.index()].total;
    a == b || (total(a) && total(b) && store.values[a.index()] == store.values[b.index()])
}

impl Pattern {
    /// Whether the node has this form; the letters met are bound.
    pub(crate) fn matches(&self, store: &Store, e: Expr, bound: &mut Bindings) -> bool {
        let both = |p: &Self, q: &Self, a: Expr, b: Expr, bound: &mut Bindings| {
            p.matches(store, a, bound) && q.matches(store, b, bound)
        };
        match (self, store.node(e)) {
            (Self::Any(name), _) | (Self::AnyNumber(name), Node::Number(_)) => {
                bound.bind(store, *name, e)
            }
            (Self::Number(n), _) => store.exact(e) == Some(n),
            (Self::Pi, Node::Pi) => true,
            (Self::Neg(p), Node::Neg(a)) => p.matches(store, a, bound),
            (Self::Unary(f, p), Node::Unary(g, a)) if *f == g => p.matches(store, a, bound),
            (Self::Binary(f, p, q), Node::Binary(g, a, b)) if *f == g => {
                both(p, q, a, b, bound)
            }
            (Self::Sub(p, q), Node::Sub(a, b))
            | (Self::Div(p, q), Node::Div(a, b))
            | (Self::Pow(p, q), Node::Pow(a, b)) => both(p, q, a, b, bound),
            (Self::Add(p, q), Node::Add(a, b)) | (Self::Mul(p, q), Node::Mul(a, b)) => {
                let before = bound.clone();
                both(p, q, a, b, bound) || {
                    *bound = before;
                    both(p, q, b, a, bound)
                }
            }
            _ => false,
        }
    }

    /// The expression with the letters replaced by what they stand for.
    pub(crate) fn build(&self, store: &mut Store, bound: &Bindings) -> Expr {
        match self {
            Self::Any(name) | Self::AnyNumber(name) => {
                bound.get(*name).expect("the left side of a rule has every letter of the right")
            }
            Self::Number(n) => store.number(n.clone()),
            Self::Pi => store.intern(Node::Pi),
            Self::Neg(p) => {
                let a = p.build(store, bound);
                store.neg(a)
            }
            Self::Unary(f, p) => {
                let a = p.build(store, bound);
                store.unary(*f, a)
            }
            Self::Add(p, q)
            | Self::Sub(p, q)
            | Self::Mul(p, q)
            | Self::Div(p, q)
            | Self::Pow(p, q)
            | Self::Binary(_, p, q) => {
                let (a, b) = (p.build(store, bound), q.build(store, bound));
                match self {
                    Self::Add(..) => store.add(a, b),
                    Self::Sub(..) => store.sub(a, b),
                    Self::Mul(..) => store.mul(a, b),
                    Self::Div(..) => store.div(a, b),
                    Self::Binary(f, ..) => store.binary(*f, a, b),
                    _ => store.pow(a, b),
                }
            }
        }
    }
}

/// Reads a side of a rule. The rules are our own, so a mistake in one is a fault of this file.
pub(crate) fn read(text: &str) -> Pattern {
    let mut reader = RuleParser { rest: text };
    let pattern = reader.sum();
    assert!(reader.rest.trim().is_empty(), "rule `{text}` has a rest `{}`", reader.rest);
    pattern
}

struct RuleParser<'a> {
    rest: &'a str,
}

impl RuleParser<'_> {
    fn eat(&mut self, sign: char) -> bool {
        match self.rest.trim_start().strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn sum(&mut self) -> Pattern {
        let mut left = self.product();
        loop {
            if self.eat('+') {
                left = Pattern::Add(Box::new(left), Box::new(self.product()));
            } else if self.eat('-') {
                left = Pattern::Sub(Box::new(left), Box::new(self.product()));
            } else {
                return left;
            }
        }
    }

    fn product(&mut self) -> Pattern {
        let mut left = self.signed();
        loop {
            if self.eat('*') {
                left = Pattern::Mul(Box::new(left), Box::new(self.signed()));
            } else if self.eat('/') {
                left = Pattern::Div(Box::new(left), Box::new(self.signed()));
            } else {
                return left;
            }
        }
    }

    fn signed(&mut self) -> Pattern {
        if self.eat('-') { Pattern::Neg(Box::new(self.signed())) } else { self.power() }
    }

    fn power(&mut self) -> Pattern {
        let base = self.atom();
        if self.eat('^') { Pattern::Pow(Box::new(base), Box::new(self.signed())) } else { base }
    }

    fn atom(&mut self) -> Pattern {
        if self.eat('(') {
            let inner = self.sum();
            assert!(self.eat(')'), "a rule closes its brackets");
            return inner;
        }
        let text = self.rest.trim_start();
        let length = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        let (word, rest) = text.split_at(length);
        self.rest = rest;
        if let Ok(n) = word.parse::<i64>() {
            return Pattern::Number(number::integer(n));
        }
        if self.eat('(') {
            return self.call(word);
        }
        match word {
            "pi" => Pattern::Pi,
            "k" | "m" | "n" => Pattern::AnyNumber(word.chars().next().unwrap_or('k')),
            _ => Pattern::Any(
                word.chars().next().expect("a letter stands where a rule needs one"),
            ),
        }
    }

    fn call(&mut self, name: &str) -> Pattern {
        let first = Box::new(self.sum());
        let pattern = if self.eat(',') {
            let f = Binary::ALL.into_iter().find(|f| f.name() == name);
            let second = Box::new(self.sum());
            Pattern::Binary(f.expect("a rule uses functions of the language"), first, second)
        } else {
            let f = Unary::ALL.into_iter().find(|f| f.name() == name);
            Pattern::Unary(f.expect("a rule uses functions of the language"), first)
        };
        assert!(self.eat(')'), "a rule closes its brackets");
        pattern
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Role, ZeroTest};

    #[test]
    fn every_rule_is_an_identity() {
        for (name, left, right) in RULES {
            let g = Graph::new();
            let bound = Bindings(
                ('a'..='z').map(|c| (c, g.symbol(&c.to_string(), Role::Free))).collect(),
            );
            let side = |text: &str| read(text).build(&mut g.store.borrow_mut(), &bound);
            let (l, r) = (side(left), side(right));
            assert_ne!(l, r, "rule `{name}` does nothing that the constructors do not do");
            assert_eq!(g.zero_test(g.sub(l, r)), ZeroTest::Zero, "{name}");
        }
    }
}
