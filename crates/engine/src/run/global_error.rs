//! The error of a motion at its end, estimated by a second integration.
//!
//! A short run (of at most [`SHORT`] steps, or [`SHORT_LARGE`] with many coordinates) is integrated again with a
//! tolerance that is thirty times stricter (a thousand times by the Taylor method) and with steps that are at most half
//! as long as the first ones, because steps do not always depend on the tolerance: the difference is the error of the
//! first one. A long run is integrated again by DOP853 with a tolerance $E_2 = 3\cdot 10^6 E$, at a sixth of the cost.
//! Errors are proportional to the tolerance, so that of the difference $D$ the first run has the part
//!
//! $$ \bigl(10\,E + 3\epsilon\sqrt{N}\bigr)\,\frac{D}{E_2} $$
//!
//! after $N$ steps, with a margin of ten; or $3\,D\,(N_2/N)^8$ if that is more, because steps that stability limits to
//! $N_2 \approx N$ are no less accurate with a loose tolerance. Rounding adds up too. Where $D$ is no longer small, or
//! the equations are not linear in it, the two motions have nothing to do with each other any more; then $E_2 = 10^5 E$
//! is tried, from where the equations were still linear in $D$ on (`handover.rs`), and a run that is not too long is
//! treated as a short one. If the first of these comes apart from the
//! motion at $t_1$ and the second at $t_2$, a difference has grown thirtyfold in between; where it grows so for long
//! enough to reach the size of the motion from $E$ too, that is chaos, and nothing more is tried. Where a stricter run
//! does not come to the end, one that is thirty times looser is taken, and the whole difference. `rk4`, which has no
//! tolerance, is repeated with half its step. What is stiff is treated as short, by its own method, and so is a run of
//! which most steps were rejected.
//!
//! An error belongs to the tolerance if it is at most a thousand tolerances in each hundred steps, times how much the
//! motion makes a change grow. That is measured only where the error is larger than that: by a third integration from a
//! state that differs a little.

mod comparison;
mod handover;
mod kind;
mod late;

use pfaff_mechanics::LARGE;
use pfaff_solver::{Method, OdeOptions, Outcome, StopReason, StoredStep, System, integrate};

use crate::audit::error::{AMPLIFIED_TIME, WORST, against_limit, error_limit, plain_limit};
use crate::clock::Interrupt;
use crate::motion::sample::Sample;
use crate::motion::verdict::Check;
use crate::system::compiled::CompiledSystem;

use comparison::Comparison;
use handover::Handover;
use kind::{Kind, bounded, halve_steps, second_options};
pub(crate) use late::Late;

/// Steps up to which a run is short: one that is smooth, and one with switches or narrow features, whose errors depend
/// less regularly on the tolerance.
const SHORT: usize = 60;
const SHORT_WITH_SWITCHES: usize = 300;
/// The same for systems of many coordinates, for which a second integration that is stricter than the first takes twice
/// as long as all the rest.
const SHORT_LARGE: usize = 6;
/// Steps up to which a run that is doubtful is treated as a short one.
const AFFORDABLE: usize = 200_000;
/// How much less so where the motions come apart; it is not worth while if that is not this much looser still.
const LESS: f64 = 30.0;
const FAR: f64 = 1e4;
/// Differences beyond this part of a coordinate's size say nothing in loose runs of smooth motions, which are estimates
/// by factors: motions that have nothing to do with each other differ by more at some of the compared places.
const LOOSE_APART: f64 = 0.2;
/// A loose run is compared at one in so many of the kept steps, of few steps: each comparison costs some evaluations.
const FEW: usize = 4;
/// Steps from which on comparisons cost next to nothing.
const MANY: usize = 2000;
/// How near to the end of a segment, as a part of it, a jump is the one that ends it; and how many roundings of time
/// a segment may be long in which jumps are not told apart.
const NEAR_END: f64 = 1e-6;
const INSTANT: f64 = 1e4;
/// How near to the constraints a loose run stays, in parts of its tolerance.
const NEAR: f64 = 1e-3;
/// The error of a single step, in parts of the tolerance.
const OF_STEP: f64 = 0.1;
/// A change of the start, in tolerances and in parts of each component, by which growth is measured; and how much
/// stricter than it the steps are then.
const CHANGE: f64 = 1e4;
const SMALLEST_CHANGE: f64 = 1e-8;
const LARGEST_CHANGE: f64 = 1e-4;
const FINER: f64 = 1e-3;
/// What switches between segments may add to that, which is not measured.
const SWITCHED: f64 = 10.0;
/// Velocities that take a coordinate through so much of its size in the whole run do not matter.
const HARDLY: f64 = 0.01;
/// Steps whose rounding is added up.
const MOST_SUMMED: f64 = 4000.0;

