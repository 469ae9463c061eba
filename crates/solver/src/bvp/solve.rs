//! Newton's iteration on a whole path, damped.
//!
//! A step $\delta$ of (BL) is taken to the part $\lambda$ for which the next correction with the same factors
//! is shorter,
//! $|\bar\delta| \le (1 - \lambda/4)\,|\delta|$: a test that does not depend on how equations are scaled
//! (Deuflhard 2011, §3.3). Lengths are in units of $1 + |y|$ along the path.

use crate::bvp::BoundaryProblem;
use crate::bvp::block_system::Blocks;
use crate::bvp::collocation::{Collocation, collocation_residuals};
use crate::bvp::mesh::redistributed;
use crate::bvp::multiple_shooting::Shooting;
use crate::bvp::path::BoundaryPath;
use crate::ode::system::EvalError;

/// How the pieces of a path are tied together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Integrated with the sensitivities of the flow.
    Shooting,
    /// Polynomials with this many Gauss points, order twice as many; the mesh follows the residual.
    Collocation {
        /// Gauss points on each interval.
        stages: usize,
        /// Whether the mesh may change.
        adaptive: bool,
    },
}

/// How to solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundaryOptions {
    /// Which discretisation.
    pub scheme: Scheme,
    /// Local error of integrations, or the residual of polynomials between Gauss points.
    pub tolerance: f64,
    /// Steps of Newton's iteration on one mesh.
    pub iterations: usize,
    /// Intervals that a mesh may have.
    pub intervals: usize,
}

impl Default for BoundaryOptions {
    fn default() -> Self {
        Self { scheme: Scheme::Shooting, tolerance: 1e-13, iterations: 40, intervals: 2000 }
    }
}

/// What became of a path.
#[derive(Clone, Debug)]
pub struct BoundaryReport {
    /// The path, or the best one found.
    pub path: BoundaryPath,
    /// Whether it is a solution.
    pub converged: bool,
    /// Steps of Newton's iteration, on all meshes.
    pub iterations: usize,
    /// The largest of conditions and jumps at nodes, in units of $1 + |y|$.
    pub residual: f64,
    /// The last correction, in units of $1 + |y|$.
    pub correction: f64,
}

/// Corrections below this are rounding.
const ROUNDING: f64 = 1e-13;

/// Corrections below this that stop shrinking count as converged: rounding of sensitivities that grow along the path.
const NEARLY: f64 = 1e-9;

/// Improves a path until it solves the problem, or as far as that is possible.
///
/// # Errors
///
/// [`EvalError`] if the given path itself has no value somewhere.
pub fn solve_boundary(
    problem: &mut dyn BoundaryProblem,
    path: BoundaryPath,
    options: &BoundaryOptions,
) -> Result<BoundaryReport, EvalError> {
    match options.scheme {
        Scheme::Shooting => {
            let tied = Tied::Shooting(Shooting { tolerance: options.tolerance });
            Iteration::new(tied, path).run(problem, options)
        }
        Scheme::Collocation { stages, adaptive } => {
            let mut total = 0;
            let rule = Collocation::new(stages).rule;
            let mut path = path.with_slopes(problem, &rule.points)?;
            let mut rounds = 0;
            loop {
                let tied = Tied::Collocation(Collocation::new(stages));
                let mut report = Iteration::new(tied, path).run(problem, options)?;
                total += report.iterations;
                report.iterations = total;
                rounds += 1;
                if !adaptive || !report.converged {
                    return Ok(report);
                }
                let residuals = collocation_residuals(problem, &report.path, stages)?;
                let worst = residuals.iter().fold(0.0_f64, |m, r| m.max(*r));
                if worst <= options.tolerance {
                    return Ok(report);
                }
                let next = redistributed(
                    &report.path,
                    &residuals,
                    options.tolerance,
                    &rule,
                    options.intervals,
                );
                match next {
                    Some(next) if rounds < 12 => path = next,
                    _ => {
                        report.converged = false;
                        return Ok(report);
                    }
                }
            }
        }
    }
}

enum Tied {
    Shooting(Shooting),
    Collocation(Collocation),
}

struct Iteration {
    tied: Tied,
    path: BoundaryPath,
    blocks: Blocks,
}

impl Iteration {
    fn new(tied: Tied, path: BoundaryPath) -> Self {
        Self { tied, path, blocks: Blocks::default() }
    }

