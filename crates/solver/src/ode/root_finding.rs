//! Zeros and extrema of one function of time on the dense output of a step.
//!
//! Zeros: Chandrupatla's (1997) mixture of inverse quadratic interpolation and bisection.
//! Extrema: golden section, then the zero of a central difference of order six, since values
//! alone fix the place of a smooth extremum only to the root of the rounding unit.

use crate::ode::dense_output::DenseStep;
use crate::ode::system::{EvalError, System};

/// A time, and the value of a function there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeValue {
    pub(crate) t: f64,
    pub(crate) value: f64,
}

/// A function of time.
pub(crate) trait TimeFunction {
    /// The time and the value there.
    fn at(&mut self, t: f64) -> Result<TimeValue, EvalError>;

    /// The zero between two points with values of different sign.
    fn zero(&mut self, a: TimeValue, b: TimeValue) -> Result<f64, EvalError> {
        let finest = 1e-6 * (b.t - a.t).abs();
        bracketed_zero(a, b, finest.min(1e-13), |t| self.at(t).map(|p| p.value))
    }
}

/// One event function along a step.
pub(crate) struct EventFunction<'a> {
    pub(crate) step: &'a DenseStep<'a>,
    pub(crate) system: &'a mut dyn System,
    pub(crate) state: &'a mut [f64],
    pub(crate) values: &'a mut [f64],
    pub(crate) index: usize,
}

impl TimeFunction for EventFunction<'_> {
    fn at(&mut self, t: f64) -> Result<TimeValue, EvalError> {
        self.step.state(t, self.state);
        self.system.event_values(t, self.state, self.values)?;
        Ok(TimeValue { t, value: self.values[self.index] })
    }
}

impl EventFunction<'_> {
    /// The first time from `a` to `b` at which the function is no longer on `side`.
    pub(crate) fn first_off_side(
        &mut self,
        side: f64,
        a: f64,
        b: f64,
    ) -> Result<f64, EvalError> {
        let (mut on, mut off) = (a, b);
        // Each turn halves the bracket: 60 exhaust the digits of any time.
        for _ in 0..60 {
            let middle = on + 0.5 * (off - on);
            if side * self.at(middle)?.value > 0.0 {
                on = middle;
            } else {
                off = middle;
            }
        }
        Ok(off)
    }
}

/// What the lowest point of a function above zero means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Minimum {
    /// It lies beyond zero: two zeros.
    Zeros(f64, f64),
    /// It lies at zero.
    Touch(f64),
    /// It lies above zero.
    Nothing,
}

/// Three points, the middle one nearest to zero: a minimum of `side` times the function lies
/// between the outer ones.
pub(crate) struct MinimumBracket {
    side: f64,
    before: TimeValue,
    here: TimeValue,
    after: TimeValue,
}

impl MinimumBracket {
    /// None if the middle point is not the lowest, or the outer ones are not on `side`.
    pub(crate) fn new(
        side: f64,
        before: TimeValue,
        here: TimeValue,
        after: TimeValue,
    ) -> Option<Self> {
        let (b, h, a) = (side * before.value, side * here.value, side * after.value);
        (b > 0.0 && a > 0.0 && h < b && h <= a).then_some(Self { side, before, here, after })
    }

    /// What the extremum means: two zeros, a touch, or nothing. The function is smooth over the length `smooth`, as
    /// far as that is known.
    pub(crate) fn resolve(
        self,
        function: &mut dyn TimeFunction,
        negligible: f64,
        smooth: f64,
    ) -> Result<Minimum, EvalError> {
        let Self { side, before, after, .. } = self;
        let bottom = self.bottom(function, negligible, smooth)?;
        let value = side * bottom.value;
        Ok(if value < -negligible {
            Minimum::Zeros(function.zero(before, bottom)?, function.zero(bottom, after)?)
        } else if value <= negligible {
            Minimum::Touch(bottom.t)
        } else {
            Minimum::Nothing
        })
    }

    /// The lowest point and the value there. The search ends early where the function cannot
    /// come near zero, and where it is clearly beyond.
    fn bottom(
        mut self,
        probe: &mut dyn TimeFunction,
        negligible: f64,
        smooth: f64,
    ) -> Result<TimeValue, EvalError> {
        let width = (self.after.t - self.before.t).abs().max(smooth);
        // 0.618⁸⁰ = 2e-17 of the bracket.
        for _ in 0..80 {
            let low = self.side * self.here.value;
            if low < -negligible || self.floor() > negligible {
                return Ok(self.here);
            }
            self.narrow(probe)?;
        }
        self.polish(probe, width, negligible)
    }

    /// How low the function may come: the line through two of the points, continued into
    /// the other part, bounds a convex one; twice its fall allows for others.
    fn floor(&self) -> f64 {
        let low = self.side * self.here.value;
        let left = (self.here.t - self.before.t).abs();
        let right = (self.after.t - self.here.t).abs();
        let falling = (self.side * self.before.value - low) / left;
        let rising = (self.side * self.after.value - low) / right;
        low - 2.0 * (rising * left).max(falling * right)
    }

