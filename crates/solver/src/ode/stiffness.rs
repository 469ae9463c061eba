//! Whether the steps of an explicit method are limited by stability, and those of an implicit one are not any more.
//!
//! Every few steps one step of the power method, with a difference of the rates, approximates the largest eigenvalue
//!
//! $$ \lambda \approx \frac{\lVert f(t, y + \delta d) - f(t, y) \rVert}{\delta\,\lVert d \rVert} $$
//!
//! with norms in units of the scales, and $d$ the image of the last time. An explicit method whose accuracy asks for
//! longer steps than its stability allows takes steps of $h\lambda$ at the edge of its region of stability: 5 to 6 for
//! Dormand and Prince, 8 and more for Taylor series. Steps that accuracy limits are well below.
//!
//! At strict tolerances stiff components limit explicit steps before stability does: the error of a slow motion with
//! $h\lambda$ about 1 is that of its forces times a power of $h\lambda$. So in a long run a step of Radau's method is
//! tried now and then that is many explicit ones long.

use crate::ode::radau::Radau;
use crate::ode::scale::Scale;
use crate::ode::stepper::{ScaledState, StepClock, Stepper, Trial};
use crate::ode::system::Counted;

/// Accepted steps between two looks.
const PERIOD: usize = 10;
/// Looks in a row that decide.
const LOOKS: usize = 3;
/// The length of the difference, in scales.
const DIFFERENCE: f64 = 1e-7;
/// $h\lambda$ below which explicit steps are as good.
const EASY: f64 = 0.5;

/// Explicit steps until Radau's method is tried; then after twice as many.
const UNTIL_TRIAL: usize = 2000;
/// How many explicit steps it must replace by one, which costs more, and the more so the larger the system.
const WORTH: f64 = 10.0;
/// Systems that are too large for a mere trial.
const LARGEST: usize = 100;

/// Watches a run.
pub(crate) struct StiffnessWatch {
    /// The edge of the region of stability of the explicit method; none if nobody asked.
    edge: Option<f64>,
    d: Vec<f64>,
    state: Vec<f64>,
    rates: Vec<f64>,
    moved: Vec<f64>,
    steps: usize,
    looks: usize,
    /// Explicit steps so far, and those after which Radau's method is tried.
    explicit: usize,
    next_trial: usize,
}

impl StiffnessWatch {
    /// For so many components; `edge` is $h\lambda$ from which on the explicit method is limited by its stability.
    pub(crate) fn new(n: usize, edge: Option<f64>) -> Self {
        let room = || vec![0.0; if edge.is_some() { n } else { 0 }];
        Self {
            edge,
            d: room(),
            state: room(),
            rates: room(),
            moved: room(),
            steps: 0,
            looks: 0,
            explicit: 0,
            next_trial: UNTIL_TRIAL,
        }
    }

    /// Takes note of an explicit step; says whether one of Radau's method would go much further. `clock` has where it
    /// must not go beyond.
    pub(crate) fn is_trial_better(
        &mut self,
        system: &mut Counted<'_>,
        clock: &StepClock,
        from: &ScaledState<'_>,
        longest: f64,
    ) -> bool {
        if self.edge.is_none() {
            return false;
        }
        self.explicit += 1;
        if self.explicit < self.next_trial {
            return false;
        }
        self.next_trial *= 2;
        let (t, n) = (clock.t, from.y.len());
        let h = (WORTH + n as f64) * clock.h;
        let is_long = (clock.t1 - t).abs() > UNTIL_TRIAL as f64 * clock.h.abs();
        if n > LARGEST || !is_long || h.abs() > longest.min((clock.target - t).abs()) {
            return false;
        }
        let mut radau = Radau::new(n, Some(13));
        let clock = StepClock { t0: t, h, ..*clock };
        let mut end = vec![0.0; n];
        radau.begin(system, &clock, from, Some(h.abs())).is_ok()
            && radau
                .advance(system, Trial { t, end: t + h, h }, from, &mut end)
                .is_ok_and(|error| error <= 1.0)
    }

    /// Takes note of an accepted step; says whether it is time for the other kind of method.
    pub(crate) fn is_other_better(
        &mut self,
        system: &mut Counted<'_>,
        (t, y): (f64, &[f64]),
        h: f64,
        scale: &Scale,
        is_implicit: bool,
    ) -> bool {
        let Some(edge) = self.edge else { return false };
        self.steps += 1;
        if !self.steps.is_multiple_of(PERIOD) {
            return false;
        }
        let Some(λ) = self.eigenvalue(system, (t, y), scale) else { return false };
        let speaks = if is_implicit { h.abs() * λ < EASY } else { h.abs() * λ > edge };
        self.looks = if speaks { self.looks + 1 } else { 0 };
        if self.looks < LOOKS {
            return false;
        }
        self.looks = 0;
        true
    }

    /// One step of the power method.
    fn eigenvalue(
        &mut self,
        system: &mut Counted<'_>,
        (t, y): (f64, &[f64]),
        scale: &Scale,
    ) -> Option<f64> {
        let n = scale.controlled;
        let size = |i: usize| scale.at(i, 0.0, 0.0);
        let norm = |x: &[f64]| {
            let parts = x[..n].iter().enumerate().map(|(i, x)| (x / size(i)).abs());
            parts.fold(0.0, f64::max)
        };
        // NOTE: what the watch costs is not counted as work of the method.
        system.system.rates(t, y, &mut self.rates).ok()?;
        let mut length = norm(&self.d);
        if !(length > 0.0 && length.is_finite()) {
            for (i, d) in self.d[..n].iter_mut().enumerate() {
                *d = size(i) * if i % 2 == 0 { 1.0 } else { -1.0 };
            }
            length = 1.0;
        }
        let δ = DIFFERENCE / length;
        self.state.copy_from_slice(y);
        for (x, d) in self.state[..n].iter_mut().zip(&self.d) {
            *x += δ * d;
        }
        system.system.rates(t, &self.state, &mut self.moved).ok()?;
        for (d, (a, b)) in self.d.iter_mut().zip(self.moved.iter().zip(&self.rates)) {
            *d = (a - b) / δ;
        }
        let λ = norm(&self.d) / length;
        λ.is_finite().then_some(λ)
    }
}
