//! Every reason to stop, with the last good state.

use super::systems::{Plain, oscillator, record};
use pfaff_solver::{
    Control, DenseStep, EvalError, Method, Observer, OdeOptions, StopReason, System, integrate,
};

#[test]
fn the_end_is_hit_exactly() {
    for t1 in [0.1, 1.0 / 3.0, 7.0, -2.7, 1e-12] {
        for method in [Method::Dop853, Method::Rk4] {
            let options = OdeOptions { t1, method, ..OdeOptions::default() };
            let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
            assert_eq!((outcome.stop, outcome.t), (StopReason::End, t1));
            // Tolerance 1e-10, and steps of a thousandth.
            assert!((outcome.y[0] - libm::cos(t1)).abs() < 1e-8);
        }
    }
    // A run of no length, and one of a few units in the last place.
    let options = OdeOptions { t0: 1.0, t1: 1.0, ..OdeOptions::default() };
    let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
    assert_eq!((outcome.stop, outcome.statistics.evaluations), (StopReason::End, 0));
    let options = OdeOptions { t0: 1.0, t1: 1.0 + 3.0 * f64::EPSILON, ..OdeOptions::default() };
    let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
    assert_eq!((outcome.stop, outcome.t), (StopReason::End, options.t1));
}

#[test]
fn the_last_fixed_step_is_shortened() {
    let options =
        OdeOptions { t1: 1.0, method: Method::Rk4, step: Some(0.3), ..OdeOptions::default() };
    let (outcome, trajectory) = record(&mut oscillator(), &[1.0, 0.0], &options);
    let ends: Vec<_> = trajectory.steps().iter().map(|s| s.as_step().end()).collect();
    assert_eq!(
        (outcome.stop, ends),
        (StopReason::End, vec![0.3, 0.6, 0.899_999_999_999_999_9, 1.0])
    );
    // Rounding leaves no sliver at the end: 0.1·10 = 1.
    let options = OdeOptions { step: Some(0.1), ..options };
    assert_eq!(record(&mut oscillator(), &[1.0, 0.0], &options).0.statistics.steps, 10);
}

#[test]
fn fixed_steps_are_counted_from_the_start() {
    let options =
        OdeOptions { t1: 100.0, method: Method::Rk4, step: Some(0.1), ..OdeOptions::default() };
    let (_, trajectory) = record(&mut oscillator(), &[1.0, 0.0], &options);
    assert_eq!(trajectory.steps().len(), 1000);
    for (k, step) in trajectory.steps()[..999].iter().enumerate() {
        assert_eq!(step.as_step().end(), (k + 1) as f64 * 0.1);
    }
    // Decimal steps never leave a sliver, whichever way they are rounded.
    for n in 1..60_u32 {
        for thousandths in [1, 7, 30, 35, 110, 333] {
            let step = f64::from(thousandths) / 1000.0;
            let options = OdeOptions {
                t1: f64::from(n * thousandths) / 1000.0,
                step: Some(step),
                ..options
            };
            let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
            assert_eq!(outcome.statistics.steps, n as usize, "{n} steps of {step}");
        }
    }
}

#[test]
fn states_that_are_not_finite_are_never_projected() {
    for method in [Method::Dop853, Method::Rk4] {
        let mut system = Plain::new(1, |_, _, rates| rates[0] = 1e308)
            .projected(|y| assert!(y[0].is_finite(), "projection of {}", y[0]));
        let options = OdeOptions {
            t1: 10.0,
            tolerance: 1e300,
            step: Some(5.0),
            method,
            ..OdeOptions::default()
        };
        let outcome = integrate(&mut system, &[0.0], &options, &mut ());
        assert_eq!(outcome.stop, StopReason::NotFinite);
        assert!(outcome.y[0].is_finite());
    }
}

#[test]
fn blow_up_makes_steps_too_small() {
    // y′ = y² from 1 is 1/(1 − t).
    let mut system = Plain::new(1, |_, y, rates| rates[0] = y[0] * y[0]);
    let options = OdeOptions { t1: 2.0, ..OdeOptions::default() };
    let outcome = integrate(&mut system, &[1.0], &options, &mut ());
    assert_eq!(outcome.stop, StopReason::StepTooSmall);
    // Errors of 1e-10 shift the pole by as much.
    assert!((outcome.t - 1.0).abs() < 1e-8 && outcome.y[0] > 1e8);
}

