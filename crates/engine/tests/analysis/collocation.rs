//! Periodic motions by collocation: beside shooting, and by themselves.

use std::f64::consts::PI;

use pfaff::{Model, OrbitMethod, OrbitRequest, orbit};

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
    for (text, period) in [
        (VAN_DER_POL, "6.4"),
        (rod, "6.8"),
        (over, "4"),
        (duffing, "2*pi/1.2"),
        (lorenz, "1.55"),
        (circle, "6.3"),
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
    // In a family of two parameters collocation may find a neighbour, which the difference tells.
    let found = of(turning, None, Some("1.62"));
    let check = found.check.as_ref().expect("a check");
    assert!(check.difference < 2e-6, "{check:?}");
    assert!((check.period - found.period).abs() < 10.0 * check.difference, "{check:?}");
}

/// The multipliers of collocation itself: e^(24π) of a repelling circle.
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
