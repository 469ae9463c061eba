//! Quotients of polynomials: $N/\prod_j F_j^{n_j}$ with factors $F_j$ that have several terms each.
//!
//! Products of atoms in a denominator are negative exponents in $N$. What divides $N$ is cancelled; sines are
//! cancelled by $1 - c^2 = s^2$.

use std::collections::BTreeMap;

use num_traits::One;

use super::atoms::{Atom, Atoms};
use super::polynomial::{Budget, Coefficient, Monomial, Polynomial, common_divisor};

/// Work on one greatest common divisor.
const DIVISOR: usize = 3_000;
/// Polynomials with more terms are not searched for common divisors.
const MAX_SEARCHED: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Quotient {
    pub(super) above: Polynomial,
    /// Factors by their numbers in [`Field::factors`].
    pub(super) below: BTreeMap<usize, u32>,
}

impl Quotient {
    pub(super) fn of(above: Polynomial) -> Self {
        Self { above, below: BTreeMap::new() }
    }
}

/// Arithmetic of quotients over some atoms.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) atoms: Atoms,
    pub(super) factors: Vec<Polynomial>,
    pub(super) budget: Budget,
}

impl Field {
    pub(super) fn times_polynomials(
        &mut self,
        a: &Polynomial,
        b: &Polynomial,
    ) -> Option<Polynomial> {
        let product = a.times(b, &mut self.budget)?;
        self.atoms.reduced(product, &mut self.budget)
    }

    pub(super) fn plus(&mut self, a: &Quotient, b: &Quotient) -> Option<Quotient> {
        if a.below == b.below {
            let above = a.above.plus(&b.above)?;
            return self.cancelled(Quotient { above, below: a.below.clone() });
        }
        let mut below = a.below.clone();
        for (&f, &n) in &b.below {
            let power = below.entry(f).or_insert(0);
            *power = (*power).max(n);
        }
        let above = self.extended(a, &below)?.plus(&self.extended(b, &below)?)?;
        self.cancelled(Quotient { above, below })
    }

    /// The numerator over a larger denominator.
    pub(super) fn extended(
        &mut self,
        q: &Quotient,
        below: &BTreeMap<usize, u32>,
    ) -> Option<Polynomial> {
        let mut above = q.above.clone();
        for (f, &n) in below {
            for _ in q.below.get(f).copied().unwrap_or(0)..n {
                let factor = self.factors[*f].clone();
                above = self.times_polynomials(&above, &factor)?;
            }
        }
        Some(above)
    }

    pub(super) fn times(&mut self, a: &Quotient, b: &Quotient) -> Option<Quotient> {
        // Cancelling before the product keeps it small.
        let (mut a, mut b) = (a.clone(), b.clone());
        self.cancel_across(&mut a.above, &mut b.below);
        self.cancel_across(&mut b.above, &mut a.below);
        let above = self.times_polynomials(&a.above, &b.above)?;
        let mut below = a.below;
        for (f, n) in b.below {
            *below.entry(f).or_insert(0) += n;
        }
        self.cancelled(Quotient { above, below })
    }

    fn cancel_across(&mut self, above: &mut Polynomial, below: &mut BTreeMap<usize, u32>) {
        for (&f, n) in below.iter_mut() {
            while *n > 0
                && let Some(quotient) = self.divided(above, &self.factors[f].clone())
            {
                *above = quotient;
                *n -= 1;
            }
        }
        below.retain(|_, n| *n > 0);
    }

    /// The exact quotient of two reduced polynomials, also where it needs $s^2 = 1 - c^2$.
    pub(super) fn divided(
        &mut self,
        above: &Polynomial,
        below: &Polynomial,
    ) -> Option<Polynomial> {
        let mut few = Budget(4_000.min(self.budget.0));
        let plain = above.divided_by(below, &mut few);
        if plain.is_some() || above.len() * below.len() > 400 {
            return plain;
        }
        // N/(A + sB) = N(A − sB)/(A² − s²B²)
        let sine = below.atoms().into_iter().find(|&a| self.atoms.square(a).is_some())?;
        let parts = below.by_power(sine);
        let mut conjugate = Polynomial::zero();
        for (&n, part) in &parts {
            let sign = if n == 0 { Coefficient::one() } else { -Coefficient::one() };
            let term = part.times_term(&Monomial::atom(sine, n), &sign)?;
            conjugate = conjugate.plus(&term)?;
        }
        let norm = self.times_polynomials(below, &conjugate)?;
        if norm.atoms().contains(&sine) {
            return None;
        }
        let above = self.times_polynomials(above, &conjugate)?;
        self.divided(&above, &norm)
    }

    pub(super) fn inverse(&mut self, q: &Quotient) -> Option<Quotient> {
        if q.above.is_zero() {
            return None;
        }
        let mut above = Polynomial::one();
        for (&f, &n) in &q.below {
            for _ in 0..n {
                let factor = self.factors[f].clone();
                above = self.times_polynomials(&above, &factor)?;
            }
        }
        let mut result = Quotient::of(above);
        self.divide_by(&mut result, &q.above)?;
        self.cancelled(result)
    }

