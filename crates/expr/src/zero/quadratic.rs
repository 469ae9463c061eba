//! Arithmetic in $\mathbb F_{p^2} = \mathbb F_p(i)$, $i^2 = -1$, $p = 2^{61} - 1$.
//!
//! Because $p \equiv 3 \pmod 4$, the Legendre symbol $\chi$ behaves like the sign of a real number:
//! $\chi(ab) = \chi(a)\chi(b)$, $\chi(-1) = -1$, and every $a$ with $\chi(a) = 1$ has exactly one root with
//! $\chi = 1$. Every element of $\mathbb F_p$ has a root in $\mathbb F_{p^2}$.

use crate::graph::field::{self, P};

/// $a + bi$
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Z(pub(crate) u64, pub(crate) u64);

pub(crate) const ZERO: Z = Z(0, 0);
pub(crate) const ONE: Z = Z(1, 0);
pub(crate) const I: Z = Z(0, 1);
/// $1/2$
pub(crate) const HALF: Z = Z(P.div_ceil(2), 0);

/// $p^2 - 1$, the order of the multiplicative group.
const ORDER: u128 = (P as u128) * (P as u128) - 1;

impl Z {
    pub(crate) fn plus(self, o: Self) -> Self {
        Self(field::add(self.0, o.0), field::add(self.1, o.1))
    }

    pub(crate) fn minus(self, o: Self) -> Self {
        self.plus(o.opposite())
    }

    pub(crate) fn opposite(self) -> Self {
        Self(field::neg(self.0), field::neg(self.1))
    }

    pub(crate) fn times(self, o: Self) -> Self {
        if self.1 == 0 && o.1 == 0 {
            return Self(field::mul(self.0, o.0), 0);
        }
        Self(
            field::sub(field::mul(self.0, o.0), field::mul(self.1, o.1)),
            field::add(field::mul(self.0, o.1), field::mul(self.1, o.0)),
        )
    }

    pub(crate) fn conjugate(self) -> Self {
        Self(self.0, field::neg(self.1))
    }

    /// $a^2 + b^2$
    fn norm(self) -> u64 {
        field::add(field::mul(self.0, self.0), field::mul(self.1, self.1))
    }

    /// `None` for zero.
    pub(crate) fn inverse(self) -> Option<Self> {
        if self == ZERO {
            return None;
        }
        let scale = field::inv(self.norm());
        let c = self.conjugate();
        Some(Self(field::mul(c.0, scale), field::mul(c.1, scale)))
    }

    pub(crate) fn over(self, o: Self) -> Option<Self> {
        Some(self.times(o.inverse()?))
    }

    pub(crate) fn to_the(self, mut exponent: u128) -> Self {
        let (mut result, mut square) = (ONE, self);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result.times(square);
            }
            square = square.times(square);
            exponent >>= 1;
        }
        result
    }

    /// A whole power, `None` for a negative one of zero.
    pub(crate) fn whole_power(self, n: i64) -> Option<Self> {
        let power = self.to_the(u128::from(n.unsigned_abs()));
        if n < 0 { power.inverse() } else { Some(power) }
    }

    /// What stands for the sign: $\chi$ of the real part, or of the imaginary part where that is zero.
    pub(crate) fn sign(self) -> i8 {
        let part = if self.0 == 0 { self.1 } else { self.0 };
        match field::pow(part, (P - 1) / 2) {
            0 => 0,
            1 => 1,
            _ => -1,
        }
    }

    /// The root whose real part counts as positive, or a positive multiple of $i$; `None` where there is none.
    pub(crate) fn root(self) -> Option<Self> {
        let real_root = |a: u64| {
            let r = field::pow(a, P.div_ceil(4));
            (field::mul(r, r) == a).then_some(r)
        };
        if self.1 == 0 {
            return Some(match real_root(self.0) {
                Some(r) => Self(r, 0),
                None => Self(0, real_root(field::neg(self.0))?),
            });
        }
        let s = real_root(self.norm())?;
        let half = |x: u64| field::mul(x, HALF.0);
        let c = real_root(half(field::add(self.0, s)))
            .or_else(|| real_root(half(field::sub(self.0, s))))?;
        let d = field::mul(self.1, field::inv(field::add(c, c)));
        Some(Self(c, d))
    }

    /// $z^{n/d}$, multiplicative in $z$ up to the sign of square roots; `None` where the group has no such
    /// root without a choice.
    pub(crate) fn rational_power(self, n: i64, d: u64) -> Option<Self> {
        let mut z = self;
        let mut odd = d;
        while odd.is_multiple_of(2) {
            z = z.root()?;
            odd /= 2;
        }
        if odd > 1 {
            if z == ZERO {
                return (n > 0).then_some(ZERO);
            }
            let rest = without_factors(ORDER, u128::from(odd));
            if z.to_the(rest) != ONE {
                return None;
            }
            z = z.to_the(inverse_modulo(u128::from(odd), rest)?);
        }
        z.whole_power(n)
    }

    /// The numbers of $\mathbb F_p$ that a seed gives; 3, 5 and 7 do not divide their order, so that they
    /// have cube roots and the like.
    pub(crate) fn random(seed: u64) -> Self {
        Self(field::pow(field::random(seed), 1575), 0)
    }

    /// A random point of the circle $a^2 + b^2 = 1$.
    pub(crate) fn random_on_circle(seed: u64) -> Self {
        let w = Self(field::random(seed), field::random(seed ^ 0xc1c1_c1c1));
        w.over(w.conjugate()).unwrap_or(ONE)
    }

    /// A seed from a value.
    pub(crate) fn seed(self) -> u64 {
        field::random(self.0 ^ field::random(self.1 ^ 0x00ab_cdef).rotate_left(23))
    }
}

