//! Functions that a run keeps positive, as the gaps of contacts.
//!
//! Such a function is on the positive side however small it is: after a jump at zero it may come back before its
//! rounding shows that it has left. Zero has been passed where it is below the value from which it is watched by more
//! than its rounding, which is that of the largest terms that it is a sum of. If it was seen above zero before, the
//! place is its zero; otherwise the place where it comes below its rounding.

use crate::ode::certainty::PARTS;
use crate::ode::events::{EventState, StepScan, is_pole};
use crate::ode::observer::Crossing;
use crate::ode::root_finding::{EventFunction, TimeFunction, TimeValue, bracketed_zero};
use crate::ode::system::EvalError;

/// The rounding of a function, in parts of its largest terms.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl StepScan<'_> {
    /// Reports where a function that is on the positive side comes to zero; gives what is known of it at the end.
    pub(super) fn guard(
        &mut self,
        probe: &mut EventFunction<'_>,
        known: EventState,
        started: bool,
    ) -> Result<EventState, EvalError> {
        self.negligible = ROUNDING * self.size;
        let value = self.g[PARTS + 1];
        let base = if started { known.base } else { self.g[1].min(0.0) };
        let mut watched = EventState { value, base, fresh: false, settled: false, ..known };
        if let Some((level, t)) = self.passed(probe, &mut watched, known.fresh)? {
            self.report_at(level, t, Crossing::Falling);
            watched.side = -1.0;
        }
        self.dips(probe, !known.fresh && !known.settled && self.g[0] > 0.0)?;
        watched.settled = self.settled;
        Ok(watched)
    }

    /// Where the function passes zero, with the value that it has there.
    fn passed(
        &mut self,
        probe: &mut EventFunction<'_>,
        watched: &mut EventState,
        fresh: bool,
    ) -> Result<Option<(f64, f64)>, EvalError> {
        // The last time at which it was above zero, or above its rounding if it never was.
        let mut from = self.value_at(1);
        if (fresh || from.value <= 0.0)
            && let Some(left) = self.leaving(probe, 1.0)?
        {
            (from, watched.base) = (left, 0.0);
        }
        for point in 2..=PARTS + 1 {
            let mut here = self.value_at(point);
            if point == PARTS + 1 && here.value.abs() <= self.negligible {
                here = probe.at(self.grid.after(point))?;
            }
            let least = watched.base - self.negligible;
            if here.value < least && here.value < from.value {
                let level = if from.value > 0.0 {
                    0.0
                } else {
                    least.min(f64::midpoint(from.value, here.value))
                };
                let t = zero_at(probe, level, from, here)?;
                if is_pole(probe, from, here, t) {
                    (from, watched.base) = (here, here.value);
                    continue;
                }
                return Ok(Some((level, t)));
            }
            if here.value > 0.0 {
                (from, watched.base) = (here, 0.0);
            } else if from.value <= 0.0 {
                from = here;
            }
        }
        Ok(None)
    }
}

/// Where a function has a value between those of two points.
fn zero_at(
    probe: &mut EventFunction<'_>,
    level: f64,
    from: TimeValue,
    here: TimeValue,
) -> Result<f64, EvalError> {
    let [from, here] = [from, here].map(|at| TimeValue { value: at.value - level, ..at });
    let finest = 1e-6 * (here.t - from.t).abs();
    bracketed_zero(from, here, finest.min(1e-13), |t| Ok(probe.at(t)?.value - level))
}
