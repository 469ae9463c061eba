//! The zeros of event functions within one step, in the order of the run.
//!
//! Every function is looked at in nine points of the step on its dense output. Unless these tell its zeros
//! (`certainty.rs`), the step is halved, and each half is looked at in the same way, up to
//! [`DEPTH`] times; a few parts that are not foretold even then are halved [`DEEPER`] times more. A change of sign is
//! located by inverse quadratic interpolation and bisection; between three points of one sign the middle of which is
//! nearest to zero, the extremum is searched: beyond zero it is two zeros, at zero a touch.
//!
//! **What counts.** Each function carries its *side*, the sign it has left zero with. A zero is
//! reported when the side changes, and the side outlives the step: no zero is
//! reported twice at a border, and one at the start not at all. Values count as zero below
//! $10^{-12}$ of the largest in the step, or at the rounding of the largest in the run.
//!
//! **Far from zero.** Where a function keeps its sign and changes by less than a quarter of its
//! smallest value over the nine points (or by less than a fifth over four, if its phases hardly vary), no search for
//! an extremum would begin: such a step need not be looked at more closely, and if that is seen on the cubic
//! polynomial between both ends, it needs no better one for its events. Before that the system itself may know that no
//! function vanishes within the bounds of the step ([`System::is_clear`]).
//!
//! **Poles.** A function that changes its sign through infinity has no zero there: a change of sign next to which
//! it is larger than at both ends of its interval does not count.
//!
//! **Limits.** A function that varies too fast even for the smallest parts asks for a shorter step; the run gives
//! it up after some of them, and says so. Past the ends of a step the polynomial is used for
//! a thousandth of its length, to see which way a function leaves a zero at the end.

mod barrier;
mod distance;
mod jump;

use crate::ode::certainty::{Certainty, PARTS, PLACES, POINTS, View, is_slow};
use crate::ode::dense_output::DenseStep;
use crate::ode::event_list::{EventList, crossing_to};
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::refinement::EventRefiner;
use crate::ode::root_finding::{
    EventFunction, Minimum, MinimumBracket, TimeFunction, TimeValue, is_pole,
};
use crate::ode::stepper::ScaledState;
use crate::ode::system::{Counted, EvalError, System};

/// How often a step is halved at most to tell the zeros of its functions.
const DEPTH: u32 = 12;
/// How often the smallest parts are halved again if there are few of them, and how many are looked at in a step: a jump
/// or a kink needs two for each time.
const DEEPER: u32 = 12;
const DEEP: usize = 24 * JUMPS;
/// How often for a function that was given up.
const COARSE: u32 = 4;
/// Parts that are not foretold even so, up to which they count as jumps and kinks of the function.
const JUMPS: usize = 8;
/// How far beyond a point one looks for the sign after it, in steps.
const BEYOND: f64 = 1e-3;
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
    certainty: Certainty,
    /// The event that each phase belongs to, and the phases at the start and at the end of the step: not numbers where
    /// they are unknown.
    phases: Vec<usize>,
    phases_at: [Vec<f64>; 2],
    /// In how many of the smallest parts of the step each function is not foretold.
    rough: Vec<usize>,
    /// Functions that were given up.
    vague: Vec<bool>,
    /// The largest magnitude of each function in the points of the whole step.
    local: Vec<f64>,
    /// The sizes of the terms of barriers where the step starts.
    sizes: Vec<f64>,
    /// Bounds of the state in a step.
    bounds: [Vec<f64>; 2],
}

/// A part of a step.
#[derive(Clone, Copy)]
struct Part {
    start: f64,
    end: f64,
    /// How often it may be halved, and how often one of the smallest parts was.
    halvings: u32,
    deeper: u32,
    /// The length of the longest part around it in which all functions are foretold.
    smooth: f64,
}

/// What is known of one event function.
#[derive(Clone, Copy, Default)]
struct EventState {
    /// 1 or −1; 0 on a zero that does not count.
    side: f64,
    /// The value at the end of the step; not a number where nothing was evaluated.
    value: f64,
    /// Largest magnitude in the run.
    reach: f64,
    /// A touch at this border was reported.
    settled: bool,
    /// It leaves zero to its side at this border, however soon it comes back.
    fresh: bool,
    /// The value from which a barrier is watched: below zero only as long as it has not been seen above it.
    base: f64,
}

