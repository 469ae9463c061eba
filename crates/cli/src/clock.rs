//! The clock of this program, and runs that are measured by it.

use std::sync::LazyLock;
use std::time::Instant;

use pfaff::{Clock, Interrupt, Run};

use crate::guard;

static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Seconds since the program first asked.
pub(crate) fn seconds() -> f64 {
    BEGIN.elapsed().as_secs_f64()
}

/// A run as the model says: measured, and kept at its output times alone.
pub(crate) fn measured_run() -> Run {
    Run {
        outputs_only: true,
        clock: Some(Clock(seconds)),
        interrupt: Some(Interrupt(guard::is_asked_to_end)),
        ..Run::default()
    }
}
