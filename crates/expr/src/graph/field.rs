//! Arithmetic modulo the prime $p = 2^{61} - 1$.
//!
//! Expressions are compared by their exact values at random points of this field: two different rational
//! expressions of degree $d$ agree there with probability $d/p$. The powers of two would not be random, since $2^{61}$
//! is 1 here: from $2^{61}$ a random number is split off ([`residue`]).

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::ToPrimitive;

use crate::graph::number::Rational;

/// The modulus.
pub(crate) const P: u64 = (1 << 61) - 1;

pub(crate) fn add(a: u64, b: u64) -> u64 {
    let s = a + b;
    if s >= P { s - P } else { s }
}

pub(crate) fn neg(a: u64) -> u64 {
    if a == 0 { 0 } else { P - a }
}

pub(crate) fn sub(a: u64, b: u64) -> u64 {
    add(a, neg(b))
}

pub(crate) fn mul(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let (low, high) = ((product as u64) & P, (product >> 61) as u64);
    add(low, high)
}

pub(crate) fn pow(base: u64, mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        exponent >>= 1;
    }
    result
}

/// $1/a = a^{p-2}$, and 0 for 0.
pub(crate) fn inv(a: u64) -> u64 {
    // p − 2 = 4 (2⁵⁹ − 1) + 1, and a^(2ⁿ − 1) doubles its n with n squares and a product.
    let squared = |x: u64, times: usize| (0..times).fold(x, |x, _| mul(x, x));
    let joined = |x: u64, y: u64, n: usize| mul(squared(x, n), y);
    let three = joined(joined(a, a, 1), a, 1);
    let seven = joined(joined(three, three, 3), a, 1);
    let fourteen = joined(seven, seven, 7);
    let twenty_nine = joined(joined(fourteen, fourteen, 14), a, 1);
    let fifty_nine = joined(joined(twenty_nine, twenty_nine, 29), a, 1);
    joined(fifty_nine, a, 2)
}

/// $1/a$ and $1/b$ for one inverse and three products.
pub(crate) fn inverses([a, b]: [u64; 2]) -> [u64; 2] {
    if a == b {
        return [inv(a); 2];
    }
    if a == 0 || b == 0 {
        return [inv(a), inv(b)];
    }
    let both = inv(mul(a, b));
    [mul(both, b), mul(both, a)]
}

/// The inverses of numbers that are not zero, for one inverse and three products each.
pub(crate) fn invert(numbers: &mut [u64]) {
    let mut before = Vec::with_capacity(numbers.len());
    let mut product = 1;
    for &x in numbers.iter() {
        before.push(product);
        product = mul(product, x);
    }
    let mut inverse = inv(product);
    for (x, before) in numbers.iter_mut().zip(before).rev() {
        let own = mul(inverse, before);
        inverse = mul(inverse, *x);
        *x = own;
    }
}

/// A number that looks random and depends on the seed alone (splitmix64).
pub(crate) fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) % P
}

/// The residue of a rational; a denominator divisible by $p$ gives 0.
///
/// Of $2^k m$ it is that of $2^{k - 61j} m$ with $|k - 61j| \le 30$, times $w^j$ with a random $w$: what is equal stays
/// equal up to $k = 30$, and what differs by $2^{61}$ alone is different.
pub(crate) fn residue(number: &Rational) -> u64 {
    let whole = |x: &BigInt| -> u64 {
        match x.to_i64() {
            Some(small) => small.rem_euclid(P as i64) as u64,
            None => x.mod_floor(&BigInt::from(P)).to_u64().unwrap_or(0),
        }
    };
    let turns = |x: &BigInt| (x.trailing_zeros().unwrap_or(0) + 30) / 61;
    let numerator = mul(whole(number.numer()), turned(turns(number.numer())));
    if number.is_integer() {
        return numerator;
    }
    mul(numerator, inv(mul(whole(number.denom()), turned(turns(number.denom())))))
}

/// The residue of a fraction.
pub(crate) fn small_residue(n: i64, d: i64) -> u64 {
    let whole = |x: i64| {
        let residue = x.rem_euclid(P as i64) as u64;
        if x.trailing_zeros() <= 30 || x == 0 { residue } else { mul(residue, turned(1)) }
    };
    if d == 1 { whole(n) } else { mul(whole(n), inv(whole(d))) }
}

/// What stands for $2^{61j}$, which is 1.
fn turned(j: u64) -> u64 {
    if j == 0 { 1 } else { pow(random(0x2_61), j) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_axioms_at_random() {
        for seed in 0..200 {
            let (a, b, c) = (random(3 * seed), random(3 * seed + 1), random(3 * seed + 2));
            assert_eq!(mul(a, add(b, c)), add(mul(a, b), mul(a, c)));
            assert_eq!(mul(a, inv(a)), 1);
            assert_eq!(inverses([a, b]), [inv(a), inv(b)]);
            assert_eq!(inverses([a, 0]), [inv(a), 0]);
            assert_eq!(add(a, neg(a)), 0);
        }
        let third = Rational::new((-1).into(), 3.into());
        assert_eq!(mul(residue(&third), 3), P - 1);
    }

    /// Powers of two that agree modulo the prime have residues of their own, and the same by either road.
    #[test]
    fn powers_of_two_differ() {
        let power = |k: i32| Rational::from_integer(2.into()).pow(k);
        let mut all: Vec<u64> = (-200..=200).map(|k| residue(&power(k))).collect();
        for k in -52..=52 {
            let (n, d) = if k < 0 { (1, 1 << -k) } else { (1 << k, 1) };
            assert_eq!(small_residue(n, d), residue(&power(k)), "2^{k}");
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 401);
    }
}
