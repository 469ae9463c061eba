//! The two programs of `passes.rs`: one for order 0, and one that is linear in the newest coefficients and
//! takes the sums of an order to its coefficients.

use pfaff_expr::series::SeriesTerm;
use rustc_hash::FxHashMap;

use super::passes::SCALARS;
use super::pivots::Pivot;
use super::rules::SeriesRule;
use super::unrolled::{Coefficient, SymbolicLu, Unroller};
use super::{LinearSystem, TaylorRecurrences, pivots};
use crate::backend::native::LANES;
use crate::tape::builder::{NONE, TapeBuilder};
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::{SsaTape, ValueOrigin};

/// Both programs.
pub(super) struct PassPrograms {
    /// $(t, y, e)$ to $y^{[1]}$, what later orders read of order 0, and the pivots.
    pub(super) first: SsaTape,
    /// The block to a record.
    pub(super) next: SsaTape,
    /// How many doubles hold the sums, in whole rows.
    pub(super) sums: usize,
    /// How many pivots there are.
    pub(super) pivots: usize,
}

/// Writes both programs; `sample` is the matrix of the linear system at a typical state.
pub(super) fn write(recurrences: &TaylorRecurrences, sample: &[f64]) -> PassPrograms {
    let pivots = pivots::choose(recurrences.unknowns(), sample);
    let (early, late) = recurrences.rules.rules.split_at(recurrences.before);
    let mut first = Unroller::new(recurrences, 1);
    early.iter().for_each(|&rule| first.rule(rule, 0));
    let factors = recurrences.solve.as_ref().map(|solve| {
        let factors = first.factorise(solve, &pivots);
        first.substitute(solve, &factors, 0);
        factors
    });
    late.iter().for_each(|&rule| first.rule(rule, 0));

    let mut writer = PassBuilder::new(recurrences, first);
    early.iter().for_each(|&rule| writer.rule(rule));
    if let (Some(solve), Some(factors)) = (&recurrences.solve, &factors) {
        writer.substitute(solve, factors);
    }
    late.iter().for_each(|&rule| writer.rule(rule));
    writer.finish(recurrences, factors.as_ref())
}

/// A sum (C): the series $a$, or its rate $j\,a^{[j]}$, by the series $b$.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Convolution {
    rate: bool,
    a: Slot,
    b: Slot,
}

struct PassBuilder {
    first: Unroller,
    next: TapeBuilder,
    /// Whether a value may change along the motion.
    varies: Vec<bool>,
    /// Coefficients of the order at hand, by value of the recurrences; none is zero.
    series: Vec<Coefficient>,
    /// Sums and where they are read, in the order of their lanes.
    lanes: Vec<(Convolution, Slot)>,
    lane_of: FxHashMap<Convolution, Slot>,
    scalars: [Slot; SCALARS],
    state: Vec<Slot>,
    /// Values of order 0 in the first program and where they are read, in their order in the block.
    kept: Vec<(Slot, Slot)>,
    kept_of: FxHashMap<Slot, Slot>,
}

impl PassBuilder {
    fn new(recurrences: &TaylorRecurrences, first: Unroller) -> Self {
        let mut next = TapeBuilder::default();
        // Places in the block follow when all are known.
        let mut input = || next.value(ValueOrigin::Input(0));
        let scalars = [(); SCALARS].map(|()| input());
        let state: Vec<Slot> = (0..recurrences.dimension).map(|_| input()).collect();
        let mut series = vec![None; recurrences.rules.values.len()];
        series[0] = Some(scalars[3]);
        for (i, &y) in state.iter().enumerate() {
            series[i + 1] = Some(y);
        }
        let count = recurrences.rules.values.len() as Slot;
        Self {
            first,
            next,
            varies: (0..count).map(|v| recurrences.rules.varies(v)).collect(),
            series,
            lanes: Vec::new(),
            lane_of: FxHashMap::default(),
            scalars,
            state,
            kept: Vec::new(),
            kept_of: FxHashMap::default(),
        }
    }

    fn at(&self, v: Slot) -> Coefficient {
        self.series[v as usize]
    }

