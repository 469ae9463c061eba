//! Rows of a Pfaffian system from smoothed samples: few terms that cancel as far as the noise allows.
//!
//! A row $\omega(q) = \sum_{i,k} c_{ik} f_k(q)\,dq_i$ holds along a motion if $A c = 0$, where each sample gives the
//! row $A_{ik} = f_k(q)\,\dot q_i$. Both $q$ and $\dot q$ are uncertain, so $A$ is too; with the known covariance of
//! every sample the noise has the Gram matrix $G$, and
//!
//! $$ \lambda(c) = \frac{c^\top A^\top A\,c}{c^\top G\,c} \qquad (\mathrm L) $$
//!
//! is about 1 for rows that hold and large for all others, whatever the units. This is total least squares, with the
//! errors of all columns in their own measure (Van Huffel and Vandewalle 1991).
//!
//! **Search.** For each column as the first term, others are added one by one, the one that leaves least each time,
//! until (L) is small; then terms are taken away again as long as it stays small.

use std::cell::RefCell;

use pfaff_solver::{cholesky, cholesky_solve};

use crate::analysis::discover::dot;
use crate::analysis::discover::library::Function;
use crate::analysis::discover::smooth::Smoothed;

/// (L) up to which a row counts as one that holds. Its mean is 1 without the error of smoothing itself, which is as
/// large again where the degree is chosen well.
const HOLDS: f64 = 3.0;
/// By what a further term, and a further factor, must lower the root of (L) to be worth it.
const TERM: f64 = 0.15;
const FACTOR: f64 = 0.25;
/// Coefficients must not cancel by themselves: what is left of the squares of the terms in the covector.
const PRESENT: f64 = 0.1;
/// What is left of the terms of a row, at most.
const LEFT: f64 = 0.2;
/// Errors are taken to be at least this part of each column.
const FLOOR: f64 = 1e-4;
/// Terms of a row, at most, and first choices that are followed.
const TERMS: usize = 7;
const CHOICES: usize = 3;
/// Samples for the noise of a row.
const NOISE_SAMPLES: usize = 400;

/// A smoothed sample of all coordinates, and how much it counts.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) motion: usize,
    pub(super) q: Vec<f64>,
    pub(super) at: Vec<Smoothed>,
    pub(super) weight: f64,
}

/// A term of a row: a function before the velocity of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) coordinate: usize,
    pub(super) function: Function,
}

impl Term {
    fn value(self, sample: &Sample) -> f64 {
        sample.weight * self.function.value(&sample.q) * sample.at[self.coordinate].v
    }

    /// What independent errors of size 1 do to the value, two for each coordinate, in parts of a length.
    fn errors(self, sample: &Sample, length: f64) -> Vec<f64> {
        let factor = if length > 0.0 { sample.weight / length } else { 0.0 };
        let mut slopes = vec![0.0; sample.at.len()];
        let v = sample.at[self.coordinate].v;
        self.function.add_gradient(&sample.q, factor * v, &mut slopes);
        let value = factor * self.function.value(&sample.q);
        let of = |(l, (s, slope)): (usize, (&Smoothed, &f64))| {
            // (δq, δv) = (a ε₁, b ε₁ + c ε₂) with independent ε of size 1.
            let a = s.variance_q.sqrt();
            let b = if a > 0.0 { s.covariance / a } else { 0.0 };
            let own = if l == self.coordinate { value } else { 0.0 };
            [slope * a + own * b, own * (s.variance_v - b * b).max(0.0).sqrt()]
        };
        sample.at.iter().zip(&slopes).enumerate().flat_map(of).collect()
    }
}

/// A row that holds: its terms with coefficients, in units in which the columns have length 1.
#[derive(Clone, Debug)]
pub(super) struct FoundRow {
    pub(super) terms: Vec<usize>,
    pub(super) coefficients: Vec<f64>,
    /// (L)
    pub(super) ratio: f64,
}

/// A first term and others that were added to it one by one, orthonormalised by their products (Gram and Schmidt), so
/// that a further one takes time in proportion to the columns and to the terms.
struct Pursuit {
    support: Vec<usize>,
    /// The products of all columns with each orthonormal term.
    along: Vec<Vec<f64>>,
    /// What is outside the terms: of each column its square, and its product with the first term.
    outside: Vec<f64>,
    correlation: Vec<f64>,
}

