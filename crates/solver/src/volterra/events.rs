//! Events of a run with memory: where functions of the motion are zero within a step.
//!
//! They are looked at at the nodes, and near both ends of a step to see which way they go there. A change of
//! sign is a zero; between three points of one sign the middle of which is
//! nearest to zero lies an extremum, which is a touch or a pair of zeros. What is zero at the end of a step
//! is left to the next, which sees both sides of it.

use super::integrate::{VolterraObserver, VolterraRun, VolterraTrial};
use super::system::VolterraPoint;
use crate::ode::event_list::{EventList, crossing_to};
use crate::ode::observer::{Crossing, LocatedEvent};
use crate::ode::root_finding::{Minimum, MinimumBracket, TimeFunction, TimeValue};
use crate::ode::system::EvalError;

/// How far from the ends of a step event functions are looked at as well, in steps: to see which way they go there.
/// An extremum within the nearer of these is told from the other side of the end too.
const BEYOND: [f64; 2] = [1e-6, 1e-3];

/// Functions that were never larger than this have no extrema worth telling.
const ROUNDING: f64 = 1e-14;

/// One event function in one step.
struct StepValues {
    /// At the start, near it, at the nodes, near the end.
    values: Vec<TimeValue>,
    /// A little before the start.
    before: Option<TimeValue>,
    /// What counts as zero.
    negligible: f64,
    /// Whether it was zero at the end of the last step.
    was_pending: bool,
    /// Whether it is zero at the end: the next step then sees both sides of that.
    is_pending: bool,
    /// What begins at zero, as 1 − x does at x = 1, is rounding at first, whose extrema mean nothing.
    counts_extrema: bool,
}

impl VolterraRun<'_> {
    /// Locates the events within the trial, tells them, and gives the first that stops the run.
    ///
    /// Changes of sign between nodes are zeros; between three points of one sign the middle of which is
    /// nearest to zero, the extremum is searched.
    pub(super) fn locate_events(
        &mut self,
        trial: VolterraTrial,
        observer: &mut dyn VolterraObserver,
    ) -> Result<Option<LocatedEvent>, EvalError> {
        if self.watch.values.is_empty() {
            return Ok(None);
        }
        let points = self.looks(trial)?;
        let approach = self.watch.approach.take();
        let mut events = std::mem::take(&mut self.watch.events);
        events.clear();
        for index in 0..events.functions() {
            let at = |(t, values): &(f64, Vec<f64>)| TimeValue { t: *t, value: values[index] };
            let before = approach.as_ref().map(at);
            let values = points.iter().map(at).collect();
            let step = self.step_values(index, trial, values, before);
            step.report_all(&mut Within { run: self, index, trial }, &mut events)?;
        }
        if let [.., before, (_, values)] = &points[..] {
            self.watch.values.copy_from_slice(values);
            self.watch.approach = Some(before.clone());
        }
        events.finish(true);
        let kept = (self.x.clone(), self.z.clone());
        for event in events.found() {
            self.at(event.t - self.options.t0, trial)?;
            observer.event(event, &self.x, &self.z);
            self.x.copy_from_slice(&kept.0);
            self.z.copy_from_slice(&kept.1);
        }
        let stop = events.stop();
        self.watch.events = events;
        Ok(stop)
    }

    /// The values of one event function; remembers how large it was, and whether it is zero at the end.
    fn step_values(
        &mut self,
        index: usize,
        trial: VolterraTrial,
        mut values: Vec<TimeValue>,
        before: Option<TimeValue>,
    ) -> StepValues {
        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.value.abs()));
        self.watch.reach[index] = self.watch.reach[index].max(largest);
        let negligible = 1e-12 * self.watch.reach[index];
        let was_pending = std::mem::take(&mut self.watch.pending[index]);
        if was_pending {
            values[0].value = 0.0;
        }
        if let Some(last) = values.last_mut().filter(|v| v.value.abs() <= negligible)
            && trial.end < self.options.t1 - self.options.t0
        {
            last.value = 0.0;
            self.watch.pending[index] = true;
        }
        StepValues {
            values,
            before,
            negligible,
            was_pending,
            is_pending: self.watch.pending[index],
            counts_extrema: self.watch.reach[index] > ROUNDING,
        }
    }

    /// The event functions at the start of the trial, a little later, at its nodes, and a little before its end.
    fn looks(&mut self, trial: VolterraTrial) -> Result<Vec<(f64, Vec<f64>)>, EvalError> {
        let VolterraTrial { h, end } = trial;
        let (s, n, count) = (self.frame.basis.stages, self.frame.n, self.frame.operands.len());
        let mut points =
            vec![(self.options.t0 + self.progress.elapsed, self.watch.values.clone())];
        let mut values = vec![0.0; self.watch.values.len()];
        for j in 0..s {
            let [near, far] = BEYOND;
            let looks = match j {
                0 => [near, far],
                _ if j + 1 == s => [1.0 - far, 1.0 - near],
                _ => [f64::NAN; 2],
            };
            for part in looks.into_iter().filter(|part| part.is_finite()) {
                let t = self.options.t0 + self.progress.elapsed + part * h;
                self.look(t, trial, &mut values)?;
                points.push((t, values.clone()));
            }
            let node = self.progress.elapsed + self.frame.basis.nodes[j] * h;
            let t = self.options.t0 + if j + 1 == s { end } else { node };
            let (x, z) = (&self.main.x[j * n..(j + 1) * n], &self.main.z[j * count..]);
            let z = &z[..count];
            self.system.event_values(VolterraPoint { t, x, z }, &mut values)?;
            points.push((t, values.clone()));
        }
        Ok(points)
    }

    /// The event functions at a time within the trial.
    fn look(
        &mut self,
        t: f64,
        trial: VolterraTrial,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        let kept = (self.x.clone(), self.z.clone());
        let found = self.at(t - self.options.t0, trial);
        let seen = found.and_then(|_| {
            self.system.event_values(VolterraPoint { t, x: &self.x, z: &self.z }, values)
        });
        self.x.copy_from_slice(&kept.0);
        self.z.copy_from_slice(&kept.1);
        seen
    }
}

