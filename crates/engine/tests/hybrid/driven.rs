//! `state`, `input` and `control`.

use pfaff::{Run, StopReason};

use super::{codes, last, motion, sound};

/// z' = x − z with x = cos t: z = (cos t + sin t)/2 + (z₀ − 1/2) exp(−t).
#[test]
fn a_state_follows_its_rate() {
    let text = "coordinates x\nstate z: x - z\nlagrangian x'^2/2 - x^2/2\nobserve twice = 2*z\n\
        initial x = 1, z = 0.25\nsolve t = 0..10";
    let motion = sound(text);
    let t = 10.0_f64;
    let z = 0.5 * (libm::cos(t) + libm::sin(t)) - 0.25 * libm::exp(-t);
    assert!((last(&motion.q, "z") - z).abs() < 1e-9);
    assert!((last(&motion.observed, "twice") - 2.0 * z).abs() < 1e-9);
    // It has no energy and no multiplier.
    assert!(motion.multipliers.is_empty());
    assert!((motion.energy[200] - 0.5).abs() < 1e-10);
}

/// States of each other, of velocities and in forces: a damper in series with a spring. The work of the force,
/// W' = −z x', is a state as well, and what the energy has lost.
#[test]
fn states_see_each_other_and_velocities() {
    let text = "coordinates x\nstate z: x' - 2*z\nstate W: -z*x'\nstate a: b\nstate b: -a\n\
        lagrangian x'^2/2 - x^2/2\nforce x: -z\ninitial x = 1, a = 1\nsolve t = 0..8";
    let motion = sound(text);
    let lost = motion.energy[200] - motion.energy[0];
    assert!(lost < -0.1 && (last(&motion.q, "W") - lost).abs() < 1e-8);
    assert!((last(&motion.q, "a") - libm::cos(8.0)).abs() < 1e-8);
}

/// A spring whose stiffness is a state: its change does work, which the balance of the audit has.
#[test]
fn a_state_in_the_potential_does_work() {
    let text = "coordinates x\nstate k: -0.1*k + 0.2*x'\nlagrangian x'^2/2 - k*x^2/2\n\
        initial x = 1, k = 1\nsolve t = 0..10";
    sound(text);
}

#[test]
fn a_state_may_be_set_at_an_event_and_stand_in_one() {
    let text = "coordinates x\nstate z: 1\nlagrangian x'^2/2\nevent full: z - 1\non full: z = 0, x' = x' + 1\n\
        initial x' = 0\nsolve t = 0..3.5";
    let motion = sound(text);
    assert_eq!(motion.events.len(), 3);
    assert!((last(&motion.q, "z") - 0.5).abs() < 1e-12);
    assert!((last(&motion.q, "x") - (1.0 + 2.0 + 1.5)).abs() < 1e-11);
}

#[test]
fn a_state_goes_with_equations_as_they_stand() {
    let text = "coordinates x\nstate z: x\nequation x'' = -x\ninitial x = 1\nsolve t = 0..2";
    let motion = motion(text, &Run::default());
    assert!((last(&motion.q, "z") - libm::sin(2.0)).abs() < 1e-9);
}

/// Between samples x'' = u is constant: x₊ = x + T x' + T² u/2.
#[test]
fn a_sampled_control_is_held_between_samples() {
    let text = "coordinates x\ninput u = 0\nparameters k = 2, d = 1\nlagrangian x'^2/2\nforce x: u\n\
        control u = max(-1, min(1, -k*x - d*x')) every 0.05\ninitial x = 1\nsolve t = 0..9.975";
    let motion = sound(text);
    let (mut x, mut v, period) = (1.0_f64, 0.0_f64, 0.05_f64);
    let mut u = 0.0;
    for k in 0..200 {
        u = (-2.0 * x - v).clamp(-1.0, 1.0);
        let h = if k == 199 { 0.025 } else { period };
        (x, v) = (x + h * v + h * h * u / 2.0, v + h * u);
    }
    assert!((last(&motion.q, "x") - x).abs() < 1e-11, "{}", last(&motion.q, "x") - x);
    assert!((last(&motion.q, "u") - u).abs() < 1e-11);
    assert_eq!(motion.stop.reason, StopReason::End);
    // Samples are no rows of their own.
    assert_eq!(motion.t.len(), 201);
}