    /// One turn of golden section, in the longer part of the bracket.
    fn narrow(&mut self, probe: &mut dyn TimeFunction) -> Result<(), EvalError> {
        const SECTION: f64 = 0.381_966_011_250_105_1;
        let (left, right) = (self.before.t - self.here.t, self.after.t - self.here.t);
        let leftward = left.abs() > right.abs();
        let t = self.here.t + SECTION * if leftward { left } else { right };
        let new = probe.at(t)?;
        if self.side * new.value < self.side * self.here.value {
            if leftward {
                self.after = self.here;
            } else {
                self.before = self.here;
            }
            self.here = new;
        } else if leftward {
            self.before = new;
        } else {
            self.after = new;
        }
        Ok(())
    }

    /// Replaces the lowest point by the zero of the derivative, if the function is smooth there.
    fn polish(
        &self,
        probe: &mut dyn TimeFunction,
        width: f64,
        negligible: f64,
    ) -> Result<TimeValue, EvalError> {
        let δ = width / 32.0;
        let mut slope = |t: f64| -> Result<f64, EvalError> {
            let mut sum = 0.0;
            for (k, weight) in [(1.0, 45.0), (2.0, -9.0), (3.0, 1.0)] {
                sum += weight * (probe.at(t + k * δ)?.value - probe.at(t - k * δ)?.value);
            }
            Ok(sum)
        };
        // Golden section is right to the root of the rounding unit, in units of the bracket.
        let (a, b) = (self.here.t - 1e-3 * width, self.here.t + 1e-3 * width);
        let a = TimeValue { t: a, value: slope(a)? };
        let b = TimeValue { t: b, value: slope(b)? };
        let smooth = a.value * b.value < 0.0;
        if !smooth {
            return Ok(self.here);
        }
        let t = bracketed_zero(a, b, 1e-14, slope)?;
        let polished = probe.at(t)?;
        // At a kink the difference is off its place, and the value shows it.
        let worse = self.side * (polished.value - self.here.value) > negligible;
        Ok(if worse { self.here } else { polished })
    }
}

