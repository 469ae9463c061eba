//! The run of many motions in lanes: starts, steps, events and the second integration.

use std::collections::VecDeque;

use pfaff_program::{LANES, LaneExecutor, LaneRows};

use crate::ensemble::lanes::check::checked;
use crate::ensemble::lanes::cubic::Cubic;
use crate::ensemble::lanes::flight::{InFlight, Landing, read_lane, write_lane};
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::step_program::StepExecutor;
use crate::ensemble::lanes::{LaneEventRecord, LaneExecutors, LaneMotion, Lanes};

/// Short steps onto an event at most.
const MOST_LANDINGS: usize = 8;
/// A value that has a sign, and whose products have one.
const JUST: f64 = 1e-150;
/// Events closer than this part of a step are left to a single run.
const TOGETHER: f64 = 1e-3;

/// Eight lanes with their executors. Give each thread its own.
pub(crate) struct LaneRun<'a> {
    lanes: &'a Lanes,
    step: StepExecutor,
    start: LaneExecutor,
    point: LaneExecutor,
    /// The rows before and after a step.
    before: LaneRows,
    after: LaneRows,
    start_inputs: LaneRows,
    start_outputs: LaneRows,
    point_inputs: LaneRows,
    point_outputs: LaneRows,
    /// Motions that wait for a lane, and those whose states are still to be read off.
    waiting: VecDeque<Box<InFlight>>,
    #[allow(clippy::vec_box, reason = "they change places with lanes, and are large")]
    ended: Vec<Box<InFlight>>,
    /// Storage of motions that are over.
    #[allow(clippy::vec_box, reason = "as above")]
    spare: Vec<Box<InFlight>>,
    active: [Option<Box<InFlight>>; LANES],
    /// What was read off of states, one after another.
    found: Vec<f64>,
    /// The motion whose parameters each lane has.
    owners: [usize; LANES],
}

/// What attention to a lane leads to.
enum Next {
    Goes,
    /// The integration has ended.
    Ends(Option<usize>),
    /// A single run has to do it.
    Leaves,
}

impl<'a> LaneRun<'a> {
    pub(crate) fn new(lanes: &'a Lanes) -> Self {
        let programs = &lanes.programs;
        let layout = programs.layout;
        let LaneExecutors { step, start, point } = lanes.executors();
        Self {
            lanes,
            before: step.room(),
            after: step.room(),
            step,
            start,
            point,
            start_inputs: LaneRows::new(3 + lanes.values.len()),
            start_outputs: LaneRows::new(programs.start.outputs()),
            point_inputs: LaneRows::new(1 + layout.controlled() + lanes.values.len()),
            point_outputs: LaneRows::new(programs.point.outputs()),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            spare: Vec::new(),
            active: [const { None }; LANES],
            found: Vec::new(),
            owners: [usize::MAX; LANES],
        }
    }

