//! Constrained mechanics: a model text becomes an audited motion.
//!
//! ```text
//! text ─► Model ─► Dynamics (Principle) ─► CompiledSystem ─► Motion ─► Audit
//! ```
//!
//! The equations are those of a saddle point, $M\ddot q = f + A^\top\lambda$ and $A\ddot q = b$; the sign of
//! the reaction is plus, everywhere.

mod analysis;
mod audit;
mod clock;
mod compare_present;
mod derivation;
mod error;
mod gallery;
mod json;
mod model;
mod motion;
mod pipeline;
mod present;
mod present_document;
mod present_fractional;
mod present_hamilton;
mod present_reduced;
mod present_restricted;
mod problem;
pub mod report;
mod run;
mod signs;
mod system;
mod variations_present;

pub use analysis::check::{CheckReport, ConstraintReport, check};
pub use analysis::compare::{Comparison, Kept, Parting, compare};
pub use analysis::eval::{Range, Value, evaluate};
pub use analysis::export::{ExportForm, export, exported};
pub use analysis::forms::{PARTS, Point};
pub use analysis::geometry::{
    CurveKind, GeometryReport, GeometryRequest, Path, Trace, curve, geometry, geometry_parts,
    geometry_with, lift, named_coordinates, present_fractional_forms,
};
pub use analysis::state::{StateReport, at_state};
pub use analysis::thermal::{Thermal, thermal};
pub use analysis::variations::{Variation, VariationRequest, Variations, variations};
pub use analysis::views::{View, ViewMotion, view_motion};
pub use clock::Clock;
pub use derivation::{Derivation, derive};
pub use error::Error;
pub use gallery::{GALLERY, GalleryFiles, GalleryModel, gallery_model};
pub use json::Json;
pub use model::Model;
pub use motion::column::Column;
pub use motion::equivalence::Equivalence;
pub use motion::note::Note;
pub use motion::sample::Sample;
pub use motion::solution::Solution;
pub use motion::verdict::{Audit, Check, Verdict};
pub use motion::{EventRecord, Form, Motion, Series, Statistics, Stop, StopReason};
pub use pfaff_mechanics::{Class, Equations, Kinetic, Ordinary, Refusal};
pub use pfaff_model::{
    Declarations, Diagnostic, EXPLANATIONS, Example, Explanation, Files, NoFiles, Overrides,
    ParseErrors, Principle, Severity, Source, Span, Workspace, closest, explanation,
};
pub use pfaff_present::{Axis, Curve, Figure, Look};
pub use pfaff_program::{Backend, Language};
pub use pipeline::{run, run_derived, run_watched};
pub use present::{Presentation, present};
pub use present_fractional::{present_fractional, present_fractional_hamilton};
pub use present_hamilton::present_hamilton;
pub use present_reduced::present_reduced;
pub use problem::guess::Guess;
pub use problem::settings::{Method, Run};
pub use problem::state::{State, read_named_numbers, read_state};
pub use run::prepare::Ready;
pub use run::progress::Progress;
pub use signs::signs;
pub use system::compiled::Dynamics;
