//! Recurrences written out: one instruction for each product and sum of each order.
//!
//! Terms of a sum stand in the order in which their factors become known, the newest last, so that
//! out-of-order execution waits for two of them only.

use pfaff_expr::series::SeriesTerm;
use rustc_hash::FxHashMap;

use super::pivots::Pivot;
use super::rules::SeriesRule;
use super::{LinearSystem, TaylorRecurrences};
use crate::tape::builder::{NONE, TapeBuilder};
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{SsaTape, ValueOrigin};

/// The coefficients $y^{[1]}, \dots, y^{[p]}$ as values, with the pivots of the linear system.
pub(super) fn unroll(
    recurrences: &TaylorRecurrences,
    order: usize,
    pivots: &[Pivot],
) -> SsaTape {
    let mut unroller = Unroller::new(recurrences, order);
    let mut factors = None;
    for k in 0..order {
        let (early, late) = recurrences.rules.rules.split_at(recurrences.before);
        early.iter().for_each(|&rule| unroller.rule(rule, k));
        if let Some(solve) = &recurrences.solve {
            let factors = factors.get_or_insert_with(|| unroller.factorise(solve, pivots));
            unroller.substitute(solve, factors, k);
        }
        late.iter().for_each(|&rule| unroller.rule(rule, k));
        for (i, &rate) in recurrences.rates.iter().enumerate() {
            let v = i + 1;
            let rate = unroller.coefficient(rate, k);
            unroller.rates[v][k + 1] = ScaledCoefficient::Known(rate);
            unroller.series[v][k + 1] = unroller.scaled(rate, 1.0 / (k + 1) as f64);
        }
    }
    let zero = unroller.builder.constant(0.0);
    let mut outputs = Vec::with_capacity(order * recurrences.dimension + pivots.len());
    for k in 1..=order {
        let row = (1..=recurrences.dimension).map(|v| unroller.series[v][k].unwrap_or(zero));
        outputs.extend(row);
    }
    outputs.extend(factors.iter().flat_map(|f| f.pivots.iter().map(|d| d.unwrap_or(zero))));
    let mut made = unroller.builder.tape;
    made.outputs = outputs;
    made.drop_dead();
    made
}

/// A coefficient as a value; none is zero.
pub(super) type Coefficient = Option<Slot>;

/// $k\,a^{[k]}$, if it was asked for.
#[derive(Clone, Copy)]
enum ScaledCoefficient {
    Unknown,
    Known(Coefficient),
}

pub(super) struct Unroller {
    pub(super) builder: TapeBuilder,
    /// By value of the recurrences, then by order.
    series: Vec<Vec<Coefficient>>,
    rates: Vec<Vec<ScaledCoefficient>>,
    /// $1/w^{[0]}$ of what was divided by.
    inverses: FxHashMap<Slot, Slot>,
    /// What negatives are the negatives of.
    opposites: FxHashMap<Slot, Slot>,
    /// What rounding took from each component of the state.
    low: Vec<Slot>,
}

/// $K^{[0]}$ in triangular factors.
pub(super) struct SymbolicLu {
    /// Row and column of each pivot.
    pub(super) at: Vec<Pivot>,
    pub(super) pivots: Vec<Coefficient>,
    pub(super) inverses: Vec<Slot>,
    /// Of each step: rows below with their factors, columns beyond with their entries.
    pub(super) lower: Vec<Vec<(usize, Slot)>>,
    pub(super) upper: Vec<Vec<(usize, Slot)>>,
}

