//! Where events are: on the motion itself, whatever the tolerance.

use super::systems::{Values, oscillator, record};
use pfaff_solver::{Crossing, Direction, EventKind, LocatedEvent, Method, OdeOptions};

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

/// The events of the square of a position that vanishes at a time. Dense output is zero to 10⁻¹⁴ there, too.
fn touches(at: f64, options: &OdeOptions) -> Vec<LocatedEvent> {
    let mut system = oscillator().watching(&[BOTH; 1], |_, y, g| g[0] = y[0] * y[0]);
    let start = [libm::cos(PHASE - at), -libm::sin(PHASE - at)];
    let (_, trajectory) = record(&mut system, &start, options);
    trajectory.events().iter().map(|&(event, _)| event).collect()
}

/// A touch is where the rate of the function vanishes, which is found by differences over steps from the place where
/// dense output has it.
#[test]
fn a_touch_in_the_first_step_is_where_the_rate_vanishes() {
    let options = OdeOptions {
        t1: 1.6,
        method: Method::Dop853,
        tolerance: 1e-13,
        step: Some(0.25),
        ..OdeOptions::default()
    };
    for at in [0.06_f64, 0.11, 0.17] {
        let touches = touches(at, &options);
        let is_one = matches!(touches[..], [LocatedEvent { crossing: Crossing::Touch, .. }]);
        assert!(is_one, "{at}: {touches:?}");
        // Rounding, divided by the fiftieth of a step over which the differences go.
        assert!((touches[0].t - at).abs() < 1e-12, "{at}: off by {:e}", touches[0].t - at);
    }
}

/// So it is where dense output is off by 10⁻⁷.
#[test]
fn a_touch_on_a_long_step_is_where_the_rate_vanishes() {
    let options = OdeOptions {
        t1: 3.0,
        method: Method::Dop853,
        tolerance: 1e-3,
        step: Some(1.0),
        ..OdeOptions::default()
    };
    for at in [0.23_f64, 0.45, 0.71] {
        let touches = touches(at, &options);
        let event = touches.first().expect("a touch");
        assert_eq!(event.crossing, Crossing::Touch, "{at}: {event:?}");
        // Rounding, divided by the fiftieth of a step over which the differences go.
        assert!((event.t - at).abs() < 1e-12, "{at}: off by {:e}", event.t - at);
    }
}

/// Late, early and backward in time as well: what is looked at are parts of a step and not of the time.
#[test]
fn places_are_right_to_rounding_whenever_they_are() {
    for (t0, sign) in [(512.0, 1.0), (-512.0, 1.0), (512.0, -1.0), (-512.0, -1.0), (0.0, -1.0)]
    {
        let options = OdeOptions {
            t0,
            t1: t0 + 3.0 * sign,
            tolerance: 1e-3,
            step: Some(1.0),
            ..OdeOptions::default()
        };
        for at in [0.23_f64, 0.45, 0.71] {
            let start = [libm::cos(PHASE - at), -sign * libm::sin(PHASE - at)];
            let place = |values: Values| {
                let mut system = oscillator().watching(&[BOTH; 1], values);
                let (_, trajectory) = record(&mut system, &start, &options);
                let (event, _) = trajectory.events().first().expect("an event");
                (sign * (event.t - t0) - at, event.crossing)
            };
            let (off, _) = place(|_, y, g| g[0] = y[0]);
            // The rounding of time is 10⁻¹³ there; dense output is wrong by 10⁻⁷.
            assert!(off.abs() < 4e-13, "{t0} {sign} {at}: off by {off:e}");
            let (off, crossing) = place(|_, y, g| g[0] = y[0] * y[0]);
            assert_eq!(crossing, Crossing::Touch, "{t0} {sign} {at}");
            // That rounding, divided by the fiftieth of a step over which the differences go.
            assert!(off.abs() < 1e-11, "{t0} {sign} {at}: a touch is off by {off:e}");
        }
    }
}

/// Where the cosine vanishes.
const PHASE: f64 = std::f64::consts::FRAC_PI_2;
