//! Functions that are far from zero: a step that need not be looked at closely.

use crate::ode::certainty::{PARTS, PHASE};
use crate::ode::dense_output::DenseStep;
use crate::ode::events::{EventFinder, EventState, ScanGrid};
use crate::ode::system::System;

/// The largest value in a step, as a multiple of the smallest one, at which a function is far from zero.
/// `MinimumBracket::floor` allows for twice the fall
/// between points: half of the smallest value is then left.
const FAR: f64 = 1.25;
/// The same if it is seen in few points, and by how much a phase may vary between them.
const FAR_IN_FEW: f64 = 1.2;
const PHASE_IN_FEW: f64 = 0.5;
/// The points in which it is seen: the end first, which tells most of those that are not far.
const ALL: [usize; PARTS] = [9, 8, 7, 6, 5, 4, 3, 2];
const FEW: [usize; 3] = [9, 6, 4];

/// How far functions are from zero in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    Far,
    Near,
    /// More points may tell.
    Unknown,
}

impl EventFinder {
    /// Whether no event can be near, seen on a polynomial of low order; then [`EventFinder::scan`] has nothing to
    /// find, and nothing to do.
    pub(crate) fn is_far(&mut self, step: &DenseStep<'_>, system: &mut dyn System) -> bool {
        self.events.clear();
        if !self.started {
            return false;
        }
        if self.is_clear(step, system) {
            return true;
        }
        let phases = &self.phases_at[0];
        if self.known.iter().any(|known| known.value.is_nan())
            || phases.iter().any(|x| x.is_nan())
        {
            // Nothing was evaluated in the steps before.
            step.state(step.start(), &mut self.state);
            if system.event_values(step.start(), &self.state, &mut self.values).is_err() {
                return false;
            }
            let values = self.known.iter_mut().zip(&self.values);
            values.for_each(|(known, value)| known.value = *value);
            self.phases_at[0].copy_from_slice(&self.values[self.known.len()..]);
        }
        let grid = ScanGrid { start: step.start(), end: step.end(), smooth: 0.0 };
        for (trial, known) in self.trial.iter_mut().zip(&self.known) {
            *trial = EventState { settled: false, ..*known };
        }
        match self.is_far_in(&grid, &FEW, [FAR_IN_FEW, PHASE_IN_FEW], step, system) {
            Distance::Far => true,
            Distance::Near => false,
            Distance::Unknown => {
                let all = [FAR, PHASE];
                self.is_far_in(&grid, &ALL, all, step, system) == Distance::Far
            }
        }
    }

    /// Whether the bounds of the step tell that no function vanishes in it. Values are not known then.
    fn is_clear(&mut self, step: &DenseStep<'_>, system: &mut dyn System) -> bool {
        let [low, high] = &mut self.bounds;
        step.bounds(low, high);
        let is_clear = system.is_clear([step.start(), step.end()], low, high);
        if is_clear {
            for (trial, known) in self.trial.iter_mut().zip(&self.known) {
                let value = f64::NAN;
                *trial =
                    EventState { value, settled: false, fresh: false, base: 0.0, ..*known };
            }
            self.phases_at[1].fill(f64::NAN);
        }
        is_clear
    }

    /// What some points of a step tell about the distance of its functions from zero.
    fn is_far_in(
        &mut self,
        grid: &ScanGrid,
        points: &[usize],
        [far, slow]: [f64; 2],
        step: &DenseStep<'_>,
        system: &mut dyn System,
    ) -> Distance {
        let Self { known, trial, state, values, grid: seen, phases_at, .. } = self;
        let [at_start, at_end] = phases_at;
        let (least, rest) = seen.split_at_mut(known.len());
        let (most, rest) = rest.split_at_mut(known.len());
        // How much each phase has varied so far, and its last value.
        let (varied, last) = rest.split_at_mut(values.len() - known.len());
        varied.fill(0.0);
        for (i, known) in known.iter().enumerate() {
            let g = known.value * known.side;
            (least[i], most[i]) = (g, g);
        }
        let mut distance = Distance::Far;
        for &point in points {
            let t = grid.time(point);
            step.state(t, state);
            if system.event_values(t, state, values).is_err() {
                return Distance::Near;
            }
            let (functions, phases) = values.split_at(known.len());
            for (i, &phase) in phases.iter().enumerate() {
                if point <= PARTS {
                    varied[i] += (phase - last[i]).abs();
                } else {
                    at_end[i] = phase;
                }
                last[i] = phase;
                let is_slow = varied[i] <= slow;
                if !is_slow {
                    distance = Distance::Unknown;
                }
            }
            for (i, &value) in functions.iter().enumerate() {
                let g = value * known[i].side;
                (least[i], most[i]) = (least[i].min(g), most[i].max(g));
                // NOTE: written so that what is not a number is not far, nor a side that is not known.
                let is_far = g > 0.0 && most[i] <= FAR * least[i];
                if !is_far {
                    return Distance::Near;
                }
                if most[i] > far * least[i] {
                    distance = Distance::Unknown;
                }
                trial[i].reach = trial[i].reach.max(g);
                if point == PARTS + 1 {
                    trial[i].value = value;
                }
            }
            if distance == Distance::Unknown {
                return distance;
            }
        }
        // From the start to the first of the points.
        let first = at_start.iter().zip(last).map(|(phase, last)| (*last - phase).abs());
        // NOTE: written so that what is not a number is not slow.
        let is_slow = varied.iter().zip(first).all(|(varied, first)| varied + first <= slow);
        if is_slow { distance } else { Distance::Unknown }
    }
}
