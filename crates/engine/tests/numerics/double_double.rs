//! Motions with some thirty digits.

use std::sync::atomic::{AtomicUsize, Ordering};

use pfaff::{Interrupt, Note, Precision, Run, StopReason, Verdict};

use crate::support;

fn decimals(text: &str, t: f64) -> (String, f64, pfaff::Motion) {
    let request = Run::default().precision(Precision::DoubleDouble).at([t]);
    let motion = support::run(&support::model(text), &request);
    let exact = motion.double_double.clone().expect("asked for");
    assert_eq!(exact.q[0].values[0].high, motion.q[0].values[0]);
    (exact.q[0].decimals()[0].clone(), exact.digits, motion)
}

#[test]
fn closed_forms_to_thirty_digits() {
    // cos 10, [mpmath]; 0.1 is a tenth and no double.
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\nsolve t = 0..10\n";
    let (x, digits, motion) = decimals(text, 10.0);
    assert_eq!(x[..30], "-0.839071529076452452258863947824"[..30]);
    assert!(digits > 28.0, "{digits}");
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    let text = "coordinates x\nparameters a = 0.1\nequation x' = a*x\ninitial x = 0.1\nsolve t = 0..2\n";
    // 0.1 e^0.2
    assert_eq!(decimals(text, 2.0).0[..30], "0.1221402758160169833921071994639"[..30]);
    // x' = 1/(1 + x²) … as functions: x = tan t through atan, erf by its own slope.
    let text = "coordinates x, y\nequation x' = 1 + x^2\nequation y' = 2/sqrt(pi)*exp(-t^2)\n\
                initial x = 0\nobserve angle = atan(x)\nobserve error = erf(t) - y\nobserve two = atan2(x, 1) - asin(sin(t))\n\
                solve t = 0..1\n";
    let request = Run::default().precision(Precision::DoubleDouble).at([0.7]);
    let motion = support::run(&support::model(text), &request);
    let exact = motion.double_double.expect("asked for");
    assert!((exact.observed[0].values[0] - pfaff::DoubleDouble::from(0.7)).high.abs() < 1e-30);
    assert!(exact.observed[1].values[0].high.abs() < 1e-30, "{:?}", exact.observed[1]);
    assert!(exact.observed[2].values[0].high.abs() < 1e-30, "{:?}", exact.observed[2]);
}

#[test]
fn a_driven_pendulum_and_a_constrained_body() {
    let text = "coordinates x\nequation x'' = sin(t) - sin(x)\ninitial x = 1, x' = 2\nsolve t = 4..10\n";
    let (_, digits, motion) = decimals(text, 10.0);
    assert!(digits > 25.0, "{digits}");
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    // The sleigh: a missing velocity is put onto the constraint with all digits, and stays there.
    let text = "coordinates x, y, phi\nparameters m = 1, J = 0.5, a = 0.2\nlet X = x + a*cos(phi)\n\
                let Y = y + a*sin(phi)\nlagrangian m*(X'^2 + Y'^2)/2 + J*phi'^2/2\n\
                constraint blade: y'*cos(phi) - x'*sin(phi) = 0\ninitial x' = 1, phi = 0.4, phi' = 0.3\n\
                observe off = y'*cos(phi) - x'*sin(phi)\nobserve e = energy\nsolve t = 0..5\n";
    let (_, digits, motion) = decimals(text, 5.0);
    assert!(digits > 25.0, "{digits}");
    let exact = motion.double_double.expect("asked for");
    assert!(exact.observed[0].values[0].high.abs() < 1e-29, "{:?}", exact.observed[0]);
}

#[test]
fn what_has_no_thirty_digits_is_refused() {
    let refused = |text: &str, words: &str| {
        let request = Run::to(1.0).precision(Precision::DoubleDouble);
        let error = support::model(text).run(&request).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("coordinates x\nequation x' = gamma(2 + x)\ninitial x = 1\n", "`gamma`");
    refused("coordinates x\nequation x' = -abs(x)\ninitial x = 1\n", "branches");
    refused("coordinates x\nequation caputo(x, 0.5) = -x\ninitial x = 1\n", "memory");
    refused("coordinates x\nlagrangian x'^2\ninitial x = 1\nfinal x = 2\n", "given ends");
    let model = support::model(
        "coordinates x\nequation x' = x\ninitial x = 1\nsolve t = 0..1, precision = double_double\n",
    );
    assert!(support::run(&model, &Run::default()).double_double.is_some());
}

/// Asked to end after the motion in doubles, a run keeps that and says so.
#[test]
fn thirty_digits_that_are_interrupted_leave_doubles() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    static ALLOWED: AtomicUsize = AtomicUsize::new(usize::MAX);
    let interrupt =
        Interrupt(|| ASKED.fetch_add(1, Ordering::Relaxed) >= ALLOWED.load(Ordering::Relaxed));
    let text = "coordinates x\nlagrangian x'^2/2 + cos(x)\ninitial x = 1\nsolve t = 0..40\n";
    let model = support::model(text);
    let request = Run::default().interrupt(interrupt);
    let doubles = support::run(&model, &request);
    // As often as the run in doubles asks, and three steps more.
    ALLOWED.store(ASKED.swap(0, Ordering::Relaxed) + 3, Ordering::Relaxed);
    let motion = support::run(&model, &request.precision(Precision::DoubleDouble));
    assert_eq!(motion.stop.reason, StopReason::Interrupted);
    assert!(motion.double_double.is_none());
    assert_eq!(motion.q[0].values, doubles.q[0].values);
    let told =
        |note: &Note| matches!(note, Note::Stopped(why) if why.contains("thirty digits"));
    assert!(motion.notes.iter().any(told), "{:?}", motion.notes);
}

/// A tolerance that only double-double can meet says nothing about the doubles beside it.
#[test]
fn doubles_are_compared_as_far_as_they_know() {
    let model = support::model(
        "coordinates x\nequation x'' = -sin(x)\ninitial x = 1\n\
         solve t = 0..5, precision = double_double, tolerance = 1e-28\n",
    );
    let motion = support::run(&model, &Run::default());
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}
