//! A formula as it will be written: sums of products of powers, with its width in characters.

use std::collections::BTreeMap;

use num_traits::{One, Signed};

use super::polynomial::Coefficient;

/// Fractions with such denominators are decimals of the text, and not taken out of sums as a common factor.
pub(super) const DECIMAL: i128 = 10;

/// A written formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Form {
    /// An atom, by the number of its leaf.
    Leaf(u32),
    /// Two terms or more.
    Sum(Vec<Self>),
    Product {
        coefficient: Coefficient,
        /// Bases and exponents in halves: 2 is the first power, 1 the square root.
        factors: Vec<(Self, i32)>,
    },
}

/// How an atom is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaf {
    pub(super) width: usize,
    /// A sine or cosine of a multiple of two.
    pub(super) is_double: bool,
    pub(super) place: Place,
}

/// Where a factor stands in a product, and its term in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Numbers, parameters, positions, functions, velocities, accelerations, multipliers.
    pub(super) rank: u8,
    /// The older symbol goes first.
    pub(super) age: u32,
}

/// The ranks of factors.
pub(super) mod rank {
    pub(in super::super) const PI: u8 = 10;
    pub(in super::super) const PARAMETER: u8 = 20;
    pub(in super::super) const TIME: u8 = 35;
    pub(in super::super) const POSITION: u8 = 40;
    pub(in super::super) const FUNCTION: u8 = 50;
    pub(in super::super) const VELOCITY: u8 = 80;
    pub(in super::super) const ACCELERATION: u8 = 90;
    pub(in super::super) const FREE: u8 = 95;
    pub(in super::super) const MULTIPLIER: u8 = 100;
    /// A sum stands behind what it is made of.
    pub(in super::super) const SUM: u8 = 4;
}

impl Place {
    /// Whether it is that of a velocity or acceleration.
    pub(super) fn is_rate(self) -> bool {
        matches!(self.rank, rank::VELOCITY | rank::ACCELERATION)
    }
}

impl Form {
    pub(super) fn number(value: Coefficient) -> Self {
        Self::Product { coefficient: value, factors: Vec::new() }
    }

    pub(super) fn is_sum(&self) -> bool {
        matches!(self, Self::Sum(_))
    }

    /// The terms of a sum, or the form itself.
    pub(super) fn terms(self) -> Vec<Self> {
        match self {
            Self::Sum(terms) => terms,
            form => vec![form],
        }
    }

    /// Product of two forms, equal bases together.
    pub(super) fn times(self, other: Self) -> Self {
        let (mut k, mut factors) = self.parts();
        let (j, more) = other.parts();
        k *= j;
        for (base, n) in more {
            match factors.iter_mut().find(|f| f.0 == base) {
                Some(known) => known.1 += n,
                None => factors.push((base, n)),
            }
        }
        factors.retain(|f| f.1 != 0);
        match &factors[..] {
            [(base, 2)] if k.is_one() => base.clone(),
            _ => Self::Product { coefficient: k, factors },
        }
    }

    /// Coefficient and factors.
    pub(super) fn parts(self) -> (Coefficient, Vec<(Self, i32)>) {
        match self {
            Self::Product { coefficient, factors } => (coefficient, factors),
            other => (Coefficient::one(), vec![(other, 2)]),
        }
    }

    pub(super) fn is_negative(&self) -> bool {
        match self {
            Self::Product { coefficient, .. } => coefficient.is_negative(),
            Self::Leaf(_) | Self::Sum(_) => false,
        }
    }

    /// Characters of the text.
    pub(super) fn width(&self, leaves: &[Leaf]) -> usize {
        match self {
            Self::Leaf(leaf) => leaves[*leaf as usize].width,
            Self::Sum(terms) => {
                // `a + b`, `a - b`: the sign of a later term is part of what stands between.
                let signs = terms.iter().skip(1).filter(|t| t.is_negative()).count();
                let widths: usize = terms.iter().map(|t| t.width(leaves)).sum();
                widths + 3 * (terms.len() - 1) - signs
            }
            Self::Product { coefficient, factors } => {
                let k = coefficient;
                let (mut above, mut below) = (0, 0);
                let (mut over, mut under) = (0, 0);
                if !k.numer().abs().is_one() {
                    over += 1;
                    above += digits(*k.numer());
                }
                if !k.denom().is_one() {
                    under += 1;
                    below += digits(*k.denom());
                }
                for (base, n) in factors {
                    let width = base.power_width(n.abs(), leaves);
                    if *n > 0 {
                        over += 1;
                        above += width;
                    } else {
                        under += 1;
                        below += width;
                    }
                }
                let sign = usize::from(k.is_negative());
                let above = if over == 0 { 1 } else { above + over - 1 };
                let below = match under {
                    0 => 0,
                    1 => below + 1,
                    _ => below + under + 2,
                };
                sign + above + below
            }
        }
    }

