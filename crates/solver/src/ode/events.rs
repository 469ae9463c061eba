//! The zeros of event functions within one step, in the order of the run.
//!
//! Every function is looked at in nine points of the step on its dense output. They lie unevenly, so that no
//! oscillation hides between them: if the polynomial through five of them does not foretell the other four to a
//! part of the function's range, the step is halved, and each half is looked at in the same way, up to
//! [`DEPTH`] times. A change of sign is located by inverse quadratic interpolation and bisection; between
//! three points of one sign the middle of which is nearest to zero, the extremum is searched:
//! beyond zero it is two zeros, at zero a touch.
//!
//! **What counts.** Each function carries its *side*, the sign it has left zero with. A zero is
//! reported when the side changes, and the side outlives the step: no zero is
//! reported twice at a border, and one at the start not at all. Values count as zero below
//! $10^{-12}$ of the largest in the step, or at the rounding of the largest in the run.
//!
//! **Far from zero.** Where a function keeps its sign and changes by less than a quarter of its
//! smallest value over the nine points on the cubic polynomial between both ends, no search for an extremum
//! would begin: such a step needs no better polynomial for its events.
//!
//! **Poles.** A function that changes its sign through infinity has no zero there: a change of sign next to which
//! it is larger than at both ends of its interval does not count.
//!
//! **Limits.** Two zeros closer than an eighth of a part that was foretold are found if the function
//! has one extremum between them. Past the ends of a step the polynomial is used for
//! a thousandth of its length, to see which way a function leaves a zero at the end.

use crate::ode::dense_output::DenseStep;
use crate::ode::event_list::{EventList, crossing_to};
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::root_finding::{
    EventFunction, Minimum, MinimumBracket, TimeFunction, TimeValue,
};
use crate::ode::system::{EvalError, System};

/// Number of intervals in which a step, or a part of it, is looked at.
const PARTS: usize = 8;
/// Their ends, as parts of the whole: no two distances are alike.
const PLACES: [f64; PARTS + 1] =
    [0.0, 0.123_001, 0.225_092, 0.373_924, 0.485_855, 0.624_847, 0.719_557, 0.880_689, 1.0];
/// How often a step is halved at most to foretell its functions.
const DEPTH: u32 = 12;
/// Parts that are not foretold even so, up to which they count as jumps and kinks of the function.
const JUMPS: usize = 8;
/// By how much of its range a function may differ from what is foretold.
const FORETOLD: f64 = 0.02;
/// How far beyond a point one looks for the sign after it, in steps.
const BEYOND: f64 = 1e-3;
/// The largest value in a step, as a multiple of the smallest one, at which a function is far from zero.
/// `MinimumBracket::floor` allows for twice the fall
/// between points: half of the smallest value is then left.
const FAR: f64 = 1.25;

/// The event functions of a run and what is known of them.
pub(crate) struct EventFinder {
    events: EventList,
    /// Before the step under trial, and after it.
    known: Vec<EventState>,
    trial: Vec<EventState>,
    started: bool,
    state: Vec<f64>,
    values: Vec<f64>,
    /// Values in all points of [`ScanGrid`], one row per point.
    grid: Vec<f64>,
    /// Parts of the step that are still to be looked at, the next one last.
    parts: Vec<Part>,
}

/// A part of a step.
#[derive(Clone, Copy)]
struct Part {
    start: f64,
    end: f64,
    /// How often it may be halved.
    halvings: u32,
}

/// What is known of one event function.
#[derive(Clone, Copy)]
struct EventState {
    /// 1 or −1; 0 on a zero that does not count.
    side: f64,
    /// The value at the end of the step.
    value: f64,
    /// Largest magnitude in the run.
    reach: f64,
    /// A touch at this border was reported.
    settled: bool,
}

/// Times in which a step is looked at: one beyond the start, `PARTS + 1` within, one beyond the end.
struct ScanGrid {
    start: f64,
    end: f64,
}

impl ScanGrid {
    const COUNT: usize = PARTS + 3;

    fn time(&self, point: usize) -> f64 {
        let length = self.end - self.start;
        match point {
            0 => self.start - BEYOND * length,
            1 => self.start,
            p if p == PARTS + 1 => self.end,
            p if p == PARTS + 2 => self.end + BEYOND * length,
            p => self.start + length * PLACES[p - 1],
        }
    }

    /// Whether `t` is later than the start and no later than the end, up to 1e-12.
    fn covers(&self, t: f64) -> bool {
        let length = self.end - self.start;
        let slack = 1e-12_f64.min(BEYOND * length.abs());
        (t - self.start) * length.signum() > slack && (t - self.end) * length.signum() <= slack
    }

