//! Newton's iteration on a whole path, damped.
//!
//! A step $\delta$ of (BL) is taken to the part $\lambda$ for which the next correction with the same factors
//! is shorter,
//! $|\bar\delta| \le (1 - \lambda/4)\,|\delta|$: a test that does not depend on how equations are scaled
//! (Deuflhard 2011, §3.3). Lengths are in units of $1 + |y|$ along the path.

use crate::bvp::BoundaryProblem;
use crate::bvp::block_system::{BlockSystem, Factors};
use crate::bvp::collocation::{Collocation, collocation_residuals};
use crate::bvp::mesh::redistributed;
use crate::bvp::multiple_shooting::{MOST_STEPS, Shooting};
use crate::bvp::path::BoundaryPath;
use crate::newton::{
    Advance, Damping, FirstPart, NewtonProblem, NewtonRule, SizeTest, Stall, newton,
};
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
    /// Steps that one piece of a path may take where it is integrated.
    pub steps: usize,
}

impl Default for BoundaryOptions {
    fn default() -> Self {
        Self {
            scheme: Scheme::Shooting,
            tolerance: 1e-13,
            iterations: 40,
            intervals: 2000,
            steps: MOST_STEPS,
        }
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

/// The stopping rule: corrections below 1e-9 that stop shrinking count as converged, since sensitivities that
/// grow along the path amplify rounding.
const RULE: NewtonRule = NewtonRule {
    converged: ROUNDING,
    stall: Some(Stall { below: 1e-9, ratio: 0.5, after: 0 }),
    test: SizeTest::BeforeStep,
    damping: Damping::Halving { smallest: 1e-4, first: FirstPart::TwiceTheLast },
    ..NewtonRule::DEFAULT
};

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
            let tied =
                Tied::Shooting(Shooting { tolerance: options.tolerance, steps: options.steps });
            PathEquations::new(problem, tied, path).solve(options)
        }
        Scheme::Collocation { stages, adaptive } => {
            let mesh = MeshOptions { stages, adaptive };
            collocate(problem, path, options, mesh)
        }
    }
}

/// Meshes that are tried.
const ROUNDS: usize = 12;

/// The fields of [`Scheme::Collocation`].
struct MeshOptions {
    stages: usize,
    adaptive: bool,
}

/// Collocation on meshes that follow the residual.
fn collocate(
    problem: &mut dyn BoundaryProblem,
    path: BoundaryPath,
    options: &BoundaryOptions,
    mesh: MeshOptions,
) -> Result<BoundaryReport, EvalError> {
    let MeshOptions { stages, adaptive } = mesh;
    let mut total = 0;
    let scheme = Collocation::new(stages).scheme;
    let mut path = path.with_slopes(problem, scheme.points())?;
    for round in 1.. {
        let tied = Tied::Collocation(Collocation::new(stages));
        let mut report = PathEquations::new(problem, tied, path).solve(options)?;
        total += report.iterations;
        report.iterations = total;
        if !adaptive || !report.converged {
            return Ok(report);
        }
        let residuals = collocation_residuals(problem, &report.path, stages)?;
        let worst = residuals.iter().fold(0.0_f64, |m, r| m.max(*r));
        if worst <= options.tolerance {
            return Ok(report);
        }
        let (tolerance, most) = (options.tolerance, options.intervals);
        match redistributed(&report.path, &residuals, tolerance, &scheme, most) {
            Some(next) if round < ROUNDS => path = next,
            _ => {
                report.converged = false;
                return Ok(report);
            }
        }
    }
    unreachable!("the last round returns")
}

enum Tied {
    Shooting(Shooting),
    Collocation(Collocation),
}

/// The equations (BL) of a whole path, for Newton's iteration.
struct PathEquations<'a> {
    problem: &'a mut dyn BoundaryProblem,
    tied: Tied,
    path: BoundaryPath,
    blocks: BlockSystem,
    /// What the present step was computed from.
    before: Option<Linearised>,
    /// The length of the present step.
    size: f64,
}

/// A linearised path and its step.
struct Linearised {
    path: BoundaryPath,
    blocks: BlockSystem,
    factors: Factors,
    scales: Vec<f64>,
    δ: Vec<f64>,
}

