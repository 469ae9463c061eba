//! Factors that several expressions share: what equations may be divided by, and where expressions vanish.

use super::atoms::{Arguments, Atom};
use super::normal::{self, NormalForm};
use super::pen::number;
use super::polynomial::{Monomial, Polynomial};
use super::quotient::Field;
use super::{Paper, READING};
use crate::graph::Graph;
use crate::graph::node::{Expr, Role};

impl Graph {
    /// The numbers and parameters that every one of the expressions has as a factor; 1 if none is found.
    ///
    /// Parameters count as different from zero.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let [m, a] = ["m", "a"].map(|n| g.symbol(n, Role::Parameter));
    /// let u = g.symbol("u", Role::Free);
    /// let (left, right) = (g.mul(m, u), g.mul(g.mul(a, m), g.mul(u, u)));
    /// assert_eq!(g.common_factor(&[left, right]), m);
    /// ```
    pub fn common_factor(&self, expressions: &[Expr]) -> Expr {
        let normal = normal::normal_form(self, expressions, Arguments::Whole, READING);
        self.shared_factor(normal, Shared::Constants).unwrap_or_else(|| self.one())
    }

    /// The factors that all terms of an equation have: numbers, parameters, coordinates and their sines and cosines.
    ///
    /// The last ones may be zero; there the equation that is divided by them says no more than its limit.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let (g, page) = (Graph::new(), Graph::new());
    /// let [m, r] = [("m", Role::Parameter), ("r", Role::Coordinate { order: 0 })].map(|(n, k)| g.symbol(n, k));
    /// let [u, v] = ["u", "v"].map(|n| g.symbol(n, Role::Free));
    /// let (left, right) = (g.mul(m, g.mul(g.mul(r, r), u)), g.mul(g.mul(r, m), v));
    /// let factor = g.factor_of_all_terms(&[left, right]);
    /// assert_eq!(page.to_text(g.on_paper(&[factor], &page)[0]), "m*r");
    /// ```
    pub fn factor_of_all_terms(&self, sides: &[Expr]) -> Expr {
        let normal = normal::normal_form(self, sides, Arguments::Whole, READING);
        let hides = normal.as_ref().is_some_and(NormalForm::has_multiple_angles);
        let whole = self.shared_factor(normal, Shared::Positions).unwrap_or_else(|| self.one());
        if !hides {
            return whole;
        }
        // sin(x) in sin(2*x)
        let rest: Vec<Expr> = sides.iter().map(|&e| self.div(e, whole)).collect();
        let normal = normal::normal_form(self, &rest, Arguments::Apart, READING);
        let more = self.shared_factor(normal, Shared::Positions);
        more.map_or(whole, |more| self.mul(whole, more))
    }

    /// What an equation $e = 0$ may be divided by: numbers and parameters that all terms have as a factor, or that some
    /// have as a denominator.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let (g, page) = (Graph::new(), Graph::new());
    /// let [m, k] = ["m", "k"].map(|n| g.symbol(n, Role::Parameter));
    /// let [u, v] = ["u", "v"].map(|n| g.symbol(n, Role::Free));
    /// let e = g.add(g.div(u, m), g.div(v, k));
    /// let cleared = g.div(e, g.factor_of_equation(e));
    /// assert_eq!(page.to_text(g.on_paper(&[cleared], &page)[0]), "k*u + m*v");
    /// ```
    pub fn factor_of_equation(&self, e: Expr) -> Expr {
        let normal = normal::normal_form(self, &[e], Arguments::Whole, READING);
        self.shared_factor(normal, Shared::Denominators).unwrap_or_else(|| self.one())
    }

    /// What some terms of a sum are divided by, as a factor: parameters, coordinates, their sines and cosines, sums of
    /// these; `None` where nothing that varies is among it.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let (g, page) = (Graph::new(), Graph::new());
    /// let x = g.symbol("x", Role::Coordinate { order: 0 });
    /// let [u, v] = ["u", "v"].map(|n| g.symbol(n, Role::Free));
    /// let e = g.sub(g.div(u, g.mul(x, x)), g.div(v, x));
    /// let factor = g.factor_of_quotients(e).expect("it has denominators that vary");
    /// let cleared = g.div(e, factor);
    /// assert_eq!(page.to_text(g.on_paper(&[cleared], &page)[0]), "u - x*v");
    /// assert!(g.factor_of_quotients(g.sub(u, v)).is_none());
    /// ```
    pub fn factor_of_quotients(&self, e: Expr) -> Option<Expr> {
        let normal = normal::normal_form(self, &[e], Arguments::Whole, READING)?;
        let value = normal.values.first()?;
        let varies = |field: &Field, atom: u32| match field.atoms.atom(atom) {
            Atom::Node(e) => self.varies(*e),
            _ => true,
        };
        let below = |(m, _): (&Monomial, _)| {
            m.factors().iter().any(|&(a, n)| n < 0 && varies(&normal.field, a))
        };
        let is_divided = !value.below.is_empty() || value.above.terms().any(below);
        if !is_divided {
            return None;
        }
        self.shared_factor(Some(normal), Shared::Quotients)
    }

