//! Event functions across jumps of the state.

use crate::ode::events::{BEYOND, EventFinder, StepScan, sign};
use crate::ode::observer::Crossing;
use crate::ode::root_finding::{EventFunction, TimeFunction, TimeValue};
use crate::ode::system::{EvalError, System};

/// A change of a function by less than this part of its largest value is rounding.
const SAME: f64 = 1e-9;

impl EventFinder {
    /// The events at which the state jumps, at the end of the step.
    pub(crate) fn jumping(&self) -> impl Iterator<Item = usize> {
        self.events.found().iter().filter(|event| self.events.jumps(event)).map(|e| e.index)
    }

    /// The state has jumped at some events, whose functions have these rates now. They have left zero the way they
    /// move, unless the jump has moved them away; the others have the signs of their new values.
    pub(crate) fn jumped(
        &mut self,
        system: &mut dyn System,
        (t, before, after): (f64, &[f64], &[f64]),
        events: &[usize],
        rates: &[f64],
    ) -> Result<(), EvalError> {
        system.event_values(t, before, &mut self.values)?;
        for (known, &value) in self.known.iter_mut().zip(&self.values) {
            known.value = value;
        }
        system.event_values(t, after, &mut self.values)?;
        self.phases_at[0].copy_from_slice(&self.values[self.known.len()..]);
        let has_jumped = rates.iter().all(|rate| !rate.is_nan());
        for (index, (known, &value)) in self.known.iter_mut().zip(&self.values).enumerate() {
            let fired = events.iter().position(|&event| event == index);
            let stays = (value - known.value).abs() <= SAME * known.reach;
            match fired {
                _ if self.events.is_barrier(index) && has_jumped => {
                    (known.side, known.fresh, known.base) = (1.0, true, value.min(0.0));
                }
                Some(k) if stays => {
                    known.side = sign(rates[k]);
                    known.fresh = true;
                }
                _ => known.side = sign(value),
            }
            known.value = value;
            known.settled = true;
        }
        Ok(())
    }

    /// Whether functions that do not move after a jump at zero turn back or stay, seen at a state soon after it.
    pub(crate) fn turn_back(
        &mut self,
        system: &mut dyn System,
        (t, y): (f64, &[f64]),
        events: impl Iterator<Item = usize>,
    ) -> Result<bool, EvalError> {
        system.event_values(t, y, &mut self.values)?;
        for index in events {
            let found = self.events.found().iter().find(|event| event.index == index);
            let through = match found.map(|event| event.crossing) {
                Some(Crossing::Rising) => 1.0,
                Some(Crossing::Falling) => -1.0,
                Some(Crossing::Touch) | None => 0.0,
            };
            let known = &self.known[index];
            let moved = through * (self.values[index] - known.value);
            if known.fresh && moved > 8.0 * f64::EPSILON * known.reach {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl StepScan<'_> {
    /// Soon after the start, where the function has left zero to its side and has not come back.
    pub(super) fn leaving(
        &self,
        probe: &mut EventFunction<'_>,
        side: f64,
    ) -> Result<Option<TimeValue>, EvalError> {
        let mut part = BEYOND;
        while side != 0.0 && part > f64::EPSILON {
            let t = self.grid.start + part * (self.grid.end - self.grid.start);
            let at = probe.at(t)?;
            if sign(at.value) == side {
                return Ok(Some(at));
            }
            part *= 0.25;
        }
        Ok(None)
    }
}
