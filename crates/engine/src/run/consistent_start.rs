//! The state in which a run begins, or why there is none.

use pfaff_expr::Expr;
use pfaff_mechanics::{Refusal, derive as derive_equations};
use pfaff_model::{Diagnostic, Principle, Workspace};
use pfaff_solver::EvalError;

use crate::error::Failure;
use crate::motion::note::{Note, brief};
use crate::motion::sample::Sample;
use crate::problem::affine_body;
use crate::problem::dynamics_span;
use crate::problem::initial_multipliers::{StartState, multipliers};
use crate::problem::start::{Given, NoStart, Start, given, refuse_infinite_data, start};
use crate::run::effective_mass::effective_mass_at_start;
use crate::run::singular::quoted;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::kkt::Kkt;

/// A consistent start, or why there is none.
pub(crate) fn begin(
    model: &Workspace,
    dynamics: &Dynamics,
    system: &mut CompiledSystem,
    t0: f64,
) -> Result<Start, Failure> {
    refuse_infinite_data(model, t0).map_err(|d| Failure::Model(vec![d]))?;
    let mut given = given(model, t0);
    let start = begin_from(model, dynamics, system, t0, &given)?;
    if model.hybrid.samplers.is_empty() {
        return Ok(start);
    }
    sample_controls(model, t0, &start, &mut given);
    begin_from(model, dynamics, system, t0, &given)
}

/// The first samples of controls, from the state without them.
fn sample_controls(model: &Workspace, t0: f64, start: &Start, given: &mut Given) {
    let (positions, velocities) = (model.positions(), model.velocities());
    let value = |s: Expr| {
        let at = |list: &[Expr]| list.iter().position(|&x| x == s);
        let parameter = || model.parameters.iter().find(|p| p.symbol == s).map(|p| p.value);
        match (at(&positions), at(&velocities)) {
            (Some(k), _) => start.q[k],
            (_, Some(k)) => start.v[k],
            _ if s == model.time => t0,
            _ => parameter().unwrap_or(f64::NAN),
        }
    };
    for sampler in &model.hybrid.samplers {
        let law = model.graph.evaluate(&[sampler.law], &value)[0];
        given.q[sampler.coordinate] = Some(law);
    }
}

/// A consistent start from other values than those of the model.
pub(crate) fn begin_from(
    model: &Workspace,
    dynamics: &Dynamics,
    system: &mut CompiledSystem,
    t0: f64,
    given: &Given,
) -> Result<Start, Failure> {
    match &mut system.dynamics {
        Compiled::Reduced(_) | Compiled::Saddle(_) => {
            let kkt = match &mut system.dynamics {
                Compiled::Saddle(kkt) => &mut **kkt,
                Compiled::Reduced(reduced) => &mut reduced.kkt,
                Compiled::Ordinary(_) => unreachable!("it is one of the others"),
            };
            // NOTE: the metric of L decides what is small, also where the blocks have only that of L_c.
            let mut plain = None;
            if kkt.principle == Principle::Restricted {
                let refused = |r: Refusal| Failure::Model(vec![r.diagnostic()]);
                let equations = derive_equations(model, Principle::Chetaev).map_err(refused)?;
                plain =
                    Some(Kkt::sketch(model, &equations, kkt.backend).map_err(Failure::from)?);
            }
            let zero: Vec<f64> = given.q.iter().map(|x| x.unwrap_or(0.0)).collect();
            plain.as_mut().unwrap_or(kkt).scale.measure(model, t0, &zero);
            let found = start(model, plain.as_mut().unwrap_or(kkt), t0, given);
            let mistakes =
                affine_body::at_start(model, t0, found.as_ref().map_or(&zero, |s| &s.q));
            if !mistakes.is_empty() {
                return Err(Failure::Model(mistakes));
            }
            let mut start =
                found.map_err(|none| Failure::Model(vec![inconsistent(model, &none)]))?;
            let metric = plain.as_mut().unwrap_or(kkt);
            metric.evaluate(t0, &start.q, &start.v, &vec![0.0; metric.carried]);
            let mistakes = affine_body::kinetic(model, metric);
            if !mistakes.is_empty() {
                return Err(Failure::Model(mistakes));
            }
            if let Dynamics::Saddle(equations) = dynamics {
                let state = StartState { t: t0, q: &start.q, v: &start.v };
                start.multipliers =
                    multipliers(model, equations, given, state).map_err(Failure::Model)?;
            }
            Ok(start)
        }
        Compiled::Ordinary(kkt) => {
            let zero = |x: &[Option<f64>]| x.iter().map(|x| x.unwrap_or(0.0)).collect();
            let mut notes = Vec::new();
            for (k, coordinate) in model.coordinates.iter().enumerate() {
                if kkt.orders[k] == 1 && given.v[k].is_some() {
                    notes.push(Note::Remark(format!(
                        "initial {0}' is ignored: the equations are of first order in {0} and determine it",
                        coordinate.name
                    )));
                }
            }
            Ok(Start { q: zero(&given.q), v: zero(&given.v), multipliers: Vec::new(), notes })
        }
    }
}