#[test]
fn a_continuous_control_is_its_law() {
    let head = "coordinates x\nlagrangian x'^2/2\ninitial x = 1\nsolve t = 0..5\n";
    let by_law = sound(&format!("{head}control u = -4*x - x'\nforce x: u"));
    let by_input = sound(&format!("{head}input u = 0\nforce x: u\ncontrol u = -4*x - x'"));
    let by_force = sound(&format!("{head}force x: -4*x - x'"));
    assert_eq!(by_law.q[0].values, by_force.q[0].values);
    assert_eq!(by_input.q[0].values, by_force.q[0].values);
    assert_eq!(by_law.observed[0].name, "u");
}

#[test]
fn inputs_are_numbers_or_functions_of_time() {
    let text = "coordinates x\ninput a = 2\ninput u: a*sin(t)\nlagrangian x'^2/2\nforce x: u\nsolve t = 0..3";
    let motion = sound(text);
    assert!((last(&motion.q, "x") - 2.0 * (3.0 - libm::sin(3.0))).abs() < 1e-9);
    assert!((last(&motion.observed, "u") - 2.0 * libm::sin(3.0)).abs() < 1e-12);
}

/// A velocity that is commanded: x' = u jumps with the samples, and the energy that this takes is booked.
#[test]
fn a_sampled_velocity_jumps() {
    let text = "coordinates x\nlagrangian x'^2/2\ncontrol u = 1 - x every 0.5\nconstraint servo: x' = u\n\
        solve t = 0..2.25";
    let motion = sound(text);
    // x₊ = x + (1 − x)/2, four times, then half of that.
    let x = 1.0 - 0.5_f64.powi(4);
    let end = x + 0.25 * (1.0 - x);
    assert!((last(&motion.q, "x") - end).abs() < 1e-12);
}

#[test]
fn mistakes_are_told() {
    let head = "coordinates x\nlagrangian x'^2/2\ninitial x = 1\nsolve t = 0..1\n";
    let cases = [
        ("control u = x every 0", "E0452"),
        ("control u = x every -0.1", "E0452"),
        ("control u = x every x", "E0306"),
        ("state z: x\nforce z: 1", "E0452"),
        ("input u: x", "E0452"),
        ("state x: 1", "E0202"),
        ("state z 1", "E0118"),
        ("state z: y", "E0201"),
        ("state z: x\nfinal x = 2", "E0451"),
        ("state z: x\nforce x: -caputo(x, 0.5)", "E0451"),
        ("state z: x\nprinciple vakonomic", "E0451"),
    ];
    for (rest, code) in cases {
        assert_eq!(codes(&format!("{head}{rest}")), [code], "{rest}");
    }
}

/// A heater with two switching points: z' = p P − k z between them, with p = 1 until z is hot and −0.3 until it is
/// cold; exponentials in between.
#[test]
fn a_thermostat_switches_its_heater() {
    let (power, k, hot, cold) = (3.5_f64, 1.5, 0.6, -0.1);
    let text = "coordinates x\nparameters p = 1\nlagrangian x'^2/2 - x^2/2\nstate z: 3.5*p - 1.5*z\n\
        event rising hot: z - 0.6\nevent falling cold: z + 0.1\non hot: p = -0.3\non cold: p = 1\n\
        force x: z\ninitial x = 0.5, z = 0.2\nsolve t = 0..4";
    let motion = sound(text);
    assert_eq!(motion.stop.reason, StopReason::End, "{:?}", motion.notes);
    let (mut t, mut z, mut p, mut switches) = (0.0, 0.2, 1.0, 0);
    let z = loop {
        let (rest, goal) = (p * power / k, if p > 0.0 { hot } else { cold });
        let lasts = libm::log((z - rest) / (goal - rest)) / k;
        if t + lasts > 4.0 {
            break rest + (z - rest) * libm::exp(-k * (4.0 - t));
        }
        (t, z, p) = (t + lasts, goal, if p > 0.0 { -0.3 } else { 1.0 });
        switches += 1;
    };
    assert_eq!(motion.events.len(), switches);
    assert!((last(&motion.q, "z") - z).abs() < 1e-9, "{} and not {z}", last(&motion.q, "z"));
}