    /// A little later than a point.
    fn after(&self, point: usize) -> f64 {
        self.time(point) + BEYOND * (self.end - self.start)
    }
}

impl EventFinder {
    pub(crate) fn new(system: &dyn System) -> Self {
        // At most one zero in each interval and two in each dip.
        let events = EventList::new(system.events(), 3 * ScanGrid::COUNT);
        let count = events.functions();
        let known =
            vec![EventState { side: 0.0, value: f64::NAN, reach: 0.0, settled: false }; count];
        Self {
            trial: known.clone(),
            known,
            started: false,
            state: vec![0.0; system.dimension()],
            values: vec![0.0; count],
            grid: vec![0.0; ScanGrid::COUNT * count],
            parts: Vec::with_capacity(2 + DEPTH as usize),
            events,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.events.functions() == 0
    }

    /// Whether no event can be near, seen on a polynomial of low order; then [`EventFinder::scan`] has nothing to
    /// find, and nothing to do.
    pub(crate) fn is_far(&mut self, step: &DenseStep<'_>, system: &mut dyn System) -> bool {
        self.events.clear();
        if !self.started {
            return false;
        }
        let grid = ScanGrid { start: step.start(), end: step.end() };
        for (trial, known) in self.trial.iter_mut().zip(&self.known) {
            *trial = EventState { settled: false, ..*known };
        }
        let Self { known, trial, state, values, grid: seen, .. } = self;
        let (least, most) = seen.split_at_mut(known.len());
        for (i, known) in known.iter().enumerate() {
            let g = known.value * known.side;
            (least[i], most[i]) = (g, g);
        }
        // The end first: it tells most of those that are not far.
        for point in (2..=PARTS + 1).rev() {
            let t = grid.time(point);
            step.state(t, state);
            if system.event_values(t, state, values).is_err() {
                return false;
            }
            for (i, &value) in values.iter().enumerate() {
                let g = value * known[i].side;
                (least[i], most[i]) = (least[i].min(g), most[i].max(g));
                // NOTE: written so that what is not a number is not far, nor a side that is not known.
                let far = g > 0.0 && most[i] <= FAR * least[i];
                if !far {
                    return false;
                }
                trial[i].reach = trial[i].reach.max(g);
                if point == PARTS + 1 {
                    trial[i].value = value;
                }
            }
        }
        true
    }

    /// Finds the events of a step under trial; nothing is remembered until [`EventFinder::accept`]. The answer
    /// is whether every function could be foretold: if not, a shorter step is needed to find all of its zeros.
    pub(crate) fn scan(
        &mut self,
        step: &DenseStep<'_>,
        system: &mut dyn System,
    ) -> Result<bool, EvalError> {
        self.events.clear();
        if self.is_idle() {
            return Ok(true);
        }
        let mut jumps = 0;
        self.trial.copy_from_slice(&self.known);
        let mut started = self.started;
        self.parts.clear();
        self.parts.push(Part { start: step.start(), end: step.end(), halvings: DEPTH });
        while let Some(part) = self.parts.pop() {
            let grid = ScanGrid { start: part.start, end: part.end };
            self.look(step, &grid, system)?;
            let middle = f64::midpoint(part.start, part.end);
            let divisible = middle != part.start && middle != part.end;
            let is_foretold = self.is_foretold();
            if part.halvings > 0 && divisible && !is_foretold {
                let halvings = part.halvings - 1;
                self.parts.push(Part { start: middle, halvings, ..part });
                self.parts.push(Part { end: middle, halvings, ..part });
                continue;
            }
            self.scan_part(step, &grid, system, started)?;
            started = true;
            jumps += usize::from(!is_foretold);
            if jumps > JUMPS {
                return Ok(false);
            }
        }
        self.events.finish(step.end() >= step.start());
        Ok(true)
    }

    /// Evaluates all functions in the points of a grid.
    fn look(
        &mut self,
        step: &DenseStep<'_>,
        grid: &ScanGrid,
        system: &mut dyn System,
    ) -> Result<(), EvalError> {
        let count = self.events.functions();
        for (point, values) in self.grid.chunks_exact_mut(count).enumerate() {
            let t = grid.time(point);
            step.state(t, &mut self.state);
            system.event_values(t, &self.state, values)?;
        }
        Ok(())
    }

    /// Whether every function is, in every second point, what the others foretell.
    fn is_foretold(&self) -> bool {
        let count = self.events.functions();
        (0..count).all(|index| {
            let value = |place: usize| self.grid[(place + 1) * count + index];
            let values = (0..=PARTS).map(value);
            let (low, high) = values
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), g| {
                    (low.min(g), high.max(g))
                });
            // NOTE: what rounding leaves of a function at rest is not foretold by anything.
            let rounding =
                64.0 * f64::EPSILON * low.abs().max(high.abs()).max(self.known[index].reach);
            let allowed = (FORETOLD * (high - low)).max(rounding);
            WEIGHTS.iter().enumerate().all(|(odd, weights)| {
                let evens = weights.iter().enumerate();
                let foretold: f64 = evens.map(|(even, weight)| weight * value(2 * even)).sum();
                // NOTE: what is not a number is not foretold by more points either.
                let off = (foretold - value(2 * odd + 1)).abs();
                off.is_nan() || off <= allowed
            })
        })
    }

    /// Finds the events of a part whose values are known.
    fn scan_part(
        &mut self,
        step: &DenseStep<'_>,
        grid: &ScanGrid,
        system: &mut dyn System,
        started: bool,
    ) -> Result<(), EvalError> {
        let count = self.events.functions();
        for index in 0..count {
            let mut probe = EventFunction {
                step,
                system,
                state: &mut self.state,
                values: &mut self.values,
                index,
            };
            let mut g = [0.0; ScanGrid::COUNT];
            for (point, g) in g.iter_mut().enumerate() {
                *g = self.grid[point * count + index];
            }
            let mut scan = StepScan {
                index,
                grid,
                g,
                negligible: 0.0,
                settled: false,
                events: &mut self.events,
            };
            self.trial[index] = scan.run(&mut probe, self.trial[index], started)?;
        }
        Ok(())
    }

    /// The step became part of the run.
    pub(crate) fn accept(&mut self) {
        self.known.copy_from_slice(&self.trial);
        self.started = true;
    }

    /// What [`EventFinder::scan`] found, up to the first stopping event.
    pub(crate) fn found(&self) -> &[LocatedEvent] {
        self.events.found()
    }

    /// The event that ends the run in this step.
    pub(crate) fn stop(&self) -> Option<LocatedEvent> {
        self.events.stop()
    }
}