/// What a second integration found.
pub(crate) struct SecondRun {
    /// Errors of the coordinates at the end, and the largest on the way in parts of their sizes; empty if the
    /// motions have come apart.
    pub(crate) errors: Vec<f64>,
    /// Errors of the velocities at the end, in the same way.
    pub(crate) velocity_errors: Vec<f64>,
    pub(crate) largest: f64,
    /// The largest error that belongs to the tolerance, in the same parts.
    pub(crate) limit: f64,
    /// How much larger than the difference the estimate is on purpose, and what the rounding of time does, here and
    /// in earlier segments, in the same parts.
    margin: f64,
    late: f64,
    /// The same at the start of the next segment.
    pub(crate) later: Late,
    /// The largest velocities.
    fastest: Vec<f64>,
    /// How much the motion makes a change grow, as far as that was measured.
    pub(crate) growth: f64,
    /// When the motions had come apart, and a place before.
    apart: Option<f64>,
    handover: Option<Handover>,
    /// The state in which it ended.
    pub(crate) end: Sample,
    /// The largest error of derivatives that were integrated with the motion, at the end in parts of their sizes.
    pub(crate) of_tangents: Option<f64>,
}

/// The run to be compared with.
pub(crate) struct FirstRun<'a> {
    pub(crate) system: &'a CompiledSystem,
    pub(crate) options: &'a OdeOptions,
    pub(crate) outcome: &'a Outcome,
    /// The largest values of the coordinates, those of earlier segments included.
    pub(crate) scales: &'a [f64],
    /// The steps of earlier segments, and how much these made a change grow.
    pub(crate) steps_before: usize,
    pub(crate) growth_before: f64,
    /// What the rounding of time has done before.
    pub(crate) late_before: &'a Late,
    pub(crate) depends_on_time: bool,
    /// Whether the equations have no switches and no breaks.
    pub(crate) is_smooth: bool,
    /// What the rounding of knots does to splines, in units of the last place.
    pub(crate) of_tables: f64,
    /// Steps of the run, spread over it.
    pub(crate) kept: &'a [StoredStep],
    /// When the state jumped.
    pub(crate) jumps: &'a [f64],
    /// Whether it took long, and what ends the second one early.
    pub(crate) is_slow: bool,
    pub(crate) interrupt: Option<Interrupt>,
}

