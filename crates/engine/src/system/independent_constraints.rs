//! Which constraints carry the motion where some repeat others.
//!
//! Rows of $A$ are taken one after another, each time the one that sticks out farthest of the span of those
//! before it (Gram and Schmidt, with exchange), until
//! what sticks out is rounding: the rest repeats them. Holonomic rows come first, because they keep positions
//! as well as velocities.
//!
//! **Hysteresis.** On the constraints a repeated row sticks out by 1e-15 of its length, within a step by the
//! error of the step. A row is dropped below
//! [`DROP`] and taken back above [`RETURN`]; between them nothing changes.

use pfaff_solver::{Lu, SparseLu};

use crate::system::sparse_rows::SparseRow;

/// A row that sticks out by less than this fraction of its length repeats the others.
const DROP: f64 = 1e-9;
/// A row that was dropped counts again when it sticks out by more than this.
const RETURN: f64 = 1e-5;

/// Rows from which on it is looked first whether all are independent, which is less work.
pub(crate) const LARGE: usize = 32;
/// Then no row sticks out by less: far above [`RETURN`].
pub(crate) const APART: f64 = 1e-4;

/// A row shorter than this is about to vanish: coordinates are of order one where nothing else is said.
const VANISHING: f64 = 1e-6;

/// Rows of $n$ columns, and behind these columns of auxiliary velocities, each of which a row of its own defines with
/// a 1 as its last entry.
#[derive(Clone, Copy)]
pub(crate) struct DefinedRows<'a> {
    pub(crate) rows: &'a [SparseRow<'a>],
    pub(crate) definitions: &'a [SparseRow<'a>],
    pub(crate) n: usize,
}

impl DefinedRows<'_> {
    /// The rows with all their zeros, without auxiliary velocities.
    pub(crate) fn full(self) -> Vec<f64> {
        let (n, extra) = (self.n, self.definitions.len());
        let mut full = Vec::with_capacity(self.rows.len() * n);
        for row in self.rows {
            let mut all = vec![0.0; n + extra];
            row.entries().for_each(|(j, x)| all[j] = x);
            for (k, definition) in self.definitions.iter().enumerate().rev() {
                let handed = all[n + k];
                let others = definition.entries().take(definition.columns.len() - 1);
                others.for_each(|(j, c)| all[j] -= c * handed);
            }
            full.extend_from_slice(&all[..n]);
        }
        full
    }

    /// Whether all rows are far from depending on each other. Definitions never do.
    fn are_apart(self) -> bool {
        let rows = [self.definitions, self.rows].concat();
        let lengths: Vec<f64> = rows.iter().map(|row| row.length()).collect();
        let columns = self.n + self.definitions.len();
        LeastSingularValue::default().of(&rows, &lengths, columns) > APART
    }
}

impl DefinedRows<'_> {
    /// Whether the rows kept so far are far from depending on each other, and the others still repeat them.
    fn still_carry(self, kept: &[bool]) -> bool {
        let chosen = |which: bool| {
            let marked = self.rows.iter().zip(kept).filter(move |(_, k)| **k == which);
            marked.map(|(row, _)| *row)
        };
        let rows: Vec<SparseRow<'_>> =
            self.definitions.iter().copied().chain(chosen(true)).collect();
        let lengths: Vec<f64> = rows.iter().map(|row| row.length()).collect();
        let columns = self.n + self.definitions.len();
        let mut least = LeastSingularValue::default();
        least.of(&rows, &lengths, columns) > APART
            && chosen(false).all(|row| least.remainder(row, columns) <= RETURN * row.length())
    }
}

