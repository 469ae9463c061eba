//! Friction in the plane of contact, and against rolling, with closed forms.

use super::{codes, last, sound};

const G: f64 = 9.81;

fn puck(more: &str) -> String {
    format!(
        "coordinates x, y, z\nparameters g = {G}\nlagrangian (x'^2 + y'^2 + z'^2)/2 - g*z\n{more}"
    )
}

/// A puck slides straight on and stops after v²/(2μg); friction is −μN along its velocity.
#[test]
fn a_puck_slides_to_rest_in_any_direction() {
    let text = puck(
        "contact floor: z >= 0, at = [x, y, z], friction = 0.3\ninitial x' = 3, y' = -4\nsolve t = 0..3",
    );
    let motion = sound(&text);
    let far = 25.0 / (0.6 * G);
    // What is left of the slip when it counts as rest is 1e-7 of it, and its square is lost.
    assert!((last(&motion.q, "x") - 0.6 * far).abs() < 1e-11, "{}", last(&motion.q, "x"));
    assert!((last(&motion.q, "y") + 0.8 * far).abs() < 1e-11);
    let friction: Vec<&[f64]> = ["friction(floor)[1]", "friction(floor)[2]"]
        .map(|name| {
            let series = motion.multipliers.iter().find(|s| s.name == name);
            &series.expect("friction").values[..]
        })
        .into();
    assert!((friction[0][20] + 0.6 * 0.3 * G).abs() < 1e-9);
    assert!((friction[1][20] - 0.8 * 0.3 * G).abs() < 1e-9);
    assert!((motion.work.last().expect("a row") + 12.5).abs() < 1e-10);
}

/// On an incline with μ = tan α, |v| plus the velocity downhill is constant: what starts across ends with half of
/// its speed, straight down.
#[test]
fn speed_and_descent_add_up_on_an_incline() {
    let text = puck(
        "parameters al = 0.4\nforce x: sin(al)*g\nforce z: g - cos(al)*g\n\
         contact floor: z >= 0, at = [x, y, z], friction = sin(al)/cos(al)\ninitial y' = 2\nsolve t = 0..4",
    );
    let motion = sound(&text);
    for (u, v) in motion.v[0].values.iter().zip(&motion.v[1].values) {
        assert!((u.hypot(*v) + u - 2.0).abs() < 1e-9);
    }
    assert!((last(&motion.v, "x") - 1.0).abs() < 1e-3);
}

/// A force that grows breaks what friction holds, in its own direction: from t = μg on, a = t − μg.
#[test]
fn what_holds_gives_way_along_the_force() {
    let text = puck(
        "force x: 0.6*t\nforce y: 0.8*t\ncontact floor: z >= 0, at = [x, y, z], friction = 0.1\nsolve t = 0..3",
    );
    let motion = sound(&text);
    let s = 3.0 - 0.1 * G;
    assert!((last(&motion.q, "x") - 0.6 * s * s * s / 6.0).abs() < 1e-9);
    assert!((last(&motion.q, "y") - 0.8 * s * s * s / 6.0).abs() < 1e-9);
}

/// Better held than slid: after the break a = t − μ_k g.
#[test]
fn static_friction_in_a_plane() {
    let text = puck(
        "force x: 0.6*t\nforce y: 0.8*t\ncontact floor: z >= 0, at = [x, y, z], friction = 0.1, static = 0.2\n\
         solve t = 0..3",
    );
    let motion = sound(&text);
    let (begin, s) = (0.2 * G, 3.0 - 0.2 * G);
    let far = s * s * s / 6.0 + (begin - 0.1 * G) * s * s / 2.0;
    assert!((last(&motion.q, "x") - 0.6 * far).abs() < 1e-9);
}

/// A ball with spin: the slip keeps its direction, falls by 7/2 μg, and the ball rolls with v₀ − 2/7 u₀. Coulomb's
/// bow of a billiard ball is a parabola until then.
#[test]
fn a_billiard_ball_bows_until_it_rolls() {
    let text = format!(
        "coordinates x, y, z, a, b, c\nparameters g = {G}, r = 0.03, mu = 0.2\n\
         lagrangian (x'^2 + y'^2 + z'^2)/2 + 0.2*r^2*(a'^2 + b'^2 + c'^2) - g*z\n\
         contact cloth: z >= r, friction = mu, slip = [x' - r*b', y' + r*a']\n\
         initial z = r, x' = 2, a' = 30, b' = -20, c' = 5\nsolve t = 0..2"
    );
    let motion = sound(&text);
    let (ux, uy) = (2.0 + 0.03 * 20.0, 0.03 * 30.0);
    let rolls = 2.0 / 7.0 * f64::hypot(ux, uy) / (0.2 * G);
    assert!((last(&motion.v, "x") - (2.0 - 2.0 / 7.0 * ux)).abs() < 1e-10);
    assert!((last(&motion.v, "y") + 2.0 / 7.0 * uy).abs() < 1e-10);
    // Along the bow: y = −μg (u_y/|u|) t²/2.
    let side = -0.2 * G * uy / f64::hypot(ux, uy);
    let row = motion.t.iter().rposition(|&t| t < rolls).expect("a row");
    let t = motion.t[row];
    assert!((motion.q[1].values[row] - side * t * t / 2.0).abs() < 1e-10);
}

