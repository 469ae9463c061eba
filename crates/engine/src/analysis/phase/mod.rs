//! The flow in phase space: where it rests, what is stable, periodic or chaotic, and how that changes.
//!
//! `field.rs` has the rates of a state and their exact derivatives, `chart.rs` independent coordinates of the
//! constraint manifold, `quotient.rs` what is left when cyclic coordinates are removed.

mod bracket;
pub(crate) mod branch;
pub(crate) mod branch_place;
pub(crate) mod branch_step;
pub(crate) mod chart;
pub(crate) mod collocation;
pub(crate) mod continuation;
pub(crate) mod equilibria;
pub(crate) mod families;
pub(crate) mod field;
pub(crate) mod full_form;
pub(crate) mod held;
pub(crate) mod integrals;
pub(crate) mod jumping_exponents;
pub(crate) mod linearize;
pub(crate) mod lyapunov;
pub(crate) mod measure;
pub(crate) mod mode_shape;
pub(crate) mod multiple_shooting;
pub(crate) mod nearest_return;
pub(crate) mod orbit;
pub(crate) mod orbit_branch;
pub(crate) mod parameter_flow;
pub(crate) mod periodic;
pub(crate) mod quick_section;
pub(crate) mod quotient;
pub(crate) mod return_branch;
pub(crate) mod return_map;
pub(crate) mod returning;
mod search_box;
pub(crate) mod section;
pub(crate) mod series_section;
pub(crate) mod shooting;
pub(crate) mod stability;
pub(crate) mod symbolic;
pub(crate) mod symmetries;
pub(crate) mod tangent_flow;
pub(crate) mod tangent_lanes;
pub(crate) mod zero_exponents;
