//! A large matrix with few entries into its triangular factors, and a right side into the solution.
//!
//! $$ P\,S\,A\,C\,Q = L\,U $$
//!
//! column by column [GilbertPeierls88]: the entries of a column of the factors are found by a walk over the columns
//! of $L$ before it, so that the cost is that of the arithmetic. $C$ scales columns by powers of two so that diagonal
//! entries come near one where there are any: pivots are then taken from the diagonal whatever the units, and $Q$ keeps
//! the factors short. $S$ scales rows as in [`Lu`](super::Lu).
//! $Q$ is an order of minimum degree on the pattern of $A + A^\top$, found once for each pattern.
//! An unknown whose diagonal entry is missing, as that of a multiplier, comes after the first of its neighbours, whose
//! elimination gives it one. $P$ takes the diagonal entry as pivot where it is at least [`PREFERRED`] of the largest
//! that is left in its column, and that one otherwise.
//!
//! Where many pivots had to be taken beside the diagonal, as with masses of low rank, the factors can become much
//! longer than this order expects. Then $Q$ is an order of minimum degree on the pattern of $A^\top A$, which bounds
//! them whatever the pivots [DavisGilbertLarimoreNg04]: it is found by merging the rows that have an entry in the
//! column. The shorter factors of the two decide for the pattern.
//!
//! **Conventions.** Matrices are stored by columns. A pivot counts as zero as in [`Lu`](super::Lu).
//!
//! **Invariant.** Nothing is allocated while the pattern stays the same and the factors do not grow.

use std::collections::BTreeSet;

use crate::linalg::lu::{Singular, power_of_two_scale};

/// The diagonal entry is the pivot where it is at least this fraction of the largest. Of a chain of 1 000 bodies with
/// auxiliary velocities solutions are right to 6e-15, with 1e-3 instead to 4e-13, of rotations to 9e-14 instead of
/// 2e-10; the factors of chains have less than one entry in a hundred more, those of rods, rings and frames are the
/// same, and those of rotations have between a quarter less and two fifths more.
const PREFERRED: f64 = 0.1;
/// A diagonal entry below this fraction of the largest entry of its column is none.
const DIAGONAL: f64 = 1e-12;
/// Factors with so many times the entries that the order expects ask for another order.
const LONG: usize = 2;
/// No place yet.
const NONE: usize = usize::MAX;

/// The factors of a sparse matrix, in storage that is used again by the next factorisation.
///
/// ```
/// // Columns (2, 1) and (0, 3): row numbers and values one after another.
/// let mut lu = pfaff_solver::SparseLu::default();
/// lu.factor(&[0, 2, 3], &[0, 1, 1], &[2.0, 1.0, 3.0])?;
/// let mut x = [4.0, 5.0];
/// lu.solve(&mut x);
/// assert_eq!(x, [2.0, 1.0]);
/// # Ok::<(), pfaff_solver::Singular>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SparseLu {
    /// The pattern that was analysed last.
    begins: Vec<usize>,
    rows: Vec<usize>,
    /// $Q$: the column that is eliminated in each step.
    order: Vec<usize>,
    /// How many entries the factors may have before another order is tried; none any more if both were.
    most: Option<usize>,
    /// $S$
    scale: Vec<f64>,
    /// $C$
    column_scale: Vec<f64>,
    /// Below the diagonal, with the numbers of the rows of $A$.
    lower: Columns,
    /// Above the diagonal, with the numbers of the steps.
    upper: Columns,
    pivots: Vec<f64>,
    /// $P$: the row that each step takes, and the step that takes each row.
    row_of: Vec<usize>,
    step_of: Vec<usize>,
    column: Column,
    solution: Vec<f64>,
}

/// Columns of a factor one after another.
#[derive(Clone, Debug, Default)]
struct Columns {
    begins: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    fn clear(&mut self) {
        self.begins.clear();
        self.begins.push(0);
        self.indices.clear();
        self.values.clear();
    }

    fn push(&mut self, index: usize, value: f64) {
        self.indices.push(index);
        self.values.push(value);
    }

    fn end(&mut self) {
        self.begins.push(self.indices.len());
    }

