//! Why a run ended, as data and in a sentence: one place for all kinds of runs.

use pfaff_model::Workspace;
use pfaff_solver as solver;

use crate::motion::note::Note;
use crate::motion::{Stop, StopReason};
use crate::problem::affine_body;
use crate::run::singular::{singular_on_the_way, turned_round};
use crate::system::compiled::CompiledSystem;

pub(crate) fn stop_reason(model: &Workspace, stop: &solver::StopReason) -> StopReason {
    match stop {
        solver::StopReason::End => StopReason::End,
        solver::StopReason::Event(i) => StopReason::Event(model.events[*i].name.clone()),
        solver::StopReason::StepTooSmall => StopReason::StepTooSmall,
        solver::StopReason::Singular => StopReason::Singular,
        solver::StopReason::NotFinite => StopReason::NotFinite,
        solver::StopReason::MaxSteps => StopReason::MaxSteps,
        solver::StopReason::Interrupted => StopReason::Interrupted,
    }
}

/// Why a run ended early, in a sentence.
pub(crate) fn explain(
    model: &Workspace,
    stop: &Stop,
    system: &mut CompiledSystem,
    y: &[f64],
) -> Option<Note> {
    let t = stop.t;
    let sentence = match &stop.reason {
        StopReason::End => return None,
        StopReason::Event(_) => return affine_body::collapse(model, &stop.reason, t),
        StopReason::Interrupted => format!("interrupted at t = {t}"),
        StopReason::MaxSteps => format!("the maximum number of steps was reached at t = {t}"),
        StopReason::StepTooSmall => {
            format!("the step size became too small at t = {t}: the motion is not smooth there")
        }
        StopReason::NotFinite => format!(
            "beyond t = {t} the equations of motion are infinite or not a number (a division by zero, a root or \
             logarithm of a negative number, or a table beyond its data)"
        ),
        StopReason::Singular if system.hold.lost.is_some() => {
            let lost: Vec<usize> = system.hold.lost.into_iter().collect();
            turned_round(model, &lost, t)
        }
        StopReason::Singular => {
            let core = system.saddle_at(t, y);
            singular_on_the_way(model, core.as_deref(), t)
        }
    };
    Some(Note::Stopped(sentence))
}
