//! Orders, tolerances and dense output against closed forms.

use super::systems::{Plain, ellipse, kepler, oscillator, record, witch};
use pfaff_solver::{
    Control, DenseStep, Method, Observer, OdeOptions, StopReason, System, Trajectory, integrate,
};

const TURN: f64 = 2.0 * std::f64::consts::PI;

/// The error of one step of size `h` from (cos ½, sin ½): at the end, and largest within. Both
/// systems have the solution (cos t, sin t).
fn one_step(system: &mut Plain, h: f64) -> (f64, f64) {
    let distance = |t: f64, y: &[f64]| libm::hypot(y[0] - libm::cos(t), y[1] - libm::sin(t));
    // A tolerance so loose that the given step is accepted.
    let options = OdeOptions {
        t0: 0.5,
        t1: 0.5 + h,
        tolerance: 1e6,
        step: Some(h),
        max_steps: 1,
        ..OdeOptions::default()
    };
    let (outcome, trajectory) = record(system, &[libm::cos(0.5), libm::sin(0.5)], &options);
    assert_eq!((outcome.stop, outcome.statistics.steps), (StopReason::End, 1));
    let within = (0..=64).map(|i| 0.5 + h * f64::from(i) / 64.0);
    let state = |t| trajectory.state(t).expect("t lies within the step");
    let dense = within.map(|t| distance(t, &state(t))).fold(0.0, f64::max);
    (distance(outcome.t, &outcome.y), dense)
}

fn slope(a: f64, b: f64) -> f64 {
    libm::log2(a / b)
}

#[test]
fn dop853_has_order_eight_and_its_dense_output_seven() {
    // Local errors are of one order more. Sizes where rounding (1e-16) does not show: errors
    // from 1e-8 down to 1e-13.
    let mut linear = Plain::new(2, |_, y, rates| rates.copy_from_slice(&[-y[1], y[0]]));
    let (coarse, fine) = (one_step(&mut linear, 0.5), one_step(&mut linear, 0.25));
    let (end, dense) = (slope(coarse.0, fine.0) - 1.0, slope(coarse.1, fine.1) - 1.0);
    assert!((end - 8.0).abs() < 0.4, "order {end}");
    assert!((dense - 7.0).abs() < 0.4, "dense order {dense}");
    // A rotation whose speed depends on the radius: the nonlinear order conditions count, and
    // leading terms that partly cancel make it look better than it is.
    let mut nonlinear = Plain::new(2, |_, y, rates| {
        let speed = y[0] * y[0] + y[1] * y[1];
        rates.copy_from_slice(&[-y[1] * speed, y[0] * speed]);
    });
    let (coarse, fine) = (one_step(&mut nonlinear, 0.5), one_step(&mut nonlinear, 0.25));
    let (end, dense) = (slope(coarse.0, fine.0) - 1.0, slope(coarse.1, fine.1) - 1.0);
    assert!(end > 7.6 && dense > 6.6, "orders {end}, {dense}");
}

#[test]
fn global_order_of_dop853_on_the_kepler_ellipse_is_eight() {
    // Fixed steps by hand: one run per step, tolerance out of the way.
    let error = |steps: u32| {
        let h = TURN / f64::from(steps);
        let mut y = ellipse(0.1).to_vec();
        for _ in 0..steps {
            let options =
                OdeOptions { t1: h, tolerance: 1e6, step: Some(h), ..OdeOptions::default() };
            y = integrate(&mut kepler(), &y, &options, &mut ()).y;
        }
        y.iter().zip(ellipse(0.1)).map(|(y, start)| (y - start).abs()).fold(0.0, f64::max)
    };
    // Errors from 2e-8 to 3e-13.
    let order = slope(error(20), error(80)) / 2.0;
    assert!((order - 8.0).abs() < 0.4, "order {order}");
}

#[test]
fn global_order_of_rk4_and_of_its_dense_output_is_four() {
    let error = |steps: u32| {
        let h = 2.0 / f64::from(steps);
        let options =
            OdeOptions { t1: 2.0, method: Method::Rk4, step: Some(h), ..OdeOptions::default() };
        let (outcome, trajectory) = record(&mut witch(), &[1.0], &options);
        assert_eq!(outcome.statistics.steps, steps as usize);
        let dense = (0..=1000).map(|i| f64::from(i) * 0.002).map(|t| {
            (trajectory.state(t).expect("within the run")[0] - 1.0 / (1.0 + t * t)).abs()
        });
        ((outcome.y[0] - 0.2).abs(), dense.fold(0.0, f64::max))
    };
    let (coarse, fine) = (error(80), error(160));
    let orders = (slope(coarse.0, fine.0), slope(coarse.1, fine.1));
    assert!((orders.0 - 4.0).abs() < 0.3, "order {}", orders.0);
    assert!((orders.1 - 4.0).abs() < 0.3, "dense order {}", orders.1);
}

