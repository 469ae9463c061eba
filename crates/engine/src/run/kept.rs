//! What a motion keeps beside its energy: the audit compares it along the run.

use pfaff_expr::Expr;
use pfaff_mechanics::{
    Conserved, ConservedKind, Effort, Equations, Momentum, conserved, kept_momenta,
};
use pfaff_model::{Contact, Coordinate, Workspace};

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
    let mut kept = conserved(model, equations, Effort::Run);
    kept.retain(|c| !matches!(c.kind, ConservedKind::Energy | ConservedKind::JacobiIntegral));
    kept
}

/// Whether impacts keep a quantity: the momentum of a shift $\xi$ that no contact feels, $\xi\cdot\partial_q g = 0$ and
/// $\xi\cdot\partial_{\dot q}\sigma = 0$. A reset need not keep anything.
pub(crate) fn is_kept_by_impacts(model: &Workspace, kept: &Conserved) -> bool {
    let shifted: &[usize] = match &kept.kind {
        ConservedKind::Momentum(k) => std::slice::from_ref(k),
        ConservedKind::LinearMomentum(list) => list,
        _ => return false,
    };
    let g = &model.graph;
    let is_felt = |e: Expr, by: fn(&Coordinate) -> Expr| {
        let slopes = shifted.iter().map(|&k| g.derivative(e, by(&model.coordinates[k])));
        g.sum(slopes) != g.zero()
    };
    let feels = |contact: &Contact| {
        let mut rates = contact.frictions.iter().flat_map(|friction| &friction.rates);
        is_felt(contact.gap, |c| c.position) || rates.any(|&rate| is_felt(rate, |c| c.velocity))
    };
    model.resets.is_empty() && !model.hybrid.contacts.iter().any(feels)
}