impl Pursuit {
    fn new(regression: &Regression<'_>, pivot: usize) -> Self {
        let p = regression.terms.len();
        Self {
            support: vec![pivot],
            along: Vec::new(),
            outside: vec![1.0; p],
            correlation: (0..p).map(|c| regression.product(c, pivot)).collect(),
        }
    }

    fn add(&mut self, regression: &Regression<'_>, term: usize) {
        let p = self.outside.len();
        let length = self.outside[term].max(0.0).sqrt();
        let mut along: Vec<f64> = (0..p).map(|c| regression.product(term, c)).collect();
        for earlier in &self.along {
            let own = earlier[term];
            along.iter_mut().zip(earlier).for_each(|(x, y)| *x -= own * y);
        }
        along.iter_mut().for_each(|x| *x /= length);
        let pivot = along[self.support[0]];
        for (c, x) in along.iter().enumerate() {
            self.outside[c] -= x * x;
            self.correlation[c] -= pivot * x;
        }
        self.along.push(along);
        self.support.push(term);
    }

    /// The columns that leave least of the first one if they are added, the best at the front.
    fn best(&self, regression: &Regression<'_>, count: usize) -> Vec<usize> {
        let mut best: Vec<(f64, usize)> = Vec::with_capacity(count + 1);
        for (c, (&x, &outside)) in self.correlation.iter().zip(&self.outside).enumerate() {
            let is_new = regression.lengths[c] > 0.0 && !self.support.contains(&c);
            let gain = x * x / outside;
            let is_full = best.len() == count;
            if !is_new
                || outside <= 1e-8
                || (is_full && best.last().is_some_and(|b| b.0 >= gain))
            {
                continue;
            }
            let place = best.partition_point(|b| b.0 >= gain);
            best.insert(place, (gain, c));
            best.truncate(count);
        }
        best.into_iter().map(|b| b.1).collect()
    }
}

/// The Gram matrix of a library over samples.
pub(super) struct Regression<'a> {
    pub(super) samples: &'a [Sample],
    pub(super) terms: Vec<Term>,
    /// The lengths of the columns.
    pub(super) lengths: Vec<f64>,
    gram: Vec<f64>,
    coordinates: usize,
    /// Samples for the noise, by number, with the values of all functions there.
    sampled: Vec<usize>,
    functions: Vec<Vec<f64>>,
    /// What independent errors of size 1 do to each column there: two for each coordinate.
    errors: Vec<Vec<f64>>,
    /// Products of these as far as they were asked for, else NaN.
    noise: RefCell<Vec<f64>>,
}

impl<'a> Regression<'a> {
    pub(super) fn new(
        samples: &'a [Sample],
        functions: &[Function],
        coordinates: usize,
    ) -> Self {
        let terms: Vec<Term> = functions
            .iter()
            .flat_map(|&function| {
                (0..coordinates).map(move |coordinate| Term { coordinate, function })
            })
            .collect();
        let p = terms.len();
        let mut gram = vec![0.0; p * p];
        let mut row = vec![0.0; p];
        for sample in samples {
            let values: Vec<f64> = functions.iter().map(|f| f.value(&sample.q)).collect();
            for (k, f) in values.iter().enumerate() {
                for (i, at) in sample.at.iter().enumerate() {
                    row[k * coordinates + i] = sample.weight * f * at.v;
                }
            }
            for i in 0..p {
                let x = row[i];
                let target = &mut gram[i * p..=i * p + i];
                target.iter_mut().zip(&row).for_each(|(g, y)| *g += x * y);
            }
        }
        let lengths: Vec<f64> = (0..p).map(|i| gram[i * p + i].sqrt()).collect();
        for i in 0..p {
            for j in 0..=i {
                let size = lengths[i] * lengths[j];
                let entry = if size > 0.0 { gram[i * p + j] / size } else { 0.0 };
                gram[i * p + j] = entry;
                gram[j * p + i] = entry;
            }
        }
        let stride = samples.len().div_ceil(NOISE_SAMPLES).max(1);
        let sampled: Vec<usize> = (0..samples.len()).step_by(stride).collect();
        let place = |&j: &usize| &samples[j];
        let errors = terms.iter().zip(&lengths).map(|(term, &length)| {
            sampled.iter().map(place).flat_map(|s| term.errors(s, length)).collect()
        });
        let errors = errors.collect();
        let values = |f: &Function| sampled.iter().map(|j| f.value(&samples[*j].q)).collect();
        let functions = functions.iter().map(values).collect();
        let noise = RefCell::new(vec![f64::NAN; p * p]);
        Self { samples, terms, lengths, gram, coordinates, sampled, functions, errors, noise }
    }

