//! The engine as Python sees it: classes that the package `pfaff` wraps, arrays of numpy, answers as JSON.
//!
//! ```text
//! pfaff (Python: names, documentation, tables, pictures) ──► pfaff._native (this crate) ──► pfaff, pfaff-present
//! ```
//!
//! Every call releases the interpreter while the engine works, every panic becomes an exception, and what a command
//! answers is the JSON that the command line prints.

mod command;
mod equations;
mod fault;
mod interrupt;
mod model;
mod motion;
mod options;
mod prepared;
mod right_side;
mod source;
mod sweep;

use pyo3::prelude::*;

/// The native part of the package `pfaff`.
#[pymodule(gil_used = false)]
mod _native {
    use super::{Bound, PyModule, PyModuleMethods, PyResult, fault};

    #[pymodule_export]
    use crate::command::{difference, discover, evaluate, explain};
    #[pymodule_export]
    use crate::equations::NativeEquations;
    #[pymodule_export]
    use crate::model::{NativeModel, gallery, gallery_text};
    #[pymodule_export]
    use crate::motion::{NativeDense, NativeMotion};
    #[pymodule_export]
    use crate::right_side::RightHandSide;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        fault::quiet();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
