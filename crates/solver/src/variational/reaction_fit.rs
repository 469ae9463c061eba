//! How much of the forces along a motion other forces of given directions explain.
//!
//! The variational derivative of $\int L\,dt$ along a motion is a force $-R$, in general a distribution.
//! Whether $R = \sum_a\lambda_a\,a_a$ for some $\lambda(t)$ is asked without differentiating anything: for
//! variations $\delta q = J^N\xi$ that vanish at the far end
//!
//! $$ E_k + \bar J^{N_k}\Bigl(\sum_a\lambda_a\,a_{ak}\Bigr) = \sum_j C_{kj}\,\kappa_{kj}(t), \qquad E_k =
//! \sum_i O_i^*\,\frac{\partial L}{\partial O_i}, $$
//!
//! and the best $\lambda$ and $C$ are those of least squares.

use super::extremum::Extremum;
use super::operators::Action;
use super::unknown::{FractionalOperator, Unknown, power};
use crate::linalg::least_squares::least_squares;

/// Forces at the nodes of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceSamples {
    /// $\partial L/\partial O_i$ by operator of the problem, at each node.
    pub slopes: Vec<Vec<f64>>,
    /// $a_{ak}$ by multiplier and function, at each node. Functions beyond these have no equation.
    pub directions: Vec<Vec<Vec<f64>>>,
}

/// What is left of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ReactionFit {
    /// The root mean square of $E$ that no $\lambda$ explains.
    pub residual: f64,
    /// That of $E$ without any $\lambda$.
    pub total: f64,
    /// $\lambda$ by multiplier, at each node.
    pub multipliers: Vec<Vec<f64>>,
}

/// The least-squares fit of the equations of the first `functions` unknowns.
pub fn reaction_fit(
    found: &mut Extremum,
    forces: &ForceSamples,
    functions: usize,
) -> ReactionFit {
    let grid = found.grid.clone();
    let (n, m) = (grid.len(), forces.directions.len());
    let problem = found.problem.clone();
    let root: Vec<f64> = grid.weights.iter().map(|w| w.sqrt()).collect();
    // Rows weigh as their part of the interval.
    let weigh: Vec<f64> =
        root.iter().map(|r| r * (grid.step / problem.length).sqrt()).collect();
    // A derivative at an end has a value from order j + 1/2 on.
    let ends = |unknown: Unknown| {
        (0..unknown.constants()).filter(move |&j| unknown.order - j as f64 > 0.5)
    };
    let kernels: usize = problem.unknowns[..functions].iter().map(|&c| ends(c).count()).sum();
    let columns = kernels + m * n;
    let mut matrix = vec![0.0; functions * n * columns];
    let mut right = vec![0.0; functions * n];
    for (o, &(k, operator)) in problem.operators.iter().enumerate() {
        if k >= functions {
            continue;
        }
        let action = Action::new(&mut found.abel, &grid, problem.unknowns[k], operator);
        for i in 0..n {
            let row = &action.adjoint[i * n..(i + 1) * n];
            let sum: f64 = (0..n).map(|l| row[l] * grid.weights[l] * forces.slopes[o][l]).sum();
            right[k * n + i] -= weigh[i] * sum;
        }
    }
    let mut column = 0;
    for (k, unknown) in problem.unknowns[..functions].iter().enumerate() {
        let far = unknown.side.other();
        for j in ends(*unknown) {
            for (i, place) in grid.places.iter().enumerate() {
                let kernel = power(far.distance(*place), unknown.order - j as f64 - 1.0);
                matrix[(k * n + i) * columns + column] = -weigh[i] * kernel;
            }
            column += 1;
        }
        let plain =
            Action::new(&mut found.abel, &grid, *unknown, FractionalOperator::Derivative(0))
                .adjoint;
        for (a, direction) in forces.directions.iter().enumerate() {
            for i in 0..n {
                for l in 0..n {
                    // λ is scaled by the root of its weight.
                    matrix[(k * n + i) * columns + kernels + a * n + l] =
                        weigh[i] * plain[i * n + l] * root[l] * direction[k][l];
                }
            }
        }
    }
    let fitted = least_squares(&matrix, functions * n, columns, &right, 1e-13);
    let few: Vec<f64> =
        matrix.chunks(columns.max(1)).flat_map(|row| row[..kernels].to_vec()).collect();
    let whole = least_squares(&few, functions * n, kernels, &right, 1e-13);
    let multipliers = (0..m)
        .map(|a| (0..n).map(|l| fitted.x[kernels + a * n + l] / root[l]).collect())
        .collect();
    ReactionFit { residual: fitted.residual, total: whole.residual, multipliers }
}
