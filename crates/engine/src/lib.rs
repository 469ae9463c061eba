//! Constrained mechanics: write a Lagrangian and the constraints as a paper does, get the equations of motion,
//! the motion, and an audit of it.
//!
//! ```
//! use pfaff::{Model, Principle, Run};
//!
//! let text = "
//! coordinates  x, y, phi
//! parameters   m = 1, J = 0.5, a = 0.2
//! let          X = x + a*cos(phi)               # centre of mass
//! let          Y = y + a*sin(phi)
//! lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2
//! constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
//! initial      x' = 1, phi' = 0.3
//! ";
//! let model = Model::parse(text)?;
//! let motion = model.derive(Principle::Chetaev)?.run(Run::to(5.0).tolerance(1e-10))?;
//! println!("{}", motion.position("x")?.at(2.5));
//!
//! // The blade's force is data, with a stated sign: M q″ = f + Aᵀλ.
//! let force = motion.multiplier("blade")?;
//! assert_eq!(force.len(), motion.t.len());
//! // Every run says whether its numbers can be trusted, and why.
//! assert_eq!(motion.audit.verdict, pfaff::Verdict::Pass);
//! # Ok::<(), pfaff::Error>(())
//! ```
//!
//! ```text
//! text ─► Model ─► Derivation (Principle) ─► Motion ─► Audit
//! ```
//!
//! The equations are those of a saddle point,
//!
//! $$ M\ddot q = f + A^\top\lambda, \qquad A\ddot q = b, $$
//!
//! with the constraints $\varphi(t, q, \dot q) = 0$ as the text writes them (left side minus right side) and
//! $A = \partial\varphi/\partial\dot q$. The sign of the reaction is plus, everywhere.
//!
//! | you want | begin with |
//! |---|---|
//! | to read a model | [`Model::parse`], [`Model::read`], [`Model::gallery`] |
//! | its equations, its numbers at a state | [`Model::derive`], [`at_state`] |
//! | a motion | [`Run`], [`Model::run`], [`Derivation::run`] |
//! | a quantity of it as a function of time | [`Motion::position`], [`Column::at`] |
//! | the class of the constraints | [`Model::check`] |
//! | many motions with other values | [`Cases`], [`Ensemble`] |
//! | several principles side by side | [`compare`] |
//! | connections, torsion, curvature | [`geometry`] |
//! | where it rests, what is stable | [`equilibria`], [`linearize`] |
//! | C, Rust or Python code | [`export`] |
//!
//! A [`Model`] never changes and is `Send + Sync`: the same call gives the same bits whatever was called before,
//! on any thread. Results of runs that stop early are data and say why they stopped ([`Stop`]); only what cannot
//! begin is an [`Error`], which prints itself with the line it points at.

mod analysis;
mod audit;
mod clock;
mod derivation;
mod ensemble;
mod error;
mod gallery;
mod model;
mod motion;
mod pipeline;
mod problem;
mod run;
mod signs;
mod split_mix;
mod system;