/// Integrates a second time from a state at the start, to where the first run ended.
pub(crate) fn second_run(first: &FirstRun<'_>, y0: &[f64]) -> Option<SecondRun> {
    let FirstRun { options, outcome, .. } = *first;
    let steps = outcome.statistics.steps;
    let is_smooth = is_smooth(first);
    let short = match is_smooth {
        true if first.system.n >= LARGE => SHORT_LARGE,
        true => SHORT,
        false => SHORT_WITH_SWITCHES,
    };
    if outcome.t == options.t0 {
        return None;
    }
    if outcome.stop == StopReason::Interrupted && (steps > short || first.is_slow) {
        // NOTE: who interrupts a long run does not want to wait.
        return compared(first, y0, Kind::Hurried, None)
            .filter(|found| !found.errors.is_empty());
    }
    if options.method.has_fixed_step() {
        return compared(first, y0, Kind::Halved, None);
    }
    // NOTE: with a loose tolerance a stiff problem may be another one.
    let is_stiff = options.method.is_implicit() || !outcome.stiff.is_empty();
    // NOTE: where most steps were rejected, something else than the tolerance decides them, such as rounding: then
    // errors are not proportional to it.
    let is_troubled = outcome.statistics.rejected > steps;
    let short = if is_stiff || is_troubled { short.max(AFFORDABLE) } else { short };
    let mut growth = None;
    let mut judged = |kind, from: Option<&Handover>| {
        let mut found = compared(first, y0, kind, from)?;
        found.judge(first, y0, &mut growth);
        Some(found)
    };
    let found = judged(if steps <= short { Kind::Stricter } else { Kind::Loose }, None)?;
    if found.is_clear() {
        return Some(found);
    }
    // NOTE: a looser run that came to the end has said all that it can: its errors are too large.
    let has_tangents = first.system.controlled() > first.system.size();
    let has_jumps = !first.jumps.is_empty() || first.system.jumps.is_some();
    // NOTE: in a shorter run the time that it takes from the start does not matter.
    let goes_on = is_smooth && !has_jumps && !has_tangents && steps > MANY;
    let handover = found.handover.as_ref().filter(|_| goes_on && found.apart.is_some());
    if steps > AFFORDABLE {
        return judged(Kind::Careful, handover);
    }
    let found = if steps <= short {
        found
    } else {
        // NOTE: where both are loose, both may have gone the same wrong way at a place that parts motions.
        let is_far =
            second_options(options, Kind::Careful).tolerance >= FAR * options.tolerance;
        let careful = if is_smooth && is_far { judged(Kind::Careful, handover) } else { None };
        match careful {
            Some(careful) if careful.is_clear() => careful,
            Some(careful)
                if careful.is_chaotic(&found, outcome.t)
                    && (steps > MANY || !careful.is_sudden(&found, options.t0)) =>
            {
                return Some(careful);
            }
            _ => judged(Kind::Stricter, None)?,
        }
    };
    if found.errors.is_empty() { judged(Kind::Looser, None) } else { Some(found) }
}

/// Whether nothing but the tolerance decides the steps.
fn is_smooth(first: &FirstRun<'_>) -> bool {
    first.is_smooth && !first.outcome.has_features
}

impl SecondRun {
    /// Whether an error was found, and belongs to the tolerance.
    fn is_clear(&self) -> bool {
        !self.errors.is_empty() && self.largest <= self.limit
    }

    /// Whether errors grow so fast that none of the motion's digits is left at the end, by when this run came apart
    /// from it, and when one with thirty times its tolerance did.
    fn is_chaotic(&self, looser: &Self, end: f64) -> bool {
        /// $10^5$ is $30^{3.4}$; with a margin.
        const AGAIN: f64 = 5.0;
        match (looser.apart, self.apart) {
            (Some(first), Some(then)) => (end - then).abs() > AGAIN * (then - first).abs(),
            _ => false,
        }
    }

    /// Whether both came apart at nearly the same time, as at a near collision. Errors that grow by themselves take as
    /// long from one tolerance to the next as a quarter, or more, of the time before.
    fn is_sudden(&self, looser: &Self, start: f64) -> bool {
        const PART: f64 = 0.1;
        match (looser.apart, self.apart) {
            (Some(first), Some(then)) => (then - first).abs() < PART * (first - start).abs(),
            _ => false,
        }
    }

    /// Lowers the limit to what belongs to the tolerance if the motion makes changes grow as it does, which is measured
    /// where that decides.
    fn judge(&mut self, first: &FirstRun<'_>, y0: &[f64], growth: &mut Option<f64>) {
        let FirstRun { options, outcome, .. } = *first;
        let steps = (first.steps_before + outcome.statistics.steps) as f64;
        // NOTE: what switches add concerns errors of steps; the rounding of time is the same at all of them.
        let unmeasured = if first.steps_before > 0 { SWITCHED } else { 1.0 };
        let tolerance = unmeasured * options.tolerance;
        let before = first.growth_before.max(1.0);
        let (margin, late) = (self.margin, self.late);
        // NOTE: what is late has grown before as it has; here it grows only as this segment makes changes grow.
        let plain = |growth: f64| {
            margin * (plain_limit(tolerance, steps, before * growth) + growth * late)
        };
        if self.errors.is_empty() {
            return;
        }
        let mut here = 1.0;
        if self.largest > plain(here) {
            let measured =
                *growth.get_or_insert_with(|| growth_of_changes(first, y0, &self.fastest));
            here = measured.max(here);
            self.growth = before * here;
        }
        self.limit = self.limit.min(plain(here));
        let sizes: Vec<f64> =
            (0..self.fastest.len()).map(|i| velocity_size(first, i, self.fastest[i])).collect();
        let span = (outcome.t - options.t0).abs();
        let n = sizes.len();
        self.later =
            std::mem::take(&mut self.later).later(span, here, [&first.scales[..n], &sizes]);
    }
}

