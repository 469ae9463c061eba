//! A square matrix into its triangular factors, and a right side into the solution.
//!
//! $$ P\,S\,A = L\,U, \qquad A x = b \qquad (\mathrm{LU}) $$
//!
//! with a diagonal $S$ that brings the largest entry of every row into $[1, 2)$, and partial
//! pivoting $P$. The entries of $S$ are powers of two, so that scaling rounds nothing.
//!
//! **Conventions.** Matrices are stored by rows. A pivot counts as zero when it is below
//! $4 n \varepsilon$ times the largest entry that its column ever had: what is left there
//! is rounding. A small pivot in a column that was small from the start is kept.
//!
//! **Invariant.** [`Lu::factor`] and [`Lu::solve`] do not allocate while `n` stays within the
//! largest size seen so far.

use std::fmt;

use crate::linalg::dot::dot;

/// The factors of (LU), in storage that is used again by the next factorisation.
///
/// ```
/// let mut lu = pfaff_solver::Lu::new(2);
/// lu.factor(2, &[0.0, 2.0, 1.0, 1.0])?;
/// let mut x = [4.0, 3.0];
/// lu.solve(&mut x);
/// assert_eq!(x, [1.0, 2.0]);
/// # Ok::<(), pfaff_solver::Singular>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    /// Rows of $L$ below the diagonal (unit diagonal) and of $U$ from it on.
    factors: Vec<f64>,
    /// Row that was exchanged with row `k` in step `k`.
    exchanges: Vec<usize>,
    /// Diagonal of $S$, in the order of the original rows.
    scale: Vec<f64>,
    /// Largest magnitude that each column ever had.
    columns: Vec<f64>,
    pivot_ratio: f64,
}

/// The matrix has no inverse: its pivot in this column vanished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// First column that depends on the columns before it.
    pub column: usize,
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "singular matrix: column {} depends on the columns before it", self.column)
    }
}

impl std::error::Error for Singular {}

impl Lu {
    /// Storage for matrices of up to `n` rows; larger ones make it grow.
    pub fn new(n: usize) -> Self {
        let mut lu = Self::default();
        lu.resize(n);
        lu.n = 0;
        lu
    }

    /// Factorises the `n` by `n` matrix `a`, stored by rows.
    ///
    /// # Errors
    ///
    /// [`Singular`] with the first dependent column; the factors are then not usable.
    /// Entries that are not finite give factors that are not finite, or [`Singular`].
    pub fn factor(&mut self, n: usize, a: &[f64]) -> Result<(), Singular> {
        self.factor_above(n, a, 4.0 * n as f64 * f64::EPSILON)
    }

    /// As [`Lu::factor`], but only a pivot that is zero or not finite is refused: for matrices whose entries
    /// differ by many powers of ten, where small pivots say nothing.
    ///
    /// # Errors
    ///
    /// [`Singular`] with the first column without a pivot.
    pub(crate) fn factor_nonzero(&mut self, n: usize, a: &[f64]) -> Result<(), Singular> {
        self.factor_above(n, a, 0.0)
    }

    /// Refuses pivots of at most `threshold` times the largest entry that their column ever had.
    fn factor_above(&mut self, n: usize, a: &[f64], threshold: f64) -> Result<(), Singular> {
        assert_eq!(a.len(), n * n, "the matrix has n rows of n entries");
        self.resize(n);
        self.equilibrate(a);
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
        for k in 0..n {
            let pivot = self.exchange(k).abs();
            // Written so that a pivot that is not a number is refused too.
            let sound = pivot > threshold * self.columns[k];
            if !sound {
                return Err(Singular { column: k });
            }
            smallest = smallest.min(pivot);
            largest = largest.max(pivot);
            self.eliminate(k);
        }
        self.pivot_ratio = if n == 0 { 1.0 } else { smallest / largest };
        Ok(())
    }

