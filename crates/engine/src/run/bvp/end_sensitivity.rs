//! Derivatives of a motion between given ends: the boundary value problem linearised along the solution.
//!
//! $$ \delta y' = \frac{\partial f}{\partial y}\,\delta y + \frac{\partial f}{\partial p}\,\delta p, \qquad
//!    B_0\,\delta y(0) + B_1\,\delta y(1) = -\frac{\partial B}{\partial p}\,\delta p, \qquad y = (q, p, c, T)
//!    \qquad (\mathrm{LB}) $$
//!
//! It is integrated piece by piece from the nodes of the path, so that what grows on the way does not swamp what
//! decays, and solved for all nodes at once. The derivative of the start then goes through the variational equations
//! of the motion from a given start, as the motion itself does. That the derivatives found there meet the ends is a
//! check of both.

use pfaff_mechanics::Equations;
use pfaff_model::{Principle, Quantity, Workspace};
use pfaff_program::CompileError;
use pfaff_solver::{
    BoundaryPath, BoundaryProblem, EvalError, OdeOptions, StopReason, System, integrate,
    least_squares,
};

use crate::error::Failure;
use crate::motion::Motion;
use crate::motion::verdict::Check;
use crate::problem::settings::{Run, Settings};
use crate::problem::start::Start;
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::canonical::parameters::{EndDirection, ParameterSlopes};
use crate::run::bvp::conditions::Condition;
use crate::run::bvp::search::Candidate;
use crate::run::sensitivity::direction::{
    Direction, Source, directions, given_tangents, parameter_tangents,
};
use crate::run::sensitivity::start::StartTangent;
use crate::run::sensitivity::{Base, Varied, adjoint, derivatives, transition};
use crate::system::compiled::Dynamics;

/// Pieces of the path, at most.
const PIECES: usize = 16;
/// The tolerance of the pieces.
const TOLERANCE: f64 = 1e-13;
/// Singular values below this fraction of the largest belong to what the ends do not determine.
const RANK: f64 = 1e-11;

/// A motion between ends, as it was found and shown.
pub(crate) struct EndsSolution<'a> {
    pub(crate) model: &'a Workspace,
    pub(crate) equations: &'a Equations,
    pub(crate) found: &'a Candidate,
    pub(crate) start: &'a Start,
    /// How many parameters the motions between the ends have.
    pub(crate) family_dimension: usize,
}

/// Adds the derivatives that a run is asked for; `asked` is the run of the motion from its start.
pub(crate) fn add(
    solution: &EndsSolution<'_>,
    problem: &mut Canonical,
    asked: &Run,
    motion: &mut Motion,
) -> Result<(), Failure> {
    let &EndsSolution { model, equations, start, .. } = solution;
    let settings = Settings::new(model, asked)?;
    let dynamics = Dynamics::Saddle(equations.clone());
    let base = Base { model, settings: &settings, dynamics: &dynamics, start };
    if !asked.sensitivities.is_empty() {
        let mut response = responses(solution, problem, asked, &asked.sensitivities)?;
        motion.sensitivities = derivatives(&base, asked.principle, &response.varied, motion)?;
        if problem.conditions.duration.is_none() {
            let ends = response.starts.iter().map(|δy| δy.last().copied());
            motion.sensitivities.iter_mut().zip(ends).for_each(|(s, end)| s.end = end);
        }
        let misses = conditions_missed(problem, &mut response.slopes, motion);
        if let Some(misses) = misses {
            let reason = "the derivatives were integrated from the start alone, and must reach the ends that the \
                linearised boundary value problem gave them";
            let check = Check::new("sensitivities at the ends".into(), misses, 1e-7, reason);
            motion.audit.add(vec![check]);
        }
    }
    if asked.transition {
        let along = |varied: &Varied, motion: &mut Motion| {
            derivatives(&base, asked.principle, varied, motion)
        };
        motion.transition = Some(transition(&base, along, motion)?);
    }
    if let Some(gradient) = &asked.gradient {
        let names = adjoint::names(model, gradient);
        let along = responses(solution, problem, asked, &names)?.varied;
        motion.gradient = Some(adjoint::gradient(&base, gradient, &along, motion)?);
    }
    Ok(())
}

