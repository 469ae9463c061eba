//! Linear relations between functions, with coefficients of numbers and parameters.
//!
//! $\sum_j c_j\,f_j(x) = 0$ for all $x$, where every $f_j$ may have several components. Each component is read as a
//! polynomial in what varies, over one denominator; its coefficients are polynomials in what does not. The relations
//! are the null space of the matrix of these coefficients, found by elimination with quotients of polynomials.

use std::collections::BTreeMap;

use num_traits::{One, Signed};

use super::atoms::{Angle, Arguments, Atom};
use super::normal::{NormalForm, normal_form};
use super::pen::number;
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};
use super::quotient::{Field, Quotient};
use crate::graph::Graph;
use crate::graph::node::Expr;
use crate::math::Unary;

/// Work on reading the functions, and on the elimination.
const WORK: usize = 200_000;

impl Graph {
    /// A basis of all relations between functions with constant coefficients, one coefficient for each function; `None`
    /// if that takes too much work.
    ///
    /// Denominators are cleared, and the first coefficient of a relation is positive. A relation that needs an identity
    /// that is not known here is missed. None is invented, up to the caller's own [zero test](Self::zero_test).
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let k = g.symbol("k", Role::Parameter);
    /// let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
    /// let sum = g.add(g.mul(k, x), y);
    /// let found = g.constant_relations(&[vec![x], vec![y], vec![sum]]).expect("it is short");
    /// let texts: Vec<String> = found[0].iter().map(|&c| g.to_text(c)).collect();
    /// assert_eq!(texts, ["k", "1", "-1"]);
    /// ```
    pub fn constant_relations(&self, functions: &[Vec<Expr>]) -> Option<Vec<Vec<Expr>>> {
        let all = functions.concat();
        let NormalForm { mut field, values, .. } =
            normal_form(self, &all, Arguments::Apart, WORK)?;
        field.budget = Budget(WORK);
        let width = functions.first()?.len();
        let mut elimination =
            Elimination { field: &mut field, columns: functions.len(), rows: Vec::new() };
        for i in 0..width {
            let component: Vec<Quotient> =
                (0..functions.len()).map(|j| values[j * width + i].clone()).collect();
            for row in self.equations(elimination.field, &component)? {
                elimination.add(row)?;
            }
        }
        let relations = elimination.null_space();
        relations.iter().map(|c| self.cleared(&mut field, c)).collect()
    }

    /// $\sum_j c_j f_j = 0$ by powers of what varies: one row for each.
    fn equations(&self, field: &mut Field, of: &[Quotient]) -> Option<Vec<Vec<Quotient>>> {
        let above = over_one_denominator(field, of)?;
        let mut rows: BTreeMap<Monomial, Vec<Polynomial>> = BTreeMap::new();
        for (j, p) in above.iter().enumerate() {
            for (m, k) in p.terms() {
                let (mut varying, mut constant) = (Monomial::one(), Monomial::one());
                for &(atom, n) in m.factors() {
                    let side = if self.is_constant_atom(field, atom) {
                        &mut constant
                    } else {
                        &mut varying
                    };
                    *side = side.times(&Monomial::atom(atom, n));
                }
                let row =
                    rows.entry(varying).or_insert_with(|| vec![Polynomial::zero(); of.len()]);
                row[j].add_term(constant, k)?;
            }
        }
        Some(rows.into_values().map(|r| r.into_iter().map(Quotient::of).collect()).collect())
    }

    fn is_constant_atom(&self, field: &Field, atom: u32) -> bool {
        let is_still = |generator: usize| {
            field.atoms.generators[generator].form.iter().all(|f| !self.varies(f.0))
        };
        match field.atoms.atom(atom) {
            Atom::Node(e) => !self.varies(*e),
            Atom::Cos(angle) | Atom::Sin(angle) | Atom::Tan(angle) => {
                angle.multiples.iter().all(|m| is_still(m.0))
            }
            Atom::Exp(generator) => is_still(*generator),
            Atom::Root(X) => X.atoms().into_iter().all(|a| self.is_constant_atom(field, a)),
        }
    }