impl Unroller {
    /// With everything that does not vary.
    pub(super) fn new(recurrences: &TaylorRecurrences, order: usize) -> Self {
        let values = &recurrences.rules.values;
        let mut unroller = Self {
            builder: TapeBuilder::default(),
            series: vec![vec![None; order + 1]; values.len()],
            rates: vec![vec![ScaledCoefficient::Unknown; order + 1]; values.len()],
            inverses: FxHashMap::default(),
            opposites: FxHashMap::default(),
            low: Vec::new(),
        };
        unroller.builder.reserve(recurrences.operations(order));
        unroller.builder.tape.tables.clone_from(&recurrences.lowered.tables);
        // Inputs t and y come first, then the parameters; the unknowns are no inputs here.
        let given = 1 + recurrences.dimension;
        let is_input =
            |o: &ValueOrigin| matches!(o, ValueOrigin::Input(i) if (*i as usize) < given);
        for (v, origin) in values.iter().enumerate() {
            if is_input(origin) || matches!(origin, ValueOrigin::Parameter(_)) {
                unroller.series[v][0] = Some(unroller.builder.value(*origin));
            }
        }
        let behind = given as u32..(given + recurrences.dimension) as u32;
        unroller.low = behind.map(|i| unroller.builder.value(ValueOrigin::Input(i))).collect();
        for (v, origin) in values.iter().enumerate() {
            if let ValueOrigin::Constant(number) = origin
                && *number != 0.0
            {
                unroller.series[v][0] = Some(unroller.builder.constant(*number));
            }
        }
        unroller.series[0][1] = Some(unroller.builder.constant(1.0));
        for &instruction in &recurrences.lowered.per_run {
            let zero = unroller.builder.constant(0.0);
            let of = |v: Slot| unroller.series[v as usize][0].unwrap_or(zero);
            let made = unroller.builder.emit(instruction.rename(of, |_| NONE));
            for (value, v) in (made..).zip(instruction.results()) {
                unroller.series[v as usize][0] = Some(value);
            }
        }
        unroller
    }

    pub(super) fn coefficient(&self, v: Slot, k: usize) -> Coefficient {
        self.series[v as usize][k]
    }

    /// Computes one coefficient.
    pub(super) fn rule(&mut self, rule: SeriesRule, k: usize) {
        let to = NONE;
        let coefficient = match rule {
            SeriesRule::Sum { a, b, .. } => {
                match (self.coefficient(a, k), self.coefficient(b, k)) {
                    (Some(a), Some(b)) => {
                        Some(self.builder.emit(Instruction::Add { to, a, b }))
                    }
                    (a, b) => a.or(b),
                }
            }
            SeriesRule::Difference { a, b, .. } => {
                match (self.coefficient(a, k), self.coefficient(b, k)) {
                    (Some(a), Some(b)) => {
                        Some(self.builder.emit(Instruction::Sub { to, a, b }))
                    }
                    (None, b) => self.opposite(b),
                    (a, None) => a,
                }
            }
            SeriesRule::Opposite { a, .. } => self.opposite(self.coefficient(a, k)),
            SeriesRule::Product { a, b, .. } => {
                let pairs = self.pairs(a, b, k, 0..=k);
                self.dot(None, false, &pairs)
            }
            SeriesRule::Square { a, .. } => {
                let twice = self.twice(a, k, 0);
                self.with_middle(a, k, twice)
            }
            SeriesRule::Quotient { a, b, .. } => self.quotient(rule.to(), a, b, k),
            SeriesRule::Root { a, .. } => self.root(rule.to(), a, k),
            SeriesRule::Choice { condition, a, b, .. } => self.choice(condition, a, b, k),
            SeriesRule::Function { first, over, terms, to } => {
                if k == 0 {
                    Some(self.first(first))
                } else {
                    self.function(to, over, terms, k)
                }
            }
        };
        self.series[rule.to() as usize][k] = coefficient;
    }

    fn choice(&mut self, condition: Slot, a: Slot, b: Slot, k: usize) -> Coefficient {
        let (a, b) = (self.coefficient(a, k), self.coefficient(b, k));
        a.or(b)?;
        let condition = self.value_or_zero(condition);
        let zero = self.builder.constant(0.0);
        let (a, b) = (a.unwrap_or(zero), b.unwrap_or(zero));
        Some(self.builder.emit(Instruction::Select { to: NONE, condition, a, b }))
    }

    fn quotient(&mut self, to: Slot, a: Slot, b: Slot, k: usize) -> Coefficient {
        let left = self.coefficient(a, k);
        if k == 0 {
            let below = self.value_or_zero(b);
            return left.map(|a| self.builder.emit(Instruction::Div { to: NONE, a, b: below }));
        }
        let pairs = self.pairs(b, to, k, 1..=k);
        let above = self.dot(left, true, &pairs)?;
        let inverse = self.inverse(b);
        Some(self.builder.emit(Instruction::Mul { to: NONE, a: above, b: inverse }))
    }

