//! Jumps of the state at events, and where they accumulate.
//!
//! The step has ended at the event. The system gives the state from which the run goes on, and the method starts
//! again from it. Jumps may follow each other ever faster, as those of a ball that bounces: if the last times between
//! them have $\Delta_n / \Delta_{n-1} = r < 1$, they come to an end at
//!
//! $$ t^* = t_n + \Delta_n\,\frac{r}{1 - r}, \qquad y^* = y_n + (y_n - y_{n-1})\,\frac{r}{1 - r} $$
//!
//! with the states $y_n$ after the jumps. The run ends there as soon as $t^* - t_n$ is negligible. Jumps at different
//! events in turn have no such limit: what changes at one of them need not go on at the other.

use crate::ode::integrate::{OdeRun, StopReason};
use crate::ode::observer::Observer;
use crate::ode::stepper::StepClock;
use crate::ode::system::EvalError;

/// What is left up to an accumulation, in parts of the run so far.
const LEFT: f64 = 1e-9;
/// How much two ratios of times may differ, in parts of $1 - r$.
const STEADY: f64 = 1e-3;
/// So many jumps within the part [`LEFT`] of the run have no order, but no end either.
const CROWD: usize = 1000;
/// The part of a step after which a function that does not move is looked at.
const SOON: f64 = 1e-4;

/// The jumps of a run.
#[derive(Default)]
pub(super) struct JumpLog {
    /// The events of the last one, and the rates of their functions after it.
    events: Vec<usize>,
    rates: Vec<f64>,
    /// The state after the last one, and its time.
    after: Vec<f64>,
    t: f64,
    /// The times between the last ones, latest last, and how many there have been.
    gaps: [f64; 3],
    count: usize,
    /// The events of the one before, and how many in a row had the same.
    earlier: Vec<usize>,
    alike: usize,
    /// The time of the first one of a crowd.
    crowd: f64,
    /// The event at whose jumps the run could not go on.
    pub(super) accumulated: Option<usize>,
}

impl JumpLog {
    /// States before are written in other variables.
    pub(super) fn forget(&mut self) {
        (self.count, self.alike) = (0, 0);
    }

    /// Takes note of a jump; says how far beyond it jumps accumulate, in parts of the time since the last one.
    fn note(&mut self, t: f64, t0: f64, y: &[f64]) -> Option<f64> {
        let gap = (t - self.t).abs();
        self.gaps = [self.gaps[1], self.gaps[2], gap];
        self.count += 1;
        self.alike = if self.events == self.earlier { self.alike + 1 } else { 1 };
        self.earlier.clone_from(&self.events);
        let left = LEFT * (t - t0).abs();
        let [first, second, third] = self.gaps;
        let (before, ratio) = (second / first, third / second);
        let beyond = ratio / (1.0 - ratio);
        let is_steady = (ratio - before).abs() <= STEADY * (1.0 - ratio);
        if self.alike > 3 && ratio < 1.0 && is_steady && gap * beyond <= left {
            return Some(beyond);
        }
        if self.count.is_multiple_of(CROWD) {
            if (t - self.crowd).abs() <= left {
                return Some(0.0);
            }
            self.crowd = t;
        }
        self.t = t;
        self.after.clear();
        self.after.extend_from_slice(y);
        None
    }
}

impl OdeRun<'_> {
    /// Lets the state jump at the events that ended the last step; says if the run ends with that.
    pub(super) fn jump(&mut self, observer: &mut dyn Observer) -> Option<StopReason> {
        let goes_on = match self.next_state() {
            Ok(goes_on) => goes_on,
            Err(error) => return Some(error.into()),
        };
        let t = self.clock.t;
        observer.jump(t, &self.y1, &self.y);
        if t == self.clock.t1 {
            return Some(StopReason::End);
        }
        if !goes_on {
            return self.jumps.events.first().map(|&event| StopReason::Event(event));
        }
        self.shorten();
        match self.restart() {
            Err(error) => return Some(error.into()),
            Ok(true) => {}
            Ok(false) => {
                self.jumps.accumulated = self.jumps.events.first().copied();
                return Some(StopReason::Singular);
            }
        }
        if let Some(beyond) = self.jumps.note(t, self.clock.t0, &self.y) {
            let gap = t - self.jumps.t;
            if beyond > 0.0 {
                self.clock.t = t + beyond * gap;
                for (y, last) in self.y.iter_mut().zip(&self.jumps.after) {
                    *y += beyond * (*y - last);
                }
            }
            self.jumps.accumulated = self.jumps.events.first().copied();
            return Some(StopReason::Singular);
        }
        None
    }

    /// The next step need not be much longer than the time since the last jump: far beyond the next one the motion
    /// without it would only cost digits.
    fn shorten(&mut self) {
        let StepClock { t0, t, h, .. } = self.clock;
        let last = if self.jumps.count == 0 { t0 } else { self.jumps.t };
        let length = (2.0 * (t - last).abs()).max(1e-3 * h.abs());
        self.clock.h = h.abs().min(length).copysign(h);
    }

    /// The state after the jump, and whether the run goes on from it; the one before is left in `y1`.
    fn next_state(&mut self) -> Result<bool, EvalError> {
        let t = self.clock.t;
        let JumpLog { events, rates, .. } = &mut self.jumps;
        events.clear();
        events.extend(self.watch.jumping());
        rates.resize(events.len(), f64::NAN);
        self.y1.copy_from_slice(&self.y);
        let goes_on = self.system.system.jump(events, t, &mut self.y, rates)?;
        let states = (t, &self.y1[..], &self.y[..]);
        self.watch.jumped(self.system.system, states, events, rates)?;
        Ok(goes_on)
    }

    /// Starts the method again. Says whether the motion leaves the place of the jump: a function that stays at zero
    /// without moving must not go on through it.
    fn restart(&mut self) -> Result<bool, EvalError> {
        let t = self.clock.t;
        self.features.forget();
        self.scale.include(&self.y);
        self.stepper.restart(&mut self.system, t, &self.y)?;
        if self.jumps.rates.iter().all(|rate| *rate != 0.0) {
            return Ok(true);
        }
        let δ = SOON * self.clock.h;
        let n = self.y.len();
        let (mut first, mut second) = (vec![0.0; n], vec![0.0; n]);
        self.system.rates(t, &self.y, &mut first)?;
        let near: Vec<f64> = self.y.iter().zip(&first).map(|(y, f)| y + δ * f).collect();
        self.system.rates(t + δ, &near, &mut second)?;
        let means = first.iter().zip(&second).map(|(f, g)| 0.5 * (f + g));
        let near: Vec<f64> = self.y.iter().zip(means).map(|(y, f)| y + δ * f).collect();
        let JumpLog { events, rates, .. } = &self.jumps;
        let resting = events.iter().zip(rates).filter(|(_, rate)| **rate == 0.0);
        self.watch.turn_back(self.system.system, (t + δ, &near), resting.map(|(e, _)| *e))
    }
}
