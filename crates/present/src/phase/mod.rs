//! Phase space.

mod continuation;
mod equilibria;
mod linearize;
mod lyapunov;
mod orbit;
mod section;
mod words;

pub use continuation::branch_csv;
pub use linearize::{RootLocus, eigenvalue_csv};
pub use section::section_table;
pub use words::moved_values;
