//! Linear systems with some thirty digits: elimination with partial pivoting.
//!
//! Masses and constraints have different units, so that a small pivot may be a small mass. It is the rounding of a zero
//! where it is small beside the terms that cancelled in it.

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
        // The largest term of each entry.
        let mut terms: Vec<f64> = matrix.iter().map(|x| x.high.abs()).collect();
        for k in 0..size {
            let best = (k..size).max_by(|&a, &b| {
                let at = |r: usize| matrix[rows[r] * size + k].high.abs();
                at(a).total_cmp(&at(b))
            })?;
            rows.swap(k, best);
            let pivot = matrix[rows[k] * size + k];
            // NOTE: repeated constraints leave rounding of the numbers.
            if !pivot.is_finite() || pivot.high.abs() <= 1e-26 * terms[rows[k] * size + k] {
                return None;
            }
            for i in k + 1..size {
                let factor = matrix[rows[i] * size + k] / pivot;
                matrix[rows[i] * size + k] = factor;
                if factor.high == 0.0 {
                    continue;
                }
                for j in k + 1..size {
                    let term = factor.high.abs() * terms[rows[k] * size + j];
                    terms[rows[i] * size + j] = terms[rows[i] * size + j].max(term);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// (K) of a particle on a line, whose mass is 1e-25, 1 or 1e25 where the constraint has 1e10: none is singular.
    #[test]
    fn masses_and_constraints_have_their_own_units() {
        for mass in [1e-25, 1.0, 1e25] {
            let entries = [mass, 0.0, -1e10, 0.0, mass, -2e10, 1e10, 2e10, 0.0];
            let factors = DoubleLu::new(3, entries.map(DoubleDouble::from).to_vec());
            // m x'' = f + a λ with f along the line, a·x'' = 0: x'' = f/m and λ = 0.
            let mut right = [2.0 * mass, -mass, 0.0].map(DoubleDouble::from);
            factors.expect("it is regular").solve(&mut right);
            let [x, y, λ] = right.map(|x| x.high);
            // Thirty digits, of which the pivots may cost some.
            assert!((x - 2.0).abs() < 1e-15 && (y + 1.0).abs() < 1e-15, "{mass}: {x} {y}");
            assert!(λ.abs() * 1e10 < 1e-25 * mass, "{mass}: {λ}");
        }
        let repeated = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0].map(DoubleDouble::from);
        assert!(DoubleLu::new(3, repeated.to_vec()).is_none());
    }
}
