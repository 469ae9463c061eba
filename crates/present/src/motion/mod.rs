//! A motion and what is made of several: summary, JSON, tables, comparison, variations.

pub(crate) mod compare;
mod discover;
pub(crate) mod equivalence;
mod fit;
mod json;
mod note;
mod summary;
mod table;
mod variations;
mod view;

pub use compare::comparison_table;
pub use fit::residual_figure;
pub use json::motion_summary;
pub use note::{notes, sentence};
pub use summary::summary;
#[cfg(not(target_arch = "wasm32"))]
pub use table::write_motion;
pub use table::{FileFormat, motion_table};
pub use view::{view_json, view_text};