    /// Puts a polynomial into the denominator, as product of atoms and of factors that are known.
    fn divide_by(&mut self, q: &mut Quotient, divisor: &Polynomial) -> Option<()> {
        let common = divisor.common_monomial();
        let (mut rest, content) = divisor.primitive()?;
        rest = rest.times_term(&common.inverse(), &Coefficient::one())?;
        q.above = q.above.times_term(&Monomial::one(), &content.recip())?;
        for &(atom, n) in common.factors() {
            if let (Atom::Root(X), true) = (self.atoms.atom(atom).clone(), n > 0) {
                // 1/r = r/X
                q.above = q.above.times_term(&Monomial::atom(atom, 1), &Coefficient::one())?;
                q.above = self.atoms.reduced(q.above.clone(), &mut self.budget)?;
                self.divide_by(q, &X)?;
            } else {
                q.above = q.above.times_term(&Monomial::atom(atom, -n), &Coefficient::one())?;
            }
        }
        // 1 − c² = s²
        for atom in rest.atoms() {
            let Atom::Cos(angle) = self.atoms.atom(atom).clone() else { continue };
            let (sine, _) = self.atoms.circle(&angle);
            let square = self.atoms.square(sine)?;
            while let Some(quotient) = rest.divided_by(&square, &mut self.budget) {
                q.above = q.above.times_term(&Monomial::atom(sine, -2), &Coefficient::one())?;
                rest = quotient;
            }
        }
        // A repeated factor divides the slope as well.
        if let Some(repeated) = self.repeated(&rest) {
            let single = rest.divided_by(&repeated, &mut self.budget)?;
            self.divide_by(q, &repeated)?;
            return self.divide_by(q, &single);
        }
        for f in 0..self.factors.len() {
            let factor = self.factors[f].clone();
            if let Some(part) = self.shared(&rest, &factor)
                && part.len() < rest.len()
            {
                let other = rest.divided_by(&part, &mut self.budget)?;
                self.divide_by(q, &part)?;
                return self.divide_by(q, &other);
            }
            while rest.len() > 1
                && let Some(quotient) = rest.divided_by(&factor, &mut self.budget)
            {
                *q.below.entry(f).or_insert(0) += 1;
                rest = quotient;
            }
        }
        if let Some((m, k)) = rest.as_term() {
            q.above = q.above.times_term(&m.inverse(), &k.recip())?;
            return Some(());
        }
        let (rest, content) = rest.primitive()?;
        q.above = q.above.times_term(&Monomial::one(), &content.recip())?;
        let place = self.factors.iter().position(|f| *f == rest).unwrap_or_else(|| {
            self.factors.push(rest);
            self.factors.len() - 1
        });
        *q.below.entry(place).or_insert(0) += 1;
        Some(())
    }

    /// The quotient without what divides above and below.
    pub(super) fn cancelled(&mut self, q: Quotient) -> Option<Quotient> {
        let Quotient { mut above, mut below } = q;
        above = self.with_sines_cancelled(above)?;
        if above.is_zero() {
            return Some(Quotient::of(above));
        }
        self.cancel_across(&mut above, &mut below);
        for (f, n) in below.clone() {
            let factor = self.factors[f].clone();
            if let Some(part) = self.shared(&above, &factor)
                && part.len() < factor.len()
            {
                // N/(gh)ⁿ = (N/g)/(gⁿ⁻¹ hⁿ)
                let other = factor.divided_by(&part, &mut self.budget)?;
                below.remove(&f);
                let mut q =
                    Quotient { above: above.divided_by(&part, &mut self.budget)?, below };
                for i in 0..n {
                    self.divide_by(&mut q, &other)?;
                    if i > 0 {
                        self.divide_by(&mut q, &part)?;
                    }
                }
                return self.cancelled(q);
            }
        }
        Some(Quotient { above, below })
    }

    /// A sum that divides both, if they are short.
    fn shared(&mut self, a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
        if a.len().max(b.len()) > MAX_SEARCHED {
            return None;
        }
        let own = a.times_term(&a.common_monomial().inverse(), &Coefficient::one())?;
        let mut few = Budget(DIVISOR.min(self.budget.0));
        let before = few.0;
        let divisor = common_divisor(&own, b, &mut few);
        self.budget.0 -= before - few.0;
        divisor.filter(|d| d.len() > 1)
    }

    /// A factor that a polynomial has twice.
    fn repeated(&mut self, p: &Polynomial) -> Option<Polynomial> {
        if p.len() < 3 {
            return None;
        }
        for atom in p.atoms() {
            let powers = p.by_power(atom);
            let (&most, _) = powers.last_key_value()?;
            if most < 2 {
                continue;
            }
            let mut slope = Polynomial::zero();
            for (&n, part) in &powers {
                let k = Coefficient::from_integer(i128::from(n));
                slope = slope.plus(&part.times_term(&Monomial::atom(atom, n - 1), &k)?)?;
            }
            if let Some(found) = self.shared(p, &slope) {
                return Some(found);
            }
        }
        None
    }

    /// $N/s^k$, with $s^2 = 1 - c^2$ taken out of $N$ as often as it is there.
    fn with_sines_cancelled(&mut self, p: Polynomial) -> Option<Polynomial> {
        let mut p = p;
        for sine in p.atoms() {
            let least = p.terms().map(|(m, _)| m.exponent(sine)).min().unwrap_or(0);
            let (Atom::Sin(_), true) = (self.atoms.atom(sine), least < 0) else { continue };
            let square = self.atoms.square(sine)?;
            let shifted = p.times_term(&Monomial::atom(sine, -least), &Coefficient::one())?;
            let mut above = self.atoms.reduced(shifted, &mut self.budget)?;
            let mut power = least;
            while power < 0 {
                // (N₀ + s N₁)/s = N₁ + s N₀/s²
                let mut parts = above.by_power(sine);
                let even = parts.remove(&0).unwrap_or_default();
                let odd = parts.remove(&1).unwrap_or_default();
                let Some(even) = even.divided_by(&square, &mut self.budget) else { break };
                let even = even.times_term(&Monomial::atom(sine, 1), &Coefficient::one())?;
                above = odd.plus(&even)?;
                power += 1;
            }
            p = above.times_term(&Monomial::atom(sine, power), &Coefficient::one())?;
        }
        Some(p)
    }
}