    fn of(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.begins[k]..self.begins[k + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }
}

/// One column on its way.
#[derive(Clone, Debug, Default)]
struct Column {
    /// Its values, zero between columns.
    x: Vec<f64>,
    /// The last column whose walk met each row.
    met: Vec<usize>,
    /// The rows it has entries in: a row that is a pivot comes before those that its column changes, read backwards.
    reached: Vec<usize>,
    /// Rows on the way, each with how much of its column was looked at.
    stack: Vec<(usize, usize)>,
}

impl SparseLu {
    /// Factorises a matrix given by columns: where each column begins, the numbers of the rows, and the values.
    ///
    /// # Errors
    ///
    /// [`Singular`] with the first column that depends on those eliminated before it.
    pub fn factor(
        &mut self,
        begins: &[usize],
        rows: &[usize],
        values: &[f64],
    ) -> Result<(), Singular> {
        let n = begins.len() - 1;
        self.factor_above((begins, rows, values), 4.0 * n as f64 * f64::EPSILON)
    }

    /// As [`SparseLu::factor`], but only a pivot that is zero or not finite is refused.
    pub(crate) fn factor_nonzero(
        &mut self,
        begins: &[usize],
        rows: &[usize],
        values: &[f64],
    ) -> Result<(), Singular> {
        self.factor_above((begins, rows, values), 0.0)
    }

    fn factor_above(
        &mut self,
        (begins, rows, values): (&[usize], &[usize], &[f64]),
        threshold: f64,
    ) -> Result<(), Singular> {
        let n = begins.len() - 1;
        if self.begins != begins || self.rows != rows {
            let (order, expected) = minimum_degree(begins, rows);
            (self.order, self.most) = (order, Some(LONG * (expected + n)));
            self.begins = begins.to_vec();
            self.rows = rows.to_vec();
        }
        self.equilibrate(n, values);
        let outcome = self.factor_in_order(values, threshold);
        if self.most.is_none_or(|most| self.entries() <= most) {
            return outcome;
        }
        self.most = None;
        let other = minimum_column_degree(begins, rows);
        let first = std::mem::replace(&mut self.order, other);
        let outcome = self.factor_in_order(values, threshold);
        let entries = self.entries();
        let other = std::mem::replace(&mut self.order, first);
        let first_outcome = self.factor_in_order(values, threshold);
        if self.entries() <= entries && (first_outcome.is_ok() || outcome.is_err()) {
            return first_outcome;
        }
        self.order = other;
        self.factor_in_order(values, threshold)
    }

    /// Factorises the matrix that was equilibrated last; breaks off where the factors get too long.
    fn factor_in_order(&mut self, values: &[f64], threshold: f64) -> Result<(), Singular> {
        let n = self.order.len();
        self.lower.clear();
        self.upper.clear();
        self.pivots.clear();
        self.row_of.clear();
        self.step_of.clear();
        self.step_of.resize(n, NONE);
        self.column.x.clear();
        self.column.x.resize(n, 0.0);
        self.column.met.clear();
        self.column.met.resize(n, NONE);
        for k in 0..n {
            if self.most.is_some_and(|most| self.entries() > most) {
                break;
            }
            let column = self.order[k];
            self.reach(column);
            let largest = self.eliminate(column, values);
            let (row, pivot) = self.pivot(column);
            // Written so that a pivot that is not a number is refused too.
            let is_sound = pivot.abs() > threshold * largest;
            if !is_sound {
                return Err(Singular { column });
            }
            self.step_of[row] = k;
            self.row_of.push(row);
            self.pivots.push(pivot);
            for &i in &self.column.reached {
                let x = std::mem::take(&mut self.column.x[i]);
                if self.step_of[i] == NONE && x != 0.0 {
                    self.lower.push(i, x / pivot);
                }
            }
            self.lower.end();
            self.upper.end();
        }
        Ok(())
    }

    /// $C$, from the diagonal entries and, where there are none, from the largest entry of each column; then $S$, from
    /// the largest entry of each row.
    fn equilibrate(&mut self, n: usize, values: &[f64]) {
        let Self { begins, rows, scale, column_scale, .. } = self;
        scale.clear();
        scale.resize(n, 0.0);
        column_scale.clear();
        column_scale.resize(n, 0.0);
        let column = |j: usize| (begins[j]..begins[j + 1]).map(|p| (rows[p], values[p].abs()));
        for j in 0..n {
            let largest = column(j).fold(0.0_f64, |m, (_, x)| m.max(x));
            let own = column(j).find(|entry| entry.0 == j).map_or(0.0, |entry| entry.1);
            if own > DIAGONAL * largest {
                column_scale[j] = power_of_two_scale(&[own.sqrt()]);
            }
        }
        for j in 0..n {
            if column_scale[j] == 0.0 {
                let scaled =
                    column(j).map(|(i, x)| if i == j { 0.0 } else { x * column_scale[i] });
                scale[j] = power_of_two_scale(&[scaled.fold(0.0, f64::max)]);
            }
        }
        for (column, own) in column_scale.iter_mut().zip(scale.iter_mut()) {
            if *column == 0.0 {
                *column = *own;
            }
            *own = 0.0;
        }
        for j in 0..n {
            for (i, x) in column(j) {
                scale[i] = scale[i].max(x * column_scale[j]);
            }
        }
        scale.iter_mut().for_each(|s| *s = power_of_two_scale(&[*s]));
    }