    /// A value of the first program.
    fn keep(&mut self, value: Slot) -> Slot {
        if let Some(number) = self.first.builder.constant_of(value) {
            return self.next.constant(number);
        }
        if let Some(&kept) = self.kept_of.get(&value) {
            return kept;
        }
        let kept = self.next.value(ValueOrigin::Input(0));
        self.kept.push((value, kept));
        self.kept_of.insert(value, kept);
        kept
    }

    /// Order 0.
    fn base(&mut self, v: Slot) -> Coefficient {
        self.first.coefficient(v, 0).map(|value| self.keep(value))
    }

    /// $1/v^{[0]}$
    fn inverse(&mut self, v: Slot) -> Slot {
        let inverse = self.first.inverse(v);
        self.keep(inverse)
    }

    /// The sum (C) of two series; none if one of them does not vary.
    fn sum(&mut self, lane: Convolution) -> Coefficient {
        self.at(lane.a)?;
        self.at(lane.b)?;
        if let Some(&sum) = self.lane_of.get(&lane) {
            return Some(sum);
        }
        let sum = self.next.value(ValueOrigin::Input(0));
        self.lanes.push((lane, sum));
        self.lane_of.insert(lane, sum);
        Some(sum)
    }

    /// As [`PassBuilder::sum`] where `b` gets its coefficient later.
    fn sum_ahead(&mut self, lane: Convolution) -> Slot {
        let placeholder = self.series[lane.b as usize].or(Some(NONE));
        let before = std::mem::replace(&mut self.series[lane.b as usize], placeholder);
        let sum = self.sum(lane);
        self.series[lane.b as usize] = before;
        sum.expect("both vary")
    }

    fn rule(&mut self, rule: SeriesRule) {
        let to = NONE;
        let coefficient = match rule {
            SeriesRule::Sum { a, b, .. } => self.plus(self.at(a), self.at(b)),
            SeriesRule::Difference { a, b, .. } => self.minus(self.at(a), self.at(b)),
            SeriesRule::Opposite { a, .. } => self.minus(None, self.at(a)),
            SeriesRule::Product { a, b, .. } => {
                // The younger factor last: it is waited for.
                let (a, b) = (a.min(b), a.max(b));
                let sum = self.sum(Convolution { rate: false, a, b });
                let sum = self.plus_product(sum, b, a);
                self.plus_product(sum, a, b)
            }
            SeriesRule::Square { a, .. } => self.at(a).map(|x| {
                let sum = self.sum(Convolution { rate: false, a, b: a });
                let double = self.first.coefficient(a, 0).map(|value| {
                    let to = NONE;
                    let double =
                        self.first.builder.emit(Instruction::Add { to, a: value, b: value });
                    self.keep(double)
                });
                let sum = sum.expect("the factor varies");
                match double {
                    Some(a) => self.next.emit(Instruction::MulAdd { to, a, b: x, c: sum }),
                    None => sum,
                }
            }),
            SeriesRule::Quotient { to, a, b } => self.quotient(to, a, b),
            SeriesRule::Root { to: root, a } => self.at(a).map(|x| {
                let sum = self.sum_of_itself(root);
                let rest = self.next.emit(Instruction::Sub { to, a: x, b: sum });
                let half = {
                    let inverse = self.first.inverse(root);
                    let half = self.first.builder.constant(0.5);
                    self.first.builder.emit(Instruction::Mul { to, a: inverse, b: half })
                };
                let b = self.keep(half);
                self.next.emit(Instruction::Mul { to, a: rest, b })
            }),
            SeriesRule::Choice { condition, a, b, .. } => self.choice(condition, a, b),
            SeriesRule::Function { to, over, terms, .. } => self.function(to, over, terms),
        };
        self.series[rule.to() as usize] = coefficient;
    }

    fn choice(&mut self, condition: Slot, a: Slot, b: Slot) -> Coefficient {
        let (a, b) = (self.at(a), self.at(b));
        a.or(b)?;
        let condition = self.base(condition).expect("a condition has a value");
        let zero = self.next.constant(0.0);
        let (a, b) = (a.unwrap_or(zero), b.unwrap_or(zero));
        Some(self.next.emit(Instruction::Select { to: NONE, condition, a, b }))
    }

