//! What people and files see of models and motions: text, LaTeX, JSON, tables, figures and pages.
//!
//! ```text
//! Derivation, Motion, … (pfaff) ─► text, LaTeX, JSON (ToText, ToLatex, ToJson)
//!                                ─► CSV, Parquet (Table)      ─► SVG, PDF, PNG (Figure)      ─► HTML (report)
//! ```
//!
//! Nothing here derives numbers of its own by integration: what is shown was computed and audited by `pfaff`.

mod check;
mod equations;
mod geometry;
mod hurry;
mod json;
mod motion;
mod number;
mod phase;
mod plot;
pub mod report;
mod sweep;
mod sweep_figure;
mod sweep_grid;
mod sweep_page;
mod table;

pub use equations::{
    Presentation, StandardForm, expression_graph, is_long_in_velocities, present,
    present_fractional, present_fractional_hamilton, present_hamilton,
    present_hamilton_in_velocities, present_outline, present_reduced, present_reduced_shortly,
    present_short, present_short_quickly, present_standard,
};
pub use geometry::{present_fractional_forms, present_geometry, trace_table};
pub use hurry::hurried;
pub use json::json_text;
#[cfg(not(target_arch = "wasm32"))]
pub use motion::write_motion;
pub use motion::{
    FileFormat, comparison_table, motion_summary, motion_table, notes, residual_figure,
    sentence, summary, view_json, view_text,
};
pub use number::brief;
pub use pfaff_expr::commands_a_screen;
pub use phase::{
    RootLocus, branch_csv, diagram, diagram_page, eigenvalue_csv, full_text, linear_page,
    locus_page, matrix_csv, moved_values, section_figure, section_table,
};
pub use plot::{Area, Axis, Curve, Figure, Look, Points, Style};
pub use serde_json::Value;
pub use sweep::{Keep, KeptMotion, SweepSummary, SweepTable};
pub use sweep_figure::{SweepPlot, SweepRows};
pub use sweep_page::{SweepPage, sweep_page};
pub use table::{
    Block, Cells, ColumnDifference, Heading, Kind, Table, TableDifference, Texts,
    column_values, difference,
};
#[cfg(not(target_arch = "wasm32"))]
pub use table::{TableReader, TableWriter};

/// What people read.
pub trait ToText {
    /// Lines of text.
    fn to_text(&self) -> String;
}

/// What papers need.
pub trait ToLatex {
    /// Formulas in LaTeX.
    fn to_latex(&self) -> String;
}

/// What programs read.
pub trait ToJson {
    /// One JSON object, with keys in a fixed order.
    fn to_json(&self) -> Value;

    /// Its text, in one line that ends.
    fn to_json_line(&self) -> String {
        json_text(&self.to_json()) + "\n"
    }

    /// Writes this text, piece by piece where it may be as long as memory.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    fn write_json_line(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        out.write_all(self.to_json_line().as_bytes())
    }
}
