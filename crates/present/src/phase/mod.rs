//! Phase space.

mod continuation;
mod equilibria;
mod gait;
mod linearize;
mod lyapunov;
mod measure;
mod orbit;
mod section;
mod words;

pub use continuation::{branch_csv, diagram, diagram_page};
pub use linearize::{
    RootLocus, eigenvalue_csv, full_text, linear_page, locus_page, matrix_csv,
};
pub use section::{section_figure, section_table};
pub use words::moved_values;