/// How much larger a change of the start becomes on the way, in parts of the coordinates' sizes.
fn growth_of_changes(first: &FirstRun<'_>, y0: &[f64], fastest: &[f64]) -> f64 {
    /// Of several components, so that few are changed in the same way.
    const WEIGHTS: [f64; 5] = [1.0, -0.8, 0.6, 0.9, -0.7];
    let FirstRun { system, options, outcome, .. } = *first;
    let change = (CHANGE * options.tolerance).clamp(SMALLEST_CHANGE, LARGEST_CHANGE);
    let mut system = system.without_events();
    let (n, t0) = (system.n, options.t0);
    let mut there = Sample::new(n, system.m);
    if system.resolve(t0, y0, true, &mut there).is_err() {
        return 1.0;
    }
    let span = (outcome.t - t0).abs();
    let weights = WEIGHTS.iter().cycle();
    for (i, w) in (0..n).zip(weights) {
        let size = first.scales[i];
        there.q[i] += change * w * size;
        // NOTE: a velocity that begins at zero is changed by a part of what it becomes, and a run may be short.
        there.v[i] -= change * w * there.v[i].abs().max((size / span).min(fastest[i]));
    }
    let start = system.state(t0, &there.q, &there.v, &there.multipliers);
    let finer = (FINER * change).max(options.tolerance);
    let options = second_options(options, Kind::Loose);
    let third = OdeOptions { t1: outcome.t, tolerance: finer, ..options };
    let third = bounded(third, outcome);
    let mut comparison = Comparison::new(first, &system, options.t0 <= outcome.t);
    comparison.stride = FEW;
    if let Some(jumps) = &mut system.jumps {
        jumps.quiet_until = comparison.quiet_until;
    }
    let reached = integrate(&mut system, &start, &third, &mut comparison);
    if reached.t != outcome.t {
        // NOTE: what is not measured excuses nothing.
        return if comparison.apart.is_some() { comparison.largest / change } else { 1.0 };
    }
    let mut growth = comparison.largest / change;
    let mut here = Sample::new(n, system.m);
    let is_known = system.resolve(reached.t, &reached.y, true, &mut here).is_ok()
        && system.resolve(outcome.t, &outcome.y, true, &mut there).is_ok();
    for i in (0..n).filter(|_| is_known) {
        let size = velocity_size(first, i, comparison.fastest[i].max(there.v[i].abs()));
        growth = growth.max((here.v[i] - there.v[i]).abs() / size / change);
    }
    growth
}

/// What a velocity is measured by: what hardly changes a coordinate in the whole run does not matter.
fn velocity_size(first: &FirstRun<'_>, i: usize, fastest: f64) -> f64 {
    let crossing = first.scales[i] / (first.outcome.t - first.options.t0).abs();
    fastest.max(HARDLY * crossing)
}

