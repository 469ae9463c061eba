//! What a motion keeps beside its energy: the audit compares it along the run.

use pfaff_mechanics::{
    Conserved, ConservedKind, Effort, Equations, Momentum, conserved, kept_momenta,
};
use pfaff_model::Workspace;

/// What the motion keeps beside its energy, whose balance is a check of its own; of many coordinates momenta alone.
pub(crate) fn kept_quantities(model: &Workspace, equations: &Equations) -> Vec<Conserved> {
    const MANY: usize = 24;
    if model.coordinates.len() > MANY {
        let kept = |m: Momentum| Conserved {
            name: m.name.clone(),
            kind: ConservedKind::Given(m.name),
            quantity: m.momentum,
        };
        return kept_momenta(model, equations).into_iter().map(kept).collect();
    }
    let mut kept = conserved(model, equations, Effort::Audit);
    kept.retain(|c| !matches!(c.kind, ConservedKind::Energy | ConservedKind::JacobiIntegral));
    kept
}
