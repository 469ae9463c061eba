//! What is singular where a run cannot go on, in the words of the model.
//!
//! The constraints whose combination $c\cdot A$ is nearest to zero at the last good state are named; where
//! the rows stand well apart it is the mass.

use pfaff_model::Workspace;

use crate::motion::note::{Note, brief};
use crate::run::rank_watch::{RankOutcome, RankPlace};
use crate::system::compiled::CompiledSystem;
use crate::system::kkt::Kkt;

/// A run that ends at a singular place ends within a small step of it: the combination of unit rows that
/// vanishes there is small already.
const NEAR: f64 = 1e-2;

/// Whether constraints lose their independence at a state where the step shrank to nothing.
pub(crate) fn is_near_dependence(system: &mut CompiledSystem, t: f64, y: &[f64]) -> bool {
    system.saddle_at(t, y).is_some_and(|kkt| kkt.nearest_dependence().1 < NEAR)
}

/// What became singular near the state at which the core was evaluated last.
pub(crate) fn singular_on_the_way(model: &Workspace, kkt: Option<&Kkt>, t: f64) -> String {
    let Some(kkt) = kkt else {
        return format!(
            "beyond t = {t} the equations do not determine their highest derivatives"
        );
    };
    let repeated = kkt.repeated();
    let (members, size) = kkt.nearest_dependence();
    if !repeated.is_empty() && size >= NEAR {
        format!(
            "beyond t = {t} {} cannot be satisfied together with the other constraints",
            quoted(model, &repeated)
        )
    } else if size < NEAR {
        let (what, verb) = match members.len() {
            1 => ("constraint", "no longer restricts any velocity"),
            _ => ("constraints", "lose their independence"),
        };
        format!(
            "at t = {t} the {what} {} {verb}: a singular configuration",
            quoted(model, &members)
        )
    } else {
        format!(
            "at t = {t} the mass matrix becomes singular on the directions that the constraints leave free"
        )
    }
}

/// A place where the rank of the constraints fell, and how the motion goes on.
pub(crate) fn lost_rank(model: &Workspace, place: &RankPlace) -> Note {
    let (what, verb) = match place.constraints.len() {
        1 => ("constraint", "no longer restricts any velocity"),
        _ => ("constraints", "lose their independence"),
    };
    let names = quoted(model, &place.constraints);
    let sentence = format!("at t = {} the {what} {names} {verb}", brief(place.t));
    match place.outcome {
        RankOutcome::Branches => Note::Remark(format!(
            "{sentence}; the motion is followed along the branch that its velocity has"
        )),
        RankOutcome::Factor => Note::Remark(format!(
            "{sentence}, because a factor of it vanishes; the motion is followed as if the factor were not there"
        )),
        RankOutcome::Undetermined => Note::Stopped(format!(
            "{sentence}: a singular configuration, beyond which the equations do not determine the motion"
        )),
    }
}

/// A motion that came out backwards from a place where a constraint holds no velocity.
pub(crate) fn turned_round(model: &Workspace, constraints: &[usize], t: f64) -> String {
    format!(
        "at t = {t} the constraint {} no longer restricts any velocity: a singular configuration (a cusp), where \
         the motion would reverse at full speed",
        quoted(model, constraints)
    )
}

/// Names of constraints in quotes.
pub(crate) fn quoted(model: &Workspace, constraints: &[usize]) -> String {
    let names = constraints.iter().map(|&a| format!("`{}`", model.constraints[a].name));
    names.collect::<Vec<_>>().join(", ")
}
