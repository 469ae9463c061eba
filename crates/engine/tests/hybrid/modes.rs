//! Modes, conditions, and what else events may change.

use std::f64::consts::PI;

use pfaff::{Run, StopReason};

use super::{codes, last, motion, sound};

/// Stick and slip on a belt: the period is 2 (F_s − F_k)/(k v) + 3π/2 if F_s − F_k = v.
#[test]
fn a_stick_slip_oscillator_has_its_period() {
    let text = "coordinates x\nparameters v = 0.2, Fs = 0.6, Fk = 0.4\nlagrangian x'^2/2 - x^2/2\n\
        mode stick, slip\nconstraint grip: x' = v in stick\nforce x: Fk in slip\n\
        event rising breaks: lambda(grip) - Fs in stick\nevent rising catches: x' - v in slip\n\
        on breaks: mode = slip\non catches: mode = stick\ninitial x' = v\nsolve t = 0..60, tolerance = 1e-12";
    let motion = sound(text);
    let times: Vec<f64> =
        motion.events.iter().filter(|e| e.name == "breaks").map(|e| e.t).collect();
    assert_eq!(times.len(), 9);
    assert!((times[0] - 3.0).abs() < 1e-12);
    for pair in times.windows(2) {
        let period = 2.0 + 1.5 * PI;
        assert!((pair[1] - pair[0] - period).abs() < 1e-10, "{}", pair[1] - pair[0] - period);
    }
}

/// The same by a condition on its own multiplier.
#[test]
fn a_constraint_comes_and_goes_by_its_multiplier() {
    let text = "coordinates x\nparameters v = 0.2, Fs = 0.6\nlagrangian x'^2/2 - x^2/2\n\
        constraint grip: x' = v when abs(lambda(grip)) < Fs\nforce x: 0.1\ninitial x' = v\nsolve t = 0..40";
    let motion = sound(text);
    // It breaks at x − 0.1 = F_s, and catches again at x − 0.1 = −F_s.
    let x = &motion.q[0].values;
    let largest = x.iter().fold(0.0_f64, |m, x| m.max(*x));
    let amplitude = 0.6_f64.hypot(0.2);
    assert!(largest <= 0.1 + amplitude + 1e-9 && largest > 0.1 + 0.99 * amplitude);
    let sticks = motion.v[0].values.iter().filter(|v| (**v - 0.2).abs() < 1e-14).count();
    assert!(sticks > 60, "{sticks}");
}

/// A constraint on positions that begins at an event takes the velocity across it, and the energy is booked.
#[test]
fn a_constraint_begins_with_an_impact() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nmode free, guided\nconstraint rail: y' = 0 in guided\n\
        event rising enters: x - 1\non enters: mode = guided\ninitial x' = 1, y' = 0.5\nsolve t = 0..3";
    let motion = sound(text);
    assert!((last(&motion.q, "y") - 0.5).abs() < 1e-12 && last(&motion.v, "y").abs() < 1e-14);
    assert!((motion.work.last().expect("a row") + 0.125).abs() < 1e-12);
    let rows = motion.t.iter().filter(|&&t| (t - 1.0).abs() < 1e-12).count();
    assert_eq!(rows, 2);
}

#[test]
fn a_condition_on_the_state_switches_a_constraint() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint rail: y' = 0 when x > 1 and x < 2\n\
        force y: 1\ninitial x' = 1\nsolve t = 0..3";
    let motion = sound(text);
    // y = 1/2 at x = 1, stays, and falls freely for 1.
    assert!((last(&motion.q, "y") - 1.0).abs() < 1e-10, "{}", last(&motion.q, "y"));
}

