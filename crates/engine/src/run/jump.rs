//! What people read about jumps of the state.

use pfaff_model::{Diagnostic, Workspace};

use crate::error::Failure;
use crate::motion::note::{Note, brief};
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

/// Resets need a motion from a given start, without memory.
pub(crate) fn refused(model: &Workspace, kind: &str) -> Result<(), Failure> {
    let Some(reset) = model.resets.first() else { return Ok(()) };
    let message = format!("`on` does not apply to {kind}");
    let hint = "it needs a motion from a given start whose equations have no memory";
    Err(Failure::Model(vec![Diagnostic::error("E0451", reset.span, message).with_hint(hint)]))
}
