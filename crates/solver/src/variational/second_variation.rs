//! The second variation of the action on the nodes, and its negative directions.
//!
//! $$ \delta^2 S = h\sum_m\sum_{pq} w_m\,\frac{\partial^2\mathcal L}{\partial O_p\,\partial
//! O_q}\,(O_p\xi)(t_m)\,(O_q\xi)(t_m) $$
//!
//! is symmetric as it stands: the equations of Newton's iteration, with adjoint operators, are so only up to
//! the error of the basis.

use super::extremum::{EulerLagrange, EulerLagrangeValues};
use crate::linalg::symmetric::symmetric_eigenvalues;

/// The largest matrix whose eigenvalues are looked at.
const EIGENVALUES: usize = 180;

impl EulerLagrange<'_> {
    /// Negative eigenvalues of the second variation with the end conditions as its border; none where there
    /// are too many unknowns, or one has no sign.
    pub(crate) fn negative(&self, state: &EulerLagrangeValues) -> Option<usize> {
        let (n, count, total) = (self.grid.len(), self.actions.len(), self.total());
        if total > EIGENVALUES {
            return None;
        }
        let mut matrix = vec![0.0; total * total];
        for (p, &(k, _)) in self.problem.operators.iter().enumerate() {
            for (o, &(l, _)) in self.problem.operators.iter().enumerate() {
                let weights = &state.hessian[p * count + o];
                for m in (0..n).filter(|&m| weights[m] != 0.0) {
                    let right = self.row(o, m);
                    for (i, x) in self.row(p, m).into_iter().enumerate() {
                        let x = self.grid.step * x * weights[m];
                        let at = (self.first[k] + i) * total + self.first[l];
                        for (y, r) in matrix[at..at + right.len()].iter_mut().zip(&right) {
                            *y += x * r;
                        }
                    }
                }
            }
        }
        for (r, end) in self.ends.iter().enumerate() {
            let force = self.size + r;
            for (k, &at) in self.first.iter().enumerate() {
                for (i, x) in end.density[k].iter().chain(&end.constants[k]).enumerate() {
                    matrix[(at + i) * total + force] += x;
                    matrix[force * total + at + i] += x;
                }
            }
        }
        let scale = self.scale();
        for i in 0..total {
            for j in 0..total {
                matrix[i * total + j] *= scale[i] * scale[j];
            }
        }
        let values = symmetric_eigenvalues(total, &matrix);
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        // NOTE: what is below the error of the basis has no sign.
        values
            .iter()
            .all(|v| v.abs() > 1e-9 * largest)
            .then(|| values.iter().filter(|v| **v < 0.0).count())
    }

    /// Operator `o` at node `m`, on the density and on the constants of its function.
    fn row(&self, o: usize, m: usize) -> Vec<f64> {
        let n = self.grid.len();
        let action = &self.actions[o];
        let density = action.density[m * n..(m + 1) * n].iter().copied();
        density.chain(action.constants.iter().map(|c| c[m])).collect()
    }
}