impl DefinedRows<'_> {
    /// Marks the rows that are left when one row of each dependence is dropped, a velocity constraint before a
    /// holonomic one and a later row before an earlier one; `None` where it is not clear which rows repeat others.
    fn without_repeats(self, holonomic: &[bool]) -> Option<Vec<bool>> {
        /// Beyond so many, full rows are less work.
        const MOST: usize = 64;
        /// Keeps the factors regular where rows repeat others: far above rounding, and below the square of [`APART`].
        const SHIFT: f64 = 1e-10;
        let (m, columns) = (self.rows.len(), self.n + self.definitions.len());
        let mut kept = vec![true; m];
        let mut least = LeastSingularValue::default();
        for _ in 0..MOST {
            let chosen: Vec<usize> = (0..m).filter(|&a| kept[a]).collect();
            let rows = self.with_definitions(&chosen);
            let lengths: Vec<f64> = rows.iter().map(|row| row.length()).collect();
            if least.shifted(&rows, &lengths, columns, SHIFT) > APART {
                if least.of(&rows, &lengths, columns) <= APART {
                    return None;
                }
                let mut dropped = self.rows.iter().zip(&kept).filter(|(_, kept)| !**kept);
                let clear = dropped
                    .all(|(row, _)| least.remainder(*row, columns) <= DROP * row.length());
                return clear.then_some(kept);
            }
            let weights = least.combination(columns + self.definitions.len())?;
            let largest = weights.iter().fold(0.0_f64, |l, w| l.max(w.abs()));
            let members = || {
                let pairs = chosen.iter().zip(weights);
                pairs.filter(|(_, w)| w.abs() >= 0.5 * largest).map(|(&a, _)| a)
            };
            let velocity = members().rfind(|&a| !holonomic[a]);
            let last = velocity.or_else(|| members().next_back());
            kept[last?] = false;
        }
        None
    }

    /// The definitions, then these rows.
    fn with_definitions(&self, chosen: &[usize]) -> Vec<SparseRow<'_>> {
        let chosen = chosen.iter().map(|&a| self.rows[a]);
        self.definitions.iter().copied().chain(chosen).collect()
    }
}

/// Moves `x`, one number for each row, onto the span of their columns, where the rows that are not kept repeat the
/// others; false if they do not, or if full rows are as good.
///
/// With $A_D = C A_K$ what is across that span is spanned by $e_a - \sum_i c_{ai} e_i$ for the dropped rows $a$.
pub(crate) fn project_by_repeats(rows: DefinedRows<'_>, kept: &[bool], x: &mut [f64]) -> bool {
    let (m, columns) = (kept.len(), rows.n + rows.definitions.len());
    let chosen: Vec<usize> = (0..m).filter(|&a| kept[a]).collect();
    let dropped: Vec<usize> = (0..m).filter(|&a| !kept[a]).collect();
    if m < LARGE || dropped.len() > m / 8 {
        return false;
    }
    let all = rows.with_definitions(&chosen);
    let lengths: Vec<f64> = all.iter().map(|row| row.length()).collect();
    let mut least = LeastSingularValue::default();
    if least.of(&all, &lengths, columns) <= APART {
        return false;
    }
    let extra = rows.definitions.len();
    let mut across: Vec<Vec<f64>> = Vec::with_capacity(dropped.len());
    for &a in &dropped {
        if least.remainder(rows.rows[a], columns) > RETURN * rows.rows[a].length() {
            return false;
        }
        let Some(weights) = least.combination(columns + extra) else { return false };
        let mut normal = vec![0.0; m];
        normal[a] = 1.0;
        let pairs = chosen.iter().zip(weights).zip(&lengths[extra..]);
        pairs.for_each(|((&i, w), size)| normal[i] = -w / size);
        across.push(normal);
    }
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let d = dropped.len();
    let gram: Vec<f64> =
        across.iter().flat_map(|a| across.iter().map(move |b| dot(a, b))).collect();
    let mut lu = Lu::new(d);
    if lu.factor(d, &gram).is_err() {
        return false;
    }
    let mut along: Vec<f64> = across.iter().map(|normal| dot(normal, x)).collect();
    lu.solve(&mut along);
    for (normal, along) in across.iter().zip(&along) {
        x.iter_mut().zip(normal).for_each(|(x, normal)| *x -= along * normal);
    }
    true
}