    /// (C) of a series by itself that gets its coefficient later.
    fn sum_of_itself(&mut self, v: Slot) -> Slot {
        let before = self.series[v as usize].replace(NONE);
        let sum = self.sum(Convolution { rate: false, a: v, b: v });
        self.series[v as usize] = before;
        sum.expect("both vary")
    }

    /// $b^{[0]} q^{[k]} = a^{[k]} - q^{[0]} b^{[k]} - \sum b^{[j]} q^{[k-j]}$
    fn quotient(&mut self, to: Slot, a: Slot, b: Slot) -> Coefficient {
        let mut rest = self.at(a);
        if let Some(below) = self.at(b) {
            let sum = self.sum_ahead(Convolution { rate: false, a: b, b: to });
            rest = self.minus(rest, Some(sum));
            if let Some(quotient) = self.base(to) {
                rest = self.minus_product(rest, quotient, below);
            }
        }
        let a = rest?;
        let b = self.inverse(b);
        Some(self.next.emit(Instruction::Mul { to: NONE, a, b }))
    }

    /// $w^{[0]} y^{[k]} = \sum \pm f^{[0]} g^{[k]} + \frac1k \bigl(\sum \pm \sum_j j g^{[j]} f^{[k-j]} -
    /// \sum_j j y^{[j]} w^{[k-j]}\bigr)$
    fn function(
        &mut self,
        to: Slot,
        over: Option<Slot>,
        terms: [Option<SeriesTerm>; 2],
    ) -> Coefficient {
        let (mut new, mut old) = (None, None);
        for SeriesTerm { negative, f, g } in terms.into_iter().flatten() {
            let Some(x) = self.at(g) else { continue };
            let Some(f) = f else {
                new = if negative { self.minus(new, Some(x)) } else { self.plus(new, Some(x)) };
                continue;
            };
            if self.varies[f as usize] {
                let sum = Some(self.sum_ahead(Convolution { rate: true, a: g, b: f }));
                old = if negative { self.minus(old, sum) } else { self.plus(old, sum) };
            }
            if let Some(value) = self.base(f) {
                new = if negative {
                    self.minus_product(new, value, x)
                } else {
                    Some(self.product_plus(value, x, new))
                };
            }
        }
        if let Some(w) = over
            && self.at(w).is_some()
        {
            // Without something that varies there is nothing to divide.
            new.or(old)?;
            let before = self.series[to as usize].replace(NONE);
            let sum = self.sum(Convolution { rate: true, a: to, b: w });
            self.series[to as usize] = before;
            old = self.minus(old, sum);
        }
        if let Some(old) = old {
            let share = self.scalars[1];
            new = Some(self.product_plus(old, share, new));
        }
        match over {
            Some(w) => {
                let (a, b) = (new?, self.inverse(w));
                Some(self.next.emit(Instruction::Mul { to: NONE, a, b }))
            }
            None => new,
        }
    }

    /// Order $k$ of (S).
    fn substitute(&mut self, solve: &LinearSystem, factors: &SymbolicLu) {
        let size = factors.at.len();
        let mut b: Vec<Coefficient> = Vec::with_capacity(size);
        for i in 0..size {
            let mut rest = self.at(solve.right[i]);
            for (c, &x) in solve.unknowns.iter().enumerate() {
                let entry = solve.matrix[i * size + c];
                let Some(new) = self.at(entry) else { continue };
                let sum = self.sum_ahead(Convolution { rate: false, a: entry, b: x });
                rest = self.minus(rest, Some(sum));
                if let Some(value) = self.base(x) {
                    rest = self.minus_product(rest, value, new);
                }
            }
            b.push(rest);
        }
        for (step, &Pivot { row: p, .. }) in factors.at.iter().enumerate() {
            if let Some(known) = b[p] {
                for &(i, factor) in &factors.lower[step] {
                    let factor = self.keep(factor);
                    b[i] = self.minus_product(b[i], factor, known);
                }
            }
        }
        for (step, &Pivot { row: p, column: q }) in factors.at.iter().enumerate().rev() {
            let mut rest = b[p];
            for &(j, entry) in &factors.upper[step] {
                if let Some(x) = self.at(solve.unknowns[j]) {
                    let entry = self.keep(entry);
                    rest = self.minus_product(rest, entry, x);
                }
            }
            let x = rest.map(|a| {
                let b = self.keep(factors.inverses[step]);
                self.next.emit(Instruction::Mul { to: NONE, a, b })
            });
            self.series[solve.unknowns[q] as usize] = x;
        }
    }