    fn product(&self, i: usize, j: usize) -> f64 {
        self.gram[i * self.terms.len() + j]
    }

    /// Rows that hold, the shortest first.
    pub(super) fn rows(&self) -> Vec<FoundRow> {
        let mut found: Vec<FoundRow> = Vec::new();
        for pivot in (0..self.terms.len()).filter(|&i| self.lengths[i] > 0.0) {
            if self.terms[pivot].function.complexity() == 0 {
                found.extend(self.tested(&[pivot]));
            }
            for first in Pursuit::new(self, pivot).best(self, CHOICES) {
                found.extend(self.grown(pivot, first));
            }
        }
        let divided: Vec<FoundRow> = found.iter().filter_map(|row| self.divided(row)).collect();
        found.extend(divided);
        found.sort_by(|a, b| a.terms.cmp(&b.terms));
        found.dedup_by(|a, b| a.terms == b.terms);
        found.retain(|row| self.is_present(row));
        found.sort_by(|a, b| self.score(a).total_cmp(&self.score(b)));
        found
    }

    /// A row divided by a factor that all its functions have, if it holds so as well.
    fn divided(&self, row: &FoundRow) -> Option<FoundRow> {
        let functions: Vec<Function> =
            row.terms.iter().map(|&i| self.terms[i].function).collect();
        let common = Function::common_factor(&functions)?;
        let place = |(&i, own): (&usize, &Function)| {
            let (coordinate, left) = (self.terms[i].coordinate, own.without(common)?);
            self.terms.iter().position(|t| t.coordinate == coordinate && t.function == left)
        };
        let support: Option<Vec<usize>> = row.terms.iter().zip(&functions).map(place).collect();
        self.tested(&support?)
    }

    /// The root of (L), with a price for terms and factors.
    fn score(&self, row: &FoundRow) -> f64 {
        let factors: usize =
            row.terms.iter().map(|&i| self.terms[i].function.complexity()).sum();
        let price = TERM * row.terms.len() as f64 + FACTOR * factors as f64;
        row.ratio.max(1.0).sqrt() * (1.0 + price)
    }

    /// Whether the covector is there: not a combination of functions that vanishes by itself.
    fn is_present(&self, row: &FoundRow) -> bool {
        let (mut whole, mut parts) = (0.0, 0.0);
        let mut ω = vec![0.0; self.coordinates];
        for (at, &j) in self.sampled.iter().enumerate() {
            ω.fill(0.0);
            for (&i, c) in row.terms.iter().zip(&row.coefficients) {
                let coordinate = self.terms[i].coordinate;
                let function = i / self.coordinates;
                let speed = self.lengths[coordinate];
                let x = c / self.lengths[i] * self.functions[function][at] * speed;
                ω[coordinate] += x;
                parts += self.samples[j].weight * x * x;
            }
            whole += self.samples[j].weight * ω.iter().map(|x| x * x).sum::<f64>();
        }
        whole > PRESENT * parts
    }

    /// Adds terms until the row holds, then takes away those that it does not need.
    fn grown(&self, pivot: usize, first: usize) -> Option<FoundRow> {
        let mut pursuit = Pursuit::new(self, pivot);
        pursuit.add(self, first);
        loop {
            if let Some(row) = self.tested(&pursuit.support) {
                return Some(self.pruned(row));
            }
            if pursuit.support.len() == TERMS {
                return None;
            }
            let next = *pursuit.best(self, 1).first()?;
            pursuit.add(self, next);
        }
    }