    /// Runs so many motions. `values` writes the parameters of one over those of the model; `done` takes each when it
    /// is complete, in any order, or `None` if a single run has to do it; what is not handed over was interrupted.
    /// Tells how many trials of eight lanes it took.
    pub(crate) fn run(
        &mut self,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<LaneMotion>),
        goes_on: &dyn Fn() -> bool,
    ) -> usize {
        let (mut next, mut trials) = (0, 0);
        self.owners = [usize::MAX; LANES];
        loop {
            for lane in 0..LANES {
                self.fill(lane, &mut next, count, values, done);
            }
            trials += self.advance(&mut next, count, values, done, goes_on);
            self.read_off(done);
            if self.waiting.is_empty() && (next >= count || !goes_on()) {
                break;
            }
        }
        self.ended.clear();
        trials
    }

    /// Steps until no lane has a motion; tells how many.
    fn advance(
        &mut self,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<LaneMotion>),
        goes_on: &dyn Fn() -> bool,
    ) -> usize {
        let layout = self.lanes.programs.layout;
        let mut trials = 0_usize;
        while self.active.iter().any(Option::is_some) {
            self.step.evaluate(&mut self.before, &mut self.after);
            std::mem::swap(&mut self.before, &mut self.after);
            // From here on `before` is what the step came to, and `after` what it started from.
            let flags = &self.before.rows()[layout.attention() * LANES..][..LANES];
            if flags.iter().sum::<f64>() > 0.0 {
                for lane in 0..LANES {
                    if self.before.at(layout.attention(), lane) > 0.0 {
                        self.attend(lane, next, count, values, done);
                    }
                }
            }
            trials += 1;
            if trials.is_multiple_of(64) && !goes_on() {
                self.active.iter_mut().for_each(|lane| *lane = None);
                self.waiting.clear();
                *next = count;
            }
        }
        trials
    }

    /// Gives the next motion to a lane; without one it stands still.
    fn fill(
        &mut self,
        lane: usize,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<LaneMotion>),
    ) {
        while self.waiting.is_empty() && *next < count {
            self.begin(next, count, values, done);
        }
        let Some(flight) = self.waiting.pop_front() else {
            let layout = self.lanes.programs.layout;
            // NOTE: a step of length zero from any state: nothing changes and nothing is asked for.
            for row in 0..layout.rows() {
                let value = self.before.at(row, (lane + 1) % LANES);
                self.before.set(row, lane, value);
            }
            self.before.set(StepLayout::T1, lane, f64::MIN_POSITIVE);
            self.before.set(StepLayout::H, lane, 0.0);
            self.before.set(StepLayout::TRIES, lane, f64::NEG_INFINITY);
            self.before.set(StepLayout::T, lane, 0.0);
            for event in 0..layout.events {
                self.before.set(layout.event(event), lane, 1.0);
            }
            self.active[lane] = None;
            return;
        };
        self.place(lane, flight);
    }

    /// Puts a motion at its start into a lane.
    fn place(&mut self, lane: usize, mut flight: Box<InFlight>) {
        let layout = self.lanes.programs.layout;
        write_lane(self.before.rows_mut(), lane, &flight.start[..layout.rows()]);
        let settings = self.lanes.settings;
        if flight.is_looser {
            let tolerance = settings.looser[flight.attempt];
            let ratio = tolerance / settings.tolerance;
            self.before.set(StepLayout::TOLERANCE, lane, tolerance);
            let h = flight.start[StepLayout::H] * ratio.sqrt().sqrt().sqrt();
            self.before.set(StepLayout::H, lane, h);
            if flight.has_end {
                self.before.set(StepLayout::T1, lane, flight.end.t);
            }
        } else if flight.has_looser && !flight.by_itself {
            let scales = &mut self.before.rows_mut()[layout.scale(0) * LANES..];
            write_lane(scales, lane, &flight.looser.largest);
        }
        flight.landing = None;
        if self.owners[lane] != flight.case {
            self.owners[lane] = flight.case;
            self.step.set_prepared(lane, &flight.prepared);
        }
        self.active[lane] = Some(flight);
    }

    /// Finds the starts of up to eight further motions.
    fn begin(
        &mut self,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<LaneMotion>),
    ) {
        let settings = self.lanes.settings;
        let some = LANES.min(count - *next);
        let mut flights = Vec::with_capacity(some);
        for lane in 0..some {
            let mut flight = self.spare.pop().unwrap_or_default();
            flight.case = *next + lane;
            flight.values.clone_from(&self.lanes.values);
            values(flight.case, &mut flight.values);
            flights.push(flight);
        }
        let given = [settings.t0, settings.t1, settings.tolerance];
        let inputs = self.start_inputs.rows_mut();
        for lane in 0..LANES {
            let flight = &flights[lane.min(some - 1)];
            write_lane(inputs, lane, &given);
            write_lane(&mut inputs[given.len() * LANES..], lane, &flight.values);
        }
        self.start.evaluate(self.start_inputs.rows(), self.start_outputs.rows_mut());
        self.step.prepare(&self.start_inputs.rows()[given.len() * LANES..]);
        let layout = self.lanes.programs.layout;
        for (lane, mut flight) in flights.into_iter().enumerate() {
            if self.start_outputs.at(layout.good_start(), lane) != 1.0 {
                done(flight.case, None);
                self.spare.push(flight);
                continue;
            }
            let rows = &self.start_outputs.rows()[..layout.rows() * LANES];
            read_lane(rows, lane, &mut flight.start);
            self.step.prepared(lane, &mut flight.prepared);
            (flight.has_end, flight.has_looser) = (false, false);
            flight.is_looser = settings.looser_first;
            flight.by_itself = !settings.looser_first;
            flight.attempt = 0;
            flight.events.clear();
            flight.points.clear();
            self.waiting.push_back(flight);
        }
        *next += some;
    }

    /// Looks at a lane that asked for it.
    fn attend(
        &mut self,
        lane: usize,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<LaneMotion>),
    ) {
        let Some(mut flight) = self.active[lane].take() else { return };
        match self.judged(lane, &mut flight) {
            Next::Goes => self.active[lane] = Some(flight),
            Next::Leaves => {
                done(flight.case, None);
                self.spare.push(flight);
                self.fill(lane, next, count, values, done);
            }
            Next::Ends(event) => {
                self.note_end(lane, event, &mut flight);
                if flight.has_end && flight.has_looser {
                    self.ended.push(flight);
                    if self.ended.len() >= LANES {
                        self.read_off(done);
                    }
                    self.fill(lane, next, count, values, done);
                } else {
                    flight.is_looser = !flight.is_looser;
                    self.place(lane, flight);
                }
            }
        }
    }

    /// Notes the state in which a lane is as the end of its integration.
    fn note_end(&self, lane: usize, event: Option<usize>, flight: &mut InFlight) {
        let layout = self.lanes.programs.layout;
        let (d, all) = (layout.controlled(), layout.carried());
        let is_over =
            if flight.is_looser { &mut flight.has_looser } else { &mut flight.has_end };
        *is_over = true;
        let ended = if flight.is_looser { &mut flight.looser } else { &mut flight.end };
        let rows = self.before.rows();
        let from = |first: usize, count: usize| &rows[first * LANES..(first + count) * LANES];
        ended.t = self.before.at(StepLayout::T, lane);
        ended.steps = self.before.at(StepLayout::STEPS, lane);
        read_lane(from(StepLayout::Y, all), lane, &mut ended.y);
        read_lane(from(layout.largest(0), d), lane, &mut ended.largest);
        ended.energy_off = self.before.at(StepLayout::OFF, lane);
        ended.energy_size = self.before.at(StepLayout::ENERGY_SIZE, lane);
        read_lane(from(layout.residual(0), layout.constraints), lane, &mut ended.residuals);
        ended.event = event;
    }

    /// What becomes of a lane that asked for attention.
    fn judged(&mut self, lane: usize, flight: &mut InFlight) -> Next {
        let layout = self.lanes.programs.layout;
        if self.before.at(layout.doubt(), lane) > 0.0 {
            return Next::Leaves;
        }
        if self.before.at(layout.rejected(), lane) > 0.0 {
            let left = StepLayout::AFTER_REJECTION.map(|row| self.before.at(row, lane));
            self.set_back(lane);
            for (row, value) in StepLayout::AFTER_REJECTION.into_iter().zip(left) {
                self.before.set(row, lane, value);
            }
            return Next::Goes;
        }
        let is_there =
            self.before.at(StepLayout::T, lane) >= self.before.at(StepLayout::T1, lane);
        if flight.is_looser {
            return if is_there { Next::Ends(None) } else { Next::Goes };
        }
        if let Some(landing) = flight.landing {
            // NOTE: a step backwards ends before it begins.
            let is_there = is_there
                || self.before.at(StepLayout::T, lane) == self.before.at(StepLayout::T1, lane);
            return if is_there { self.land(lane, flight, landing) } else { Next::Goes };
        }
        let steps = |rows: &LaneRows| rows.at(StepLayout::STEPS, lane);
        if steps(&self.before) > steps(&self.after) {
            match self.crossing(lane) {
                Crossing::None => {}
                Crossing::Unclear => return Next::Leaves,
                Crossing::At { event, t } => {
                    let (start, end) = (
                        self.after.at(StepLayout::T, lane),
                        self.before.at(StepLayout::T, lane),
                    );
                    let h = self.before.at(StepLayout::H, lane);
                    let landing = Landing { event, tries: 0, h, within: end - start };
                    flight.landing = Some(landing);
                    self.set_back(lane);
                    self.before.set(StepLayout::T1, lane, t);
                    self.before.set(StepLayout::H, lane, t - start);
                    return Next::Goes;
                }
            }
        }
        if is_there { Next::Ends(None) } else { Next::Goes }
    }

    /// A lane is where it was before its last step.
    fn set_back(&mut self, lane: usize) {
        let count = self.lanes.programs.layout.rows() * LANES;
        let from = self.after.rows()[..count].chunks_exact(LANES);
        let to = self.before.rows_mut()[..count].chunks_exact_mut(LANES);
        to.zip(from).for_each(|(to, from)| to[lane] = from[lane]);
    }

    /// The first event of the step that a lane has made.
    fn crossing(&self, lane: usize) -> Crossing {
        let layout = self.lanes.programs.layout;
        let (start, end) =
            (self.after.at(StepLayout::T, lane), self.before.at(StepLayout::T, lane));
        let h = end - start;
        let mut first: Option<(usize, f64)> = None;
        for (i, event) in self.lanes.events.iter().enumerate() {
            let (g0, g1) =
                (self.after.at(layout.event(i), lane), self.before.at(layout.event(i), lane));
            let (d0, d1) = (
                h * self.after.at(layout.event_rate(i), lane),
                h * self.before.at(layout.event_rate(i), lane),
            );
            let cubic = Cubic { g0, g1, d0, d1 };
            if g0 == 0.0 || g0 * g1 > 0.0 {
                // NOTE: what starts at zero has no sign to change.
                if g0 != 0.0 && cubic.may_touch() {
                    return Crossing::Unclear;
                }
                continue;
            }
            if !cubic.is_monotone() {
                return Crossing::Unclear;
            }
            let rises = if g1 > g0 { 1.0 } else { -1.0 };
            if event.direction != 0.0 && event.direction != rises {
                continue;
            }
            let t = start + h * cubic.zero();
            match first {
                Some((_, known)) if (known - t).abs() < TOGETHER * h => {
                    return Crossing::Unclear;
                }
                Some((_, known)) if known < t => {}
                _ => first = Some((i, t)),
            }
        }
        first.map_or(Crossing::None, |(event, t)| Crossing::At { event, t })
    }

    /// A lane has come to where an event was expected.
    fn land(&mut self, lane: usize, flight: &mut InFlight, landing: Landing) -> Next {
        let layout = self.lanes.programs.layout;
        let Landing { event, tries, h, within } = landing;
        let value = self.before.at(layout.event(event), lane);
        let slope = self.before.at(layout.event_rate(event), lane);
        let t = self.before.at(StepLayout::T, lane);
        let correction = -value / slope;
        let is_close = correction.abs() <= 1e-14 * (t.abs() + within.abs());
        if !correction.is_finite()
            || correction.abs() > within.abs()
            || (tries >= MOST_LANDINGS && !is_close)
        {
            return Next::Leaves;
        }
        if !is_close {
            flight.landing = Some(Landing { tries: tries + 1, ..landing });
            self.before.set(StepLayout::T1, lane, t + correction);
            self.before.set(StepLayout::H, lane, correction);
            return Next::Goes;
        }
        flight.landing = None;
        let direction = if slope > 0.0 { 1.0 } else { -1.0 };
        let y: Vec<f64> =
            (0..layout.controlled()).map(|i| self.before.at(StepLayout::y(i), lane)).collect();
        flight.points.push((t, y));
        flight.events.push(LaneEventRecord { event, t, direction, state: Vec::new() });
        if self.lanes.events[event].stop {
            return Next::Ends(Some(event));
        }
        // The sign that it has from here on.
        self.before.set(layout.event(event), lane, direction * JUST);
        self.before.set(StepLayout::T1, lane, self.lanes.settings.t1);
        let rest = self.lanes.settings.t1 - t;
        self.before.set(StepLayout::H, lane, h.min(rest));
        if rest <= 0.0 { Next::Ends(None) } else { Next::Goes }
    }

    /// Reads the states of motions off that have ended, and hands them over.
    fn read_off(&mut self, done: &mut dyn FnMut(usize, Option<LaneMotion>)) {
        let mut flights = std::mem::take(&mut self.ended);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let rows = self.lanes.programs.point.outputs();
        let d = self.lanes.programs.layout.controlled();
        let mut points: Vec<(usize, f64, &[f64])> = Vec::new();
        for (place, flight) in flights.iter().enumerate() {
            points.extend(flight.points.iter().map(|(t, y)| (place, *t, y.as_slice())));
            points.push((place, flight.end.t, &flight.end.y[..d]));
        }
        for some in points.chunks(LANES) {
            let inputs = self.point_inputs.rows_mut();
            for lane in 0..LANES {
                let (place, t, y) = some[lane.min(some.len() - 1)];
                write_lane(inputs, lane, &[t]);
                write_lane(&mut inputs[LANES..], lane, y);
                write_lane(&mut inputs[(1 + d) * LANES..], lane, &flights[place].values);
            }
            self.point.evaluate(self.point_inputs.rows(), self.point_outputs.rows_mut());
            for lane in 0..some.len() {
                let column = self.point_outputs.rows().chunks_exact(LANES);
                found.extend(column.map(|row| row[lane]));
            }
        }
        drop(points);
        let mut read = found.chunks_exact(rows.max(1));
        for mut flight in flights.drain(..) {
            let n = self.lanes.programs.layout.n;
            let kept = n + self.lanes.programs.observed;
            let points = std::mem::take(&mut flight.points);
            let mut off = [0.0; 2];
            for (record, (_, y)) in flight.events.iter_mut().zip(&points) {
                let read = read.next().unwrap_or_default();
                record.state = [&y[..n], &read[..kept]].concat();
                off = worse(off, &read[kept..]);
            }
            let read = read.next().unwrap_or_default();
            off = worse(off, &read[kept..]);
            match checked(self.lanes, &mut flight, &read[..kept], off) {
                Some(motion) => done(flight.case, Some(motion)),
                // A second chance: with scales of its own, or beside a stricter one.
                None if flight.is_mismeasured() => {
                    (flight.by_itself, flight.is_looser, flight.has_end) = (true, false, false);
                    flight.events.clear();
                    self.waiting.push_back(flight);
                    continue;
                }
                None if flight.attempt + 1 < self.lanes.settings.looser.len() => {
                    flight.attempt += 1;
                    (flight.is_looser, flight.has_looser) = (true, false);
                    flight.points = points;
                    self.waiting.push_back(flight);
                    continue;
                }
                None => done(flight.case, None),
            }
            self.spare.push(flight);
        }
        self.found = found;
        self.ended = flights;
    }
}

/// The larger of two residuals each; what is not a number is the largest.
fn worse(known: [f64; 2], more: &[f64]) -> [f64; 2] {
    let larger = |a: f64, b: f64| if a >= b || a.is_nan() { a } else { b };
    [larger(known[0], more[0]), larger(known[1], more[1])]
}

/// What the events did in a step.
enum Crossing {
    None,
    /// One function crossed zero.
    At {
        event: usize,
        t: f64,
    },
    /// A single run has to look more closely.
    Unclear,
}