    fn run(
        mut self,
        problem: &mut dyn BoundaryProblem,
        options: &BoundaryOptions,
    ) -> Result<BoundaryReport, EvalError> {
        let (mut λ, mut last) = (1.0_f64, f64::INFINITY);
        let mut iterations = 0;
        loop {
            if let Err(halt) = self.linearise(problem) {
                if iterations == 0 {
                    return Err(halt);
                }
                return Ok(self.report(false, iterations, last));
            }
            let mut factors = self.blocks.factor();
            let δ = factors.solve(&self.blocks.defects, &self.blocks.values);
            let scales = self.path.scales();
            let size = length(&δ, &scales);
            if size <= ROUNDING || (size <= NEARLY && size >= 0.5 * last) {
                let converged = self.residual() <= 1e-8;
                return Ok(self.report(converged, iterations, size));
            }
            last = size;
            if iterations >= options.iterations || !size.is_finite() {
                return Ok(self.report(false, iterations, size));
            }
            iterations += 1;
            let (before, residual) = (self.path.clone(), self.blocks.clone());
            λ = (2.0 * λ).min(1.0);
            loop {
                self.path = self.moved(&before, &δ, λ);
                if self.evaluate(problem).is_ok() {
                    let next = factors.solve(&self.blocks.defects, &self.blocks.values);
                    let shorter = length(&next, &scales);
                    if shorter <= (1.0 - 0.25 * λ) * size || shorter <= ROUNDING {
                        break;
                    }
                }
                λ *= 0.5;
                if λ < 1e-4 {
                    (self.path, self.blocks) = (before, residual);
                    return Ok(self.report(size <= NEARLY, iterations, size));
                }
                self.blocks.defects.clone_from(&residual.defects);
                // NOTE: the slopes of collocation move with the step of the linearisation.
                self.restore(problem, &before)?;
            }
        }
    }

    /// Brings what the scheme keeps of an interval back to the state of the last linearisation.
    fn restore(
        &mut self,
        problem: &mut dyn BoundaryProblem,
        path: &BoundaryPath,
    ) -> Result<(), EvalError> {
        if let Tied::Collocation(c) = &mut self.tied {
            problem.rewind();
            c.defects(problem, path, &mut self.blocks.defects)?;
        }
        Ok(())
    }

    fn moved(&self, from: &BoundaryPath, δ: &[f64], part: f64) -> BoundaryPath {
        let mut path = from.clone();
        path.nodes.iter_mut().zip(δ).for_each(|(y, δ)| *y += part * δ);
        if let Tied::Collocation(c) = &self.tied {
            c.advance(&mut path.slopes, δ, part);
        }
        path
    }

    fn linearise(&mut self, problem: &mut dyn BoundaryProblem) -> Result<(), EvalError> {
        let (d, k) = (problem.dimension(), problem.conditions());
        problem.rewind();
        let blocks = &mut self.blocks;
        (blocks.dimension, blocks.conditions) = (d, k);
        blocks.first.resize(k * d, 0.0);
        blocks.last.resize(k * d, 0.0);
        match &mut self.tied {
            Tied::Shooting(s) => s.linearise(problem, &self.path, blocks)?,
            Tied::Collocation(c) => c.linearise(problem, &self.path, blocks)?,
        }
        let (first, last) = (self.path.first(), self.path.last());
        problem.ends_jacobian(first, last, &mut blocks.first, &mut blocks.last)?;
        self.values(problem)
    }

    fn evaluate(&mut self, problem: &mut dyn BoundaryProblem) -> Result<(), EvalError> {
        problem.rewind();
        match &mut self.tied {
            Tied::Shooting(s) => s.defects(problem, &self.path, &mut self.blocks.defects)?,
            Tied::Collocation(c) => {
                c.defects(problem, &self.path, &mut self.blocks.defects)?;
            }
        }
        self.values(problem)
    }

    fn values(&mut self, problem: &mut dyn BoundaryProblem) -> Result<(), EvalError> {
        self.blocks.values.resize(problem.conditions(), 0.0);
        problem.ends(self.path.first(), self.path.last(), &mut self.blocks.values)
    }

    fn residual(&self) -> f64 {
        let scales = self.path.scales();
        let jumps = length(&self.blocks.defects, &scales);
        self.blocks.values.iter().fold(jumps, |m, g| m.max(g.abs()))
    }

    fn report(self, converged: bool, iterations: usize, correction: f64) -> BoundaryReport {
        let residual = self.residual();
        BoundaryReport { path: self.path, converged, iterations, residual, correction }
    }
}

/// The largest entry in units of the scales; infinite if one is not a number.
fn length(δ: &[f64], scales: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for node in δ.chunks(scales.len()) {
        for (x, s) in node.iter().zip(scales) {
            let size = (x / s).abs();
            worst = if size.is_nan() { f64::INFINITY } else { worst.max(size) };
        }
    }
    worst
}