    /// $2 r^{[0]} r^{[k]} = a^{[k]} - \sum_{j=1}^{k-1} r^{[j]} r^{[k-j]}$
    fn root(&mut self, to: Slot, a: Slot, k: usize) -> Coefficient {
        if k == 0 {
            let a = self.value_or_zero(a);
            return Some(self.builder.emit(Instruction::Sqrt { to: NONE, a }));
        }
        let (left, twice) = (self.coefficient(a, k), self.twice(to, k, 1));
        let inner = self.with_middle(to, k, twice);
        let above = match (left, inner) {
            (Some(a), Some(b)) => Some(self.builder.emit(Instruction::Sub { to: NONE, a, b })),
            (None, b) => self.opposite(b),
            (a, None) => a,
        }?;
        let half = self.builder.constant(0.5);
        let inverse = self.inverse(to);
        let half = self.builder.emit(Instruction::Mul { to: NONE, a: inverse, b: half });
        Some(self.builder.emit(Instruction::Mul { to: NONE, a: above, b: half }))
    }

    /// Order 0 of a function.
    fn first(&mut self, instruction: Instruction) -> Slot {
        let zero = self.builder.constant(0.0);
        let of = |v: Slot| self.series[v as usize][0].unwrap_or(zero);
        let instruction = instruction.rename(of, |_| NONE);
        let known =
            |a| matches!(self.builder.tape.values[a as usize], ValueOrigin::Constant(_));
        let (a, is_sine) = match instruction {
            Instruction::Sin { a, .. } if !known(a) => (a, true),
            Instruction::Cos { a, .. } if !known(a) => (a, false),
            other => return self.builder.emit(other),
        };
        let to = NONE;
        let sin = self.builder.emit(Instruction::SinCos { sin: to, cos: to, a });
        let cos = sin + 1;
        match (self.low_of(a), is_sine) {
            (None, true) => sin,
            (None, false) => cos,
            // sin(y + e) = sin y + e cos y, cos(y + e) = cos y − e sin y
            (Some(e), true) => {
                self.builder.emit(Instruction::MulAdd { to, a: e, b: cos, c: sin })
            }
            (Some(e), false) => {
                self.builder.emit(Instruction::SubMul { to, a: e, b: sin, c: cos })
            }
        }
    }

    /// What rounding took from a value, where it is a component of the state.
    fn low_of(&self, value: Slot) -> Option<Slot> {
        match self.builder.tape.values[value as usize] {
            ValueOrigin::Input(i) if i > 0 => self.low.get(i as usize - 1).copied(),
            _ => None,
        }
    }

    /// Order $k \ge 1$ of (W).
    fn function(
        &mut self,
        to: Slot,
        over: Option<Slot>,
        terms: [Option<SeriesTerm>; 2],
        k: usize,
    ) -> Coefficient {
        let mut sum = None;
        for SeriesTerm { negative, f, g } in terms.into_iter().flatten() {
            let mut pairs = Vec::with_capacity(k);
            match f {
                None => {
                    let rate = self.rate(g, k);
                    sum = if negative { self.opposite(rate) } else { rate };
                    continue;
                }
                Some(f) => {
                    for j in by_age(1, k, k) {
                        if let Some(b) = self.coefficient(f, k - j)
                            && let Some(a) = self.rate(g, j)
                        {
                            pairs.push((a, b));
                        }
                    }
                }
            }
            sum = self.dot(sum, negative, &pairs);
        }
        if let Some(w) = over {
            let mut pairs = Vec::with_capacity(k);
            for j in by_age(1, k - 1, k) {
                if let Some(b) = self.coefficient(w, k - j)
                    && let Some(a) = self.rate(to, j)
                {
                    pairs.push((a, b));
                }
            }
            sum = self.dot(sum, true, &pairs);
            sum = sum.map(|a| {
                let b = self.inverse(w);
                self.builder.emit(Instruction::Mul { to: NONE, a, b })
            });
        }
        self.rates[to as usize][k] = ScaledCoefficient::Known(sum);
        self.scaled(sum, 1.0 / k as f64)
    }