    /// The rows in which a column of the factors has entries.
    fn reach(&mut self, column: usize) {
        let Self { begins, rows, lower, step_of, column: walk, .. } = self;
        walk.reached.clear();
        for &first in &rows[begins[column]..begins[column + 1]] {
            if walk.met[first] == column {
                continue;
            }
            walk.met[first] = column;
            walk.stack.push((first, 0));
            while let Some((i, looked)) = walk.stack.pop() {
                let k = step_of[i];
                let next = (k != NONE).then(|| {
                    let range = lower.begins[k] + looked..lower.begins[k + 1];
                    let open = lower.indices[range].iter().position(|&j| walk.met[j] != column);
                    open.map(|more| {
                        (looked + more, lower.indices[lower.begins[k] + looked + more])
                    })
                });
                match next.flatten() {
                    Some((seen, j)) => {
                        walk.stack.push((i, seen + 1));
                        walk.met[j] = column;
                        walk.stack.push((j, 0));
                    }
                    None => walk.reached.push(i),
                }
            }
        }
    }

    /// Solves for the part of a column above its pivot and changes the rest; tells the largest entry on the way.
    fn eliminate(&mut self, column: usize, values: &[f64]) -> f64 {
        let Self {
            begins, rows, scale, column_scale, lower, upper, step_of, column: work, ..
        } = self;
        let mut largest = 0.0_f64;
        for p in begins[column]..begins[column + 1] {
            let i = rows[p];
            work.x[i] = values[p] * column_scale[column] * scale[i];
            largest = largest.max(work.x[i].abs());
        }
        for &i in work.reached.iter().rev() {
            let k = step_of[i];
            if k == NONE {
                continue;
            }
            let x = work.x[i];
            if x != 0.0 {
                for (j, l) in lower.of(k) {
                    work.x[j] -= l * x;
                }
                upper.push(k, x);
            }
        }
        let x = &work.x;
        work.reached.iter().fold(largest, |m, &i| m.max(x[i].abs()))
    }

    /// The row of the pivot of a column, and its value.
    fn pivot(&self, column: usize) -> (usize, f64) {
        let open = self.column.reached.iter().filter(|&&i| self.step_of[i] == NONE);
        let larger = |best: (usize, f64), &i: &usize| {
            let x = self.column.x[i];
            if x.abs() > best.1.abs() || best.0 == NONE { (i, x) } else { best }
        };
        let best = open.fold((NONE, 0.0), larger);
        let own = self.column.x[column];
        let is_open = self.step_of[column] == NONE;
        if is_open && own != 0.0 && own.abs() >= PREFERRED * best.1.abs() {
            (column, own)
        } else {
            best
        }
    }

    /// Replaces `b` by the solution $x$ of $A x = b$ for the matrix factorised last.
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.order.len();
        assert_eq!(b.len(), n, "the right side has one entry per row");
        b.iter_mut().zip(&self.scale).for_each(|(b, s)| *b *= s);
        self.solution.resize(n, 0.0);
        for (k, &row) in self.row_of.iter().enumerate() {
            let x = b[row];
            self.solution[k] = x;
            if x != 0.0 {
                self.lower.of(k).for_each(|(i, l)| b[i] -= l * x);
            }
        }
        for k in (0..n).rev() {
            let x = self.solution[k] / self.pivots[k];
            b[self.order[k]] = x * self.column_scale[self.order[k]];
            if x != 0.0 {
                for (j, u) in self.upper.of(k) {
                    self.solution[j] -= u * x;
                }
            }
        }
    }

    /// Smallest over largest pivot after equilibration: an estimate, not a bound.
    pub fn pivot_ratio(&self) -> f64 {
        let sizes = self.pivots.iter().map(|p| p.abs());
        let (least, most) =
            sizes.fold((f64::INFINITY, 0.0_f64), |(a, b), p| (a.min(p), b.max(p)));
        if self.pivots.is_empty() { 1.0 } else { least / most }
    }

