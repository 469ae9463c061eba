//! The checks of a stationary point between given ends, with memory.

use crate::motion::verdict::Check;

/// What a search for an extremum measured of it.
pub(crate) struct ExtremumEvidence {
    /// The largest first variation along functions of its own.
    pub(crate) first_variation: f64,
    /// The difference from the solution of the double degree.
    pub(crate) degree: f64,
    /// The difference from Hamilton's form, solved by itself.
    pub(crate) hamilton: Option<f64>,
    /// Constraints with their largest residuals between the nodes.
    pub(crate) held: Vec<(String, f64)>,
    pub(crate) tolerance: f64,
}

impl ExtremumEvidence {
    pub(crate) fn checks(self) -> Vec<Check> {
        let tolerance = self.tolerance;
        let mut checks = vec![
            Check::new(
                "first variation".into(),
                self.first_variation,
                variation_limit(tolerance),
                "random variations, with the operators in closed form; relative to the terms that cancel",
            ),
            Check::new(
                "degree".into(),
                self.degree,
                tolerance.max(1e-11),
                "twice the difference from the solution of twice the degree",
            ),
        ];
        if let Some(off) = self.hamilton {
            let reason = "compared with Hamilton's form, solved for positions and momenta on other nodes";
            checks.push(Check::new(
                "hamilton's form".into(),
                off,
                tolerance.max(1e-10),
                reason,
            ));
        }
        for (name, worst) in self.held {
            let reason = "imposed at the nodes; between them it is as accurate as the basis";
            checks.push(Check::new(format!("constraint {name}"), worst, 1e-8, reason));
        }
        checks
    }
}

/// The largest first variation that the audit allows at a tolerance.
pub(crate) fn variation_limit(tolerance: f64) -> f64 {
    (10.0 * tolerance).max(1e-9)
}
