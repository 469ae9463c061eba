//! A matrix of any rank into a maximal independent part, and what depends on it.
//!
//! $$ P\,S\,A\,Q = \begin{pmatrix} L_1 \\\\ L_2 \end{pmatrix}
//!    \begin{pmatrix} U_1 & U_2 \end{pmatrix}, \qquad U_1 \in \mathbb{R}^{r \times r}
//!    \qquad (\mathrm{RR}) $$
//!
//! by elimination with complete pivoting after the row scaling $S$ of [`Lu`](crate::Lu).
//! The rank $r$ is reached when no remaining entry exceeds the relative tolerance times the
//! first pivot. Redundant constraints are rows that depend on others: they are dropped if
//! they agree with them, and [`RankRevealing::solve`] says by how much they do not.
//!
//! **Conventions.** Matrices are stored by rows. Among equal pivots the first row, then the
//! first column, wins: what is declared later counts as the dependent one.

use crate::linalg::dot::dot;
use crate::linalg::lu::power_of_two_scale;

/// The factors of (RR), in storage that is used again by the next factorisation.
///
/// ```
/// // The second equation repeats the first, the second unknown is free.
/// let mut split = pfaff_solver::RankRevealing::default();
/// split.factor(2, 2, &[2.0, 0.0, 4.0, 0.0], 1e-12);
/// assert_eq!((split.rank(), split.dependent_rows(), split.free_columns()), (1, &[1][..], &[1][..]));
/// let mut x = [0.0; 2];
/// let disagreement = split.solve(&[6.0, 13.0], &mut x);
/// assert_eq!((x, disagreement), ([3.0, 0.0], 1.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct RankRevealing {
    m: usize,
    n: usize,
    rank: usize,
    factors: Vec<f64>,
    /// Original index of each factored row; from `rank` on the dependent ones, ascending.
    rows: Vec<usize>,
    /// Original index of each factored column; from `rank` on the free ones, ascending.
    columns: Vec<usize>,
    scale: Vec<f64>,
    work: Vec<f64>,
}

impl RankRevealing {
    /// Factorises the `m` by `n` matrix `a`, stored by rows; entries below `tolerance` times
    /// the first pivot count as zero.
    pub fn factor(&mut self, m: usize, n: usize, a: &[f64], tolerance: f64) {
        assert_eq!(a.len(), m * n, "the matrix has m rows of n entries");
        self.prepare(m, n, a);
        let mut threshold = 0.0;
        self.rank = 0;
        for k in 0..m.min(n) {
            let (best, i, j) = self.largest(k);
            if k == 0 {
                threshold = tolerance * best;
            }
            // Written so that a pivot that is not a number ends the factorisation too.
            let sound = best > threshold && best.is_finite();
            if !sound {
                break;
            }
            self.exchange(k, i, j);
            self.eliminate(k);
            self.rank = k + 1;
        }
        self.sort_dependent();
    }

    /// Number of independent rows, which is that of independent columns.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Rows that are combinations of the others, ascending.
    pub fn dependent_rows(&self) -> &[usize] {
        &self.rows[self.rank..]
    }

    /// Columns whose unknowns may be chosen, ascending.
    pub fn free_columns(&self) -> &[usize] {
        &self.columns[self.rank..]
    }