    /// The factors of expressions that vary and can be zero, each once.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let (g, page) = (Graph::new(), Graph::new());
    /// let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Coordinate { order: 0 }));
    /// let double = g.cos(g.mul(g.integer(2), x));
    /// let e = g.mul(g.mul(g.integer(3), y), g.add(double, g.one()));
    /// let factors = g.varying_factors(&[e], &page);
    /// assert_eq!(factors.iter().map(|&f| page.to_text(f)).collect::<Vec<_>>(), ["y", "cos(x)"]);
    /// ```
    pub fn varying_factors(&self, expressions: &[Expr], into: &Self) -> Vec<Expr> {
        // NOTE: a sum may be written as a product, whose factors are then found.
        let desk = Self::new();
        let sums = self.factors_as_read(expressions, &desk);
        desk.factors_as_read(&sums, into)
    }

    fn factors_as_read(&self, expressions: &[Expr], into: &Self) -> Vec<Expr> {
        let paper = Paper::new(self);
        let mut found = Vec::new();
        for &e in expressions {
            let factors = paper.zeros(e).unwrap_or_else(|| vec![paper.write(e, &paper.desk)]);
            found.extend(factors.into_iter().filter(|&f| paper.desk.varies(f)));
        }
        let mut factors: Vec<Expr> = Vec::new();
        for factor in paper.desk.on_paper(&found, into) {
            if !factors.contains(&factor) {
                factors.push(factor);
            }
        }
        factors
    }

    fn shared_factor(&self, normal: Option<NormalForm>, what: Shared) -> Option<Expr> {
        let mut normal = normal?;
        let is_still = |field: &Field, atom: u32| match field.atoms.atom(atom) {
            Atom::Node(e) => self.symbol_of(*e).is_some_and(|s| {
                matches!(s.role, Role::Parameter | Role::Coordinate { order: 0 })
            }),
            Atom::Sin(_) | Atom::Cos(_) => true,
            Atom::Tan(_) | Atom::Exp(_) | Atom::Root(_) => false,
        };
        let common_sums = if what == Shared::Positions {
            normal.take_common_sums(&is_still)
        } else {
            Vec::new()
        };
        let sines = if what == Shared::Positions { normal.take_sines() } else { Vec::new() };
        let mut sum = Polynomial::zero();
        let values = normal.values.iter().filter(|q| !q.above.is_zero());
        for (i, q) in values.enumerate() {
            for (m, k) in q.above.terms() {
                // A new atom keeps the terms of one expression apart from those of another.
                let apart = Monomial::atom(u32::MAX - i as u32, 1);
                sum.add_term(m.times(&apart), k)?;
            }
        }
        let mut factor = match what {
            Shared::Quotients => self.one(),
            _ => number(self, &sum.content()?),
        };
        for atom in
            sum.atoms().into_iter().filter(|&a| (a as usize) < normal.field.atoms.list.len())
        {
            let powers = || sum.terms().map(|(m, _)| m.exponent(atom));
            let (least, most) = (powers().min()?, powers().max()?);
            let n = match what {
                Shared::Quotients => least.min(0),
                Shared::Denominators if least <= 0 => least,
                _ if least > 0 => least,
                _ => most.min(0),
            };
            if n == 0 {
                continue;
            }
            let varies = matches!(what, Shared::Positions | Shared::Quotients);
            let is_taken = match normal.field.atoms.atom(atom) {
                Atom::Node(e) => self.symbol_of(*e).is_some_and(|s| match s.role {
                    Role::Parameter => true,
                    Role::Coordinate { order: 0 } => varies,
                    _ => false,
                }),
                Atom::Sin(_) | Atom::Cos(_) => varies,
                Atom::Tan(_) | Atom::Exp(_) | Atom::Root(_) => false,
            };
            if is_taken {
                let base = self.constant_atom(&normal.field, atom)?;
                factor = self.mul(factor, self.pow(base, self.integer(i64::from(n))));
            }
        }
        if what == Shared::Quotients {
            for (f, sum) in normal.field.factors.iter().enumerate() {
                let powers = normal.values.iter().filter_map(|q| q.below.get(&f));
                let n = powers.max().copied().unwrap_or(0);
                if n > 0 && sum.atoms().into_iter().all(|a| is_still(&normal.field, a)) {
                    let sum = self.constant_polynomial(&normal.field, sum)?;
                    factor = self.div(factor, self.pow(sum, self.integer(i64::from(n))));
                }
            }
        }
        for sine in sines {
            factor = self.mul(factor, self.constant_atom(&normal.field, sine)?);
        }
        for (sum, n) in common_sums {
            let sum = self.constant_polynomial(&normal.field, &sum)?;
            factor = self.mul(factor, self.pow(sum, self.integer(n)));
        }
        Some(factor)
    }
}

/// Which factors of all terms are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    /// Numbers and parameters.
    Constants,
    /// The same, and parameters that only some terms have below.
    Denominators,
    /// Numbers, parameters, coordinates, sines and cosines.
    Positions,
    /// What some terms have below, also in sums.
    Quotients,
}