    /// Replaces `b` by the solution $x$ of $A x = b$ for the matrix factorised last.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        assert_eq!(b.len(), n, "the right side has one entry per row");
        for (b, s) in b.iter_mut().zip(&self.scale) {
            *b *= s;
        }
        for (k, &r) in self.exchanges.iter().enumerate() {
            b.swap(k, r);
        }
        for i in 1..n {
            let (done, rest) = b.split_at_mut(i);
            rest[0] -= dot(&self.factors[i * n..i * n + i], done);
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            let (head, done) = b.split_at_mut(i + 1);
            head[i] = (head[i] - dot(&row[i + 1..], done)) / row[i];
        }
    }

    /// Smallest over largest pivot after equilibration: near 1 well conditioned, near the
    /// rounding unit hardly solvable. An estimate, not a bound.
    pub fn pivot_ratio(&self) -> f64 {
        self.pivot_ratio
    }

    /// The sign of the determinant of the matrix factorised last, +1 or −1.
    ///
    /// ```
    /// let mut lu = pfaff_solver::Lu::new(2);
    /// lu.factor(2, &[0.0, 2.0, 1.0, 1.0])?;
    /// assert_eq!(lu.orientation(), -1.0);
    /// # Ok::<(), pfaff_solver::Singular>(())
    /// ```
    pub fn orientation(&self) -> f64 {
        let exchanged = self.exchanges[..self.n].iter().enumerate().filter(|&(k, &r)| k != r);
        let negative = (0..self.n).filter(|&k| self.factors[k * self.n + k] < 0.0).count();
        if (exchanged.count() + negative).is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    fn resize(&mut self, n: usize) {
        self.n = n;
        self.factors.resize(n * n, 0.0);
        self.exchanges.resize(n, 0);
        self.scale.resize(n, 1.0);
        self.columns.resize(n, 0.0);
    }

    /// Copies $S A$ into the factors.
    fn equilibrate(&mut self, a: &[f64]) {
        let n = self.n;
        self.columns.fill(0.0);
        for i in 0..n {
            let row = &a[i * n..(i + 1) * n];
            let s = power_of_two_scale(row);
            self.scale[i] = s;
            let scaled = &mut self.factors[i * n..(i + 1) * n];
            for ((scaled, a), column) in scaled.iter_mut().zip(row).zip(&mut self.columns) {
                *scaled = s * a;
                *column = column.max(scaled.abs());
            }
        }
    }

    /// Brings the largest entry of column `k` on or below the diagonal onto it, and gives it.
    fn exchange(&mut self, k: usize) -> f64 {
        let n = self.n;
        let (mut best, mut at) = (self.factors[k * n + k].abs(), k);
        for i in k + 1..n {
            let candidate = self.factors[i * n + k].abs();
            if candidate > best {
                (best, at) = (candidate, i);
            }
        }
        self.exchanges[k] = at;
        if at != k {
            let (upper, lower) = self.factors.split_at_mut(at * n);
            upper[k * n..(k + 1) * n].swap_with_slice(&mut lower[..n]);
        }
        self.factors[k * n + k]
    }

    /// Subtracts multiples of row `k` from the rows below it.
    fn eliminate(&mut self, k: usize) {
        let n = self.n;
        let (upper, lower) = self.factors.split_at_mut((k + 1) * n);
        let pivot_row = &upper[k * n + k..];
        for (u, column) in pivot_row.iter().zip(&mut self.columns[k..]) {
            *column = column.max(u.abs());
        }
        for row in lower.chunks_exact_mut(n) {
            let row = &mut row[k..];
            // Saddle-point matrices are half zeros: a row without this column is done.
            if row[0] == 0.0 {
                continue;
            }
            let l = row[0] / pivot_row[0];
            row[0] = l;
            for (x, u) in row[1..].iter_mut().zip(&pivot_row[1..]) {
                *x -= l * u;
            }
        }
    }
}