/// Where both sides of a comparison stay equal, `<=` holds and `<` does not. y falls freely with 1 while it is not
/// kept; x = x₀ + v₀t.
#[test]
fn conditions_hold_where_both_sides_stay_equal() {
    let cases = [
        // Kept until x = 0 at t = 1, or never.
        ("max(x, 0) <= 0", -1.0, 1.0, 0.5),
        ("max(x, 0) < 0", -1.0, 1.0, 2.0),
        ("0 >= max(x, 0)", -1.0, 1.0, 0.5),
        ("min(x, 0) >= 0", 1.0, -1.0, 0.5),
        ("abs(x) - x <= 0", 1.0, -1.0, 0.5),
        ("sqrt(x^2) - x <= 0", 1.0, -1.0, 0.5),
        ("abs(x) - x < 0", 1.0, -1.0, 2.0),
        ("abs(x) <= -x", -1.0, 1.0, 0.5),
        ("if(x > 0, 1, 0) <= 0", -1.0, 1.0, 0.5),
        ("max(x, 0.3) <= 0.3", -0.7, 1.0, 0.5),
        ("max(x, a) <= a", -0.7, 1.0, 0.5),
        ("max(t, 1) <= 1", 0.0, 1.0, 0.5),
        // It begins at x = 0.
        ("max(x, 0) <= 0", 1.0, -1.0, 0.5),
        ("max(-1, min(x, 1)) >= 1", 0.0, 1.0, 0.5),
        // Kept for half of the time.
        ("max(x, 0) <= 0 and t < 0.5", -1.0, 1.0, 1.125),
        // Free from 1 to 1.5 only, and what was fast then is lost.
        ("max(x, 0) <= 0 or t > 1.5", -1.0, 1.0, 0.125),
        // At zero in the beginning.
        ("x <= 0", 0.0, 1.0, 2.0),
        ("x <= 0", 0.0, -1.0, 0.0),
        ("x < 0", 0.0, -1.0, 0.0),
        ("x <= 0", 0.0, 0.0, 0.0),
        ("x < 0", 0.0, 0.0, 2.0),
        ("abs(x) <= 0", 0.0, 0.0, 0.0),
        ("x > 0", 0.0, 0.0, 2.0),
    ];
    for (when, x, v, y) in cases {
        let text = format!(
            "coordinates x, y\nparameters a = 0.3\nlagrangian (x'^2 + y'^2)/2\nforce y: 1\n\
             constraint kept: y' = 0 when {when}\ninitial x = {x}, x' = {v}, y' = 0\nsolve t = 0..2"
        );
        let motion = sound(&text);
        let found = last(&motion.q, "y");
        assert!((found - y).abs() < 1e-10, "{when} from {x} with {v}: {found} and not {y}");
    }
}

#[test]
fn an_event_sets_parameters_and_ends_the_run_after_some_times() {
    let text = "coordinates y\nparameters g = 9.81, e = 1\nlagrangian y'^2/2 - g*y\nevent falling hit: y\n\
        on hit: y' = -e*y', e = e/2, stop = 3\nobserve now = e\ninitial y = 1\nsolve t = 0..10";
    let motion = motion(text, &Run::default());
    assert_eq!(motion.stop.reason, StopReason::Event("hit".into()));
    let fall = (2.0_f64 / 9.81).sqrt();
    let known = [fall, 3.0 * fall, 3.0 * fall + 2.0 * 0.5 * fall];
    for (event, t) in motion.events.iter().zip(known) {
        assert!((event.t - t).abs() < 1e-12, "{} and not {t}", event.t);
    }
    assert_eq!(motion.events.len(), 3);
    assert_eq!(last(&motion.observed, "now"), 0.25);
}

/// Events of other modes do not count.
#[test]
fn events_count_in_their_modes() {
    let text = "coordinates x\nlagrangian x'^2/2\nmode a, b\nevent early: x - 1 in b\nevent switches: x - 2\n\
        event late: x - 3 in b\non switches: mode = b\ninitial x' = 1\nsolve t = 0..4";
    let names: Vec<String> = sound(text).events.iter().map(|e| e.name.clone()).collect();
    assert_eq!(names, ["switches", "late"]);
}

#[test]
fn mistakes_are_told() {
    let head = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\ninitial x' = 1\nsolve t = 0..2\n";
    let cases = [
        ("constraint c: y' = 0 in a", "E0453"),
        ("mode a, b\nforce x: 1 in c", "E0453"),
        ("mode a, a", "E0202"),
        ("mode x", "E0202"),
        ("event e: x - 1 when x > 0", "E0453"),
        ("constraint c: y' = 0 when x", "E0453"),
        ("mode a, b\nevent e: x - 1\non e: mode = c", "E0453"),
        ("mode a, b\nevent e: x - 1\non e: mode = a, mode = b", "E0450"),
        ("event e: x - 1\non e: x' = 0, stop = 0", "E0450"),
        ("mode a, b\nconstraint c: y = 1 in b\nevent e: x - 1\non e: mode = b", "E0640"),
    ];
    for (rest, code) in cases {
        assert_eq!(codes(&format!("{head}{rest}")), [code], "{rest}");
    }
}
