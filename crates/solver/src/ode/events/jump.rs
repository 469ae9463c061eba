//! Event functions across jumps of the state.

use crate::ode::certainty::PARTS;
use crate::ode::events::{BEYOND, EventFinder, StepScan, is_pole, sign};
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
        let has_jumped = rates.iter().all(|rate| !rate.is_nan());
        for (index, (known, &value)) in self.known.iter_mut().zip(&self.values).enumerate() {
            let fired = events.iter().position(|&event| event == index);
            let stays = (value - known.value).abs() <= SAME * known.reach;
            match fired {
                _ if self.events.is_barrier(index) && has_jumped => {
                    (known.side, known.fresh) = (1.0, true);
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

/// How a function leaves zero to its side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Leaving {
    /// Here it is on its side, before this point of the grid.
    Seen(TimeValue, usize),
    /// It stays at zero.
    Still,
    /// It came back too soon to be seen, and is on the other side.
    Lost,
}

impl StepScan<'_> {
    /// Reports where a function that the run keeps positive comes to zero; gives the side at the end. What is
    /// negligible is no change of side: soon after a jump that is rounding.
    pub(super) fn guarded(
        &mut self,
        probe: &mut EventFunction<'_>,
        first: Option<(TimeValue, usize)>,
    ) -> Result<f64, EvalError> {
        let (mut from, next) = first.unwrap_or((self.value_at(1), 2));
        for point in next..=PARTS + 1 {
            let mut here = self.value_at(point);
            if point == PARTS + 1 && here.value.abs() <= self.negligible {
                here = probe.at(self.grid.after(point))?;
            }
            if here.value < -self.negligible {
                let t = probe.zero(from, here)?;
                if !is_pole(probe, from, here, t) {
                    self.report(t, Crossing::Falling);
                }
                return Ok(-1.0);
            }
            if here.value > self.negligible {
                from = here;
            }
        }
        Ok(1.0)
    }

    /// Where the function has left zero to its side and has not come back: soon after the start, or later.
    pub(super) fn leaving(
        &self,
        probe: &mut EventFunction<'_>,
        side: f64,
    ) -> Result<Leaving, EvalError> {
        let mut part = BEYOND;
        while part > f64::EPSILON {
            let t = self.grid.start + part * (self.grid.end - self.grid.start);
            let at = probe.at(t)?;
            if sign(at.value) == side {
                return Ok(Leaving::Seen(at, 2));
            }
            part *= 0.25;
        }
        for point in 2..=PARTS + 1 {
            let here = self.value_at(point);
            if side * here.value < -self.negligible {
                return Ok(Leaving::Lost);
            } else if sign(here.value) == side {
                return Ok(Leaving::Seen(here, point + 1));
            }
        }
        Ok(Leaving::Still)
    }
}
