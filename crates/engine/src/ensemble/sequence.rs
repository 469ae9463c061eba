//! Points of the unit cube by number: random ones, a Latin hypercube, Sobol's sequence.
//!
//! A coordinate of a point depends on the seed, its dimension and the number of the point alone, so that any part of a
//! sequence can be computed by itself, in any order.
//!
//! Sobol's sequence has the direction numbers of [JoeKuo2008] and is shifted by random digits, one shift for each
//! dimension, so that every seed gives another sequence with the same uniformity.

use crate::split_mix::SplitMix64;

/// How draws fill the space of what is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sampling {
    /// Independent numbers.
    #[default]
    Random,
    /// Sobol's sequence: even in all dimensions together.
    Sobol,
    /// A Latin hypercube: even in each dimension.
    Latin,
}

impl Sampling {
    /// All kinds with their words.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Random, "random"), (Self::Sobol, "sobol"), (Self::Latin, "latin")];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sobol => "sobol",
            Self::Latin => "latin",
        }
    }
}

/// Degree $s$, coefficients $a$ and first numbers $m$ of the primitive polynomials from the second dimension on.
const POLYNOMIALS: [(u32, u32, &[u32]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// Most dimensions of Sobol's sequence.
pub(super) const SOBOL_DIMENSIONS: usize = POLYNOMIALS.len() + 1;

/// Most points of Sobol's sequence, and of a Latin hypercube.
pub(super) const MOST_POINTS: u64 = 1 << 32;

/// A sequence of points.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    sampling: Sampling,
    count: u64,
    /// One key for each dimension.
    keys: Vec<u64>,
    /// The direction numbers of each dimension.
    directions: Vec<[u32; 32]>,
}

impl Sequence {
    /// Points of so many dimensions. Requires at most [`SOBOL_DIMENSIONS`] and [`MOST_POINTS`] where they count.
    pub(super) fn new(sampling: Sampling, dimensions: usize, count: u64, seed: u64) -> Self {
        let mut keys = SplitMix64(SplitMix64(seed).bits());
        let keys = (0..dimensions).map(|_| keys.bits()).collect();
        let directions = match sampling {
            Sampling::Sobol => (0..dimensions).map(directions).collect(),
            Sampling::Random | Sampling::Latin => Vec::new(),
        };
        Self { sampling, count, keys, directions }
    }

    /// A coordinate of a point, between 0 and 1.
    pub(super) fn coordinate(&self, dimension: usize, point: u64) -> f64 {
        let key = self.keys[dimension];
        let random = fraction(hashed(key, point) >> 11, 53);
        match self.sampling {
            Sampling::Random => random,
            Sampling::Latin => {
                let stratum = permuted(key, self.count, point);
                let u = (stratum as f64 + random) / self.count as f64;
                // Rounding may reach the end.
                u.min(1.0 - f64::EPSILON / 2.0)
            }
            Sampling::Sobol => {
                let shift = (key >> 32) as u32;
                let digits = self.directions[dimension].iter().enumerate();
                let x = digits.fold(shift, |x, (k, v)| x ^ (v * ((point >> k) & 1) as u32));
                fraction(u64::from(x), 32)
            }
        }
    }
}

/// The middle of an interval of length $2^{-b}$.
fn fraction(x: u64, bits: u32) -> f64 {
    // NOTE: with 53 bits the last middle rounds to 1.
    ((x as f64 + 0.5) / (1_u64 << bits) as f64).min(1.0 - f64::EPSILON / 2.0)
}

/// Bits that belong to a number under a key.
fn hashed(key: u64, x: u64) -> u64 {
    SplitMix64(key.wrapping_add(x.wrapping_mul(0x9e37_79b9_7f4a_7c15))).bits()
}

/// A permutation of the numbers below `count`: four rounds of a Feistel network over the next even number of bits,
/// again and again until the result is one of them.
fn permuted(key: u64, count: u64, x: u64) -> u64 {
    let half = (64 - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half) - 1;
    let mut x = x;
    loop {
        let (mut left, mut right) = (x >> half, x & mask);
        for round in 0..4 {
            let mixed = hashed(key ^ round, right) & mask;
            (left, right) = (right, left ^ mixed);
        }
        x = (left << half) | right;
        if x < count {
            return x;
        }
    }
}

/// $v_k = m_k 2^{32-k}$ with $m_k$ by the recurrence of the polynomial of this dimension.
fn directions(dimension: usize) -> [u32; 32] {
    let mut v = [0_u32; 32];
    let Some(&(degree, coefficients, first)) =
        dimension.checked_sub(1).and_then(|d| POLYNOMIALS.get(d))
    else {
        return std::array::from_fn(|k| 1 << (31 - k));
    };
    let s = degree as usize;
    for k in 0..32 {
        if k < s {
            v[k] = first[k] << (31 - k);
            continue;
        }
        v[k] = v[k - s] ^ (v[k - s] >> degree);
        for j in 1..s {
            if (coefficients >> (s - 1 - j)) & 1 == 1 {
                v[k] ^= v[k - j];
            }
        }
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of $2^k$ points of Sobol's sequence and of a Latin hypercube is alone in its interval, in every dimension.
    #[test]
    fn strata_have_one_point_each() {
        for (sampling, count) in
            [(Sampling::Sobol, 256_u64), (Sampling::Latin, 256), (Sampling::Latin, 77)]
        {
            let sequence = Sequence::new(sampling, SOBOL_DIMENSIONS, count, 5);
            for d in 0..SOBOL_DIMENSIONS {
                let mut strata: Vec<u64> = (0..count)
                    .map(|i| (sequence.coordinate(d, i) * count as f64) as u64)
                    .collect();
                strata.sort_unstable();
                assert_eq!(strata, (0..count).collect::<Vec<_>>(), "{sampling:?} {d}");
            }
        }
    }

    /// The first two dimensions of Sobol's sequence are a (0, m, 2)-net: each elementary interval of area $2^{-m}$ has
    /// one of the first $2^m$ points. Those of all pairs are nets of quality t ≤ 6.
    #[test]
    fn sobol_fills_the_plane() {
        let m = 8_u32;
        let sequence = Sequence::new(Sampling::Sobol, SOBOL_DIMENSIONS, 1 << m, 1);
        let worst = |a: usize, b: usize| {
            let mut most = 0;
            for k in 0..=m {
                let mut boxes = vec![0_u32; 1 << m];
                for i in 0..1_u64 << m {
                    let x = (sequence.coordinate(a, i) * f64::from(1_u32 << k)) as usize;
                    let y = (sequence.coordinate(b, i) * f64::from(1_u32 << (m - k))) as usize;
                    boxes[(x << (m - k)) + y] += 1;
                }
                most = most.max(boxes.into_iter().max().unwrap_or(0));
            }
            most
        };
        assert_eq!(worst(0, 1), 1);
        for a in 0..SOBOL_DIMENSIONS {
            for b in 0..a {
                assert!(worst(a, b) <= 64, "{a} {b}: {}", worst(a, b));
            }
        }
    }

    #[test]
    fn seeds_and_dimensions_differ_and_numbers_are_between_0_and_1() {
        for (sampling, _) in Sampling::ALL {
            let a = Sequence::new(sampling, 2, 1000, 1);
            let b = Sequence::new(sampling, 2, 1000, 2);
            let column = |s: &Sequence, d: usize| -> Vec<f64> {
                (0..1000).map(|i| s.coordinate(d, i)).collect()
            };
            assert_ne!(column(&a, 0), column(&b, 0), "{sampling:?}");
            assert_ne!(column(&a, 0), column(&a, 1), "{sampling:?}");
            assert_eq!(column(&a, 1), column(&a.clone(), 1));
            assert!(column(&a, 0).iter().all(|u| 0.0 < *u && *u < 1.0));
            // The mean of 1000 numbers is 1/2 within five standard deviations of 0.0091.
            let mean = column(&a, 0).iter().sum::<f64>() / 1000.0;
            assert!((mean - 0.5).abs() < 0.046, "{sampling:?} {mean}");
        }
        assert!(fraction((1 << 53) - 1, 53) < 1.0);
    }
}
