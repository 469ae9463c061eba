//! Events: where, which way, how often, and what they end.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::cases;

use super::systems::{Plain, Values, oscillator, record};
use pfaff_solver::{
    Control, Crossing, DenseStep, Direction, EvalError, EventKind, LocatedEvent, Method,
    Observer, OdeOptions, StopReason, System, Trajectory, integrate,
};

const PI: f64 = std::f64::consts::PI;
const BOTH: EventKind =
    EventKind { direction: Direction::Both, stop: false, jump: false, barrier: false };
const RISING: EventKind =
    EventKind { direction: Direction::Rising, stop: false, jump: false, barrier: false };
const FALLING: EventKind =
    EventKind { direction: Direction::Falling, stop: false, jump: false, barrier: false };
const STOP: EventKind =
    EventKind { direction: Direction::Both, stop: true, jump: false, barrier: false };

/// Time alone: y′ = 1, so that the states are exact and only the location is tested.
fn clock() -> Plain {
    Plain::new(1, |_, _, rates| rates[0] = 1.0)
}

/// Index, time and crossing of the events of a function of time on 0..t1.
fn zeros(
    values: Values,
    kinds: &[EventKind],
    options: &OdeOptions,
) -> Vec<(usize, f64, Crossing)> {
    let (_, trajectory) = record(&mut clock().watching(kinds, values), &[options.t0], options);
    trajectory.events().iter().map(|(e, _)| (e.index, e.t, e.crossing)).collect()
}

/// Both methods, with steps that do and do not meet the zeros.
fn ways(t1: f64) -> [OdeOptions; 4] {
    let adaptive = OdeOptions { t1, step: Some(0.3), ..OdeOptions::default() };
    let fixed = |step| OdeOptions { t1, method: Method::Rk4, step: Some(step), ..adaptive };
    [adaptive, fixed(0.25), fixed(0.1), fixed(0.037)]
}

#[test]
fn crossings_of_the_oscillator_are_found_to_the_accuracy_of_the_run() {
    let options = OdeOptions { t1: 20.0, tolerance: 1e-13, ..OdeOptions::default() };
    let mut system = oscillator().watching(&[BOTH], |_, y, g| g[0] = y[0]);
    let (_, trajectory) = record(&mut system, &[1.0, 0.0], &options);
    assert_eq!(trajectory.events().len(), 6);
    for (k, (event, y)) in trajectory.events().iter().enumerate() {
        let expected = if k % 2 == 0 { Crossing::Falling } else { Crossing::Rising };
        assert_eq!(event.crossing, expected);
        // The error of the run itself: 20 time units at 1e-13.
        assert!((event.t - (k as f64 + 0.5) * PI).abs() < 1e-11, "{}", event.t);
        assert!(y[0].abs() < 1e-12);
    }
}

#[test]
fn zeros_of_exact_functions_are_located_to_1e_12() {
    for options in ways(7.0) {
        let found = zeros(|t, _, g| g[0] = t * t - 2.0, &[BOTH], &options);
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - 2.0_f64.sqrt()).abs() < 1e-12 && found[0].2 == Crossing::Rising);
    }
}

#[test]
fn directions_are_respected_and_order_is_that_of_time() {
    let all: Values = |t, _, g| {
        g[0] = libm::cos(t);
        g[1] = libm::cos(t);
        g[2] = libm::cos(t);
    };
    for options in ways(9.0) {
        let found = zeros(all, &[RISING, BOTH, FALLING], &options);
        let order: Vec<_> = found.iter().map(|e| e.0).collect();
        assert_eq!(order, [1, 2, 0, 1, 1, 2]);
        assert!(found.windows(2).all(|w| w[0].1 <= w[1].1));
    }
}

#[test]
fn a_zero_at_the_start_does_not_count() {
    for options in ways(4.0) {
        let found = zeros(|t, _, g| g[0] = libm::sin(t), &[BOTH], &options);
        assert_eq!(found.len(), 1);
        assert!((found[0].1 - PI).abs() < 1e-12 && found[0].2 == Crossing::Falling);
        // Zero up to rounding: cos(π/2) = 6e-17.
        let found = zeros(|t, _, g| g[0] = libm::cos(t + PI / 2.0), &[BOTH], &options);
        assert_eq!(found.len(), 1);
        // Touching at the start.
        assert!(zeros(|t, _, g| g[0] = t * t, &[BOTH], &options).is_empty());
        assert!(zeros(|t, _, g| g[0] = libm::cos(t) - 1.0, &[BOTH], &options).is_empty());
        assert!(zeros(|_, _, g| g[0] = 0.0, &[BOTH], &options).is_empty());
    }
}

