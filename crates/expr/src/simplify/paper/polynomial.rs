//! Polynomials in numbered atoms, with whole exponents that may be negative and rational coefficients.
//!
//! $\sum_k c_k \prod_i a_i^{n_{ki}}$. Coefficients are fractions of machine integers; what does not fit, or takes
//! more work than is allowed, gives `None`, and the caller keeps the expression as it was.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_integer::Integer;
use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedMul, One, Signed, Zero};

pub(super) type Coefficient = Ratio<i128>;

/// A product of atoms; atoms ascend and no exponent is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Monomial(Vec<(u32, i32)>);

impl Monomial {
    pub(super) fn one() -> Self {
        Self::default()
    }

    pub(super) fn atom(atom: u32, n: i32) -> Self {
        if n == 0 { Self::one() } else { Self(vec![(atom, n)]) }
    }

    pub(super) fn factors(&self) -> &[(u32, i32)] {
        &self.0
    }

    pub(super) fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn exponent(&self, atom: u32) -> i32 {
        match self.0.binary_search_by_key(&atom, |f| f.0) {
            Ok(place) => self.0[place].1,
            Err(_) => 0,
        }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut product = Vec::with_capacity(self.0.len() + other.0.len());
        loop {
            match (a.peek(), b.peek()) {
                (Some(&&x), Some(&&y)) => match x.0.cmp(&y.0) {
                    Ordering::Less => {
                        product.push(x);
                        a.next();
                    }
                    Ordering::Greater => {
                        product.push(y);
                        b.next();
                    }
                    Ordering::Equal => {
                        if x.1 + y.1 != 0 {
                            product.push((x.0, x.1 + y.1));
                        }
                        a.next();
                        b.next();
                    }
                },
                (Some(&&x), None) => {
                    product.push(x);
                    a.next();
                }
                (None, Some(&&y)) => {
                    product.push(y);
                    b.next();
                }
                (None, None) => return Self(product),
            }
        }
    }

    pub(super) fn inverse(&self) -> Self {
        Self(self.0.iter().map(|&(a, n)| (a, -n)).collect())
    }

    /// The same product with another power of one atom.
    pub(super) fn with(&self, atom: u32, n: i32) -> Self {
        let mut factors: Vec<(u32, i32)> =
            self.0.iter().copied().filter(|f| f.0 != atom).collect();
        if n != 0 {
            let place = factors.partition_point(|f| f.0 < atom);
            factors.insert(place, (atom, n));
        }
        Self(factors)
    }

    fn has_negative(&self) -> bool {
        self.0.iter().any(|f| f.1 < 0)
    }
}

/// Lexicographic: the larger power of the first atom that differs is larger, so that products keep the order.
impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (self.0.iter(), other.0.iter());
        loop {
            match (a.next(), b.next()) {
                (None, None) => return Ordering::Equal,
                (Some(x), None) => return x.1.cmp(&0),
                (None, Some(y)) => return 0.cmp(&y.1),
                (Some(x), Some(y)) if x == y => {}
                (Some(x), Some(y)) => {
                    return match x.0.cmp(&y.0) {
                        Ordering::Equal => x.1.cmp(&y.1),
                        Ordering::Less => x.1.cmp(&0),
                        Ordering::Greater => 0.cmp(&y.1),
                    };
                }
            }
        }
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How much work is left; every product of two terms is one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(pub(super) usize);

impl Budget {
    /// Polynomials with more terms than this are not for the eye.
    const MAX_TERMS: usize = 1_500;

