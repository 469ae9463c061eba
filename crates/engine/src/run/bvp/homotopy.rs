//! Continuation in a parameter: motions between ends that are easy to find, led to those that are asked for.
//!
//! Parameters go from given values to those of the model, all together. Each step begins at the path of the
//! one before, moved on along the secant, and is shortened where Newton's iteration does not converge.

use pfaff_mechanics::Equations;
use pfaff_model::Workspace;
use pfaff_solver::{BoundaryOptions, BoundaryPath, Scheme, solve_boundary};

use crate::error::Failure;

use crate::problem::settings::Run;
use crate::run::bvp::canonical::Canonical;
use crate::run::bvp::conditions::conditions;
use crate::run::bvp::search::{Begin, search};
use crate::run::bvp::search_budget::SearchBudget;
use crate::run::bvp::units::Units;

/// The first step, as a part of the way, and the shortest one.
const STEPS: [f64; 2] = [0.1, 1e-3];
/// Motions that are led.
const LED: usize = 6;

/// The paths that arrive at the value of the model, with their branches.
pub(crate) fn homotopy(
    model: &Workspace,
    equations: &Equations,
    request: &Run,
    units: &Units,
    budget: &mut SearchBudget<'_>,
) -> Result<Vec<(Begin, Vec<f64>)>, Failure> {
    // Index, first and last value.
    let mut ranges = Vec::new();
    for (name, from) in &request.lead {
        let Some(k) = model.parameters.iter().position(|p| p.name == *name) else {
            let names: Vec<&str> = model.parameters.iter().map(|p| p.name.as_str()).collect();
            let has = if names.is_empty() { "none".into() } else { names.join(", ") };
            let message = format!("there is no parameter `{name}`; the model has {has}");
            return Err(Failure::Usage(message));
        };
        ranges.push((k, *from, model.parameters[k].value));
    }
    let mut moved = model.clone();
    let mut problem_at = |part: f64| -> Result<Canonical, Failure> {
        for (k, from, to) in &ranges {
            moved.parameters[*k].value = from + part * (to - from);
        }
        let conditions = conditions(&moved, equations, request).map_err(Failure::Model)?;
        let backend = request.chosen_backend();
        Canonical::new(&moved, equations, conditions, units.clone(), backend)
            .map_err(Failure::from)
    };
    let mut problem = problem_at(0.0)?;
    let begun = search(&mut problem, Scheme::Shooting, Vec::new(), budget);
    let mut arrived = Vec::new();
    for found in begun.paths.into_iter().take(LED) {
        let (mut path, mut before): (BoundaryPath, Option<(BoundaryPath, f64)>) =
            (found.path, None);
        let (mut part, mut step) = (0.0_f64, STEPS[0]);
        while part < 1.0 && step >= STEPS[1] && !budget.is_over(begun.integrations) {
            let next = if part + 1.01 * step >= 1.0 { 1.0 } else { part + step };
            let mut problem = problem_at(next)?;
            problem.branch.clone_from(&found.branch);
            let mut trial = path.clone();
            if let Some((old, at)) = &before {
                let ahead = (next - part) / (part - at);
                let pairs = trial.nodes.iter_mut().zip(&old.nodes);
                pairs.for_each(|(y, y0)| *y += ahead * (*y - y0));
            }
            let options = BoundaryOptions {
                tolerance: 1e-9,
                iterations: 12,
                ..BoundaryOptions::default()
            };
            match solve_boundary(&mut problem, trial, &options) {
                Ok(report) if report.converged => {
                    before = Some((std::mem::replace(&mut path, report.path), part));
                    part = next;
                    step *= 1.5;
                }
                _ => step *= 0.5,
            }
        }
        if part >= 1.0 {
            arrived.push(((path, false), found.branch));
        }
    }
    Ok(arrived)
}
