//! Multiple shooting: the pieces of a path are integrated, together with the sensitivities of their flow.
//!
//! $$ y' = f(s, y), \qquad \Phi' = \frac{\partial f}{\partial y}\,\Phi, \quad \Phi(s_i) = 1 \qquad (\mathrm{VE}) $$
//!
//! so that $G_i = \Phi(s_{i+1})$ and $r_i = y(s_{i+1}; y_i) - y_{i+1}$ in (BL).

use crate::bvp::BoundaryProblem;
use crate::bvp::block_system::{BlockSystem, identity};
use crate::bvp::path::BoundaryPath;
use crate::ode::integrate::integrate;
use crate::ode::observer::Observer;
use crate::ode::options::{OdeOptions, StopReason};
use crate::ode::system::{EvalError, System};
use crate::ode::trajectory::Trajectory;

/// States and sensitivities along a whole path.
#[derive(Clone, Debug)]
pub struct FlowMap {
    /// Rows of $(y, \Phi)$ as a function of $s$, $\Phi$ by rows with $\Phi(0) = 1$.
    pub trajectory: Trajectory,
    /// $y(1)$
    pub last: Vec<f64>,
    /// $\Phi(1)$
    pub sensitivity: Vec<f64>,
}

/// The flow from a start over the whole range, with its sensitivities.
///
/// # Errors
///
/// [`EvalError`] if the path cannot be followed to its end.
pub fn flow_map(
    problem: &mut dyn BoundaryProblem,
    first: &[f64],
    tolerance: f64,
) -> Result<FlowMap, EvalError> {
    problem.rewind();
    let mut trajectory = Trajectory::default();
    let segment = Segment { range: (0.0, 1.0), tolerance, strict: true, steps: MOST_STEPS };
    let (last, sensitivity) = segment.varied(problem, first, &mut trajectory)?;
    Ok(FlowMap { trajectory, last, sensitivity })
}

/// A segment of a path to be integrated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) range: (f64, f64),
    pub(crate) tolerance: f64,
    /// Whether the sensitivities obey the tolerance too.
    pub(crate) strict: bool,
    /// Steps that it may take.
    pub(crate) steps: usize,
}

/// Steps that one segment may take: a path that needs more is lost.
pub(crate) const MOST_STEPS: usize = 20_000;
/// Steps that a path may take in a search: what turns so often is not looked for.
pub(crate) const FEW_STEPS: usize = 150;

impl Segment {
    fn options(&self) -> OdeOptions {
        OdeOptions {
            t0: self.range.0,
            t1: self.range.1,
            tolerance: self.tolerance,
            // NOTE: sensitivities begin as zeros and ones.
            absolute: 1.0,
            max_steps: self.steps,
            ..OdeOptions::default()
        }
    }

    /// The state at the end.
    pub(crate) fn state(
        &self,
        problem: &mut dyn BoundaryProblem,
        y: &[f64],
    ) -> Result<Vec<f64>, EvalError> {
        let outcome = integrate(&mut Plain { problem }, y, &self.options(), &mut ());
        ended(outcome.stop).map(|()| outcome.y)
    }

    /// The state and the sensitivity at the end.
    pub(crate) fn varied(
        &self,
        problem: &mut dyn BoundaryProblem,
        y: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<f64>, Vec<f64>), EvalError> {
        let d = y.len();
        let start = [y, &identity(d)].concat();
        let jacobian = vec![0.0; d * d];
        let mut system = Varied { problem, jacobian, strict: self.strict };
        let mut outcome = integrate(&mut system, &start, &self.options(), observer);
        ended(outcome.stop)?;
        let sensitivity = outcome.y.split_off(d);
        Ok((outcome.y, sensitivity))
    }
}

fn ended(stop: StopReason) -> Result<(), EvalError> {
    match stop {
        StopReason::End => Ok(()),
        StopReason::Singular => Err(EvalError::Singular),
        _ => Err(EvalError::NotFinite),
    }
}

/// $y$ alone.
struct Plain<'a> {
    problem: &'a mut dyn BoundaryProblem,
}

impl System for Plain<'_> {
    fn dimension(&self) -> usize {
        self.problem.dimension()
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        self.problem.rates(t, y, rates)
    }
}

/// (VE)
struct Varied<'a> {
    problem: &'a mut dyn BoundaryProblem,
    jacobian: Vec<f64>,
    strict: bool,
}

impl System for Varied<'_> {
    fn dimension(&self) -> usize {
        let d = self.problem.dimension();
        d + d * d
    }

    fn controlled(&self) -> usize {
        if self.strict { self.dimension() } else { self.problem.dimension() }
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let d = self.problem.dimension();
        let (state, Φ) = y.split_at(d);
        let (moved, turned) = rates.split_at_mut(d);
        self.problem.jacobian(t, state, moved, &mut self.jacobian)?;
        turned.fill(0.0);
        for (row, out) in self.jacobian.chunks(d).zip(turned.chunks_mut(d)) {
            for (&j, Φ) in row.iter().zip(Φ.chunks(d)) {
                if j != 0.0 {
                    out.iter_mut().zip(Φ).for_each(|(o, Φ)| *o += j * Φ);
                }
            }
        }
        Ok(())
    }
}

/// The scheme of multiple shooting.
pub(crate) struct Shooting {
    pub(crate) tolerance: f64,
    /// Steps that one piece may take.
    pub(crate) steps: usize,
}

impl Shooting {
    fn segment(&self, path: &BoundaryPath, i: usize) -> Segment {
        let range = (path.mesh[i], path.mesh[i + 1]);
        Segment { range, tolerance: self.tolerance, strict: true, steps: self.steps }
    }

    pub(crate) fn linearise(
        &mut self,
        problem: &mut dyn BoundaryProblem,
        path: &BoundaryPath,
        blocks: &mut BlockSystem,
    ) -> Result<(), EvalError> {
        blocks.transitions.clear();
        blocks.defects.clear();
        for i in 0..path.intervals() {
            let (y, Φ) = self.segment(path, i).varied(problem, path.node(i), &mut ())?;
            blocks.defects.extend(y.iter().zip(path.node(i + 1)).map(|(a, b)| a - b));
            blocks.transitions.push(Φ);
        }
        Ok(())
    }

    pub(crate) fn defects(
        &mut self,
        problem: &mut dyn BoundaryProblem,
        path: &BoundaryPath,
        defects: &mut Vec<f64>,
    ) -> Result<(), EvalError> {
        defects.clear();
        for i in 0..path.intervals() {
            let y = self.segment(path, i).state(problem, path.node(i))?;
            defects.extend(y.iter().zip(path.node(i + 1)).map(|(a, b)| a - b));
        }
        Ok(())
    }
}
