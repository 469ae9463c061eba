//! The Lagrangian as people write it: $L = T - V$ where the text tells the two apart, else $L$.

use pfaff::Workspace;
use pfaff_expr::Expr;
use pfaff_mechanics::Equations;

use super::names::own_or_derived;
use super::{Label, Line, Section};

/// One line for each energy; a kinetic energy that is not quadratic in the velocities is taken apart by their powers.
pub(super) fn section(model: &Workspace, e: &Equations) -> Section {
    let g = &model.graph;
    let entry = |text: &'static str, latex: &'static str, right: Expr| {
        let label = Label::Entry { text, latex, indices: Vec::new() };
        Line { label, right }
    };
    let of = |heading, lines| Section { key: "lagrangian", heading, lines };
    let pfaff_model::Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } =
        model.dynamics
    else {
        return of("", Vec::new());
    };
    let v = model.velocities();
    let Some(k) = &e.kinetic else {
        return match (kinetic, potential) {
            (Some(t), Some(u)) => {
                of("Lagrangian L = T - V", vec![entry("T", "T", t), entry("V", "V", u)])
            }
            _ => of("Lagrangian", vec![entry("L", "L", lagrangian)]),
        };
    };
    let (linear, scalar) = (k.linear(g, &v), k.scalar);
    let Some(potential) = k.potential else {
        let whole = g.sum([k.quadratic(g, &v), linear, scalar]);
        let whole = own_or_derived(model, lagrangian, whole);
        return of("Lagrangian", vec![entry("L", "L", whole)]);
    };
    let [has_linear, has_scalar] = [linear, scalar].map(|x| !g.is_zero(x));
    if !has_linear && !has_scalar {
        let derived = k.quadratic(g, &v);
        let kinetic = kinetic.map_or(derived, |own| own_or_derived(model, own, derived));
        let lines = vec![entry("T", "T", kinetic), entry("V", "V", potential)];
        return of("Lagrangian L = T - V", lines);
    }
    let mut lines = vec![entry("T2", "T_2", k.quadratic(g, &v))];
    lines.extend(has_linear.then(|| entry("T1", "T_1", linear)));
    lines.extend(has_scalar.then(|| entry("T0", "T_0", scalar)));
    lines.push(entry("V", "V", potential));
    let heading = match (has_linear, has_scalar) {
        (true, true) => "Lagrangian L = T2 + T1 + T0 - V",
        (true, false) => "Lagrangian L = T2 + T1 - V",
        (false, _) => "Lagrangian L = T2 + T0 - V",
    };
    of(heading, lines)
}

/// The energy $T_2 - T_0 + V$.
pub(super) fn energy(model: &Workspace, e: &Equations) -> Expr {
    let g = &model.graph;
    let Some(k) = &e.kinetic else { return e.energy };
    let v = model.velocities();
    let derived = k.energy(g, &v);
    match model.dynamics {
        pfaff_model::Dynamics::Lagrangian { lagrangian, .. } => {
            // T₂ − L₀ = L − L₁ − 2L₀
            let still = k.potential.map_or(k.scalar, |potential| g.sub(k.scalar, potential));
            let own = g.sub(lagrangian, g.add(k.linear(g, &v), g.add(still, still)));
            own_or_derived(model, own, derived)
        }
        pfaff_model::Dynamics::Equations(_) => derived,
    }
}