/// The zero of `f` between two points with values of different sign, to `accuracy` or rounding.
pub(crate) fn bracketed_zero(
    start: TimeValue,
    end: TimeValue,
    accuracy: f64,
    mut f: impl FnMut(f64) -> Result<f64, EvalError>,
) -> Result<f64, EvalError> {
    // a is the newest point, b the other end of the bracket.
    let (mut a, mut fa) = (start.t, start.value);
    let (mut b, mut fb) = (end.t, end.value);
    let mut part = 0.5;
    // Bisection alone needs 60; interpolation at most doubles that.
    for _ in 0..120 {
        let t = a + part * (b - a);
        let ft = f(t)?;
        let (c, fc);
        if (ft > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (t, ft);
        let (best, value) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let limit = (accuracy + 2.0 * f64::EPSILON * best.abs()) / (b - a).abs();
        // Written so that a bracket of no width ends too.
        let open = limit < 0.5;
        if value == 0.0 || !open {
            return Ok(best);
        }
        let (ξ, φ) = ((a - b) / (c - b), (fa - fb) / (fc - fb));
        let interpolates = φ * φ < ξ && (1.0 - φ) * (1.0 - φ) < 1.0 - ξ;
        part = if interpolates {
            fa / (fb - fa) * fc / (fb - fc)
                + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        part = part.clamp(limit, 1.0 - limit);
    }
    Ok(if fa.abs() < fb.abs() { a } else { b })
}

/// Whether a function changes its sign at `t` through infinity: close to it, it is larger than farther away, on both
/// sides. Farther away are both ends, or places between that are not as near to the pole as an end may be.
pub(crate) fn is_pole(
    probe: &mut EventFunction<'_>,
    from: TimeValue,
    here: TimeValue,
    t: f64,
) -> bool {
    const NEAR: f64 = 1e-4;
    const NEARER: f64 = 1e-2;
    let step = here.t - from.t;
    let δ = NEAR * step;
    let (before, after) = (probe.at(t - δ), probe.at(t + δ));
    // NOTE: a function that is infinite next to the place has a pole there.
    let (Ok(before), Ok(after)) = (before, after) else { return true };
    let grows = |near: TimeValue, far: TimeValue| near.value.abs() > 2.0 * far.value.abs();
    if grows(before, from) && grows(after, here) {
        return true;
    }
    // Time is known to some units of its last place.
    let closer = NEARER * δ;
    if closer.abs() < 64.0 * f64::EPSILON * t.abs() {
        return false;
    }
    match (probe.at(t - closer), probe.at(t + closer)) {
        // An end that is far away: rounding beside a zero grows, too, but not beyond that.
        (Ok(nearest), Ok(next)) => {
            let far = if grows(from, here) { here } else { from };
            grows(nearest, before)
                && grows(next, after)
                && grows(nearest, far)
                && grows(next, far)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_awkward_functions_are_found_in_few_evaluations() {
        type Case = (fn(f64) -> f64, f64);
        let cases: [Case; 4] = [
            (|t| t * t * t - 2.0, 1.259_921_049_894_873_2),
            (|t| libm::exp(20.0 * (t - 1.7)) - 1.0, 1.7),
            (|t| if t < 0.3 { -1.0 } else { 1e-9 }, 0.3),
            (|t| (t - 0.123).powi(9), 0.123),
        ];
        for (i, (f, expected)) in cases.into_iter().enumerate() {
            let mut evaluations = 0;
            let [start, end] = [0.0, 2.0].map(|t| TimeValue { t, value: f(t) });
            let t = bracketed_zero(start, end, 1e-13, |t| {
                evaluations += 1;
                Ok(f(t))
            })
            .unwrap();
            // The asked accuracy; the ninth power underflows nowhere near it.
            assert!((t - expected).abs() < 1e-12, "case {i}: {t}");
            assert!(evaluations <= 100, "case {i}: {evaluations}");
        }
    }

    /// Interpolation takes the place of halving where it can: a zero to all digits costs far less than the fifty
    /// evaluations of bisection.
    #[test]
    fn zeros_of_smooth_functions_cost_few_evaluations() {
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 4] = [
            (|t| t * t * t - 2.0 * t - 5.0, 2.0, 3.0, 2.094_551_481_542_326_5),
            (|t| libm::cos(t) - t, 0.0, 1.0, 0.739_085_133_215_160_7),
            (|t| libm::exp(t) - 5.0, 4.0, 0.0, 1.609_437_912_434_100_3),
            (|t| 1.0 - t * t, 3.0, 0.2, 1.0),
        ];
        for (i, (f, a, b, zero)) in cases.into_iter().enumerate() {
            let mut evaluations = 0;
            let [start, end] = [a, b].map(|t| TimeValue { t, value: f(t) });
            let t = bracketed_zero(start, end, 0.0, |t| {
                evaluations += 1;
                Ok(f(t))
            })
            .unwrap();
            assert!((t - zero).abs() <= 4.0 * f64::EPSILON * zero, "case {i}: {t}");
            // Nine at most, two of which see that nothing is left.
            assert!(evaluations <= 10, "case {i}: {evaluations}");
        }
    }

    impl TimeFunction for fn(f64) -> f64 {
        fn at(&mut self, t: f64) -> Result<TimeValue, EvalError> {
            Ok(TimeValue { t, value: self(t) })
        }
    }

    /// The lowest point of a function between 0 and 1, where it touches a height that does not count.
    fn touch(function: fn(f64) -> f64, middle: f64, negligible: f64) -> f64 {
        let [before, here, after] =
            [0.0, middle, 1.0].map(|t| TimeValue { t, value: function(t) });
        let bracket = MinimumBracket::new(1.0, before, here, after).expect("it is a bracket");
        let mut function = function;
        match bracket.resolve(&mut function, negligible, 0.0).expect("it has values") {
            Minimum::Touch(t) => t,
            other => panic!("{other:?}"),
        }
    }

    /// Values alone would give half of the digits: 10⁻⁸ of the bracket, or 3·10⁻¹⁰ at a height of 10⁻³.
    #[test]
    fn smooth_touches_are_where_the_derivative_vanishes() {
        type Case = (fn(f64) -> f64, f64, f64);
        let cases: [Case; 4] = [
            (|t| 1e-3 + (t - 0.3137) * (t - 0.3137), 0.3137, 2e-3),
            (|t| 1e-3 + 1.0 - libm::cos(t - 0.71), 0.71, 2e-3),
            (|t| 1e-3 + libm::exp(t - 0.4) - (t - 0.4) - 1.0, 0.4, 1.1e-3),
            (|t| 1e-3 + libm::sin(t - 0.55) * libm::sin(t - 0.55), 0.55, 1.9e-3),
        ];
        for (i, (function, place, negligible)) in cases.into_iter().enumerate() {
            let t = touch(function, 0.5, negligible);
            // The seventh derivative there: 32⁻⁶/140 of the second one. Rounding is less.
            assert!((t - place).abs() < 1e-11, "case {i}: off by {:e}", t - place);
        }
    }

    /// Where the slopes of both sides differ, the zero of central differences is elsewhere, and not as low.
    #[test]
    fn touches_at_kinks_stay_where_the_value_is_lowest() {
        let steep: fn(f64) -> f64 = |t| if t < 0.4 { 0.4 - t } else { 3.0 * (t - 0.4) };
        let flat: fn(f64) -> f64 = |t| if t < 0.4 { 5.0 * (0.4 - t) } else { t - 0.4 };
        for function in [steep, flat] {
            let t = touch(function, 0.5, 1e-12);
            assert!((t - 0.4).abs() < 1e-12, "off by {:e}", t - 0.4);
        }
    }
}
