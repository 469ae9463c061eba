//! What is asked for: settings, a consistent start, the multipliers and bodies of the initial state.

pub(crate) mod affine_body;
pub(crate) mod branches;
pub(crate) mod break_points;
pub(crate) mod guess;
pub(crate) mod initial_multipliers;
pub(crate) mod interval;
pub(crate) mod settings;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod unused_multipliers;

use pfaff_model::{Span, Workspace};

/// Where the Lagrangian, or the first equation, stands.
pub(crate) fn dynamics_span(model: &Workspace) -> Span {
    match &model.dynamics {
        pfaff_model::Dynamics::Lagrangian { span, .. } => *span,
        pfaff_model::Dynamics::Equations(equations) => {
            equations.first().map(|e| e.span).unwrap_or_default()
        }
    }
}
