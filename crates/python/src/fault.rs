//! Errors and panics → exceptions of Python.
//!
//! The classes are those of `pfaff/_errors.py`; diagnostics stay data: code, line, column, message and hint.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use pfaff::{Diagnostic, Error, Source, interruptible};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::interrupt::Watch;

/// What can go wrong in a call.
pub(crate) enum Fault {
    /// The engine refused.
    Engine(Error),
    /// A mistake in the program, with what it said.
    Panic(String),
    /// What Python raised meanwhile, such as Ctrl-C.
    Raised(PyErr),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

impl From<pfaff::ParseErrors> for Fault {
    fn from(errors: pfaff::ParseErrors) -> Self {
        Self::Engine(errors.into())
    }
}

impl Fault {
    /// A request that is wrong.
    pub(crate) fn usage(why: impl Into<String>) -> Self {
        Self::Engine(Error::Usage(why.into()))
    }
}

/// Runs the engine without holding the interpreter; whatever goes wrong is an exception. Ctrl-C ends it.
pub(crate) fn released<T: Send>(
    py: Python<'_>,
    work: impl Send + FnOnce() -> Result<T, Fault>,
) -> PyResult<T> {
    py.detach(|| guarded(|| while_heard(work))).map_err(|fault| exception(py, &fault))
}

/// Gives the work up when Python raises something.
fn while_heard<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    let watch = Rc::new(RefCell::new(Watch::new(None)));
    let ear = Rc::clone(&watch);
    // NOTE: a handler of signals may call pfaff itself.
    let goes_on = move || ear.try_borrow_mut().map_or(true, |mut w| w.goes_on(|| (0.0, 0.0)));
    let found = interruptible(goes_on, work);
    match (watch.borrow_mut().raised.take(), found) {
        (Some(raised), _) => Err(Fault::Raised(raised)),
        (None, Some(found)) => found,
        (None, None) => Err(Fault::usage("the work was given up")),
    }
}

/// Runs the engine; a panic is a fault.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Fault::Panic(said.unwrap_or_else(|| "no message".to_owned())))
    })
}

/// Panics are told by exceptions and not printed besides.
pub(crate) fn quiet() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// The exception for a fault.
pub(crate) fn exception(py: Python<'_>, fault: &Fault) -> PyErr {
    let made = match fault {
        Fault::Engine(Error::Text(errors)) => {
            let list = PyList::empty(py);
            let filled = errors.diagnostics.iter().try_for_each(|diagnostic| {
                list.append(described(py, diagnostic, &errors.source)?)
            });
            filled.and_then(|()| made(py, "_from_native", (errors.to_string(), list)))
        }
        Fault::Engine(Error::Usage(why)) => made(py, "_from_usage", (why.as_str(),)),
        Fault::Panic(said) => made(py, "_from_panic", (said.as_str(),)),
        Fault::Raised(raised) => Ok(raised.clone_ref(py)),
    };
    made.unwrap_or_else(|error| error)
}

fn made<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<PyErr> {
    let module = py.import("pfaff._errors")?;
    let instance = module.getattr(name)?.call1(arguments)?;
    Ok(PyErr::from_value(instance))
}

/// A diagnostic as a dictionary.
pub(crate) fn described<'py>(
    py: Python<'py>,
    diagnostic: &Diagnostic,
    source: &Source,
) -> PyResult<Bound<'py, PyDict>> {
    let position = source.position(diagnostic.span.start);
    let end = source.position(diagnostic.span.end);
    let line = source.line_at(diagnostic.span.start, position.line);
    let width = if end.line == position.line { end.column - position.column } else { 1 };
    let dict = PyDict::new(py);
    dict.set_item("code", diagnostic.code)?;
    dict.set_item("severity", diagnostic.severity.word())?;
    dict.set_item("message", &diagnostic.message)?;
    dict.set_item("hint", diagnostic.hint.as_deref())?;
    dict.set_item("source", source.name_at(diagnostic.span.start))?;
    dict.set_item("line", position.line)?;
    dict.set_item("column", position.column)?;
    dict.set_item("width", width.max(1))?;
    dict.set_item("text", source.slice(line))?;
    Ok(dict)
}

/// An exception for what only a mistake in this crate can cause.
pub(crate) fn broken(what: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("pfaff: {what}"))
}