/// Times in which a step is looked at: one beyond the start, `PARTS + 1` within, one beyond the end.
struct ScanGrid {
    start: f64,
    end: f64,
    /// Over which length the functions are smooth.
    smooth: f64,
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
        let known = |index: usize| {
            let fresh = events.is_barrier(index);
            EventState {
                side: f64::from(u8::from(fresh)),
                value: f64::NAN,
                fresh,
                ..EventState::default()
            }
        };
        let known: Vec<EventState> = (0..count).map(known).collect();
        let phases = system.event_phases().to_vec();
        let width = count + phases.len();
        Self {
            trial: known.clone(),
            known,
            started: false,
            state: vec![0.0; system.dimension()],
            values: vec![0.0; width],
            grid: vec![0.0; ScanGrid::COUNT * width],
            certainty: Certainty::new(),
            phases_at: [vec![f64::NAN; phases.len()], vec![f64::NAN; phases.len()]],
            phases,
            rough: vec![0; count],
            vague: vec![false; count],
            local: vec![0.0; count],
            sizes: vec![0.0; count],
            parts: Vec::with_capacity(2 + (DEPTH + DEEPER) as usize),
            bounds: [vec![0.0; system.dimension()], vec![0.0; system.dimension()]],
            events,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.events.functions() == 0
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
        if self.events.has_barriers() {
            step.state(step.start(), &mut self.state);
            system.event_sizes(step.start(), &self.state, &mut self.sizes);
        }
        self.rough.fill(0);
        self.trial.copy_from_slice(&self.known);
        let mut started = self.started;
        self.parts.clear();
        self.parts.push(Part {
            start: step.start(),
            end: step.end(),
            halvings: DEPTH,
            deeper: 0,
            smooth: 0.0,
        });
        let mut deep = 0;
        while let Some(mut part) = self.parts.pop() {
            // An extremum is looked for between three points: about a quarter of the part.
            let smooth = 0.25 * part.smooth;
            let grid = ScanGrid { start: part.start, end: part.end, smooth };
            self.look(step, &grid, system)?;
            if part.halvings == DEPTH {
                self.measure();
            }
            let middle = f64::midpoint(part.start, part.end);
            let is_divisible = middle != part.start && middle != part.end;
            let can_halve = part.halvings > 0 && is_divisible;
            let is_coarse = part.halvings + COARSE > DEPTH;
            let view = self.view(can_halve || part.deeper > 0, is_coarse);
            if view == View::Close {
                part.smooth = part.smooth.max((part.end - part.start).abs());
            }
            if view != View::Certain && can_halve {
                let halvings = part.halvings - 1;
                self.parts.push(Part { start: middle, halvings, ..part });
                self.parts.push(Part { end: middle, halvings, ..part });
                continue;
            }
            let is_rough = view == View::Rough && is_divisible;
            if is_rough && part.deeper < DEEPER && deep < DEEP {
                deep += 2;
                let deeper = part.deeper + 1;
                self.parts.push(Part { start: middle, deeper, ..part });
                self.parts.push(Part { end: middle, deeper, ..part });
                continue;
            }
            self.scan_part(step, &grid, system, started)?;
            started = true;
            if self.rough.iter().any(|&parts| parts > JUMPS) {
                return Ok(false);
            }
        }
        let at_end = self.grid.chunks_exact(self.values.len()).nth(PARTS + 1);
        let phases = at_end.iter().flat_map(|row| &row[self.events.functions()..]);
        self.phases_at[1].iter_mut().zip(phases).for_each(|(x, phase)| *x = *phase);
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
        for (point, values) in self.grid.chunks_exact_mut(self.values.len()).enumerate() {
            let t = grid.time(point);
            step.state(t, &mut self.state);
            let evaluated = system.event_values(t, &self.state, values);
            let is_outside = (t - step.start()) * (step.end() - t) < 0.0;
            match evaluated {
                // NOTE: forces may have no value before the start: sqrt(t), tables.
                Err(_) if is_outside => values.fill(f64::NAN),
                other => other?,
            }
        }
        Ok(())
    }

    /// Notes the largest magnitudes in the points of the whole step; what is not a number does not enter.
    fn measure(&mut self) {
        for (index, local) in self.local.iter_mut().enumerate() {
            let values = self.grid.chunks_exact(self.values.len()).skip(1).take(POINTS);
            *local = values.fold(0.0_f64, |m, row| m.max(row[index].abs()));
        }
    }

    /// Judges the values of a part: the worst view of a function, counted for those that are rough if the
    /// part cannot be halved.
    fn view(&mut self, can_halve: bool, is_coarse: bool) -> View {
        let width = self.values.len();
        let column = |grid: &[f64], index: usize| -> [f64; POINTS] {
            std::array::from_fn(|place| grid[(place + 1) * width + index])
        };
        let mut worst = View::Certain;
        for index in 0..self.events.functions() {
            let reach = self.known[index].reach.max(self.sizes[index]);
            let mut view =
                self.certainty.view(&column(&self.grid, index), self.local[index], reach);
            let of_it = |&(_, &event): &(usize, &usize)| event == index;
            let count = self.events.functions();
            if !self
                .phases
                .iter()
                .enumerate()
                .filter(of_it)
                .all(|(phase, _)| is_slow(&column(&self.grid, count + phase)))
            {
                view = View::Rough;
            }
            if self.vague[index] && !is_coarse {
                continue;
            }
            self.rough[index] += usize::from(view == View::Rough && !can_halve);
            worst = worst.max(view);
        }
        worst
    }