/// A run of some kind beside the first one, from the start or from where a run with [`LESS`] times its tolerance hands
/// over.
fn compared(
    first: &FirstRun<'_>,
    y0: &[f64],
    kind: Kind,
    from: Option<&Handover>,
) -> Option<SecondRun> {
    let FirstRun { system, options, outcome, .. } = *first;
    let mut system = system.without_events();
    let second = OdeOptions { t1: outcome.t, ..second_options(options, kind) };
    let mut second = bounded(second, outcome);
    if kind == Kind::Stricter {
        halve_steps(first, &mut system, &mut second);
    }
    if kind == Kind::Halved {
        system.begin_noise(true);
    }
    let is_loose = matches!(kind, Kind::Loose | Kind::Careful | Kind::Hurried);
    let mut comparison = Comparison::new(first, &system, options.t0 <= outcome.t);
    if let Some(jumps) = &mut system.jumps {
        jumps.quiet_until = comparison.quiet_until;
    }
    if is_loose {
        comparison.stride = if outcome.statistics.steps > MANY { 1 } else { FEW };
        if is_smooth(first) {
            comparison.most = LOOSE_APART;
        }
        comparison.is_linear = true;
        system.project_near(NEAR * second.tolerance);
    }
    // Steps have errors of the tolerance E, and there are E^(-1/8) of them.
    let part = libm::pow(LESS, -0.875);
    let begin = from.map_or_else(|| y0.to_vec(), |place| place.state(&mut system, part));
    if let Some(place) = from {
        second.t0 = place.t;
        comparison.go_on(place, part);
        system.sizes = [&first.scales[..system.n], &comparison.fastest].concat();
    }
    let mut reached = integrate(&mut system, &begin, &second, &mut comparison);
    if !same_jumps(first, &mut system, comparison.seen, &mut reached) {
        comparison.apart = comparison.apart.or(Some(reached.t));
    }
    let steps = outcome.statistics.steps as f64;
    // On purpose, for the error of an estimate; a run that is thirty times looser has the larger error.
    let on_purpose = match kind {
        Kind::Stricter => 3.0,
        Kind::Looser => 30.0,
        Kind::Halved => 2.0,
        Kind::Loose | Kind::Careful | Kind::Hurried => 10.0,
    };
    let margin = match kind {
        Kind::Stricter => 3.0,
        Kind::Looser => 1.0,
        // Errors of a method of order 4 are 16 times smaller: the difference is 15/16 of the error.
        Kind::Halved => 2.0,
        Kind::Loose | Kind::Careful | Kind::Hurried => {
            let rounding = 3.0 * f64::EPSILON * steps.sqrt();
            let by_tolerance = (10.0 * options.tolerance + rounding) / second.tolerance;
            // Those before are fewer by the eighth root of the tolerances.
            let before = from.map_or(0.0, |place| libm::pow(LESS, 0.125) * place.steps as f64);
            let all = before + reached.statistics.steps as f64;
            let by_steps = 3.0 * (all / steps).powi(8);
            // NOTE: steps of the Taylor method are longer than those of the second run.
            let is_taylor = options.method == Method::Taylor && outcome.fallback.is_none();
            if is_taylor { by_tolerance } else { by_tolerance.max(by_steps.min(1.0)) }
        }
    };
    let n = system.n;
    let mut last = Sample::new(n, system.m);
    system.resolve(reached.t, &reached.y, true, &mut last).ok()?;
    let (mut errors, mut velocity_errors) = (Vec::new(), Vec::new());
    let mut there = Sample::new(n, system.m);
    system.resolve(outcome.t, &outcome.y, true, &mut there).ok()?;
    if is_loose && reached.t == outcome.t && comparison.apart.is_none() {
        comparison.end(outcome.t, &last, &there);
    }
    let all_steps = first.steps_before as f64 + steps;
    // Rounding of steps, which may all be in the same direction, and of data.
    let summed = all_steps.min(MOST_SUMMED) + first.of_tables;
    if reached.t == outcome.t && comparison.apart.is_none() {
        for i in 0..n {
            let distance = (last.q[i] - there.q[i]).abs();
            comparison.largest = comparison.largest.max(distance / first.scales[i]);
            let rounding = f64::EPSILON * (there.q[i].abs() + summed * first.scales[i]);
            // Where equations depend on time, its rounding is an error too.
            let of_time =
                if first.depends_on_time { 0.1 * comparison.rounding[i] } else { 0.0 };
            let of_step =
                if is_loose { OF_STEP * options.tolerance * first.scales[i] } else { 0.0 };
            errors.push(margin * distance + rounding + of_time + of_step);
            let (v, a) = (there.v[i].abs(), there.a[i].abs());
            let fastest = comparison.fastest[i].max(v);
            let of_step = if is_loose { OF_STEP * options.tolerance } else { 0.0 };
            // NOTE: velocities of first-order equations are rates, which have no rates of their own here.
            let late =
                if a.is_finite() { 4.0 * f64::EPSILON * outcome.t.abs() * a } else { 0.0 };
            let of_time = if first.depends_on_time { 0.1 * late } else { 0.0 };
            let rounding = f64::EPSILON * (v + summed * fastest);
            let distance = (last.v[i] - there.v[i]).abs();
            let late = 4.0 * f64::EPSILON * outcome.t.abs() * a;
            let off = (distance - late) / velocity_size(first, i, fastest);
            if off.is_finite() {
                comparison.largest = comparison.largest.max(off);
            }
            velocity_errors.push(margin * distance + rounding + of_time + of_step * fastest);
        }
    }
    let is_there = reached.t == outcome.t && comparison.apart.is_none();
    let of_tangents = is_there.then(|| tangent_error(&system, outcome, &reached.y, margin));
    if is_loose {
        // The next segment goes on from the error of the first run, not from that of the second.
        let pairs = [
            (&mut last.q, &there.q),
            (&mut last.v, &there.v),
            (&mut last.multipliers, &there.multipliers),
        ];
        for (x, &y) in pairs.into_iter().flat_map(|(x, y)| x.iter_mut().zip(y)) {
            *x = y + margin.min(1.0) * (*x - y);
        }
    }
    // A short pulse far from t = 0 begins at a rounded time, and what it does is rounded so.
    let of_velocities =
        if first.depends_on_time { comparison.velocity_rounding } else { vec![0.0; n] };
    let later = first.late_before.with(&comparison.rounding, &of_velocities);
    let mut late = 0.0_f64;
    for i in 0..n {
        late = late.max(later.q[i] / first.scales[i]);
        let size = velocity_size(first, i, comparison.fastest[i]);
        late = late.max(if size > 0.0 { later.v[i] / size } else { 0.0 });
    }
    let limit = match kind {
        Kind::Halved => WORST,
        _ => error_limit(options.tolerance, all_steps) + AMPLIFIED_TIME * late,
    };
    let largest = margin * comparison.largest;
    if let Some((q, v)) = system.jumps.as_mut().and_then(|jumps| jumps.outcome.state.take()) {
        // The next segment goes on from what no closed contact has stopped.
        (last.q, last.v) = (q, v);
    }
    Some(SecondRun {
        errors,
        velocity_errors,
        largest,
        limit: limit.min(WORST),
        margin: on_purpose,
        late,
        later,
        fastest: comparison.fastest,
        growth: 1.0,
        apart: comparison.apart,
        handover: comparison.handover,
        end: last,
        of_tangents,
    })
}