#[test]
fn global_error_is_proportional_to_the_tolerance() {
    let error = |tolerance: f64| {
        let options = OdeOptions { t1: 3.0 * TURN, tolerance, ..OdeOptions::default() };
        let outcome = integrate(&mut kepler(), &ellipse(0.5), &options, &mut ());
        libm::hypot(outcome.y[0] - ellipse(0.5)[0], outcome.y[1])
    };
    for tolerance in [1e-5, 1e-7, 1e-9, 1e-11] {
        let error = error(tolerance);
        // Three turns magnify local errors by 3·2π·(number of steps ≈ 50): below 1000. The lower
        // limit sees a controller that wastes steps.
        assert!(error < 1e3 * tolerance, "{tolerance:e} gives {error:e}");
        assert!(error > 1e-3 * tolerance, "{tolerance:e} gives {error:e}");
    }
}

#[test]
fn dense_output_is_as_good_as_the_steps() {
    let options = OdeOptions { t1: 20.0, tolerance: 1e-10, ..OdeOptions::default() };
    let (outcome, trajectory) = record(&mut oscillator(), &[1.0, 0.0], &options);
    assert_eq!(outcome.t, 20.0);
    for i in 0..=2000 {
        let t = f64::from(i) * 0.01;
        let (y, rates) = (trajectory.state(t).unwrap(), trajectory.derivative(t).unwrap());
        // Twenty time units of local errors 1e-10, and order seven within the steps.
        assert!((y[0] - libm::cos(t)).abs() < 5e-9 && (y[1] + libm::sin(t)).abs() < 5e-9);
        // The derivative has one order less.
        assert!((rates[0] + libm::sin(t)).abs() < 1e-7);
    }
}

#[test]
fn dense_output_meets_the_states_of_the_run_exactly() {
    let options = OdeOptions { t1: 10.0, ..OdeOptions::default() };
    let (_, trajectory) = record(&mut kepler(), &ellipse(0.5), &options);
    for pair in trajectory.steps().windows(2) {
        let (a, b) = (pair[0].as_step(), pair[1].as_step());
        let (mut end, mut start) = ([0.0; 4], [0.0; 4]);
        a.state(a.end(), &mut end);
        b.state(b.start(), &mut start);
        assert!(end == start && end == a.state_at_end());
    }
}

#[test]
fn runs_backward_retrace_runs_forward() {
    let there = OdeOptions { t1: 5.0, tolerance: 1e-12, ..OdeOptions::default() };
    let far = integrate(&mut kepler(), &ellipse(0.4), &there, &mut ()).y;
    let back = OdeOptions { t0: 5.0, t1: 0.0, ..there };
    let (outcome, trajectory) = record(&mut kepler(), &far, &back);
    assert_eq!((outcome.stop, outcome.t), (StopReason::End, 0.0));
    for (y, start) in outcome.y.iter().zip(ellipse(0.4)) {
        // Two runs of five time units at 1e-12, magnified by the shear of the orbit.
        assert!((y - start).abs() < 1e-9);
    }
    assert!(trajectory.state(2.5).is_some() && trajectory.state(5.1).is_none());
    let rk4 = OdeOptions { method: Method::Rk4, step: Some(0.01), ..back };
    let rough = integrate(&mut kepler(), &far, &rk4, &mut ());
    // h⁴ = 1e-8 times the derivatives at pericentre.
    assert!((rough.y[0] - 0.6).abs() < 1e-4 && rough.statistics.steps == 500);
}

/// The circle x² + y² = 1 as an invariant of the oscillator.
fn onto_circle(y: &mut [f64]) {
    let r = libm::hypot(y[0], y[1]);
    for y in y.iter_mut() {
        *y /= r;
    }
}

