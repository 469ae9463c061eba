//! From a model and a principle to the equations of motion, symbolically.
//!
//! ```text
//! Model + Principle ──► Equations { M, A, f, b }   (never a symbolic inverse)
//! ```
//!
//! The saddle-point equations are the truth; every other form is a view of them.

mod abnormal_places;
mod antiderivative;
mod chaplygin;
mod chetaev;
mod class;
mod distribution;
mod divergence;
mod elimination;
mod equations;
mod factors;
mod fractional;
mod geometry;
mod helmholtz;
mod kinetic;
mod legendre;
mod ordinary;
mod reduced;
mod reduction;
mod refusal;
mod restricted;
mod symmetry;
mod vakonomic;

pub use abnormal_places::{AbnormalPlaces, abnormal_places, first_integrals};
pub use chaplygin::{Chaplygin, chaplygin, chaplygin_of_constraints};
pub use class::{Class, classify};
pub use distribution::{Rank, integrable, ranks};
pub use divergence::{Divergence, divergence, divergence_formula};
pub use elimination::solve_linear;
pub use equations::{Equations, derive};
pub use factors::{Solved, solve_saddle};
pub use fractional::{FractionalEquations, adjoint, fractional_equations};
pub use geometry::{
    Abnormal, Ambient, Bracket, CartanForms, Connection, ConstrainedSystem, Cotangent,
    CotangentEquations, Distribution, Flag, Foliation, Form, FractionalForms, Frame, Geometry,
    HamiltonForm, LagrangeSpace, MixedDegrees, NoMetric, NormalForm, Obstacle, Orders,
    Semispray, Space, SpeedProgramme, Split, Tensor, abnormal, cartan_forms, closedness,
    constrained_system, cotangent, cotangent_equations, foliation, fractional_forms, geometry,
    hamilton_form, integrals, is_adapted, lagrange_space, lepage, normal_form, simple,
    speed_programme, split,
};
pub use helmholtz::{Helmholtz, helmholtz};
pub use kinetic::Kinetic;
pub use legendre::{Legendre, Transformed, legendre};
pub use ordinary::{Ordinary, ordinary};
pub use pfaff_model::Principle;
pub use reduced::{
    Explicit, QuasiVelocities, ReducedEquations, canonical, explicit, quasi_velocities,
    reduced_equations,
};
pub use reduction::{Chart, Multipliers, Point, Reduction, Statement, reduce};
pub use refusal::Refusal;
pub use symmetry::{Momentum, kept_momenta, momenta};
