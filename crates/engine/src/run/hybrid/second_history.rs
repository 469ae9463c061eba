//! The error of a motion with delays: it comes back with what is delayed, so that the second integration has a past of
//! its own.
//!
//! The whole run is made again with a tolerance that is thirty times stricter, and compared at the outputs and at the
//! end.

use pfaff_model::Workspace;

use crate::audit::error::{against_limit, error_limit};
use crate::clock::Stopwatch;
use crate::error::Failure;
use crate::motion::verdict::Audit;
use crate::motion::{Motion, Series};
use crate::problem::settings::{Run, Settings};
use crate::run::hybrid::integrated;
use crate::run::progress::Progress;
use crate::run::record::Record;

/// How much stricter the second run is, and how strict at most.
const STRICTER: f64 = 30.0;
const STRICTEST: f64 = 1e-15;
/// The error is that of the first run, with a margin for what the second one has.
const MARGIN: f64 = 3.0;

/// A motion, compared with a second one.
pub(super) fn compared(
    model: &Workspace,
    request: &Run,
    mut motion: Motion,
    watch: &mut dyn FnMut(&Progress<'_>) -> bool,
) -> Result<Motion, Failure> {
    let tolerance = Settings::new(model, request)?.options.tolerance;
    let stricter = (tolerance / STRICTER).max(STRICTEST);
    let stricter = Run { tolerance: Some(stricter), ..request.clone() };
    let clock = Stopwatch::start(request.clock);
    let found = &motion;
    // Who watches sees the motion as it is, and may end the second one.
    let mut tell = |progress: &Progress<'_>| {
        watch(&Progress {
            t: found.stop.t,
            steps: found.statistics.steps + progress.steps,
            rows: found.t.len(),
            record: &Record::new(progress.setting.model, 0),
            earlier: Some(found),
            ..*progress
        })
    };
    let again = integrated(model, &stricter, &mut tell, None);
    compare(&mut motion, again, tolerance);
    motion.statistics.audit_us += clock.microseconds();
    Ok(motion)
}

/// Puts the errors of a motion in the place of those that were found with its own past; `again` is the second run.
fn compare(motion: &mut Motion, again: Result<Motion, Failure>, tolerance: f64) {
    let found = again.ok().filter(|again| {
        !motion.stop.reason.is_early() && again.stop.reason == motion.stop.reason
    });
    let rows = found.as_ref().map_or_else(Vec::new, |again| common(&motion.t, &again.t));
    let found = found.filter(|_| !rows.is_empty());
    let checks = &mut motion.audit.checks;
    let name = "error by a second integration";
    let place = checks.iter().position(|check| check.name == name);
    let limit = error_limit(tolerance, motion.statistics.steps as f64);
    let largest = found.map(|again| {
        let mut largest = 0.0_f64;
        let lists = [
            (&motion.q, &again.q, &mut motion.errors),
            (&motion.v, &again.v, &mut motion.velocity_errors),
        ];
        for (first, second, errors) in lists {
            errors.resize(first.len(), 0.0);
            for ((a, b), error) in first.iter().zip(second).zip(errors) {
                let (off, at_end, size) = distances(a, b, &rows);
                *error = error.max(MARGIN * at_end);
                if size > 0.0 {
                    largest = largest.max(MARGIN * off / size);
                }
            }
        }
        largest
    });
    match (place, largest) {
        (Some(place), Some(largest)) => {
            // NOTE: what a segment could not compare is compared here.
            let known = &checks[place];
            let limit = if known.value > known.limit { known.limit } else { limit };
            checks[place] = against_limit(Some(largest.max(known.value)), limit);
        }
        (Some(place), _) => checks[place] = against_limit(None, limit),
        (None, _) => checks.push(against_limit(largest, limit)),
    }
    motion.audit = Audit::of(std::mem::take(&mut motion.audit.checks));
}

/// The rows of two tables that have the same time: a jump may come a little earlier or later.
fn common(a: &[f64], b: &[f64]) -> Vec<(usize, usize)> {
    let (mut rows, mut i, mut k) = (Vec::new(), 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(k)) {
        if x == y {
            rows.push((i, k));
        }
        i += usize::from(x <= y);
        k += usize::from(y <= x);
    }
    // The ends are compared wherever an event has put them.
    if let (Some(last), Some(other)) = (a.len().checked_sub(1), b.len().checked_sub(1))
        && rows.last().is_none_or(|row| row.0 < last)
    {
        rows.push((last, other));
    }
    rows
}

/// The largest distance of two columns in these rows, that at the end, and the size of the first.
fn distances(a: &Series, b: &Series, rows: &[(usize, usize)]) -> (f64, f64, f64) {
    let off = |&(i, k): &(usize, usize)| (a.values[i] - b.values[k]).abs();
    let largest = rows.iter().map(off).fold(0.0, f64::max);
    let size = a.values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    (largest, rows.last().map_or(0.0, off), size)
}
