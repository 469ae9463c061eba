//! The numbers of a graph, each once: as an exact fraction, as a double and modulo the prime.
//!
//! Most numbers of a model are small, and their arithmetic is that of machine integers: $n/d$ in lowest terms
//! with $|n|, d < 2^{31}$, so that no product or sum of products overflows. Only what is larger takes part as a
//! [`Rational`].

use std::sync::{Arc, OnceLock};

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;

use crate::graph::field;
use crate::graph::number::{self, Rational};

/// $n/d$ in lowest terms, $d > 0$, both below [`Small::END`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Small {
    pub(crate) n: i64,
    pub(crate) d: i64,
}

impl Small {
    const END: i64 = 1 << 31;

    /// Any fraction with $d \ne 0$, of whole numbers that can be negated.
    fn new(n: i64, d: i64) -> Option<Self> {
        let common = gcd(n.unsigned_abs(), d.unsigned_abs()) as i64 * d.signum();
        let (n, d) = (n / common, d / common);
        (n.abs() < Self::END && d < Self::END).then_some(Self { n, d })
    }

    fn of(value: &Rational) -> Option<Self> {
        let (n, d) = (value.numer().to_i64()?, value.denom().to_i64()?);
        (n.unsigned_abs() < Self::END as u64 && d < Self::END).then_some(Self { n, d })
    }

    fn exact(self) -> Rational {
        Rational::new_raw(BigInt::from(self.n), BigInt::from(self.d))
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Operations on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Sub,
    Mul,
}

impl Operation {
    fn of_small(self, x: Small, y: Small) -> Option<Small> {
        match self {
            Self::Add => Small::new(x.n * y.d + y.n * x.d, x.d * y.d),
            Self::Sub => Small::new(x.n * y.d - y.n * x.d, x.d * y.d),
            Self::Mul => Small::new(x.n * y.n, x.d * y.d),
        }
    }

    fn of_exact(self, x: &Rational, y: &Rational) -> Rational {
        // NOTE: a fraction is reduced by a greatest common divisor, also if its denominator is 1, and that takes
        // hundreds of times as long as the operation itself.
        if x.is_integer() && y.is_integer() {
            let (x, y) = (x.numer(), y.numer());
            return Rational::from_integer(match self {
                Self::Add => x + y,
                Self::Sub => x - y,
                Self::Mul => x * y,
            });
        }
        match self {
            Self::Add => x + y,
            Self::Sub => x - y,
            Self::Mul => x * y,
        }
    }
}

/// One number.
#[derive(Clone, Debug)]
struct Number {
    small: Option<Small>,
    /// Made when it is asked for, where the number is small.
    exact: OnceLock<Arc<Rational>>,
    double: f64,
    residue: u64,
}

/// All numbers of a graph, by index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    all: Vec<Number>,
    by_small: FxHashMap<Small, u32>,
    /// By numerator and denominator in lowest terms.
    by_large: FxHashMap<(BigInt, BigInt), u32>,
}

impl Numbers {
    /// The index of a number, which gets one if it has none.
    pub(crate) fn of(&mut self, value: Rational) -> u32 {
        if let Some(small) = Small::of(&value) {
            return self.of_small(small);
        }
        let key = (value.numer().clone(), value.denom().clone());
        if let Some(&known) = self.by_large.get(&key) {
            return known;
        }
        let (double, residue) = (number::to_f64(&value), field::residue(&value));
        let exact = OnceLock::from(Arc::new(value));
        let index = self.push(Number { small: None, exact, double, residue });
        self.by_large.insert(key, index);
        index
    }

    /// The index of a whole number.
    pub(crate) fn integer(&mut self, value: i64) -> u32 {
        self.fraction(value, 1)
    }

    /// The index of a fraction with a denominator that is not zero.
    pub(crate) fn fraction(&mut self, n: i64, d: i64) -> u32 {
        let can_be_negated = n != i64::MIN && d != i64::MIN;
        match can_be_negated.then(|| Small::new(n, d)).flatten() {
            Some(small) => self.of_small(small),
            None => self.of(Rational::new(n.into(), d.into())),
        }
    }

    fn of_small(&mut self, small: Small) -> u32 {
        if let Some(&known) = self.by_small.get(&small) {
            return known;
        }
        // Both are exact in doubles: the quotient is the nearest double.
        let double = small.n as f64 / small.d as f64;
        let residue = field::small_residue(small.n, small.d);
        let made = Number { small: Some(small), exact: OnceLock::new(), double, residue };
        let index = self.push(made);
        self.by_small.insert(small, index);
        index
    }

    fn push(&mut self, number: Number) -> u32 {
        self.all.push(number);
        self.all.len() as u32 - 1
    }

    /// Numerators and denominators have at most so many bits. Each operation could double them: without a bound
    /// the numbers of a model, and the time that they take, would grow without end.
    pub(crate) const MAX_BITS: u64 = 2_048;