pub(crate) fn inconsistent(model: &Workspace, none: &NoStart) -> Diagnostic {
    let constraint = &model.constraints[none.constraint];
    let what = if none.positions { "positions" } else { "velocities" };
    Diagnostic::error(
        "E0601",
        constraint.span,
        format!(
            "no {what} near the initial ones satisfy the constraint `{}`: it is off by {} at the best state found",
            constraint.name, brief(none.residual)
        ),
    )
    .with_hint("check that the constraints do not contradict each other, or give initial values closer to a \
        consistent state")
}

/// The start, with everything that follows from it if the motion is determined there.
pub(crate) fn possible(
    model: &Workspace,
    system: &mut CompiledSystem,
    t0: f64,
    y0: &[f64],
) -> Result<Sample, Failure> {
    let mut sample = Sample::new(system.n, system.m);
    let diagnostic = match system.resolve(t0, y0, false, &mut sample) {
        Ok(()) => return Ok(sample),
        Err(EvalError::NotFinite) => not_finite_at_start(model),
        Err(EvalError::Singular) => singular_at_start(model, system, t0, y0),
    };
    Err(Failure::Model(vec![diagnostic]))
}

fn not_finite_at_start(model: &Workspace) -> Diagnostic {
    Diagnostic::error(
        "E0602",
        dynamics_span(model),
        "at the initial state the equations of motion are infinite or not a number".into(),
    )
    .with_hint("a division by zero, a root or logarithm of a negative number, or a table beyond its data: choose \
        other initial values")
}

fn singular_at_start(
    model: &Workspace,
    system: &mut CompiledSystem,
    t0: f64,
    y0: &[f64],
) -> Diagnostic {
    let mut contradiction = false;
    let (span, message) = match system.saddle_at(t0, y0) {
        None => (
            dynamics_span(model),
            "at the initial state the equations do not determine their highest derivatives".into(),
        ),
        Some(kkt) => match kkt.repeated()[..] {
            [] if kkt.principle == Principle::Vakonomic => {
                return effective_mass_at_start(model);
            }
            [] => (
                dynamics_span(model),
                "at the initial state the Lagrangian does not determine the accelerations: its mass matrix is \
                 singular on the \
                 directions that the constraints leave free"
                    .into(),
            ),
            ref repeated => {
                contradiction = true;
                let names = quoted(model, repeated);
                let message =
                    format!("at the initial state {names} contradicts the other constraints");
                (model.constraints[repeated[0]].span, message)
            }
        },
    };
    Diagnostic::error("E0603", span, message).with_hint(if contradiction {
        "at the start it agrees with them for the velocities, but it requires a different acceleration"
    } else {
        "every free direction needs a kinetic energy; `pfaff check` says whether the system is regular"
    })
}

pub(crate) fn redundant(
    model: &Workspace,
    system: &mut CompiledSystem,
    t0: f64,
    y0: &[f64],
) -> Option<Note> {
    let kkt = system.saddle_at(t0, y0)?;
    let repeated = kkt.repeated();
    if repeated.is_empty() {
        return None;
    }
    let names = repeated.into_iter().map(|a| model.constraints[a].name.clone());
    Some(Note::Redundant { constraints: names.collect() })
}
