//! The audit: whether the numbers of a motion can be trusted.
//!
//! Each kind of run hands over its evidence: states, or deviations that it measured by a second road. Here they
//! meet their limits. A check has a number, a limit with its reason, and a verdict.

pub(crate) mod autodiff;
pub(crate) mod deviation;
pub(crate) mod dual_residual;
pub(crate) mod ends;
pub(crate) mod error;
pub(crate) mod extremum;
pub(crate) mod family_duals;
pub(crate) mod laid;
pub(crate) mod memory;
pub(crate) mod sensitivity;
pub(crate) mod trajectory;

use crate::audit::extremum::ExtremumEvidence;
use crate::audit::memory::MemoryEvidence;
use crate::audit::trajectory::TrajectoryEvidence;
use crate::motion::verdict::Audit;

/// What the audit looks at, by the kind of run.
pub(crate) enum Evidence<'a> {
    /// Steps from a start.
    Trajectory(Box<TrajectoryEvidence<'a>>),
    /// Steps with a past.
    Memory(MemoryEvidence),
    /// A stationary point between given ends.
    Extremum(ExtremumEvidence),
}

/// Audits a motion.
pub(crate) fn audit(evidence: Evidence<'_>) -> Audit {
    Audit::of(match evidence {
        Evidence::Trajectory(evidence) => trajectory::checks(*evidence),
        Evidence::Memory(evidence) => evidence.checks(),
        Evidence::Extremum(evidence) => evidence.checks(),
    })
}

#[cfg(test)]
mod tests;
