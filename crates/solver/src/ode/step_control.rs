//! How long the next step may be: a first guess, and a proportional-integral controller.
//!
//! $$ h_{k+1} = 0.9\, h_k\, e_k^{-\alpha}\, e_{k-1}^{\beta}, \qquad
//!    \beta = 0.04,\; \alpha = \tfrac18 - 0.2\,\beta \qquad (\mathrm{PI}) $$
//!
//! for the error $e_k$ as a multiple of the allowed one (Hairer, Nørsett and Wanner 1993,
//! §II.4, and §IV.2 of the second volume; $\alpha$ as in their program DOP853).
//! A step is never shortened below a third nor lengthened above six times by it.

use crate::ode::scale::{Scale, own_time};
use crate::ode::stepper::{Base, ScaledState, StepClock};
use crate::ode::system::Counted;

const BETA: f64 = 0.04;
const ALPHA: f64 = 0.125 - 0.2 * BETA;
const SAFETY: f64 = 0.9;

/// The controller (PI).
pub(crate) struct Controller {
    /// $\ln e_{k-1}$
    previous: f64,
    rejected: bool,
}

/// An error below this counts as this when the next step is chosen, as in DOP853.
const LEAST: f64 = 1e-4;

impl Controller {
    pub(crate) fn new() -> Self {
        Self { previous: libm::log(LEAST), rejected: false }
    }

    /// The step after an accepted one of size `h` with the given error.
    pub(crate) fn accepted(&mut self, h: f64, error: f64) -> f64 {
        // By logarithms, of which one is already there: powers would take a tenth of a short step.
        let logarithm = libm::log(error);
        let shrink = libm::exp(ALPHA * logarithm - BETA * self.previous) / SAFETY;
        // No growth right after a rejection: it would fail again.
        let least = if self.rejected { 1.0 } else { 1.0 / 6.0 };
        self.previous = if error > LEAST { logarithm } else { libm::log(LEAST) };
        self.rejected = false;
        h / shrink.clamp(least, 3.0)
    }

    /// The step to try after one of size `h` was rejected for its error.
    pub(crate) fn rejected(&mut self, h: f64, error: f64) -> f64 {
        self.rejected = true;
        h / (libm::pow(error, ALPHA) / SAFETY).clamp(1.0 / SAFETY, 3.0)
    }

    /// The step to try after one of size `h` met a point without value.
    pub(crate) fn failed(&mut self, h: f64) -> f64 {
        self.rejected = true;
        h / 4.0
    }
}

/// The length of the first step of a run, with its sign: the given one, or [`first_step`] from the rates at the start.
pub(crate) fn given_or_first_step(
    system: &mut Counted<'_>,
    clock: &StepClock,
    at: &ScaledState<'_>,
    given: Option<f64>,
    f: &[f64],
    work: &mut Vec<f64>,
) -> f64 {
    let span = clock.t1 - clock.t0;
    if let Some(h) = given {
        return h.min(span.abs()).copysign(span);
    }
    let from = Base { t: clock.t0, h: span, y: at.y, f };
    first_step(system, &from, at.scale, work)
}

/// A first step, from the times in which the state and its rates change by themselves; `from.h` is the longest
/// step possible, with the sign of the direction. `work` is storage.
///
/// With scales $s$ that do not depend on units, as in [`Scale`], and a short Euler step of length $g$
///
/// $$ h = (E/100)^{1/8} \min_i \Bigl(\frac{s_i}{|f_i|},\; \sqrt{\frac{s_i\,g}{|f_i(g) - f_i|}}\Bigr). $$
///
fn first_step(
    system: &mut Counted<'_>,
    from: &Base<'_>,
    scale: &Scale,
    work: &mut Vec<f64>,
) -> f64 {
    /// A first guess, as a part of the run.
    const GUESS: f64 = 1e-3;
    let n = from.y.len();
    work.clear();
    work.resize(2 * n, 0.0);
    let (state, rates) = work.split_at_mut(n);
    let longest = from.h.abs().min(f64::MAX / 4.0);
    let own = own_time(&from.y[..scale.controlled], from.f, longest);
    let least = longest.min(100.0 * f64::EPSILON * from.t.abs());
    let mut guess = (0.01 * own).min(GUESS * longest).max(least);
    loop {
        let g = guess.copysign(from.h);
        for ((state, y), f) in state.iter_mut().zip(from.y).zip(from.f) {
            *state = y + g * f;
        }
        if system.rates(from.t + g, state, rates).is_ok() {
            break;
        }
        guess *= 0.1;
        if guess < 1e-12 * longest {
            return g;
        }
    }
    let mut time = own;
    for i in 0..scale.controlled {
        let change = (rates[i] - from.f[i]).abs();
        if change > 0.0 {
            time = time.min((scale.at(i, guess, 0.0) * guess / change).sqrt());
        }
    }
    let h = libm::pow(0.01 * scale.tolerance, 0.125) * time;
    h.min(100.0 * guess).min(longest).max(least).copysign(from.h)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_within_their_limits() {
        let mut controller = Controller::new();
        assert_eq!(controller.accepted(1.0, 0.0), 6.0);
        assert_eq!(controller.failed(1.0), 0.25);
        // Right after a rejection there is no growth, then there is.
        assert_eq!(controller.accepted(1.0, 0.0), 1.0);
        assert_eq!(controller.accepted(1.0, 0.0), 6.0);
        assert_eq!(controller.rejected(3.0, 1e30), 1.0);
        // A rejected step is always shortened.
        assert!(controller.rejected(1.0, 1.000_001) <= 0.9);
        assert_eq!(controller.accepted(-1.0, 0.0), -1.0);
    }

    #[test]
    fn an_error_of_one_shortens_by_the_safety_factor() {
        let mut controller = Controller { previous: 0.0, rejected: false };
        assert!((controller.accepted(1.0, 1.0) - SAFETY).abs() < 1e-15);
        // 2⁻⁸ of the allowed error: a step longer by 2^(8α) = 1.9, with the previous error 1.
        let longer = controller.accepted(1.0, 1.0 / 256.0);
        assert!((longer - SAFETY * libm::pow(256.0, ALPHA)).abs() < 1e-14);
    }
}
