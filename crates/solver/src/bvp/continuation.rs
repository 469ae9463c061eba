//! From a start whose path ends elsewhere to one that ends where it should, along a curve of solutions.
//!
//! $$ g(y) = (1 - \lambda)\,g(y_0), \qquad \lambda: 0 \to 1 \qquad (\mathrm{PC}) $$
//!
//! The end conditions themselves are moved from what the first path satisfies to what is wanted. The curve is
//! followed by its length, so that it may turn back in λ.

use crate::bvp::BoundaryProblem;
use crate::bvp::single_shooting::{Shot, largest, shot_derivatives};
use crate::linalg::least_squares::least_squares;
use crate::linalg::singular_values::singular_values;
use crate::ode::system::EvalError;

/// Follows (PC) from a start; the result is a start near a solution if the curve reaches λ = 1.
///
/// # Errors
///
/// [`EvalError`] if the path of the given start cannot be followed.
pub fn continuation(
    problem: &mut dyn BoundaryProblem,
    first: &[f64],
    goal: f64,
    steps: usize,
) -> Result<Shot, EvalError> {
    let tolerance = 1e-8;
    let (d, k) = (first.len(), problem.conditions());
    let start = shot_derivatives(problem, first, tolerance)?;
    let offset = start.values.clone();
    let mut integrations = 1;
    let mut x: Vec<f64> = first.iter().copied().chain([0.0]).collect();
    let mut slopes = start.slopes;
    let mut tangent: Vec<f64> = (0..=d).map(|i| f64::from(u8::from(i == d))).collect();
    let mut length = 0.1;
    let mut best = Shot { first: first.to_vec(), residual: largest(&offset), integrations };
    'steps: for _ in 0..steps {
        // ∂(g − (1 − λ) g₀) = [E g₀]
        let border = |slopes: &[f64]| -> Vec<f64> {
            slopes
                .chunks(d)
                .zip(&offset)
                .flat_map(|(row, g)| row.iter().copied().chain([*g]))
                .collect()
        };
        let kernel = singular_values(&border(&slopes), k, d + 1);
        let Some(next) = kernel.directions.last() else { break };
        let along: f64 = next.iter().zip(&tangent).map(|(a, b)| a * b).sum();
        tangent = next.iter().map(|t| t * 1.0_f64.copysign(along)).collect();
        loop {
            if length < 1e-6 {
                break 'steps;
            }
            let mut trial: Vec<f64> =
                x.iter().zip(&tangent).map(|(x, t)| x + length * t).collect();
            // The last step lands on λ = 1.
            let landing = trial[d] >= 1.0;
            if landing {
                let part = (1.0 - x[d]) / (trial[d] - x[d]);
                trial = x.iter().zip(&tangent).map(|(x, t)| x + part * length * t).collect();
            }
            match corrected(problem, &mut trial, &offset, tolerance, landing) {
                Some((there, rounds)) => {
                    integrations += rounds;
                    x = trial;
                    slopes = there;
                    if rounds <= 2 {
                        length *= 1.7;
                    }
                    break;
                }
                None => {
                    integrations += 3;
                    length *= 0.4;
                }
            }
        }
        let left = (1.0 - x[d]) * largest(&offset);
        if left.abs() < best.residual {
            best = Shot { first: x[..d].to_vec(), residual: left.abs(), integrations };
        }
        best.integrations = integrations;
        if (1.0 - x[d]).abs() < 1e-12 || left.abs() <= goal {
            break;
        }
    }
    Ok(best)
}

/// Back onto the curve; the derivatives there and the rounds it took, or none if it does not come back. At
/// the landing λ stays.
fn corrected(
    problem: &mut dyn BoundaryProblem,
    x: &mut [f64],
    offset: &[f64],
    tolerance: f64,
    landing: bool,
) -> Option<(Vec<f64>, usize)> {
    let d = x.len() - 1;
    let mut last = f64::INFINITY;
    for round in 1..=6 {
        let there = shot_derivatives(problem, &x[..d], tolerance).ok()?;
        let errors: Vec<f64> =
            there.values.iter().zip(offset).map(|(g, o)| (1.0 - x[d]) * o - g).collect();
        let size = largest(&errors);
        if size <= 1e-7 * (1.0 + largest(offset)) {
            return Some((there.slopes, round));
        }
        if size > 0.7 * last {
            return None;
        }
        last = size;
        let columns = if landing { d } else { d + 1 };
        let matrix: Vec<f64> = there
            .slopes
            .chunks(d)
            .zip(offset)
            .flat_map(|(row, o)| row.iter().copied().chain([*o]).take(columns))
            .collect();
        let δ = least_squares(&matrix, errors.len(), columns, &errors, 1e-10).x;
        x.iter_mut().zip(&δ).for_each(|(x, δ)| *x += δ);
    }
    None
}
