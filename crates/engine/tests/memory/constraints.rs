//! Constraints beside memory: holonomic ones at position level, by two roads each.

use pfaff::{Motion, Run, Verdict};

use crate::support::{model, run};

/// Agreement asked for, relative to 1 + |reference|: ten times the tolerance 1e-10 of a run.
const TOLERANCE: f64 = 1e-9;

fn at(times: &[f64]) -> Run {
    Run { at: Some(times.to_vec()), ..Run::default() }
}

fn values<'a>(list: &'a [pfaff::Series], name: &str) -> &'a [f64] {
    &list.iter().find(|s| s.name == name).expect("the series is there").values
}

fn agree(what: &str, a: &[f64], b: &[f64]) {
    assert!(!a.is_empty() && a.len() == b.len(), "{what} {a:?} {b:?}");
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= TOLERANCE * (1.0 + b.abs()), "{what}: {a} {b}");
    }
}

fn check(motion: &Motion, name: &str) -> f64 {
    let found = motion.audit.checks.iter().find(|c| c.name == name);
    found.unwrap_or_else(|| panic!("{name} in {:?}", motion.audit)).value
}

/// The rod of a pendulum as a constraint on x and y, and by the angle: two roads to positions, velocities and
/// the tension.
#[test]
fn a_pendulum_with_fractional_damper_in_two_charts() {
    let plane = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\nconstraint rod: x^2 + y^2 = 1\n\
         force x: -0.4*caputo(x, 0.5)\nforce y: -0.4*caputo(y, 0.5)\ninitial x = 1, y = 0\nsolve t = 0..10\n";
    // λ of M q″ = f + 2 q λ with q·q″ = −|q′|².
    let angle = "coordinates th\nlagrangian th'^2/2 + 9.81*cos(th)\n\
         force th: -0.4*(cos(th)*caputo(sin(th), 0.5) - sin(th)*caputo(cos(th), 0.5))\n\
         initial th = pi/2\nobserve x = sin(th)\nobserve y = -cos(th)\nobserve u = cos(th)*th'\n\
         observe rod = (0.4*(sin(th)*caputo(sin(th), 0.5) + cos(th)*caputo(cos(th), 0.5)) - 9.81*cos(th) - th'^2)/2\n\
         solve t = 0..10\n";
    let times = [0.0, 1e-7, 0.3, 1.0, 4.0, 10.0];
    let (plane, angle) = (run(&model(plane), &at(&times)), run(&model(angle), &at(&times)));
    assert_eq!(plane.audit.verdict, Verdict::Pass, "{:?}", plane.audit);
    agree("x", values(&plane.q, "x"), values(&angle.observed, "x"));
    agree("y", values(&plane.q, "y"), values(&angle.observed, "y"));
    agree("x'", values(&plane.v, "x"), values(&angle.observed, "u"));
    agree("λ", &values(&plane.multipliers, "rod")[1..], &values(&angle.observed, "rod")[1..]);
    // Both levels to rounding, however long the run and whatever the tolerance.
    let loose = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\nconstraint rod: x^2 + y^2 = 1\n\
         force x: -0.1*caputo(x, 0.5)\ninitial x = 1\nsolve t = 0..40, tolerance = 1e-4\n";
    let loose = run(&model(loose), &Run::default());
    for name in ["constraint rod", "constraint rod differentiated"] {
        assert!(check(&plane, name) < 1e-14 && check(&loose, name) < 1e-14, "{name}");
    }
    for (x, y) in values(&loose.q, "x").iter().zip(values(&loose.q, "y")) {
        assert!((x * x + y * y - 1.0).abs() < 1e-14, "{x} {y}");
    }
}

/// A ladder whose foot is tied to a cart by a constraint with memory: with the length as a constraint and by the angle.
#[test]
fn holonomic_constraints_beside_one_with_memory() {
    for alpha in ["0.6", "1.4"] {
        let plane = format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + 2*z'^2)/2 - 3*y - z^2/2\nconstraint ladder: x^2 + y^2 = 4\n\
             constraint tied: z' + x' + 0.5*caputo(x, {alpha}) = 0\ninitial x = 1, y = sqrt(3), z = 0.2\nsolve t = 0..4\n"
        );
        let angle = format!(
            "coordinates th, z\nlet x = 2*cos(th)\nlagrangian 2*th'^2 + z'^2 - 6*sin(th) - z^2/2\n\
             constraint tied: z' + x' + 0.5*caputo(x, {alpha}) = 0\ninitial th = pi/3, z = 0.2\n\
             observe foot = x\nobserve y = 2*sin(th)\nsolve t = 0..4\n"
        );
        let times = [0.2, 1.0, 4.0];
        let (plane, angle) =
            (run(&model(&plane), &at(&times)), run(&model(&angle), &at(&times)));
        assert_eq!(plane.audit.verdict, Verdict::Pass, "{alpha} {:?}", plane.audit);
        agree("x", values(&plane.q, "x"), values(&angle.observed, "foot"));
        agree("y", values(&plane.q, "y"), values(&angle.observed, "y"));
        agree("z", values(&plane.q, "z"), values(&angle.q, "z"));
        agree("λ", values(&plane.multipliers, "tied"), values(&angle.multipliers, "tied"));
    }
}

/// A closed chain of five bars, two of whose angles are tied by memory.
#[test]
fn a_loop_beside_memory_stays_closed() {
    let text = "coordinates a, b, c, d\n\
         lagrangian (a'^2 + b'^2 + c'^2 + d'^2)/2 - 2*(sin(a) + sin(b))\n\
         constraint across: cos(a) + cos(b) + cos(c) + cos(d) = 1\n\
         constraint up: sin(a) + sin(b) + sin(c) + sin(d) = 0\n\
         constraint past: a' + d' + 0.3*caputo(a, 0.7) = 0\n\
         initial a = 1.9, b = 0.6, a' = 0.4\nsolve t = 0..5\n";
    let motion = run(&model(text), &at(&[1.0, 5.0]));
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?} {:?}", motion.audit, motion.notes);
    for name in ["constraint across", "constraint up", "constraint past"] {
        assert!(check(&motion, name) < 1e-13, "{name} {:?}", motion.audit);
    }
    let finer = run(&model(text), &Run { tolerance: Some(1e-12), ..at(&[1.0, 5.0]) });
    for (a, b) in motion.q.iter().zip(&finer.q) {
        agree(&a.name, &a.values, &b.values);
    }
}

/// A start off the constraint is moved and noted, as it is without memory.
#[test]
fn positions_off_a_holonomic_constraint_are_moved() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint rod: x^2 + y^2 = 1\n\
         force x: -0.4*caputo(x, 0.5)\ninitial x = 3, y = 4\nsolve t = 0..1\n";
    let motion = run(&model(text), &at(&[0.0, 1.0]));
    let (x, y) = (values(&motion.q, "x")[0], values(&motion.q, "y")[0]);
    assert!((x - 0.6).abs() < 1e-12 && (y - 0.8).abs() < 1e-12, "{x} {y}");
    assert!(!motion.notes.is_empty());
}
