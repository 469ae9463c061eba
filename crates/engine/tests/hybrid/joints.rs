//! Joints with friction by their load: contacts that hold from both sides.

use pfaff::Run;

use super::{codes, last, motion, sound};

/// A bead on a rough ring without gravity: N = m v²/r, so that v = v₀/(1 + μ v₀ t/r).
#[test]
fn a_bead_on_a_rough_ring_slows_down() {
    for (mu, speed) in [(0.1, 2.0), (0.7, 5.0)] {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\n\
             contact ring: sqrt(x^2 + y^2) = 1, friction = {mu}\ninitial x = 1, y' = {speed}\n\
             solve t = 0..3"
        );
        let motion = sound(&text);
        let v = speed / (1.0 + mu * speed * 3.0);
        let found = f64::hypot(last(&motion.v, "x"), last(&motion.v, "y"));
        assert!((found - v).abs() < 1e-8, "{text}");
        // The ring pushes inwards: the outer side carries.
        let load = last(&motion.multipliers, "other(ring)");
        assert!((load - v * v).abs() < 1e-8, "{text}");
        assert_eq!(last(&motion.multipliers, "ring"), 0.0);
        let rub = last(&motion.multipliers, "friction(other(ring))");
        assert!((rub.abs() - mu * v * v).abs() < 1e-8, "{text}");
    }
}

/// The load of a rail changes its side; friction follows its size, and holds where it can.
#[test]
fn friction_follows_the_size_of_the_load() {
    let text = "coordinates x, y\nparameters g = 10, mu = 0.3\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
                force y: 20*t\ncontact rail: y = 0, friction = mu\ninitial x' = 2\nsolve t = 0..2";
    let found = sound(text);
    // v' = −μ |g − 20 t|: 2 − 0.3 (2.5 + 10 (t − 1/2)²) after t = 1/2, zero at t = 1/2 + √(1.25/3).
    let stops = 0.5 + (1.25_f64 / 3.0).sqrt();
    let column = |name: &str| {
        let series = found.multipliers.iter().find(|s| s.name == name).expect("a column");
        &series.values
    };
    let (below, above) = (column("rail"), column("other(rail)"));
    for (i, &t) in found.t.iter().enumerate() {
        let v = if t < 0.5 {
            2.0 - 0.3 * (10.0 * t - 10.0 * t * t)
        } else if t < stops {
            2.0 - 0.3 * (2.5 + 10.0 * (t - 0.5).powi(2))
        } else {
            0.0
        };
        assert!((found.v[0].values[i] - v).abs() < 1e-8, "{t} {v}");
        assert!((below[i] - above[i] - (10.0 - 20.0 * t)).abs() < 1e-3, "{t}");
        assert!(found.q[1].values[i].abs() < 1e-14);
    }
    // A spring that is stretched less than what the load holds, and more.
    let text = "coordinates x, y\nparameters mu = 0.5, F = 4\nlagrangian (x'^2 + y'^2)/2 - x^2/2\n\
                force y: F\ncontact rail: y = 0, friction = mu\ninitial x = 1.9\nsolve t = 0..5";
    assert_eq!(last(&sound(text).q, "x"), 1.9);
    let moved = motion(&text.replace("1.9", "2.1"), &Run::default());
    assert!(last(&moved.q, "x") < 2.0);
}

#[test]
fn what_a_joint_cannot_be() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\ncontact rail: y = 0, friction = 0.1\n\
                initial y = 0.1\nsolve t = 0..1";
    assert_eq!(codes(text), ["E0641"]);
    let text = "coordinates x\nlagrangian x'^2/2\ncontact rail: x' = 0\nsolve t = 0..1";
    assert_eq!(codes(text), ["E0454"]);
}

fn column<'a>(motion: &'a pfaff::Motion, name: &str) -> &'a [f64] {
    let found = motion.multipliers.iter().find(|s| s.name == name);
    &found.expect("a column").values
}

/// A wheel on a pin that carries its weight: J w' = −μ r m g until it stands, and then it stays.
#[test]
fn a_wheel_on_a_pin_stops() {
    let text = "coordinates x, y, th\nparameters m = 2, J = 0.5, g = 9.81, mu = 0.2, r = 0.05\n\
                lagrangian m*(x'^2 + y'^2)/2 + J*th'^2/2 - m*g*y\n\
                contact pin: [x, y] = 0, friction = mu, slip = r*th'\ninitial th' = 1\n\
                observe moment = friction(pin)*r\nsolve t = 0..4";
    let motion = sound(text);
    let slow = 0.2 * 0.05 * 2.0 * 9.81 / 0.5;
    for (i, &t) in motion.t.iter().enumerate() {
        let w = (1.0 - slow * t).max(0.0);
        assert!((motion.v[2].values[i] - w).abs() < 1e-9, "{t}");
        assert!((column(&motion, "pin[2]")[i] - 2.0 * 9.81).abs() < 1e-9, "{t}");
        let moment = if w > 0.0 { -0.5 * slow } else { 0.0 };
        // NOTE: the row of the stop itself belongs to both.
        if (1.0 - slow * t).abs() > 1e-9 {
            assert!((motion.observed[0].values[i] - moment).abs() < 1e-9, "{t}");
        }
    }
}