/// One event function in one step.
struct StepScan<'a> {
    index: usize,
    grid: &'a ScanGrid,
    /// Values in the points of the grid.
    g: [f64; ScanGrid::COUNT],
    /// Magnitude that counts as zero.
    negligible: f64,
    /// As in [`EventState`], at the end of the step.
    settled: bool,
    events: &'a mut EventList,
}

impl StepScan<'_> {
    fn run(
        &mut self,
        probe: &mut EventFunction<'_>,
        known: EventState,
        started: bool,
    ) -> Result<EventState, EvalError> {
        // NaN does not enter: f64::max passes it over.
        let local = self.g[1..=PARTS + 1].iter().fold(0.0_f64, |m, g| m.max(g.abs()));
        let reach = known.reach.max(local);
        self.negligible = (1e-12 * local).max(8.0 * f64::EPSILON * reach);
        let at_start = !started && self.g[1].abs() <= self.negligible;
        let start = if started || at_start { known.side } else { sign(self.g[1]) };
        let side = self.crossings(probe, start)?;
        // Around the start only if the function has not changed its side there.
        if !known.settled && start == sign(self.g[0]) {
            self.dip(probe, 1)?;
        }
        for point in 2..=PARTS + 1 {
            // A zero in the point itself was dealt with when it was passed.
            if self.g[point].abs() > self.negligible {
                self.dip(probe, point)?;
            }
        }
        Ok(EventState { side, value: self.g[PARTS + 1], reach, settled: self.settled })
    }

    /// The function in a point of the grid.
    fn value_at(&self, point: usize) -> TimeValue {
        TimeValue { t: self.grid.time(point), value: self.g[point] }
    }

    /// Reports changes of side from point to point; gives the side at the end.
    fn crossings(
        &mut self,
        probe: &mut EventFunction<'_>,
        mut side: f64,
    ) -> Result<f64, EvalError> {
        // The last time at which the function was on its side, with its value.
        let mut from = self.value_at(1);
        if side == 0.0 || sign(from.value) != side {
            from = probe.at(self.grid.after(1))?;
            side = sign(from.value);
        }
        for point in 2..=PARTS + 1 {
            let here = self.value_at(point);
            if side == 0.0 || here.value.is_nan() {
                (side, from) = (sign(here.value), here);
            } else if here.value.abs() <= self.negligible {
                (side, from) = self.at_zero(probe, side, from, point)?;
            } else if sign(here.value) == side {
                from = here;
            } else {
                let t = probe.zero(from, here)?;
                if !is_pole(probe, from, here, t) {
                    self.report(t, crossing_to(-side));
                }
                (side, from) = (-side, here);
            }
        }
        Ok(side)
    }

    /// The function is zero in a point: how it goes on decides what that was.
    fn at_zero(
        &mut self,
        probe: &mut EventFunction<'_>,
        side: f64,
        from: TimeValue,
        point: usize,
    ) -> Result<(f64, TimeValue), EvalError> {
        let here = self.value_at(point);
        let after = probe.at(self.grid.after(point))?;
        let next = sign(after.value);
        if next == -side {
            let t = probe.zero(from, after)?;
            self.report(t, crossing_to(next));
        } else if next == 0.0 {
            // It stays at zero (or ends there): the first such moment counts.
            let t = probe.first_off_side(side, from.t, here.t)?;
            self.report(t, Crossing::Touch);
        } else if let Some(bracket) = MinimumBracket::new(side, from, here, after) {
            self.minimum(probe, bracket, side, after.t)?;
        }
        Ok((next, after))
    }

    /// Searches the extremum around a point that is nearer to zero than its neighbours.
    fn dip(&mut self, probe: &mut EventFunction<'_>, point: usize) -> Result<(), EvalError> {
        let side = sign(self.g[point - 1]);
        // A point on the other side was a change of side.
        if side * self.g[point] < -self.negligible {
            return Ok(());
        }
        let [before, here, after] = [point - 1, point, point + 1].map(|p| self.value_at(p));
        match MinimumBracket::new(side, before, here, after) {
            Some(bracket) => self.minimum(probe, bracket, side, after.t),
            None => Ok(()),
        }
    }

    /// Reports what an extremum towards zero means, between points the last of which is at the time `after`.
    fn minimum(
        &mut self,
        probe: &mut EventFunction<'_>,
        bracket: MinimumBracket,
        side: f64,
        after: f64,
    ) -> Result<(), EvalError> {
        match bracket.resolve(probe, self.negligible)? {
            Minimum::Zeros(first, second) => {
                self.report_within(first, crossing_to(-side));
                self.report_within(second, crossing_to(side));
            }
            Minimum::Touch(t) => {
                if self.report_within(t, Crossing::Touch) {
                    self.settled |= after == self.grid.after(PARTS + 1);
                }
            }
            Minimum::Nothing => {}
        }
        Ok(())
    }

    /// Reports what lies within the step; what lies beyond belongs to its neighbour. A zero at
    /// the border belongs to the step that ends there.
    fn report_within(&mut self, t: f64, crossing: Crossing) -> bool {
        let within = self.grid.covers(t);
        if within {
            self.report(t, crossing);
        }
        within
    }

    fn report(&mut self, t: f64, crossing: Crossing) {
        let (a, b) = (self.grid.start, self.grid.end);
        self.events.report(self.index, t.clamp(a.min(b), a.max(b)), crossing);
    }
}

