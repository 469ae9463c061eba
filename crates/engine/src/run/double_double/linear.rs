//! Linear systems with some thirty digits: elimination with partial pivoting.

use pfaff_expr::DoubleDouble;

/// The factors of a matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct DoubleLu {
    size: usize,
    matrix: Vec<DoubleDouble>,
    rows: Vec<usize>,
}

impl DoubleLu {
    /// Of a square matrix by rows; none if it is singular to all its digits.
    pub(super) fn new(size: usize, mut matrix: Vec<DoubleDouble>) -> Option<Self> {
        let mut rows: Vec<usize> = (0..size).collect();
        let scale = matrix.iter().fold(0.0_f64, |m, x| m.max(x.high.abs()));
        for k in 0..size {
            let best = (k..size).max_by(|&a, &b| {
                let at = |r: usize| matrix[rows[r] * size + k].high.abs();
                at(a).total_cmp(&at(b))
            })?;
            rows.swap(k, best);
            let pivot = matrix[rows[k] * size + k];
            // NOTE: repeated constraints leave rounding of the numbers, far below what a matrix of mechanics has.
            if !pivot.is_finite() || pivot.high.abs() <= 1e-26 * scale {
                return None;
            }
            for i in k + 1..size {
                let factor = matrix[rows[i] * size + k] / pivot;
                matrix[rows[i] * size + k] = factor;
                if factor.high == 0.0 {
                    continue;
                }
                for j in k + 1..size {
                    let change = factor * matrix[rows[k] * size + j];
                    matrix[rows[i] * size + j] = matrix[rows[i] * size + j] - change;
                }
            }
        }
        Some(Self { size, matrix, rows })
    }

    /// Replaces a right side by the solution.
    pub(super) fn solve(&self, right: &mut [DoubleDouble]) {
        let size = self.size;
        let mut x: Vec<DoubleDouble> = self.rows.iter().map(|&r| right[r]).collect();
        for k in 0..size {
            for j in 0..k {
                x[k] = x[k] - self.matrix[self.rows[k] * size + j] * x[j];
            }
        }
        for k in (0..size).rev() {
            for j in k + 1..size {
                x[k] = x[k] - self.matrix[self.rows[k] * size + j] * x[j];
            }
            x[k] = x[k] / self.matrix[self.rows[k] * size + k];
        }
        right.copy_from_slice(&x);
    }
}
