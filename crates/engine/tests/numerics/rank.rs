//! Places on the way where constraints lose their hold: the run stops there, or says why it goes on.

use pfaff::{Method, Motion, Run, StopReason};

use crate::support;

/// Every method at several tolerances.
fn runs(text: &str) -> Vec<Motion> {
    let mut motions = Vec::new();
    for method in ["dop853", "taylor"] {
        for tolerance in [1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
            let request = Run {
                method: Method::from_name(method),
                tolerance: Some(tolerance),
                ..Run::default()
            };
            motions.push(support::run(&support::model(text), &request));
        }
    }
    motions
}

fn notes(motion: &Motion) -> String {
    format!("{:?}", motion.notes)
}

/// A pursuer that is faster than its prey, from a distance a across the way: it arrives at a s/(s² − V²). Beyond, every
/// curve that leaves in the direction of the prey satisfies the constraint.
#[test]
fn a_pursuit_ends_where_the_prey_is_reached() {
    for (speed, distance) in [(1.2, 2.0), (1.25, 0.703_125), (2.0, 1.0)] {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint chase: x'*(t - y) + y'*x = 0\n\
             initial x = {distance}, y = 0, x' = -{speed}\nsolve t = 0..8"
        );
        let end = distance * speed / (speed * speed - 1.0);
        for motion in runs(&text) {
            assert_eq!(motion.stop.reason, StopReason::Singular, "{speed} {}", notes(&motion));
            // Within what the loosest tolerance knows of the distance.
            assert!((motion.stop.t - end).abs() < 0.05, "{speed}: {} for {end}", motion.stop.t);
            assert!(notes(&motion).contains("`chase` no longer restricts any velocity"));
            assert!(*motion.t.last().unwrap() <= motion.stop.t);
        }
    }
}

/// Two constraints that become dependent where x = 1.
#[test]
fn constraints_that_become_dependent_end_the_motion() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint a: y' - x*z' = 0\n\
                constraint b: y' - z' + (x - 1)*(x' - 1) = 0\ninitial x = 0, x' = 1, z' = 0.3\nsolve t = 0..5";
    for motion in runs(text) {
        assert_eq!(motion.stop.reason, StopReason::Singular, "{}", notes(&motion));
        assert!(notes(&motion).contains("`a`, `b` lose their independence"));
    }
}

/// A factor that vanishes takes nothing away: the motion is that without it.
#[test]
fn a_factor_of_a_constraint_is_passed_with_a_note() {
    let text = |factor: &str| {
        format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: {factor}*(y' - x'*cos(x)/2) = 0\n\
             initial x = 0, x' = 1\nsolve t = 0..3, tolerance = 1e-10"
        )
    };
    let plain = support::run(&support::model(&text("1")), &Run::default());
    for motion in runs(&text("(x - 1)")) {
        assert_eq!(motion.stop.reason, StopReason::End, "{}", notes(&motion));
        assert!(notes(&motion).contains("a factor of it vanishes"), "{}", notes(&motion));
        let off = motion.q[1].values.last().unwrap() - plain.q[1].values.last().unwrap();
        // The loosest tolerance is 1e-4.
        assert!(off.abs() < 1e-3, "{off:e}");
    }
    assert!(!notes(&plain).contains("restricts"));
}

/// A place that is narrow and regular is passed in silence where the tolerance tells it from a singular one.
#[test]
fn a_narrow_place_is_passed() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\n\
                constraint c: (x^2 + 0.0001)*y' - (x^3 + 0.01*x)*x' = 0\ninitial x = -1, x' = 1\nsolve t = 0..3";
    for tolerance in [1e-8, 1e-10, 1e-12] {
        let request = Run { tolerance: Some(tolerance), ..Run::default() };
        let motion = support::run(&support::model(text), &request);
        assert_eq!(motion.stop.reason, StopReason::End, "{}", notes(&motion));
        assert!(!notes(&motion).contains("restricts"), "{}", notes(&motion));
    }
}

/// A parallelogram goes through its change points along its branch, and says so.
#[test]
fn change_points_of_linkages_are_told() {
    let text = "coordinates x1, y1, x2, y2\nlagrangian (x1'^2 + y1'^2 + x2'^2 + y2'^2)/2\n\
                constraint a: x1^2 + y1^2 = 1\nconstraint b: (x2 - 2)^2 + y2^2 = 1\n\
                constraint c: (x2 - x1)^2 + (y2 - y1)^2 = 4\n\
                initial x1 = 0.6, y1 = 0.8, x2 = 2.6, y2 = 0.8, x1' = 0.8, y1' = -0.6\nsolve t = 0..3";
    for motion in runs(text) {
        // atan2(0.8, 0.6) at the angular velocity 1. Some stop there, the others follow the branch.
        let passed = motion.stop.reason == StopReason::End
            && notes(&motion).contains(
                "at t = 0.9273 the constraints `a`, `b`, `c` lose their independence; ",
            );
        let stopped = motion.stop.reason == StopReason::Singular
            && (motion.stop.t - 0.927_295).abs() < 1e-3;
        assert!(passed || stopped, "{} {}", motion.stop.t, notes(&motion));
        if passed {
            let [x1, x2] = [0, 2].map(|k| motion.q[k].values.last().unwrap());
            assert!((x2 - x1 - 2.0).abs() < 1e-3, "still a parallelogram");
        }
    }
}

/// A bead on a rod that turns: the rows stay independent while one grows by six powers of ten. Looking for a loss of
/// rank has a limit in every step.
#[test]
fn a_row_that_grows_is_no_endless_search() {
    let text = "coordinates x, y, th\nlagrangian (x'^2 + y'^2 + th'^2)/2 - 9.81*y\nconstraint a: th = 10*t\n\
                constraint b: y*cos(th) = x*sin(th)\ninitial x = 1, y = 0\nsolve t = 0..1.5";
    for motion in runs(text) {
        assert_eq!(motion.stop.reason, StopReason::End, "{}", notes(&motion));
        // r'' = 100 r - g sin(10 t), so r = cosh(10 t) + g/200 (sin(10 t) - sinh(10 t)).
        let (sin, cos) = (libm::sin(15.0), libm::cos(15.0));
        let r = libm::cosh(15.0) + 9.81 / 200.0 * (sin - libm::sinh(15.0));
        let [x, y] = [0, 1].map(|k| *motion.q[k].values.last().unwrap());
        let off = (x - r * cos).hypot(y - r * sin);
        assert!(off < 1e-2 * r, "{off:e} of {r:e}");
    }
}

/// A point on a cone of directions, thrown up: it slows down by g/2 along each of x and z, and at rest every direction
/// of the cone is possible.
#[test]
fn a_cone_of_velocities_ends_at_its_tip() {
    for across in [0.0, 0.3] {
        let text = format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*z\n\
             constraint cone: z'^2 = x'^2 + y'^2\ninitial x' = sqrt(1 - {across}^2), y' = {across}, z' = 1\n\
             solve t = 0..3"
        );
        for motion in runs(&text) {
            assert_eq!(motion.stop.reason, StopReason::Singular, "{}", notes(&motion));
            assert!((motion.stop.t - 2.0 / 9.81).abs() < 1e-3, "{}", motion.stop.t);
        }
    }
}
