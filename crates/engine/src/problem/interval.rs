//! An interval of time.

/// From a start to an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeInterval {
    pub(crate) start: f64,
    pub(crate) end: f64,
}

impl TimeInterval {
    pub(crate) fn length(self) -> f64 {
        self.end - self.start
    }
}