    /// The width, with more for brackets that have to be read inside of others: a formula is not shorter for the eye
    /// because a sine stands before a bracket instead of before each of two terms.
    pub(super) fn cost(&self, leaves: &[Leaf]) -> usize {
        self.width(leaves) + self.brackets(leaves, 0, [false; 2])
    }

    /// The same for what stands above a sum: no fractions there, and terms of all degrees may stand in one bracket.
    pub(super) fn cost_above(&self, leaves: &[Leaf]) -> usize {
        const FRACTION: usize = 8;
        let fractions = match self {
            Self::Sum(terms) => terms.iter().filter(|t| t.has_denominator()).count(),
            Self::Leaf(_) | Self::Product { .. } => 0,
        };
        self.width(leaves) + self.brackets(leaves, 0, [false, true]) + FRACTION * fractions
    }

    /// Counts how often each velocity and acceleration stands in it.
    pub(super) fn count_rates(&self, leaves: &[Leaf], counts: &mut BTreeMap<u32, usize>) {
        match self {
            Self::Leaf(leaf) => {
                if leaves[*leaf as usize].place.is_rate() {
                    *counts.entry(*leaf).or_insert(0) += 1;
                }
            }
            Self::Sum(terms) => terms.iter().for_each(|t| t.count_rates(leaves, counts)),
            Self::Product { factors, .. } => {
                factors.iter().for_each(|f| f.0.count_rates(leaves, counts));
            }
        }
    }

    /// Whether other terms stand beside it, and whether it stands above a sum.
    fn brackets(&self, leaves: &[Leaf], depth: usize, [beside, above_sum]: [bool; 2]) -> usize {
        /// A bracket behind a function, or one with velocities behind a velocity, beside other terms.
        const UNUSUAL: usize = 8;
        /// A bracket with velocities behind a coordinate, beside other terms.
        const BEHIND_COORDINATE: usize = 1;
        /// Terms of different degrees in the velocities in one bracket.
        const MIXED: usize = 16;
        /// A fraction above a denominator.
        const FRACTION: usize = 6;
        /// A bracket in a bracket.
        const NESTED: usize = 7;
        /// $\frac12\sin 2a$ for $\sin a\cos a$
        const HALVED: usize = 9;
        match self {
            Self::Leaf(_) => 0,
            Self::Sum(terms) => {
                terms.iter().map(|t| t.brackets(leaves, depth, [true, above_sum])).sum()
            }
            Self::Product { coefficient, factors } => {
                let is_double =
                    |f: &Self| matches!(f, Self::Leaf(l) if leaves[*l as usize].is_double);
                let doubles = factors.iter().any(|(f, n)| *n > 0 && is_double(f));
                let is_halved = coefficient.denom() % 2 == 0;
                let mut sum = if doubles && is_halved { HALVED } else { 0 };
                let above = || factors.iter().filter(|f| f.1 > 0);
                let is_fraction =
                    !coefficient.denom().is_one() || factors.iter().any(|f| f.1 < 0);
                for (base, _) in above() {
                    sum += base.brackets(leaves, depth + 1, [false, above_sum]);
                    let rank = base.place(leaves).rank;
                    let Self::Sum(terms) = base else { continue };
                    // (a*sin(2*x) - 4*b)/2
                    if is_halved && terms.iter().any(|t| t.is_even(&is_double)) {
                        sum += HALVED;
                    }
                    if is_fraction {
                        sum += FRACTION * terms.iter().filter(|t| t.has_denominator()).count();
                    }
                    if rank < rank::TIME {
                        continue;
                    }
                    // Coefficients of a velocity are read as one.
                    let is_usual = |other: u8| {
                        other < rank::TIME || (rank < rank::VELOCITY && other >= rank::VELOCITY)
                    };
                    let others =
                        above().filter(|f| f.0 != *base).map(|f| f.0.place(leaves).rank);
                    let is_coordinate = |other: u8| other < rank::FUNCTION;
                    sum += NESTED * depth;
                    sum += match others.clone().all(is_usual) || !beside {
                        true => 0,
                        false
                            if rank >= rank::VELOCITY && others.clone().all(is_coordinate) =>
                        {
                            BEHIND_COORDINATE
                        }
                        false => UNUSUAL,
                    };
                    let mut speeds = terms.iter().map(|t| t.speed(leaves));
                    let first = speeds.next();
                    let is_half = !coefficient.denom().is_one();
                    let is_scaled = others.count() > 0 || is_half;
                    if is_scaled && !above_sum && speeds.any(|s| Some(s) != first) {
                        sum += MIXED;
                    }
                }
                sum
            }
        }
    }

    /// Whether half of it is shorter: an even number, or the sine of a double angle.
    fn is_even(&self, is_double: &dyn Fn(&Self) -> bool) -> bool {
        match self {
            Self::Product { coefficient, factors } => {
                let doubles = factors.iter().any(|(f, n)| *n > 0 && is_double(f));
                doubles || (coefficient.denom().is_one() && coefficient.numer() % 2 == 0)
            }
            Self::Leaf(_) | Self::Sum(_) => is_double(self),
        }
    }