    /// Solves the independent rows of $A x = b$ with zero for the free unknowns, and gives the
    /// largest $|b - A x|$ over the dependent rows, each in its own unit.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) -> f64 {
        let (n, r) = (self.n, self.rank);
        assert!(b.len() == self.m && x.len() == n, "one entry per row and per column");
        for (work, &i) in self.work.iter_mut().zip(&self.rows) {
            *work = b[i] * self.scale[i];
        }
        for i in 0..self.m {
            let (done, rest) = self.work.split_at_mut(i);
            let known = i.min(r);
            rest[0] -= dot(&self.factors[i * n..i * n + known], &done[..known]);
        }
        let residual = (r..self.m)
            .map(|i| (self.work[i] / self.scale[self.rows[i]]).abs())
            .fold(0.0, f64::max);
        for i in (0..r).rev() {
            let row = &self.factors[i * n..i * n + r];
            let (head, done) = self.work.split_at_mut(i + 1);
            head[i] = (head[i] - dot(&row[i + 1..], &done[..r - i - 1])) / row[i];
        }
        x.fill(0.0);
        for (k, &j) in self.columns[..r].iter().enumerate() {
            x[j] = self.work[k];
        }
        residual
    }

    fn prepare(&mut self, m: usize, n: usize, a: &[f64]) {
        (self.m, self.n) = (m, n);
        self.rows.clear();
        self.rows.extend(0..m);
        self.columns.clear();
        self.columns.extend(0..n);
        self.scale.resize(m, 1.0);
        self.work.resize(m, 0.0);
        self.factors.clear();
        for i in 0..m {
            let row = &a[i * n..(i + 1) * n];
            let s = power_of_two_scale(row);
            self.scale[i] = s;
            self.factors.extend(row.iter().map(|a| s * a));
        }
    }

    /// The largest remaining magnitude and its place.
    fn largest(&self, k: usize) -> (f64, usize, usize) {
        let (mut best, mut at) = (-1.0, (k, k));
        for i in k..self.m {
            for j in k..self.n {
                let candidate = self.factors[i * self.n + j].abs();
                if candidate > best {
                    (best, at) = (candidate, (i, j));
                }
            }
        }
        (best, at.0, at.1)
    }

    fn exchange(&mut self, k: usize, i: usize, j: usize) {
        let n = self.n;
        if i != k {
            let (upper, lower) = self.factors.split_at_mut(i * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
            self.rows.swap(i, k);
        }
        if j != k {
            for row in self.factors.chunks_exact_mut(n) {
                row.swap(j, k);
            }
            self.columns.swap(j, k);
        }
    }

    fn eliminate(&mut self, k: usize) {
        let n = self.n;
        let (upper, lower) = self.factors.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n + k..];
        for row in lower.chunks_exact_mut(n) {
            let row = &mut row[k..];
            let l = row[0] / pivot_row[0];
            row[0] = l;
            for (x, u) in row[1..].iter_mut().zip(&pivot_row[1..]) {
                *x -= l * u;
            }
        }
    }

    /// Lists dependent rows (with their multipliers) and free columns in declared order.
    fn sort_dependent(&mut self) {
        let (n, r) = (self.n, self.rank);
        for k in r..self.m {
            let least = (k..self.m).min_by_key(|&i| self.rows[i]).unwrap_or(k);
            if least != k {
                let (upper, lower) = self.factors.split_at_mut(least * n);
                upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
                self.rows.swap(least, k);
            }
        }
        // Nothing reads the entries of free columns any more.
        self.columns[r..].sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redundant_constraint_of_a_saddle_is_named_and_dropped() {
        // Unit mass in the plane, ẏ = 0 written twice: rows 2 and 3 of A are dependent.
        #[rustfmt::skip]
        let a = [
            1.0, 0.0,  0.0,  0.0,
            0.0, 1.0, -1.0, -1.0,
            0.0, 1.0,  0.0,  0.0,
            0.0, 1.0,  0.0,  0.0,
        ];
        let mut split = RankRevealing::default();
        split.factor(4, 4, &a, 1e-12);
        assert_eq!(split.rank(), 3);
        assert_eq!(split.dependent_rows(), [3]);
        assert_eq!(split.free_columns(), [3]);
        let mut x = [0.0; 4];
        assert_eq!(split.solve(&[5.0, -10.0, 0.0, 0.0], &mut x), 0.0);
        assert_eq!(x, [5.0, 0.0, 10.0, 0.0]);
        // ẏ = 0 and ẏ = 2 contradict each other by 2.
        assert_eq!(split.solve(&[5.0, -10.0, 0.0, 2.0], &mut x), 2.0);
    }

    #[test]
    fn disagreement_is_told_in_the_unit_of_its_row() {
        let mut split = RankRevealing::default();
        split.factor(2, 1, &[1.5, 1024.0], 1e-12);
        let mut x = [0.0];
        // Scaled to 1.5 and 1: the first row is kept, x = 2, and the second is off by 5.
        assert_eq!(split.solve(&[3.0, 2053.0], &mut x), 5.0);
        assert_eq!((x, split.dependent_rows()), ([2.0], &[1][..]));
    }

    #[test]
    fn dependent_rows_and_free_columns_are_listed_in_declared_order() {
        let mut split = RankRevealing::default();
        #[rustfmt::skip]
        split.factor(3, 3, &[
            1.00, 1.25, 1.50,
            2.00, 2.50, 3.00,
            1.25, 1.50, 1.75,
        ], 1e-12);
        assert_eq!(split.rank(), 2);
        split.factor(3, 3, &[1.0, 1.25, 1.5, 1.0, 1.25, 1.5, 1.0, 1.25, 1.75], 1e-12);
        assert_eq!(split.rank(), 2);
        split.factor(3, 3, &[1.0, 1.25, 1.5, 1.0, 1.25, 1.5, 1.0, 1.25, 1.5], 1e-12);
        assert_eq!((split.dependent_rows(), split.free_columns()), (&[1, 2][..], &[0, 1][..]));
        // The last row has the largest entry and is kept; its place is taken by the first.
        split.factor(3, 1, &[1.0, 1.25, 1.5], 1e-12);
        assert_eq!(split.dependent_rows(), [0, 1]);
        let mut x = [0.0];
        assert_eq!(split.solve(&[2.0, 2.5, 3.0], &mut x), 0.0);
        assert_eq!((split.solve(&[2.0, 3.5, 3.0], &mut x), x), (1.0, [2.0]));
    }
}
