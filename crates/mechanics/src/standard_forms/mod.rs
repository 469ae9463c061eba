//! The equations in the forms of books.
//!
//! They are those of Routh, Gibbs and Appell, Kane, Maggi, Voronets, Chaplygin, Boltzmann and Hamel, and all views of
//! (K) under Chetaev's principle. With $\dot q = Bu + b$ and $[L]_i = \frac{d}{dt}\frac{\partial L}{\partial\dot
//! q^i} - \frac{\partial L}{\partial q^i}$ they are $B^\top([L] - Q) = 0$, written with other letters; Routh's has
//! the cyclic velocities eliminated instead, and keeps the multipliers.

mod boltzmann_hamel;
mod projected;
mod routhian;
mod voronets;

use pfaff_expr::Expr;
use pfaff_model::{Dynamics, Principle, Workspace};

pub use boltzmann_hamel::{BoltzmannHamel, boltzmann_hamel};
pub use projected::{Maggi, ProjectedForm, maggi, projected_form};
pub use routhian::{Routhian, routhian};
pub use voronets::{Voronets, chaplygin_form, voronets};

use crate::equations::{Class, Equations, Refusal};

/// Coordinates up to which forms are written out: brackets and products of all pairs would fill a book.
const LARGEST: usize = 24;

/// A form that does not apply, and why.
fn no_form(model: &Workspace, form: &'static str, what: impl Into<String>) -> Refusal {
    let span = match model.dynamics {
        Dynamics::Lagrangian { span, .. } => span,
        Dynamics::Equations(_) => pfaff_model::Span::default(),
    };
    Refusal::NoForm { form, what: what.into(), span }
}

/// The Lagrangian of a model whose reactions are those of Chetaev, without memory.
fn ideal(model: &Workspace, e: &Equations, form: &'static str) -> Result<Expr, Refusal> {
    let Dynamics::Lagrangian { lagrangian, .. } = model.dynamics else {
        return Err(Refusal::NoDynamics);
    };
    let g = &model.graph;
    let refused = |what: &str| Err(no_form(model, form, what));
    // NOTE: without constraints the principles agree.
    if e.principle != Principle::Chetaev && !model.constraints.is_empty() {
        return refused("it is one of the principle chetaev");
    }
    if model.coordinates.len() > LARGEST {
        return refused("it is written out for up to 24 coordinates");
    }
    for (a, row) in e.directions.iter().enumerate() {
        if *row != e.jacobian[a] {
            let constraint = &model.constraints[a];
            let (constraint, span) = (constraint.name.clone(), constraint.span);
            return Err(Refusal::ReactionAlong { constraint, span });
        }
    }
    let written = e.force.iter().chain(&e.residual);
    if written.into_iter().any(|&x| g.has_memory(x)) {
        return refused("the model has memory");
    }
    Ok(lagrangian)
}

/// As [`ideal`], with constraints linear or affine in the velocities.
fn affine(model: &Workspace, e: &Equations, form: &'static str) -> Result<Expr, Refusal> {
    let lagrangian = ideal(model, e, form)?;
    let flat = |c: &Class| matches!(c, Class::Holonomic | Class::Linear | Class::Affine);
    match e.classes.iter().position(|c| !flat(c)) {
        None => Ok(lagrangian),
        Some(a) => {
            let name = &model.constraints[a].name;
            let what =
                format!("the constraint `{name}` is not linear or affine in the velocities");
            Err(no_form(model, form, what))
        }
    }
}

/// $Q$, all forces that are not in $L$.
fn given_forces(model: &Workspace) -> Vec<Expr> {
    let given = |k: usize| model.graph.sum(model.forces.iter().map(|f| f.components[k]));
    (0..model.coordinates.len()).map(given).collect()
}
