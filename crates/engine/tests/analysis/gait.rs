//! Displacements over loops in shape space.

use pfaff::{Gait, GaitRequest, Model, gait};

fn of(text: &str, shape: &str, path: Option<&str>) -> Result<Gait, String> {
    let model = Model::parse(text).expect("the text is right");
    let request = GaitRequest {
        shape: shape.split(", ").map(ToOwned::to_owned).collect(),
        path: path.map(ToOwned::to_owned),
        ..GaitRequest::default()
    };
    gait(&model, &request, &mut || true).map_err(|error| error.to_string())
}

/// Two links with wheels on a middle one (Kelly and Murray 1995; Shammas, Choset and Rizzi 2007).
const SNAKE: &str = "
    coordinates x, y, theta, a1, a2
    group SE(2): x, y, theta
    parameters R = 0.5
    lagrangian (x'^2 + y'^2 + theta'^2 + a1'^2 + a2'^2)/2
    let b1 = theta - a1
    let b2 = theta + a2
    let P1 = [x - R*cos(theta) - R*cos(b1), y - R*sin(theta) - R*sin(b1)]
    let P2 = [x + R*cos(theta) + R*cos(b2), y + R*sin(theta) + R*sin(b2)]
    constraint rear: -P1[1]'*sin(b1) + P1[2]'*cos(b1) = 0
    constraint middle: -x'*sin(theta) + y'*cos(theta) = 0
    constraint front: -P2[1]'*sin(b2) + P2[2]'*cos(b2) = 0
    initial a1 = 0.8, a2 = -0.6";

/// The displacement is that of a motion which runs the loop by constraints on the shapes, at any speed.
#[test]
fn a_snake_goes_as_its_motion_does() {
    let path = "a1 = 0.9 + 0.3*cos(s), a2 = -0.8 + 0.3*sin(s)";
    let found = of(SNAKE, "a1, a2", Some(path)).unwrap();
    let driven = format!(
        "{SNAKE}
    constraint first: a1' = -0.3*sin(t)
    constraint second: a2' = 0.3*cos(t)
    initial a1 = 1.2, a2 = -0.8"
    )
    .replace("initial a1 = 0.8, a2 = -0.6", "");
    let run = pfaff::Run { tolerance: Some(1e-12), ..pfaff::Run::to(std::f64::consts::TAU) };
    let motion = pfaff::run(&Model::parse(&driven).unwrap(), &run, &mut |_, _| true).unwrap();
    for (name, moved) in &found.displacement {
        let end = motion.position(name).unwrap().last();
        assert!((end - moved).abs() < 1e-9, "{name}: {end} and {moved}");
    }
}

/// What the area rule leaves out is of third order: halving the loop divides it by eight.
#[test]
fn the_area_rule_is_right_to_second_order() {
    let off = |size: f64| {
        let path = format!("a1 = 0.9 + {size}*cos(s), a2 = -0.8 + {size}*sin(s)");
        let found = of(SNAKE, "a1, a2", Some(&path)).unwrap();
        let area = found.area_rule.unwrap();
        let pairs = found.displacement.iter().zip(&area);
        pairs.map(|((_, a), (_, b))| (a - b).abs()).fold(0.0_f64, f64::max)
    };
    let (a, b) = (off(0.04), off(0.02));
    assert!(a / b > 6.5 && a / b < 9.5, "{a} and {b}");
}

/// A group that commutes: the area rule is exact, and closed. z' = x y' gives the area.
#[test]
fn an_area_is_measured() {
    let text = "
        coordinates x, y, z
        lagrangian (x'^2 + y'^2 + z'^2)/2
        constraint lift: z' = x*y'";
    let found = of(text, "x, y", Some("x = 1 + 2*cos(s), y = 0.5*sin(s)")).unwrap();
    let area = std::f64::consts::PI;
    assert!((found.displacement[0].1 - area).abs() < 1e-11);
    assert!((found.area_rule.unwrap()[0].1 - area).abs() < 1e-12);
}

/// Without constraints the momenta are zero: two rotors on a free body turn it by their areas.
#[test]
fn a_free_body_turns_by_its_arms() {
    // (J + m r²) θ' + m r² a' = 0 with a radius that is a shape.
    let text = "
        coordinates th, r, a
        group SO(2): th
        parameters J = 2, m = 1
        lagrangian J*th'^2/2 + m*(r'^2 + r^2*(th' + a')^2)/2";
    let path = "r = 1 + 0.5*cos(s), a = 0.7*sin(s)";
    let found = of(text, "r, a", Some(path)).unwrap();
    // θ = −∮ m r²/(J + m r²) da
    let rate = |s: f64| {
        let r = 1.0 + 0.5 * libm::cos(s);
        -r * r / (2.0 + r * r) * 0.7 * libm::cos(s)
    };
    let count = 256;
    let step = std::f64::consts::TAU / f64::from(count);
    let wanted: f64 = (0..count).map(|k| rate(step * f64::from(k)) * step).sum();
    assert!((found.displacement[0].1 - wanted).abs() < 1e-11, "{wanted}");
    assert_eq!(found.by, "momenta");
}

/// The roller racer has a momentum that the steering drives; a loop alone does not say where it goes.
#[test]
fn what_is_not_kinematic_is_refused() {
    let racer = "
        coordinates x, y, theta, a, b
        group SE(2): x, y, theta
        parameters m = 1, J = 0.1, d1 = 1, d2 = 0.5
        lagrangian m*(x'^2 + y'^2)/2 + J*theta'^2/2 + 0.05*(theta' + a')^2 + b'^2/2
        let Q = [x + d1*cos(theta) + d2*cos(theta + a), y + d1*sin(theta) + d2*sin(theta + a)]
        constraint rear: -x'*sin(theta) + y'*cos(theta) = 0
        constraint front: -Q[1]'*sin(theta + a) + Q[2]'*cos(theta + a) = 0";
    let refused = of(racer, "a, b", Some("a = cos(s), b = sin(s)")).unwrap_err();
    assert!(refused.contains("not kinematic"), "{refused}");
    let open = of(SNAKE, "a1, a2", Some("a1 = s, a2 = sin(s)/2")).unwrap_err();
    assert!(open.contains("does not close") || open.contains("singular"), "{open}");
    let unknown = of(SNAKE, "a1, b2", None).unwrap_err();
    assert!(unknown.contains("no coordinate `b2`"), "{unknown}");
    let singular = of(SNAKE, "a1, a2", Some("a1 = cos(s), a2 = -cos(s)")).unwrap_err();
    assert!(singular.contains("singular"), "{singular}");
}

/// The best ellipse is better than circles.
#[test]
fn a_best_loop_is_found() {
    let best = of(
        SNAKE.replace("a1 = 0.8, a2 = -0.6", "a1 = 1.5, a2 = -1.5").as_str(),
        "a1, a2",
        None,
    );
    let best = best.unwrap();
    let worth = |g: &Gait| libm::hypot(g.displacement[0].1, g.displacement[1].1) / g.length;
    let circle =
        of(SNAKE, "a1, a2", Some("a1 = 1.5 + 0.5*cos(s), a2 = -1.5 + 0.5*sin(s)")).unwrap();
    assert!(best.is_best && worth(&best) > worth(&circle), "{best:?}");
}