pub use analysis::check::{CheckReport, ConstraintReport, check, check_of};
pub use analysis::compare::{Comparison, Kept, Parting, compare};
pub use analysis::discover::{
    DiscoveredRow, DiscoveredTerm, Discovery, MeasuredMotions, discover,
};
pub use analysis::eval::{Range, Value, evaluate};
pub use analysis::export::{ExportForm, export, exported, exported_for};
pub use analysis::fit::{
    Estimate, Fit, FitRequest, FitRun, Freedom, Loss, Measurements, Prior, fit, fit_runs,
    named_bounds, named_priors, named_values,
};
pub use analysis::forms::{Fact, FactValue, PARTS, Parts, Point};
pub use analysis::gait::{Gait, GaitRequest, gait};
pub use analysis::geometry::{
    Block, CurveKind, DistributionReport, FractionalGeometry, GeometryReport, GeometryRequest,
    Letter, Path, Reach, Repeats, Trace, curve, fractional_geometry, geometry, geometry_of,
    geometry_parts, geometry_with, lift, named_coordinates,
};
pub use analysis::phase::branch::{
    Branch, BranchPoint, Continuation, ContinueRequest, SpecialPoint,
};
pub use analysis::phase::continuation::continue_equilibria;
pub use analysis::phase::equilibria::{
    Equilibria, EquilibriaRequest, Equilibrium, SearchRange, equilibria,
};
pub use analysis::phase::full_form::FullForm;
pub use analysis::phase::linearize::{Linearization, LinearizeRequest, SecondOrder, linearize};
pub use analysis::phase::lyapunov::{Lyapunov, LyapunovRequest, lyapunov};
pub use analysis::phase::measure::{Measure, MeasureRequest, measure};
pub use analysis::phase::mode_shape::mode_motions;
pub use analysis::phase::orbit::orbit;
pub use analysis::phase::orbit_branch::continue_orbits;
pub use analysis::phase::periodic::{Orbit, OrbitCheck, OrbitMethod, OrbitRequest};
pub use analysis::phase::section::{Section, SectionRequest, section, section_many};
pub use analysis::phase::stability::{Stability, StabilityReason};
pub use analysis::phase::symbolic::SymbolicMatrix;
pub use analysis::phase::zero_exponents::ZeroExponents;
pub use analysis::right_side::RightSide;
pub use analysis::state::{StateEvaluator, StateReport, at_state};
pub use analysis::thermal::{Thermal, thermal};
pub use analysis::variations::{Variation, VariationRequest, Variations, variations};
pub use analysis::views::{View, ViewMotion, view_motion};
pub use clock::{Clock, Interrupt};
pub use derivation::{Derivation, derive, derive_for_run};
pub use ensemble::cases::Cases;
pub use ensemble::lanes::{LaneCheck, LaneCheckKind, LaneEventRecord, LaneMotion};
pub use ensemble::prepared::PreparedModel;
pub use ensemble::sequence::Sampling;
pub use ensemble::{CaseMotion, Ensemble};
pub use error::{Error, LEFT_OUT};
pub use gallery::{GALLERY, GalleryFiles, GalleryModel, gallery_model};
pub use model::Model;
pub use motion::column::Column;
pub use motion::dense_output::DenseOutput;
pub use motion::double_double::{DoubleDoubleMotion, DoubleDoubleSeries};
pub use motion::equivalence::Equivalence;
pub use motion::note::{Note, brief};
pub use motion::sample::Sample;
pub use motion::sample::sample_symbols;
pub use motion::sensitivity::{EventSensitivity, Gradient, Sensitivity, Transition};
pub use motion::solution::Solution;
pub use motion::verdict::{Audit, Check, Verdict};
pub use motion::{EventRecord, Form, Motion, Series, Statistics, Stop, StopReason};
pub use pfaff_expr::{DoubleDouble, interruptible};
pub use pfaff_mechanics::{Class, Equations, Kinetic, Ordinary, Refusal};
pub use pfaff_model::{
    Declarations, Diagnostic, EXPLANATIONS, Example, Explanation, Files, NoFiles, Overrides,
    ParseErrors, Principle, Severity, Source, Span, Workspace, closest, explanation,
};
pub use pfaff_program::{Backend, Language};
pub use pfaff_solver::Eigenvector;
pub use pipeline::{run, run_derived, run_watched};
pub use problem::guess::Guess;
pub use problem::settings::{GradientRequest, Method, Precision, Run, Settings, separated};
pub use problem::state::{State, read_named_numbers, read_state};
pub use run::prepare::PreparedRun;
pub use run::progress::Progress;
pub use run::variational::{
    FractionalHamilton, FractionalHamiltonEquation, fractional_hamilton, is_fractional,
};
pub use run::volterra::{departures, has_memory, order};
pub use signs::signs;
pub use system::compiled::Dynamics;
