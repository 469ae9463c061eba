//! The null space of rows of numbers that come one after another.
//!
//! Rows are values of functions at random points. What vanishes for all of them is a candidate for what vanishes
//! identically, and is proved by other means.

/// What is left of a row below this fraction of it is rounding.
const ROUNDING: f64 = 1e-9;
/// Coefficients below this fraction of the largest are zero.
const NEGLIGIBLE: f64 = 1e-7;

/// Rows with a leading 1, each in a column of its own.
pub(crate) struct NullSpace {
    columns: usize,
    rows: Vec<(usize, Vec<f64>)>,
}

impl NullSpace {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns, rows: Vec::new() }
    }

    pub(crate) fn dimension(&self) -> usize {
        self.columns - self.rows.len()
    }

    /// Whether the row says something new.
    pub(crate) fn add(&mut self, mut row: Vec<f64>) -> bool {
        let size = largest(&row);
        // NOTE: written so that what is not a number is nothing new.
        if !(size > 0.0 && size.is_finite()) {
            return false;
        }
        row.iter_mut().for_each(|x| *x /= size);
        for (pivot, known) in &self.rows {
            subtract(&mut row, *pivot, known);
        }
        let left = largest(&row);
        if left < ROUNDING {
            return false;
        }
        let pivot = (0..self.columns).find(|&j| row[j].abs() >= left).unwrap_or(0);
        let leading = row[pivot];
        row.iter_mut().for_each(|x| *x /= leading);
        self.rows.iter_mut().for_each(|(_, known)| subtract(known, pivot, &row));
        self.rows.push((pivot, row));
        true
    }

    /// A basis whose vectors have a 1 in a column of their own, the last columns first.
    pub(crate) fn basis(&self) -> Vec<Vec<f64>> {
        let is_free = |j: &usize| self.rows.iter().all(|r| r.0 != *j);
        let vector = |free: usize| {
            let mut c = vec![0.0; self.columns];
            c[free] = 1.0;
            self.rows.iter().for_each(|(pivot, row)| c[*pivot] = -row[free]);
            c
        };
        let mut basis: Vec<Vec<f64>> = (0..self.columns).filter(is_free).map(vector).collect();
        let mut done = 0;
        for j in (0..self.columns).rev() {
            let best = (done..basis.len())
                .max_by(|&a, &b| basis[a][j].abs().total_cmp(&basis[b][j].abs()));
            let Some(best) = best.filter(|&b| basis[b][j].abs() > NEGLIGIBLE) else { continue };
            basis.swap(done, best);
            let leading = basis[done][j];
            basis[done].iter_mut().for_each(|x| *x /= leading);
            let row = basis[done].clone();
            for (i, other) in basis.iter_mut().enumerate() {
                if i != done {
                    subtract(other, j, &row);
                }
            }
            done += 1;
        }
        for c in &mut basis {
            let size = largest(c);
            c.iter_mut().filter(|x| x.abs() < NEGLIGIBLE * size).for_each(|x| *x = 0.0);
        }
        basis.reverse();
        basis
    }
}

fn largest(row: &[f64]) -> f64 {
    row.iter().fold(0.0, |s, x| if x.is_nan() { f64::NAN } else { f64::max(s, x.abs()) })
}

fn subtract(row: &mut [f64], pivot: usize, other: &[f64]) {
    let factor = row[pivot];
    if factor != 0.0 {
        row.iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
        row[pivot] = 0.0;
    }
}

/// A fraction with a small denominator, if the number is one.
pub(crate) fn small_fraction(x: f64) -> Option<(i64, i64)> {
    const LARGEST: i64 = 12;
    (1..=LARGEST).find_map(|d| {
        let n = (x * d as f64).round();
        let is_near = (x * d as f64 - n).abs() < 1e-8 && n.abs() < 1e6;
        is_near.then_some((n as i64, d))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_begin_in_columns_of_their_own() {
        let mut space = NullSpace::new(4);
        assert!(space.add(vec![1.0, 2.0, 0.0, 0.0]));
        assert!(!space.add(vec![2.0, 4.0, 0.0, 0.0]));
        assert!(!space.add(vec![f64::NAN, 4.0, 0.0, 0.0]));
        assert_eq!(space.dimension(), 3);
        assert!(space.add(vec![0.0, 1.0, 1.0, 3.0]));
        assert_eq!(space.dimension(), 2);
        // x = −2y, y = −z − 3w
        let basis = space.basis();
        assert_eq!(basis, [[2.0, -1.0, 1.0, 0.0], [6.0, -3.0, 0.0, 1.0]]);
    }

    #[test]
    fn fractions_are_small() {
        assert_eq!(small_fraction(-1.5), Some((-3, 2)));
        assert_eq!(small_fraction(0.0), Some((0, 1)));
        assert_eq!(small_fraction(2.0 / 7.0), Some((2, 7)));
        assert_eq!(small_fraction(0.618_033_988_749), None);
    }
}