#[test]
fn projection_holds_the_invariant_and_dense_output_stays_continuous() {
    for method in [Method::Dop853, Method::Rk4] {
        // Loose, so that the projection has something to do.
        let options = OdeOptions {
            t1: 30.0,
            tolerance: 1e-5,
            method,
            step: Some(0.2),
            ..OdeOptions::default()
        };
        let mut system = oscillator().projected(onto_circle);
        let (_, trajectory) = record(&mut system, &[1.0, 0.0], &options);
        let (_, free) = record(&mut oscillator(), &[1.0, 0.0], &options);
        let drift = free.steps().iter().map(|step| {
            let y = step.as_step().state_at_end();
            (libm::hypot(y[0], y[1]) - 1.0).abs()
        });
        assert!(drift.fold(0.0, f64::max) > 1e-7, "nothing to project");
        for pair in trajectory.steps().windows(2) {
            let (a, b) = (pair[0].as_step(), pair[1].as_step());
            let end = a.state_at_end();
            assert!((libm::hypot(end[0], end[1]) - 1.0).abs() < 4e-16);
            assert_eq!(a.end(), b.start());
            let t = a.end();
            // Just before the end, by less than the rounding of what follows.
            let (mut left, mut right) = ([0.0; 2], [0.0; 2]);
            a.state(t - 1e-15 * (a.end() - a.start()), &mut left);
            b.state(t, &mut right);
            assert!((left[0] - right[0]).abs() < 1e-14 && (left[1] - right[1]).abs() < 1e-14);
            a.derivative(t, &mut left);
            b.derivative(t, &mut right);
            // The derivative is continuous too: f at the projected end on both sides.
            assert!((left[0] - right[0]).abs() < 1e-13 && (left[1] - right[1]).abs() < 1e-13);
        }
        // Within the steps the invariant holds to the tolerance.
        for i in 0..3000 {
            let y = trajectory.state(f64::from(i) * 0.01).unwrap();
            assert!((libm::hypot(y[0], y[1]) - 1.0).abs() < 5e-5);
        }
    }
}

#[test]
fn quadratures_are_carried_along_without_error_control() {
    // ∫ of a spiky function beside a slow rotation.
    let mut system = Plain::new(3, |t, y, rates| {
        let s = t - 5.0;
        rates.copy_from_slice(&[y[1], -y[0], 1e6 / (1.0 + 1e6 * s * s)]);
    });
    let options = OdeOptions { t1: 10.0, ..OdeOptions::default() };
    let all = integrate(&mut system, &[1.0, 0.0, 0.0], &options, &mut ());
    system.controlled = 2;
    let some = integrate(&mut system, &[1.0, 0.0, 0.0], &options, &mut ());
    assert!(some.statistics.steps * 3 < all.statistics.steps);
    // ∫ = 1000·2·atan(5000), tolerance 1e-10 of a value of 3000 in some 100 steps.
    assert!((all.y[2] - 2000.0 * libm::atan(5000.0)).abs() < 1e-5);
    assert!((some.y[0] - libm::cos(10.0)).abs() < 1e-8);
}

/// Looks at one time only.
struct Sample {
    at: f64,
    seen: Vec<f64>,
}

impl Observer for Sample {
    fn wants_dense(&self, start: f64, end: f64) -> bool {
        start <= self.at && self.at <= end
    }

    fn step(&mut self, step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        if self.seen.is_empty() && step.contains(self.at) {
            self.seen.resize(2, 0.0);
            step.state(self.at, &mut self.seen);
        }
        Control::Continue
    }
}

#[test]
fn steps_without_samples_do_not_pay_for_dense_output() {
    let options = OdeOptions { t1: 20.0, ..OdeOptions::default() };
    let mut sample = Sample { at: 7.77, seen: Vec::new() };
    let sparse = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut sample);
    let none = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
    let (full, trajectory) = record(&mut oscillator(), &[1.0, 0.0], &options);
    assert_eq!(sample.seen, trajectory.state(7.77).unwrap());
    assert_eq!(sparse.statistics.evaluations, none.statistics.evaluations + 3);
    assert_eq!(
        full.statistics.evaluations,
        none.statistics.evaluations + 3 * none.statistics.steps
    );
    assert_eq!(full.y, none.y);
}

#[test]
fn statistics_of_a_standard_run() {
    // A snapshot: a change of the controller or of the first step shows here.
    let options = OdeOptions { t1: TURN, tolerance: 1e-10, ..OdeOptions::default() };
    let outcome = integrate(&mut kepler(), &ellipse(0.5), &options, &mut ());
    let s = outcome.statistics;
    // Scales take three evaluations at the start; the rounding of the rates is measured there and after eight
    // steps, by five.
    assert_eq!(s.evaluations, 2 + 3 + 2 * 5 + 12 * s.steps + 11 * s.rejected);
    assert_eq!((s.steps, s.rejected), (41, 7));
}

#[test]
fn the_same_run_twice_is_bit_equal() {
    let options = OdeOptions { t1: 50.0, ..OdeOptions::default() };
    let run = || {
        let mut trajectory = Trajectory::default();
        let outcome = integrate(&mut kepler(), &ellipse(0.6), &options, &mut trajectory);
        let bits = |y: Vec<f64>| y.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let samples: Vec<_> =
            (0..500).map(|i| bits(trajectory.state(f64::from(i) * 0.1).unwrap())).collect();
        (bits(outcome.y), outcome.statistics, samples)
    };
    assert_eq!(run(), run());
}
