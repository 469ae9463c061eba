//! Where events are: on the motion itself, whatever the tolerance.

use super::systems::{oscillator, record};
use pfaff_solver::{Direction, EventKind, Method, OdeOptions};

const BOTH: EventKind =
    EventKind { direction: Direction::Both, stop: false, jump: false, barrier: false };

/// In the first step, which begins at an exact state, an event is right to rounding: dense output of a step of length
/// one is wrong by 1e-7.
#[test]
fn an_event_in_the_first_step_is_right_to_rounding() {
    let options = OdeOptions {
        t1: 3.0,
        method: Method::Dop853,
        tolerance: 1e-3,
        step: Some(1.0),
        ..OdeOptions::default()
    };
    for at in [0.2_f64, 0.45, 0.7, 0.93] {
        let mut system = oscillator().watching(&[BOTH; 1], |_, y, g| g[0] = y[0]);
        let start = [libm::cos(PHASE - at), -libm::sin(PHASE - at)];
        let (_, trajectory) = record(&mut system, &start, &options);
        let (event, _) = trajectory.events().first().expect("a zero");
        // Some forty roundings of a step, at a slope of one.
        assert!((event.t - at).abs() < 1e-14, "{at}: off by {:e}", event.t - at);
    }
}

/// Where the cosine vanishes.
const PHASE: f64 = std::f64::consts::FRAC_PI_2;
