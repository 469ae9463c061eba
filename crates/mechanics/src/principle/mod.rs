//! Principles of motion: each turns a model into the blocks of (K), one file each.
//!
//! ```text
//! Model ──► chetaev ──► Equations
//!              ├──► vakonomic    (multipliers μ with equations of their own)
//!              └──► restricted   (dependent velocities inserted into L)
//! Model ──► fractional           (extrema of Lagrangians with memory)
//! Model ──► ordinary             (`equation` models: no principle, equations as written)
//! ```

mod chetaev;
mod fractional;
mod ordinary;
mod restricted;
mod vakonomic;

use pfaff_model::{Dynamics, Force, Span, Workspace};

use crate::equations::{Equations, Refusal};
pub use chetaev::LARGE;
use chetaev::chetaev;
pub use fractional::{FractionalEquations, adjoint, fractional_equations};
pub use ordinary::{Ordinary, ordinary};
pub use pfaff_model::Principle;
use restricted::restricted;
use vakonomic::vakonomic;

/// Derives the equations of a model under a principle.
///
/// # Errors
///
/// [`Refusal`] says what stands in the way.
pub fn derive(model: &Workspace, principle: Principle) -> Result<Equations, Refusal> {
    derived(model, principle, Form::Full)
}

/// As [`derive()`], for numbers alone: under Chetaev's principle the mass matrix may be given by auxiliary velocities
/// instead of its entries, if that is shorter.
///
/// # Errors
///
/// As [`derive()`].
pub fn derive_for_run(model: &Workspace, principle: Principle) -> Result<Equations, Refusal> {
    derived(model, principle, Form::Shortest)
}

/// How the mass matrix is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// By all its entries.
    Full,
    /// By auxiliary velocities, if that is shorter.
    Shortest,
}

fn derived(model: &Workspace, principle: Principle, form: Form) -> Result<Equations, Refusal> {
    let Dynamics::Lagrangian { lagrangian, span, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let g = &model.graph;
    if g.has_memory(lagrangian) {
        return Err(Refusal::Memory { what: "the Lagrangian".into(), span });
    }
    crate::symmetry::check(model, lagrangian)?;
    if principle != Principle::Chetaev
        && let Some((what, span)) = memory(model)
    {
        return Err(Refusal::MemoryAhead { principle, what, span });
    }
    match principle {
        Principle::Chetaev => g.merging(|| chetaev(model, lagrangian, span, form)),
        Principle::Vakonomic => g.merging(|| {
            chetaev(model, lagrangian, span, Form::Full).map(|e| vakonomic(model, e))
        }),
        Principle::Restricted => g.merging(|| {
            let plain = chetaev(model, lagrangian, span, Form::Full);
            plain.and_then(|e| restricted(model, e))
        }),
    }
}

/// The first constraint or force with memory, and where it stands.
fn memory(model: &Workspace) -> Option<(String, Span)> {
    let g = &model.graph;
    let constraint = model.constraints.iter().find(|c| g.has_memory(c.expr));
    let named = constraint.map(|c| (format!("the constraint `{}`", c.name), c.span));
    let remembering = |f: &&Force| f.components.iter().any(|&q| g.has_memory(q));
    named.or_else(|| model.forces.iter().find(remembering).map(|f| ("a force".into(), f.span)))
}