    /// The sum, difference or product of two numbers; `None` where it would be longer than they and than
    /// [`Numbers::MAX_BITS`].
    pub(crate) fn combined(&mut self, operation: Operation, a: u32, b: u32) -> Option<u32> {
        let small = self.small(a).zip(self.small(b));
        if let Some(result) = small.and_then(|(x, y)| operation.of_small(x, y)) {
            return Some(self.of_small(result));
        }
        let (x, y) = (self.exact(a), self.exact(b));
        let longest = bits(x).max(bits(y)).max(Self::MAX_BITS);
        // A product of whole numbers has the bits of both: nothing cancels, and it need not be made.
        let whole = operation == Operation::Mul && x.is_integer() && y.is_integer();
        if whole && bits(x) + bits(y) > longest + 1 {
            return None;
        }
        let result = operation.of_exact(x, y);
        (bits(&result) <= longest).then(|| self.of(result))
    }

    /// $-a$
    pub(crate) fn opposite(&mut self, a: u32) -> u32 {
        match self.small(a) {
            Some(Small { n, d }) => self.of_small(Small { n: -n, d }),
            None => self.of(-self.exact(a)),
        }
    }

    /// $1/a$ of a number that is not zero.
    pub(crate) fn reciprocal(&mut self, a: u32) -> u32 {
        match self.small(a) {
            Some(Small { n, d }) => self.of_small(Small { n: d * n.signum(), d: n.abs() }),
            None => self.of(self.exact(a).recip()),
        }
    }

    /// As a fraction of machine integers, if it is small.
    pub(crate) fn small(&self, a: u32) -> Option<Small> {
        self.all[a as usize].small
    }

    pub(crate) fn exact(&self, a: u32) -> &Rational {
        let number = &self.all[a as usize];
        number.exact.get_or_init(|| {
            let small = number.small.expect("what is not small has its exact value");
            Arc::new(small.exact())
        })
    }

    pub(crate) fn double(&self, a: u32) -> f64 {
        self.all[a as usize].double
    }

    /// Modulo the prime.
    pub(crate) fn residue(&self, a: u32) -> u64 {
        self.all[a as usize].residue
    }

    pub(crate) fn is_negative(&self, a: u32) -> bool {
        use num_traits::Signed;
        self.small(a).map_or_else(|| self.exact(a).is_negative(), |s| s.n < 0)
    }

    /// Whether a number may be equal to another one modulo the prime.
    pub(crate) fn has_large_ones(&self) -> bool {
        (0..self.all.len() as u32).any(|a| self.small(a).is_none() && bits(self.exact(a)) > 60)
    }
}

/// The length of a number: that of its longer part.
fn bits(number: &Rational) -> u64 {
    number.numer().bits().max(number.denom().bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small arithmetic is that of [`Rational`], also where it leaves the small numbers.
    #[test]
    fn small_numbers_are_exact() {
        let mut numbers = Numbers::default();
        let end = Small::END;
        let mut parts = vec![0, 1, -1, 2, -3, 10, 1 << 30, end - 1, 1 - end, end, i64::MAX];
        parts.push(i64::MIN);
        let mut all = Vec::new();
        for &n in &parts {
            for &d in parts.iter().filter(|&&d| d != 0) {
                let exact = Rational::new(n.into(), d.into());
                assert_eq!(numbers.fraction(n, d), numbers.of(exact.clone()));
                all.push(exact);
            }
        }
        for x in &all {
            let a = numbers.of(x.clone());
            assert_eq!(numbers.exact(a), x);
            assert_eq!(numbers.double(a), number::to_f64(x), "{x}");
            assert_eq!(numbers.residue(a), field::residue(x));
            assert_eq!(numbers.is_negative(a), x < &number::integer(0));
            let opposite = numbers.opposite(a);
            assert_eq!(numbers.exact(opposite), &-x);
            if x != &number::integer(0) {
                let reciprocal = numbers.reciprocal(a);
                assert_eq!(numbers.exact(reciprocal), &x.recip());
            }
            for y in &all {
                let b = numbers.of(y.clone());
                for (operation, expected) in
                    [(Operation::Add, x + y), (Operation::Sub, x - y), (Operation::Mul, x * y)]
                {
                    let made = numbers.combined(operation, a, b).expect("these are short");
                    assert_eq!(numbers.exact(made), &expected, "{x} {operation:?} {y}");
                    assert_eq!(made, numbers.of(expected));
                }
            }
        }
    }

    /// Long whole numbers and fractions: those of [`Rational`], in lowest terms.
    #[test]
    fn long_numbers_are_exact() {
        let mut numbers = Numbers::default();
        let long = num_traits::pow(BigInt::from(-7), 300);
        let all = [
            Rational::from_integer(long.clone()),
            Rational::from_integer(-&long + 1),
            Rational::new(long.clone(), BigInt::from(1024)),
            Rational::new(BigInt::from(3), long),
            number::integer(12),
            number::integer(0),
        ];
        for x in &all {
            for y in &all {
                let (a, b) = (numbers.of(x.clone()), numbers.of(y.clone()));
                for (operation, expected) in
                    [(Operation::Add, x + y), (Operation::Sub, x - y), (Operation::Mul, x * y)]
                {
                    let made = numbers.combined(operation, a, b).expect("these are short");
                    let made = numbers.exact(made);
                    assert_eq!(
                        (made.numer(), made.denom()),
                        (expected.numer(), expected.denom())
                    );
                }
            }
        }
    }
}
