//! One motion between the ends, with what is known of it.

use pfaff_mechanics::{Equations, Principle};
use pfaff_model::Workspace;
use pfaff_solver::{
    BoundaryPath, BoundaryProblem, EvalError, StopReason, System, flow_map, integrate,
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
    let (n, units) = (problem.n, &problem.units);
    let named = |values: &[f64], unit: &dyn Fn(usize) -> f64| {
        let names = model.coordinates.iter().map(|c| c.name.clone());
        names.zip(values.iter().enumerate().map(|(k, x)| x * unit(k))).collect()
    };
    let μ = μ.iter().enumerate().map(|(a, μ)| μ * units.multiplier(a));
    let mu0 = model.constraints.iter().map(|c| c.name.clone()).zip(μ).collect();
    // First integrals of the constraints make multipliers not unique on every path.
    let integrals = if family.hidden == 0 || equations.principle != Principle::Vakonomic {
        family.hidden
    } else {
        pfaff_mechanics::first_integrals(model, equations).unwrap_or(family.hidden)
    };
    Ok(Solution {
        action: units.action * action,
        mu0,
        q0: named(&first[..n], &|k| units.lengths[k]),
        v0: named(&v, &|k| units.velocity(k)),
        p0: named(&first[n..2 * n], &|k| units.momentum(k)),
        t1: units.time * (t0 + duration),
        residual: found.residual,
        family_dimension: family.dimension,
        conjugate: second.conjugate.map(|places| {
            places.into_iter().map(|s| units.time * (t0 + s * duration)).collect()
        }),
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
