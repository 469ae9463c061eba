//! Ctrl-C during long work: a run looks for it now and then, and tells how far it is.

use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How often the interpreter is asked.
const PAUSE: Duration = Duration::from_millis(20);

/// Asks the interpreter from time to time whether to go on.
pub(crate) struct Watch {
    last: Instant,
    calls: u32,
    /// Called with the part that is done, from 0 to 1, and the time of the motion.
    progress: Option<Py<PyAny>>,
    /// What ended the work, if something of Python did.
    pub(crate) raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Self {
        Self { last: Instant::now(), calls: 0, progress, raised: None }
    }

    /// Whether to go on.
    pub(crate) fn goes_on(&mut self, state: impl FnOnce() -> (f64, f64)) -> bool {
        if self.raised.is_some() {
            return false;
        }
        // NOTE: a step takes a fraction of a microsecond, and reading the clock is not free.
        self.calls = self.calls.wrapping_add(1);
        if self.calls & 15 != 0 || self.last.elapsed() < PAUSE {
            return true;
        }
        self.goes_on_now(state)
    }

    /// As [`goes_on`](Self::goes_on), and asks at once.
    pub(crate) fn goes_on_now(&mut self, state: impl FnOnce() -> (f64, f64)) -> bool {
        if self.raised.is_some() {
            return false;
        }
        self.last = Instant::now();
        let asked = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                progress.call1(py, state())?;
            }
            Ok(())
        });
        self.raised = asked.err();
        self.raised.is_none()
    }

    /// Whether Ctrl-C ended the work; another exception is raised.
    pub(crate) fn interrupted(self, py: Python<'_>) -> PyResult<bool> {
        match self.raised {
            None => Ok(false),
            Some(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(true),
            Some(error) => Err(error),
        }
    }
}