    /// $k\,a^{[k]}$
    fn rate(&mut self, v: Slot, k: usize) -> Coefficient {
        if let ScaledCoefficient::Known(rate) = self.rates[v as usize][k] {
            return rate;
        }
        let rate = self.scaled(self.coefficient(v, k), k as f64);
        self.rates[v as usize][k] = ScaledCoefficient::Known(rate);
        rate
    }

    /// $1/v^{[0]}$
    pub(super) fn inverse(&mut self, v: Slot) -> Slot {
        if let Some(&inverse) = self.inverses.get(&v) {
            return inverse;
        }
        let (a, b) = (self.builder.constant(1.0), self.value_or_zero(v));
        let inverse = self.builder.emit(Instruction::Div { to: NONE, a, b });
        self.inverses.insert(v, inverse);
        inverse
    }

    fn value_or_zero(&mut self, v: Slot) -> Slot {
        let zero = self.builder.constant(0.0);
        self.coefficient(v, 0).unwrap_or(zero)
    }

    fn opposite(&mut self, a: Coefficient) -> Coefficient {
        a.map(|a| {
            let opposite = self.builder.emit(Instruction::Neg { to: NONE, a });
            self.opposites.insert(opposite, a);
            opposite
        })
    }

    fn scaled(&mut self, a: Coefficient, factor: f64) -> Coefficient {
        if factor == 1.0 {
            return a;
        }
        a.map(|a| {
            // (−a) c = a (−c), with the same bits.
            let (a, factor) = match self.opposites.get(&a) {
                Some(&positive) => (positive, -factor),
                None => (a, factor),
            };
            let b = self.builder.constant(factor);
            self.builder.emit(Instruction::Mul { to: NONE, a, b })
        })
    }

