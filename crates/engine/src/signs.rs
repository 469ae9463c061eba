//! What the signs of multipliers and reactions mean, in one sentence for each principle.

use pfaff_model::Principle;

/// The convention, in the words of the model language; printed beside every result that has multipliers.
pub fn signs(principle: Principle) -> &'static str {
    match principle {
        Principle::Chetaev => {
            "M q'' = f + R with R = + A^T lambda; multiplying a velocity constraint by -1 flips its lambda"
        }
        Principle::Vakonomic => {
            "extended Lagrangian L - mu*phi, so M q'' = f + R with R = A^T mu' + (A' - dphi/dq)^T mu; multiplying a \
             velocity constraint by -1 flips its mu"
        }
        Principle::Restricted => {
            "Hamilton's principle for L with the dependent velocities inserted; p solves A^T p = dL/dv for the \
             dependent velocities v; the reaction is R = M q'' - f; multiplying a velocity constraint by -1 flips \
             its p"
        }
    }
}
