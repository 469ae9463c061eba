//! A point of a branch of equilibria, and what is watched there.

use pfaff_solver::{Lu, singular_values};

use crate::analysis::phase::field::{FieldPoint, Frame};
use crate::analysis::phase::held::{Held, kernel_dimension};
use crate::analysis::phase::quotient::Quotient;
use crate::analysis::phase::symmetries::{AffineSymmetry, combination};

/// What singular values vanish, in parts of the largest.
const VANISHING: f64 = 1e-9;

/// Symmetries along which a motion is steady, with the rates $\omega$.
#[derive(Clone)]
pub(crate) struct Steady {
    pub(crate) symmetries: Vec<AffineSymmetry>,
    pub(crate) rates: Vec<f64>,
}

impl Steady {
    /// The frame that moves with the motion.
    pub(crate) fn frame(&self, n: usize) -> Frame {
        combination(n, &self.symmetries, &self.rates)
    }
}

/// What a place on a branch is looked for with.
#[derive(Clone)]
pub(crate) struct Chartered {
    pub(crate) quotient: Quotient,
    /// For motions along symmetries that mix coordinates.
    pub(crate) steady: Option<Steady>,
    /// What is held along the branch, with its value.
    pub(crate) held: Vec<(Held, f64)>,
}

impl Chartered {
    /// How many rates of symmetries are unknown.
    pub(crate) fn rates(&self) -> usize {
        self.steady.as_ref().map_or(0, |steady| steady.rates.len())
    }
}

/// A point on a branch, with its tangent.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) p: f64,
    pub(crate) point: FieldPoint,
    pub(crate) within: Chartered,
    /// $(g_w, g_\omega, g_p)$ by rows; below them those that keep it beside its symmetries, and what is held.
    pub(crate) matrix: Vec<f64>,
    /// $(w', \omega', p')$ of length 1.
    pub(crate) tangent: Vec<f64>,
    /// $g_w$, in a moving frame beside the symmetries.
    pub(crate) equations: Vec<f64>,
    pub(crate) values: Vec<[f64; 2]>,
}

impl Place {
    pub(crate) fn quotient(&self) -> &Quotient {
        &self.within.quotient
    }

    /// $p'$
    pub(crate) fn slope(&self) -> f64 {
        self.tangent.last().copied().unwrap_or(0.0)
    }

    /// Rows of the matrix.
    pub(crate) fn rows(&self) -> usize {
        self.matrix.len() / self.tangent.len()
    }

    /// Whether it lies on a curve without symmetries, and nothing is held.
    pub(crate) fn is_plain(&self) -> bool {
        self.rows() + 1 == self.tangent.len()
    }

    /// How many directions beside the tangent the equations leave.
    pub(crate) fn loose(&self) -> usize {
        kernel_dimension(&self.matrix, self.tangent.len(), VANISHING).saturating_sub(1)
    }

    /// The largest component of the state, at least 1.
    pub(crate) fn size(&self) -> f64 {
        let all = self.quotient().variables.iter();
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

/// The sign of the determinant of the matrix with the tangent below; zero where it is singular.
pub(crate) fn orientation(place: &Place) -> f64 {
    let k = place.tangent.len();
    let all = [&place.matrix[..], &place.tangent].concat();
    let mut lu = Lu::new(k);
    if lu.factor(k, &all).is_err() { 0.0 } else { lu.orientation() }
}

/// The least and the largest singular value of the matrix with the tangent below.
pub(crate) fn extreme_values(place: &Place) -> (f64, f64) {
    let k = place.tangent.len();
    let all = [&place.matrix[..], &place.tangent].concat();
    let values = singular_values(&all, place.rows() + 1, k).values;
    (values.last().copied().unwrap_or(0.0), values.first().copied().unwrap_or(0.0))
}

/// How many real eigenvalues are positive.
pub(crate) fn growing_alone(place: &Place) -> usize {
    let limit = 1e-6 * place.values.iter().fold(0.0_f64, |m, v| m.max(v[0].abs() + v[1].abs()));
    place.values.iter().filter(|v| v[1] == 0.0 && v[0] > limit).count()
}

/// The singular values of $g_w$, the largest first.
fn equations_values(place: &Place) -> Vec<f64> {
    let w = place.values.len();
    singular_values(&place.equations, w, w).values
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