/// Marks the rows that are kept. `before` are the ones kept so far.
pub(crate) fn independent(
    rows: DefinedRows<'_>,
    holonomic: &[bool],
    before: &[bool],
) -> Vec<bool> {
    let (m, n) = (holonomic.len(), rows.n);
    if m >= LARGE && rows.are_apart() {
        return vec![true; m];
    }
    if m >= LARGE && before.len() == m && rows.still_carry(before) {
        return before.to_vec();
    }
    if m >= LARGE
        && before.iter().all(|&kept| kept)
        && let Some(kept) = rows.without_repeats(holonomic)
    {
        return kept;
    }
    let mut kept = vec![false; m];
    let full = rows.full();
    let lengths: Vec<f64> = (0..m).map(|a| length(&full[a * n..][..n])).collect();
    let mut rest = full;
    let count = before.iter().filter(|&&k| k).count();
    let mut taken = 0;
    for first in [true, false] {
        loop {
            let sticking = |a: usize| length(&rest[a * n..][..n]) / lengths[a];
            let open =
                (0..m).filter(|&a| holonomic[a] == first && !kept[a] && lengths[a] > 0.0);
            let Some((a, out)) =
                open.map(|a| (a, sticking(a))).reduce(|x, y| if y.1 > x.1 { y } else { x })
            else {
                break;
            };
            let threshold = if taken < count || before.is_empty() { DROP } else { RETURN };
            if out.is_nan() || out <= threshold {
                break;
            }
            kept[a] = true;
            taken += 1;
            let size = length(&rest[a * n..][..n]);
            let unit: Vec<f64> = rest[a * n..][..n].iter().map(|x| x / size).collect();
            for b in (0..m).filter(|&b| !kept[b]) {
                let row = &mut rest[b * n..][..n];
                // Twice is enough for orthogonality to rounding.
                for _ in 0..2 {
                    let along: f64 = row.iter().zip(&unit).map(|(x, u)| x * u).sum();
                    row.iter_mut().zip(&unit).for_each(|(x, u)| *x -= along * u);
                }
            }
        }
    }
    kept
}

/// The rows that take part in the combination nearest to zero, with the length of that combination for rows
/// of length one; none if there are no rows.
///
/// Inverse iteration for the smallest eigenvalue of the Gram matrix.
pub(crate) fn nearest_dependence(rows: DefinedRows<'_>) -> (Vec<usize>, f64) {
    let (m, n, full) = (rows.rows.len(), rows.n, rows.full());
    // A single row that vanishes is a dependence by itself.
    let lengths = (0..m).map(|a| (a, length(&full[a * n..][..n])));
    if let Some((a, size)) = lengths.min_by(|x, y| x.1.total_cmp(&y.1))
        && size < VANISHING
    {
        return (vec![a], size);
    }
    let unit: Vec<Vec<f64>> = (0..m)
        .map(|a| {
            let row = &full[a * n..][..n];
            let size = length(row);
            row.iter().map(|x| if size > 0.0 { x / size } else { 0.0 }).collect()
        })
        .collect();
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let mut gram = vec![0.0; m * m];
    for a in 0..m {
        for b in 0..m {
            // The shift keeps the matrix regular where the rows are dependent.
            gram[a * m + b] = dot(&unit[a], &unit[b]) + if a == b { 1e-13 } else { 0.0 };
        }
    }
    let mut lu = Lu::new(m);
    if m == 0 || lu.factor(m, &gram).is_err() {
        return (Vec::new(), f64::INFINITY);
    }
    let mut x: Vec<f64> = (0..m).map(|a| 1.0 + 0.37 * (a % 5) as f64).collect();
    for _ in 0..30 {
        lu.solve(&mut x);
        let size = length(&x);
        x.iter_mut().for_each(|x| *x /= size);
    }
    let combination: Vec<f64> =
        (0..n).map(|k| (0..m).map(|a| x[a] * unit[a][k]).sum()).collect();
    let largest = x.iter().fold(0.0_f64, |l, x| l.max(x.abs()));
    let members = (0..m).filter(|&a| x[a].abs() > 0.1 * largest).collect();
    (members, length(&combination))
}

/// The least singular value of many rows $U$ with few entries, nearly.
///
/// Inverse iteration for the least eigenvalue of $UU^\top$ by the sparse factors of
///
/// $$ \begin{pmatrix} 1 & U^\top \\\\ U & 0 \end{pmatrix}. $$
#[derive(Clone, Debug, Default)]
pub(crate) struct LeastSingularValue {
    lu: SparseLu,
    columns: Vec<Vec<(usize, f64)>>,
    begins: Vec<usize>,
    indices: Vec<usize>,
    values: Vec<f64>,
    x: Vec<f64>,
}

