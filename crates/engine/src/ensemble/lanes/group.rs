//! Eight lanes with their rows: motions enter them, are looked at after a step, and leave them.

use pfaff_program::{LANES, LaneRows};

use crate::ensemble::lanes::cubic::Cubic;
use crate::ensemble::lanes::flight::{InFlight, Landing, read_lane, write_lane};
use crate::ensemble::lanes::layout::StepLayout;
use crate::ensemble::lanes::step_program::StepExecutor;
use crate::ensemble::lanes::{LaneEventRecord, Lanes};

/// Short steps onto an event at most.
const MOST_LANDINGS: usize = 8;
/// A value that has a sign, and whose products have one.
const JUST: f64 = 1e-150;
/// Events closer than this part of a step are left to a single run.
const TOGETHER: f64 = 1e-3;

/// Eight lanes.
pub(super) struct Group<'a> {
    lanes: &'a Lanes,
    pub(super) step: StepExecutor,
    /// The rows before and after a step.
    before: LaneRows,
    after: LaneRows,
    active: [Option<Box<InFlight>>; LANES],
    /// How many lanes have a motion.
    count: usize,
    /// The motion whose parameters each lane has.
    owners: [usize; LANES],
    /// What the first step of the looser integrations is longer by.
    longer: [f64; 2],
}

/// What attention to a lane leads to.
pub(super) enum Next {
    Goes,
    /// The integration has ended.
    Ends(Option<usize>),
    /// A single run has to do it.
    Leaves,
}

impl<'a> Group<'a> {
    pub(super) fn new(lanes: &'a Lanes, step: StepExecutor) -> Self {
        Self {
            lanes,
            before: step.room(),
            after: step.room(),
            step,
            active: [const { None }; LANES],
            count: 0,
            owners: [usize::MAX; LANES],
            // (E'/E)^{1/8}
            longer: lanes
                .settings
                .looser
                .map(|looser| (looser / lanes.settings.tolerance).sqrt().sqrt().sqrt()),
        }
    }

    /// Whether no lane has a motion.
    pub(super) fn is_idle(&self) -> bool {
        self.count == 0
    }

    /// Takes the motion of a lane out of it.
    pub(super) fn take(&mut self, lane: usize) -> Option<Box<InFlight>> {
        let flight = self.active[lane].take();
        self.count -= usize::from(flight.is_some());
        flight
    }

    /// Gives a motion back to the lane that it was taken from, or another one in its place.
    pub(super) fn put(&mut self, lane: usize, flight: Box<InFlight>) {
        self.count += usize::from(self.active[lane].is_none());
        self.active[lane] = Some(flight);
    }

    /// Gives up all motions.
    pub(super) fn clear(&mut self) {
        (self.active, self.count) = (Default::default(), 0);
    }

    /// No lane has the parameters of a motion.
    pub(super) fn forget(&mut self) {
        self.owners = [usize::MAX; LANES];
    }

    /// A step of groups, each with its own motions. One phase after another for all of them: what waits in one of them
    /// does not keep the others from going on.
    pub(super) fn advance(groups: &mut [Self]) {
        for group in groups.iter_mut().filter(|group| !group.is_idle()) {
            group.step.begin(&mut group.before);
        }
        for group in groups.iter_mut().filter(|group| !group.is_idle()) {
            group.step.go_on(&mut group.before);
        }
        for group in groups.iter_mut().filter(|group| !group.is_idle()) {
            group.step.end(&group.before, &mut group.after);
            // From here on `before` is what the step came to, and `after` what it started from.
            std::mem::swap(&mut group.before, &mut group.after);
        }
    }

    /// A bit for each lane that wants attention after a step.
    pub(super) fn wanted(&self) -> u32 {
        if self.is_idle() {
            return 0;
        }
        let flags = &self.before.rows()[self.lanes.programs.layout.attention() * LANES..];
        let wanted = flags[..LANES].iter().enumerate();
        wanted.fold(0, |all, (lane, flag)| all | u32::from(*flag > 0.0) << lane)
    }

