//! What a run did that the user did not ask for, as data.

use std::fmt;

/// Something worth knowing about a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A missing initial value follows from the constraints.
    Solved {
        /// `y'`
        name: String,
        /// Its value.
        value: f64,
    },
    /// A given initial value had to be moved.
    Moved {
        /// `y'`
        name: String,
        /// As given.
        old: f64,
        /// As used.
        new: f64,
        /// The constraint that the given values contradict most.
        constraint: String,
        /// Its residual at the given values.
        residual: f64,
    },
    /// Constraints that repeat others: their multipliers are zero.
    Redundant {
        /// Their names.
        constraints: Vec<String>,
    },
    /// Why the run ended before its end.
    Stopped(String),
    /// Anything else, in a sentence.
    Remark(String),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Solved { name, value } => {
                write!(f, "initial {name} = {value} follows from the constraints")
            }
            Self::Moved { name, old, new, constraint, residual } => write!(
                f,
                "initial {name} moved from {old} to {new}: the given values contradict the constraint \
                 `{constraint}` (residual {})",
                brief(*residual)
            ),
            Self::Redundant { constraints } => {
                let names: Vec<String> = constraints.iter().map(|c| format!("`{c}`")).collect();
                write!(
                    f,
                    "{} redundant: the multiplier is zero, and the other constraints carry the reaction",
                    names.join(", ") + if names.len() == 1 { " is" } else { " are" }
                )
            }
            Self::Stopped(why) | Self::Remark(why) => f.write_str(why),
        }
    }
}

/// A number with a few digits, for a sentence.
pub(crate) fn brief(x: f64) -> String {
    if x == 0.0 || (1e-3..1e6).contains(&x.abs()) {
        let rounded = format!("{x:.4}");
        rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.2e}")
    }
}