impl LeastSingularValue {
    /// Of rows, each divided by its scale; 0 where that is not to be had.
    pub(crate) fn of(&mut self, rows: &[SparseRow<'_>], scale: &[f64], n: usize) -> f64 {
        self.shifted(rows, scale, n, 0.0)
    }

    /// The numbers of the combination of rows that the last iteration, or the last remainder, came to, from a place
    /// on; `None` where the factors failed.
    fn combination(&self, first: usize) -> Option<&[f64]> {
        self.x.get(first..)
    }

    /// With a small number added to the diagonal of $UU^\top$.
    fn shifted(&mut self, rows: &[SparseRow<'_>], scale: &[f64], n: usize, shift: f64) -> f64 {
        /// From a start without a pattern the value is within a few per cent of its limit then.
        const ITERATIONS: usize = 12;
        let m = rows.len();
        self.x.clear();
        if scale.iter().any(|size| !size.is_normal()) {
            return 0.0;
        }
        self.columns.resize(n + m, Vec::new());
        self.columns.iter_mut().for_each(Vec::clear);
        (0..n).for_each(|k| self.columns[k].push((k, 1.0)));
        for (a, row) in rows.iter().enumerate() {
            for (k, x) in row.entries() {
                self.columns[k].push((n + a, x / scale[a]));
                self.columns[n + a].push((k, x / scale[a]));
            }
            if shift > 0.0 {
                self.columns[n + a].push((n + a, -shift));
            }
        }
        self.begins.clear();
        self.begins.push(0);
        self.indices.clear();
        self.values.clear();
        for column in &self.columns {
            self.indices.extend(column.iter().map(|entry| entry.0));
            self.values.extend(column.iter().map(|entry| entry.1));
            self.begins.push(self.indices.len());
        }
        if self.lu.factor(&self.begins, &self.indices, &self.values).is_err() {
            return 0.0;
        }
        self.x.clear();
        self.x.resize(n, 0.0);
        self.x.extend((0..m).map(|a| 1.0 + 0.37 * (a % 5) as f64));
        let mut growth = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let size = length(&self.x[n..]);
            self.x[..n].fill(0.0);
            self.x[n..].iter_mut().for_each(|x| *x /= -size);
            self.lu.solve(&mut self.x);
            growth = length(&self.x[n..]);
        }
        let value = 1.0 / growth.sqrt();
        if value.is_finite() { value } else { 0.0 }
    }
}

impl LeastSingularValue {
    /// The length of what a row has across those last looked at.
    fn remainder(&mut self, row: SparseRow<'_>, n: usize) -> f64 {
        self.x.fill(0.0);
        row.entries().for_each(|(k, x)| self.x[k] = x);
        self.lu.solve(&mut self.x);
        length(&self.x[..n])
    }
}

/// Moves `x`, one number for each row of `rows`, onto the span of their columns.
pub(crate) fn project_onto_columns(rows: &[f64], n: usize, x: &mut [f64]) {
    let m = x.len();
    let mut columns: Vec<Vec<f64>> =
        (0..n).map(|k| (0..m).map(|a| rows[a * n + k]).collect()).collect();
    let largest = columns.iter().map(|c| length(c)).fold(0.0, f64::max);
    let mut image = vec![0.0; m];
    // The longest column that is left, each time.
    while let Some(best) = (0..columns.len())
        .max_by(|&i, &j| length(&columns[i]).total_cmp(&length(&columns[j])))
        .filter(|&best| length(&columns[best]) > DROP * largest)
    {
        let mut unit = columns.swap_remove(best);
        let size = length(&unit);
        unit.iter_mut().for_each(|u| *u /= size);
        for column in &mut columns {
            // Twice is enough for orthogonality to rounding.
            for _ in 0..2 {
                let along: f64 = column.iter().zip(&unit).map(|(c, u)| c * u).sum();
                column.iter_mut().zip(&unit).for_each(|(c, u)| *c -= along * u);
            }
        }
        let along: f64 = x.iter().zip(&unit).map(|(x, u)| x * u).sum();
        image.iter_mut().zip(&unit).for_each(|(i, u)| *i += along * u);
    }
    x.copy_from_slice(&image);
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::sparse_rows::RowMatrix;

    fn matrix(values: &[f64], n: usize) -> RowMatrix {
        let mut matrix = RowMatrix::default();
        matrix.clear();
        for row in values.chunks_exact(n) {
            matrix.push(row.iter().copied().enumerate().filter(|e| e.1 != 0.0));
        }
        matrix
    }

    fn plain<'a>(rows: &'a [SparseRow<'a>], n: usize) -> DefinedRows<'a> {
        DefinedRows { rows, definitions: &[], n }
    }

    fn kept(rows: &[f64], n: usize, holonomic: &[bool], before: &[bool]) -> Vec<bool> {
        let matrix = matrix(rows, n);
        independent(plain(&matrix.view().rows().collect::<Vec<_>>(), n), holonomic, before)
    }

    #[test]
    fn repeated_rows_are_dropped_and_holonomic_ones_kept() {
        let rows = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 2.0, 3.0, 0.0];
        assert_eq!(kept(&rows, 3, &[false, true, true], &[]), [false, true, true]);
        // A row of zeros says nothing.
        assert_eq!(kept(&[0.0, 0.0], 2, &[true], &[]), [false]);
    }

    #[test]
    fn between_the_thresholds_nothing_changes() {
        let rows = [1.0, 0.0, 1.0, 1e-7];
        assert_eq!(kept(&rows, 2, &[true, true], &[true, true]), [true, true]);
        assert_eq!(kept(&rows, 2, &[true, true], &[true, false]), [true, false]);
        let rows = [1.0, 0.0, 1.0, 1e-3];
        assert_eq!(kept(&rows, 2, &[true, true], &[true, false]), [true, true]);
    }

    #[test]
    fn the_least_norm_keeps_what_the_rows_carry() {
        // Rows (1, 0), (2, 0) and (0, 1): the first two carry λ₁ + 2 λ₂ together.
        let rows = [1.0, 0.0, 2.0, 0.0, 0.0, 1.0];
        let mut x = [5.0, 0.0, 7.0];
        project_onto_columns(&rows, 2, &mut x);
        // Exact but for the rounding of a root.
        let expected = [1.0, 2.0, 7.0];
        assert!(x.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-14), "{x:?}");
    }

