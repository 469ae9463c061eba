//! Arguments of functions as sums of monomials, so that $\sin(a + b)$, $e^{2a}$, $\log ab$ can be taken apart.
//!
//! A form is $\sum_j r_j m_j$ with rational $r_j$ and monomials $m_j$ in atoms; what is no polynomial is an atom,
//! and so is a sum that grows beyond [`MAX_TERMS`]. Logarithms are expanded, $\log(ab) = \log a + \log b$ and
//! $\log a^y = y\log a$, as if all arguments were positive.

use num_traits::{One, Signed, ToPrimitive, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::node::{Expr, Node};
use crate::graph::number::{self, Rational};
use crate::graph::residue::Residues;
use crate::graph::store::Store;
use crate::math::function::{ArgumentForm, LogForm};

const MAX_TERMS: usize = 48;

/// What a form is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Atom {
    /// A node as it stands.
    Node(Expr),
    /// The logarithm of a node.
    Log(Expr),
    /// The logarithm of a prime number.
    LogPrime(u64),
}

/// Atoms with their exponents, in order.
pub(super) type Monomial = Vec<(Atom, i64)>;

/// $\sum_j r_j m_j$, the monomials in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MonomialSum(pub(super) Vec<(Monomial, Rational)>);

impl MonomialSum {
    fn number(value: Rational) -> Self {
        if value.is_zero() { Self::default() } else { Self(vec![(Vec::new(), value)]) }
    }

    fn atom(atom: Atom) -> Self {
        Self(vec![(vec![(atom, 1)], Rational::one())])
    }

    /// $a + k b$
    fn add(&self, b: &Self, k: &Rational) -> Self {
        let (mut i, mut j) = (0, 0);
        let mut sum = Vec::with_capacity(self.0.len() + b.0.len());
        while i < self.0.len() || j < b.0.len() {
            let order = match (self.0.get(i), b.0.get(j)) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let mut value = Rational::zero();
            let mut monomial = None;
            if order.is_le() {
                value += &self.0[i].1;
                monomial = Some(&self.0[i].0);
                i += 1;
            }
            if order.is_ge() {
                value += &b.0[j].1 * k;
                monomial = Some(&b.0[j].0);
                j += 1;
            }
            if let Some(m) = monomial
                && !value.is_zero()
            {
                sum.push((m.clone(), value));
            }
        }
        Self(sum)
    }

    fn mul(&self, b: &Self) -> Option<Self> {
        if self.0.len() * b.0.len() > MAX_TERMS {
            return None;
        }
        let mut sum = Self::default();
        for (m, r) in &self.0 {
            let row: Vec<_> = b.0.iter().map(|(n, s)| (product(m, n, 1), r * s)).collect();
            for (monomial, value) in row {
                sum = sum.add(&Self(vec![(monomial, value)]), &Rational::one());
            }
        }
        Some(sum)
    }

    /// $1/a$ of a single monomial.
    fn reciprocal(&self) -> Option<Self> {
        match &self.0[..] {
            [(m, r)] => Some(Self(vec![(product(&[], m, -1), r.recip())])),
            _ => None,
        }
    }
}

/// $m\,n^k$
fn product(m: &[(Atom, i64)], n: &[(Atom, i64)], k: i64) -> Monomial {
    let mut all: Monomial = m.to_vec();
    for &(atom, exponent) in n {
        match all.iter_mut().find(|(a, _)| *a == atom) {
            Some((_, e)) => *e += k * exponent,
            None => all.push((atom, k * exponent)),
        }
    }
    all.retain(|&(_, e)| e != 0);
    all.sort_unstable();
    all
}

/// The forms of all arguments that a list of nodes needs.
pub(super) struct MonomialSums {
    plain: FxHashMap<Expr, MonomialSum>,
    logs: FxHashMap<Expr, MonomialSum>,
    powers: FxHashMap<Expr, MonomialSum>,
}

impl MonomialSums {
    /// Sums for the arguments below these nodes, which come operands first.
    pub(super) fn new(store: &Store, live: &[Expr]) -> Self {
        let (plain, logs) = wanted(store, live);
        let mut forms = Self {
            plain: FxHashMap::default(),
            logs: FxHashMap::default(),
            powers: FxHashMap::default(),
        };
        let mut representatives: FxHashMap<Residues, Expr> = FxHashMap::default();
        for &e in live {
            let same = *representatives.entry(store.values[e.index()]).or_insert(e);
            if logs.contains(&e) {
                let form = forms.log_of(store, e).filter(|f| f.0.len() <= MAX_TERMS);
                forms
                    .logs
                    .insert(e, form.unwrap_or_else(|| MonomialSum::atom(Atom::Log(same))));
            }
            if plain.contains(&e) {
                let form = forms.plain_of(store, e).filter(|f| f.0.len() <= MAX_TERMS);
                forms
                    .plain
                    .insert(e, form.unwrap_or_else(|| MonomialSum::atom(Atom::Node(same))));
            }
            if let Node::Pow(a, b) = store.node(e)
                && let (Some(log), Some(exponent)) = (forms.logs.get(&a), forms.plain.get(&b))
                && let Some(power) = log.mul(exponent)
            {
                forms.powers.insert(e, power);
            }
        }
        forms
    }

    /// The argument as a form.
    pub(super) fn argument(&self, e: Expr) -> Option<&MonomialSum> {
        self.plain.get(&e)
    }

