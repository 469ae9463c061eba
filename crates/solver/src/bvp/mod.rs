//! Boundary value problems: paths between two ends.
//!
//! $$ y' = f(s, y), \quad 0 \le s \le 1, \qquad g(y(0), y(1)) = 0 \qquad (\mathrm B) $$
//!
//! A [`BoundaryProblem`] gives $f$, $g$ and their exact derivatives. [`solve_boundary`] improves a given
//! [`BoundaryPath`] by Newton's iteration on
//! the whole path, either over pieces that are integrated with the sensitivities of their flow
//! ([`Scheme::Shooting`]) or over polynomials
//! that satisfy the equation at Gauss points ([`Scheme::Collocation`]). [`shoot`] and [`continuation`] look for the
//! start of a path when no good guess is known; [`relaxed`] leads a path to a minimum of a discretised action.
//!
//! **Conventions.** The independent variable runs from 0 to 1. An end time that is not known is a component
//! with zero rate.
//! There may be more or fewer conditions than components: steps are the shortest ones that satisfy the
//! linearised conditions best.

mod block_system;
mod collocation;
mod continuation;
mod mesh;
mod multiple_shooting;
mod path;
mod problem;
mod relaxation;
mod single_shooting;
mod solve;

pub use collocation::{collocated_state, collocation_residuals, collocation_transitions};
pub use continuation::continuation;
pub use multiple_shooting::{FlowMap, flow_map};
pub use path::BoundaryPath;
pub use problem::BoundaryProblem;
pub use relaxation::{DiscreteAction, LagrangianDerivatives, relaxed};
pub use single_shooting::{Shot, shoot, shooting_residual};
pub use solve::{BoundaryOptions, BoundaryReport, Scheme, solve_boundary};