    fn pruned(&self, mut row: FoundRow) -> FoundRow {
        'shorter: while row.terms.len() > 1 {
            let mut order: Vec<usize> = (0..row.terms.len()).collect();
            order.sort_by(|&a, &b| {
                row.coefficients[a].abs().total_cmp(&row.coefficients[b].abs())
            });
            for drop in order {
                let mut support = row.terms.clone();
                support.remove(drop);
                let is_plain =
                    support.len() > 1 || self.terms[support[0]].function.complexity() == 0;
                if let Some(shorter) = self.tested(&support).filter(|_| is_plain) {
                    row = shorter;
                    continue 'shorter;
                }
            }
            break;
        }
        let mut order: Vec<usize> = (0..row.terms.len()).collect();
        order.sort_by_key(|&k| row.terms[k]);
        FoundRow {
            terms: order.iter().map(|&k| row.terms[k]).collect(),
            coefficients: order.iter().map(|&k| row.coefficients[k]).collect(),
            ratio: row.ratio,
        }
    }

    /// The row over these terms if it holds.
    fn tested(&self, support: &[usize]) -> Option<FoundRow> {
        let k = support.len();
        let left = |c: &[f64]| -> f64 {
            let mut left = 0.0;
            for i in 0..k {
                for j in 0..k {
                    left += c[i] * c[j] * self.product(support[i], support[j]);
                }
            }
            left / c.iter().map(|c| c * c).sum::<f64>()
        };
        // NOTE: most supports do not cancel at all, which takes less to see than their noise.
        if k > 1 {
            let mut gram = vec![0.0; k * k];
            for i in 0..k {
                for j in 0..k {
                    gram[i * k + j] = self.product(support[i], support[j]);
                }
            }
            let unit: Vec<f64> =
                (0..k * k).map(|at| f64::from(u8::from(at / k == at % k))).collect();
            if left(&smallest(&gram, &unit, k)?) > LEFT * LEFT {
                return None;
            }
        }
        let row = self.fitted(support, |_, _| true)?;
        let cancels = k == 1 || left(&row.coefficients) <= LEFT * LEFT;
        (row.ratio <= HOLDS && cancels).then_some(row)
    }

    /// The row over these terms with least (L), from the samples that count.
    pub(super) fn fitted(
        &self,
        support: &[usize],
        counts: impl Fn(usize, &Sample) -> bool,
    ) -> Option<FoundRow> {
        let k = support.len();
        let terms: Vec<Term> = support.iter().map(|&i| self.terms[i]).collect();
        let whole = self.samples.iter().enumerate().all(|(j, s)| counts(j, s));
        let mut gram = vec![0.0; k * k];
        if whole {
            for i in 0..k {
                for j in 0..k {
                    gram[i * k + j] = self.product(support[i], support[j]);
                }
            }
        }
        let mut used = 0usize;
        let mut values = vec![0.0; k];
        for (_, sample) in self.samples.iter().enumerate().filter(|(j, s)| counts(*j, s)) {
            used += 1;
            if !whole {
                for ((x, term), &i) in values.iter_mut().zip(&terms).zip(support) {
                    *x = term.value(sample) / self.lengths[i];
                }
                add_square(&mut gram, k, |i| values[i]);
            }
        }
        let noise = self.noise(support, used, &gram, counts);
        let c = smallest(&gram, &noise, k)?;
        let form = |matrix: &[f64]| -> f64 {
            (0..k).map(|i| (0..k).map(|j| c[i] * c[j] * matrix[i * k + j]).sum::<f64>()).sum()
        };
        let ratio = form(&gram) / form(&noise);
        Some(FoundRow { terms: support.to_vec(), coefficients: c, ratio })
    }

    /// Whether nearly every motion by itself obeys a row: what only holds where its terms are large does not count.
    pub(super) fn holds_everywhere(&self, row: &FoundRow) -> bool {
        /// (L) of a single motion, and the part of the motions that must obey.
        const SINGLE: f64 = 4.0 * HOLDS;
        const MOST: f64 = 0.8;
        let n = self.coordinates;
        let motions = 1 + self.samples.iter().map(|s| s.motion).max().unwrap_or(0);
        let mut sums = vec![[0.0, 0.0]; motions];
        let mut noise = vec![0.0; 2 * n];
        for (at, &j) in self.sampled.iter().enumerate() {
            let sample = &self.samples[j];
            noise.fill(0.0);
            let (mut left, mut floor) = (0.0, 0.0);
            for (&i, c) in row.terms.iter().zip(&row.coefficients) {
                let v = sample.at[self.terms[i].coordinate].v;
                let factor = c * sample.weight / self.lengths[i];
                let value = factor * self.functions[i / n][at] * v;
                left += value;
                floor += (FLOOR * value).powi(2);
                let errors = &self.errors[i][at * 2 * n..(at + 1) * 2 * n];
                noise.iter_mut().zip(errors).for_each(|(sum, x)| *sum += c * x);
            }
            let sum = &mut sums[sample.motion];
            sum[0] += left * left;
            sum[1] += floor + noise.iter().map(|x| x * x).sum::<f64>();
        }
        let seen = sums.iter().filter(|[_, noise]| *noise > 0.0);
        let obey = seen.clone().filter(|[left, noise]| *left <= SINGLE * noise).count();
        obey as f64 >= MOST * seen.count() as f64
    }

    /// $G$ of some terms, from the samples that count.
    fn noise(
        &self,
        support: &[usize],
        used: usize,
        gram: &[f64],
        counts: impl Fn(usize, &Sample) -> bool,
    ) -> Vec<f64> {
        let (k, n) = (support.len(), self.coordinates);
        let counts = |j: &usize| counts(*j, &self.samples[*j]);
        let places: Vec<usize> =
            (0..self.sampled.len()).filter(|&at| counts(&self.sampled[at])).collect();
        let is_whole = places.len() == self.sampled.len();
        let mut noise = vec![0.0; k * k];
        for (i, &a) in support.iter().enumerate() {
            for (j, &b) in support.iter().enumerate().take(i + 1) {
                let part = |&at: &usize| {
                    let range = at * 2 * n..(at + 1) * 2 * n;
                    dot(&self.errors[a][range.clone()], &self.errors[b][range])
                };
                let sum =
                    if is_whole { self.errors_of(a, b) } else { places.iter().map(part).sum() };
                noise[i * k + j] = sum;
                noise[j * k + i] = sum;
            }
        }
        let scale = used as f64 / places.len().max(1) as f64;
        noise.iter_mut().for_each(|x| *x *= scale);
        for i in 0..k {
            noise[i * k + i] += FLOOR * FLOOR * gram[i * k + i];
        }
        noise
    }

    /// The product of the errors of two columns at all places.
    fn errors_of(&self, a: usize, b: usize) -> f64 {
        let mut noise = self.noise.borrow_mut();
        let entry = &mut noise[a.max(b) * self.terms.len() + a.min(b)];
        if entry.is_nan() {
            *entry = dot(&self.errors[a], &self.errors[b]);
        }
        *entry
    }

    /// The covector of a row at a sample.
    pub(super) fn covector(&self, row: &FoundRow, q: &[f64]) -> Vec<f64> {
        let mut ω = vec![0.0; self.coordinates];
        for (&i, c) in row.terms.iter().zip(&row.coefficients) {
            let Term { coordinate, function } = self.terms[i];
            ω[coordinate] += c / self.lengths[i] * function.value(q);
        }
        ω
    }
}