/// The largest difference of derivatives that are integrated with a motion, in parts of their sizes.
fn tangent_error(
    system: &CompiledSystem,
    outcome: &Outcome,
    second: &[f64],
    margin: f64,
) -> f64 {
    let mut largest = 0.0_f64;
    for i in system.size()..system.controlled() {
        let distance = margin * (second[i] - outcome.y[i]).abs() / outcome.scales[i];
        largest = if distance.is_nan() { distance } else { largest.max(distance) };
    }
    largest
}

/// Whether the state of a second run has jumped as often; a jump at the very end may be due.
fn same_jumps(
    first: &FirstRun<'_>,
    system: &mut CompiledSystem,
    seen: usize,
    reached: &mut Outcome,
) -> bool {
    let FirstRun { jumps, outcome, .. } = first;
    if outcome.accumulated.is_some() {
        // Both ends are as near to the accumulation as time is known.
        reached.t = outcome.t;
        return true;
    }
    let last = first.system.jumps.as_ref().map_or(&[][..], |jumps| &jumps.last);
    let length = (outcome.t - first.options.t0).abs();
    if length <= INSTANT * f64::EPSILON * outcome.t.abs() {
        // What is left of an accumulation: both motions are there at the same time, as far as that is known.
        reached.t = outcome.t;
        return true;
    }
    let near = NEAR_END * length;
    let ends_so = seen == jumps.len() && jumps.last() == Some(&outcome.t);
    if ends_so && (reached.t - outcome.t).abs() <= near {
        // Beyond its last jump the first run has not gone, and this one may not be able to.
        reached.t = outcome.t;
    }
    if seen + 1 == jumps.len() && jumps.last() == Some(&outcome.t) {
        let mut rates = vec![0.0; last.len()];
        return system.jump(last, outcome.t, &mut reached.y, &mut rates).is_ok();
    }
    seen == jumps.len()
}

/// The check that belongs to an estimate.
pub(crate) fn check(found: Option<&SecondRun>, tolerance: f64) -> Check {
    let found = found.filter(|found| !found.errors.is_empty());
    let limit = found.map_or_else(|| error_limit(tolerance, 0.0), |found| found.limit);
    against_limit(found.map(|found| found.largest), limit)
}
