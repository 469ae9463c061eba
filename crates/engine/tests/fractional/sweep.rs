//! Extrema with memory over the orders from 0.3 to 1.8, against solutions made beforehand: values, the error
//! estimate, and the number of unknowns.

use pfaff::{Motion, Run, Verdict};

use crate::support::{model, run};

/// Agreement asked for, relative to 1 + |value|.
const TOLERANCE: f64 = 1e-10;

const TIMES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

/// Σ c x^p, each term under the derivative of order β from x = 0 (an integral for β < 0).
fn powers(list: &[(f64, f64)], beta: f64, x: f64) -> f64 {
    let term = |&(c, p): &(f64, f64)| {
        c * gamma(p + 1.0) / gamma(p + 1.0 - beta) * libm::pow(x, p - beta)
    };
    list.iter().map(term).sum()
}

/// The same as text, of a distance written as `x`.
fn text(list: &[(f64, f64)], beta: f64, x: &str) -> String {
    let term = |&(c, p): &(f64, f64)| {
        format!("({:.18})*{x}^({:.6})", c * gamma(p + 1.0) / gamma(p + 1.0 - beta), p - beta)
    };
    list.iter().map(term).collect::<Vec<_>>().join(" + ")
}

fn solved(text: &str) -> Motion {
    run(&model(text), &Run { at: Some(TIMES.to_vec()), ..Run::default() })
}

/// The largest distance from given functions of time.
fn off(values: &[f64], exact: &dyn Fn(f64) -> f64) -> f64 {
    let one = |(&t, x): (&f64, &f64)| (x - exact(t)).abs() / (1.0 + exact(t).abs());
    TIMES.iter().zip(values).map(one).fold(0.0, f64::max)
}

/// The judgement of one motion whose largest error is known.
#[track_caller]
fn judged(motion: &Motion, error: f64, what: &str) {
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{what} {:?}", motion.audit);
    assert!(error < TOLERANCE, "{what}: {error:e}");
    let estimate = motion.solutions.as_ref().expect("ends")[0].error.expect("an estimate");
    assert!(error <= estimate, "{what}: {error:e} is above its estimate {estimate:e}");
    assert!(motion.statistics.steps <= 64, "{what}: {} unknowns", motion.statistics.steps);
}

/// ∫ ½(D^α q)² + ½q² + F q with F made so that D^α q = t²(1−t)³(1 − ct): −F = q + D_right^α (D^α q).
/// What has no value at the start is free there, and c is such that its natural condition holds: ∫ τ^(m−1−α)
/// D^α q dτ = 0.
#[test]
fn driven_courses_of_every_order() {
    for alpha in [0.3, 0.4, 0.45, 0.6, 0.75, 0.9, 1.1, 1.25, 1.4, 1.6, 1.8] {
        let m = f64::ceil(alpha);
        let free = alpha < m - 0.5;
        let c = if free { (6.0 + m - alpha) / (2.0 + m - alpha) } else { 0.5 };
        // t²(1−t)³(1 − ct) in powers of t, and (1−z)²z³(1 − c + cz).
        let cubic = [(1.0, 2.0), (-3.0, 3.0), (3.0, 4.0), (-1.0, 5.0)];
        let left: Vec<(f64, f64)> =
            cubic.iter().flat_map(|&(a, p)| [(a, p), (-c * a, p + 1.0)]).collect();
        let square = [(1.0, 3.0), (-2.0, 4.0), (1.0, 5.0)];
        let right: Vec<(f64, f64)> =
            square.iter().flat_map(|&(a, p)| [((1.0 - c) * a, p), (c * a, p + 1.0)]).collect();
        let (q0, v0) = (0.3, if m > 1.0 { -0.2 } else { 0.0 });
        let q = |t: f64| q0 + v0 * t + powers(&left, -alpha, t);
        let force = format!(
            "-({q0} + ({v0})*t + {} + {})",
            text(&left, -alpha, "t"),
            text(&right, alpha, "(1-t)")
        );
        let mut ends = String::new();
        if alpha > 0.5 {
            ends += &format!("initial q = {q0}\nfinal q = {:.17}\n", q(1.0));
        } else {
            // Nothing has a value at the ends; `final` says that this is no run from initial values.
            ends += "final q = free\n";
        }
        if alpha > 1.5 {
            ends += &format!("initial q' = {v0}\n");
        }
        let motion = solved(&format!(
            "coordinates q\nlagrangian caputo(q, {alpha})^2/2 + q^2/2 + q*({force})\n{ends}solve t = 0..1\n"
        ));
        judged(&motion, off(&motion.q[0].values, &q), &format!("{alpha}"));
    }
}