#[test]
fn zeros_on_the_border_of_steps_are_reported_once() {
    // Steps of 1/4 and 1/10 meet 1 exactly or to rounding; the zero is that of the grid too.
    for options in ways(2.0) {
        let found = zeros(|t, _, g| g[0] = t - 1.0, &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?}");
        assert!((found[0].1 - 1.0).abs() < 1e-12 && found[0].2 == Crossing::Rising);
        // The cubic is flat: its zero is known where its value is below rounding, 1e-16^(1/3).
        let found = zeros(|t, _, g| g[0] = (1.0 - t).powi(3), &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?}");
        assert!((found[0].1 - 1.0).abs() < 1e-5 && found[0].2 == Crossing::Falling);
    }
}

/// A function with one feature at `at`, for [`Shifted`].
type Feature = fn(f64) -> f64;

/// A clock that watches a feature at a given time.
struct Shifted {
    at: f64,
    feature: Feature,
    evaluations: usize,
}

impl System for Shifted {
    fn dimension(&self) -> usize {
        1
    }

    fn rates(&mut self, _t: f64, _y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates[0] = 1.0;
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &[BOTH]
    }

    fn event_values(
        &mut self,
        t: f64,
        _y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.evaluations += 1;
        values[0] = (self.feature)(t - self.at);
        Ok(())
    }
}

#[test]
fn features_near_the_border_of_a_step_are_found_wherever_they_lie() {
    let features: [(Feature, &[Crossing]); 6] = [
        (|s| s, &[Crossing::Rising]),
        (|s| libm::exp(-3.0 * s) - 1.0, &[Crossing::Falling]),
        (|s| s * s, &[Crossing::Touch]),
        (|s| libm::cos(s) - 1.0, &[Crossing::Touch]),
        (|s| s * s - 1e-10, &[Crossing::Falling, Crossing::Rising]),
        (|s| (s + 1e-5) * (s - 0.01), &[Crossing::Falling, Crossing::Rising]),
    ];
    // The border is at 1; a thousandth of a step, the reach beyond it, is 2.5e-4.
    let offsets =
        [0.0, 1e-16, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-6, 1e-5, 2e-5, 1.2e-4, 3e-4, 0.02];
    for (i, (feature, expected)) in features.into_iter().enumerate() {
        for offset in offsets.into_iter().flat_map(|d| [d, -d]) {
            let mut system = Shifted { at: 1.0 + offset, feature, evaluations: 0 };
            let options = OdeOptions {
                t1: 2.0,
                method: Method::Rk4,
                step: Some(0.25),
                ..OdeOptions::default()
            };
            let mut trajectory = Trajectory::default();
            integrate(&mut system, &[0.0], &options, &mut trajectory);
            let found: Vec<_> = trajectory.events().iter().map(|(e, _)| e.crossing).collect();
            assert_eq!(found, expected, "feature {i} at 1 {offset:+e}");
            let t = trajectory.events()[0].0.t;
            // The first of a pair lies 1e-5 before. A touch is known to 1e-16/(piece)², where a piece
            // of the step is 0.25/8/16 = 0.002.
            let (place, accuracy) = match expected {
                [_, _] => (-1e-5, 1e-11),
                [Crossing::Touch] => (0.0, 1e-10),
                _ => (0.0, 1e-12),
            };
            assert!(
                (t - system.at - place).abs() < accuracy,
                "feature {i} at 1 {offset:+e}: {t}"
            );
        }
    }
}

/// A clock that watches $\prod_i (t - z_i)$.
struct Product {
    zeros: Vec<f64>,
}

impl System for Product {
    fn dimension(&self) -> usize {
        1
    }

    fn rates(&mut self, _t: f64, _y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates[0] = 1.0;
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &[BOTH]
    }

    fn event_values(
        &mut self,
        t: f64,
        _y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        values[0] = self.zeros.iter().map(|z| t - z).product();
        Ok(())
    }
}

