//! Chosen formulas into the nodes of a graph.

use num_traits::{One, Signed, ToPrimitive};
use rustc_hash::FxHashMap;

use super::Paper;
use super::atoms::{Angle, Atom, Generator};
use super::form::Form;
use super::polynomial::{Coefficient, Polynomial};
use crate::Rational;
use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::math::Unary;

/// Writes formulas into a graph.
pub(super) struct Pen<'a> {
    pub(super) paper: &'a Paper<'a>,
    pub(super) page: &'a Graph,
    pub(super) generators: &'a [Generator],
}

impl Pen<'_> {
    pub(super) fn form(&self, atoms: &[Atom], form: &Form) -> Expr {
        let g = self.page;
        match form {
            Form::Leaf(leaf) => self.atom(atoms, *leaf),
            Form::Sum(terms) => g.sum(terms.iter().map(|t| self.form(atoms, t))),
            Form::Product { coefficient, factors } => {
                let (mut above, mut below) = (g.one(), g.one());
                let mut exponent: Vec<(usize, i64)> = Vec::new();
                for (base, halves) in factors {
                    if let Form::Leaf(leaf) = base
                        && let Atom::Exp(generator) = &atoms[*leaf as usize]
                    {
                        exponent.push((*generator, i64::from(halves / 2)));
                        continue;
                    }
                    let base = self.form(atoms, base);
                    let power = self.power(base, halves.abs());
                    let side = if *halves > 0 { &mut above } else { &mut below };
                    *side = g.mul(*side, power);
                }
                if !exponent.is_empty() {
                    above = g.mul(above, g.unary(Unary::Exp, self.angle(&exponent)));
                }
                let k = coefficient.abs();
                if above == g.one() && below != g.one() && !k.denom().is_one() {
                    // NOTE: as it is written, or the number would stand apart: -1/10*(1/m).
                    return g.as_written(|| {
                        let below = g.mul(number(g, &(*k.denom()).into()), below);
                        g.div(number(g, &(*coefficient.numer()).into()), below)
                    });
                }
                let product = if above == g.one() {
                    g.div(number(g, &k), below)
                } else {
                    g.mul(number(g, &k), g.div(above, below))
                };
                if coefficient.is_negative() { g.neg(product) } else { product }
            }
        }
    }

    fn power(&self, base: Expr, halves: i32) -> Expr {
        let g = self.page;
        match halves {
            1 => g.sqrt(base),
            n if n % 2 == 0 => g.pow(base, g.integer(i64::from(n / 2))),
            n => g.pow(base, g.fraction(i64::from(n), 2)),
        }
    }

    pub(super) fn atom(&self, atoms: &[Atom], number: u32) -> Expr {
        let g = self.page;
        let of = |f: [Unary; 2], angle: &Angle| {
            let argument = self.angle(&angle.multiples);
            g.unary(f[usize::from(angle.hyperbolic)], argument)
        };
        match &atoms[number as usize] {
            Atom::Node(e) => self.node(*e),
            Atom::Cos(angle) => of([Unary::Cos, Unary::Cosh], angle),
            Atom::Sin(angle) => of([Unary::Sin, Unary::Sinh], angle),
            Atom::Tan(angle) => of([Unary::Tan, Unary::Tanh], angle),
            Atom::Exp(generator) => g.unary(Unary::Exp, self.angle(&[(*generator, 1)])),
            Atom::Root(X) => g.sqrt(self.polynomial(atoms, X)),
        }
    }

    /// The terms of a polynomial as they are.
    pub(super) fn polynomial(&self, atoms: &[Atom], p: &Polynomial) -> Expr {
        let terms = p.terms().rev().map(|(m, k)| {
            let factors = m.factors().iter().map(|&(a, n)| (Form::Leaf(a), 2 * n)).collect();
            self.form(atoms, &Form::Product { coefficient: *k, factors })
        });
        self.page.sum(terms)
    }

    /// An atom that is a node of the source.
    fn node(&self, e: Expr) -> Expr {
        let (source, g) = (self.paper.source, self.page);
        match source.node(e) {
            Node::Symbol(_) | Node::Pi | Node::Number(_) | Node::Memory(..) => {
                source.in_reading_order(&[e], g)[0]
            }
            Node::Table { table, order, argument } => {
                let argument = self.paper.write(argument, g);
                g.table_derivative(source.table_of(table), order, argument)
            }
            node => {
                let made: FxHashMap<Expr, Expr> =
                    node.operands().map(|o| (o, self.paper.write(o, g))).collect();
                g.store.borrow_mut().rebuild(node, |o| made[&o])
            }
        }
    }

    /// $\sum_i n_i b_i x_i$
    fn angle(&self, multiples: &[(usize, i64)]) -> Expr {
        let g = self.page;
        let mut terms: Vec<(Expr, Coefficient)> = Vec::new();
        for &(place, n) in multiples {
            let Generator { form, unit } = &self.generators[place];
            for (e, k) in form {
                let k = k * unit * Coefficient::from_integer(i128::from(n));
                match terms.iter_mut().find(|t| t.0 == *e) {
                    Some(known) => known.1 += k,
                    None => terms.push((*e, k)),
                }
            }
        }
        let is_pi = |e: Expr| self.paper.source.node(e) == Node::Pi;
        terms.sort_by_key(|t| (is_pi(t.0), t.1.is_negative(), t.0));
        g.sum(terms.iter().map(|(e, k)| {
            let x = self.paper.write(*e, g);
            g.mul(number(g, k), x)
        }))
    }
}

pub(super) fn number(g: &Graph, k: &Coefficient) -> Expr {
    if k.is_one() {
        return g.one();
    }
    match (k.numer().to_i64(), k.denom().to_i64()) {
        (Some(n), Some(d)) => g.fraction(n, d),
        _ => g.number(Rational::new((*k.numer()).into(), (*k.denom()).into())),
    }
}
