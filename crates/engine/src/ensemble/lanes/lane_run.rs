//! The run of many motions in lanes: starts, steps, events and the second integration.

use std::collections::VecDeque;

use pfaff_program::{LANES, LaneExecutor, LaneRows};

use crate::ensemble::lanes::check::checked;
use crate::ensemble::lanes::flight::{InFlight, read_lane, write_lane};
use crate::ensemble::lanes::group::{Group, Next};
use crate::ensemble::lanes::{LaneExecutors, LaneMotion, Lanes};

/// Groups of eight lanes with their executors. Give each thread its own.
pub(crate) struct LaneRun<'a> {
    lanes: &'a Lanes,
    groups: Vec<Group<'a>>,
    start: LaneExecutor,
    point: LaneExecutor,
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
    /// Those that begin together.
    #[allow(clippy::vec_box, reason = "as above")]
    starting: Vec<Box<InFlight>>,
    /// What was read off of states, one after another.
    found: Vec<f64>,
    /// The motion that is handed over.
    motion: LaneMotion,
}

impl<'a> LaneRun<'a> {
    pub(crate) fn new(lanes: &'a Lanes) -> Self {
        let programs = &lanes.programs;
        let layout = programs.layout;
        let LaneExecutors { step, start, point } = lanes.executors();
        let groups = (0..step.groups()).map(|_| Group::new(lanes, step.clone())).collect();
        Self {
            lanes,
            groups,
            start,
            point,
            start_inputs: LaneRows::new(3 + lanes.values.len()),
            start_outputs: LaneRows::new(programs.start.outputs()),
            point_inputs: LaneRows::new(1 + layout.controlled() + lanes.values.len()),
            point_outputs: LaneRows::new(programs.point.outputs()),
            waiting: VecDeque::new(),
            ended: Vec::new(),
            spare: Vec::new(),
            starting: Vec::new(),
            found: Vec::new(),
            motion: LaneMotion::default(),
        }
    }