impl StepValues {
    /// Reports all zeros.
    fn report_all(
        &self,
        function: &mut Within<'_, '_>,
        events: &mut EventList,
    ) -> Result<(), EvalError> {
        let index = function.index;
        for (i, pair) in self.values.windows(2).enumerate() {
            let (a, b) = (pair[0], pair[1]);
            if self.is_pending && i + 2 == self.values.len() {
                continue;
            }
            if (a.value < 0.0 && b.value >= 0.0) || (a.value > 0.0 && b.value <= 0.0) {
                events.report(index, function.zero(a, b)?, crossing_to(-a.value));
            }
        }
        if let (Some(before), [start, after, ..]) = (self.before, &self.values[..]) {
            let turn = touch(before, *start, *after, self.negligible);
            if let Some(t) = turn.filter(|_| self.counts_extrema) {
                events.report(index, t.max(start.t), Crossing::Touch);
            } else if self.was_pending && before.value * after.value < 0.0 {
                events.report(index, start.t, crossing_to(-before.value));
            }
        }
        if !self.counts_extrema {
            return Ok(());
        }
        for triple in self.values.windows(3) {
            let side = triple[0].value.signum();
            let bracket = MinimumBracket::new(side, triple[0], triple[1], triple[2]);
            let Some(bracket) = bracket.filter(|_| side * triple[1].value > 0.0) else {
                continue;
            };
            match bracket.resolve(function, self.negligible, 0.0)? {
                Minimum::Zeros(first, second) => {
                    events.report(index, first, crossing_to(-side));
                    events.report(index, second, crossing_to(side));
                }
                Minimum::Touch(t) => events.report(index, t, Crossing::Touch),
                Minimum::Nothing => {}
            }
        }
        Ok(())
    }
}

/// One event function along the trial.
struct Within<'r, 'a> {
    run: &'r mut VolterraRun<'a>,
    index: usize,
    trial: VolterraTrial,
}

impl TimeFunction for Within<'_, '_> {
    fn at(&mut self, t: f64) -> Result<TimeValue, EvalError> {
        let mut values = vec![0.0; self.run.watch.values.len()];
        self.run.look(t, self.trial, &mut values)?;
        Ok(TimeValue { t, value: values[self.index] })
    }
}

/// Where the parabola through three points turns, if that is between the outer ones and at zero.
fn touch(a: TimeValue, b: TimeValue, c: TimeValue, negligible: f64) -> Option<f64> {
    let side = a.value.signum();
    let lowest = side * b.value >= 0.0
        && side * b.value <= side * a.value
        && side * b.value <= side * c.value;
    if !lowest || side * c.value <= 0.0 {
        return None;
    }
    let (left, right) = ((b.value - a.value) / (b.t - a.t), (c.value - b.value) / (c.t - b.t));
    let bend = (right - left) / (c.t - a.t);
    let slope = left + bend * (b.t - a.t);
    let (t, value) = (b.t - 0.5 * slope / bend, b.value - 0.25 * slope * slope / bend);
    let between = t > a.t && t < c.t;
    (between && side * value <= negligible).then_some(t)
}
