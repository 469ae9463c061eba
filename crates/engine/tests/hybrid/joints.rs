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
