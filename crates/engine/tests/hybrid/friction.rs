//! Dry friction: stick and slip, against closed forms.

use std::f64::consts::PI;

use pfaff::{Run, Verdict};

use super::{last, sound};
use crate::support;

const G: f64 = 9.81;

/// A block that slides comes to rest after v/(μg), v²/(2μg) further, and stays.
#[test]
fn a_block_slides_to_rest() {
    let text = "coordinates x, y\nparameters g = 9.81, mu = 0.3\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
        contact floor: y >= 0, friction = mu\ninitial x' = 2\nsolve t = 0..2";
    let motion = sound(text);
    assert!((last(&motion.q, "x") - 4.0 / (0.6 * G)).abs() < 1e-12);
    assert!(last(&motion.v, "x").abs() < 1e-15);
    // While it slides, friction is −μ times what the floor carries; then it is nothing.
    let friction =
        motion.multipliers.iter().find(|s| s.name == "friction(floor)").expect("friction");
    assert!((friction.values[10] + 0.3 * G).abs() < 1e-12);
    assert!(friction.values[200].abs() < 1e-12);
    // The work of friction is the energy that was there.
    assert!((motion.work.last().expect("a row") + 2.0).abs() < 1e-12);
}

/// On an incline a block is held below the angle of friction, and slides with g (sin α − μ cos α) above it.
#[test]
fn a_block_on_an_incline_holds_or_slides() {
    let block = |α: f64| {
        format!(
            "coordinates x, y\nparameters g = 9.81, al = {α}\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
             contact ramp: y*cos(al) + x*sin(al) >= 0, friction = 0.5\nsolve t = 0..1"
        )
    };
    let held = sound(&block(0.4));
    assert!(last(&held.q, "x").abs() < 1e-14);
    let slides = sound(&block(0.6));
    let a = G * (libm::sin(0.6) - 0.5 * libm::cos(0.6));
    let along = last(&slides.q, "x").hypot(last(&slides.q, "y"));
    assert!((along - a / 2.0).abs() < 1e-10, "{along}");
}

/// A spring with dry friction F: each half oscillation takes 2F/k from the amplitude, until the spring cannot move
/// it: 1 → −0.7 → 0.4 → −0.1, at t = 3π.
#[test]
fn dry_friction_holds_an_oscillator() {
    for force in ["force x: -0.15*sign(x')", "dissipation 0.15*abs(x')"] {
        let text = format!(
            "coordinates x\nlagrangian x'^2/2 - x^2/2\n{force}\ninitial x = 1\nsolve t = 0..20"
        );
        let motion = sound(&text);
        assert!((last(&motion.q, "x") + 0.1).abs() < 1e-10, "{}", last(&motion.q, "x"));
        assert_eq!(last(&motion.v, "x"), 0.0);
        let rests = motion.t.iter().zip(&motion.v[0].values).filter(|(_, v)| **v == 0.0);
        let first = rests.map(|(t, _)| *t).find(|t| *t > 0.1).expect("it rests");
        assert!((0.0..0.11).contains(&(first - 3.0 * PI)));
    }
}

/// Sliding on a surface of the velocities: x' = −x is kept by a switching force until the end.
#[test]
fn a_sliding_mode_is_exact() {
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: -2*sign(x' + x)\ninitial x = 1, x' = 0\nsolve t = 0..6";
    let motion = sound(text);
    // x'' = −2 until x' + x = 0: 1 − t² − 2t = 0.
    let t = 2.0_f64.sqrt() - 1.0;
    let x = 1.0 - t * t;
    assert!((last(&motion.q, "x") - x * libm::exp(t - 6.0)).abs() < 1e-10);
}

/// A thermostat that drives below the speed 1 and brakes above it: v grows as exp(t/5) from 1/2 and then stays.
#[test]
fn a_switch_between_two_forces_keeps_a_speed() {
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: if(x' > 1, -0.3, 0.2)*x'\ninitial x' = 0.5\n\
        solve t = 0..10";
    let motion = sound(text);
    let t = libm::log(2.0) / 0.2;
    assert!((last(&motion.q, "x") - (0.5 / 0.2 + 10.0 - t)).abs() < 1e-9);
    assert!((last(&motion.v, "x") - 1.0).abs() < 1e-12);
}

/// The same in a bent potential, where the speed is left again, against a steep smooth switch.
#[test]
fn a_thermostat_is_the_limit_of_a_steep_one() {
    let of = |factor: &str| {
        format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + 2*y^2)/2 - x*y^2/5\nlet w = x'^2 + y'^2 - 1\n\
             force at [x, y]: {factor}*[x', y']\ninitial x = 1, y = 0.5, y' = 0.2\nsolve t = 0..10"
        )
    };
    let switched = sound(&of("if(w > 0, -0.3, 0.2)"));
    let steep = sound(&of("(-0.05 - 0.25*tanh(w/1e-5))"));
    // The steep one stays beside the surface by its width.
    for name in ["x", "y"] {
        let off = (last(&switched.q, name) - last(&steep.q, name)).abs();
        assert!(off < 1e-4, "{name}: {off}");
    }
}

