//! One motion between the ends, with what is known of it.

use pfaff_mechanics::{Equations, Principle};
use pfaff_model::Workspace;
use pfaff_solver::{
    BoundaryOptions, BoundaryPath, BoundaryProblem, EvalError, Scheme, StopReason, System,
    flow_map, integrate, solve_boundary,
};

use crate::motion::solution::Solution;
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::search::Candidate;
use crate::run::bvp::second_variation::second;
use crate::run::bvp::solution_family::family;

/// What is known of a path.
pub(crate) fn solution(
    model: &Workspace,
    equations: &Equations,
    problem: &mut Canonical,
    found: &Candidate,
) -> Result<Solution, EvalError> {
    problem.branch.clone_from(&found.branch);
    let first = found.path.first();
    let along = flow_map(problem, first, 1e-13)?;
    let family = family(problem, &along, first)?;
    let second = second(problem, &along, first)?;
    let t0 = problem.conditions.t0;
    let duration = problem.duration(first);
    let action = action(problem, &found.path)?;
    problem.rewind();
    let (v, μ) = problem.velocities(t0, first)?;
    let n = problem.n;
    let named = |values: &[f64]| {
        model.coordinates.iter().map(|c| c.name.clone()).zip(values.iter().copied()).collect()
    };
    let mu0 = model.constraints.iter().map(|c| c.name.clone()).zip(μ).collect();
    // First integrals of the constraints make multipliers not unique on every path.
    let integrals = if family.hidden == 0 || equations.principle != Principle::Vakonomic {
        family.hidden
    } else {
        pfaff_mechanics::first_integrals(model, equations).unwrap_or(family.hidden)
    };
    Ok(Solution {
        action,
        mu0,
        q0: named(&first[..n]),
        v0: named(&v),
        p0: named(&first[n..2 * n]),
        t1: t0 + duration,
        residual: found.residual,
        family_dimension: family.dimension,
        conjugate: second
            .conjugate
            .map(|places| places.into_iter().map(|s| t0 + s * duration).collect()),
        minimum: second.minimum,
        abnormal: family.hidden > integrals,
        agreement: None,
        error: None,
    })
}

/// $\int L\,dt$ along a path, piece by piece from its nodes.
fn action(problem: &mut Canonical, path: &BoundaryPath) -> Result<f64, EvalError> {
    let mut sum = 0.0;
    problem.rewind();
    for i in 0..path.intervals() {
        let mut acted = Acted { problem };
        let y = [path.node(i), &[0.0]].concat();
        let options = pfaff_solver::OdeOptions {
            t0: path.mesh[i],
            t1: path.mesh[i + 1],
            tolerance: 1e-14,
            absolute: 1.0,
            ..pfaff_solver::OdeOptions::default()
        };
        let outcome = integrate(&mut acted, &y, &options, &mut ());
        if outcome.stop != StopReason::End {
            return Err(EvalError::NotFinite);
        }
        sum += outcome.y.last().copied().unwrap_or(f64::NAN);
    }
    Ok(sum)
}

/// A path with its action as the last component.
struct Acted<'a> {
    problem: &'a mut Canonical,
}

impl System for Acted<'_> {
    fn dimension(&self) -> usize {
        self.problem.dimension() + 1
    }

    fn rates(&mut self, s: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        let d = self.problem.dimension();
        self.problem.rates(s, &y[..d], &mut rates[..d])?;
        let t = self.problem.time(s, y);
        rates[d] = self.problem.duration(&y[..d]) * self.problem.lagrangian(t, &y[..d])?;
        Ok(())
    }
}

/// How far the solution of the other method is away at the nodes.
pub(crate) fn agreement(problem: &mut Canonical, path: &BoundaryPath) -> Option<f64> {
    let (scheme, tolerance) = if path.slopes.is_empty() {
        (Scheme::Collocation { stages: 5, adaptive: true }, 1e-8)
    } else {
        (Scheme::Shooting, 1e-13)
    };
    let options = BoundaryOptions { scheme, tolerance, ..BoundaryOptions::default() };
    let d = problem.dimension();
    let along = flow_map(problem, path.first(), 1e-10).ok()?;
    // Polynomials need more nodes than integrations to begin with.
    let pieces = if path.slopes.is_empty() { 64 } else { 8 };
    let start = BoundaryPath::even(pieces, &mut |s| {
        along.trajectory.state(s).map_or_else(|| along.last.clone(), |y| y[..d].to_vec())
    });
    let other = solve_boundary(problem, start, &options).ok().filter(|r| r.converged)?;
    let n = problem.n;
    // NOTE: momenta may be undetermined; positions are what both must give.
    let pairs = [(path.first(), other.path.first()), (path.last(), other.path.last())];
    let middle =
        places(problem, path.first())?.into_iter().zip(places(problem, other.path.first())?);
    let distance = |m: f64, (a, b): (f64, f64)| m.max((a - b).abs() / (1.0 + a.abs()));
    let ends = pairs.iter().flat_map(|(a, b)| (0..n).map(|k| (a[k], b[k])));
    Some(middle.chain(ends).fold(0.0, distance))
}

/// Positions at some places of the path from a start.
fn places(problem: &mut Canonical, first: &[f64]) -> Option<Vec<f64>> {
    let n = problem.n;
    let along = flow_map(problem, first, 1e-12).ok()?;
    let mut places = Vec::new();
    for i in 1..8 {
        places.extend_from_slice(&along.trajectory.state(f64::from(i) / 8.0)?[..n]);
    }
    Some(places)
}
