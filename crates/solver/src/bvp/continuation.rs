//! From a start whose path ends elsewhere to one that ends where it should, along a curve of solutions.
//!
//! $$ g(y) = (1 - \lambda)\,g(y_0), \qquad \lambda: 0 \to 1 \qquad (\mathrm{PC}) $$
//!
//! The end conditions themselves are moved from what the first path satisfies to what is wanted. The curve is
//! followed by its length, so that it may turn back in λ.

use crate::bvp::BoundaryProblem;
use crate::bvp::single_shooting::{Shot, largest, shot_derivatives};
use crate::linalg::dot::dot_in_order;
use crate::linalg::least_squares::least_squares;
use crate::linalg::singular_values::singular_values;
use crate::newton::{Advance, NewtonProblem, NewtonRule, SizeTest, newton};
use crate::ode::system::EvalError;

/// Local error of the integrations.
const TOLERANCE: f64 = 1e-8;
/// The shortest step along the curve.
const SHORTEST: f64 = 1e-6;

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
    let mut curve = SolutionCurve::new(problem, first)?;
    let mut best = curve.shot();
    for _ in 0..steps {
        if !curve.step() {
            break;
        }
        let here = curve.shot();
        best.integrations = here.integrations;
        if here.residual < best.residual {
            best = here.clone();
        }
        let arrived = (1.0 - curve.λ()).abs() < 1e-12;
        if arrived || here.residual <= goal {
            break;
        }
    }
    Ok(best)
}

/// The curve (PC), and where it is followed.
struct SolutionCurve<'a> {
    problem: &'a mut dyn BoundaryProblem,
    /// $g(y_0)$
    offset: Vec<f64>,
    /// $(y, \lambda)$
    x: Vec<f64>,
    /// $E$ there
    slopes: Vec<f64>,
    tangent: Vec<f64>,
    /// Length of the next step.
    length: f64,
    integrations: usize,
}

impl<'a> SolutionCurve<'a> {
    fn new(problem: &'a mut dyn BoundaryProblem, first: &[f64]) -> Result<Self, EvalError> {
        let d = first.len();
        let start = shot_derivatives(problem, first, TOLERANCE)?;
        Ok(Self {
            problem,
            offset: start.values,
            x: first.iter().copied().chain([0.0]).collect(),
            slopes: start.slopes,
            tangent: (0..=d).map(|i| f64::from(u8::from(i == d))).collect(),
            length: 0.1,
            integrations: 1,
        })
    }

    fn λ(&self) -> f64 {
        self.x[self.x.len() - 1]
    }

    /// The present start, and what is left of the conditions there.
    fn shot(&self) -> Shot {
        let residual = ((1.0 - self.λ()) * largest(&self.offset)).abs();
        let first = self.x[..self.x.len() - 1].to_vec();
        Shot { first, residual, integrations: self.integrations }
    }

    /// A step along the tangent and back onto the curve; says whether there is one.
    fn step(&mut self) -> bool {
        let d = self.x.len() - 1;
        // ∂(g − (1 − λ) g₀) = [E g₀]
        let border = bordered(&self.slopes, &self.offset, d + 1);
        let kernel = singular_values(&border, self.offset.len(), d + 1);
        let Some(next) = kernel.directions.last() else { return false };
        let along = dot_in_order(next, &self.tangent);
        self.tangent = next.iter().map(|t| t * 1.0_f64.copysign(along)).collect();
        while self.length >= SHORTEST {
            let mut trial = self.ahead(self.length);
            // The last step lands on λ = 1.
            let landing = trial[d] >= 1.0;
            if landing {
                trial = self.ahead((1.0 - self.λ()) / (trial[d] - self.λ()) * self.length);
            }
            if self.correct(trial, landing) {
                return true;
            }
            self.integrations += 3;
            self.length *= 0.4;
        }
        false
    }

    /// A point on the tangent.
    fn ahead(&self, length: f64) -> Vec<f64> {
        self.x.iter().zip(&self.tangent).map(|(x, t)| x + length * t).collect()
    }

    /// Brings a trial back onto the curve and goes there, if it comes back.
    fn correct(&mut self, trial: Vec<f64>, landing: bool) -> bool {
        let converged = 1e-7 * (1.0 + largest(&self.offset));
        let rule = NewtonRule {
            steps: 5,
            converged,
            contraction: 0.7,
            test: SizeTest::BeforeStep,
            ..NewtonRule::DEFAULT
        };
        let mut corrector = Corrector {
            problem: self.problem,
            offset: &self.offset,
            x: trial,
            landing,
            slopes: Vec::new(),
            errors: Vec::new(),
        };
        let Ok(report) = newton(&mut corrector, &rule) else { return false };
        if !report.converged {
            return false;
        }
        let Corrector { x, slopes, .. } = corrector;
        (self.x, self.slopes) = (x, slopes);
        let rounds = report.steps + 1;
        self.integrations += rounds;
        if rounds <= 2 {
            self.length *= 1.7;
        }
        true
    }
}

/// Newton's iteration back onto the curve: the shortest step to it. At the landing λ stays.
struct Corrector<'a> {
    problem: &'a mut dyn BoundaryProblem,
    offset: &'a [f64],
    x: Vec<f64>,
    landing: bool,
    slopes: Vec<f64>,
    errors: Vec<f64>,
}

impl NewtonProblem for Corrector<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        let d = self.x.len() - 1;
        let there = shot_derivatives(self.problem, &self.x[..d], TOLERANCE)?;
        let pairs = there.values.iter().zip(self.offset);
        self.errors = pairs.map(|(g, o)| (1.0 - self.x[d]) * o - g).collect();
        self.slopes = there.slopes;
        Ok(largest(&self.errors))
    }

    fn advance(&mut self, part: f64) -> Result<Advance, EvalError> {
        let d = self.x.len() - 1;
        let columns = if self.landing { d } else { d + 1 };
        let matrix = bordered(&self.slopes, self.offset, columns);
        let δ = least_squares(&matrix, self.errors.len(), columns, &self.errors, 1e-10).x;
        self.x.iter_mut().zip(&δ).for_each(|(x, δ)| *x += part * δ);
        Ok(Advance::Taken(0.0))
    }
}

/// $[E\ g_0]$, or its first columns.
fn bordered(slopes: &[f64], offset: &[f64], columns: usize) -> Vec<f64> {
    let rows = slopes.chunks(slopes.len() / offset.len().max(1)).zip(offset);
    rows.flat_map(|(row, o)| row.iter().copied().chain([*o]).take(columns)).collect()
}
