//! Exact square roots: of sums, of products and of numbers.

use num_traits::{CheckedDiv, CheckedMul, Signed};

use super::polynomial::{Coefficient, Monomial, Polynomial};

/// $\sqrt p$ for the square of a product or of a sum.
pub(super) fn root_of(p: &Polynomial) -> Option<Polynomial> {
    match p.as_term() {
        Some((m, k)) => Some(Polynomial::term(half_power(m)?, rational_root(k)?)),
        None => square_root(p),
    }
}

/// $a + b + \dots$ for the square of a sum: the terms of the root come one after the other, the largest first.
pub(super) fn square_root(p: &Polynomial) -> Option<Polynomial> {
    const MAX_ROOT: usize = 5;
    if p.len() < 3 || p.len() > MAX_ROOT * (MAX_ROOT + 1) / 2 {
        return None;
    }
    let (first, k) = p.lead()?;
    let (first, k) = (half_power(first)?, rational_root(k)?);
    let mut root = Polynomial::term(first.clone(), k);
    let mut rest = p.plus(&square_of_term(&first, &k)?.opposite())?;
    let double = k.checked_mul(&Coefficient::from_integer(2))?;
    while let Some((m, c)) = rest.lead() {
        if root.len() == MAX_ROOT {
            return None;
        }
        let (next, c) = (m.times(&first.inverse()), c.checked_div(&double)?);
        let twice = root.times_term(&next, &c.checked_mul(&Coefficient::from_integer(-2))?)?;
        rest = rest.plus(&twice)?.plus(&square_of_term(&next, &c)?.opposite())?;
        root.add_term(next, &c)?;
    }
    let is_turned = root.terms().next().is_some_and(|(_, k)| k.is_negative());
    Some(if is_turned { root.opposite() } else { root })
}

fn square_of_term(m: &Monomial, k: &Coefficient) -> Option<Polynomial> {
    Some(Polynomial::term(m.times(m), k.checked_mul(k)?))
}

fn half_power(m: &Monomial) -> Option<Monomial> {
    let even = m.factors().iter().all(|f| f.1 % 2 == 0);
    even.then(|| {
        let half = m.factors().iter().map(|&(a, n)| Monomial::atom(a, n / 2));
        half.fold(Monomial::one(), |p, f| p.times(&f))
    })
}

pub(super) fn rational_root(k: &Coefficient) -> Option<Coefficient> {
    Some(Coefficient::new(whole_root(*k.numer())?, whole_root(*k.denom())?))
}

fn whole_root(n: i128) -> Option<i128> {
    let root = num_integer::Roots::sqrt(&n.max(0));
    (root * root == n).then_some(root)
}
