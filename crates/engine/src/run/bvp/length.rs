//! Lagrangians that are homogeneous of degree one in the velocities: lengths, and times of travel.
//!
//! $$ L(q, c\,\dot q) = c\,L(q, \dot q), \quad c > 0 \qquad\Longrightarrow\qquad
//!    \Big(\int L\,dt\Big)^2 \le 2T \int \tfrac12 L^2\,dt $$
//!
//! with equality where $L$ is constant. Such an action does not depend on how a path is run through, and
//! does not determine the velocities. The stationary paths of $L^2/2$ are the same curves, run through with
//! constant $L$, and minima are minima. What is known of a solution is turned back: its action is
//! $\pm\sqrt{2TS}$, momenta and multipliers are those of $L^2/2$ divided by $L$.

use pfaff_mechanics::{Class, Equations, simple};
use pfaff_model::{Dynamics, Quantity, TerminalValue, Workspace};

use crate::motion::note::Note;
use crate::motion::solution::Solution;

/// A model with $L^2/2$ instead of such an $L$; none if $L$ is another one, or if the constraints depend on how
/// a path is run through.
pub(crate) fn squared(model: &Workspace, equations: &Equations) -> Option<Workspace> {
    let Dynamics::Lagrangian { lagrangian: L, span, .. } = model.dynamics else { return None };
    let g = &model.graph;
    let v = model.velocities();
    let timeless = |e| !g.contains(e, &[model.time]);
    let unpaced = |class: &Class| matches!(class, Class::Holonomic | Class::Linear);
    if !model.forces.is_empty()
        || !timeless(L)
        || !equations.residual.iter().all(|&ψ| timeless(ψ))
        || !equations.classes.iter().all(unpaced)
    {
        return None;
    }
    let squared = g.merging(|| {
        let along = g.dot(&v, &g.gradient(L, &v));
        let square = simple(g, g.mul(L, L));
        (g.is_zero(g.sub(along, L)) && !g.is_zero(square))
            .then(|| g.mul(g.fraction(1, 2), square))
    })?;
    let mut other = model.clone();
    other.dynamics =
        Dynamics::Lagrangian { lagrangian: squared, kinetic: None, potential: None, span };
    // NOTE: the duration is as free as the parametrisation.
    let free = |t: &TerminalValue| matches!(t, TerminalValue::Free);
    other.terminal.retain(|t| t.quantity != Quantity::Time || !free(&t.value));
    let given = other.terminal.iter().any(|t| t.quantity == Quantity::Time);
    if other.solve.range.is_none() && !given {
        other.solve.range = Some((0.0, 1.0));
    }
    Some(other)
}

/// What a solution for $L^2/2$ from the time `t0` on says of $L$.
pub(crate) fn turned_back(model: &Workspace, t0: f64, solution: &mut Solution) {
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else { return };
    let at = |symbol| {
        let place = model.coordinates.iter().position(|c| c.position == symbol);
        let moving = model.coordinates.iter().position(|c| c.velocity == symbol);
        let known = place.map(|k| solution.q0[k].1).or(moving.map(|k| solution.v0[k].1));
        known.unwrap_or_else(|| model.constant(symbol))
    };
    let sign = model.graph.evaluate(&[lagrangian], &at)[0].signum();
    let duration = solution.t1 - t0;
    solution.action = sign * (2.0 * duration * solution.action).sqrt();
    let value = solution.action / duration;
    solution.p0.iter_mut().chain(&mut solution.mu0).for_each(|(_, x)| *x /= value);
    if sign < 0.0 {
        solution.minimum = solution.minimum.and_then(|minimum| (!minimum).then_some(false));
    }
}

pub(crate) fn note() -> Note {
    let text = "the Lagrangian L is homogeneous of degree one in the velocities, so its action does not depend on \
        how a path is run through; the motions are those of L^2/2, the same curves with constant L. Actions, \
        initial momenta and multipliers in the list of motions belong to L, energies and reactions to L^2/2";
    Note::Remark(text.into())
}