/// A power of two that brings the largest magnitude of `row` into $[1, 2)$; 1 for a zero row.
pub(crate) fn power_of_two_scale(row: &[f64]) -> f64 {
    let largest = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    // 2^⌊log₂ x⌋ is x without its fraction bits; subnormal rows count as zero.
    let power = f64::from_bits(largest.to_bits() & 0x7ff0_0000_0000_0000);
    // Beyond 2^1022 the reciprocal is subnormal or zero: such a row is left as it is.
    if (f64::MIN_POSITIVE..=1e307).contains(&power) { 1.0 / power } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn massless_coordinate_is_held_by_its_constraint() {
        // [M −Aᵀ; A 0] with M = diag(0, 1), A = (1 0): the diagonal starts with a zero.
        let a = [0.0, 0.0, -1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0];
        let mut lu = Lu::new(3);
        lu.factor(3, &a).unwrap();
        let mut x = [3.0, 2.0, 0.0];
        lu.solve(&mut x);
        assert_eq!(x, [0.0, 2.0, -3.0]);
        assert_eq!(lu.pivot_ratio(), 1.0);
    }

    #[test]
    fn badly_scaled_saddle_is_solved_to_rounding() {
        // m₁ = 1e-20 and m₂ = 1 joined by ẋ₁ = ẋ₂, pulled by (1, 1): a = 2/(m₁ + m₂), λ = 1 − m₂ a.
        let a = [1e-20, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.0];
        let mut lu = Lu::new(3);
        lu.factor(3, &a).unwrap();
        let mut x = [1.0, 1.0, 0.0];
        lu.solve(&mut x);
        // Entries are of size 2: a few units in the last place.
        for (x, expected) in x.iter().zip([2.0, 2.0, -1.0]) {
            assert!((x - expected).abs() < 1e-15, "{x} ≠ {expected}");
        }
    }

    #[test]
    fn a_light_free_body_is_not_singular() {
        let mut lu = Lu::new(2);
        lu.factor(2, &[1e-30, 0.0, 0.0, 1.0]).unwrap();
        let mut x = [3e-30, 4.0];
        lu.solve(&mut x);
        // One division each.
        assert!((x[0] - 3.0).abs() < 1e-15 && x[1] == 4.0);
    }

    #[test]
    fn an_unknown_in_large_units_is_not_singular() {
        // The second column is small in both rows, and regular beside the first.
        let mut lu = Lu::new(2);
        lu.factor(2, &[1.0, 1e-20, 1.0, 3e-20]).unwrap();
        let mut x = [2.0, 4.0];
        lu.solve(&mut x);
        // Condition of the scaled matrix below 10.
        assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] * 1e-20 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn dependent_columns_are_named_through_rounding() {
        // Column 2 = 0.1·column 0 + 0.7·column 1, entries not representable in binary.
        let (u, v) = ([0.3, 1.1, 0.7], [0.9, 0.2, 1.3]);
        let a: Vec<f64> = (0..3).flat_map(|i| [u[i], v[i], 0.1 * u[i] + 0.7 * v[i]]).collect();
        assert_eq!(Lu::new(3).factor(3, &a), Err(Singular { column: 2 }));
        assert_eq!(Lu::new(1).factor(1, &[0.0]), Err(Singular { column: 0 }));
        assert_eq!(Lu::new(1).factor(1, &[f64::NAN]), Err(Singular { column: 0 }));
    }

    #[test]
    fn small_pivots_are_refused_or_kept_as_asked() {
        let mut lu = Lu::new(2);
        // Only a pivot that is exactly zero, or not a number, is refused.
        assert!(lu.factor_nonzero(2, &[1.0, 2.0, 2.0, 4.0]).is_err());
        assert!(lu.factor_nonzero(1, &[f64::NAN]).is_err());
        let nearly = [1.0, 1.0, 1.0, 1.0 + f64::EPSILON];
        assert!(lu.factor(2, &nearly).is_err());
        lu.factor_nonzero(2, &nearly).expect("the pivot is ε");
        let mut x = [0.0, f64::EPSILON];
        lu.solve(&mut x);
        assert_eq!(x, [-1.0, 1.0]);
    }

    #[test]
    fn storage_serves_smaller_matrices_after_larger_ones() {
        let mut lu = Lu::new(0);
        let ones: Vec<f64> = (0..81).map(|e| f64::from(u8::from(e % 10 == 0))).collect();
        lu.factor(9, &ones).unwrap();
        lu.factor(1, &[4.0]).unwrap();
        let mut x = [2.0];
        lu.solve(&mut x);
        assert_eq!(x, [0.5]);
    }
}