    /// A relation without denominators and without a common number.
    fn cleared(&self, field: &mut Field, relation: &[Quotient]) -> Option<Vec<Expr>> {
        let mut above = over_one_denominator(field, relation)?;
        let mut all = Polynomial::zero();
        for (j, p) in above.iter().enumerate() {
            // A new atom keeps the coefficients apart.
            let apart = Monomial::atom(u32::MAX - j as u32, 1);
            for (m, k) in p.terms() {
                all.add_term(m.times(&apart), k)?;
            }
        }
        let mut common = all.common_monomial();
        for j in 0..above.len() {
            common = common.with(u32::MAX - j as u32, 0);
        }
        let first = above.iter().find(|p| !p.is_zero())?;
        let leading = *first.terms().next_back()?.1;
        let sign = if leading.is_negative() { -Coefficient::one() } else { Coefficient::one() };
        let scale = all.content()?.recip() * sign;
        for p in &mut above {
            *p = p.times_term(&common.inverse(), &scale)?;
        }
        above.iter().map(|p| self.constant_polynomial(field, p)).collect()
    }

    pub(super) fn constant_polynomial(&self, field: &Field, p: &Polynomial) -> Option<Expr> {
        let mut terms = Vec::new();
        for (m, k) in p.terms().rev() {
            let (mut above, mut below) = (number(self, &k.abs()), self.one());
            for &(atom, n) in m.factors() {
                let base = self.constant_atom(field, atom)?;
                let power = self.pow(base, self.integer(i64::from(n.abs())));
                let side = if n > 0 { &mut above } else { &mut below };
                *side = self.mul(*side, power);
            }
            let term = self.div(above, below);
            terms.push(if k.is_negative() { self.neg(term) } else { term });
        }
        Some(self.sum(terms))
    }

    pub(super) fn constant_atom(&self, field: &Field, atom: u32) -> Option<Expr> {
        let argument = |multiples: &[(usize, i64)]| {
            let mut terms = Vec::new();
            for &(generator, n) in multiples {
                let generator = &field.atoms.generators[generator];
                for (e, k) in &generator.form {
                    let k = k * generator.unit * Coefficient::from_integer(i128::from(n));
                    terms.push(self.mul(number(self, &k), *e));
                }
            }
            self.sum(terms)
        };
        let of = |f: [Unary; 2], angle: &Angle| {
            self.unary(f[usize::from(angle.hyperbolic)], argument(&angle.multiples))
        };
        Some(match field.atoms.atom(atom) {
            Atom::Node(e) => *e,
            Atom::Cos(angle) => of([Unary::Cos, Unary::Cosh], angle),
            Atom::Sin(angle) => of([Unary::Sin, Unary::Sinh], angle),
            Atom::Tan(angle) => of([Unary::Tan, Unary::Tanh], angle),
            Atom::Exp(generator) => self.unary(Unary::Exp, argument(&[(*generator, 1)])),
            Atom::Root(X) => self.sqrt(self.constant_polynomial(field, X)?),
        })
    }
}

/// The numerators over the least common denominator, without negative powers.
fn over_one_denominator(field: &mut Field, of: &[Quotient]) -> Option<Vec<Polynomial>> {
    let mut below: BTreeMap<usize, u32> = BTreeMap::new();
    for q in of {
        for (&f, &n) in &q.below {
            let power = below.entry(f).or_insert(0);
            *power = (*power).max(n);
        }
    }
    let mut above = Vec::with_capacity(of.len());
    for q in of {
        above.push(field.extended(q, &below)?);
    }
    let mut least: BTreeMap<u32, i32> = BTreeMap::new();
    for (m, _) in above.iter().flat_map(Polynomial::terms) {
        for &(atom, n) in m.factors().iter().filter(|f| f.1 < 0) {
            let power = least.entry(atom).or_insert(0);
            *power = (*power).min(n);
        }
    }
    let mut common = Monomial::one();
    for (&atom, &n) in &least {
        common = common.times(&Monomial::atom(atom, -n));
    }
    for p in &mut above {
        let cleared = p.times_term(&common, &Coefficient::one())?;
        *p = field.atoms.reduced(cleared, &mut field.budget)?;
    }
    Some(above)
}

/// Rows with a leading 1, each in a column of its own.
struct Elimination<'a> {
    field: &'a mut Field,
    columns: usize,
    rows: Vec<(usize, Vec<Quotient>)>,
}

