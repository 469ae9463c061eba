//! The geometry behind (L, constraints): splits of the velocities, connections with torsion and curvature,
//! distributions and their flags.
//!
//! ```text
//! Model + Equations ──► Split ──► Frame ──► Connection        (metric needed)
//!                                   └─────► Flag, integrals   (constraints alone)
//! ```
//!
//! Conventions: $\dot q^\alpha = \varepsilon^\alpha_\mu\dot q^\mu$, $X_\mu = \partial_\mu +
//! \varepsilon^\alpha_\mu\partial_\alpha$, $F^\alpha_{\mu\nu} = X_\mu\varepsilon^\alpha_\nu -
//! X_\nu\varepsilon^\alpha_\mu$;
//! $\nabla_\mu\partial_\nu = \Gamma^\sigma_{\mu\nu}\partial_\sigma$, torsion with the factor ½,
//! $R^\rho{}_{\sigma\mu\nu} = \partial_\mu\Gamma^\rho_{\nu\sigma} - \partial_\nu\Gamma^\rho_{\mu\sigma} +
//! \Gamma^\rho_{\mu\lambda}\Gamma^\lambda_{\nu\sigma} - \Gamma^\rho_{\nu\lambda}\Gamma^\lambda_{\mu\sigma}$.

mod abnormal;
mod abnormal_places;
mod connection;
mod flag;
mod foliation;
mod frame;
mod integrability;
mod integrals;
mod krupkova;
mod lagrange_space;
mod reach;
mod speed;

use pfaff_expr::Expr;
use pfaff_model::Workspace;

pub use abnormal::{Abnormal, abnormal};
pub use abnormal_places::{AbnormalPlaces, abnormal_places, first_integrals};
pub use connection::Connection;
pub use flag::{Bracket, Distribution, Flag};
pub use foliation::{Foliation, ProjectedEquations, foliation, is_adapted};
pub use frame::{Ambient, Frame};
pub use integrability::{Ranks, integrable, ranks};
pub use integrals::integrals;
pub use krupkova::{ConstrainedSystem, constrained_system, lepage};
pub use lagrange_space::{LagrangeSpace, Semispray, closedness, lagrange_space};
pub use reach::generates_everywhere;
pub use speed::{PrescribedSpeed, prescribed_speed};

use crate::algebra::tensor::Tensor;
use crate::constraint::split::{Split, split};
use crate::equations::{Equations, Refusal};

/// Everything that is symbolic about the geometry of a model.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Base and dependent coordinates, $\varepsilon$ and the drift.
    pub split: Split,
    /// $X_\mu$
    pub frame: Frame,
    /// $F^\alpha_{\mu\nu}$
    pub bundle_curvature: Tensor,
    /// What makes this no system of Chaplygin, if anything does.
    pub obstacle: Option<Obstacle>,
    /// Metric and connections; `Err` says why there are none.
    pub connection: Result<Connection, NoMetric>,
}

/// Why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMetric {
    /// The Lagrangian is not quadratic in the velocities.
    NotQuadratic,
    /// The metric is singular on the distribution.
    Singular,
    /// Time occurs in the metric or in the constraints.
    Timely,
}

/// What is not a function on the base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A coefficient contains a dependent coordinate or time.
    Contains {
        /// `epsilon[z,x]`, `g[x,y]`
        coefficient: String,
        /// The coordinate, or `t`.
        name: String,
    },
    /// The constraint for this velocity is affine: it has a part without velocities.
    Drift {
        /// The dependent coordinate.
        name: String,
    },
}

/// The geometry of a model; `dependent` names the dependent coordinates by index.
///
/// # Errors
///
/// [`Refusal`] if a constraint is not linear in the velocities, or does not determine what it should.
pub fn geometry(
    model: &Workspace,
    equations: &Equations,
    dependent: Option<&[usize]>,
) -> Result<Geometry, Refusal> {
    let g = &model.graph;
    let split = split(model, equations, dependent)?;
    g.merging(|| {
        let frame = Frame::new(model, &split);
        let bundle_curvature = frame.bundle_curvature(g, &split);
        let ambient = equations.kinetic.as_ref().map(|k| Ambient::new(model, &k.metric));
        let obstacle = obstacle(model, &split, ambient.as_ref());
        let connection = match &ambient {
            None => Err(NoMetric::NotQuadratic),
            Some(a) if is_timely(model, &split, a) => Err(NoMetric::Timely),
            Some(a) => {
                let parts = (&split, &frame, a);
                connection::connection(model, parts, &bundle_curvature, obstacle.is_none())
                    .ok_or(NoMetric::Singular)
            }
        };
        Ok(Geometry { split, frame, bundle_curvature, obstacle, connection })
    })
}

/// Whether time occurs where the connection would have to see it.
fn is_timely(model: &Workspace, split: &Split, ambient: &Ambient) -> bool {
    let contains = |e: &Expr| model.graph.contains(*e, &[model.time]);
    split.slopes.iter().flatten().any(contains) || ambient.metric.iter().flatten().any(contains)
}

/// The first coefficient that is no function on the base.
fn obstacle(model: &Workspace, split: &Split, ambient: Option<&Ambient>) -> Option<Obstacle> {
    let g = &model.graph;
    let name = |k: usize| model.coordinates[k].name.clone();
    let culprit = |e: Expr| -> Option<String> {
        let inside =
            split.dependent.iter().find(|&&k| crate::constraint::split::is_inside(model, e, k));
        let timely = || g.contains(e, &[model.time]).then(|| "t".to_owned());
        inside.map(|&k| name(k)).or_else(timely)
    };
    for (row, &α) in split.slopes.iter().zip(&split.dependent) {
        for (&e, &μ) in row.iter().zip(&split.base) {
            if let Some(culprit) = culprit(e) {
                let coefficient = format!("epsilon[{},{}]", name(α), name(μ));
                return Some(Obstacle::Contains { coefficient, name: culprit });
            }
        }
    }
    let affine = split.drift.iter().position(|&b| !g.is_zero(b));
    if let Some(α) = affine {
        return Some(Obstacle::Drift { name: name(split.dependent[α]) });
    }
    let ambient = ambient?;
    for (i, row) in ambient.metric.iter().enumerate() {
        for (j, &e) in row.iter().enumerate() {
            if let Some(culprit) = culprit(e) {
                let coefficient = format!("g[{},{}]", name(i), name(j));
                return Some(Obstacle::Contains { coefficient, name: culprit });
            }
        }
    }
    None
}
