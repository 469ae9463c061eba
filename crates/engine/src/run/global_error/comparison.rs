//! A second run beside the first one: how far apart the two are on the way.

use pfaff_solver::{
    Control, DenseStep, LocatedEvent, Observer, StopReason, StoredStep, System,
};

use super::handover::Handover;
use super::late::APART_IN_TIME;
use super::{FirstRun, NEAR_END};
use crate::clock::Interrupt;
use crate::motion::sample::Sample;
use crate::system::compiled::CompiledSystem;

/// Differences beyond this part of a coordinate's size say nothing.
const APART: f64 = 0.03;

/// Where rates are not linear in a distance by more than this part of what it changes in them, it says nothing.
const BENT: f64 = 0.1;
/// Distances that are looked at again, in parts of the largest one that was looked at; and at least in parts of a size.
const AGAIN: f64 = 1.5;
const VISIBLE: f64 = 1e-5;

/// The largest values of a rate, of its difference between two runs, and of how far it is from linear between them.
#[derive(Clone, Copy, Debug, Default)]
struct Bend {
    size: f64,
    first: f64,
    second: f64,
}

/// Compares the second run with the first one at the ends of its kept steps.
pub(super) struct Comparison<'a> {
    system: CompiledSystem,
    steps: &'a [StoredStep],
    /// One in so many of them is compared.
    pub(super) stride: usize,
    /// The sizes of the coordinates on the way.
    scales: &'a [f64],
    forward: bool,
    y: Vec<f64>,
    here: Sample,
    there: Sample,
    /// The largest distance in parts of the size of a coordinate.
    pub(super) largest: f64,
    /// What the rounding of time does to each coordinate, and to each velocity.
    pub(super) rounding: Vec<f64>,
    pub(super) velocity_rounding: Vec<f64>,
    /// The largest velocities.
    pub(super) fastest: Vec<f64>,
    /// The largest distance that says something, and when it was larger.
    pub(super) most: f64,
    /// Whether distances must be so small that the equations are linear in them, and the largest that was looked at.
    pub(super) is_linear: bool,
    looked: f64,
    between: Sample,
    /// For velocities, then accelerations.
    bends: Vec<Bend>,
    pub(super) apart: Option<f64>,
    /// The last place at which the equations were linear in the distance.
    pub(super) handover: Option<Handover>,
    steps_taken: usize,
    /// When the first run jumped, and how often this one has.
    jumps: &'a [f64],
    /// Where it began and ended.
    ends: [f64; 2],
    /// Functions that are zero at the start are so up to the error of this run: they must not act at once.
    pub(super) quiet_until: f64,
    pub(super) seen: usize,
    interrupt: Option<Interrupt>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(first: &FirstRun<'a>, system: &CompiledSystem, forward: bool) -> Self {
        let (n, m) = (system.n, system.m);
        let is_ended = first.outcome.stop == StopReason::Interrupted;
        Self {
            system: system.clone(),
            steps: first.kept,
            stride: 1,
            scales: &first.scales[..n],
            forward,
            y: vec![0.0; system.dimension()],
            here: Sample::new(n, m),
            there: Sample::new(n, m),
            largest: 0.0,
            rounding: vec![0.0; n],
            velocity_rounding: vec![0.0; n],
            fastest: vec![0.0; n],
            most: APART,
            is_linear: false,
            looked: 0.0,
            between: Sample::new(n, m),
            bends: Vec::new(),
            apart: None,
            handover: None,
            steps_taken: 0,
            jumps: first.jumps,
            ends: [first.options.t0, first.outcome.t],
            quiet_until: f64::midpoint(
                first.options.t0,
                first.jumps.first().copied().unwrap_or(first.outcome.t),
            ),
            seen: 0,
            // NOTE: after a run that was ended, this one has little to do.
            interrupt: first.interrupt.filter(|_| !is_ended),
        }
    }

    /// Whether the equations are not linear in the distance of both runs, by the rates half way between them:
    ///
    /// $$ \lvert f(y_1) - 2 f(\tfrac{y_1 + y_2}{2}) + f(y_2)\rvert > \tfrac{1}{10} \lvert f(y_1) - f(y_2)\rvert, $$
    ///
    /// in the largest values of both so far. Two motions that have nothing to do with each other may be as near as
    /// this in parts of coordinates that have become large, such as angles that have turned many times.
    fn is_bent(&mut self, t: f64) -> bool {
        if self.largest < VISIBLE.max(AGAIN * self.looked) {
            return false;
        }
        self.looked = self.largest;
        let [mean_q, mean_v, mean_multipliers] = [
            (&self.here.q, &self.there.q),
            (&self.here.v, &self.there.v),
            (&self.here.multipliers, &self.there.multipliers),
        ]
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| 0.5 * (a + b)).collect::<Vec<f64>>());
        let between = self.system.state(t, &mean_q, &mean_v, &mean_multipliers);
        if self.system.resolve(t, &between, true, &mut self.between).is_err() {
            return false;
        }
        let n = mean_q.len();
        self.bends.resize(2 * n, Bend::default());
        let rates =
            |sample: &Sample, i: usize| if i < n { sample.v[i] } else { sample.a[i - n] };
        let (mut first, mut second) = (0.0_f64, 0.0_f64);
        for (i, bend) in self.bends.iter_mut().enumerate() {
            let [a, m, b] = [&self.here, &self.between, &self.there].map(|s| rates(s, i));
            let found = Bend {
                size: b.abs().max(a.abs()),
                first: (a - b).abs(),
                second: (a - 2.0 * m + b).abs(),
            };
            if found.second.is_finite() {
                bend.size = bend.size.max(found.size);
                bend.first = bend.first.max(found.first);
                bend.second = bend.second.max(found.second);
            }
            if bend.size > 0.0 {
                first += bend.first / bend.size;
                second += bend.second / bend.size;
            }
        }
        second > BENT * first
    }

    /// Goes on from where another run handed over to one with this part of its tolerance.
    pub(super) fn go_on(&mut self, handover: &Handover, part: f64) {
        let is_past = |step: &StoredStep| {
            let t = step.as_step().end();
            if self.forward { t <= handover.t } else { t >= handover.t }
        };
        self.steps = &self.steps[self.steps.iter().take_while(|step| is_past(step)).count()..];
        self.largest = part * handover.largest;
        self.rounding.clone_from(&handover.rounding);
        self.velocity_rounding.clone_from(&handover.velocity_rounding);
        self.fastest.clone_from(&handover.fastest);
    }

    fn hand_over(&self, y: &[f64]) -> Handover {
        Handover {
            t: self.here.t,
            y: y.to_vec(),
            loose: self.here.clone(),
            first: self.there.clone(),
            largest: self.largest,
            rounding: self.rounding.clone(),
            velocity_rounding: self.velocity_rounding.clone(),
            fastest: self.fastest.clone(),
            steps: self.steps_taken,
        }
    }

    /// Compares the ends of both runs, which may lie beyond the last place that was compared.
    pub(super) fn end(&mut self, t: f64, here: &Sample, there: &Sample) {
        self.here.clone_from(here);
        self.there.clone_from(there);
        for (i, (a, b)) in here.q.iter().zip(&there.q).enumerate() {
            self.largest = self.largest.max((a - b).abs() / self.scales[i]);
        }
        if self.largest > self.most || self.is_bent(t) {
            self.apart = Some(t);
        }
    }

    fn next(&self, end: f64) -> Option<f64> {
        let t = self.steps.first()?.as_step().end();
        (if self.forward { t <= end } else { t >= end }).then_some(t)
    }
}

