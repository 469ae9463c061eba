//! Constrained mechanics: a model text becomes an audited motion.
//!
//! ```text
//! text ─► Model ─► Dynamics (Principle) ─► Mechanism ─► Motion ─► Audit
//! ```
//!
//! The equations are those of a saddle point, $M\ddot q = f + A^\top\lambda$ and $A\ddot q = b$; the sign of
//! the reaction is plus, everywhere.

mod audit;
mod body;
mod boundary;
mod command;
mod compare;
mod compare_present;
mod core;
mod derivation;
mod dual;
mod effective_mass;
mod equivalence;
mod expansion;
mod export;
mod flow;
mod foreign;
mod forms;
mod fractional;
mod gallery;
mod geometry;
mod hold;
mod independence;
mod instant;
mod json;
mod mechanism;
mod memory;
mod motion;
mod multiplier;
mod note;
mod operator;
mod ordinary;
mod pipeline;
mod present;
mod present_document;
mod present_fractional;
mod present_hamilton;
mod present_reduced;
mod present_restricted;
mod progress;
mod projection;
mod ready;
mod record;
mod reduced;
pub mod report;
mod saddle;
mod sensitivity;
mod settings;
mod signs;
mod singular;
mod start;
mod state;
mod survey;
mod thermal;
mod unrolled;
mod variations;
mod variations_present;
mod views;
mod whole;
mod witness;

pub use audit::{Audit, Check, Verdict};
pub use boundary::{Guess, Solution};
pub use command::{Range, Value, evaluate, read_named_numbers, read_state};
pub use compare::{Comparison, Kept, Parting, compare};
pub use derivation::{Derivation, derive};
pub use equivalence::Equivalence;
pub use export::{ExportForm, NoExport, export, exported};
pub use forms::{PARTS, Point};
pub use gallery::{GALLERY, GalleryFiles, GalleryModel, gallery_model};
pub use geometry::{
    CurveKind, GeometryReport, GeometryRequest, NoGeometry, Path, Trace, curve, geometry,
    geometry_parts, geometry_with, lift, named_coordinates, present_fractional_forms,
};
pub use instant::Instant;
pub use json::Json;
pub use mechanism::Dynamics;
pub use motion::{EventRecord, Form, Motion, Series, Statistics, Stop, StopReason};
pub use note::Note;
pub use pfaff_mechanics::{Class, Equations, Kinetic, Ordinary, Refusal};
pub use pfaff_model::{
    Declarations, Diagnostic, Files, Model, NoFiles, Overrides, Principle, Severity, Source,
    Span, Workspace, closest,
};
pub use pfaff_present::{Axis, Curve, Figure, Look};
pub use pfaff_program::{Backend, Language};
pub use pipeline::{Failure, Reading, Rejected, read, run, run_derived, run_watched};
pub use present::{Presentation, present};
pub use present_fractional::{present_fractional, present_fractional_hamilton};
pub use present_hamilton::present_hamilton;
pub use present_reduced::present_reduced;
pub use progress::Progress;
pub use ready::Ready;
pub use settings::Request;
pub use signs::signs;
pub use state::{State, StateReport, at_state};
pub use survey::{ConstraintSurvey, Survey, survey};
pub use thermal::{Thermal, thermal};
pub use variations::{NoVariations, Variation, VariationRequest, Variations, variations};
pub use views::{View, ViewMotion, view_motion};