    #[test]
    fn the_members_of_a_dependence_are_named() {
        // Rows 0 and 2 are parallel, row 1 stands apart.
        let rows = [1.0, 0.0, 0.0, 1.0, 3.0, 0.0];
        let matrix = matrix(&rows, 2);
        let (members, size) =
            nearest_dependence(plain(&matrix.view().rows().collect::<Vec<_>>(), 2));
        assert_eq!(members, [0, 2]);
        assert!(size < 1e-12, "exact but for the shift");
    }

    /// Differences of neighbours, $u_a = (e_{a+1} - e_a)/\sqrt2$: $UU^\top$ has $-1/2$ beside its diagonal, with the
    /// eigenvalues $1 - \cos(k\pi/(m+1))$.
    #[test]
    fn the_least_singular_value_of_a_chain() {
        let m = 60;
        let mut matrix = RowMatrix::default();
        matrix.clear();
        (0..m).for_each(|a| matrix.push([(a, -3.0), (a + 1, 3.0)].into_iter()));
        let rows: Vec<_> = matrix.view().rows().collect();
        let exact = (1.0 - libm::cos(std::f64::consts::PI / (m as f64 + 1.0))).sqrt();
        let mut least = LeastSingularValue::default();
        let found = least.of(&rows, &vec![3.0 * std::f64::consts::SQRT_2; m], m + 1);
        assert!((found / exact - 1.0).abs() < 0.05, "{found} {exact}");
        assert_eq!(independent(plain(&rows, m + 1), &vec![true; m], &[]), vec![true; m]);
        // A ring: the last row is the sum of the others.
        matrix.push([(0, 1.0), (m, -1.0)].into_iter());
        let rows: Vec<_> = matrix.view().rows().collect();
        let lengths: Vec<f64> = rows.iter().map(|row| row.length()).collect();
        assert!(least.of(&rows, &lengths, m + 1) < 1e-7);
        let kept = independent(plain(&rows, m + 1), &vec![true; m + 1], &[]);
        assert_eq!(kept.iter().filter(|&&kept| !kept).count(), 1);
        let all = plain(&rows, m + 1);
        assert!(all.still_carry(&kept) && !all.still_carry(&vec![true; m + 1]));
        let mut fewer = kept.clone();
        let first = fewer.iter().position(|&kept| kept).unwrap();
        fewer[first] = false;
        assert!(!all.still_carry(&fewer), "a row that others do not repeat");
    }
}