/// Whether a function changes its sign at `t` through infinity: close to it, it is larger than at both ends.
fn is_pole(probe: &mut EventFunction<'_>, from: TimeValue, here: TimeValue, t: f64) -> bool {
    let δ = 1e-4 * (here.t - from.t);
    let (before, after) = (probe.at(t - δ), probe.at(t + δ));
    // NOTE: a function that is infinite next to the place has a pole there.
    let (Ok(before), Ok(after)) = (before, after) else { return true };
    let grows = |near: TimeValue, far: TimeValue| near.value.abs() > 2.0 * far.value.abs();
    grows(before, from) && grows(after, here)
}

/// The part that the value in each even place has in each odd one, in the polynomial through all even ones.
const WEIGHTS: [[f64; PARTS / 2 + 1]; PARTS / 2] = {
    let mut weights = [[1.0; PARTS / 2 + 1]; PARTS / 2];
    let mut odd = 0;
    while odd < PARTS / 2 {
        let mut even = 0;
        while even <= PARTS / 2 {
            let mut other = 0;
            while other <= PARTS / 2 {
                if other != even {
                    let (x, a, b) = (PLACES[2 * odd + 1], PLACES[2 * even], PLACES[2 * other]);
                    weights[odd][even] *= (x - b) / (a - b);
                }
                other += 1;
            }
            even += 1;
        }
        odd += 1;
    }
    weights
};

/// 1, −1, or 0 for zero and for what is not a number.
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        0.0
    }
}
