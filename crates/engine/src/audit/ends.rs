//! The checks of a motion between given ends, beside those of its steps.

use crate::motion::verdict::Check;

/// What the search for a motion between given ends knows of it.
pub(crate) struct EndsEvidence {
    /// The largest deviation from the given final values, where the run reached them.
    pub(crate) final_values: Option<f64>,
    /// The distance of the solutions of two methods, where both found one.
    pub(crate) two_methods: Option<f64>,
}

impl EndsEvidence {
    pub(crate) fn checks(self) -> Vec<Check> {
        let mut checks = Vec::new();
        if let Some(worst) = self.final_values {
            let reason = "the motion is integrated from its start alone, with a local error of 1e-12 that may grow a \
                thousandfold on the way";
            checks.push(Check::new("final values".into(), worst, 1e-9, reason));
        }
        if let Some(distance) = self.two_methods {
            let reason =
                "shooting and collocation solve the same equations in independent ways";
            checks.push(Check::new("two methods".into(), distance, 1e-9, reason));
        }
        checks
    }
}