    /// Factors of $\sum_j a^{[j]} b^{[k-j]}$ that are not zero, the youngest last.
    fn pairs(
        &self,
        a: Slot,
        b: Slot,
        k: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Vec<(Slot, Slot)> {
        let pair = |j: usize| self.coefficient(a, j).zip(self.coefficient(b, k - j));
        by_age(*range.start(), *range.end(), k).filter_map(pair).collect()
    }

    /// $2\sum_{j \ge \text{from}} a^{[j]} a^{[k-j]}$ below the middle.
    fn twice(&mut self, a: Slot, k: usize, from: usize) -> Coefficient {
        let pair = |j: usize| self.coefficient(a, j).zip(self.coefficient(a, k - j));
        let pairs: Vec<(Slot, Slot)> = (from..k.div_ceil(2)).rev().filter_map(pair).collect();
        let half = self.dot(None, false, &pairs)?;
        Some(self.builder.emit(Instruction::Add { to: NONE, a: half, b: half }))
    }

    /// Adds $(a^{[k/2]})^2$ where there is a middle.
    fn with_middle(&mut self, a: Slot, k: usize, sum: Coefficient) -> Coefficient {
        match self.coefficient(a, k / 2) {
            Some(middle) if k.is_multiple_of(2) => self.dot(sum, false, &[(middle, middle)]),
            _ => sum,
        }
    }

    /// `sum` $\pm \sum a b$
    fn dot(&mut self, sum: Coefficient, negative: bool, pairs: &[(Slot, Slot)]) -> Coefficient {
        if negative && sum.is_none() {
            // The negative of a sum, with the same bits: the sign may join a factor that follows.
            let positive = self.dot(None, false, pairs);
            return self.opposite(positive);
        }
        let to = NONE;
        let mut sum = sum;
        for &(a, b) in pairs {
            let next = match sum {
                Some(c) if negative => Instruction::SubMul { to, a, b, c },
                Some(c) => Instruction::MulAdd { to, a, b, c },
                None if a == b => Instruction::Square { to, a },
                None => Instruction::Mul { to, a, b },
            };
            sum = Some(self.builder.emit(next));
        }
        sum
    }

    /// $K^{[0]}$ in factors.
    pub(super) fn factorise(&mut self, solve: &LinearSystem, at: &[Pivot]) -> SymbolicLu {
        let (size, to) = (at.len(), NONE);
        let mut k: Vec<Coefficient> =
            solve.matrix.iter().map(|&v| self.coefficient(v, 0)).collect();
        let mut factors = SymbolicLu {
            at: at.to_vec(),
            pivots: Vec::new(),
            inverses: Vec::new(),
            lower: Vec::new(),
            upper: Vec::new(),
        };
        for (step, &Pivot { row: p, column: q }) in at.iter().enumerate() {
            let rest = &at[step + 1..];
            let pivot = k[p * size + q];
            let (a, zero) = (self.builder.constant(1.0), self.builder.constant(0.0));
            let b = pivot.unwrap_or(zero);
            let inverse = self.builder.emit(Instruction::Div { to, a, b });
            let entry = |pivot: &Pivot| {
                let j = pivot.column;
                k[p * size + j].map(|x| (j, x))
            };
            let upper: Vec<(usize, Slot)> = rest.iter().filter_map(entry).collect();
            let mut lower = Vec::new();
            for &Pivot { row: i, .. } in rest {
                let Some(a) = k[i * size + q] else { continue };
                let factor = self.builder.emit(Instruction::Mul { to, a, b: inverse });
                for &(j, x) in &upper {
                    let entry = k[i * size + j];
                    k[i * size + j] = self.dot(entry, true, &[(factor, x)]);
                }
                lower.push((i, factor));
            }
            factors.pivots.push(pivot);
            factors.inverses.push(inverse);
            factors.lower.push(lower);
            factors.upper.push(upper);
        }
        factors
    }

    /// Order $k$ of (S).
    pub(super) fn substitute(&mut self, solve: &LinearSystem, factors: &SymbolicLu, k: usize) {
        let size = factors.at.len();
        let mut b: Vec<Coefficient> = Vec::with_capacity(size);
        for i in 0..size {
            let mut pairs = Vec::new();
            for j in by_age(1, k, k) {
                for (c, &x) in solve.unknowns.iter().enumerate() {
                    let entry = self.coefficient(solve.matrix[i * size + c], j);
                    pairs.extend(entry.zip(self.coefficient(x, k - j)));
                }
            }
            let right = self.coefficient(solve.right[i], k);
            b.push(self.dot(right, true, &pairs));
        }
        for (step, &Pivot { row: p, .. }) in factors.at.iter().enumerate() {
            if let Some(known) = b[p] {
                for &(i, factor) in &factors.lower[step] {
                    b[i] = self.dot(b[i], true, &[(factor, known)]);
                }
            }
        }
        for (step, &Pivot { row: p, column: q }) in factors.at.iter().enumerate().rev() {
            let mut rest = b[p];
            for &(j, entry) in &factors.upper[step] {
                if let Some(x) = self.coefficient(solve.unknowns[j], k) {
                    rest = self.dot(rest, true, &[(entry, x)]);
                }
            }
            let x = rest.map(|a| {
                let b = factors.inverses[step];
                self.builder.emit(Instruction::Mul { to: NONE, a, b })
            });
            self.series[solve.unknowns[q] as usize][k] = x;
        }
    }
}

/// $j$ from `first` to `last`, those with the smallest $\max(j, k - j)$ first.
fn by_age(first: usize, last: usize, k: usize) -> impl Iterator<Item = usize> {
    let middle = k.div_ceil(2);
    // k/2 up, one below, one above, …; beyond the range nothing.
    let outward = (0..=k).map(move |i| {
        let distance = i.div_ceil(2);
        if i % 2 == 1 { middle.checked_sub(distance) } else { Some(middle + distance) }
    });
    outward.flatten().filter(move |&j| (first..=last).contains(&j))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_youngest_factors_come_last() {
        for k in 0..12 {
            let order: Vec<usize> = by_age(0, k, k).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..=k).collect::<Vec<_>>(), "{k}");
            let ages: Vec<usize> = order.iter().map(|&j| j.max(k - j)).collect();
            assert!(ages.is_sorted(), "{k}: {ages:?}");
        }
        assert_eq!(by_age(1, 4, 5).collect::<Vec<_>>(), [3, 2, 4, 1]);
    }
}
