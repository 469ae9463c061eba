//! Derivatives that are integrated with their motion, in one run.

use pfaff_expr::Expr;
use pfaff_model::Workspace;
use pfaff_solver::Method;

use super::direction::directions;
use super::{Base, Varied, flow, varying};
use crate::error::Failure;
use crate::motion::sample::Sample;
use crate::problem::settings::Settings;
use crate::problem::start::Start;
use crate::run::prepare::demand;
use crate::system::compiled::{Compiled, CompiledSystem, Dynamics};
use crate::system::dynamical_parts::dynamical_parts;
use crate::system::variational::Evaluation;

/// Coordinates up to which the rows of the equations are evaluated for every rate, where these are no program.
const MOST: usize = 24;

/// Lets a run integrate its derivatives with the motion; says whether it does.
pub(crate) fn carry(
    model: &Workspace,
    dynamics: &Dynamics,
    names: &[String],
    settings: &Settings,
    (system, y0): (&mut CompiledSystem, &mut Vec<f64>),
) -> Result<bool, Failure> {
    let is_explicit = matches!(settings.options.method, Method::Dop853 | Method::Taylor);
    let full = |d: &Dynamics| !matches!(d, Dynamics::Saddle(e) if e.auxiliary.is_some());
    let is_plain =
        system.jumps.is_none() && system.samplers.is_none() && system.noise.is_none();
    if names.is_empty() || !is_explicit || !is_plain || !full(dynamics) {
        return Ok(false);
    }
    let t0 = settings.t0;
    let mut at = Sample::new(system.n, system.m);
    system.kinematics(t0, y0, &mut at);
    let multipliers = match &system.dynamics {
        Compiled::Saddle(kkt) => y0[2 * kkt.n..2 * kkt.n + kkt.carried].to_vec(),
        Compiled::Reduced(_) | Compiled::Ordinary(_) => Vec::new(),
    };
    let start = Start { q: at.q, v: at.v, multipliers, notes: Vec::new() };
    let base = Base { model, settings, dynamics, start: &start };
    let Varied { directions: _, changes, tangents } =
        base.varied(directions(model, names, (t0, None))?)?;
    if let Compiled::Reduced(reduced) = &mut system.dynamics {
        let starts: Vec<(Vec<f64>, Vec<f64>)> =
            tangents.into_iter().map(|s| (s.q, s.v)).collect();
        let carried = reduced.carry(t0, y0, changes, &starts);
        return Ok(carried.map(|whole| *y0 = whole).is_some());
    }
    // NOTE: a derivative that begins as a high power of time has no scale at first; it must not end the motion.
    let has_time = |&e: &Expr| model.graph.contains(e, &[model.time]);
    let depends_on_time = dynamical_parts(model).iter().any(has_time);
    if depends_on_time && settings.options.method == Method::Dop853 {
        return Ok(false);
    }
    let varied = varying(model, &changes);
    let how = (Evaluation::Carried, settings.backend);
    let mut flow = flow(model, dynamics, (&varied, &changes), how)?;
    let size = system.size();
    let mut whole = y0[..size].to_vec();
    for s in &tangents {
        whole.extend_from_slice(&system.state(t0, &s.q, &s.v, &s.multipliers)[..size]);
    }
    whole.extend_from_slice(&y0[size..]);
    flow.begin(model, t0, &whole);
    if !flow.is_explicit() && system.n > MOST {
        return Ok(false);
    }
    if settings.options.method == Method::Taylor
        && flow.expand(model, demand(settings), t0, &whole).is_err()
    {
        return Ok(false);
    }
    system.tangents = Some(Box::new(flow));
    *y0 = whole;
    Ok(true)
}
