//! Formulas as sums of parts: fractions that differ in their denominators, squares of sums beside each other.

use std::collections::BTreeMap;

use num_traits::One;

use super::atoms::Atom;
use super::collect::{Collector, DIVISION};
use super::form::{Form, rank};
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial};
use super::quotient::Quotient;
use super::roots::{root_of, square_root};

/// Longer sums are not taken apart.
const MOST: usize = 120;

impl Collector<'_> {
    /// A quotient as a sum of parts that have different denominators: $p_x^2/2m$ beside what has the determinant of
    /// the masses below. Nothing where all terms have one denominator.
    pub(super) fn apart(&mut self, q: &Quotient) -> Option<Vec<Quotient>> {
        if q.above.len() < 2 || q.above.len() > MOST {
            return None;
        }
        self.work.spend(4 * q.above.len())?;
        let inside = self.atoms_below(q);
        // What is multiplied with each product of atoms that no denominator has.
        let mut groups: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
        for (m, k) in q.above.terms() {
            let mut outer = Monomial::one();
            for &(atom, n) in m.factors().iter().filter(|f| !inside.contains(&f.0)) {
                outer = outer.times(&Monomial::atom(atom, n));
            }
            groups.entry(outer).or_default().add_term(m.clone(), k)?;
        }
        if groups.len() < 2 {
            return None;
        }
        let mut parts: BTreeMap<Denominator, Polynomial> = BTreeMap::new();
        for above in groups.into_values() {
            self.work.spend(8 * above.len())?;
            let part = Quotient { above, below: q.below.clone() };
            let Quotient { above, below } = self.field.cancelled(part)?;
            let mut powers = Monomial::one();
            for &(atom, n) in above.common_monomial().factors().iter().filter(|f| f.1 < 0) {
                powers = powers.times(&Monomial::atom(atom, n));
            }
            let sum = parts.entry((below, powers)).or_default();
            *sum = sum.plus(&above)?;
        }
        let is_apart = parts.len() > 1;
        let quotient = |((below, _), above)| Quotient { above, below };
        is_apart.then(|| parts.into_iter().map(quotient).collect())
    }

    /// Quotient and rest of the division by a denominator that is one sum.
    pub(super) fn division(&mut self, q: &Quotient) -> Option<(Quotient, Quotient)> {
        let mut factors = q.below.iter();
        let (Some((&f, 1)), None) = (factors.next(), factors.next()) else { return None };
        let divisor = &self.field.factors[f];
        let (quotient, rest) = q.above.division(divisor, &mut Budget(DIVISION))?;
        let is_proper = !quotient.is_zero() && !rest.is_zero();
        is_proper
            .then(|| (Quotient::of(quotient), Quotient { above: rest, below: q.below.clone() }))
    }

    /// The terms with some atom of which the denominator is a factor, and the others: a weight beside forces that
    /// have the determinant of the masses below.
    pub(super) fn divisible_terms(&mut self, q: &Quotient) -> Vec<(Quotient, Quotient)> {
        const MAX_ABOVE: usize = 120;
        let below: Vec<(Polynomial, u32)> =
            q.below.iter().map(|(&f, &n)| (self.field.factors[f].clone(), n)).collect();
        let mut found = Vec::new();
        if q.above.len() > MAX_ABOVE {
            return found;
        }
        for atom in q.above.atoms() {
            if below.iter().any(|(f, _)| f.atoms().contains(&atom)) {
                continue;
            }
            let (mut whole, mut rest) = (Polynomial::zero(), Polynomial::zero());
            for (n, part) in q.above.by_power(atom) {
                let Some(part) = part.times_term(&Monomial::atom(atom, n), &Coefficient::one())
                else {
                    continue;
                };
                let (side, part) = match self.without_factors(&part, &below) {
                    Some(quotient) => (&mut whole, quotient),
                    None => (&mut rest, part),
                };
                let Some(sum) = side.plus(&part) else { return found };
                *side = sum;
            }
            if !whole.is_zero() && !rest.is_zero() {
                let rest = Quotient { above: rest, below: q.below.clone() };
                found.push((Quotient::of(whole), rest));
            }
        }
        found
    }

    fn without_factors(
        &mut self,
        p: &Polynomial,
        factors: &[(Polynomial, u32)],
    ) -> Option<Polynomial> {
        let mut quotient = p.clone();
        for (factor, n) in factors {
            for _ in 0..*n {
                self.work.spend(quotient.len() * factor.len())?;
                quotient = match quotient.divided_by(factor, &mut Budget(DIVISION)) {
                    Some(plain) => plain,
                    // With sines, whose squares are written by cosines.
                    None => self.field.divided(&quotient, factor)?,
                };
            }
        }
        Some(quotient)
    }

    /// The atoms that stand in denominators, sines and cosines of one angle together.
    fn atoms_below(&mut self, q: &Quotient) -> Vec<u32> {
        let mut inside: Vec<u32> = Vec::new();
        for &f in q.below.keys() {
            inside.extend(self.field.factors[f].atoms());
        }
        for (m, _) in q.above.terms() {
            inside.extend(m.factors().iter().filter(|f| f.1 < 0).map(|f| f.0));
        }
        for i in 0..inside.len() {
            let angle = match self.field.atoms.atom(inside[i]) {
                Atom::Cos(angle) | Atom::Sin(angle) => angle.clone(),
                Atom::Node(_) | Atom::Tan(_) | Atom::Exp(_) | Atom::Root(_) => continue,
            };
            let (sine, cosine) = self.field.atoms.circle(&angle);
            inside.extend([sine, cosine]);
        }
        inside.sort_unstable();
        inside.dedup();
        inside
    }

    /// $(x_1 - x_2)^2 + (y_1 - y_2)^2 + \dots$: terms that share what varies belong together, and some of these groups
    /// are squares.
    pub(super) fn by_squares(&mut self, p: &Polynomial) -> Option<Form> {
        if p.len() < 4 || p.len() > MOST {
            return None;
        }
        self.work.spend(2 * p.len())?;
        let mut groups: Vec<(Vec<u32>, Polynomial)> = Vec::new();
        for (m, k) in p.terms() {
            let mut atoms: Vec<u32> = Vec::new();
            for &(atom, _) in m.factors() {
                self.know(atom);
                if self.leaves[atom as usize].place.rank >= rank::TIME {
                    atoms.push(atom);
                }
            }
            let mut sum = Polynomial::term(m.clone(), *k);
            let (same, others): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|g| g.0.iter().any(|a| atoms.contains(a)));
            groups = others;
            for (more, part) in same {
                atoms.extend(more);
                sum = sum.plus(&part)?;
            }
            groups.push((atoms, sum));
        }
        if groups.len() < 2 {
            return None;
        }
        let (mut terms, mut rest) = (Vec::new(), Polynomial::zero());
        let (mut constants, varying): (Vec<_>, Vec<_>) =
            groups.into_iter().map(|g| g.1).partition(|part| self.is_constant_sum(part));
        for part in varying {
            // y² + 2y, where the sum has 1
            let completing = constants.iter().position(|c| {
                part.len() == 2 && part.plus(c).is_some_and(|p| self.square(&p).is_some())
            });
            let whole = match completing {
                Some(k) => part.plus(&constants.remove(k))?,
                None => part,
            };
            match self.square(&whole) {
                Some(square) => terms.push(square),
                None => rest = rest.plus(&whole)?,
            }
        }
        for part in constants {
            rest = rest.plus(&part)?;
        }
        if terms.is_empty() {
            return None;
        }
        if !rest.is_zero() {
            terms.extend(self.grouped(&rest).terms());
        }
        Some(Form::Sum(terms))
    }

    /// The terms of each degree in the velocities by themselves: an energy is not mixed with another one.
    pub(super) fn by_speeds(&mut self, p: &Polynomial) -> Option<Form> {
        if p.len() > MOST {
            return None;
        }
        self.work.spend(p.len())?;
        let mut parts: BTreeMap<i32, Polynomial> = BTreeMap::new();
        for (m, k) in p.terms() {
            let speed = self.term(m, *k).speed(&self.leaves);
            parts.entry(-speed).or_default().add_term(m.clone(), k)?;
        }
        // NOTE: fractions are better apart.
        let is_whole =
            |p: &Polynomial| p.terms().all(|(m, _)| m.factors().iter().all(|f| f.1 > 0));
        let fastest = parts.values().next().is_some_and(is_whole);
        if parts.len() < 2 || parts.len() == p.len() || !fastest {
            return None;
        }
        let terms = parts.values().map(|part| self.grouped(part)).collect::<Vec<Form>>();
        Some(Form::Sum(terms.into_iter().flat_map(Form::terms).collect()))
    }

    /// A factor of $Ax^2 + Bx + C$ with polynomials $A$, $B$ and $C$, where $B^2 - 4AC = R^2$: of the product
    /// $(2Ax + B - R)(2Ax + B + R) = 4A(Ax^2 + Bx + C)$.
    pub(super) fn factor_of_quadratic(&mut self, p: &Polynomial) -> Option<Polynomial> {
        const SHORT: usize = 10;
        if p.len() < 3 || p.len() > SHORT {
            return None;
        }
        let number = Coefficient::from_integer;
        for x in p.atoms() {
            let powers = p.by_power(x);
            let is_quadratic = powers.keys().all(|n| (0..=2).contains(n));
            let (Some(a), true) = (powers.get(&2), is_quadratic) else { continue };
            self.work.spend(4 * p.len())?;
            let empty = Polynomial::zero();
            let [b, c] = [1, 0].map(|n| powers.get(&n).unwrap_or(&empty));
            let square = self.field.times_polynomials(b, b)?;
            let product = self.field.times_polynomials(a, c)?;
            let rest = product.times_term(&Monomial::one(), &number(-4))?;
            let discriminant = square.plus(&rest)?;
            let Some(root) = root_of(&discriminant) else { continue };
            let twice = a.times_term(&Monomial::atom(x, 1), &number(2))?;
            let factor = twice.plus(b)?.plus(&root.opposite())?.stripped();
            if let Some(factor) = factor.filter(|f| f.len() > 1) {
                return Some(factor);
            }
        }
        None
    }

    /// A short sum as the product of two that are known: $(1 - \mu)(x + \mu)$.
    pub(super) fn product_of_known(&mut self, p: &Polynomial) -> Option<Form> {
        if !(3..=6).contains(&p.len()) || self.sums.is_empty() {
            return None;
        }
        let common = p.common_monomial();
        let (primitive, k) = p.primitive()?;
        let rest = primitive.times_term(&common.inverse(), &Coefficient::one())?;
        let atoms = rest.atoms();
        let pairs = self.sums.iter().filter(|s| s.len() == 2 && s.len() < rest.len());
        let fitting = pairs.filter(|s| s.atoms().iter().all(|a| atoms.contains(a)));
        let fitting: Vec<Polynomial> = fitting.cloned().collect();
        for sum in fitting {
            self.work.spend(rest.len() * sum.len())?;
            let Some(other) = rest.divided_by(&sum, &mut Budget(DIVISION)) else { continue };
            let product = self.flat(&sum).times(self.flat(&other));
            return Some(self.term(&common, k).times(product));
        }
        None
    }

    /// Whether nothing in it varies.
    fn is_constant_sum(&self, p: &Polynomial) -> bool {
        p.atoms().into_iter().all(|a| self.leaves[a as usize].place.rank < rank::TIME)
    }

    /// $k\,c\,(a + b)^2$
    fn square(&mut self, p: &Polynomial) -> Option<Form> {
        let common = p.common_monomial();
        let (primitive, k) = p.primitive()?;
        let root = square_root(&primitive.times_term(&common.inverse(), &Coefficient::one())?)?;
        let sum = self.root(&root);
        Some(self.term(&common, k).times(sum.clone()).times(sum))
    }
}

/// Factors of several terms, and powers of atoms.
type Denominator = (BTreeMap<usize, u32>, Monomial);