/// An unbalanced rotor without gravity: N = m e √(w⁴ + w'²) and (J + m e²) w' = −μ r N, so that w' = −c w² with
/// c = k/√(1 − k²), k = μ r m e/(J + m e²).
#[test]
fn a_rotor_is_slowed_by_the_load_of_its_unbalance() {
    let text = "coordinates x, y, th\nparameters m = 3, J = 0.1, e = 0.4, mu = 0.6, r = 0.3\n\
                lagrangian m*(x'^2 + y'^2)/2 + J*th'^2/2\n\
                contact pin: [x - e*cos(th), y - e*sin(th)] = 0, friction = mu, slip = r*th'\n\
                initial th' = -4\nsolve t = 0..3";
    let motion = sound(text);
    let k: f64 = 0.6 * 0.3 * 3.0 * 0.4 / (0.1 + 3.0 * 0.16);
    let c = k / (1.0 - k * k).sqrt();
    let w = -4.0 / (1.0 + c * 4.0 * 3.0);
    assert!((last(&motion.v, "th") - w).abs() < 1e-8, "{} {w}", last(&motion.v, "th"));
    let load = 3.0 * 0.4 * f64::hypot(w * w, c * w * w);
    let found =
        f64::hypot(last(&motion.multipliers, "pin[1]"), last(&motion.multipliers, "pin[2]"));
    assert!((found - load).abs() < 1e-7, "{found} {load}");
    assert!((last(&motion.multipliers, "friction(pin)") - 0.6 * load).abs() < 1e-7);
}

/// A double pendulum with friction in both pins: at each moment friction is μ times the reactions that the equations
/// give, or less where a pin holds.
#[test]
fn friction_of_two_pins_follows_their_loads() {
    let text = "coordinates x[2], y[2], th[2]\nparameters g = 9.81, mu = 0.4, r = 0.06\n\
                lagrangian sum(i = 1..2, (x[i]'^2 + y[i]'^2)/2 + th[i]'^2/24 - g*y[i])\n\
                let ex[i = 1..2] = sin(th[i])/2\nlet ey[i = 1..2] = -cos(th[i])/2\n\
                contact a: [x[1] - ex[1], y[1] - ey[1]] = 0, friction = mu, slip = r*th[1]'\n\
                contact b: [x[2] - ex[2] - x[1] - ex[1], y[2] - ey[2] - y[1] - ey[1]] = 0,\n   friction = mu, slip = r*(th[2]' - th[1]')\n\
                initial th[1] = 1, th[2] = 0.5\nsolve t = 0..40, tolerance = 1e-10";
    let motion = sound(text);
    let mut held = [0; 2];
    for (k, (name, sign)) in [("a", 0), ("b", 1)].into_iter().enumerate() {
        let rub = column(&motion, &format!("friction({name})"));
        let first = column(&motion, &format!("{name}[1]"));
        let second = column(&motion, &format!("{name}[2]"));
        for i in 0..motion.t.len() {
            let load = 0.4 * f64::hypot(first[i], second[i]);
            let of = |k: usize| motion.v[4 + k].values[i];
            let slip = if sign == 0 { of(0) } else { of(1) - of(0) };
            if slip.abs() > 1e-9 {
                // The loads are those of the solve at each output; several joints are solved in turn.
                let expected = -load * slip.signum();
                assert!((rub[i] - expected).abs() < 1e-8 * (1.0 + load), "{name} {i} {slip}");
            } else {
                held[k] += 1;
                assert!(rub[i].abs() <= load * (1.0 + 1e-8), "{name} {i}");
            }
        }
    }
    assert!(held.iter().all(|rows| *rows > 20), "{held:?}");
    assert!((0..2).all(|k| motion.v[4 + k].values.last().expect("a row").abs() < 1e-9));
}

/// A stack of a pin and a floor: a bar that hangs on a pin with friction falls on a contact.
#[test]
fn pins_and_contacts_together() {
    let text = "coordinates x, y, th\nparameters g = 9.81\n\
                lagrangian (x'^2 + y'^2)/2 + th'^2/24 - g*y\n\
                contact pin: [x - sin(th)/2, y + cos(th)/2] = 0, friction = 0.3, slip = 0.04*th'\n\
                contact stop: sin(th) >= 0, restitution = 0.5\n\
                initial th = 1\nsolve t = 0..6";
    let motion = sound(text);
    assert!(motion.events.iter().filter(|e| e.name == "stop").count() >= 2);
    assert!(last(&motion.v, "th").abs() < 1e-9);
    assert!(last(&motion.q, "th") > -1e-9);
}

#[test]
fn what_a_pin_needs() {
    let model = |joint: &str| {
        format!(
            "coordinates x, y, th\nlagrangian (x'^2 + y'^2 + th'^2)/2\n{joint}\nsolve t = 0..1"
        )
    };
    for joint in [
        "contact pin: [x, y] = 0",
        "contact pin: [x, y] = 0, friction = 0.1",
        "contact pin: [x, y] = 0, friction = -0.1, slip = th'",
        "contact pin: [x, y] = 0, friction = 0.1, slip = th', restitution = 0.5",
        "contact pin: [x, y] >= 0, friction = 0.1, slip = th'",
        "contact pin: [x, y'] = 0, friction = 0.1, slip = th'",
    ] {
        let found = codes(&model(joint));
        assert!(
            found.iter().any(|code| ["E0454", "E0301"].contains(code)),
            "{joint} {found:?}"
        );
    }
}