/// How the start of a motion follows what varies.
struct Responses {
    varied: Varied,
    /// Of the canonical state at the start, by direction.
    starts: Vec<Vec<f64>>,
    slopes: ParameterSlopes,
}

/// Solves (LB) for some names.
fn responses(
    solution: &EndsSolution<'_>,
    problem: &mut Canonical,
    asked: &Run,
    names: &[String],
) -> Result<Responses, Failure> {
    let &EndsSolution { model, equations, found, family_dimension, .. } = solution;
    if family_dimension > 0 {
        return Err(Failure::Usage(format!(
            "the motion belongs to a family of {family_dimension} parameter{} between the same ends, so that it has no \
             derivative: give more at the ends",
            if family_dimension == 1 { "" } else { "s" }
        )));
    }
    let t0 = problem.conditions.t0;
    let ending = problem.conditions.duration.map(|d| t0 + d);
    let directions = directions(model, names, (t0, ending))?;
    let changes: Vec<Vec<f64>> =
        directions.iter().map(|d| parameter_tangents(model, d.source)).collect();
    let mut varied = Vec::new();
    for (direction, parameters) in directions.iter().zip(&changes) {
        varied.push(end_direction(model, problem, direction, parameters, t0)?);
    }
    let failed = |e: CompileError| Failure::from(e);
    let mut slopes =
        ParameterSlopes::new(model, equations, problem, varied, asked.chosen_backend())
            .map_err(failed)?;
    problem.branch.clone_from(&found.branch);
    let no_value = |_: EvalError| {
        Failure::usage("the linearised boundary value problem has no finite value on the way")
    };
    let starts = linearised(problem, &mut slopes, &found.path).map_err(no_value)?;
    let Some(starts) = starts else {
        return Err(Failure::usage(
            "the conditions at the ends do not determine how the motion changes: it has no derivative",
        ));
    };
    let first = found.path.first();
    let solved = problem.start_response(&mut slopes, first, &starts).map_err(no_value)?;
    let n = problem.n;
    let tangents = starts
        .iter()
        .zip(&solved)
        .map(|(δy, δx)| StartTangent {
            q: δy[..n].to_vec(),
            v: δx[..n].to_vec(),
            multipliers: if equations.principle == Principle::Vakonomic {
                δx[n..].to_vec()
            } else {
                Vec::new()
            },
        })
        .collect();
    Ok(Responses { varied: Varied { directions, changes, tangents }, starts, slopes })
}

/// Refuses what a motion between these ends cannot be differentiated by, before it is searched for.
pub(crate) fn check(
    model: &Workspace,
    problem: &Canonical,
    request: &Run,
) -> Result<(), Failure> {
    let t0 = problem.conditions.t0;
    let ending = problem.conditions.duration.map(|d| t0 + d);
    let mut by = Vec::new();
    if let Some(gradient) = &request.gradient {
        adjoint::quantity(model, gradient)?;
        if ending.is_none() {
            return Err(Failure::usage(
                "gradients are not available with a free end time: ask for sensitivities",
            ));
        }
        by = adjoint::names(model, gradient);
    }
    let mut all = directions(model, &request.sensitivities, (t0, ending))?;
    all.extend(directions(model, &by, (t0, ending))?);
    for direction in all {
        let parameters = parameter_tangents(model, direction.source);
        end_direction(model, problem, &direction, &parameters, t0)?;
    }
    Ok(())
}

