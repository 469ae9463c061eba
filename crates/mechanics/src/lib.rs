//! From a model and a principle to the equations of motion, symbolically.
//!
//! ```text
//! Model + Principle ──► Equations { M, A, f, b }   (never a symbolic inverse)
//! ```
//!
//! The saddle-point equations are the truth; every other form is a view of them.

mod algebra;
mod constraint;
mod equations;
mod geometry;
mod hamiltonian;
mod lagrangian;
mod principle;
mod reduction;
mod standard_forms;
mod symmetry;

pub use algebra::{DifferentialForm, MixedDegrees, Space, Tensor, simple, solve_linear};
pub use constraint::{NormalForm, Split, normal_form, split};
pub use equations::{
    Class, Equations, MultiplierTerms, Refusal, SparseBlocks, classify, sparse_rows,
};
pub use geometry::{
    Abnormal, AbnormalPlaces, Ambient, Bracket, Connection, ConstrainedSystem, Distribution,
    Flag, Foliation, Frame, Geometry, LagrangeSpace, NoMetric, Obstacle, PrescribedSpeed,
    ProjectedEquations, Ranks, Semispray, abnormal, abnormal_places, closedness,
    constrained_system, first_integrals, foliation, generates_everywhere, geometry, integrable,
    integrals, is_adapted, lagrange_space, lepage, prescribed_speed, ranks,
};
pub use hamiltonian::{
    CartanForms, Cotangent, CotangentEquations, Divergence, FractionalForms, HamiltonForm,
    Legendre, LegendreInput, Orders, cartan_forms, cotangent, cotangent_equations, divergence,
    divergence_formula, fractional_forms, hamilton_form, legendre, short_legendre,
};
pub use lagrangian::{AuxiliaryVelocities, Helmholtz, Kinetic, helmholtz};
pub use principle::{
    FractionalEquations, LARGE, Ordinary, Principle, adjoint, derive, derive_for_run,
    fractional_equations, ordinary,
};
pub use reduction::{
    Chaplygin, ChartPoint, ExplicitSolution, LagrangianData, Multipliers, PivotChart,
    QuasiVelocities, ReducedEquations, Reduction, SaddleSolution, canonical, chaplygin,
    chaplygin_of_constraints, explicit, quasi_velocities, reduce, reduced_equations,
    reduced_in_names, solve_saddle,
};
pub use standard_forms::{
    BoltzmannHamel, Maggi, ProjectedForm, Routhian, Voronets, boltzmann_hamel, chaplygin_form,
    maggi, projected_form, routhian, voronets,
};
pub use symmetry::{
    Conserved, ConservedKind, Effort, Momentum, conserved, kept_momenta, momenta,
};