    /// Finds the events of a part whose values are known.
    fn scan_part(
        &mut self,
        step: &DenseStep<'_>,
        grid: &ScanGrid,
        system: &mut dyn System,
        started: bool,
    ) -> Result<(), EvalError> {
        let width = self.values.len();
        for index in 0..self.events.functions() {
            let mut probe = EventFunction {
                step,
                system,
                state: &mut self.state,
                values: &mut self.values,
                index,
            };
            let mut g = [0.0; ScanGrid::COUNT];
            for (point, g) in g.iter_mut().enumerate() {
                *g = self.grid[point * width + index];
            }
            let mut scan = StepScan {
                index,
                grid,
                g,
                local: self.local[index],
                size: self.sizes[index],
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
        let [start, end] = &mut self.phases_at;
        start.copy_from_slice(end);
        self.started = true;
    }

    /// Gives up the functions that could not be foretold: they are looked at less closely from now on. Says which.
    pub(crate) fn give_up(&mut self) -> impl Iterator<Item = usize> {
        let rough = self.rough.iter().enumerate().filter(|&(_, &parts)| parts > JUMPS);
        let given: Vec<usize> =
            rough.map(|(index, _)| index).filter(|&index| !self.vague[index]).collect();
        given.iter().for_each(|&index| self.vague[index] = true);
        given.into_iter()
    }

    /// What [`EventFinder::scan`] found, up to the first stopping event.
    pub(crate) fn found(&self) -> &[LocatedEvent] {
        self.events.found()
    }

    /// Locates what was found better, and puts it in the order of the run again.
    pub(crate) fn relocate(
        &mut self,
        refiner: &mut EventRefiner,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
        from: &ScaledState<'_>,
    ) {
        refiner.relocate(system, step, from, self.events.found_mut());
        self.events.end_at_stop();
    }

    /// The event that ends the step.
    pub(crate) fn last(&self) -> Option<LocatedEvent> {
        self.events.last()
    }

    /// Whether an event ends the run.
    pub(crate) fn is_stop(&self, event: &LocatedEvent) -> bool {
        self.events.is_stop(event)
    }
}

/// One event function in one step.
struct StepScan<'a> {
    index: usize,
    grid: &'a ScanGrid,
    /// Values in the points of the grid.
    g: [f64; ScanGrid::COUNT],
    /// The largest magnitude in the step.
    local: f64,
    /// The size of the terms of a barrier.
    size: f64,
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
        let local = self.g[1..=PARTS + 1].iter().fold(self.local, |m, g| m.max(g.abs()));
        let reach = known.reach.max(local);
        if self.events.is_barrier(self.index) && known.side > 0.0 {
            return self.guard(probe, EventState { reach, ..known }, started);
        }
        self.negligible = (1e-12 * local).max(8.0 * f64::EPSILON * reach);
        let at_start = !started && self.g[1].abs() <= self.negligible;
        let start = if started || at_start { known.side } else { sign(self.g[1]) };
        let side = self.crossings(probe, start, known.fresh)?;
        // Around the start only if the function has not changed its side there.
        self.dips(probe, !known.settled && start == sign(self.g[0]))?;
        let value = self.g[PARTS + 1];
        Ok(EventState { side, value, reach, settled: self.settled, fresh: false, base: 0.0 })
    }

    /// Looks for extrema near zero, around the start as well or not.
    fn dips(&mut self, probe: &mut EventFunction<'_>, at_start: bool) -> Result<(), EvalError> {
        if at_start {
            self.dip(probe, 1)?;
        }
        for point in 2..=PARTS + 1 {
            // A zero in the point itself was dealt with when it was passed.
            if self.g[point].abs() > self.negligible {
                self.dip(probe, point)?;
            }
        }
        Ok(())
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
        fresh: bool,
    ) -> Result<f64, EvalError> {
        // The last time at which the function was on its side, with its value.
        let mut from = self.value_at(1);
        if let (true, Some(left)) = (fresh, self.leaving(probe, side)?) {
            from = left;
        } else if side == 0.0 || sign(from.value) != side {
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
        match bracket.resolve(probe, self.negligible, self.grid.smooth)? {
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
        self.report_at(0.0, t, crossing);
    }

    fn report_at(&mut self, level: f64, t: f64, crossing: Crossing) {
        let (a, b) = (self.grid.start, self.grid.end);
        let t = t.clamp(a.min(b), a.max(b));
        self.events.report(LocatedEvent { index: self.index, t, crossing, level });
    }
}

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
