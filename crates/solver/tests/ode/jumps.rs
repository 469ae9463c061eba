//! Jumps of the state: a ball that bounces, to where its bounces accumulate, and one that stays or leaves.

use pfaff_solver::{
    Control, DenseStep, Direction, EvalError, EventKind, LocatedEvent, Observer, OdeOptions,
    Outcome, StopReason, System, integrate,
};

/// ÿ = a(t) above a floor s(t), with a coordinate x beside it; each impact leaves a part of the relative velocity.
struct Ball {
    acceleration: fn(f64) -> f64,
    floor: fn(f64) -> [f64; 2],
    /// What impacts leave, in turns.
    restitution: Vec<f64>,
    impacts: usize,
    kind: [EventKind; 1],
}

impl Ball {
    fn new(restitution: &[f64], is_barrier: bool) -> Self {
        let kind = EventKind {
            direction: Direction::Falling,
            jump: true,
            barrier: is_barrier,
            ..EventKind::default()
        };
        Self {
            acceleration: |_| -1.0,
            floor: |_| [0.0, 0.0],
            restitution: restitution.to_vec(),
            impacts: 0,
            kind: [kind],
        }
    }
}

impl System for Ball {
    fn dimension(&self) -> usize {
        3
    }

    fn rates(&mut self, t: f64, y: &[f64], rates: &mut [f64]) -> Result<(), EvalError> {
        rates.copy_from_slice(&[y[1], (self.acceleration)(t), -0.25]);
        Ok(())
    }

    fn events(&self) -> &[EventKind] {
        &self.kind
    }

    fn event_values(&mut self, t: f64, y: &[f64], values: &mut [f64]) -> Result<(), EvalError> {
        values[0] = y[0] - (self.floor)(t)[0];
        Ok(())
    }

    fn event_sizes(&mut self, t: f64, y: &[f64], sizes: &mut [f64]) {
        sizes[0] = y[0].abs().max((self.floor)(t)[0].abs());
    }

    fn jump(
        &mut self,
        _events: &[usize],
        t: f64,
        y: &mut [f64],
        rates: &mut [f64],
    ) -> Result<bool, EvalError> {
        let left = self.restitution[self.impacts % self.restitution.len()];
        self.impacts += 1;
        let [height, speed] = (self.floor)(t);
        rates[0] = -left * (y[1] - speed);
        (y[0], y[1]) = (height, speed + rates[0]);
        Ok(true)
    }
}

/// The times of the events.
#[derive(Default)]
struct Times(Vec<f64>);

impl Observer for Times {
    fn step(&mut self, _step: &DenseStep<'_>, _system: &mut dyn System) -> Control {
        Control::Continue
    }

    fn event(&mut self, event: &LocatedEvent, _y: &[f64]) -> Control {
        self.0.push(event.t);
        Control::Continue
    }
}

fn run(ball: &mut Ball, t0: f64, length: f64, height: f64) -> (Outcome, Vec<f64>) {
    let mut times = Times::default();
    let options = OdeOptions { t0, t1: t0 + length, tolerance: 1e-12, ..OdeOptions::default() };
    let outcome = integrate(ball, &[height, 0.0, 3.0], &options, &mut times);
    (outcome, times.0)
}

/// Impacts of a ball from the height 1/2: at 1, then after flights of 2e, 2e², …
#[test]
fn impacts_are_where_parabolas_end() {
    for (t0, is_barrier) in [(0.0, false), (0.0, true), (40.0, true), (-7.0, true)] {
        let mut ball = Ball::new(&[0.9], is_barrier);
        let (outcome, times) = run(&mut ball, t0, 9.0, 0.5);
        let mut expected = vec![t0 + 1.0];
        while let Some(&last) = expected.last() {
            let flight = 2.0 * 0.9_f64.powi(expected.len() as i32);
            if last + flight > t0 + 9.0 {
                break;
            }
            expected.push(last + flight);
        }
        assert_eq!(outcome.stop, StopReason::End);
        assert_eq!(times.len(), expected.len(), "{t0}: {times:?}");
        for (found, expected) in times.iter().zip(&expected) {
            // Rounding of each velocity goes on into the next flight.
            assert!((found - expected).abs() < 1e-12 * (10.0 + t0.abs()), "{found} {expected}");
        }
    }
}