fn end_direction(
    model: &Workspace,
    problem: &Canonical,
    direction: &Direction,
    parameters: &[f64],
    t0: f64,
) -> Result<EndDirection, Failure> {
    let list = &problem.conditions.list;
    let n = problem.n;
    let is_free = |word: &str| {
        Failure::Usage(format!(
            "`{}` is not given at the {word}: it follows from the motion, which cannot be differentiated by it",
            direction.name
        ))
    };
    let solved = |quantity: Quantity| match quantity {
        Quantity::Coordinate(k, 1) => Some(k),
        Quantity::Multiplier(a) => Some(n + a),
        Quantity::Coordinate(..) | Quantity::Time => None,
    };
    match direction.source {
        Source::Parameter(_) => {}
        Source::Initial(quantity) => {
            let is_given = list.iter().any(|condition| match *condition {
                Condition::Start { component, .. } => {
                    quantity == Quantity::Coordinate(component, 0)
                }
                Condition::SolvedStart { index, .. } => solved(quantity) == Some(index),
                _ => false,
            });
            if !is_given {
                return Err(is_free("start"));
            }
        }
        Source::Final(quantity) => {
            let is_given = list.iter().any(|condition| match *condition {
                Condition::End { component, .. } | Condition::Shift { component, .. } => {
                    quantity == Quantity::Coordinate(component, 0)
                }
                Condition::SolvedEnd { index, .. } | Condition::SolvedShift { index, .. } => {
                    solved(quantity) == Some(index)
                }
                _ => false,
            });
            if !is_given {
                return Err(is_free("end"));
            }
        }
    }
    Ok(EndDirection {
        parameters: parameters.to_vec(),
        first: given_tangents(model, direction.source, parameters, t0),
        last: match direction.source {
            Source::Final(quantity) => Some(quantity),
            Source::Parameter(_) | Source::Initial(_) => None,
        },
    })
}

/// The derivative of the state at the start along each direction; none where the ends do not determine it.
fn linearised(
    problem: &mut Canonical,
    slopes: &mut ParameterSlopes,
    path: &BoundaryPath,
) -> Result<Option<Vec<Vec<f64>>>, EvalError> {
    let d = problem.dimension();
    let count = slopes.directions.len();
    let stride = path.intervals().div_ceil(PIECES);
    let mut nodes: Vec<usize> = (0..path.intervals()).step_by(stride).collect();
    nodes.push(path.intervals());
    let pieces = nodes.len() - 1;
    let columns = nodes.len() * d;
    let conditions = problem.conditions();
    let rows = pieces * d + conditions;
    let mut matrix = vec![0.0; rows * columns];
    let mut right = vec![vec![0.0; rows]; count];
    problem.rewind();
    for i in 0..pieces {
        let (a, b) = (nodes[i], nodes[i + 1]);
        let mut start = path.node(a).to_vec();
        for c in 0..d {
            start.extend((0..d).map(|r| f64::from(u8::from(r == c))));
        }
        start.resize(d * (1 + d + count), 0.0);
        let mut varied =
            VariedPath { problem, slopes, jacobian: vec![0.0; d * d], plain: vec![0.0; d] };
        let options = OdeOptions {
            t0: path.mesh[a],
            t1: path.mesh[b],
            tolerance: TOLERANCE,
            absolute: 1.0,
            ..OdeOptions::default()
        };
        let outcome = integrate(&mut varied, &start, &options, &mut ());
        if outcome.stop != StopReason::End {
            return Err(EvalError::NotFinite);
        }
        for r in 0..d {
            let row = &mut matrix[(i * d + r) * columns..][..columns];
            row[(i + 1) * d + r] = 1.0;
            (0..d).for_each(|c| row[i * d + c] -= outcome.y[(1 + c) * d + r]);
            for (k, right) in right.iter_mut().enumerate() {
                right[i * d + r] = outcome.y[(1 + d + k) * d + r];
            }
        }
    }
    let (first, last) = (path.first(), path.last());
    let mut at_first = vec![0.0; conditions * d];
    let mut at_last = vec![0.0; conditions * d];
    let direct = problem.conditions_along(slopes, first, last)?;
    problem.rewind();
    problem.ends_jacobian(first, last, &mut at_first, &mut at_last)?;
    for i in 0..conditions {
        let row = &mut matrix[(pieces * d + i) * columns..][..columns];
        row[..d].copy_from_slice(&at_first[i * d..][..d]);
        let ending = &mut row[pieces * d..];
        ending.iter_mut().zip(&at_last[i * d..][..d]).for_each(|(x, a)| *x += a);
        for (right, direct) in right.iter_mut().zip(&direct) {
            right[pieces * d + i] = -direct[i];
        }
    }
    let mut found = Vec::with_capacity(count);
    for right in &right {
        let solution = least_squares(&matrix, rows, columns, right, RANK);
        let size = right.iter().chain(&solution.x).fold(0.0_f64, |m, x| m.max(x.abs()));
        let is_met = solution.residual <= 1e-8 * size;
        if size > 0.0 && !is_met {
            return Ok(None);
        }
        found.push(solution.x[..d].to_vec());
    }
    Ok(Some(found))
}

