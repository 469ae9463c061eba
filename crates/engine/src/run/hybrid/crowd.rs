//! Switches that follow each other too fast to be followed: chatter.
//!
//! Segments that become steadily shorter lead to a limit (`accumulation.rs`); others as short as these would take
//! longer than anybody waits.

use std::collections::VecDeque;

/// So many segments within these parts of the run are too many; the first only if they do not become shorter.
const FEW: usize = 100;
const FEW_WITHIN: f64 = 1e-5;
const MANY: usize = 500;
const MANY_WITHIN: f64 = 1e-4;
/// The last third of the segments takes at least this part of the first, unless they lead to a limit.
const STEADY: f64 = 0.5;

/// When the last segments began.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    times: VecDeque<f64>,
}

impl Crowd {
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