/// ∫ ½y² + F q with D^α q = y and F made so that y = K(1−t)^(α−1) + 2(1−t)^α − (1−t)^(α+1): the multiplier −y
/// is singular at the end for α < 1.
#[test]
fn singular_multipliers() {
    for alpha in [0.6, 0.65, 0.75, 0.9, 1.2, 1.45, 1.6, 1.8] {
        let m = f64::ceil(alpha);
        let beta = |a: f64, b: f64| gamma(a) * gamma(b) / gamma(a + b);
        // For 1 < α < 3/2 the velocity is free at the start: ∫ τ^(1−α) y dτ = 0.
        let free = m > 1.0 && alpha < 1.5;
        let s = 2.0 - alpha;
        let k = if free {
            (beta(s, alpha + 2.0) - 2.0 * beta(s, alpha + 1.0)) / beta(s, alpha)
        } else {
            0.7
        };
        let list = [(k, alpha - 1.0), (2.0, alpha), (-1.0, alpha + 1.0)];
        let y = |t: f64| powers(&list, 0.0, 1.0 - t);
        // D_right^α of (1−t)^(α−1) is zero.
        let force = format!("-({})", text(&list[1..], alpha, "(1-t)"));
        let slope = if m > 1.0 { 0.4 } else { 0.0 };
        let reached = list.iter().map(|(c, p)| c / (p + alpha)).sum::<f64>() / gamma(alpha);
        let mut ends = format!("initial q = 0\nfinal q = {:.17}\n", reached + slope);
        if alpha > 1.5 {
            ends += &format!("initial q' = {slope}\n");
        }
        let motion = solved(&format!(
            "coordinates q, y\nlagrangian y^2/2 + q*({force})\nconstraint drive: caputo(q, {alpha}) - y = 0\nprinciple vakonomic\n{ends}solve t = 0..1\n"
        ));
        let error =
            off(&motion.q[1].values, &y).max(off(&motion.multipliers[0].values, &|t| -y(t)));
        judged(&motion, error, &format!("{alpha}"));
    }
}

/// ∫ ½(x'² + y'²) + F x with y' = D^α x and D^α x = t²(1−t)³: F = x'' − D_right^α (D^α x), and the multiplier
/// is −D^α x where y is free at the end.
#[test]
fn driven_particles_with_a_constraint() {
    for alpha in [0.3, 0.5, 0.7, 0.9] {
        let left = [(1.0, 2.0), (-3.0, 3.0), (3.0, 4.0), (-1.0, 5.0)];
        let right = [(1.0, 3.0), (-2.0, 4.0), (1.0, 5.0)];
        let x = |t: f64| powers(&left, -alpha, t);
        let y = |t: f64| powers(&left, -1.0, t);
        let force =
            format!("{} - ({})", text(&left, 2.0 - alpha, "t"), text(&right, alpha, "(1-t)"));
        let motion = solved(&format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 + x*({force})\nconstraint c: y' - caputo(x, {alpha}) = 0\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = {:.17}\nsolve t = 0..1\n",
            x(1.0)
        ));
        let error = off(&motion.q[0].values, &x)
            .max(off(&motion.q[1].values, &y))
            .max(off(&motion.multipliers[0].values, &|t| powers(&left, 0.0, t)));
        judged(&motion, error, &format!("{alpha}"));
    }
}
