//! The checks of a motion with memory.

use crate::audit::error::error_check;
use crate::motion::verdict::Check;

/// What a run with memory measured of itself. `None` where there was no output to measure at.
pub(crate) struct MemoryEvidence {
    /// Constraints, or equations of an `equation` model, with their largest residuals at the outputs.
    pub(crate) held: Vec<(String, Option<f64>)>,
    /// Of a Lagrangian model: the largest imbalance of energy and work, and the scale of both.
    pub(crate) balance: Option<(Option<f64>, f64)>,
    /// The memory by direct quadrature, if any is kept in another way: the largest difference.
    pub(crate) direct_difference: Option<Option<f64>>,
    /// The error by a second integration, in parts of the largest values.
    pub(crate) error: Option<f64>,
    pub(crate) tolerance: f64,
    pub(crate) steps: usize,
}

impl MemoryEvidence {
    pub(crate) fn checks(self) -> Vec<Check> {
        let mechanical = self.balance.is_some();
        let mut checks = Vec::new();
        for (name, worst) in self.held {
            let name = if mechanical { format!("constraint {name}") } else { name };
            let reason =
                "every output is the end of a step, where the equation is solved to rounding";
            let limit = if mechanical { 1e-11 } else { 1e-9 };
            checks.push(Check::measured(name, worst, limit, reason));
        }
        if let Some((off, scale)) = self.balance {
            let each = self.tolerance + 4.0 * f64::EPSILON;
            let limit = 10.0 * each * (self.steps as f64 + 1.0) * scale;
            let reason = "each step may have an error of the tolerance in every component; the work includes that of \
                the constraints, which do work because of their memory";
            let (name, limit) = ("energy balance".to_owned(), limit.min(1e-2 * scale));
            checks.push(Check::measured(name, off, limit, reason));
        }
        // The kernel is compressed to 1e-14, or to a thousandth of a tolerance that is larger.
        let limit = 1e-11 + 1e-2 * self.tolerance;
        let reason = "direct quadrature of the fractional integrals and of the kernels as written, at a quarter, \
                      the middle and the end of the outputs";
        if let Some(worst) = self.direct_difference {
            checks.push(Check::measured(
                "memory by direct quadrature".into(),
                worst,
                limit,
                reason,
            ));
        }
        checks.push(error_check(self.error, self.tolerance, self.steps));
        checks
    }
}