/// Up to seven zeros in (0.02, 2), some of them on a grid that steps meet too; no three within an eighth of a
/// step, the resolution promised.
fn some_zeros() -> impl Strategy<Value = Vec<f64>> {
    let gap = (0.0..1.0_f64, 0.0..1.0_f64, any::<bool>());
    vec(gap, 7).prop_map(|gaps| {
        let mut zeros: Vec<f64> = Vec::new();
        let mut t = 0.02;
        for (a, b, on_grid) in gaps {
            t += 0.04 + 0.5 * a * b;
            let z = if on_grid { (t * 40.0).round() / 40.0 } else { t };
            if z < 1.99 && zeros.last().is_none_or(|last| z - last > 0.03) {
                zeros.push(z);
            }
        }
        zeros
    })
}

/// A fixed step, or any.
fn some_step() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.25), Just(0.2), Just(0.1), Just(0.05), 0.05..0.25_f64]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn zeros_of_random_polynomials_are_found_whatever_the_steps(
        mut zeros in some_zeros(),
        step in some_step(),
        forward in any::<bool>(),
        controlled in prop::bool::weighted(0.33),
    ) {
        let (t0, t1) = if forward { (0.0, 2.0) } else { (2.0, 0.0) };
        let method = if controlled { Method::Dop853 } else { Method::Rk4 };
        let options = OdeOptions { t0, t1, method, step: Some(step), ..OdeOptions::default() };
        if controlled && zeros.len() > 1 {
            // Without errors the steps grow sixfold: only two zeros keep the promise for sure.
            zeros = vec![zeros[0], zeros[zeros.len() - 1]];
        }
        let mut trajectory = Trajectory::default();
        integrate(&mut Product { zeros: zeros.clone() }, &[t0], &options, &mut trajectory);
        if !forward {
            zeros.reverse();
        }
        let found: Vec<f64> = trajectory.events().iter().map(|(e, _)| e.t).collect();
        prop_assert_eq!(found.len(), zeros.len(), "{:?} for {:?}", found, zeros);
        for (t, z) in found.iter().zip(&zeros) {
            prop_assert!((t - z).abs() < 1e-12, "{} for {}", t, z);
        }
        prop_assert!(trajectory.events().iter().all(|(e, _)| e.crossing != Crossing::Touch));
        prop_assert!(trajectory.events().windows(2).all(|w| w[0].0.crossing != w[1].0.crossing));
    }
}

#[test]
fn extrema_far_from_zero_cost_little() {
    let mut system = Shifted { at: 0.0, feature: |s| 2.0 + libm::sin(3.0 * s), evaluations: 0 };
    let options =
        OdeOptions { t1: 100.0, method: Method::Rk4, step: Some(0.5), ..OdeOptions::default() };
    let outcome = integrate(&mut system, &[0.0], &options, &mut ());
    // Eleven points a step and one beyond; a search would take fifty.
    let per_step = system.evaluations / outcome.statistics.steps;
    assert!(per_step <= 13, "{per_step}");
}

#[test]
fn a_zero_at_the_very_end_counts() {
    for options in ways(1.0) {
        let found = zeros(|t, _, g| g[0] = t - 1.0, &[BOTH], &options);
        assert_eq!(found, [(0, 1.0, Crossing::Rising)]);
    }
}