    pub(super) fn spend(&mut self, work: usize) -> Option<()> {
        self.0 = self.0.checked_sub(work)?;
        Some(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Polynomial {
    terms: BTreeMap<Monomial, Coefficient>,
}

impl Polynomial {
    pub(super) fn zero() -> Self {
        Self::default()
    }

    pub(super) fn one() -> Self {
        Self::number(Coefficient::one())
    }

    pub(super) fn number(value: Coefficient) -> Self {
        Self::term(Monomial::one(), value)
    }

    pub(super) fn atom(atom: u32) -> Self {
        Self::term(Monomial::atom(atom, 1), Coefficient::one())
    }

    pub(super) fn term(monomial: Monomial, k: Coefficient) -> Self {
        let mut terms = BTreeMap::new();
        if !k.is_zero() {
            terms.insert(monomial, k);
        }
        Self { terms }
    }

    pub(super) fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, &Coefficient)> {
        self.terms.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The largest term.
    pub(super) fn lead(&self) -> Option<(&Monomial, &Coefficient)> {
        self.terms.last_key_value()
    }

    /// The only term, if there is one only.
    pub(super) fn as_term(&self) -> Option<(&Monomial, &Coefficient)> {
        if self.len() == 1 { self.terms.iter().next() } else { None }
    }

    pub(super) fn coefficient(&self, monomial: &Monomial) -> Option<&Coefficient> {
        self.terms.get(monomial)
    }

    pub(super) fn remove(&mut self, monomial: &Monomial) {
        self.terms.remove(monomial);
    }

    /// Adds one term; `None` if the number grows too long.
    pub(super) fn add_term(&mut self, monomial: Monomial, k: &Coefficient) -> Option<()> {
        match self.terms.entry(monomial) {
            std::collections::btree_map::Entry::Vacant(place) => {
                if !k.is_zero() {
                    place.insert(*k);
                }
            }
            std::collections::btree_map::Entry::Occupied(mut place) => {
                let sum = place.get().checked_add(k)?;
                if sum.is_zero() {
                    place.remove();
                } else {
                    place.insert(sum);
                }
            }
        }
        Some(())
    }

    pub(super) fn plus(&self, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        for (m, k) in &other.terms {
            sum.add_term(m.clone(), k)?;
        }
        Some(sum)
    }

    pub(super) fn opposite(&self) -> Self {
        Self { terms: self.terms.iter().map(|(m, k)| (m.clone(), -*k)).collect() }
    }

    pub(super) fn times_term(&self, monomial: &Monomial, k: &Coefficient) -> Option<Self> {
        let mut terms = BTreeMap::new();
        for (m, c) in &self.terms {
            terms.insert(m.times(monomial), c.checked_mul(k)?);
        }
        Some(Self { terms })
    }

    pub(super) fn times(&self, other: &Self, budget: &mut Budget) -> Option<Self> {
        budget.spend(self.len() * other.len() + 1)?;
        let mut product = Self::zero();
        for (m, k) in &self.terms {
            for (n, j) in &other.terms {
                product.add_term(m.times(n), &k.checked_mul(j)?)?;
            }
            if product.len() > Budget::MAX_TERMS {
                return None;
            }
        }
        Some(product)
    }

    /// The atoms that occur, ascending.
    pub(super) fn atoms(&self) -> Vec<u32> {
        let mut atoms: Vec<u32> =
            self.terms.keys().flat_map(|m| m.factors().iter().map(|f| f.0)).collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// The largest product that divides every term; an atom that some term lacks counts with its negative powers.
    pub(super) fn common_monomial(&self) -> Monomial {
        let mut common = Monomial::one();
        for atom in self.atoms() {
            let least = self.terms.keys().map(|m| m.exponent(atom)).min().unwrap_or(0);
            common = common.times(&Monomial::atom(atom, least));
        }
        common
    }

    /// The greatest number that leaves whole coefficients without a common factor; positive.
    pub(super) fn content(&self) -> Option<Coefficient> {
        let mut above = 0_i128;
        let mut below = 1_i128;
        for k in self.terms.values() {
            above = above.gcd(k.numer());
            let common = below.gcd(k.denom());
            below = below.checked_mul(k.denom() / common)?;
        }
        Some(Coefficient::new(above.max(1), below))
    }

    /// The quotient, if the division leaves no rest.
    pub(super) fn divided_by(&self, divisor: &Self, budget: &mut Budget) -> Option<Self> {
        if let Some((m, k)) = divisor.as_term() {
            return self.times_term(&m.inverse(), &k.recip());
        }
        let (lead, k) = divisor.terms.last_key_value()?;
        // NOTE: with all exponents of both at least zero, every quotient's term must be free of negative ones.
        let (mine, its) = (self.common_monomial(), divisor.common_monomial());
        if !mine.is_one() || !its.is_one() {
            let one = Coefficient::one();
            let above = self.times_term(&mine.inverse(), &one)?;
            let below = divisor.times_term(&its.inverse(), &one)?;
            let quotient = above.divided_by(&below, budget)?;
            return quotient.times_term(&mine.times(&its.inverse()), &one);
        }
        let (mut rest, mut quotient) = (self.clone(), Self::zero());
        let inverse = lead.inverse();
        while let Some((m, c)) = rest.terms.last_key_value() {
            let factor = m.times(&inverse);
            if factor.has_negative() {
                return None;
            }
            let c = c.checked_mul(&k.recip())?;
            budget.spend(divisor.len())?;
            for (n, j) in &divisor.terms {
                rest.add_term(factor.times(n), &-j.checked_mul(&c)?)?;
            }
            quotient.add_term(factor, &c)?;
            if rest.len() + quotient.len() > 2 * Budget::MAX_TERMS {
                return None;
            }
        }
        Some(quotient)
    }

    /// Quotient and rest: no term of the rest is divisible by the leading term of the divisor.
    pub(super) fn division(&self, divisor: &Self, budget: &mut Budget) -> Option<(Self, Self)> {
        let (lead, k) = divisor.terms.last_key_value()?;
        let (inverse, mut left) = (lead.inverse(), self.clone());
        let (mut quotient, mut rest) = (Self::zero(), Self::zero());
        while let Some((m, c)) = left.terms.pop_last() {
            let divides = lead.factors().iter().all(|&(a, n)| m.exponent(a) >= n);
            if !divides {
                rest.terms.insert(m, c);
                continue;
            }
            let (factor, c) = (m.times(&inverse), c.checked_mul(&k.recip())?);
            budget.spend(divisor.len())?;
            for (n, j) in divisor.terms.iter().rev().skip(1) {
                left.add_term(factor.times(n), &-j.checked_mul(&c)?)?;
            }
            quotient.add_term(factor, &c)?;
        }
        Some((quotient, rest))
    }

    /// The coefficients of the powers of an atom, by exponent.
    pub(super) fn by_power(&self, atom: u32) -> BTreeMap<i32, Self> {
        let mut powers: BTreeMap<i32, Self> = BTreeMap::new();
        for (m, k) in &self.terms {
            let n = m.exponent(atom);
            powers.entry(n).or_default().terms.insert(m.with(atom, 0), *k);
        }
        powers
    }

    /// A sum without common factors, if it is one.
    pub(super) fn stripped(&self) -> Option<Self> {
        if self.len() < 2 {
            return None;
        }
        let (primitive, _) = self.primitive()?;
        primitive.times_term(&self.common_monomial().inverse(), &Coefficient::one())
    }

    /// Divided by its content, with the sign that makes the last term positive; and what it was divided by.
    pub(super) fn primitive(&self) -> Option<(Self, Coefficient)> {
        let mut content = self.content()?;
        if self.terms.last_key_value().is_some_and(|(_, k)| k.is_negative()) {
            content = -content;
        }
        Some((self.times_term(&Monomial::one(), &content.recip())?, content))
    }
}

/// The greatest common divisor of two polynomials without negative exponents, up to a number; `None` where the
/// search takes too long.
///
/// Euclid's algorithm in one atom after the other, with coefficients made primitive at each step.
pub(super) fn common_divisor(
    a: &Polynomial,
    b: &Polynomial,
    budget: &mut Budget,
) -> Option<Polynomial> {
    if a.is_zero() || b.is_zero() {
        return Some(if a.is_zero() { b.clone() } else { a.clone() });
    }
    let (mine, its) = (a.atoms(), b.atoms());
    let Some(&main) = mine.iter().find(|x| its.contains(x)) else {
        return Some(Polynomial::one());
    };
    // An atom that only one of them has: the divisor divides each of its coefficients.
    for (p, q, atoms) in [(a, b, &its), (b, a, &mine)] {
        if let Some(&own) = p.atoms().iter().find(|x| !atoms.contains(x)) {
            let mut divisor = q.clone();
            for part in p.by_power(own).values() {
                divisor = common_divisor(&divisor, part, budget)?;
                if divisor.as_term().is_some_and(|(m, _)| m.is_one()) {
                    break;
                }
            }
            return Some(divisor);
        }
    }
    let (mut high, k) = without_content(a, main, budget)?;
    let (mut low, j) = without_content(b, main, budget)?;
    let content = common_divisor(&k, &j, budget)?;
    if degree(&high, main) < degree(&low, main) {
        std::mem::swap(&mut high, &mut low);
    }
    while degree(&low, main) > 0 {
        let rest = pseudo_remainder(&high, &low, main, budget)?;
        high = low;
        low = if rest.is_zero() { rest } else { without_content(&rest, main, budget)?.0 };
        if low.is_zero() {
            let divisor = content.times(&high, budget)?;
            return Some(divisor.primitive()?.0);
        }
    }
    Some(content)
}

fn degree(p: &Polynomial, atom: u32) -> i32 {
    p.terms().map(|(m, _)| m.exponent(atom)).max().unwrap_or(0)
}

/// The polynomial without what divides its coefficients of the powers of an atom, and that.
fn without_content(
    p: &Polynomial,
    atom: u32,
    budget: &mut Budget,
) -> Option<(Polynomial, Polynomial)> {
    let mut content = Polynomial::zero();
    for part in p.by_power(atom).values() {
        content = common_divisor(&content, part, budget)?;
    }
    let rest = p.divided_by(&content, budget)?;
    Some((rest.primitive()?.0, content))
}

/// $\ell^k a \bmod b$ with the leading coefficient $\ell$ of $b$.
fn pseudo_remainder(
    a: &Polynomial,
    b: &Polynomial,
    atom: u32,
    budget: &mut Budget,
) -> Option<Polynomial> {
    let n = degree(b, atom);
    let lead = b.by_power(atom).remove(&n)?;
    let mut rest = a.clone();
    while !rest.is_zero() && degree(&rest, atom) >= n {
        let m = degree(&rest, atom);
        let top = rest.by_power(atom).remove(&m)?;
        let shift = Monomial::atom(atom, m - n);
        let taken = b.times(&top.times_term(&shift, &Coefficient::one())?, budget)?;
        rest = rest.times(&lead, budget)?.plus(&taken.opposite())?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(n: i128) -> Coefficient {
        Coefficient::from_integer(n)
    }

    /// $\sum k\,x^a y^b$
    fn polynomial(terms: &[(i128, i32, i32)]) -> Polynomial {
        let mut p = Polynomial::zero();
        for &(k, a, b) in terms {
            let m = Monomial::atom(0, a).times(&Monomial::atom(1, b));
            p.add_term(m, &whole(k)).expect("small numbers");
        }
        p
    }

    #[test]
    fn products_divide_and_others_do_not() {
        let mut budget = Budget(100_000);
        let a = polynomial(&[(1, 2, 0), (-3, 1, 1), (2, 0, 4), (5, 0, 0)]);
        let b = polynomial(&[(1, 1, 0), (2, 0, 1), (-1, 0, 0)]);
        let product = a.times(&b, &mut budget).expect("it is small");
        assert_eq!(product.divided_by(&a, &mut budget), Some(b.clone()));
        assert_eq!(product.divided_by(&b, &mut budget), Some(a.clone()));
        let more = product.plus(&Polynomial::one()).expect("small numbers");
        assert_eq!(more.divided_by(&b, &mut budget), None);
        // Negative powers are moved aside.
        let low = polynomial(&[(1, -2, 1), (1, -3, 0)]);
        let product = low.times(&b, &mut budget).expect("it is small");
        assert_eq!(product.divided_by(&low, &mut budget), Some(b));
    }

    #[test]
    fn division_with_rest() {
        let a = polynomial(&[(1, 2, 1), (3, 1, 0), (5, 0, 2), (1, 0, 0)]);
        let b = polynomial(&[(2, 1, 0), (1, 0, 1)]);
        let budget = &mut Budget(1_000);
        let (quotient, rest) = a.division(&b, budget).expect("it is small");
        let product = quotient.times(&b, budget).expect("it is small");
        assert_eq!(product.plus(&rest), Some(a));
        assert!(rest.terms().all(|(m, _)| m.exponent(0) == 0));
    }

    #[test]
    fn content_and_common_powers() {
        let p = polynomial(&[(4, 2, -1), (-6, 3, 1)]);
        assert_eq!(p.content(), Some(whole(2)));
        assert_eq!(p.common_monomial(), Monomial::atom(0, 2).times(&Monomial::atom(1, -1)));
        let (primitive, by) = p.primitive().expect("small numbers");
        assert_eq!(by, whole(-2));
        assert_eq!(primitive, polynomial(&[(-2, 2, -1), (3, 3, 1)]));
        assert_eq!(p.by_power(0)[&3], polynomial(&[(-6, 0, 1)]));
    }

    #[test]
    fn common_divisors_of_products() {
        let mut budget = Budget(100_000);
        let a = polynomial(&[(2, 1, 1), (3, 0, 0)]);
        let b = polynomial(&[(1, 2, 0), (-1, 0, 1), (4, 0, 0)]);
        let c = polynomial(&[(1, 1, 0), (5, 0, 2)]);
        let mut product =
            |x: &Polynomial, y: &Polynomial| x.times(y, &mut budget).expect("small");
        let (ab, ac, aa) = (product(&a, &b), product(&a, &c), product(&a, &a));
        let mut budget = Budget(100_000);
        assert_eq!(common_divisor(&ab, &ac, &mut budget), Some(a.clone()));
        assert_eq!(common_divisor(&aa, &ab, &mut budget), Some(a.clone()));
        let one = common_divisor(&b, &c, &mut budget).expect("small");
        assert_eq!(one.as_term().map(|(m, _)| m.is_one()), Some(true));
        assert_eq!(common_divisor(&ab, &ac, &mut Budget(5)), None);
    }

    #[test]
    fn work_and_numbers_have_an_end() {
        let p = polynomial(&[(1, 1, 0), (1, 0, 1), (1, 0, 0)]);
        assert_eq!(p.times(&p, &mut Budget(3)), None);
        let large = Polynomial::number(whole(i128::MAX / 2));
        assert_eq!(large.times(&large, &mut Budget(100)), None);
    }
}