    /// The sign of the determinant of the matrix factorised last, +1 or −1.
    pub fn orientation(&self) -> f64 {
        let negative = self.pivots.iter().filter(|p| **p < 0.0).count();
        let exchanged = transpositions(&self.order) + transpositions(&self.row_of);
        if (negative + exchanged).is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// How many rows the matrix has.
    pub(crate) fn size(&self) -> usize {
        self.order.len()
    }

    /// How many entries the factors have.
    pub fn entries(&self) -> usize {
        self.lower.values.len() + self.upper.values.len() + self.pivots.len()
    }
}

/// How many exchanges of two make a permutation.
fn transpositions(permutation: &[usize]) -> usize {
    let mut seen = vec![false; permutation.len()];
    let mut cycles = 0;
    for first in 0..permutation.len() {
        let mut k = first;
        cycles += usize::from(!seen[first]);
        while !seen[k] {
            seen[k] = true;
            k = permutation[k];
        }
    }
    permutation.len() - cycles
}

/// The order in which unknowns are eliminated: each time the one with fewest neighbours that has a diagonal entry, or
/// got one from a neighbour before it; the others last. And how many entries the factors have if these are the pivots.
fn minimum_degree(begins: &[usize], rows: &[usize]) -> (Vec<usize>, usize) {
    let n = begins.len() - 1;
    let mut entries = n;
    let mut neighbours = vec![BTreeSet::new(); n];
    let mut usable = vec![false; n];
    for j in 0..n {
        for &i in &rows[begins[j]..begins[j + 1]] {
            if i == j {
                usable[j] = true;
            } else {
                neighbours[i].insert(j);
                neighbours[j].insert(i);
            }
        }
    }
    let key = |neighbours: &[BTreeSet<usize>], usable: &[bool], i: usize| {
        (!usable[i], neighbours[i].len(), i)
    };
    let mut queue: BTreeSet<_> = (0..n).map(|i| key(&neighbours, &usable, i)).collect();
    let mut order = Vec::with_capacity(n);
    while let Some((_, _, p)) = queue.pop_first() {
        order.push(p);
        let around: Vec<usize> = std::mem::take(&mut neighbours[p]).into_iter().collect();
        entries += 2 * around.len();
        for &i in &around {
            queue.remove(&key(&neighbours, &usable, i));
            neighbours[i].remove(&p);
            neighbours[i].extend(around.iter().copied().filter(|&j| j != i));
            usable[i] = true;
        }
        queue.extend(around.iter().map(|&i| key(&neighbours, &usable, i)));
    }
    (order, entries)
}

/// The order in which columns are eliminated whatever the pivots: each time one whose rows have fewest entries. These
/// rows become one, in which every one of them may go on.
fn minimum_column_degree(begins: &[usize], rows: &[usize]) -> Vec<usize> {
    let n = begins.len() - 1;
    let mut columns_of = vec![BTreeSet::new(); n];
    let mut rows_of = vec![BTreeSet::new(); n];
    for j in 0..n {
        for &i in &rows[begins[j]..begins[j + 1]] {
            columns_of[i].insert(j);
            rows_of[j].insert(i);
        }
    }
    let degree = |columns_of: &[BTreeSet<usize>], rows: &BTreeSet<usize>| -> usize {
        let union: BTreeSet<usize> =
            rows.iter().flat_map(|&i| &columns_of[i]).copied().collect();
        union.len()
    };
    let mut degrees: Vec<usize> =
        rows_of.iter().map(|rows| degree(&columns_of, rows)).collect();
    let mut queue: BTreeSet<(usize, usize)> = (0..n).map(|j| (degrees[j], j)).collect();
    let mut order = Vec::with_capacity(n);
    while let Some((_, p)) = queue.pop_first() {
        order.push(p);
        let merged = std::mem::take(&mut rows_of[p]);
        let mut union = BTreeSet::new();
        for &i in &merged {
            union.append(&mut columns_of[i]);
        }
        union.remove(&p);
        let Some(&kept) = merged.first() else { continue };
        for &j in &union {
            rows_of[j].retain(|i| !merged.contains(i));
            rows_of[j].insert(kept);
        }
        columns_of[kept] = union;
        for &j in &columns_of[kept] {
            queue.remove(&(degrees[j], j));
            degrees[j] = degree(&columns_of, &rows_of[j]);
            queue.insert((degrees[j], j));
        }
    }
    order
}