    fn plus(&mut self, a: Coefficient, b: Coefficient) -> Coefficient {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.next.emit(Instruction::Add { to: NONE, a, b })),
            (a, b) => a.or(b),
        }
    }

    fn minus(&mut self, a: Coefficient, b: Coefficient) -> Coefficient {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.next.emit(Instruction::Sub { to: NONE, a, b })),
            (None, Some(a)) => Some(self.next.emit(Instruction::Neg { to: NONE, a })),
            (a, None) => a,
        }
    }

    /// `sum` $+\, a^{[0]} b^{[k]}$
    fn plus_product(&mut self, sum: Coefficient, a: Slot, b: Slot) -> Coefficient {
        match (self.at(b), self.base(a)) {
            (Some(new), Some(value)) => Some(self.product_plus(value, new, sum)),
            _ => sum,
        }
    }

    fn product_plus(&mut self, a: Slot, b: Slot, sum: Coefficient) -> Slot {
        self.next.emit(match sum {
            Some(c) => Instruction::MulAdd { to: NONE, a, b, c },
            None => Instruction::Mul { to: NONE, a, b },
        })
    }

    fn minus_product(&mut self, sum: Coefficient, a: Slot, b: Slot) -> Coefficient {
        if let Some(c) = sum {
            return Some(self.next.emit(Instruction::SubMul { to: NONE, a, b, c }));
        }
        let product = self.product_plus(a, b, None);
        self.minus(None, Some(product))
    }

    /// Outputs, and the places of inputs.
    fn finish(
        mut self,
        recurrences: &TaylorRecurrences,
        factors: Option<&SymbolicLu>,
    ) -> PassPrograms {
        let sums = self.lanes.len().next_multiple_of(LANES);
        let zero = self.next.constant(0.0);
        let mut outputs = vec![zero; 2 * sums];
        let mut places: Vec<Slot> = Vec::with_capacity(sums + SCALARS + self.state.len());
        for (l, &(Convolution { rate, a, b }, sum)) in self.lanes.iter().enumerate() {
            places.push(sum);
            let row = 2 * LANES * (l / LANES) + l % LANES;
            let mut factor = self.series[a as usize].unwrap_or(zero);
            if rate {
                let (a, b) = (factor, self.scalars[0]);
                factor = self.next.emit(Instruction::Mul { to: NONE, a, b });
            }
            outputs[row] = factor;
            outputs[row + LANES] = self.series[b as usize].unwrap_or(zero);
        }
        places.extend((places.len()..sums).map(|_| self.next.value(ValueOrigin::Input(0))));
        places.extend(self.scalars);
        places.extend(&self.state);
        places.extend(self.kept.iter().map(|&(_, place)| place));
        for (i, &value) in places.iter().enumerate() {
            self.next.tape.values[value as usize] = ValueOrigin::Input(i as u32);
        }
        for &rate in &recurrences.rates {
            outputs.push(match self.series[rate as usize] {
                Some(a) => {
                    let b = self.scalars[2];
                    self.next.emit(Instruction::Mul { to: NONE, a, b })
                }
                None => zero,
            });
        }
        let mut next = self.next.tape;
        next.outputs = outputs;
        next.drop_dead();
        let mut first = self.first;
        let nothing = first.builder.constant(0.0);
        let begin =
            recurrences.rates.iter().map(|&v| first.coefficient(v, 0).unwrap_or(nothing));
        let pivots: Vec<Slot> = factors
            .iter()
            .flat_map(|f| f.pivots.iter().map(|d| d.unwrap_or(nothing)))
            .collect();
        let outputs: Vec<Slot> = begin
            .chain(self.kept.iter().map(|&(value, _)| value))
            .chain(pivots.iter().copied())
            .collect();
        let mut first = first.builder.tape;
        first.outputs = outputs;
        first.drop_dead();
        PassPrograms { first, next, sums, pivots: pivots.len() }
    }
}
