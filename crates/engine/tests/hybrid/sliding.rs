//! Motions that stay at a switch of something without inertia: `equation` models and states, with closed forms.

use pfaff::{Run, StopReason, Verdict};

use super::{codes, last, motion, sound};

/// Heating by 2 against a loss of 1 at 20°: it warms up by an exponential, and then stays.
#[test]
fn a_thermostat_stays_at_its_temperature() {
    let text = "coordinates T\nequation T' = -0.1*(T - 10) + if(T < 20, 2, 0)\ninitial T = 15\nsolve t = 0..30";
    let run = sound(text);
    assert_eq!(run.stop.reason, StopReason::End);
    assert_eq!(last(&run.q, "T"), 20.0);
    // T = 30 − 15 exp(−t/10) until t = 10 log(3/2) = 4.05.
    let at = |t: f64| run.t.iter().position(|&x| x == t).expect("an output");
    let row = at(3.0);
    let expected = 30.0 - 15.0 * libm::exp(-run.t[row] / 10.0);
    assert!((run.q[0].values[row] - expected).abs() < 1e-9);
}

/// The same as a state beside a Lagrangian, whose rate is a constraint with a branch.
#[test]
fn a_state_stays_at_its_switch() {
    let text = "coordinates x\nstate T: -0.1*(T - 10) + if(T < 20, 2, 0)\nlagrangian x'^2/2\n\
                initial T = 15, x' = 1\nsolve t = 0..30";
    let run = sound(text);
    assert!((last(&run.q, "T") - 20.0).abs() < 1e-12);
    assert!((last(&run.q, "x") - 30.0).abs() < 1e-9);
}

/// Where the loss becomes more than the heating, it leaves the switch: outside it is 18 − 2t, and heating by 2 holds 20
/// while 0.1·(20 − outside) ≤ 2, until t = 9.
#[test]
fn a_thermostat_gives_up() {
    let text = "coordinates T\nequation T' = -0.1*(T - (18 - 2*t)) + if(T < 20, 2, 0)\n\
                initial T = 20\nsolve t = 0..19";
    let run = sound(text);
    // With u = t − 9: T′ = −0.1 T − 0.2 u + 2, T(0) = 20, so T = 40 − 2u − 20 exp(−u/10).
    let expected = 40.0 - 20.0 - 20.0 * libm::exp(-1.0);
    assert!((last(&run.q, "T") - expected).abs() < 1e-8, "{}", last(&run.q, "T"));
    let row = run.t.iter().position(|&t| t >= 8.0).expect("an output");
    assert!((run.q[0].values[row] - 20.0).abs() < 1e-9);
}

/// Two at once: A stays at 1, and then B at 2.
#[test]
fn two_thermostats_stay_together() {
    let text = "coordinates A, B\nequation A' = -A + if(A < 1, 3, 0)\n\
                equation B' = -2*(B - A) + if(B < 2, 4, 0)\nsolve t = 0..5";
    let run = sound(text);
    assert!((last(&run.q, "A") - 1.0).abs() < 1e-11);
    assert!((last(&run.q, "B") - 2.0).abs() < 1e-11);
}

/// A relay of second order slides along x′ = −x to rest: x = exp(−t).
#[test]
fn a_relay_slides() {
    let text =
        "coordinates x\nequation x'' = -2*sign(x' + x)\ninitial x = 1, x' = -1\nsolve t = 0..3";
    let run = sound(text);
    assert!((last(&run.q, "x") - libm::exp(-3.0)).abs() < 1e-9);
}

/// Dry friction of an `equation` model holds: x stops at 0.2 after half a swing from 1 to −0.6 and back.
#[test]
fn dry_friction_of_an_equation_holds() {
    let text =
        "coordinates x\nequation x'' = -x - 0.2*sign(x')\ninitial x = 1\nsolve t = 0..10";
    let run = sound(text);
    assert!((last(&run.q, "x") - 0.2).abs() < 1e-9, "{}", last(&run.q, "x"));
    assert!(last(&run.v, "x").abs() < 1e-12);
}

/// Two signs that twist a motion into the origin: from x the next turn is at −x/3, so that times add up to a geometric
/// series: √(2/3)(1 + …). Beyond, the equations do not say how it goes on; the run ends there.
#[test]
fn switches_that_accumulate_end_the_run() {
    let text =
        "coordinates x\nequation x'' = -2*sign(x) - sign(x')\ninitial x = 1\nsolve t = 0..20";
    let run = motion(text, &Run::default());
    assert_eq!(
        (run.stop.reason.clone(), run.audit.verdict),
        (StopReason::Singular, Verdict::Pass)
    );
    // Down with 1 (against the velocity) from 1 to 0, then 3 up to the turn: v² = 2x, and x₁ = v²/6 = x/3.
    let quarter = 2.0_f64.sqrt() * (1.0 + 1.0 / 3.0);
    let end = quarter / (1.0 - (1.0_f64 / 3.0).sqrt());
    assert!((run.stop.t - end).abs() < 1e-5 * end, "{} {end}", run.stop.t);
}

/// A relay with inertia that comes to rest at its switch switches ever faster: the number of switches doubles again and
/// again in the same time, so that the run is given up. By then S is at 18 but for the last swings.
#[test]
fn a_thermostat_with_a_slow_sensor_is_given_up() {
    let text = "coordinates T, S\nequation T' = -(T - 5)/3 + if(S < 18, 16, 0)\nequation S' = (T - S)/0.5\n\
                initial T = 6, S = 6\nsolve t = 0..40";
    let run = motion(text, &Run::default());
    assert_eq!(run.stop.reason, StopReason::MaxSteps);
    assert!((5.0..20.0).contains(&run.stop.t), "{}", run.stop.t);
    assert!((last(&run.q, "S") - 18.0).abs() < 1e-3, "{}", last(&run.q, "S"));
}

/// A mass at rest at the end of a spring that only pushes: x = −(1 − cos 10t)/100 below it. Both x and x' are zero at
/// the start, and the side to which the mass leaves decides the branch; with a force that grows as t, its third
/// derivative does.
#[test]
fn a_mass_at_rest_at_a_kink_leaves_to_its_side() {
    let end = 3.0_f64;
    let falls = -0.01 * (1.0 - libm::cos(10.0 * end));
    for force in ["-1 - 100*min(x, 0)", "-1 - 50*(x - abs(x))", "-1 - if(x < 0, 100*x, 0)"] {
        let text =
            format!("coordinates x\nlagrangian x'^2/2\nforce x: {force}\nsolve t = 0..3");
        let run = sound(&text);
        assert!((last(&run.q, "x") - falls).abs() < 1e-9, "{force}: {}", last(&run.q, "x"));
    }
    let run = sound("coordinates x\nequation x'' = -t - 100*min(x, 0)\nsolve t = 0..3");
    let expected = -0.01 * (end - libm::sin(10.0 * end) / 10.0);
    assert!((last(&run.q, "x") - expected).abs() < 1e-9, "{}", last(&run.q, "x"));
    // Pushed back from both sides, which needs another force at rest.
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: -sign(x) - 0.5*x'\nsolve t = 0..3";
    assert_eq!(codes(text), ["E0603"]);
}