impl Observer for Comparison<'_> {
    fn wants_dense(&self, _start: f64, end: f64) -> bool {
        self.next(end).is_some_and(|t| t != end)
    }

    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        if self.interrupt.is_some() && Interrupt::is_asked(self.interrupt) {
            return Control::Stop;
        }
        while let Some(t) = self.next(step.end()) {
            let known = &self.steps[0];
            self.steps = &self.steps[self.stride.min(self.steps.len())..];
            // NOTE: between the times of the same jump in both runs there is nothing to compare.
            if self.jumps.partition_point(|&jump| jump < t) != self.seen {
                continue;
            }
            step.state(t, &mut self.y);
            let known = known.as_step();
            let found = self.system.resolve(t, &self.y, true, &mut self.here).is_ok()
                && self.system.resolve(t, known.state_at_end(), true, &mut self.there).is_ok();
            if !found {
                continue;
            }
            // Both are taken at a rounded time.
            let rounding = APART_IN_TIME * t.abs();
            for (i, (a, b)) in self.here.q.iter().zip(&self.there.q).enumerate() {
                let moved = rounding * self.there.v[i].abs();
                let distance = (a - b).abs() - moved;
                self.rounding[i] = self.rounding[i].max(moved);
                self.fastest[i] = self.fastest[i].max(self.there.v[i].abs());
                // NOTE: `max` leaves out what is not known.
                let late = rounding * self.there.a[i].abs();
                self.velocity_rounding[i] = self.velocity_rounding[i].max(late);
                if distance > 0.0 {
                    self.largest = self.largest.max(distance / self.scales[i]);
                } else if distance.is_nan() {
                    self.largest = distance;
                }
            }
            let looked = self.looked;
            let is_bent = self.is_linear && self.is_bent(t);
            if self.largest.is_nan() || self.largest > self.most || is_bent {
                self.apart = Some(t);
                return Control::Stop;
            }
            if self.looked > looked {
                self.handover = Some(self.hand_over(&self.y));
            }
        }
        self.steps_taken += 1;
        Control::Continue
    }

    fn event(&mut self, _event: &LocatedEvent, _y: &[f64]) -> Control {
        Control::Continue
    }

    fn jump(&mut self, t: f64, _before: &[f64], _after: &[f64]) {
        // NOTE: the first run has ended with its last jump, which may come again here: this one goes on.
        let [start, end] = self.ends;
        let is_last = self.seen == self.jumps.len() && self.jumps.last() == Some(&end);
        let is_again = is_last && (t - end).abs() <= NEAR_END * (end - start).abs();
        self.seen += usize::from(t >= self.quiet_until && !is_again);
    }
}