/// A force that takes a mass on a belt along: held until k x = F, then it slips.
#[test]
fn a_force_that_grows_breaks_what_friction_holds() {
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: t - sign(x')\nsolve t = 0..3";
    let motion = sound(text);
    // From t = 1 on, x'' = t − 1.
    assert!((last(&motion.q, "x") - 8.0 / 6.0).abs() < 1e-10);
}

/// A ball that rolls and slides: with slip = x' − r φ' it rolls after 2 v/(7 μ g).
#[test]
fn a_ball_slides_until_it_rolls() {
    let text = "coordinates x, y, phi\nparameters g = 9.81, mu = 0.2, r = 0.1\n\
        lagrangian (x'^2 + y'^2)/2 + 0.4*r^2*phi'^2/2 - g*y\n\
        contact floor: y - r >= 0, friction = mu, slip = x' - r*phi'\n\
        initial y = r, x' = 1\nsolve t = 0..1";
    let motion = sound(text);
    assert!((last(&motion.v, "x") - 5.0 / 7.0).abs() < 1e-11);
    assert!((last(&motion.v, "phi") - 50.0 / 7.0).abs() < 1e-10);
}

/// A block on a belt with a spring, held up to F_s and sliding with F_k: it slips for the phase 3π/2 if both jump by
/// the velocity of the belt, and sticks for 2 (F_s − F_k)/(k v).
#[test]
fn a_block_on_a_belt_sticks_and_slips_with_a_known_period() {
    let text = "coordinates x, y\nparameters v = 0.2, g = 1\nlagrangian (x'^2 + y'^2)/2 - x^2/2 - g*y\n\
        contact belt: y >= 0, friction = 0.4, static = 0.6, slip = x' - v\n\
        observe slip = x' - v\nevent rising catches: x' - v + 1e-9\n\
        initial x' = 0.2\nsolve t = 0..40, tolerance = 1e-12";
    let motion = sound(text);
    let times: Vec<f64> =
        motion.events.iter().filter(|e| e.name == "catches").map(|e| e.t).collect();
    assert!(times.len() > 3);
    let period = 2.0 + 1.5 * PI;
    for pair in times.windows(2) {
        assert!((pair[1] - pair[0] - period).abs() < 1e-10, "{}", pair[1] - pair[0] - period);
    }
}

/// A block at rest stays at rest until the force is more than its friction holds, exactly.
#[test]
fn a_block_at_rest_waits_for_its_force() {
    for method in ["dop853", "taylor", "radau"] {
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let request = Run {
                method: pfaff::Method::from_name(method),
                tolerance: Some(tolerance),
                ..Run::default()
            };
            let run = |force: &str, end: f64| {
                let text = format!(
                    "coordinates x\nlagrangian x'^2/2\nforce x: {force} - 0.3*sign(x')\nsolve t = 0..{end}"
                );
                let motion = support::run(&support::model(&text), &request);
                let audit = &motion.audit;
                assert_eq!(
                    audit.verdict,
                    Verdict::Pass,
                    "{method} {tolerance} {force}: {audit:?}"
                );
                [last(&motion.q, "x"), last(&motion.v, "x")]
            };
            assert_eq!(run("0.1*t", 2.5), [0.0, 0.0]);
            let [x, v] = run("0.1*t", 7.0);
            assert!(
                (x - 6.4 / 6.0).abs() + (v - 0.8).abs() < 1e3 * tolerance,
                "{method}: {x} {v}"
            );
            // It breaks away when 0.5 sin t = 0.3.
            let [x, v] = run("0.5*sin(t)", 1.5);
            let t0 = libm::asin(0.6);
            let (s, d) = (libm::sin(1.5) - 0.6, 1.5 - t0);
            let speed = 0.5 * (0.8 - libm::cos(1.5)) - 0.3 * d;
            let way = 0.4 * d - 0.5 * s - 0.15 * d * d;
            assert!(
                (x - way).abs() + (v - speed).abs() < 1e3 * tolerance,
                "{method}: {x} {v} for {way} {speed}"
            );
        }
    }
}

/// A ball that has come to rest is compared with one whose last bounces were others.
#[test]
fn a_ball_at_rest_passes() {
    let text = "coordinates y, x\nlagrangian (y'^2 + x'^2)/2 - 9.81*y\ncontact floor: y >= 0, restitution = 0.5\n\
        initial y = 1, x' = 1\nsolve t = 0..8";
    for method in ["dop853", "taylor", "radau"] {
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let request = Run {
                method: pfaff::Method::from_name(method),
                tolerance: Some(tolerance),
                ..Run::default()
            };
            let motion = support::run(&support::model(text), &request);
            assert_eq!(
                motion.audit.verdict,
                Verdict::Pass,
                "{method} {tolerance}: {:?}",
                motion.audit
            );
            assert!(
                last(&motion.q, "y").abs() < 1e-12
                    && (last(&motion.q, "x") - 8.0).abs() < 1e-12
            );
        }
    }
}