impl NewtonProblem for PathEquations<'_> {
    type Error = EvalError;

    fn linearise(&mut self) -> Result<f64, EvalError> {
        if let Err(error) = self.evaluate_derivatives() {
            // Only the given path must have a value: from another one there is just no further step.
            return if self.before.is_none() { Err(error) } else { Ok(f64::INFINITY) };
        }
        let mut factors = self.blocks.factor();
        let δ = factors.solve(&self.blocks.defects, &self.blocks.values);
        let scales = self.path.scales();
        self.size = length(&δ, &scales);
        let (path, blocks) = (self.path.clone(), self.blocks.clone());
        self.before = Some(Linearised { path, blocks, factors, scales, δ });
        Ok(self.size)
    }

    fn advance(&mut self, part: f64) -> Result<Advance, EvalError> {
        let mut before = self.before.take().expect("a step follows a linearisation");
        self.path = self.moved(&before, part);
        let mut accepted = false;
        if self.evaluate().is_ok() {
            let next = before.factors.solve(&self.blocks.defects, &self.blocks.values);
            let shorter = length(&next, &before.scales);
            accepted = shorter <= (1.0 - 0.25 * part) * self.size || shorter <= ROUNDING;
        }
        if !accepted {
            self.path.clone_from(&before.path);
            self.blocks.clone_from(&before.blocks);
            // NOTE: the slopes of collocation move with the step of the linearisation.
            self.restore()?;
            self.blocks.defects.clone_from(&before.blocks.defects);
        }
        self.before = Some(before);
        Ok(if accepted { Advance::Taken(self.size) } else { Advance::Refused })
    }
}

impl<'a> PathEquations<'a> {
    fn new(problem: &'a mut dyn BoundaryProblem, tied: Tied, path: BoundaryPath) -> Self {
        let blocks = BlockSystem::default();
        Self { problem, tied, path, blocks, before: None, size: f64::INFINITY }
    }

    fn solve(mut self, options: &BoundaryOptions) -> Result<BoundaryReport, EvalError> {
        let rule = NewtonRule { steps: options.iterations, ..RULE };
        let report = newton(&mut self, &rule)?;
        let residual = self.residual();
        // A refused step at rounding leaves the path as it is, however large its residual.
        let converged = report.converged && (residual <= 1e-8 || report.refused);
        let iterations = report.steps + usize::from(report.refused);
        let correction = self.size;
        Ok(BoundaryReport { path: self.path, converged, iterations, residual, correction })
    }

    /// Brings what the scheme keeps of an interval back to the state of the last linearisation.
    fn restore(&mut self) -> Result<(), EvalError> {
        if let Tied::Collocation(c) = &mut self.tied {
            self.problem.rewind();
            c.defects(self.problem, &self.path, &mut self.blocks.defects)?;
        }
        Ok(())
    }

    fn moved(&self, from: &Linearised, part: f64) -> BoundaryPath {
        let mut path = from.path.clone();
        path.nodes.iter_mut().zip(&from.δ).for_each(|(y, δ)| *y += part * δ);
        if let Tied::Collocation(c) = &self.tied {
            c.advance(&mut path.slopes, &from.δ, part);
        }
        path
    }

    /// The blocks of (BL) at the path.
    fn evaluate_derivatives(&mut self) -> Result<(), EvalError> {
        let Self { problem, blocks, path, .. } = self;
        let (d, k) = (problem.dimension(), problem.conditions());
        problem.rewind();
        (blocks.dimension, blocks.conditions) = (d, k);
        blocks.first.resize(k * d, 0.0);
        blocks.last.resize(k * d, 0.0);
        match &mut self.tied {
            Tied::Shooting(s) => s.linearise(*problem, path, blocks)?,
            Tied::Collocation(c) => c.linearise(*problem, path, blocks)?,
        }
        let (first, last) = (path.first(), path.last());
        problem.ends_jacobian(first, last, &mut blocks.first, &mut blocks.last)?;
        self.evaluate_ends()
    }

    /// The right sides of (BL) at the path.
    fn evaluate(&mut self) -> Result<(), EvalError> {
        let Self { problem, blocks, path, .. } = self;
        problem.rewind();
        match &mut self.tied {
            Tied::Shooting(s) => s.defects(*problem, path, &mut blocks.defects)?,
            Tied::Collocation(c) => c.defects(*problem, path, &mut blocks.defects)?,
        }
        self.evaluate_ends()
    }

    fn evaluate_ends(&mut self) -> Result<(), EvalError> {
        self.blocks.values.resize(self.problem.conditions(), 0.0);
        self.problem.ends(self.path.first(), self.path.last(), &mut self.blocks.values)
    }

    fn residual(&self) -> f64 {
        let scales = self.path.scales();
        let jumps = length(&self.blocks.defects, &scales);
        self.blocks.values.iter().fold(jumps, |m, g| m.max(g.abs()))
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