fn add_square(matrix: &mut [f64], k: usize, x: impl Fn(usize) -> f64) {
    for i in 0..k {
        for j in 0..k {
            matrix[i * k + j] += x(i) * x(j);
        }
    }
}

/// The vector with the least quotient of two forms, by inverse iteration.
fn smallest(gram: &[f64], noise: &[f64], k: usize) -> Option<Vec<f64>> {
    let mut factors = gram.to_vec();
    (0..k).for_each(|i| factors[i * k + i] *= 1.0 + 1e-13);
    cholesky(k, &mut factors).ok()?;
    let mut c: Vec<f64> = (0..k).map(|i| if i == 0 { 1.0 } else { 0.5 }).collect();
    for _ in 0..30 {
        let mut next: Vec<f64> =
            (0..k).map(|i| (0..k).map(|j| noise[i * k + j] * c[j]).sum()).collect();
        cholesky_solve(k, &factors, &mut next);
        let size = next.iter().fold(0.0_f64, |m, x| if x.abs() > m.abs() { *x } else { m });
        if !(size.abs() > 0.0 && size.is_finite()) {
            return None;
        }
        next.iter_mut().for_each(|x| *x /= size);
        let change = next.iter().zip(&c).fold(0.0_f64, |m, (a, b)| m.max((a - b).abs()));
        c = next;
        if change < 1e-10 {
            break;
        }
    }
    Some(c)
}