impl Elimination<'_> {
    fn add(&mut self, mut row: Vec<Quotient>) -> Option<()> {
        for i in 0..self.rows.len() {
            let (pivot, known) = self.rows[i].clone();
            row = self.without(row, pivot, &known)?;
        }
        let Some(pivot) = row.iter().position(|q| !q.above.is_zero()) else { return Some(()) };
        let inverse = self.field.inverse(&row[pivot])?;
        for q in row.iter_mut().filter(|q| !q.above.is_zero()) {
            *q = self.field.times(q, &inverse)?;
        }
        for i in 0..self.rows.len() {
            let known = std::mem::take(&mut self.rows[i].1);
            self.rows[i].1 = self.without(known, pivot, &row)?;
        }
        self.rows.push((pivot, row));
        Some(())
    }

    /// A row without its entry in the column of another.
    fn without(
        &mut self,
        mut row: Vec<Quotient>,
        pivot: usize,
        other: &[Quotient],
    ) -> Option<Vec<Quotient>> {
        if row[pivot].above.is_zero() {
            return Some(row);
        }
        let factor =
            Quotient { above: row[pivot].above.opposite(), below: row[pivot].below.clone() };
        for (x, y) in row.iter_mut().zip(other).filter(|(_, y)| !y.above.is_zero()) {
            let product = self.field.times(&factor, y)?;
            *x = self.field.plus(x, &product)?;
        }
        Some(row)
    }

    fn null_space(&self) -> Vec<Vec<Quotient>> {
        let is_free = |j: &usize| self.rows.iter().all(|r| r.0 != *j);
        let relation = |free: usize| {
            let mut c = vec![Quotient::of(Polynomial::zero()); self.columns];
            c[free] = Quotient::of(Polynomial::one());
            for (pivot, row) in &self.rows {
                let Quotient { above, below } = row[free].clone();
                c[*pivot] = Quotient { above: above.opposite(), below };
            }
            c
        };
        (0..self.columns).filter(is_free).map(relation).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role, ZeroTest};

    fn texts(g: &Graph, relations: &[Vec<crate::Expr>]) -> Vec<String> {
        relations
            .iter()
            .map(|c| c.iter().map(|&c| g.to_text(c)).collect::<Vec<_>>().join(", "))
            .collect()
    }

    #[test]
    fn relations_by_sines_and_roots() {
        let g = Graph::new();
        let [a, x] = ["a", "x"].map(|n| g.symbol(n, Role::Free));
        let [r, R] = ["r", "R"].map(|n| g.symbol(n, Role::Parameter));
        let (s, c) = (g.sin(a), g.cos(a));
        // 1/s − c²/s − s = 0
        let one_by_s = g.div(g.one(), s);
        let found = g.constant_relations(&[
            vec![one_by_s],
            vec![g.div(g.mul(c, c), s)],
            vec![s],
            vec![x],
        ]);
        assert_eq!(texts(&g, &found.expect("short")), ["1, -1, -1, 0"]);
        // sin(a + π/3) by sine and cosine
        let third = g.sin(g.add(a, g.div(g.pi(), g.integer(3))));
        let found = g.constant_relations(&[vec![s], vec![c], vec![third]]).expect("short");
        assert_eq!(texts(&g, &found), ["1, sqrt(3), -2"]);
        // Two components at once, with parameters: (r, 1), (R, 2), (r + 2R, 5)
        let rows = [
            vec![g.mul(r, x), a],
            vec![g.mul(R, x), g.mul(g.integer(2), a)],
            vec![g.mul(g.add(r, g.mul(g.integer(2), R)), x), g.mul(g.integer(5), a)],
        ];
        let found = g.constant_relations(&rows).expect("short");
        assert_eq!(texts(&g, &found), ["1, 2, -1"]);
        let found = g.constant_relations(&rows[..2]).expect("short");
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn relations_hold() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let [m, k] = ["m", "k"].map(|n| g.symbol(n, Role::Parameter));
        let root = g.sqrt(g.add(g.mul(x, x), g.mul(y, y)));
        let functions = [
            g.div(g.mul(m, x), root),
            g.div(g.mul(x, root), g.add(g.mul(x, x), g.mul(y, y))),
            g.mul(g.sub(m, k), g.mul(x, y)),
            g.div(g.mul(x, y), g.add(m, k)),
        ];
        let vectors: Vec<Vec<crate::Expr>> = functions.iter().map(|&f| vec![f]).collect();
        let found = g.constant_relations(&vectors).expect("short");
        assert_eq!(found.len(), 2);
        for c in &found {
            let sum = g.dot(c, &functions);
            assert_eq!(g.zero_test(sum), ZeroTest::Zero, "{}", g.to_text(sum));
        }
    }
}