/// Bounces with 1 + 2e/(1 − e) as their end: the run ends there as soon as what is left is a billionth, with the state
/// that the ball has there.
#[test]
fn bounces_end_where_they_accumulate() {
    for t0 in [0.0, 30.0, -30.0] {
        for e in [0.5, 0.8, 0.2] {
            for is_barrier in [false, true] {
                let mut ball = Ball::new(&[e], is_barrier);
                let (outcome, times) = run(&mut ball, t0, 100.0, 0.5);
                let length = 1.0 + 2.0 * e / (1.0 - e);
                assert_eq!(outcome.stop, StopReason::Singular, "{e}");
                assert_eq!(outcome.accumulated, Some(0), "{e}");
                // Flights are known to the rounding of time, of which the ratio makes more.
                let off = (outcome.t - t0 - length).abs();
                assert!(off < 1e-10, "{t0} {e} {is_barrier}: {off:e}");
                let x = 3.0 - 0.25 * length;
                assert!((outcome.y[2] - x).abs() < 1e-10, "{t0} {e}: {:?}", outcome.y);
                assert!(outcome.y[0].abs() < 1e-12 && outcome.y[1].abs() < 1e-7);
                // The first impact after which less than a billionth is left.
                let left = |k: usize| 2.0 * e.powi(k as i32) / (1.0 - e);
                let first = (1..1000).find(|&k| left(k) <= 1e-9 * (length - left(k)));
                let first = first.expect("what is left decreases");
                assert!(times.len().abs_diff(first) <= 1, "{t0} {e}: {} {first}", times.len());
            }
        }
    }
}

/// Where flights have no one ratio, what comes next is not known: the impacts themselves are followed.
#[test]
fn bounces_without_a_ratio_are_followed() {
    let mut ball = Ball::new(&[0.5, 0.501], true);
    let (outcome, times) = run(&mut ball, 5.0, 100.0, 0.5);
    let both = 0.5 * 0.501;
    let end = 5.0 + 1.0 + 2.0 * (0.5 + both) / (1.0 - both);
    assert!((outcome.t - end).abs() < 1e-9, "{} {end}", outcome.t);
    assert_ne!(outcome.stop, StopReason::End);
    // The part that a steady ratio would have left out: a billionth after 31 impacts.
    assert!(times.len() > 36, "{}", times.len());
}

/// Without anything left of its velocity the ball stays: a motion through the floor is none, and the run ends.
#[test]
fn what_stays_does_not_fall_through() {
    for t0 in [0.0, 11.0] {
        let mut ball = Ball::new(&[0.0], false);
        let (outcome, times) = run(&mut ball, t0, 5.0, 0.5);
        assert_eq!((outcome.stop, outcome.accumulated), (StopReason::Singular, Some(0)));
        assert_eq!(times.len(), 1);
        assert!((outcome.t - t0 - 1.0).abs() < 1e-12 * (1.0 + t0), "{}", outcome.t);
    }
}

/// What is pulled away again by then leaves, also from a floor that moves.
#[test]
fn what_is_pulled_away_leaves() {
    // y = ½ − t² + t³/3 comes to zero at the root below, where it has the acceleration −2 + 2t.
    let mut ball = Ball::new(&[0.0], false);
    ball.acceleration = |t| if t < 0.9 { -2.0 } else { 2.0 };
    let (outcome, times) = run(&mut ball, 0.0, 2.0, 0.64);
    // It falls 0.64 in 0.8: before the pull turns, so it stays.
    assert_eq!((outcome.stop, times.len()), (StopReason::Singular, 1));
    let mut ball = Ball::new(&[0.0], false);
    ball.acceleration = |t| if t < 0.7 { -2.0 } else { 2.0 };
    let (outcome, times) = run(&mut ball, 0.0, 2.0, 0.64);
    // Velocity −1.4 at 0.7, and 0.15 above the floor: there after δ with δ² − 1.4δ + 0.15 = 0.
    let hit = 0.7 + 0.7 - (0.49_f64 - 0.15).sqrt();
    assert_eq!((outcome.stop, times.len()), (StopReason::End, 1), "{outcome:?}");
    assert!((times[0] - hit).abs() < 1e-9, "{times:?} {hit}");
    assert!((outcome.y[0] - (2.0 - hit) * (2.0 - hit)).abs() < 1e-8, "{:?}", outcome.y);
    // A floor that sinks ever faster: the ball stays behind.
    let mut ball = Ball::new(&[0.0], false);
    ball.acceleration = |_| -1.0;
    ball.floor = |t| [0.5 - t - 2.0 * (t - 1.0) * (t - 1.0), -1.0 - 4.0 * (t - 1.0)];
    let (outcome, times) = run(&mut ball, 1.0, 1.0, -0.25);
    assert_eq!(times.len(), 0, "{outcome:?}");
    assert_eq!(outcome.stop, StopReason::End);
}
