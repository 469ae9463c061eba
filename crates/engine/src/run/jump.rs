//! What people read about jumps of the state.

use pfaff_model::{Diagnostic, Principle, Span, Workspace};

use crate::error::Failure;
use crate::motion::note::{Note, brief};
use crate::problem::dynamics_span;
use crate::system::compiled::Contradiction;

/// New values that no velocities complete.
pub(crate) fn contradicting(model: &Workspace, found: &Contradiction) -> Diagnostic {
    let event = &model.events[found.event].name;
    let constraint = &model.constraints[found.constraint];
    let reset = model.resets.iter().find(|reset| reset.event == found.event);
    let span = reset.map_or(constraint.span, |reset| reset.span);
    let what = if found.positions { "positions" } else { "velocities" };
    let message = format!(
        "the {what} after the event `{event}` at t = {} contradict the constraint `{}`: it is off by {} of its terms",
        brief(found.t),
        constraint.name,
        brief(found.residual)
    );
    let hint = if found.positions {
        "set all positions that change together"
    } else {
        "leave a velocity of the constraint free: those without a new value adapt"
    };
    Diagnostic::error("E0640", span, message)
        .with_note(constraint.span, "this constraint".into())
        .with_hint(hint)
}

/// Jumps that follow each other ever faster.
pub(crate) fn accumulation(model: &Workspace, event: usize, t: f64) -> Note {
    let name = &model.events[event].name;
    Note::Stopped(format!(
        "at t = {t} the event `{name}` would happen infinitely often in no time: beyond, nothing in the model says how \
         the motion goes on"
    ))
}

/// Whatever jumps or switches needs a motion from a given start, without memory.
pub(crate) fn refused(model: &Workspace, kind: &str) -> Result<(), Failure> {
    let hybrid = &model.hybrid;
    let words = [
        ("`noise`", model.noises.first().map(|noise| noise.span)),
        ("`on`", model.resets.first().map(|reset| reset.span)),
        ("`contact`", hybrid.contacts.first().map(|contact| contact.span)),
        ("`contact`", hybrid.joints.first().map(|joint| joint.span)),
        ("`every`", hybrid.samplers.first().map(|sampler| sampler.span)),
        ("`delay`", hybrid.delays.first().map(|delay| delay.span)),
        ("`mode`", (!hybrid.modes.is_empty()).then(|| dynamics_span(model))),
        ("`when`", conditional(model)),
        ("`state`", model.coordinates.iter().find(|c| c.is_state).map(|c| c.span)),
    ];
    let Some((word, span)) = words.into_iter().find_map(|(word, at)| Some((word, at?))) else {
        return Ok(());
    };
    let message = format!("{word} does not apply to {kind}");
    let hint = "it needs a motion from a given start whose equations have no memory";
    Err(Failure::Model(vec![Diagnostic::error("E0451", span, message).with_hint(hint)]))
}

/// Another principle than that of Chetaev says nothing about what jumps, switches or has no inertia.
pub(crate) fn refused_principle(
    model: &Workspace,
    principle: Principle,
) -> Result<(), Failure> {
    match principle {
        Principle::Chetaev => Ok(()),
        Principle::Vakonomic | Principle::Restricted => {
            let has_states = model.coordinates.iter().any(|c| c.is_state);
            if !has_states && !model.hybrid.switches() && model.noises.is_empty() {
                return Ok(());
            }
            refused(model, &format!("the principle `{}`", principle.name()))
        }
    }
}

/// Where the first constraint stands that comes and goes.
fn conditional(model: &Workspace) -> Option<Span> {
    let all = model.hybrid.constraints.iter();
    all.filter(|(_, activity)| activity.when.is_some()).map(|(c, _)| c.span).next()
}
