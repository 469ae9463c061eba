//! Periodic motions by collocation beside shooting, and doubled ones with jumps.

use std::f64::consts::{PI, TAU};

use pfaff::{
    ContinueRequest, Model, OrbitMethod, OrbitRequest, Stability, continue_orbits, orbit,
};

use super::orbit::{VAN_DER_POL, of};

/// Collocation and shooting find the same motions, on constraints, driven, up to a turn, and where they are very
/// unstable: periods and states to what the tolerance of shooting leaves, multipliers in parts of their sizes.
#[test]
fn collocation_is_a_second_road() {
    let rod = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint rod: x^2 + y^2 = 1\n\
               initial x = 0.8, y = -0.6, x' = 0";
    let over = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\nconstraint rod: x^2 + y^2 = 1\n\
                initial x = 0, y = -1, x' = 2.5";
    let duffing =
        "coordinates x\nequation x'' = -0.1*x' - x - x^3 + 0.3*cos(1.2*t)\ninitial x = 0.5";
    let lorenz = "coordinates x, y, z\nequation x' = 10*(y - x)\nequation y' = x*(28 - z) - y\n\
                  equation z' = x*y - 8/3*z\ninitial x = 1, y = 1, z = 20";
    let turning = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - (x^2 + y^2)^(3/2)\ninitial x = 1, y' = 1.75";
    let circle = "coordinates x, y\nequation x' = -6*x - y + 6*x*(x^2 + y^2)\n\
                  equation y' = x - 6*y + 6*y*(x^2 + y^2)\ninitial x = 0.999, y = 0";
    let sleigh = "coordinates x, y, a\nparameters w = 1.3\nlagrangian (x'^2 + y'^2)/2 + a'^2/2\n\
                  constraint blade: x'*sin(a) - y'*cos(a) = 0\n\
                  force x: -0.2*x'\nforce y: -0.2*y'\nforce a: cos(w*t) - 0.3*a' - a\n\
                  initial x' = 0.1";
    for (text, period) in [
        (VAN_DER_POL, "6.4"),
        (rod, "6.8"),
        (over, "4"),
        (duffing, "2*pi/1.2"),
        (lorenz, "1.55"),
        (turning, "1.62"),
        (circle, "6.3"),
        (sleigh, "2*pi/w"),
    ] {
        let found = of(text, None, Some(period));
        let check = found.check.as_ref().unwrap_or_else(|| panic!("no check of {text}"));
        // Multipliers of families are double ones, of half the digits.
        assert!(check.difference < 2e-6, "{text} {check:?}");
        assert!((check.period - found.period).abs() < 1e-9 * found.period, "{text} {check:?}");
        let model = Model::parse(text).expect("a model");
        let request = OrbitRequest {
            period: Some(period.into()),
            method: OrbitMethod::Collocation,
            ..OrbitRequest::default()
        };
        let second = orbit(&model, &request, &mut || true).expect("a periodic motion");
        assert!((second.period - found.period).abs() < 1e-9 * found.period, "{text}");
        assert_eq!(second.stability, found.stability, "{text}");
    }
}

/// The multipliers of collocation itself: e^(24π) of a repelling circle, and Mathieu's equation at an edge of stability.
#[test]
fn multipliers_of_collocation() {
    let circle = "coordinates x, y\nequation x' = -6*x - y + 6*x*(x^2 + y^2)\n\
                  equation y' = x - 6*y + 6*y*(x^2 + y^2)\ninitial x = 0.999, y = 0";
    let request = OrbitRequest {
        period: Some("6.3".into()),
        method: OrbitMethod::Collocation,
        ..OrbitRequest::default()
    };
    let found = orbit(&Model::parse(circle).expect("a model"), &request, &mut || true);
    let found = found.expect("a periodic motion");
    let log = libm::log(found.multipliers[0][0]);
    // As for shooting: a root of order forty, to the power of forty.
    assert!((log - 24.0 * PI).abs() < 1e-6, "{log}");
}

/// The branch of twice the period of a ball on a vibrating table begins at its doubling.
#[test]
fn doubled_orbits_with_jumps_are_followed() {
    let theta = libm::acos(PI * 9.81 / 3.0 / 1600.0 / 0.009);
    let text = format!(
        "coordinates y\nparameters g = 9.81, A = 0.009, w = 40, e = 0.5\nstate th: w\n\
         lagrangian y'^2/2 - g*y\ncontact table: y - A*sin(th) >= 0, restitution = e\n\
         initial th = {theta}, y = A*sin({theta}) + 1e-6, y' = 9.81*pi/40\nsolve t = 0..3"
    );
    let fold = PI * 9.81 / 3.0 / 1600.0;
    let flip = libm::hypot(fold, 2.0 * 1.25 * 9.81 / (2.25 * 1600.0));
    let to = flip + 0.0008;
    let request = ContinueRequest {
        parameter: "A".into(),
        from: 0.009,
        to,
        switch: true,
        ..Default::default()
    };
    let model = Model::parse(&text).expect("a model");
    let found = continue_orbits(&model, &request, &OrbitRequest::default(), &mut || true);
    let found = found.expect("branches");
    let doubled =
        found.branches.iter().find(|b| b.from.is_some_and(|(kind, _)| kind == "flip"));
    let doubled = doubled.expect("a doubled branch");
    let from = doubled.from.expect("a place").1;
    assert!((from - flip).abs() < 1e-7 * flip, "{from} {flip}");
    for point in &doubled.points {
        let period = point.period.expect("a period");
        assert!((period - 2.0 * TAU / 40.0).abs() < 1e-8, "{period}");
    }
    // The doubled motion is stable where the simple one is not.
    assert_eq!(doubled.points[0].stability, Stability::AsymptoticallyStable);
    assert_eq!(
        found.branches[0].points.last().expect("a point").stability,
        Stability::Unstable
    );
}
