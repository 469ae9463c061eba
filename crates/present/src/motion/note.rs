//! What a run did that the user did not ask for, in sentences.

use pfaff::{Motion, Note};

use super::equivalence;
use crate::number::brief;

/// All notes of a motion, each a sentence.
pub fn notes(motion: &Motion) -> Vec<String> {
    motion.notes.iter().map(|note| sentence(note, motion)).collect()
}

/// The sentence of a note of this motion.
pub fn sentence(note: &Note, motion: &Motion) -> String {
    match note {
        Note::Solved { name, value } => {
            format!("initial {name} = {value} follows from the constraints")
        }
        Note::Moved { name, old, new, constraint, residual } => format!(
            "initial {name} moved from {old} to {new}: the given values contradict the constraint \
             `{constraint}` (residual {})",
            brief(*residual)
        ),
        Note::Redundant { constraints } => {
            let names: Vec<String> = constraints.iter().map(|c| format!("`{c}`")).collect();
            let are = if names.len() == 1 { "is" } else { "are" };
            format!(
                "{} {are} redundant: reactions are determined, multipliers are not; those of least norm are shown",
                names.join(", ")
            )
        }
        Note::Equivalence => motion
            .equivalence
            .as_ref()
            .map_or_else(String::new, |e| equivalence::sentence(e, motion)),
        Note::Stopped(why) | Note::Remark(why) => why.clone(),
    }
}