    /// A lane without a motion: a step of length zero from any state, so that nothing changes and nothing is asked for.
    pub(super) fn stand_still(&mut self, lane: usize) {
        let layout = self.lanes.programs.layout;
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
        self.take(lane);
    }

    /// Puts a motion at its start into a lane.
    pub(super) fn place(&mut self, lane: usize, mut flight: Box<InFlight>) {
        let layout = self.lanes.programs.layout;
        let rows = &mut self.before.rows_mut()[..layout.rows() * LANES];
        write_lane(rows, lane, &flight.start);
        if flight.is_looser {
            rows[StepLayout::TOLERANCE * LANES + lane] =
                self.lanes.settings.looser[flight.attempt];
            let h = flight.start[StepLayout::H] * self.longer[flight.attempt];
            rows[StepLayout::H * LANES + lane] = h;
            if flight.has_end {
                rows[StepLayout::T1 * LANES + lane] = flight.end.t;
            }
        } else if flight.has_looser && !flight.by_itself {
            write_lane(&mut rows[layout.scale(0) * LANES..], lane, &flight.looser.largest);
        }
        flight.landing = None;
        if self.owners[lane] != flight.case {
            self.owners[lane] = flight.case;
            self.step.set_prepared(lane, &flight.prepared);
        }
        self.put(lane, flight);
    }

    /// Notes the state in which a lane is as the end of its integration.
    pub(super) fn note_end(&self, lane: usize, event: Option<usize>, flight: &mut InFlight) {
        let layout = self.lanes.programs.layout;
        let (d, all) = (layout.controlled(), layout.carried());
        let is_over =
            if flight.is_looser { &mut flight.has_looser } else { &mut flight.has_end };
        *is_over = true;
        let ended = if flight.is_looser { &mut flight.looser } else { &mut flight.end };
        let rows = &self.before.rows()[..layout.rows() * LANES];
        let from = |first: usize, count: usize| &rows[first * LANES..(first + count) * LANES];
        let at = |row: usize| rows[row * LANES + lane];
        ended.t = at(StepLayout::T);
        ended.steps = at(StepLayout::STEPS);
        read_lane(from(StepLayout::Y, all), lane, &mut ended.y);
        read_lane(from(layout.largest(0), d), lane, &mut ended.largest);
        ended.energy_off = at(StepLayout::OFF);
        ended.energy_size = at(StepLayout::ENERGY_SIZE);
        read_lane(from(layout.residual(0), layout.constraints), lane, &mut ended.residuals);
        ended.event = event;
    }

    /// What becomes of a lane that asked for attention.
    pub(super) fn judged(&mut self, lane: usize, flight: &mut InFlight) -> Next {
        let layout = self.lanes.programs.layout;
        let (rows, attention) = (self.before.rows(), layout.attention());
        let flags = rows[attention * LANES..].as_chunks::<LANES>().0;
        let at = |row: usize| rows[row * LANES + lane];
        let is_there = at(StepLayout::T) >= at(StepLayout::T1);
        if flags[layout.doubt() - attention][lane] > 0.0 {
            return Next::Leaves;
        }
        if flags[layout.rejected() - attention][lane] > 0.0 {
            let left = StepLayout::AFTER_REJECTION.map(|row| self.before.at(row, lane));
            self.set_back(lane);
            for (row, value) in StepLayout::AFTER_REJECTION.into_iter().zip(left) {
                self.before.set(row, lane, value);
            }
            return Next::Goes;
        }
        if flight.is_looser || (flight.landing.is_none() && self.lanes.events.is_empty()) {
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
        let from = self.after.rows()[..count].as_chunks::<LANES>().0;
        let to = self.before.rows_mut()[..count].as_chunks_mut::<LANES>().0;
        to.iter_mut().zip(from).for_each(|(to, from)| to[lane % LANES] = from[lane % LANES]);
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