#[test]
fn rates_without_value_stop_at_the_border() {
    // y′ = 1 + √(1 − t) is not a number beyond 1, where y = 1 + ⅔.
    let mut system = Plain::new(1, |t, _, rates| rates[0] = 1.0 + (1.0 - t).sqrt());
    let options = OdeOptions { t1: 2.0, ..OdeOptions::default() };
    let outcome = integrate(&mut system, &[0.0], &options, &mut ());
    assert_eq!(outcome.stop, StopReason::NotFinite);
    // Up to ten units in the last place.
    assert!(outcome.t <= 1.0 && outcome.t > 1.0 - 1e-12, "{}", outcome.t);
    assert!((outcome.y[0] - 5.0 / 3.0).abs() < 1e-8 && outcome.statistics.rejected > 10);
    // A fixed step cannot come nearer than its size.
    let fixed = OdeOptions { method: Method::Rk4, step: Some(0.3), ..options };
    let outcome = integrate(&mut system, &[0.0], &fixed, &mut ());
    assert_eq!((outcome.stop, outcome.t), (StopReason::NotFinite, 0.899_999_999_999_999_9));
}

/// y′ = 1, singular for y ≥ 1; the projection or the rates find out.
struct Wall {
    by_projection: bool,
}

impl System for Wall {
    fn dimension(&self) -> usize {
        1
    }

    fn rates(&mut self, _t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates[0] = 1.0;
        if y[0] >= 1.0 && !self.by_projection { Err(EvalError::Singular) } else { Ok(()) }
    }

    fn project(&mut self, _t: f64, y: &mut [f64]) -> Result<(), EvalError> {
        if y[0] >= 1.0 && self.by_projection { Err(EvalError::Singular) } else { Ok(()) }
    }
}

#[test]
fn singular_systems_stop_at_the_last_good_state() {
    for by_projection in [false, true] {
        let options = OdeOptions { t1: 2.0, ..OdeOptions::default() };
        let outcome = integrate(&mut Wall { by_projection }, &[0.0], &options, &mut ());
        assert_eq!(outcome.stop, StopReason::Singular);
        // Up to ten units in the last place, and the rounding of the sum of steps.
        assert!(outcome.y[0] < 1.0 && outcome.y[0] > 1.0 - 1e-12, "{}", outcome.y[0]);
    }
    let outcome =
        integrate(&mut Wall { by_projection: false }, &[1.5], &OdeOptions::default(), &mut ());
    assert_eq!((outcome.stop, outcome.t, outcome.y), (StopReason::Singular, 0.0, vec![1.5]));
}

#[test]
fn a_start_that_is_not_finite_stops_there() {
    let outcome =
        integrate(&mut oscillator(), &[f64::NAN, 0.0], &OdeOptions::default(), &mut ());
    assert_eq!((outcome.stop, outcome.t), (StopReason::NotFinite, 0.0));
    let options = OdeOptions { t1: f64::NAN, ..OdeOptions::default() };
    let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
    assert_eq!(outcome.stop, StopReason::NotFinite);
}

#[test]
fn the_number_of_steps_is_limited() {
    for method in [Method::Dop853, Method::Rk4] {
        let options = OdeOptions {
            t1: 1e6,
            method,
            max_steps: 7,
            step: Some(0.1),
            ..OdeOptions::default()
        };
        let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
        assert_eq!(outcome.stop, StopReason::MaxSteps);
        let s = outcome.statistics;
        assert_eq!(s.steps + s.rejected, 7);
        assert!(outcome.t > 0.0 && (outcome.y[0] - libm::cos(outcome.t)).abs() < 1e-5);
    }
    // An endless run ends there too.
    let options = OdeOptions { t1: f64::INFINITY, max_steps: 50, ..OdeOptions::default() };
    let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
    assert_eq!(outcome.stop, StopReason::MaxSteps);
}

/// Stops after the third step.
struct Third(usize);

impl Observer for Third {
    fn step(&mut self, _step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        self.0 += 1;
        if self.0 == 3 { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn observers_interrupt() {
    let options = OdeOptions { t1: 100.0, ..OdeOptions::default() };
    let outcome = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut Third(0));
    assert_eq!((outcome.stop, outcome.statistics.steps), (StopReason::Interrupted, 3));
    assert!((outcome.y[0] - libm::cos(outcome.t)).abs() < 1e-8);
}

#[test]
fn a_system_without_components_runs_through() {
    let mut nothing = Plain::new(0, |_, _, _| {});
    for method in [Method::Dop853, Method::Rk4] {
        let options = OdeOptions { t1: 5.0, method, ..OdeOptions::default() };
        let (outcome, trajectory) = record(&mut nothing, &[], &options);
        assert_eq!((outcome.stop, outcome.t), (StopReason::End, 5.0));
        assert_eq!(trajectory.state(2.0), Some(Vec::new()));
    }
}