    /// Whether it is a fraction to read; 3/10 is a number.
    fn has_denominator(&self) -> bool {
        match self {
            Self::Product { coefficient, factors } => {
                let is_half = (2..DECIMAL).contains(coefficient.denom());
                is_half || factors.iter().any(|f| f.1 < 0)
            }
            Self::Leaf(_) | Self::Sum(_) => false,
        }
    }

    /// The degree in the velocities.
    pub(super) fn speed(&self, leaves: &[Leaf]) -> i32 {
        match self {
            Self::Leaf(_) => {
                let rank = self.place(leaves).rank;
                match rank {
                    0..rank::VELOCITY => 0,
                    rank::VELOCITY..rank::ACCELERATION => 2,
                    rank::ACCELERATION..rank::FREE => 4,
                    _ => 2,
                }
            }
            Self::Sum(terms) => terms.iter().map(|t| t.speed(leaves)).max().unwrap_or(0),
            Self::Product { factors, .. } => {
                factors.iter().map(|(f, n)| f.speed(leaves) * n / 2).sum()
            }
        }
    }

    fn power_width(&self, halves: i32, leaves: &[Leaf]) -> usize {
        let width = self.width(leaves);
        match halves {
            1 => width + 6,
            2 if self.is_sum() => width + 2,
            2 => width,
            n => {
                let bracketed = width + if matches!(self, Self::Leaf(_)) { 0 } else { 2 };
                bracketed + 1 + if n % 2 == 0 { digits(i128::from(n / 2)) } else { 5 }
            }
        }
    }

    /// Where it stands as a factor.
    pub(super) fn place(&self, leaves: &[Leaf]) -> Place {
        match self {
            Self::Leaf(leaf) => leaves[*leaf as usize].place,
            Self::Sum(terms) => {
                let last = terms.iter().map(|t| t.last_place(leaves)).max();
                let last = last.unwrap_or(Place { rank: 0, age: 0 });
                Place { rank: last.rank + rank::SUM, age: last.age }
            }
            Self::Product { .. } => self.last_place(leaves),
        }
    }

    fn last_place(&self, leaves: &[Leaf]) -> Place {
        match self {
            Self::Leaf(_) | Self::Sum(_) => self.place(leaves),
            Self::Product { factors, .. } => {
                let last = factors.iter().map(|f| f.0.place(leaves)).max();
                last.unwrap_or(Place { rank: 0, age: 0 })
            }
        }
    }

    /// Factors and terms in the order in which they are read.
    pub(super) fn sort(&mut self, leaves: &[Leaf]) {
        match self {
            Self::Leaf(_) => {}
            Self::Product { factors, .. } => {
                factors.iter_mut().for_each(|f| f.0.sort(leaves));
                factors.sort_by_key(|f| f.0.place(leaves));
            }
            Self::Sum(terms) => {
                terms.iter_mut().for_each(|t| t.sort(leaves));
                terms.sort_by_cached_key(|t| t.term_key(leaves));
                // A positive term in front saves a sign.
                let less = terms.iter().take_while(|t| t.is_negative()).count();
                let more = terms[less..].iter().take_while(|t| !t.is_negative()).count();
                terms[..less + more].rotate_left(less);
            }
        }
    }

    /// Kinetic terms before others, multipliers last; then by velocities, by positions, by the other factors.
    fn term_key(&self, leaves: &[Leaf]) -> TermKey {
        let mut places: Vec<(Place, i32)> = match self {
            Self::Leaf(_) | Self::Sum(_) => vec![(self.place(leaves), -2)],
            // (x + 1)² stands where x² does.
            Self::Product { factors, .. } => {
                let place = |(f, n): &(Self, i32)| {
                    let own = f.place(leaves);
                    let is_square = *n == 4 && own.rank == rank::POSITION + rank::SUM;
                    if is_square { Place { rank: rank::POSITION, ..own } } else { own }
                };
                factors.iter().map(|f| (place(f), -f.1)).collect()
            }
        };
        places.sort_unstable();
        let is_last = places.iter().any(|p| p.0.rank >= rank::MULTIPLIER);
        let constant = places.partition_point(|p| p.0.rank < rank::TIME);
        let still = places.partition_point(|p| p.0.rank < rank::VELOCITY);
        places.rotate_left(still);
        let moving = places.len() - still;
        places[moving..].rotate_left(constant);
        (is_last, std::cmp::Reverse(self.speed(leaves)), places)
    }
}

type TermKey = (bool, std::cmp::Reverse<i32>, Vec<(Place, i32)>);

fn digits(n: i128) -> usize {
    let mut n = n.unsigned_abs();
    let mut count = 1;
    while n >= 10 {
        n /= 10;
        count += 1;
    }
    count
}
