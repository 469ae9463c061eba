//! The Taylor method on whole models: against DOP853 on the gallery, its choice by `auto`, what it refuses,
//! and its events.

use pfaff::{Model, PreparedRun, Run};
use pfaff_solver::Method;

use crate::support;

fn request(method: &str, tolerance: f64) -> Run {
    Run {
        method: pfaff::Method::from_name(method),
        tolerance: Some(tolerance),
        ..Run::default()
    }
}

/// A quarter of the model's own run, so that sensitive motions stay comparable.
fn quarter(model: &Model, method: &str, tolerance: Option<f64>) -> Run {
    let (t0, t1) = model.solve.range.unwrap_or((0.0, 4.0));
    Run { t1: Some(t0 + (t1 - t0) / 4.0), tolerance, ..request(method, 1.0) }
}

#[test]
fn every_analytic_gallery_model_moves_as_by_dop853() {
    let mut refused = Vec::new();
    let mut compared = 0;
    for entry in support::gallery() {
        let model = support::model(entry.text);
        // Every other model at its own tolerance, the others at a strict one.
        let tolerance = (compared % 2 == 0).then_some(1e-11);
        let make = |method: &str| PreparedRun::new(&model, &quarter(&model, method, tolerance));
        let (mut other, mut prepared) = match (make("dop853"), make("taylor")) {
            (Ok(other), Ok(prepared)) => (other, prepared),
            (_, Err(_)) => {
                refused.push(entry.name);
                continue;
            }
            (Err(failure), _) => panic!("{}: {failure:?}", entry.name),
        };
        let (expected, found) = (other.integrate(), prepared.integrate());
        assert_eq!(found.stop, expected.stop, "{}", entry.name);
        assert!((found.t - expected.t).abs() < 1e-9, "{}", entry.name);
        for i in 0..model.coordinates.len() {
            let (x, y) = (found.y[i], expected.y[i]);
            // Local errors in up to some thousand steps, of motions that part by about e a unit of time.
            let allowed = 1e4 * tolerance.unwrap_or(model.solve.tolerance.max(1e-11));
            assert!(
                (x - y).abs() <= allowed * (1.0 + y.abs()),
                "{} {i}: {x} for {y}",
                entry.name
            );
        }
        compared += 1;
    }
    // Memory, tables, absolute values and repeated constraints have no series.
    assert!(compared >= 40, "{compared} compared; refused: {refused:?}");
}

const SLEIGH: &str = "
coordinates  x, y, phi
parameters   m = 1, J = 1, a = 0.05
let          X = x + a*cos(phi)
let          Y = y + a*sin(phi)
lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
initial      x' = -0.9, phi' = 0.4
solve        t = 0..100
";

#[test]
fn the_error_follows_the_tolerance() {
    let model = support::model(SLEIGH);
    let end = |tolerance: f64| {
        let mut prepared = PreparedRun::new(&model, &request("taylor", tolerance)).unwrap();
        prepared.integrate().y
    };
    let reference = end(1e-15);
    for tolerance in [1e-6, 1e-8, 1e-10, 1e-12] {
        let y = end(tolerance);
        let error = (0..3).map(|i| (y[i] - reference[i]).abs()).fold(0.0, f64::max);
        // Some eighty steps, whose errors the turning of the sleigh multiplies by its path of about sixty.
        assert!(error <= 100.0 * tolerance, "{tolerance}: {error}");
        assert!(error >= 1e-6 * tolerance, "the order does not follow: {tolerance}: {error}");
    }
}

#[test]
fn rounding_does_not_add_up() {
    // A disk on an incline, and its end in long double.
    let model = support::model(
        "
coordinates  x, y, th, phi
parameters   m = 1, R = 0.5, I = 0.125, J = 0.0625, g = 9.81, beta = 0.3
lagrangian   m*(x'^2 + y'^2)/2 + I*th'^2/2 + J*phi'^2/2 + m*g*sin(beta)*x
constraint   x' = R*cos(phi)*th'
constraint   y' = R*sin(phi)*th'
initial      x' = 0.5, th' = 1, phi' = 0.7
solve        t = 0..100
",
    );
    let exact = [1.733_910_115_220_943_3, 137.345_481_140_791_78, 102.892_590_878_092_8, 70.0];
    let end = PreparedRun::new(&model, &request("taylor", 1e-14)).unwrap().integrate().y;
    for (y, exact) in end.iter().zip(exact) {
        // Some ninety steps: carried without their rounding they end at 4e-15, with it beyond 2e-14.
        assert!((y - exact).abs() <= 1e-14 * exact.abs().max(1.0), "{y} for {exact}");
    }
}

#[test]
fn written_out_or_by_passes_the_motion_is_the_same() {
    let model = support::model(SLEIGH);
    // A single run of some fifty steps is not worth writing out, a repeated one is.
    let once = support::run(&model, &request("taylor", 1e-14));
    let often = PreparedRun::new(&model, &request("taylor", 1e-14)).unwrap().integrate();
    for (series, y) in once.q.iter().zip(&often.y) {
        let end = series.values.last().unwrap();
        // The same sums in another order, in angles of fifty.
        assert!((end - y).abs() < 1e-12, "{end} for {y}");
    }
    assert!(once.q.iter().zip(&often.y).any(|(series, y)| series.values.last() != Some(y)));
}

#[test]
fn auto_takes_series_where_they_pay() {
    let model = support::model(SLEIGH);
    let chosen = |tolerance: f64| {
        PreparedRun::new(&model, &request("auto", tolerance)).unwrap().method()
    };
    assert_eq!([1e-10, 1e-13].map(chosen), [Method::Dop853, Method::Taylor]);
    let rough = support::model(
        "coordinates x\nlagrangian x'^2/2 - abs(x)\ninitial x = 1\nsolve t = 0..1\n",
    );
    let auto = PreparedRun::new(&rough, &request("auto", 1e-13)).unwrap();
    assert_eq!(auto.method(), Method::Dop853);
    let Err(pfaff::Error::Usage(message)) = PreparedRun::new(&rough, &request("taylor", 1e-13))
    else {
        panic!("a kink has no series");
    };
    assert!(message.contains("`sign`") || message.contains("`abs`"), "{message}");
}

#[test]
fn events_lie_on_the_series() {
    // x = sin t through zero at every multiple of π.
    let model = support::model(
        "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x' = 1\nevent zero: x\nsolve t = 0..20\n",
    );
    let motion = support::run(&model, &request("taylor", 1e-13));
    assert_eq!(motion.method, "taylor");
    let expected = (1..=6).map(|k| f64::from(k) * std::f64::consts::PI);
    let times: Vec<f64> = motion.events.iter().map(|e| e.t).filter(|&t| t > 1e-6).collect();
    assert_eq!(times.len(), 6, "{times:?}");
    for (found, exact) in times.iter().zip(expected) {
        // A few local errors of 1e-13.
        assert!((found - exact).abs() < 1e-12, "{found} for {exact}");
    }
}

#[test]
fn what_grows_from_nothing_within_a_step_is_seen() {
    // At the start the wall is e^−200: no coefficient knows of it.
    let model = support::model(
        "coordinates z\nlagrangian z'^2/2 - exp(-200*z)\ninitial z = 1, z' = -1\nsolve t = 0..3\n",
    );
    let end = |method: &str| {
        PreparedRun::new(&model, &request(method, 1e-11)).unwrap().integrate().y[0]
    };
    // Off the wall the error of the turning is carried on for two units of time.
    assert!((end("taylor") - end("dop853")).abs() < 1e-8, "{}", end("taylor"));
}
