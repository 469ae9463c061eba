//! How isolated a path is: families of solutions, and multipliers that are not unique.
//!
//! $E = B_0 + B_1\Phi(1)$ is the derivative of the conditions by the start. Directions of its kernel that
//! move the path belong to a family of solutions; those that change the momenta and
//! leave the path where it is exist where constraints have a first integral, or where the path is an abnormal
//! extremal as well.

use pfaff_solver::{BoundaryProblem, EvalError, FlowMap, singular_values};

use crate::run::bvp::canonical::Canonical;

/// What the kernel of E says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    /// Directions that move the path.
    pub(crate) dimension: usize,
    /// Directions that change momenta only.
    pub(crate) hidden: usize,
}

/// Singular values below this part of the largest are zero: paths are known to about 1e-12, and Φ with them.
const ZERO: f64 = 1e-8;

/// Looks at the kernel of E.
pub(crate) fn family(
    problem: &mut Canonical,
    flow: &FlowMap,
    first: &[f64],
) -> Result<Family, EvalError> {
    let (d, k) = (first.len(), problem.conditions());
    let n = problem.n;
    let (mut slopes, mut at_last) = (vec![0.0; k * d], vec![0.0; k * d]);
    problem.ends_jacobian(first, &flow.last, &mut slopes, &mut at_last)?;
    for (row, out) in at_last.chunks(d).zip(slopes.chunks_mut(d)) {
        for (b, Φ) in row.iter().zip(flow.sensitivity.chunks(d)) {
            out.iter_mut().zip(Φ).for_each(|(o, Φ)| *o += b * Φ);
        }
    }
    let whole = singular_values(&slopes, k, d);
    let limit = ZERO * whole.values.first().copied().unwrap_or(0.0);
    let kernel: Vec<&Vec<f64>> = whole
        .values
        .iter()
        .zip(&whole.directions)
        .filter(|(σ, _)| **σ <= limit)
        .map(|(_, v)| v)
        .collect();
    if kernel.is_empty() {
        return Ok(Family { dimension: 0, hidden: 0 });
    }
    // δq at places along the path, a column for each direction.
    let mut moved = Vec::new();
    for i in 0..=16 {
        let Some(y) = flow.trajectory.state(f64::from(i) / 16.0) else { continue };
        for k in 0..n {
            let row = &y[d + k * d..d + (k + 1) * d];
            moved.extend(
                kernel.iter().map(|v| row.iter().zip(*v).map(|(a, b)| a * b).sum::<f64>()),
            );
        }
    }
    let columns = kernel.len();
    let paths = singular_values(&moved, moved.len() / columns, columns);
    // Kernel directions have length one; what they move less than this is the error of Φ.
    let dimension = paths.values.iter().filter(|σ| **σ > 1e-5).count();
    Ok(Family { dimension, hidden: columns - dimension })
}
