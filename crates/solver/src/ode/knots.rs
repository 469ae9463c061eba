//! Steps end at the knots of splines over the state.
//!
//! A spline has derivatives that jump at its knots. A step across one has an error that its estimate does not know, and
//! that does not shrink in proportion to the tolerance. Systems name the *places* of their splines
//! ([`System::knot_places`](crate::System)): numbers that are whole at the knots. A step in which a place passes a
//! whole number is repeated up to there.

use crate::ode::dense_output::DenseStep;
use crate::ode::system::Counted;

/// How near to a whole number a place is at a knot.
const AT: f64 = 1e-6;
/// Parts of a step at whose ends places are looked at.
const PARTS: u32 = 4;
/// How often a step is repeated for a knot.
const MOST: usize = 4;

/// Looks for knots in steps.
pub(crate) struct KnotWatch {
    /// Places at two points of a step.
    before: Vec<f64>,
    after: Vec<f64>,
    y: Vec<f64>,
    /// Where the step under trial must end.
    pub(crate) target: Option<f64>,
    repeated: usize,
    was_missed: bool,
}

impl KnotWatch {
    pub(crate) fn new(count: usize, n: usize) -> Self {
        Self {
            before: vec![0.0; count],
            after: vec![0.0; count],
            y: vec![0.0; n],
            target: None,
            repeated: 0,
            was_missed: false,
        }
    }

    /// Whether there is nothing to look for.
    pub(crate) fn is_idle(&self) -> bool {
        self.before.is_empty()
    }

    /// The step was accepted.
    pub(crate) fn accept(&mut self) {
        self.target = None;
        self.repeated = 0;
    }

    /// Whether a step goes beyond a knot.
    pub(crate) fn is_crossed(
        &mut self,
        system: &mut Counted<'_>,
        step: &DenseStep<'_>,
    ) -> bool {
        self.repeated < MOST && self.crossed_part(system, step).is_some()
    }

    /// Makes the first knot in a step the end of the next trial; says if there is one.
    pub(crate) fn aim(&mut self, system: &mut Counted<'_>, step: &DenseStep<'_>) -> bool {
        self.repeated += 1;
        let Some(part) = self.crossed_part(system, step) else { return false };
        let h = (step.end() - step.start()) / f64::from(PARTS);
        let (mut from, mut to) = (step.start() + f64::from(part) * h, step.end());
        if part + 1 < PARTS {
            to = from + h;
        }
        // Bisection, to the last digits of a part of the step that matter.
        for _ in 0..40 {
            let middle = 0.5 * (from + to);
            self.places(system, step, middle);
            let mut pairs = self.before.iter().zip(&self.after);
            let is_beyond = pairs.any(|(&a, &b)| passed(a, b, part == 0, false));
            (from, to) = if is_beyond { (from, middle) } else { (middle, to) };
        }
        self.target = Some(to);
        self.was_missed = true;
        true
    }

    /// Whether the trial was given up for a knot; asked once.
    pub(crate) fn was_missed(&mut self) -> bool {
        std::mem::take(&mut self.was_missed)
    }

    /// The first part of a step in which a place passes a whole number, with the places at its ends in `before` and
    /// `after`.
    fn crossed_part(&mut self, system: &mut Counted<'_>, step: &DenseStep<'_>) -> Option<u32> {
        let (start, h) = (step.start(), (step.end() - step.start()) / f64::from(PARTS));
        self.places(system, step, start);
        for part in 0..PARTS {
            std::mem::swap(&mut self.before, &mut self.after);
            let is_last = part + 1 == PARTS;
            let end = if is_last { step.end() } else { start + f64::from(part + 1) * h };
            self.places(system, step, end);
            let mut pairs = self.before.iter().zip(&self.after);
            if pairs.any(|(&a, &b)| passed(a, b, part == 0, is_last)) {
                return Some(part);
            }
        }
        None
    }

    fn places(&mut self, system: &mut Counted<'_>, step: &DenseStep<'_>, t: f64) {
        let y = if t == step.end() {
            step.state_at_end()
        } else {
            step.state(t, &mut self.y);
            &self.y
        };
        system.system.knot_places(t, y, &mut self.after);
    }
}

/// Whether there is a whole number between two places; at the start and at the end of a step one that is as near as
/// rounding does not count.
fn passed(a: f64, b: f64, is_first: bool, is_last: bool) -> bool {
    let (low, high) = (a.min(b), a.max(b));
    let (at_low, at_high) = if a < b { (is_first, is_last) } else { (is_last, is_first) };
    let low = if at_low { low + AT } else { low };
    let high = if at_high { high - AT } else { high };
    low < high && low.floor() + 1.0 < high
}

#[cfg(test)]
mod tests {
    use super::passed;

    #[test]
    fn whole_numbers_between_places() {
        assert!(passed(0.5, 1.5, true, true));
        assert!(passed(1.5, 0.5, true, true));
        assert!(!passed(1.1, 1.9, true, true));
        // At the start, where the step before ended, and at the end, where this one is meant to end.
        assert!(!passed(1.0 - 1e-7, 1.5, true, true));
        assert!(!passed(0.5, 1.0 + 1e-7, true, true));
        assert!(!passed(1.0 + 1e-7, 0.5, true, false));
        assert!(passed(1.0 - 1e-5, 1.5, true, true));
        assert!(passed(0.999_999_9, 1.5, false, false));
        assert!(!passed(f64::NAN, 1.5, false, false));
    }
}
