//! A point of a branch of equilibria, and what is watched there.

use pfaff_solver::{Lu, singular_values};

use crate::analysis::phase::field::FieldPoint;
use crate::analysis::phase::quotient::Quotient;

/// A point on a branch, with its tangent.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) p: f64,
    pub(crate) point: FieldPoint,
    pub(crate) quotient: Quotient,
    /// $(g_w, g_p)$ by rows.
    pub(crate) matrix: Vec<f64>,
    /// $(w', p')$ of length 1.
    pub(crate) tangent: Vec<f64>,
    pub(crate) values: Vec<[f64; 2]>,
}

impl Place {
    /// The largest component of the state, at least 1.
    pub(crate) fn size(&self) -> f64 {
        let all = self.quotient.variables.iter();
        all.fold(1.0_f64, |m, &c| m.max(self.point.y[c].abs()))
    }
}

/// The unit vector of the kernel of a matrix, such as $(g_w, g_p)$, next to a direction.
pub(crate) fn tangent(matrix: &[f64], rows: usize, along: &[f64]) -> Option<Vec<f64>> {
    tangent_within(matrix, rows, along, 1e-9)
}

/// The same, of the kernel of what is larger than a part of the largest singular value.
pub(crate) fn tangent_within(
    matrix: &[f64],
    rows: usize,
    along: &[f64],
    rounding: f64,
) -> Option<Vec<f64>> {
    let columns = along.len();
    let split = singular_values(matrix, rows, columns);
    let largest = split.values.first().copied().unwrap_or(0.0);
    let kernel: Vec<&Vec<f64>> = split
        .values
        .iter()
        .zip(&split.directions)
        .enumerate()
        .filter(|(k, (s, _))| *k + 1 == columns || **s <= rounding * largest)
        .map(|(_, (_, direction))| direction)
        .collect();
    let mut tangent = vec![0.0; columns];
    for direction in &kernel {
        let part: f64 = direction.iter().zip(along).map(|(a, b)| a * b).sum();
        tangent.iter_mut().zip(*direction).for_each(|(t, x)| *t += part * x);
    }
    let size = tangent.iter().map(|x| x * x).sum::<f64>().sqrt();
    if size < 1e-12 {
        return kernel.last().map(|direction| (*direction).clone());
    }
    Some(tangent.into_iter().map(|x| x / size).collect())
}

/// The sign of the determinant of $(g_w, g_p)$ with the tangent below; zero where it is singular.
pub(crate) fn orientation(matrix: &[f64], w: usize, tangent: &[f64]) -> f64 {
    let all = [matrix, tangent].concat();
    let mut lu = Lu::new(w + 1);
    if lu.factor(w + 1, &all).is_err() { 0.0 } else { lu.orientation() }
}

/// The least singular value of $(g_w, g_p)$ with the tangent below.
pub(crate) fn least_value(matrix: &[f64], w: usize, tangent: &[f64]) -> f64 {
    let all = [matrix, tangent].concat();
    singular_values(&all, w + 1, w + 1).values.last().copied().unwrap_or(0.0)
}

/// How many real eigenvalues are positive.
pub(crate) fn growing_alone(place: &Place) -> usize {
    let limit = 1e-6 * place.values.iter().fold(0.0_f64, |m, v| m.max(v[0].abs() + v[1].abs()));
    place.values.iter().filter(|v| v[1] == 0.0 && v[0] > limit).count()
}

/// The singular values of $g_w$, the largest first.
fn equations_values(place: &Place) -> Vec<f64> {
    let w = place.quotient.variables.len();
    let rows = place.matrix.chunks(w + 1).flat_map(|row| &row[..w]);
    singular_values(&rows.copied().collect::<Vec<f64>>(), w, w).values
}

/// The dimension of the family of equilibria at one value of the parameter.
pub(crate) fn family(place: &Place) -> usize {
    let values = equations_values(place);
    let largest = values.first().copied().unwrap_or(0.0);
    values.iter().filter(|s| **s <= 1e-9 * largest).count()
}

/// The least singular value of $g_w$ beside those of a family, and the largest.
pub(crate) fn least_of_equations(place: &Place, family: usize) -> (f64, f64) {
    let values = equations_values(place);
    let least = values.len().checked_sub(1 + family).and_then(|k| values.get(k));
    (least.copied().unwrap_or(0.0), values.first().copied().unwrap_or(0.0))
}
