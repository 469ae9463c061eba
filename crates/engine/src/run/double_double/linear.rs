//! Linear systems with some thirty digits: elimination with partial pivoting.
//!
//! Masses and constraints have different units: before, rows and columns are multiplied by powers of two, until the
//! largest entry of each is of order one (Ruiz 2001), so that a small pivot is a loss of digits and not a small mass.

use pfaff_expr::DoubleDouble;

/// The factors of a matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct DoubleLu {
    size: usize,
    matrix: Vec<DoubleDouble>,
    rows: Vec<usize>,
    /// By what rows and columns were multiplied.
    scales: [Vec<f64>; 2],
}

/// Rounds of scaling: each takes the root of what is left.
const ROUNDS: usize = 12;

/// Multiplies rows and columns; by what.
fn balanced(size: usize, matrix: &mut [DoubleDouble]) -> [Vec<f64>; 2] {
    let mut scales = [vec![1.0_f64; size], vec![1.0_f64; size]];
    for _ in 0..ROUNDS {
        let mut largest = [vec![0.0_f64; size], vec![0.0_f64; size]];
        for i in 0..size {
            for j in 0..size {
                let entry = matrix[i * size + j].high.abs() * scales[0][i] * scales[1][j];
                largest[0][i] = largest[0][i].max(entry);
                largest[1][j] = largest[1][j].max(entry);
            }
        }
        for (scales, largest) in scales.iter_mut().zip(&largest) {
            for (scale, largest) in scales.iter_mut().zip(largest) {
                if *largest > 0.0 && largest.is_finite() {
                    *scale /= largest.sqrt();
                }
            }
        }
    }
    let exponent = |x: f64| libm::exp2(libm::round(libm::log2(x)));
    scales.iter_mut().flatten().for_each(|scale| *scale = exponent(*scale));
    for i in 0..size {
        for j in 0..size {
            let scale = DoubleDouble::from(scales[0][i] * scales[1][j]);
            matrix[i * size + j] = matrix[i * size + j] * scale;
        }
    }
    scales
}

impl DoubleLu {
    /// Of a square matrix by rows; none if it is singular to all its digits.
    pub(super) fn new(size: usize, mut matrix: Vec<DoubleDouble>) -> Option<Self> {
        let mut rows: Vec<usize> = (0..size).collect();
        let scales = balanced(size, &mut matrix);
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
        Some(Self { size, matrix, rows, scales })
    }

    /// Replaces a right side by the solution.
    pub(super) fn solve(&self, right: &mut [DoubleDouble]) {
        let size = self.size;
        let scaled = |r: usize| right[r] * DoubleDouble::from(self.scales[0][r]);
        let mut x: Vec<DoubleDouble> = self.rows.iter().map(|&r| scaled(r)).collect();
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
        for ((right, x), scale) in right.iter_mut().zip(x).zip(&self.scales[1]) {
            *right = x * DoubleDouble::from(*scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (K) of a particle on a line whose mass is 1e25, and one whose mass is 1e-25: neither is singular.
    #[test]
    fn masses_and_constraints_have_their_own_units() {
        for mass in [1e-25, 1.0, 1e25] {
            let entries = [mass, 0.0, -1e10, 0.0, mass, -2e10, 1e10, 2e10, 0.0];
            let matrix = entries.map(DoubleDouble::from).to_vec();
            let factors = DoubleLu::new(3, matrix.clone()).expect("it is regular");
            let exact = [3.0, -2.0, 5.0].map(DoubleDouble::from);
            let row = |i: usize| {
                (0..3)
                    .fold(DoubleDouble::from(0.0), |sum, j| sum + matrix[3 * i + j] * exact[j])
            };
            let mut right = [row(0), row(1), row(2)];
            factors.solve(&mut right);
            // The masses are 35 digits away from what the constraint fixes: x along it is of the right size only.
            let off = (right[2] - exact[2]).high.abs() * 1e10 / (1e10 + mass);
            assert!(off < 1e-20, "{mass}: {off}");
        }
        let repeated = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0].map(DoubleDouble::from);
        assert!(DoubleLu::new(3, repeated.to_vec()).is_none());
    }
}
