//! Interprets recurrences in loops over the orders: short code for long systems, and a solve with pivoting.

use pfaff_expr::series::SeriesTerm;

use super::rules::SeriesRule;
use super::{LinearSystem, TaylorRecurrences};
use crate::backend::interpreter::execute;
use crate::sincos::sincos;
use crate::tape::instruction::{Instruction, Slot};
use crate::tape::lower::ValueOrigin;

/// Evaluates recurrences with given parameters. It owns its storage: give each thread its own.
#[derive(Clone, Debug)]
pub struct TaylorInterpreter {
    recurrences: std::sync::Arc<TaylorRecurrences>,
    order: usize,
    /// By value and order.
    series: Vec<f64>,
    /// $k\,a^{[k]}$ of the values that some rule wants it of, by place and order.
    rates: Vec<f64>,
    /// The place of each value in `rates`.
    rate_of: Vec<Option<usize>>,
    /// Order 0, by value.
    slots: Vec<f64>,
    /// What rounding took from the state.
    low: Vec<f64>,
    factors: NumericLu,
}

/// $K^{[0]}$ in triangular factors, by rows.
#[derive(Clone, Debug, Default)]
struct NumericLu {
    entries: Vec<f64>,
    /// Which row stands where.
    rows: Vec<usize>,
    right: Vec<f64>,
}

impl TaylorInterpreter {
    pub(super) fn new(
        recurrences: &TaylorRecurrences,
        order: usize,
        parameters: &[f64],
    ) -> Self {
        let count = recurrences.rules.values.len();
        let mut rate_of = vec![None; count];
        let mut wanted = 0;
        let mut want = |v: Slot| {
            rate_of[v as usize].get_or_insert_with(|| {
                wanted += 1;
                wanted - 1
            });
        };
        for &rule in &recurrences.rules.rules {
            if let SeriesRule::Function { to, over, terms, .. } = rule {
                terms.into_iter().flatten().for_each(|term| want(term.g));
                if over.is_some() {
                    want(to);
                }
            }
        }
        let size = recurrences.unknowns();
        let mut loops = Self {
            recurrences: std::sync::Arc::new(recurrences.clone()),
            order,
            series: vec![0.0; count * (order + 1)],
            rates: vec![0.0; wanted * (order + 1)],
            rate_of,
            slots: vec![0.0; count],
            low: vec![0.0; recurrences.dimension],
            factors: NumericLu {
                entries: vec![0.0; size * size],
                rows: vec![0; size],
                right: vec![0.0; size],
            },
        };
        loops.set_parameters(parameters);
        loops
    }

