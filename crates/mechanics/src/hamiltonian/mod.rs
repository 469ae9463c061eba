//! Momenta instead of velocities: Legendre's transformation, Hamilton's form, and forms on phase space.

mod cotangent;
mod divergence;
mod fractional_forms;
mod hamilton_form;
mod legendre;
mod poincare_cartan;

pub use cotangent::{Cotangent, CotangentEquations, cotangent, cotangent_equations};
pub use divergence::{Divergence, divergence, divergence_formula};
pub use fractional_forms::{FractionalForms, Orders, fractional_forms};
pub use hamilton_form::{HamiltonForm, hamilton_form};
pub use legendre::{Legendre, LegendreInput, legendre, short_legendre};
pub use poincare_cartan::{CartanForms, cartan_forms};