/// A piece of the path with its derivatives by the state at its beginning, and along each direction.
struct VariedPath<'a> {
    problem: &'a mut Canonical,
    slopes: &'a mut ParameterSlopes,
    jacobian: Vec<f64>,
    plain: Vec<f64>,
}

impl System for VariedPath<'_> {
    fn dimension(&self) -> usize {
        let d = self.plain.len();
        d * (1 + d + self.slopes.directions.len())
    }

    fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let d = self.plain.len();
        self.problem.jacobian(s, &y[..d], &mut self.plain, &mut self.jacobian)?;
        rates[..d].copy_from_slice(&self.plain);
        for (δy, rates) in y[d..].chunks_exact(d).zip(rates[d..].chunks_exact_mut(d)) {
            for (rate, row) in rates.iter_mut().zip(self.jacobian.chunks_exact(d)) {
                *rate = row.iter().zip(δy).map(|(a, x)| a * x).sum();
            }
        }
        let duration = self.problem.duration(&y[..d]);
        self.problem.add_parameter_rates(self.slopes, duration, &mut rates[d * (1 + d)..]);
        Ok(())
    }
}

/// By how much the derivatives of positions miss what the ends demand, in parts of their largest value.
fn conditions_missed(
    problem: &mut Canonical,
    slopes: &mut ParameterSlopes,
    motion: &Motion,
) -> Option<f64> {
    if motion.t.last() != Some(&motion.stop.t) {
        return None;
    }
    let end = motion.stop.t;
    let data = slopes.data_at(end);
    let mut worst: Option<f64> = None;
    for (k, sensitivity) in motion.sensitivities.iter().enumerate() {
        let series = sensitivity.q.iter().flat_map(|s| &s.values);
        let size = series.filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
        let shift = sensitivity.end.unwrap_or(0.0);
        for condition in problem.conditions.list.clone() {
            let Condition::End { component, datum } = condition else { continue };
            let varied = slopes.directions[k].last == Some(Quantity::Coordinate(component, 0));
            let wanted = data[k][2 * datum] + f64::from(u8::from(varied));
            // NOTE: with a free end time both the motion and a moving end go on by δT.
            let moved = if shift == 0.0 {
                0.0
            } else {
                let speed = motion.v[component].values.last().copied().unwrap_or(f64::NAN);
                shift * (speed - problem.datum(end, datum).1)
            };
            let found = sensitivity.q[component].values.last().copied().unwrap_or(f64::NAN);
            let apart = (found + moved - wanted).abs();
            let part = if apart == 0.0 { 0.0 } else { apart / size.max(wanted.abs()) };
            worst =
                Some(worst.map_or(part, |w| if part.is_nan() { part } else { w.max(part) }));
        }
    }
    worst
}