/// $e^{i\pi n/d}$ where the group has that root of unity.
pub(crate) fn turn(n: i64, d: u64) -> Option<Z> {
    // 2^8 · 3² · 5² · 7
    const TURNS: u64 = 256 * 1575;
    let halves = TURNS / 2;
    if !halves.is_multiple_of(d) {
        return None;
    }
    // An element of this order: the first power of a small number that has it.
    let is_primitive =
        |z: Z| [2, 3, 5, 7].iter().all(|q| z.to_the(u128::from(TURNS / q)) != ONE);
    let mut unit = (2..1_000_000)
        .map(|k| Z(k, 1).to_the(ORDER / u128::from(TURNS)))
        .find(|&z| is_primitive(z))
        .expect("the group is cyclic, and one element in five is no power of 2, 3, 5 or 7");
    if unit.to_the(u128::from(TURNS / 4)) != I {
        unit = unit.inverse().expect("roots of unity are not zero");
    }
    let steps = i128::from(n) * i128::from(halves / d);
    Some(unit.to_the(steps.rem_euclid(i128::from(TURNS)) as u128))
}

/// The largest divisor of `n` that shares no factor with `q`.
fn without_factors(mut n: u128, q: u128) -> u128 {
    loop {
        let common = num_integer::gcd(n, q);
        if common == 1 {
            return n;
        }
        n /= common;
    }
}

fn inverse_modulo(a: u128, modulus: u128) -> Option<u128> {
    let extended = num_integer::Integer::extended_gcd(&(a as i128), &(modulus as i128));
    (extended.gcd == 1).then(|| extended.x.rem_euclid(modulus as i128) as u128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_roots() {
        for seed in 0..50 {
            let x = Z(field::random(seed), 0);
            let r = x.root().unwrap();
            assert_eq!(r.times(r), x);
            let y = Z::random(seed);
            let cube = y.rational_power(1, 3).unwrap();
            assert_eq!(cube.to_the(3), y);
            assert_eq!(y.rational_power(-2, 15).unwrap().to_the(15).times(y.times(y)), ONE);
            let z = Z(field::random(seed), field::random(seed + 99));
            if let Some(r) = z.root() {
                assert_eq!(r.times(r), z);
            }
            assert!(z.times(z).root().is_some());
        }
    }

    #[test]
    fn turns_are_roots_of_unity() {
        assert_eq!(turn(1, 2).unwrap(), I);
        assert_eq!(turn(1, 1).unwrap(), ONE.opposite());
        let sixth = turn(1, 3).unwrap();
        // cos π/3 = 1/2
        assert_eq!(sixth.plus(sixth.inverse().unwrap()), ONE);
        assert_eq!(turn(2, 15).unwrap().to_the(15), ONE);
        assert!(turn(1, 11).is_none());
    }
}
