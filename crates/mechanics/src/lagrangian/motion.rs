//! The total derivative along a motion, as far as positions and time carry it.

use pfaff_expr::Expr;
use pfaff_model::Workspace;

/// The direction $(q \to \dot q,\ t \to 1)$ of the motion without its accelerations.
pub(crate) fn motion_direction(model: &Workspace) -> Vec<(Expr, Expr)> {
    let mut direction: Vec<(Expr, Expr)> =
        model.coordinates.iter().map(|c| (c.position, c.velocity)).collect();
    direction.push((model.time, model.graph.one()));
    direction
}
