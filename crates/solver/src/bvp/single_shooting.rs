//! Single shooting from a rough guess: the start of a path is moved until its end is where it should be.
//!
//! Steps are those of Levenberg and Marquardt, $(E^\top E + \lambda)\,\delta = -E^\top g$ with $E = B_0 +
//! B_1\,\Phi(1)$, and λ follows how well they predict.

use crate::bvp::BoundaryProblem;
use crate::bvp::multiple_shooting::{FEW_STEPS, Segment};
use crate::linalg::dot::dot_in_order;
use crate::linalg::least_squares::least_squares;
use crate::ode::system::EvalError;

/// A start, and how far its path is from the conditions.
#[derive(Clone, Debug)]
pub struct Shot {
    /// $y(0)$
    pub first: Vec<f64>,
    /// The largest condition.
    pub residual: f64,
    /// Integrations of a whole path.
    pub integrations: usize,
}

/// The conditions at a start and their derivatives.
pub(crate) struct ShotDerivatives {
    pub(crate) values: Vec<f64>,
    /// $E$, by rows
    pub(crate) slopes: Vec<f64>,
}

/// Integrates a path with its sensitivities.
pub(crate) fn shot_derivatives(
    problem: &mut dyn BoundaryProblem,
    first: &[f64],
    tolerance: f64,
) -> Result<ShotDerivatives, EvalError> {
    let (d, k) = (first.len(), problem.conditions());
    problem.rewind();
    let segment = Segment { range: (0.0, 1.0), tolerance, strict: false, steps: FEW_STEPS };
    let (last, Φ) = segment.varied(problem, first, &mut ())?;
    let mut values = vec![0.0; k];
    let (mut slopes, mut at_last) = (vec![0.0; k * d], vec![0.0; k * d]);
    problem.ends(first, &last, &mut values)?;
    problem.ends_jacobian(first, &last, &mut slopes, &mut at_last)?;
    for (row, out) in at_last.chunks(d).zip(slopes.chunks_mut(d)) {
        for (&b, Φ) in row.iter().zip(Φ.chunks(d)) {
            if b != 0.0 {
                out.iter_mut().zip(Φ).for_each(|(o, Φ)| *o += b * Φ);
            }
        }
    }
    Ok(ShotDerivatives { values, slopes })
}

/// The conditions at a start.
fn values(
    problem: &mut dyn BoundaryProblem,
    first: &[f64],
    tolerance: f64,
) -> Result<Vec<f64>, EvalError> {
    problem.rewind();
    let segment = Segment { range: (0.0, 1.0), tolerance, strict: false, steps: FEW_STEPS };
    let last = segment.state(problem, first)?;
    let mut values = vec![0.0; problem.conditions()];
    problem.ends(first, &last, &mut values)?;
    if values.iter().all(|g| g.is_finite()) { Ok(values) } else { Err(EvalError::NotFinite) }
}

/// The largest condition that the path of a start misses.
///
/// # Errors
///
/// [`EvalError`] if the path cannot be followed.
pub fn shooting_residual(
    problem: &mut dyn BoundaryProblem,
    first: &[f64],
    tolerance: f64,
) -> Result<f64, EvalError> {
    values(problem, first, tolerance).map(|g| largest(&g))
}

/// Moves a start until the conditions are below `goal`, or no better.
///
/// # Errors
///
/// [`EvalError`] if the path of the given start cannot be followed.
pub fn shoot(
    problem: &mut dyn BoundaryProblem,
    first: &[f64],
    goal: f64,
    iterations: usize,
) -> Result<Shot, EvalError> {
    let tolerance = (1e-2 * goal).clamp(1e-13, 1e-6);
    let mut y = first.to_vec();
    let mut here = shot_derivatives(problem, &y, tolerance)?;
    let mut integrations = 1;
    let mut λ = 1e-3 * here.slopes.iter().fold(0.0_f64, |m, e| m.max(e * e));
    for _ in 0..iterations {
        let size = square(&here.values);
        if largest(&here.values) <= goal {
            break;
        }
        let δ = here.damped_step(λ);
        let trial: Vec<f64> = y.iter().zip(&δ).map(|(y, δ)| y + δ).collect();
        integrations += 1;
        let next = values(problem, &trial, tolerance).map_or(f64::INFINITY, |g| square(&g));
        let gain = (size - next) / (size - here.predicted(&δ)).max(1e-300);
        if gain > 1e-4 && next < size {
            let Ok(there) = shot_derivatives(problem, &trial, tolerance) else { break };
            integrations += 1;
            (y, here) = (trial, there);
            λ *= if gain > 0.75 {
                0.1
            } else if gain > 0.25 {
                0.5
            } else {
                2.0
            };
            // No longer worth the effort: it crawls.
            if next > 0.999 * size && largest(&here.values) > 1e3 * goal {
                break;
            }
        } else {
            λ = (8.0 * λ).max(1e-12);
            let shift =
                δ.iter().zip(&y).fold(0.0_f64, |m, (δ, y)| m.max(δ.abs() / (1.0 + y.abs())));
            if shift < 1e-10 {
                break;
            }
        }
    }
    Ok(Shot { first: y, residual: largest(&here.values), integrations })
}

impl ShotDerivatives {
    /// The step of Levenberg and Marquardt.
    fn damped_step(&self, λ: f64) -> Vec<f64> {
        let k = self.values.len();
        let d = self.slopes.len() / k.max(1);
        let mut matrix = self.slopes.clone();
        matrix.resize((k + d) * d, 0.0);
        (0..d).for_each(|i| matrix[(k + i) * d + i] = λ.sqrt());
        let mut right: Vec<f64> = self.values.iter().map(|g| -g).collect();
        right.resize(k + d, 0.0);
        least_squares(&matrix, k + d, d, &right, 1e-14).x
    }

    /// The square of the conditions after a step, if they were linear.
    fn predicted(&self, δ: &[f64]) -> f64 {
        let rows = self.slopes.chunks(δ.len()).zip(&self.values);
        rows.map(|(row, g)| {
            let moved = g + dot_in_order(row, δ);
            moved * moved
        })
        .sum()
    }
}

pub(crate) fn square(values: &[f64]) -> f64 {
    values.iter().map(|g| g * g).sum()
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0_f64, |m, g| if g.is_nan() { f64::INFINITY } else { m.max(g.abs()) })
}