/// A wheel with resistance to rolling stops after v²/(2a) with a = c g/(r (1 + J/(m r²))), and stays.
#[test]
fn rolling_resistance_stops_a_wheel() {
    let text = format!(
        "coordinates x, y, phi\nparameters g = {G}, r = 0.5, c = 0.02\n\
         lagrangian (x'^2 + y'^2)/2 + r^2*phi'^2/4 - g*y\n\
         contact floor: y >= r, friction = 0.6, slip = x' - r*phi', rolling = c, roll = phi'\n\
         initial y = r, x' = 1, phi' = 2\nsolve t = 0..6"
    );
    let motion = sound(&text);
    let a = 0.02 * G / (0.5 * 1.5);
    assert!((last(&motion.q, "x") - 0.5 / a).abs() < 1e-9, "{}", last(&motion.q, "x"));
    assert!(last(&motion.v, "x").abs() < 1e-12);
    let moment = motion.multipliers.iter().find(|s| s.name == "rolling(floor)").expect("it");
    assert!((moment.values[20] + 0.02 * G).abs() < 1e-9);
}

/// A wheel that has come to rest stays: what is left of its slip is rounding, and not a direction in which it slides.
#[test]
fn a_wheel_at_rest_stays() {
    let text = format!(
        "coordinates x, y, w\nparameters g = {G}, r = 0.1\nlagrangian (x'^2 + y'^2 + r^2*w'^2/2)/2 - g*y\n\
         contact floor: y >= r, friction = 1, slip = x' - r*w', rolling = 0.002, roll = w'\n\
         initial y = r, x' = 1, w' = 1/r\nsolve t = 0..20"
    );
    let motion = sound(&text);
    let a = 0.002 * G / (0.1 * 1.5);
    assert!((last(&motion.q, "x") - 0.5 / a).abs() < 1e-9, "{}", last(&motion.q, "x"));
}

/// A puck that sticks, slips and turns under two forces, against a strongly regularised one.
#[test]
fn slip_in_a_plane_begins_and_ends() {
    let exact = puck(
        "force x: 4*cos(3*t)\nforce y: 3.3*sin(2*t)\ncontact floor: z >= 0, friction = 0.3, slip = [x', y']\n\
         solve t = 0..10",
    );
    let motion = sound(&exact);
    assert_eq!(motion.stop.reason, pfaff::StopReason::End);
    assert!(motion.statistics.steps < 5_000, "{}", motion.statistics.steps);
    let near = format!(
        "coordinates x, y\nparameters g = {G}, e = 1e-7\n\
         equation x'' = 4*cos(3*t) - 0.3*g*x'/sqrt(x'^2 + y'^2 + e^2)\n\
         equation y'' = 3.3*sin(2*t) - 0.3*g*y'/sqrt(x'^2 + y'^2 + e^2)\nsolve t = 0..10"
    );
    let near = sound(&near);
    // It differs by 1.9e-5, 3e-6 and 5e-7 with e = 1e-6, 1e-7 and 1e-8.
    for name in ["x", "y"] {
        let (a, b) = (last(&motion.q, name), last(&near.q, name));
        assert!((a - b).abs() < 1e-5, "{name} {a} {b}");
    }
}

/// A rattleback that sticks and slips in turn goes on to the end, in some thousand steps.
#[test]
fn a_rattleback_sticks_and_slips() {
    let text = include_str!("../../../../models/rattleback_slip.pfaff");
    let text = text.replace("mu = 1\n", "mu = 0.2\n").replace("t = 0..1", "t = 0..0.5");
    let motion = sound(&text);
    assert_eq!(motion.stop.reason, pfaff::StopReason::End);
    // 600 until it sticks for the first time at t = 0.33.
    assert!(motion.statistics.steps < 3_000, "{}", motion.statistics.steps);
}

/// Regularised friction tends to the exact one: the puck creeps the last bit.
#[test]
fn regularised_friction_is_near_the_exact_one() {
    let text = puck(
        "contact floor: z >= 0, at = [x, y, z], friction = 0.3, regularised = 0.001\n\
         initial x' = 3, y' = -4\nsolve t = 0..3",
    );
    let motion = sound(&text);
    let far = 25.0 / (0.6 * G);
    assert!((last(&motion.q, "x") - 0.6 * far).abs() < 1e-3);
}

/// A ball that falls on the floor with spin and a sideways velocity: the impulse along the floor is μ times the
/// normal one against the slip, if it slips all the time.
#[test]
fn an_impact_rubs_against_its_slip() {
    let text = puck(
        "contact floor: z >= 0, at = [x, y, z], restitution = 0.5, friction = 0.1\n\
         initial z = 1, x' = 3, y' = 4\nsolve t = 0..0.6",
    );
    let motion = sound(&text);
    let down = (2.0 * G).sqrt();
    let lost = 0.1 * 1.5 * down;
    assert!((last(&motion.v, "x") - (3.0 - 0.6 * lost)).abs() < 1e-10);
    assert!((last(&motion.v, "y") - (4.0 - 0.8 * lost)).abs() < 1e-10);
}

#[test]
fn mistakes_in_a_plane_are_told() {
    let cases = [
        "contact c: z >= 0, friction = 0.3, slip = [x', y', z']",
        "contact c: z >= 0, rolling = 0.1",
        "contact c: z >= 0, roll = x'",
        "contact c: x^2 + y^2 + z^2 >= 1, friction = 0.3, at = [x, y, z]",
    ];
    for rest in cases {
        assert_eq!(
            codes(&puck(&format!("initial z = 2\nsolve t = 0..1\n{rest}"))),
            ["E0454"],
            "{rest}"
        );
    }
}
