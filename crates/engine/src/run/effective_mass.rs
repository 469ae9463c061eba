//! The effective mass of the vakonomic principle, $M - \mu\cdot\partial^2\varphi/\partial\dot q^2$, where it
//! is singular: at the start, or on the way.

use pfaff_model::{Diagnostic, Principle, Quantity, Workspace};

use crate::motion::{Stop, StopReason};
use crate::problem::dynamics_span;
use crate::system::compiled::{Compiled, CompiledSystem};

/// A vakonomic run that ended where its effective mass is singular.
pub(crate) fn effective_mass_on_the_way(
    model: &Workspace,
    stop: &Stop,
    system: &mut CompiledSystem,
    y: &[f64],
) -> Option<String> {
    let stuck = [StopReason::Singular, StopReason::StepTooSmall, StopReason::NotFinite];
    let n = system.n;
    let Compiled::Saddle(kkt) = &mut system.dynamics else { return None };
    if kkt.principle != Principle::Vakonomic || !stuck.contains(&stop.reason) {
        return None;
    }
    let μ = &y[2 * n..2 * n + kkt.carried];
    kkt.evaluate(stop.t, &y[..n], &y[n..2 * n], μ);
    if !kkt.is_mass_singular(stop.reason == StopReason::Singular) {
        return None;
    }
    let name = |(c, x): (&pfaff_model::Constraint, &f64)| format!("mu({}) = {x}", c.name);
    let values: Vec<String> = model.constraints.iter().zip(μ).map(name).collect();
    Some(format!(
        "at t = {} the effective mass M - mu*d2phi/dq'2 of the vakonomic principle becomes singular ({}): the \
         accelerations grow without bound",
        stop.t,
        values.join(", ")
    ))
}

/// The refusal of a start with a singular effective mass.
pub(crate) fn effective_mass_at_start(model: &Workspace) -> Diagnostic {
    let given = model.initial.iter().find(|d| matches!(d.quantity, Quantity::Multiplier(_)));
    Diagnostic::error(
        "E0609",
        given.map_or_else(|| dynamics_span(model), |d| d.span),
        "at the initial state the effective mass M - mu*d2phi/dq'2 of the vakonomic principle is singular on the \
         directions that the constraints leave free".into(),
    )
    .with_hint("choose other initial multipliers: for nonlinear constraints mu takes part in the mass")
}
