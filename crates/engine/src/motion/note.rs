//! What a run did that the user did not ask for, as data.

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
    /// Whether an extremum with memory is a motion of Chetaev's principle too: see
    /// [`Motion::equivalence`](crate::Motion::equivalence).
    Equivalence,
    /// Why the run ended before its end.
    Stopped(String),
    /// Anything else, in a sentence.
    Remark(String),
}

/// A number with a few digits, for a sentence: at most four decimals, or three digits and a power of ten.
pub fn brief(x: f64) -> String {
    if x == 0.0 {
        // NOTE: zero has no sign for people.
        "0".to_owned()
    } else if (1e-3..1e6).contains(&x.abs()) {
        let rounded = format!("{x:.4}");
        rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.2e}")
    }
}
