//! A model and a principle into equations that stand by themselves.
//!
//! A derivation owns the graph in which its expressions live. Neither the model nor another derivation sees
//! it, so the same call gives the same bits whatever was called before.

use crate::model::Model;
use pfaff_expr::FrozenGraph;
use pfaff_mechanics::{LARGE, Refusal, derive as derive_equations, ordinary};
use pfaff_model::{Principle, Workspace};

use crate::error::{Error, Failure};
use crate::system::compiled::Dynamics;

/// The equations of motion of a model under a principle.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The model they belong to.
    pub model: Model,
    /// The blocks of (K), or the equations as the text gives them.
    pub dynamics: Dynamics,
    graph: FrozenGraph,
    /// Whether they were derived with families of like terms as they were read.
    has_families: bool,
}

impl Derivation {
    /// Equations that were derived, and perhaps changed, in a workspace of the model.
    pub fn new(model: &Model, workspace: Workspace, dynamics: Dynamics) -> Self {
        let has_families = workspace.has_families();
        Self { model: model.clone(), dynamics, graph: workspace.graph.freeze(), has_families }
    }

    /// The principle, `None` for an `equation` model.
    pub fn principle(&self) -> Option<Principle> {
        match &self.dynamics {
            Dynamics::Saddle(equations) => Some(equations.principle),
            Dynamics::Ordinary(_) => None,
        }
    }

    /// A workspace in which the expressions of the equations are valid.
    pub fn workspace(&self) -> Workspace {
        let mut workspace = self.model.workspace_with(&self.graph);
        if !self.has_families {
            workspace.write_out();
        }
        workspace
    }

    /// The workspace, and the equations that are valid in it.
    pub(crate) fn into_workspace(self) -> (Workspace, Dynamics) {
        let workspace = self.workspace();
        (workspace, self.dynamics)
    }
}

/// Derives the equations of a model; `principle` overrides the model's own.
///
/// # Errors
///
/// [`Error`] says what stands in the way.
pub fn derive(model: &Model, principle: Option<Principle>) -> Result<Derivation, Error> {
    let workspace = model.workspace();
    let dynamics = derive_in(&workspace, principle)
        .map_err(|refusal| Failure::from(refusal).in_source(&model.source))?;
    Ok(Derivation::new(model, workspace, dynamics))
}

/// Derives the equations of a model in the form that a run takes: the mass matrix may be given by auxiliary velocities,
/// and families of like terms stay as they were read.
///
/// # Errors
///
/// As [`derive()`].
pub fn derive_for_run(
    model: &Model,
    principle: Option<Principle>,
) -> Result<Derivation, Error> {
    let is_chetaev = principle.unwrap_or(model.principle) == Principle::Chetaev;
    let is_large = model.coordinates.len() >= LARGE;
    let workspace = if is_chetaev && is_large {
        model.workspace_with_families()
    } else {
        model.workspace()
    };
    derive_shortest(model, workspace, principle)
}

/// Derives the equations of a model, in a workspace of it, for a run alone: with the mass matrix in the form that is
/// shortest.
pub(crate) fn derive_shortest(
    model: &Model,
    workspace: Workspace,
    principle: Option<Principle>,
) -> Result<Derivation, Error> {
    let dynamics = derive_shortest_in(&workspace, principle)
        .map_err(|refusal| Failure::from(refusal).in_source(&model.source))?;
    Ok(Derivation::new(model, workspace, dynamics))
}

/// As [`derive_shortest`], in a workspace that goes on to be used.
pub(crate) fn derive_shortest_in(
    model: &Workspace,
    principle: Option<Principle>,
) -> Result<Dynamics, Refusal> {
    match model.dynamics {
        pfaff_model::Dynamics::Lagrangian { .. } => {
            let principle = principle.unwrap_or(model.principle);
            pfaff_mechanics::derive_for_run(model, principle).map(Dynamics::Saddle)
        }
        pfaff_model::Dynamics::Equations(_) => ordinary(model).map(Dynamics::Ordinary),
    }
}

/// Derives the equations of a model in a workspace that goes on to be used.
pub(crate) fn derive_in(
    model: &Workspace,
    principle: Option<Principle>,
) -> Result<Dynamics, Refusal> {
    match model.dynamics {
        pfaff_model::Dynamics::Lagrangian { .. } => {
            derive_equations(model, principle.unwrap_or(model.principle)).map(Dynamics::Saddle)
        }
        pfaff_model::Dynamics::Equations(_) => ordinary(model).map(Dynamics::Ordinary),
    }
}

impl Model {
    /// The equations of motion under a principle.
    ///
    /// # Errors
    ///
    /// [`Error`] says what stands in the way.
    pub fn derive(&self, principle: Principle) -> Result<Derivation, Error> {
        derive(self, Some(principle))
    }
}
