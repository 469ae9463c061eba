//! The expressions that equations of motion are made of.

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Workspace};

/// Everything that the equations of motion of a model are made of.
pub(crate) fn dynamical_parts(model: &Workspace) -> Vec<Expr> {
    let mut outputs = Vec::new();
    match &model.dynamics {
        Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } => {
            outputs.push(*lagrangian);
            outputs.extend(kinetic.iter().chain(potential));
        }
        Dynamics::Equations(equations) => outputs.extend(equations.iter().map(|e| e.expr)),
    }
    for constraint in &model.constraints {
        outputs.push(constraint.expr);
        outputs.extend(constraint.along.iter().flatten());
    }
    for force in &model.forces {
        outputs.extend(&force.components);
    }
    outputs
}