#[test]
fn touching_zeros_are_called_so() {
    // At 1 on the border of steps, and at √2 within.
    for options in ways(2.0) {
        let found = zeros(|t, _, g| g[0] = (t - 1.0) * (t - 1.0), &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        assert!((found[0].1 - 1.0).abs() < 1e-12 && found[0].2 == Crossing::Touch);
        let touch: Values = |t, _, g| g[0] = libm::cos(t - 2.0_f64.sqrt()) - 1.0;
        let found = zeros(touch, &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        // Values fix it to the root of rounding, differences over a piece of the step to
        // 1e-16/(piece)²: the smallest step here is 0.037, a piece of it 0.001.
        assert!(
            (found[0].1 - 2.0_f64.sqrt()).abs() < 1e-9,
            "{:e}",
            found[0].1 - 2.0_f64.sqrt()
        );
        assert_eq!(found[0].2, Crossing::Touch);
        // A kink touches too.
        let found = zeros(|t, _, g| g[0] = (t - 0.7).abs(), &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        assert!((found[0].1 - 0.7).abs() < 1e-9 && found[0].2 == Crossing::Touch);
        let bent: Values = |t, _, g| g[0] = if t < 0.7 { 0.7 - t } else { 3.0 * (t - 0.7) };
        let found = zeros(bent, &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        assert!((found[0].1 - 0.7).abs() < 1e-9 && found[0].2 == Crossing::Touch);
        let bent: Values = |t, _, g| g[0] = if t < 0.7 { 0.7 - t } else { 1.01 * (t - 0.7) };
        let found = zeros(bent, &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        assert!((found[0].1 - 0.7).abs() < 1e-9 && found[0].2 == Crossing::Touch);
        // Who asks for one direction gets crossings only.
        assert!(zeros(touch, &[RISING, FALLING], &options).is_empty());
    }
}

#[test]
fn a_touch_among_small_steps_is_one_touch() {
    // In a step of 1e-3 the function is below 1e-6 near its zero, and rounding is 1e-10 of that.
    for step in [1e-2, 1e-3, PI / 2000.0] {
        let options = OdeOptions {
            t1: 3.0,
            method: Method::Rk4,
            step: Some(step),
            ..OdeOptions::default()
        };
        // The second is −3e-17 at its zero, by rounding.
        let touches: [Values; 2] = [
            |t, _, g| g[0] = 1.0 - libm::sin(t),
            |t, _, g| g[0] = 0.3 - 0.1 * libm::sin(t) - 0.2 * libm::sin(t),
        ];
        for touch in touches {
            let found = zeros(touch, &[BOTH], &options);
            assert_eq!(found.len(), 1, "{step} {found:?}");
            // Rounding over a piece of the step of 1e-5.
            assert!((found[0].1 - PI / 2.0).abs() < 1e-9 && found[0].2 == Crossing::Touch);
        }
    }
}

#[test]
fn near_misses_are_no_zeros_and_narrow_pairs_are_two() {
    for options in ways(2.0) {
        let miss: Values = |t, _, g| g[0] = (t - 0.6180) * (t - 0.6180) + 1e-9;
        assert!(zeros(miss, &[BOTH], &options).is_empty());
        // Zeros 2e-4 apart.
        let pair: Values = |t, _, g| g[0] = (t - 0.6180) * (t - 0.6180) - 1e-8;
        let found = zeros(pair, &[BOTH], &options);
        assert_eq!(found.len(), 2, "{options:?}");
        assert!((found[0].1 - 0.6179).abs() < 1e-11 && found[0].2 == Crossing::Falling);
        assert!((found[1].1 - 0.6181).abs() < 1e-11 && found[1].2 == Crossing::Rising);
    }
}

#[test]
fn several_zeros_in_one_long_step_are_found() {
    // One step of size 6 of an exactly solved system; the event oscillates with period π.
    let options = OdeOptions { t1: 6.0, step: Some(6.0), ..OdeOptions::default() };
    let found = zeros(|t, _, g| g[0] = libm::sin(2.0 * t) + 0.1, &[BOTH], &options);
    // sin 2t = −0.1 at 2t = π + δ, 2π − δ, 3π + δ; the next is beyond 6.
    assert_eq!(found.len(), 3);
    assert!((found[0].1 - 0.5 * (PI + libm::asin(0.1))).abs() < 1e-12);
}

#[test]
fn a_function_that_decays_has_no_zeros_and_one_that_stays_at_zero_has_one() {
    let options = OdeOptions { t1: 60.0, step: Some(0.5), ..OdeOptions::default() };
    assert!(zeros(|t, _, g| g[0] = libm::exp(-t), &[BOTH], &options).is_empty());
    for options in ways(3.0) {
        let found = zeros(|t, _, g| g[0] = (1.3 - t).max(0.0), &[BOTH], &options);
        assert_eq!(found.len(), 1, "{options:?} {found:?}");
        assert!((found[0].1 - 1.3).abs() < 1e-12 && found[0].2 == Crossing::Touch);
    }
}

#[test]
fn a_stopping_event_ends_the_run_at_its_zero() {
    let kinds = [BOTH, STOP, BOTH];
    let values: Values = |t, y, g| g.copy_from_slice(&[t - 0.5, y[0], t - 1.6]);
    let options = OdeOptions { t1: 20.0, tolerance: 1e-13, ..OdeOptions::default() };
    let (outcome, trajectory) =
        record(&mut oscillator().watching(&kinds, values), &[1.0, 0.0], &options);
    assert_eq!(outcome.stop, StopReason::Event(1));
    // The error of the run: two time units at 1e-13.
    assert!((outcome.t - PI / 2.0).abs() < 1e-12 && (outcome.y[1] + 1.0).abs() < 1e-12);
    let indices: Vec<_> = trajectory.events().iter().map(|(e, _)| e.index).collect();
    assert_eq!(indices, [0, 1]);
    assert_eq!(trajectory.events()[1].1, outcome.y);
    // Nothing beyond the event is ever shown.
    assert_eq!(trajectory.steps().last().unwrap().as_step().end(), outcome.t);
    assert_eq!(trajectory.state(outcome.t).unwrap(), outcome.y);
    assert!(trajectory.state(outcome.t + 1e-9).is_none());
}

#[test]
fn runs_backward_meet_events_in_their_own_order() {
    let options = OdeOptions { t0: 0.0, t1: -9.0, ..OdeOptions::default() };
    let found = zeros(|t, _, g| g[0] = libm::cos(t), &[BOTH], &options);
    let times: Vec<_> = found.iter().map(|e| -e.1 / PI).collect();
    assert_eq!(times.len(), 3);
    for (time, expected) in times.iter().zip([0.5, 1.5, 2.5]) {
        assert!((time - expected).abs() < 1e-12);
    }
    assert_eq!(found[0].2, Crossing::Falling);
    // All in one step.
    let options = OdeOptions { t1: -9.0, step: Some(9.0), ..OdeOptions::default() };
    let found = zeros(|t, _, g| g[0] = libm::cos(t), &[BOTH], &options);
    assert_eq!(found.len(), 3);
    assert!(found.windows(2).all(|w| w[0].1 > w[1].1));
}

/// Stops at the second event.
#[derive(Default)]
struct Second {
    count: usize,
    steps_after: usize,
}

impl Observer for Second {
    fn step(&mut self, _step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        self.steps_after += usize::from(self.count >= 2);
        Control::Continue
    }

    fn event(&mut self, _event: &LocatedEvent, _y: &[f64]) -> Control {
        self.count += 1;
        if self.count == 2 { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn an_observer_may_stop_at_an_event() {
    let mut system = oscillator().watching(&[BOTH], |_, y, g| g[0] = y[0]);
    let mut second = Second::default();
    let options = OdeOptions { t1: 100.0, ..OdeOptions::default() };
    let outcome = integrate(&mut system, &[1.0, 0.0], &options, &mut second);
    assert_eq!(
        (outcome.stop, second.count, second.steps_after),
        (StopReason::Interrupted, 2, 0)
    );
    assert!(outcome.t >= 1.5 * PI && outcome.t < 2.5 * PI);
}

#[test]
fn watching_does_not_change_the_motion() {
    let options = OdeOptions { t1: 30.0, ..OdeOptions::default() };
    let mut watched = oscillator().watching(&[BOTH], |_, y, g| g[0] = y[0] - 0.3);
    let a = integrate(&mut watched, &[1.0, 0.0], &options, &mut Trajectory::default());
    let b = integrate(&mut oscillator(), &[1.0, 0.0], &options, &mut ());
    assert_eq!(a.y, b.y);
}

/// Notes events, and has no use for what lies between the ends of steps.
struct Sparse(Vec<LocatedEvent>);

impl Observer for Sparse {
    fn wants_dense(&self, _start: f64, _end: f64) -> bool {
        false
    }

    fn event(&mut self, event: &LocatedEvent, _y: &[f64]) -> Control {
        self.0.push(*event);
        Control::Continue
    }
}

/// Steps far from all zeros are looked at on a cubic: the same events, to the bit, as with dense output
/// everywhere, for functions that cross, touch, come near, oscillate faster than the steps, stay far away,
/// and
/// have no value for a while; and fewer evaluations where the zeros are few.
#[test]
fn far_from_zero_nothing_is_missed() {
    let values: [Values; 7] = [
        |_, y, g| g[0] = y[0] - 0.9,
        |_, y, g| g[0] = 1.0 - y[0] * y[0],
        |_, y, g| g[0] = 1.0 + 1e-6 - y[0],
        |t, _, g| g[0] = libm::sin(9.0 * t),
        |t, _, g| g[0] = 40.0 - (t - 7.0) * (t - 7.0),
        |_, y, g| g[0] = 3.0 + y[0],
        |t, y, g| g[0] = if (5.0..6.0).contains(&t) { f64::NAN } else { y[1] + 0.3 },
    ];
    let options = OdeOptions { t1: 20.0, tolerance: 1e-9, ..OdeOptions::default() };
    for (k, values) in values.into_iter().enumerate() {
        let mut system = oscillator().watching(&[BOTH], values);
        let (dense, trajectory) = record(&mut system, &[1.0, 0.0], &options);
        let mut sparse = Sparse(Vec::new());
        let outcome = integrate(&mut system, &[1.0, 0.0], &options, &mut sparse);
        let all: Vec<LocatedEvent> = trajectory.events().iter().map(|(e, _)| *e).collect();
        assert_eq!(sparse.0, all, "function {k}");
        assert_eq!(outcome.y, dense.y);
        let (ours, theirs) = (outcome.statistics.evaluations, dense.statistics.evaluations);
        assert!(ours <= theirs, "function {k}: {ours} instead of {theirs}");
        // 3 of 15 evaluations a step, in all steps where nothing is near.
        let fewer = 6 * ours < 5 * theirs;
        assert!(k != 5 || fewer, "{ours} instead of {theirs}");
    }
}

/// Time alone, and a sum of waves $a \sin(\omega t + c)$ as the event function.
struct Waves {
    terms: Vec<[f64; 3]>,
}

impl Waves {
    fn value(&self, t: f64) -> f64 {
        self.terms.iter().map(|[a, w, c]| a * libm::sin(w * t + c)).sum()
    }
}

impl System for Waves {
    fn dimension(&self) -> usize {
        1
    }

    fn rates(&mut self, _t: f64, _y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates[0] = 1.0;
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &[BOTH]
    }

    fn event_values(
        &mut self,
        _t: f64,
        y: &[f64],
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        values[0] = self.value(y[0]);
        Ok(())
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Fast waves on a step as long as the run: wherever a fine grid shows a change of sign, there is an event.
    #[test]
    fn no_zero_of_a_fast_wave_is_missed_on_a_long_step(
        decades in 0_i32..4,
        waves in vec((0.2_f64..1.2, 0.1_f64..1.1, 0.0_f64..6.3), 1..4),
    ) {
        let fastest = 10_f64.powi(decades);
        let terms = waves.iter().map(|&(a, w, c)| [a, fastest * w, c]).collect();
        let mut system = Waves { terms };
        let options = OdeOptions { t1: 10.0, step: Some(10.0), ..OdeOptions::default() };
        let mut trajectory = Trajectory::default();
        integrate(&mut system, &[0.0], &options, &mut trajectory);
        let mut times: Vec<f64> = trajectory.events().iter().map(|(e, _)| e.t).collect();
        times.sort_by(f64::total_cmp);
        let count = (2000.0 * fastest) as usize;
        let at = |i: usize| 10.0 * i as f64 / count as f64;
        for i in 0..count {
            if system.value(at(i)) * system.value(at(i + 1)) < 0.0 {
                let k = times.partition_point(|&t| t < at(i) - 1e-12);
                prop_assert!(
                    times.get(k).is_some_and(|&t| t <= at(i + 1) + 1e-12),
                    "no event between {} and {}", at(i), at(i + 1)
                );
            }
        }
    }
}

#[test]
fn a_pole_is_no_zero() {
    let options = OdeOptions { t1: 3.0, step: Some(3.0), ..OdeOptions::default() };
    // tan has zeros at 0 and π, which are not within, and a pole at π/2.
    let found = zeros(|t, _, g| g[0] = libm::tan(t), &[BOTH], &options);
    assert!(found.is_empty(), "{found:?}");
    let found = zeros(|t, _, g| g[0] = (t - 2.0) / (t - 1.0), &[BOTH], &options);
    assert!(found.len() == 1 && (found[0].1 - 2.0).abs() < 1e-12, "{found:?}");
}