    /// Other parameters.
    ///
    /// # Panics
    ///
    /// If their number is not that of the field.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        let recurrences = std::sync::Arc::clone(&self.recurrences);
        assert_eq!(parameters.len(), recurrences.parameters, "number of parameters");
        for (v, origin) in recurrences.rules.values.iter().enumerate() {
            match *origin {
                ValueOrigin::Parameter(i) => self.slots[v] = parameters[i as usize],
                ValueOrigin::Constant(number) => self.slots[v] = number,
                _ => {}
            }
        }
        execute(&recurrences.lowered.per_run, &mut self.slots, &recurrences.lowered.tables);
        for (v, origin) in recurrences.rules.values.iter().enumerate() {
            if !matches!(origin, ValueOrigin::Input(_) | ValueOrigin::PerEvaluation) {
                self.series[v * (self.order + 1)] = self.slots[v];
            }
        }
    }

    /// $y^{\[1\]}$, then $y^{\[2\]}$, … at $(t, y, e)$; `false` if the linear system is singular there.
    /// Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the field.
    pub fn evaluate(&mut self, inputs: &[f64], coefficients: &mut [f64]) -> bool {
        let recurrences = std::sync::Arc::clone(&self.recurrences);
        let n = recurrences.dimension;
        assert_eq!(inputs.len(), 2 * n + 1, "time, state and its rounding");
        let (inputs, low) = inputs.split_at(n + 1);
        self.low.copy_from_slice(low);
        assert_eq!(coefficients.len(), n * self.order, "coefficients");
        for (v, &x) in inputs.iter().enumerate() {
            self.set(v as Slot, 0, x);
        }
        self.set(0, 1, 1.0);
        let (early, late) = recurrences.rules.rules.split_at(recurrences.before);
        for k in 0..self.order {
            early.iter().for_each(|&rule| self.rule(rule, k));
            if let Some(solve) = &recurrences.solve {
                if k == 0 && !self.factorise(solve) {
                    return false;
                }
                self.substitute(solve, k);
            }
            late.iter().for_each(|&rule| self.rule(rule, k));
            for (i, &rate) in recurrences.rates.iter().enumerate() {
                let next = self.at(rate, k) / (k + 1) as f64;
                self.set(i as Slot + 1, k + 1, next);
                coefficients[k * n + i] = next;
            }
        }
        true
    }

    /// $K$ at the state last evaluated, by rows.
    pub fn matrix(&self) -> Vec<f64> {
        let solve = self.recurrences.solve.iter();
        solve.flat_map(|s| &s.matrix).map(|&v| self.slots[v as usize]).collect()
    }

    #[inline]
    fn at(&self, v: Slot, k: usize) -> f64 {
        self.series[v as usize * (self.order + 1) + k]
    }

    /// Sets a coefficient, and what is kept of it elsewhere.
    #[inline]
    fn set(&mut self, v: Slot, k: usize, x: f64) {
        self.series[v as usize * (self.order + 1) + k] = x;
        if k == 0 {
            self.slots[v as usize] = x;
        }
        if let Some(place) = self.rate_of[v as usize] {
            self.rates[place * (self.order + 1) + k] = k as f64 * x;
        }
    }

    /// The coefficients from one order to another.
    fn range(&self, v: Slot, first: usize, last: usize) -> &[f64] {
        let start = v as usize * (self.order + 1);
        &self.series[start + first..=start + last]
    }

    /// $\sum_{j} j\,g^{[j]} f^{[k-j]}$ for $j$ from 1 to `last`.
    fn rate_product(&self, g: Slot, f: Slot, last: usize, k: usize) -> f64 {
        if last == 0 {
            return 0.0;
        }
        let place = self.rate_of[g as usize].expect("every rate that is read is wanted");
        let start = place * (self.order + 1);
        convolve(&self.rates[start + 1..=start + last], self.range(f, k - last, k - 1))
    }

    fn rule(&mut self, rule: SeriesRule, k: usize) {
        let value = match rule {
            SeriesRule::Sum { a, b, .. } => self.at(a, k) + self.at(b, k),
            SeriesRule::Difference { a, b, .. } => self.at(a, k) - self.at(b, k),
            SeriesRule::Opposite { a, .. } => -self.at(a, k),
            SeriesRule::Product { a, b, .. } => match self.recurrences.rules.varies(a) {
                false => self.at(a, 0) * self.at(b, k),
                true if !self.recurrences.rules.varies(b) => self.at(a, k) * self.at(b, 0),
                true => convolve(self.range(a, 0, k), self.range(b, 0, k)),
            },
            SeriesRule::Square { a, .. } => self.square(a, k, 0),
            SeriesRule::Quotient { to, a, b } => {
                let inner = if k == 0 || !self.recurrences.rules.varies(b) {
                    0.0
                } else {
                    convolve(self.range(b, 1, k), self.range(to, 0, k - 1))
                };
                (self.at(a, k) - inner) / self.at(b, 0)
            }
            SeriesRule::Root { a, .. } if k == 0 => self.at(a, 0).sqrt(),
            SeriesRule::Root { to, a } => {
                (self.at(a, k) - self.square(to, k, 1)) / (2.0 * self.at(to, 0))
            }
            SeriesRule::Choice { condition, a, b, .. } => {
                if self.at(condition, 0) == 0.0 {
                    self.at(b, k)
                } else {
                    self.at(a, k)
                }
            }
            SeriesRule::Function { to, first, .. } if k == 0 => {
                let first = first.rename(|v| v, |_| to);
                execute(&[first], &mut self.slots, &[]);
                self.exact(first, to)
            }
            SeriesRule::Function { to, over, terms, .. } => self.function(to, over, terms, k),
        };
        self.set(rule.to(), k, value);
    }

    /// The value just computed, at $y + e$ where it is the sine or cosine of a component of the state.
    fn exact(&self, first: Instruction, to: Slot) -> f64 {
        let value = self.slots[to as usize];
        let (Instruction::Sin { a, .. } | Instruction::Cos { a, .. }) = first else {
            return value;
        };
        let Some(&e) = (a as usize).checked_sub(1).and_then(|i| self.low.get(i)) else {
            return value;
        };
        let (sin, cos) = sincos(self.slots[a as usize]);
        if matches!(first, Instruction::Sin { .. }) { value + e * cos } else { value - e * sin }
    }

    fn function(
        &self,
        to: Slot,
        over: Option<Slot>,
        terms: [Option<SeriesTerm>; 2],
        k: usize,
    ) -> f64 {
        let mut sum = 0.0;
        for SeriesTerm { negative, f, g } in terms.into_iter().flatten() {
            let term = match f {
                Some(f) => self.rate_product(g, f, k, k),
                None => k as f64 * self.at(g, k),
            };
            sum += if negative { -term } else { term };
        }
        if let Some(w) = over {
            sum = (sum - self.rate_product(to, w, k - 1, k)) / self.at(w, 0);
        }
        sum / k as f64
    }

    /// $\sum_j a^{[j]} a^{[k-j]}$ with $j$ and $k - j$ at least `from`.
    fn square(&self, a: Slot, k: usize, from: usize) -> f64 {
        let middle = if k.is_multiple_of(2) { self.at(a, k / 2) } else { 0.0 };
        let half = k.div_ceil(2);
        if half <= from {
            return if 2 * from <= k { middle * middle } else { 0.0 };
        }
        let low = self.range(a, from, half - 1);
        let high = self.range(a, k - half + 1, k - from);
        2.0 * convolve(low, high) + middle * middle
    }

    /// Factorises $K^{[0]}$ with row pivoting; `false` if it is singular or not finite.
    fn factorise(&mut self, solve: &LinearSystem) -> bool {
        let size = solve.unknowns.len();
        let k = &mut self.factors.entries;
        let mut largest = 0.0_f64;
        for (entry, &v) in k.iter_mut().zip(&solve.matrix) {
            *entry = self.slots[v as usize];
            if !entry.is_finite() {
                return false;
            }
            largest = largest.max(entry.abs());
        }
        for (i, row) in self.factors.rows.iter_mut().enumerate() {
            *row = i;
        }
        for p in 0..size {
            let by_size = |&i: &usize, &j: &usize| {
                k[i * size + p].abs().total_cmp(&k[j * size + p].abs())
            };
            let best = (p..size).max_by(by_size).unwrap_or(p);
            if k[best * size + p].abs() <= f64::EPSILON * largest {
                return false;
            }
            self.factors.rows.swap(p, best);
            for j in 0..size {
                k.swap(p * size + j, best * size + j);
            }
            let (above, below) = k.split_at_mut((p + 1) * size);
            let row = &above[p * size..];
            for other in below.chunks_exact_mut(size) {
                other[p] /= row[p];
                let factor = other[p];
                if factor != 0.0 {
                    for (x, y) in other[p + 1..].iter_mut().zip(&row[p + 1..]) {
                        *x -= factor * y;
                    }
                }
            }
        }
        true
    }

    /// Order $k$ of (S).
    fn substitute(&mut self, solve: &LinearSystem, k: usize) {
        let size = solve.unknowns.len();
        let mut right = std::mem::take(&mut self.factors.right);
        for (place, &i) in right.iter_mut().zip(&self.factors.rows) {
            let mut sum = self.at(solve.right[i], k);
            for (&x, &entry) in solve.unknowns.iter().zip(&solve.matrix[i * size..]) {
                if k > 0 && self.recurrences.rules.varies(entry) {
                    sum -= convolve(self.range(entry, 1, k), self.range(x, 0, k - 1));
                }
            }
            *place = sum;
        }
        let entries = &self.factors.entries;
        for i in 0..size {
            for j in 0..i {
                right[i] -= entries[i * size + j] * right[j];
            }
        }
        for i in (0..size).rev() {
            for j in i + 1..size {
                right[i] -= entries[i * size + j] * right[j];
            }
            right[i] /= entries[i * size + i];
        }
        for (&x, &value) in solve.unknowns.iter().zip(&right) {
            self.set(x, k, value);
        }
        self.factors.right = right;
    }
}

/// $\sum_i a_i b_{n-1-i}$, in four sums so that none waits for the one before.
fn convolve(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, reversed) = (a.chunks_exact(4), b.rchunks_exact(4));
    let rest = fours.remainder().iter().zip(reversed.remainder().iter().rev());
    let tail: f64 = rest.map(|(x, y)| x * y).sum();
    for (x, y) in fours.zip(reversed) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += x[lane] * y[3 - lane];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}
