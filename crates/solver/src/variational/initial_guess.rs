//! Where Newton's iteration begins.

use super::extremum::{EulerLagrange, Extremum};
use super::fractional_integral::Abel;
use super::operators::Action;
use super::sinc_grid::IntervalPoint;
use super::unknown::FractionalOperator;
use crate::linalg::dot::dot_in_order as dot;
use crate::linalg::least_squares::least_squares;

/// A start of the search for a stationary point.
#[derive(Clone, Copy)]
pub enum InitialGuess<'a> {
    /// The densities of least square that meet the end conditions.
    Shortest,
    /// Another stationary point of the same problem.
    Near(&'a Extremum),
    /// Values of functions at any place; `None` for those that begin with the shortest density.
    Values(&'a dyn Fn(usize, IntervalPoint) -> Option<f64>),
}

impl std::fmt::Debug for InitialGuess<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Shortest => "Shortest",
            Self::Near(_) => "Near",
            Self::Values(_) => "Values",
        })
    }
}

impl EulerLagrange<'_> {
    /// The unknowns at a start.
    pub(crate) fn start(&self, start: InitialGuess<'_>, abel: &mut Abel) -> Vec<f64> {
        match start {
            InitialGuess::Shortest => self.shortest(),
            InitialGuess::Near(other) => {
                self.taken_over(other).unwrap_or_else(|| self.shortest())
            }
            InitialGuess::Values(values) => self.through(values, abel),
        }
    }

    /// Densities whose functions go through given values at the nodes, as well as short ones can.
    fn through(
        &self,
        values: &dyn Fn(usize, IntervalPoint) -> Option<f64>,
        abel: &mut Abel,
    ) -> Vec<f64> {
        let mut x = self.shortest();
        let n = self.grid.len();
        for (k, &unknown) in self.problem.unknowns.iter().enumerate() {
            let wanted: Option<Vec<f64>> =
                self.grid.places.iter().map(|&p| values(k, p)).collect();
            let Some(wanted) = wanted else { continue };
            let action =
                Action::new(abel, self.grid, unknown, FractionalOperator::Derivative(0));
            let columns = n + unknown.constants();
            let root: Vec<f64> = self.grid.weights.iter().map(|w| w.sqrt()).collect();
            let mut matrix = vec![0.0; n * columns];
            for i in 0..n {
                let row = &mut matrix[i * columns..(i + 1) * columns];
                for j in 0..n {
                    row[j] = root[i] * action.density[i * n + j] * root[j];
                }
                for (j, constant) in action.constants.iter().enumerate() {
                    row[n + j] = root[i] * constant[i];
                }
            }
            let right: Vec<f64> = root.iter().zip(&wanted).map(|(r, w)| r * w).collect();
            // NOTE: finer parts than 1e-8 of the largest are noise of the values, and a start needs none.
            let fitted = least_squares(&matrix, n, columns, &right, 1e-8).x;
            let at = self.first[k];
            for j in 0..n {
                x[at + j] = root[j] * fitted[j];
            }
            x[at + n..at + columns].copy_from_slice(&fitted[n..]);
        }
        x
    }

    /// The densities of least square that meet the end conditions.
    fn shortest(&self) -> Vec<f64> {
        let (n, m) = (self.grid.len(), self.ends.len());
        let constants: Vec<(usize, usize)> = (self.problem.unknowns.iter().enumerate())
            .flat_map(|(k, c)| (0..c.constants()).map(move |j| (k, j)))
            .collect();
        let size = m + constants.len();
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![0.0; size];
        for r in 0..m {
            right[r] = self.problem.conditions[r].value;
            for s in 0..m {
                for k in 0..self.first.len() {
                    let part: f64 = (0..n)
                        .map(|i| {
                            let weighted = self.grid.weights[i] * self.ends[s].kernel[k][i];
                            self.ends[r].density[k][i] * weighted
                        })
                        .sum();
                    matrix[r * size + s] += part;
                }
            }
            for (i, &(k, j)) in constants.iter().enumerate() {
                matrix[r * size + m + i] = self.ends[r].constants[k][j];
                matrix[(m + i) * size + r] = self.ends[r].constants[k][j];
            }
        }
        let mut x = vec![0.0; self.total()];
        if !matrix.iter().all(|x| x.is_finite()) {
            return x;
        }
        let solved = least_squares(&matrix, size, size, &right, 1e-10).x;
        for (k, &at) in self.first.iter().enumerate() {
            for i in 0..n {
                let kernel = (0..m).map(|r| solved[r] * self.ends[r].kernel[k][i]);
                x[at + i] = self.grid.weights[i] * kernel.sum::<f64>();
            }
        }
        for (i, &(k, j)) in constants.iter().enumerate() {
            x[self.first[k] + n + j] = solved[m + i];
        }
        x
    }

    /// Another stationary point on these nodes.
    fn taken_over(&self, other: &Extremum) -> Option<Vec<f64>> {
        let same = other.problem.unknowns == self.problem.unknowns
            && other.forces.len() == self.ends.len();
        if !same {
            return None;
        }
        let n = self.grid.len();
        let mut x = vec![0.0; self.total()];
        x[self.size..].copy_from_slice(&other.forces);
        for (i, place) in self.grid.places.iter().enumerate() {
            let u = self.grid.step * (i as f64 - self.grid.half as f64);
            if u.abs() > other.grid.reach() {
                continue;
            }
            let mut row = vec![0.0; other.grid.len()];
            let ratio = self.grid.weights[i] / other.grid.weight(*place);
            other.grid.add_cardinals(u, ratio, &mut row);
            for (k, &at) in self.first.iter().enumerate() {
                x[at + i] = dot(&row, &other.density[k]);
            }
        }
        for (k, &at) in self.first.iter().enumerate() {
            let count = other.constants[k].len();
            x[at + n..at + n + count].copy_from_slice(&other.constants[k]);
        }
        Some(x)
    }
}
