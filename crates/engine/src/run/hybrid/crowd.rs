//! Switches that follow each other too fast to be followed: chatter.
//!
//! Segments that become steadily shorter lead to a limit (`accumulation.rs`); others as short as these would take
//! longer than anybody waits. So would a motion whose switches double in number again and again in the same time, such
//! as a relay with inertia that comes to rest at its switch: $\ddot x = -\operatorname{sign} x - \dot x$.

use std::collections::VecDeque;

use crate::motion::note::{Note, brief};
use crate::motion::{Motion, Stop, StopReason};
use crate::run::hybrid::HybridRun;

/// So many segments within these parts of the run are too many; the first only if they do not become shorter.
const FEW: usize = 100;
const FEW_WITHIN: f64 = 1e-5;
const MANY: usize = 500;
const MANY_WITHIN: f64 = 1e-4;
/// The last third of the segments takes at least this part of the first, unless they lead to a limit.
const STEADY: f64 = 0.5;

/// Segments from which on their number is compared with what it was half as many segments ago.
const DOUBLED: usize = 4096;
/// The last doubling takes twice as long as the one before it at a steady pace, and as long where it goes on for ever.
const AS_LONG: f64 = 1.25;
/// So many doublings would be still to come: 2^20 segments and more.
const TO_COME: f64 = 8.0;

/// When the last segments began.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    times: VecDeque<f64>,
    /// How many there were, and when the last three doublings of their number were complete.
    count: usize,
    doublings: [f64; 3],
}

impl Crowd {
    /// Takes note of a segment that has ended, where so much is left of the run; says whether the number of segments
    /// grows so that the end is not reached. To be asked before [`Self::is_crowded`].
    pub(super) fn multiplies(&mut self, t: f64, left: f64) -> bool {
        self.count += 1;
        if !self.count.is_power_of_two() {
            return false;
        }
        let [_, a, b] = self.doublings;
        self.doublings = [a, b, t];
        let (before, last) = ((b - a).abs(), (t - b).abs());
        self.count >= DOUBLED && last < AS_LONG * before && left.abs() > TO_COME * last
    }

    /// Takes note of a segment that has ended; says whether the last ones have hardly led on.
    pub(super) fn is_crowded(&mut self, t: f64, span: f64) -> bool {
        self.times.push_back(t);
        if self.times.len() > MANY {
            self.times.pop_front();
        }
        let before = |count: usize| Some(self.times[self.times.len().checked_sub(count)?]);
        let since = |count: usize| before(count).map(|began| (t - began).abs());
        let is_many = since(MANY).is_some_and(|time| time < MANY_WITHIN * span);
        let is_few = since(FEW).is_some_and(|time| time < FEW_WITHIN * span);
        let third = FEW / 3;
        let lengths = since(third).zip(before(FEW).zip(before(FEW - third)));
        let is_steady = lengths.is_some_and(|(last, (a, b))| last >= STEADY * (b - a).abs());
        is_many || (is_few && is_steady)
    }
}

impl HybridRun<'_> {
    /// Whether many segments have hardly led on. With delays they are pieces of the history.
    pub(super) fn is_crowded(&mut self) -> bool {
        let span = self.settings.options.t1 - self.settings.t0;
        self.delays.is_none() && self.crowd.is_crowded(self.t, span.abs())
    }

    /// Whether there are ever more segments, so that the end is not reached.
    pub(super) fn multiplies(&mut self) -> bool {
        let left = self.settings.options.t1 - self.t;
        self.delays.is_none() && self.crowd.multiplies(self.t, left)
    }

    /// A motion whose end would take too many switches.
    pub(super) fn given_up(mut self) -> Motion {
        let t = self.t;
        let sentence = format!(
            "at t = {} the motion switches ever faster, and its end would take more than a million further switches: \
             replace the jump by a steep function such as `tanh(x/0.001)`",
            brief(t)
        );
        if let Some(whole) = &mut self.whole {
            whole.stop = Stop { reason: StopReason::MaxSteps, t };
            whole.notes.push(Note::Stopped(sentence));
        }
        self.finished()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many segments of these lengths, if ever.
    fn after(length: impl Fn(usize) -> f64) -> Option<usize> {
        let (mut crowd, mut t) = (Crowd::default(), 0.0);
        (0..2000).find(|&k| {
            t += length(k);
            crowd.is_crowded(t, 1.0)
        })
    }

    /// After how many segments that begin at these times, if ever, a run of this length is given up.
    fn given_up(end: f64, begin: impl Fn(f64) -> f64) -> Option<usize> {
        let mut crowd = Crowd::default();
        (1..20_000).find(|&k| {
            let t = begin(k as f64);
            crowd.multiplies(t, end - t)
        })
    }

    #[test]
    fn switches_that_double_again_and_again_are_given_up() {
        assert_eq!(given_up(30.0, libm::log), Some(4096));
        // 8.3 + 8 log 2 is 13.9.
        // The end is near.
        assert_eq!(given_up(13.5, libm::log), None);
        // A steady pace, and one that becomes slowly faster.
        assert_eq!(given_up(1e9, |k| k), None);
        assert_eq!(given_up(1e9, |k| libm::pow(k, 0.7)), None);
    }

    #[test]
    fn chatter_is_told_from_a_limit() {
        assert_eq!(after(|_| 0.9e-7), Some(99));
        assert_eq!(after(|_| 1.5e-7), Some(499));
        assert_eq!(after(|_| 3e-7), None);
        assert_eq!(after(|k| if k % 2 == 0 { 1e-9 } else { 1e-8 }), Some(99));
        // Bounces with e = 0.95.
        assert_eq!(after(|k| 0.1 * 0.95_f64.powi(k as i32)).filter(|&k| k < 400), None);
    }
}