    /// $y\log x$ for the node $x^y$.
    pub(super) fn exponent(&self, power: Expr) -> Option<&MonomialSum> {
        self.powers.get(&power)
    }

    /// $\log x$
    pub(super) fn log(&self, x: Expr) -> Option<&MonomialSum> {
        self.logs.get(&x)
    }

    fn plain_of(&self, store: &Store, e: Expr) -> Option<MonomialSum> {
        let of = |o: Expr| self.plain.get(&o);
        let one = Rational::one();
        match store.node(e) {
            Node::Number(n) => Some(MonomialSum::number(store.numbers.exact(n).clone())),
            Node::Neg(a) => Some(MonomialSum::default().add(of(a)?, &-one)),
            Node::Add(a, b) => Some(of(a)?.add(of(b)?, &one)),
            Node::Sub(a, b) => Some(of(a)?.add(of(b)?, &-one)),
            Node::Mul(a, b) => of(a)?.mul(of(b)?),
            Node::Div(a, b) => {
                let whole = || MonomialSum(vec![(vec![(Atom::Node(b), -1)], Rational::one())]);
                of(a)?.mul(&of(b)?.reciprocal().unwrap_or_else(whole))
            }
            Node::Pow(a, b) => {
                let n = store.small_integer(b).filter(|n| (2..=8).contains(n))?;
                (1..n).try_fold(of(a)?.clone(), |power, _| power.mul(of(a)?))
            }
            Node::Unary(f, a) if f.identities().argument == ArgumentForm::Product => {
                self.logs.get(&a).cloned()
            }
            _ => None,
        }
    }

    fn log_of(&self, store: &Store, e: Expr) -> Option<MonomialSum> {
        let of = |o: Expr| self.logs.get(&o);
        match store.node(e) {
            Node::Number(n) => log_of_number(store.numbers.exact(n)),
            Node::Mul(a, b) => Some(of(a)?.add(of(b)?, &Rational::one())),
            Node::Div(a, b) => Some(of(a)?.add(of(b)?, &-Rational::one())),
            Node::Pow(a, b) => of(a)?.mul(self.plain.get(&b)?),
            Node::Unary(f, a) => match f.identities().log {
                LogForm::Opaque => None,
                LogForm::Argument => self.plain.get(&a).cloned(),
                LogForm::Multiple { numerator, denominator } => {
                    let factor = Rational::new(numerator.into(), denominator.into());
                    Some(MonomialSum::default().add(of(a)?, &factor))
                }
            },
            _ => None,
        }
    }
}

/// $\log$ of a positive number through its prime factors.
fn log_of_number(value: &Rational) -> Option<MonomialSum> {
    let mut form = MonomialSum::default();
    for (prime, exponent) in prime_factors(value)? {
        let term = MonomialSum::atom(Atom::LogPrime(prime));
        form = form.add(&term, &number::integer(exponent));
    }
    Some(form)
}

/// The primes and exponents of a positive number; `None` if it has a prime factor above a thousand, or is not positive.
pub(super) fn prime_factors(value: &Rational) -> Option<Vec<(u64, i64)>> {
    if !value.is_positive() {
        return None;
    }
    let mut factors: Vec<(u64, i64)> = Vec::new();
    for (part, sign) in [(value.numer(), 1), (value.denom(), -1)] {
        let mut rest = part.to_u64()?;
        for prime in 2..1000 {
            while rest.is_multiple_of(prime) {
                rest /= prime;
                match factors.iter_mut().find(|(p, _)| *p == prime) {
                    Some((_, e)) => *e += sign,
                    None => factors.push((prime, sign)),
                }
            }
        }
        if rest != 1 {
            return None;
        }
    }
    Some(factors)
}

type Marks = FxHashSet<Expr>;

/// The nodes whose form is needed, and those whose logarithm is.
fn wanted(store: &Store, live: &[Expr]) -> (Marks, Marks) {
    let (mut plain, mut logs) = (Marks::default(), Marks::default());
    for &e in live.iter().rev() {
        let node = store.node(e);
        match node {
            Node::Unary(f, a) => match f.identities().argument {
                ArgumentForm::Value => {}
                ArgumentForm::Sum => _ = plain.insert(a),
                ArgumentForm::Product => _ = logs.insert(a),
            },
            Node::Binary(_, _, b) => _ = plain.insert(b),
            _ => {}
        }
        if let Node::Pow(a, b) = node
            && store.small_integer(b).is_none()
        {
            logs.insert(a);
            plain.insert(b);
        }
        if plain.contains(&e)
            && matches!(
                node,
                Node::Neg(_)
                    | Node::Add(..)
                    | Node::Sub(..)
                    | Node::Mul(..)
                    | Node::Div(..)
                    | Node::Pow(..)
            )
        {
            plain.extend(node.operands());
        }
        if logs.contains(&e) {
            match node {
                Node::Mul(a, b) | Node::Div(a, b) => logs.extend([a, b]),
                Node::Unary(f, a) => match f.identities().log {
                    LogForm::Opaque => {}
                    LogForm::Argument => _ = plain.insert(a),
                    LogForm::Multiple { .. } => _ = logs.insert(a),
                },
                Node::Pow(a, b) => {
                    logs.insert(a);
                    plain.insert(b);
                }
                _ => {}
            }
        }
    }
    (plain, logs)
}
