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

/// Why a run ended early, in a sentence; what is singular is looked for in the system.
pub(crate) fn explain(
    model: &Workspace,
    stop: &Stop,
    system: &mut CompiledSystem,
    y: &[f64],
) -> Option<Note> {
    let t = stop.t;
    match &stop.reason {
        StopReason::Event(_) => affine_body::collapse(model, &stop.reason, t),
        StopReason::Singular => Some(Note::Stopped(match system.cusp.lost {
            Some(lost) => turned_round(model, &[lost], t),
            None => {
                let kkt = system.saddle_at(t, y);
                singular_on_the_way(model, kkt.as_deref(), t)
            }
        })),
        StopReason::End
        | StopReason::Interrupted
        | StopReason::MaxSteps
        | StopReason::StepTooSmall
        | StopReason::NotFinite => stopped(stop),
    }
}

/// Why a run ended early, in a sentence, from the reason alone.
pub(crate) fn stopped(stop: &Stop) -> Option<Note> {
    let t = stop.t;
    let sentence = match stop.reason {
        StopReason::End | StopReason::Event(_) => return None,
        StopReason::Interrupted => format!("interrupted at t = {t}"),
        StopReason::MaxSteps => format!("the maximum number of steps was reached at t = {t}"),
        StopReason::StepTooSmall => {
            format!("the step size became too small at t = {t}: the motion is not smooth there")
        }
        StopReason::NotFinite => format!(
            "beyond t = {t} the equations of motion are infinite or not a number (a division by zero, a root or \
             logarithm of a negative number, or a table beyond its data)"
        ),
        StopReason::Singular => format!(
            "beyond t = {t} the equations do not determine the motion, or it grows beyond all bounds"
        ),
    };
    Some(Note::Stopped(sentence))
}