    /// Runs so many motions. `values` writes the parameters of one over those of the model; `done` takes each when it
    /// is complete, in any order, or `None` if a single run has to do it; what is not handed over was interrupted.
    /// Tells how many trials each group of eight lanes made.
    pub(crate) fn run(
        &mut self,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<&LaneMotion>),
        goes_on: &dyn Fn() -> bool,
    ) -> usize {
        let (mut next, mut trials) = (0, 0);
        self.groups.iter_mut().for_each(Group::forget);
        loop {
            for place in 0..self.groups.len() * LANES {
                self.fill(place, &mut next, count, values, done);
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
        done: &mut dyn FnMut(usize, Option<&LaneMotion>),
        goes_on: &dyn Fn() -> bool,
    ) -> usize {
        let mut trials = 0_usize;
        while !self.groups.iter().all(Group::is_idle) {
            Group::advance(&mut self.groups);
            for group in 0..self.groups.len() {
                let mut wanted = self.groups[group].wanted();
                while wanted != 0 {
                    let place = group * LANES + wanted.trailing_zeros() as usize;
                    self.attend(place, next, count, values, done);
                    wanted &= wanted - 1;
                }
            }
            trials += 1;
            if trials.is_multiple_of(64) && !goes_on() {
                self.groups.iter_mut().for_each(Group::clear);
                self.waiting.clear();
                *next = count;
            }
        }
        trials
    }

    /// Gives the next motion to a place, a lane of a group; without one it stands still.
    fn fill(
        &mut self,
        place: usize,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<&LaneMotion>),
    ) {
        while self.waiting.is_empty() && *next < count {
            self.begin(next, count, values, done);
        }
        let group = &mut self.groups[place / LANES];
        match self.waiting.pop_front() {
            Some(flight) => group.place(place % LANES, flight),
            None => group.stand_still(place % LANES),
        }
    }

    /// Finds the starts of up to eight further motions.
    fn begin(
        &mut self,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<&LaneMotion>),
    ) {
        let settings = self.lanes.settings;
        let some = LANES.min(count - *next);
        let mut flights = std::mem::take(&mut self.starting);
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
        self.groups[0].step.prepare(&self.start_inputs.rows()[given.len() * LANES..]);
        let layout = self.lanes.programs.layout;
        for (lane, mut flight) in flights.drain(..).enumerate() {
            if self.start_outputs.at(layout.good_start(), lane) != 1.0 {
                done(flight.case, None);
                self.spare.push(flight);
                continue;
            }
            let rows = &self.start_outputs.rows()[..layout.rows() * LANES];
            read_lane(rows, lane, &mut flight.start);
            self.groups[0].step.prepared(lane, &mut flight.prepared);
            (flight.has_end, flight.has_looser) = (false, false);
            flight.is_looser = settings.looser_first;
            flight.by_itself = !settings.looser_first;
            flight.attempt = 0;
            flight.events.clear();
            flight.points.clear();
            self.waiting.push_back(flight);
        }
        self.starting = flights;
        *next += some;
    }

    /// Looks at a place that asked for it.
    fn attend(
        &mut self,
        place: usize,
        next: &mut usize,
        count: usize,
        values: &mut dyn FnMut(usize, &mut [f64]),
        done: &mut dyn FnMut(usize, Option<&LaneMotion>),
    ) {
        let (group, lane) = (&mut self.groups[place / LANES], place % LANES);
        let Some(mut flight) = group.take(lane) else { return };
        match group.judged(lane, &mut flight) {
            Next::Goes => group.put(lane, flight),
            Next::Leaves => {
                done(flight.case, None);
                self.spare.push(flight);
                self.fill(place, next, count, values, done);
            }
            Next::Ends(event) => {
                group.note_end(lane, event, &mut flight);
                if flight.has_end && flight.has_looser {
                    self.ended.push(flight);
                    if self.ended.len() >= LANES {
                        self.read_off(done);
                    }
                    self.fill(place, next, count, values, done);
                } else {
                    flight.is_looser = !flight.is_looser;
                    group.place(lane, flight);
                }
            }
        }
    }

    /// Reads the states of motions off that have ended, and hands them over.
    fn read_off(&mut self, done: &mut dyn FnMut(usize, Option<&LaneMotion>)) {
        let mut flights = std::mem::take(&mut self.ended);
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let rows = self.lanes.programs.point.outputs();
        let d = self.lanes.programs.layout.controlled();
        // NOTE: without events there is one state of each.
        let mut lane = 0;
        for (place, flight) in flights.iter().enumerate() {
            let on_the_way = flight.points.iter().map(|(t, y)| (*t, y.as_slice()));
            let mut states = on_the_way.chain([(flight.end.t, &flight.end.y[..d])]).peekable();
            while let Some((t, y)) = states.next() {
                let inputs = self.point_inputs.rows_mut();
                inputs[lane] = t;
                write_lane(&mut inputs[LANES..], lane, y);
                write_lane(&mut inputs[(1 + d) * LANES..], lane, &flight.values);
                lane += 1;
                if lane < LANES && (place + 1 < flights.len() || states.peek().is_some()) {
                    continue;
                }
                for unused in lane..LANES {
                    for row in inputs.as_chunks_mut::<LANES>().0 {
                        row[unused] = row[lane - 1];
                    }
                }
                self.point.evaluate(self.point_inputs.rows(), self.point_outputs.rows_mut());
                let outputs = self.point_outputs.rows().as_chunks::<LANES>().0;
                for used in 0..lane {
                    found.extend(outputs.iter().map(|row| row[used]));
                }
                lane = 0;
            }
        }
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
            if checked(self.lanes, &mut flight, &read[..kept], off, &mut self.motion) {
                done(flight.case, Some(&self.motion));
            } else if flight.is_mismeasured() {
                // A second chance, with scales of its own.
                (flight.by_itself, flight.is_looser, flight.has_end) = (true, false, false);
                flight.events.clear();
                self.waiting.push_back(flight);
                continue;
            } else if flight.attempt + 1 < self.lanes.settings.looser.len() {
                // Or beside a stricter one.
                flight.attempt += 1;
                (flight.is_looser, flight.has_looser) = (true, false);
                flight.points = points;
                self.waiting.push_back(flight);
                continue;
            } else {
                done(flight.case, None);
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
