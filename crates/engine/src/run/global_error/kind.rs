//! How a run is integrated again: with which method, tolerance and steps.

use pfaff_solver::{DenseStep, Method, OdeOptions, Outcome, StoredStep};

use super::{FirstRun, LESS};
use crate::system::compiled::CompiledSystem;

/// Steps of the second integration of a run that was interrupted.
const HURRIED: usize = 100_000;
/// How much looser a long run is integrated again, and how loose at most.
const LOOSER: f64 = 3e6;
const LOOSEST: f64 = 1e-3;

/// How a run is integrated again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Thirty times stricter, with steps of half the length.
    Stricter,
    /// Thirty times looser, where a stricter one does not come to the end.
    Looser,
    /// Three million times looser.
    Loose,
    /// A hundred thousand times looser.
    Careful,
    /// Three million times looser, with few steps.
    Hurried,
    /// With half the step, where there is no tolerance.
    Halved,
}

/// Makes the steps of a second run at most half as long as those of the first.
pub(super) fn halve_steps(
    first: &FirstRun<'_>,
    system: &mut CompiledSystem,
    second: &mut OdeOptions,
) {
    let steps = || first.kept.iter().map(StoredStep::as_step);
    if first.kept.len() == first.outcome.statistics.steps {
        // Not those whose halves are rounding.
        let is_long = |s: &DenseStep<'_>| {
            (s.end() - s.start()).abs() > 100.0 * f64::EPSILON * s.end().abs()
        };
        let long = steps().filter(is_long);
        system.breaks.extend(long.flat_map(|s| [0.5 * (s.start() + s.end()), s.end()]));
        system.breaks.sort_by(f64::total_cmp);
    } else {
        let longest = steps().map(|s| (s.end() - s.start()).abs()).fold(0.0, f64::max);
        second.longest = 0.5 * longest;
    }
}

pub(super) fn second_options(options: &OdeOptions, kind: Kind) -> OdeOptions {
    let tolerance = options.tolerance;
    // NOTE: what is stiff stays with its method.
    let method = match options.method {
        Method::Radau | Method::Rosenbrock => Method::Radau,
        Method::Dop853 | Method::Taylor | Method::Rk4 | Method::Own => Method::Dop853,
    };
    let looser = OdeOptions { method, step: None, ..*options };
    match (kind, options.method) {
        (Kind::Stricter, Method::Taylor) => OdeOptions {
            tolerance: 1e-3 * tolerance,
            order: Some(pfaff_solver::taylor_order(tolerance)),
            ..*options
        },
        (Kind::Stricter, _) => {
            OdeOptions { tolerance: (tolerance / 30.0).max(1e-15), ..*options }
        }
        (Kind::Looser, _) => OdeOptions { tolerance: 30.0 * tolerance, ..looser },
        (Kind::Halved, _) => {
            let span = (options.t1 - options.t0).abs();
            OdeOptions { step: Some(0.5 * options.step.unwrap_or(1e-3 * span)), ..*options }
        }
        (Kind::Careful, _) => {
            OdeOptions { tolerance: (LOOSER * tolerance).min(LOOSEST) / LESS, ..looser }
        }
        (Kind::Hurried, _) => OdeOptions {
            tolerance: (LOOSER * tolerance).min(LOOSEST),
            max_steps: HURRIED,
            ..looser
        },
        (Kind::Loose, _) => {
            OdeOptions { tolerance: (LOOSER * tolerance).min(LOOSEST), ..looser }
        }
    }
}

/// Another run does not take many more steps than the first: one that does is caught at a place that this has passed.
pub(super) fn bounded(options: OdeOptions, first: &Outcome) -> OdeOptions {
    /// How many more, and how many at least.
    const MORE: usize = 100;
    const FEWEST: usize = 100;
    let most = MORE * (first.statistics.steps + FEWEST);
    OdeOptions { max_steps: options.max_steps.min(most), ..options }
}
