//! Equations as numbers: the saddle-point system (K), its reduced and ordinary forms, and the projections onto the
//! constraints. The integrators see them through [`compiled`].

pub(crate) mod capabilities;
pub(crate) mod clearance;
pub(crate) mod compiled;
pub(crate) mod condensed;
pub(crate) mod constraint_scale;
pub(crate) mod contact;
pub(crate) mod cusp;
pub(crate) mod dynamical_parts;
pub(crate) mod dynamics;
pub(crate) mod energy_scale;
pub(crate) mod event_phases;
pub(crate) mod explicit_steps;
pub(crate) mod features;
pub(crate) mod geometric;
pub(crate) mod independent_constraints;
pub(crate) mod jacobian;
pub(crate) mod kkt;
pub(crate) mod linearisation;
pub(crate) mod magnitude;
pub(crate) mod ordinary;
pub(crate) mod phase_divergence;
pub(crate) mod projection;
pub(crate) mod reduced;
pub(crate) mod saddle_point;
pub(crate) mod sparse_rows;
pub(crate) mod static_ldl;
pub(crate) mod tangent_rates;
pub(crate) mod taylor_system;
pub(crate) mod variational;
