//! Motions with memory that are not smooth: jumps, kinks, pulses, switches, narrow and singular forces.
//!
//! With $f = \sum_j c_j (t-b_j)_+^{k_j}/k_j!$ the motion of $D^\alpha q = -\lambda q + f$ is
//!
//! $$ q = q_0 E_\alpha(-\lambda t^\alpha) + \sum_j c_j (t-b_j)_+^{k_j+\alpha}
//!    E_{\alpha,\,k_j+1+\alpha}\bigl(-\lambda (t-b_j)^\alpha\bigr), $$
//!
//! which is the truth here; `mittag_leffler` is tested against tables elsewhere.

use pfaff::{Motion, Range, Run, Value, Verdict, evaluate};

use crate::support::cases::failed;
use crate::support::{count, model, run};

fn at(text: &str, times: &[f64]) -> Motion {
    run(&model(text), &Run { at: Some(times.to_vec()), ..Run::default() })
}

/// The last value of the first coordinate, of a motion that passed.
fn passed(text: &str, t: f64) -> f64 {
    let motion = at(text, &[t]);
    assert_eq!(
        motion.audit.verdict,
        Verdict::Pass,
        "{text} {:?} {:?}",
        motion.audit,
        motion.notes
    );
    assert_eq!(motion.t, [t], "{text} {:?}", motion.notes);
    motion.q[0].values[0]
}

/// What is said of a model that has no motion.
fn failure(text: &str) -> String {
    let request = Run::default();
    match pfaff::run(&model(text), &request, &mut |_, _| true) {
        Ok(motion) => panic!("{text} has a motion: {:?}", motion.stop),
        Err(error) => failed(&error),
    }
}

/// Numbers in 0..1 that look random (splitmix64).
fn split_mix(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn gamma(x: f64) -> f64 {
    libm::tgamma(x)
}

fn mittag_leffler(alpha: f64, beta: f64, z: f64) -> f64 {
    let text = format!("mittag_leffler({alpha:?}, {beta:?}, {z:?})");
    let Ok(Value::Number(value)) = evaluate(&text, "", Range::default()) else {
        panic!("{text} has a value")
    };
    value
}

/// One term $c\,(t-b)_+^k/k!$ of a force.
struct Term {
    c: f64,
    b: f64,
    k: i32,
}

impl Term {
    fn response(&self, alpha: f64, lambda: f64, t: f64) -> f64 {
        let since = t - self.b;
        if since <= 0.0 {
            return 0.0;
        }
        let e = f64::from(self.k) + alpha;
        let z = -lambda * libm::pow(since, alpha);
        self.c * libm::pow(since, e) * mittag_leffler(alpha, 1.0 + e, z)
    }
}

/// A random force as text, and as terms.
fn force(random: &mut dyn FnMut() -> f64, length: f64) -> (String, Vec<Term>) {
    let (mut texts, mut terms) = (Vec::new(), Vec::new());
    for _ in 0..=(3.0 * random()) as usize {
        let (c, b) = (4.0 * random() - 2.0, (0.05 + 0.85 * random()) * length);
        match (7.0 * random()) as usize {
            0 => {
                texts.push(format!("{c}*if(t > {b}, 1, 0)"));
                terms.push(Term { c, b, k: 0 });
            }
            1 => {
                texts.push(format!("{c}*max(0, t - {b})"));
                terms.push(Term { c, b, k: 1 });
            }
            2 => {
                texts.push(format!("{c}*max(0, t - {b})^2/2"));
                terms.push(Term { c, b, k: 2 });
            }
            3 => {
                texts.push(format!("{c}*(abs(t - {b}) + t - {b})/2"));
                terms.push(Term { c, b, k: 1 });
            }
            4 => {
                texts.push(format!("{c}*(1 + sign(t - {b}))/2"));
                terms.push(Term { c, b, k: 0 });
            }
            _ => {
                // A pulse, short or very short.
                let w = length * libm::pow(10.0, -1.0 - 5.0 * random());
                let c = c * length / w;
                texts.push(format!("if(t > {b} and t < {b} + {w}, {c}, 0)"));
                terms.push(Term { c, b, k: 0 });
                terms.push(Term { c: -c, b: b + w, k: 0 });
            }
        }
    }
    (texts.join(" + "), terms)
}

#[test]
fn random_forces_with_breaks_are_right_and_passed() {
    let mut state = 0x6d65_6d6f_7279_u64;
    let mut random = || split_mix(&mut state);
    let (mut not_passed, cases) = (0, count(60, 2000));
    for case in 0..cases {
        let alpha = (1.0 + 18.0 * random()).floor() / 10.0;
        let alpha = if alpha == 1.0 { 0.95 } else { alpha };
        let lambda = if case % 3 == 0 { 0.0 } else { 2.0 * random() };
        let (q0, length) = (2.0 * random() - 1.0, libm::pow(10.0, 2.0 * random() - 1.0));
        let (text, terms) = force(&mut random, length);
        let text = format!(
            "coordinates q\nequation caputo(q, {alpha}) = -{lambda}*q + {text}\ninitial q = {q0}\n\
             solve t = 0..{length}\n"
        );
        let times = [0.31 * length, 0.77 * length, length];
        let motion = at(&text, &times);
        if motion.audit.verdict != Verdict::Pass || motion.t.len() < 3 {
            not_passed += 1;
            continue;
        }
        let mut size = 1.0 + q0.abs();
        for (t, found) in motion.t.iter().zip(&motion.q[0].values) {
            let own = q0 * mittag_leffler(alpha, 1.0, -lambda * libm::pow(*t, alpha));
            let responses = terms.iter().map(|term| term.response(alpha, lambda, *t));
            // NOTE: pulses are differences of responses that are large.
            size +=
                terms.iter().map(|term| term.response(alpha, lambda, *t).abs()).sum::<f64>();
            let exact: f64 = own + responses.sum::<f64>();
            // A hundred tolerances of 1e-10 a step; rounding of the difference above.
            let allowed = 1e-8 * (1.0 + exact.abs()) + 1e-13 * size;
            assert!((found - exact).abs() <= allowed, "{text}at {t}: {found} for {exact}");
        }
    }
    assert!(500 * not_passed <= cases, "{not_passed} of {cases} did not pass");
}

#[test]
fn a_pulse_is_met() {
    let text = "coordinates q\nequation caputo(q, 0.5) = if(t > 0.5 and t < 0.6, 10, 0)\nsolve t = 0..1\n";
    let exact = 10.0 * (libm::sqrt(0.5) - libm::sqrt(0.4)) / gamma(1.5);
    // Ten tolerances.
    assert!((passed(text, 1.0) - exact).abs() < 1e-9);
}

#[test]
fn breaks_that_are_not_linear_in_time_are_met() {
    // A square wave: sin(7t) changes its sign at multiples of π/7.
    let text = "coordinates q\nequation caputo(q, 0.4) = sign(sin(7*t))\nsolve t = 0..5\n";
    let unit = |t: f64| if t > 0.0 { libm::pow(t, 0.4) / gamma(1.4) } else { 0.0 };
    let mut exact = unit(5.0);
    for k in 1..=11 {
        let sign = if k % 2 == 1 { -2.0 } else { 2.0 };
        exact += sign * unit(5.0 - f64::from(k) * std::f64::consts::PI / 7.0);
    }
    assert!((passed(text, 5.0) - exact).abs() < 1e-9);
}

/// A memory that fades exponentially is one more coordinate without memory, and another integrator.
#[test]
fn switches_at_states_agree_with_the_motion_without_memory() {
    for (right, start) in [
        ("1 - 2*max(0, q - 0.5) - P", "q = 0"),
        ("3*cos(3*t) - 2*sign(q)*q^2 - abs(q - 0.3) - P", "q = 0.4"),
        ("if(q > 0.2, -1, 1)*q - 2*P + cos(t)", "q = 0.6"),
        ("sin(2*t) - P*abs(P)", "q = 0"),
    ] {
        let with = format!(
            "coordinates q\nequation q' = {}\ninitial {start}\nsolve t = 0..6\n",
            right.replace('P', "memory(exp(-s), q)")
        );
        let without = format!(
            "coordinates q, p\nequation q' = {}\nequation p' = q - p\ninitial {start}, p = 0\n\
             solve t = 0..6, tolerance = 1e-12\n",
            right.replace('P', "p")
        );
        let (a, b) = (passed(&with, 6.0), passed(&without, 6.0));
        // Ten tolerances, and what growing disturbances make of them.
        assert!((a - b).abs() < 1e-8, "{right}: {a} {b}");
    }
}

#[test]
fn a_motion_that_is_held_between_branches_stops_there() {
    let text = "coordinates q\nequation caputo(q, 0.7) = -3*sign(q - 0.3) - q\ninitial q = 1\nsolve t = 0..2\n";
    let motion = at(text, &[2.0]);
    assert_eq!(motion.stop.reason, pfaff::StopReason::Singular);
    assert!(motion.stop.t > 0.01 && motion.stop.t < 0.5, "{}", motion.stop.t);
}

#[test]
fn narrow_forces_are_met() {
    for w in [1e-2_f64, 1e-3, 1e-5] {
        let text = format!(
            "coordinates q\nequation caputo(q, 0.5) = exp(-((t - 0.5)/{w:?})^2)/{w:?}\nsolve t = 0..1\n"
        );
        // E (1/2 − wξ)^{−1/2} with ξ of variance 1/2.
        let x = w * w;
        let exact = libm::sqrt(2.0) * (1.0 + 0.75 * x + 13.125 * x * x / 4.0 * 1.0);
        let found = passed(&text, 1.0);
        assert!((found - exact).abs() < 1e-9 + 100.0 * x * x, "{w}: {found} {exact}");
    }
}

#[test]
fn singular_forces_are_resolved_or_refused() {
    let text = |f: &str, t0: f64| {
        format!("coordinates q\nequation caputo(q, 0.5) = {f}\nsolve t = {t0}..{}\n", t0 + 1.0)
    };
    for p in [-0.3_f64, -0.6, -0.9] {
        let exact = gamma(1.0 + p) / gamma(1.5 + p);
        for (f, t0) in [(format!("t^({p})"), 0.0), (format!("(t - 3)^({p})"), 3.0)] {
            let found = passed(&text(&f, t0), t0 + 1.0);
            assert!((found - exact).abs() < 1e-9 * (1.0 + exact), "{f}: {found} {exact}");
        }
    }
    let refused = failure(&text("t^(-1.2)", 0.0));
    assert!(refused.contains("no integral"), "{refused}");
}

#[test]
fn powers_of_the_time_since_a_late_start_keep_their_digits() {
    let text =
        "coordinates q\nequation caputo(q, 0.5) = (t - 1000)^0.3\nsolve t = 1000..1002\n";
    let exact = gamma(1.3) / gamma(1.8) * libm::pow(2.0, 0.8);
    assert!((passed(text, 1002.0) - exact).abs() < 1e-9);
}

#[test]
fn data_that_an_equation_does_not_take_are_refused() {
    let text = "coordinates q\nequation rl(q, 0.5) + q = 0\ninitial q = 1\nsolve t = 0..1\n";
    let refused = failure(text);
    assert!(refused.contains("rl(q, 1/2)"), "{refused}");
    // Below the highest order they are taken: s Q − 1 = −√s Q.
    let text = "coordinates q\nequation q' + rl(q, 0.5) = 0\ninitial q = 1\nsolve t = 0..1\n";
    assert!((passed(text, 1.0) - mittag_leffler(0.5, 1.0, -1.0)).abs() < 1e-9);
}

#[test]
fn all_events_of_a_fast_function_are_found() {
    let text = "coordinates q\nequation caputo(q, 0.5) = -q\ninitial q = 1\nevent s: sin(50*t)\nsolve t = 0..10\n";
    let motion = at(text, &[10.0]);
    assert_eq!(motion.events.len(), 159);
    for (k, event) in motion.events.iter().enumerate() {
        let exact = (k + 1) as f64 * std::f64::consts::PI / 50.0;
        assert!((event.t - exact).abs() < 1e-12, "{} {exact}", event.t);
    }
}

#[test]
fn high_orders_have_histories() {
    let text = "coordinates q\nequation caputo(q, 10.5) = 1\nsolve t = 0..1\n";
    assert!((passed(text, 1.0) * gamma(11.5) - 1.0).abs() < 1e-9);
    // J^{12.5} e^{−t} is some 1e-10: the motion is e^{−t} up to that.
    let text = "coordinates q\nequation q' = -q + 1e-3*integral(q, 12.5)\ninitial q = 1\nsolve t = 0..1\n";
    assert!((passed(text, 1.0) - libm::exp(-1.0)).abs() < 1e-9);
}

#[test]
fn kernels_with_kinks_are_met() {
    let (s2, c3, s3) = (libm::sin(2.0), libm::cos(3.0), libm::sin(3.0));
    for (kernel, exact) in [
        ("abs(1 - s)", 2.0 - 2.0 * s2 - c3 + s3),
        ("max(0, 0.94 - s)", -libm::sin(2.06) - 0.94 * c3 + s3),
        ("if(s < 1, 1, 0)", libm::cos(2.0) - libm::cos(3.0)),
    ] {
        let text = format!(
            "coordinates q\nequation q' = cos(t)\nobserve z = memory({kernel}, q)\nsolve t = 0..3\n"
        );
        let motion = at(&text, &[3.0]);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{kernel} {:?}", motion.audit);
        let found = motion.observed[0].values[0];
        // ∫ k(s) sin(3 − s) ds, up to a sign of the window's.
        assert!((found.abs() - exact.abs()).abs() < 1e-9, "{kernel}: {found} {exact}");
    }
}

#[test]
fn kernels_without_an_integral_are_refused() {
    for kernel in
        ["sqrt(0.5 - s)", "log(s - 1)", "1/abs(1 - s)", "1/(s*log(s/4)^2)", "s^(-1.2)"]
    {
        let text = format!(
            "coordinates q\nequation q' = -memory({kernel}, q)\ninitial q = 1\nsolve t = 0..3\n"
        );
        let refused = failure(&text);
        assert!(refused.contains("kernel"), "{kernel}: {refused}");
    }
}

#[test]
fn operators_of_functions_with_breaks_have_their_values() {
    let root = libm::sqrt(0.5);
    for (text, exact) in [
        ("mean(abs(t - 0.5))", 0.25),
        ("caputo(abs(t - 0.5), 0.5)", (2.0 * root - 1.0) / gamma(1.5)),
        ("caputo(abs(t - 0.5), 1.5)", 2.0 / root / gamma(0.5)),
        ("rl(if(t > 0.5, 1, 0), 0.5)", 1.0 / root / gamma(0.5)),
        ("integral(if(t < 0.5, 1, 2), 0.5)", (1.0 + root) / gamma(1.5)),
        ("integral(max(t, 0.3), 1)", 0.09 + (1.0 - 0.09) / 2.0),
        ("memory(max(0, 0.6 - s), sign(t - 0.5))", 0.6 * 0.6 / 2.0 - 0.1 * 0.1),
        (
            "memory(exp(-s), abs(t - 0.5))",
            0.5 - 1.0 + 2.0 * libm::exp(-0.5) - 0.5 * libm::exp(-1.0) - libm::exp(-1.0),
        ),
    ] {
        let Ok(Value::Number(found)) = evaluate(text, "t=1", Range::default()) else {
            panic!("{text} has a value")
        };
        // Rounding of a few integrals.
        assert!((found - exact).abs() < 1e-13, "{text}: {found} {exact}");
    }
}

/// Two switches beside each other, and narrow features of smooth functions.
#[test]
fn operators_of_functions_with_narrow_places_have_their_values() {
    let root_pi = libm::sqrt(std::f64::consts::PI);
    // $f + f''w^2/4$ at the centre of a pulse.
    let past = 2.0 * libm::sqrt(2.0) / root_pi - 0.25e-6 * 0.5 * libm::pow(2.0, -1.5) / root_pi;
    for (text, exact) in [
        (
            "integral(max(abs(t - 1.234), 0.0001), 1)",
            f64::midpoint(1.234_f64.powi(2), 3.766_f64.powi(2)) + 1e-8,
        ),
        ("integral(1e9*max(0, 1e-6 - (t - 1.234)^2), 1)", 4.0 / 3.0),
        ("integral(1e3*exp(-((t - 2)/0.001)^2), 1)", root_pi),
        ("mean(1e6*exp(-((t - 2.3)/0.000001)^2))", root_pi / 5.0),
        ("caputo(tanh((t - 1.7)/0.0001), 0.5)", 2.0 / libm::sqrt(3.3) / root_pi),
        ("memory(exp(-s), 1e3*exp(-((t - 4)/0.001)^2))", root_pi * libm::exp(-1.0 + 0.25e-6)),
        ("integral(1e3*caputo(t, 0.5)*exp(-((t - 2)/0.001)^2), 1)", root_pi * past),
    ] {
        let Ok(Value::Number(found)) = evaluate(text, "t=5", Range::default()) else {
            panic!("{text} has a value")
        };
        // The pulse behind Caputo's derivative has a width of its own.
        let allowed = if text.starts_with("caputo") { 1e-8 } else { 1e-11 };
        assert!((found - exact).abs() < allowed * exact, "{text}: {found} {exact}");
    }
}

#[test]
fn functions_of_time_without_a_tape_drive_motions() {
    // J^{1/2} E_{1/2}(−√t) = 1 − E_{1/2}(−√t).
    let text = "coordinates q\nequation caputo(q, 0.5) = mittag_leffler(0.5, 1, -t^0.5)\nsolve t = 0..1\n";
    let exact = 1.0 - mittag_leffler(0.5, 1.0, -1.0);
    assert!((passed(text, 1.0) - exact).abs() < 1e-9);
    // As a force: q″ = E_{1/2}(−√t), q = t² E_{1/2,3}(−√t); a memory without weight takes this road.
    let text = "coordinates q\nlagrangian q'^2/2\nforce q: mittag_leffler(0.5, 1, -t^0.5) + 0*caputo(q, 0.5)\n\
                observe w = integral(q, 0.5)\nsolve t = 0..1\n";
    assert!((passed(text, 1.0) - mittag_leffler(0.5, 3.0, -1.0)).abs() < 1e-9);
    let text =
        "coordinates q\nequation caputo(q, 0.5) = mittag_leffler(0.5, 1, -q)\nsolve t = 0..1\n";
    assert!(failure(text).contains("depends on more than the time"));
}

#[test]
fn whole_orders_above_two_and_operators_in_steps_work() {
    let text = "coordinates q\nequation caputo(q, 3) = -q\ninitial q = 1, q' = -1, q'' = 1\nsolve t = 0..1\n";
    assert!((passed(text, 1.0) - libm::exp(-1.0)).abs() < 1e-9);
    // D^{1/2} D^{1/2} q = q' where D^{1/2} q begins at zero.
    let text = "coordinates q, y\nequation y = caputo(q, 0.5)\nequation caputo(y, 0.5) + q = 0\ninitial q = 1\n\
                solve t = 0..1\n";
    assert!((passed(text, 1.0) - libm::exp(-1.0)).abs() < 1e-9);
}

#[test]
fn derivatives_of_what_jumps_are_refused() {
    let text = |e: &str| format!("coordinates q\nequation q = {e}\nsolve t = 0..1\n");
    for e in [
        "caputo(if(t > 0.5, 1, 0), 0.5)",
        "caputo(atan2(sin(5*t), cos(5*t)), 0.5)",
        "rl(t*sign(t - 0.3), 0.5)",
        "caputo(abs(t - 0.5), 1.5)",
    ] {
        assert!(failure(&text(e)).contains("jumps"), "{e}");
    }
    let motion = "coordinates q\nequation q' = cos(3*t)\nobserve w = caputo(sign(q - 0.2), 0.5)\nsolve t = 0..1\n";
    assert!(failure(motion).contains("jumps"));
    // What is continuous has its kinks met.
    let kink = passed(&text("caputo(if(t > 0.5, t - 0.5, 0) + abs(t - 0.5), 0.5)"), 1.0);
    let exact = (3.0 * libm::sqrt(0.5) - 1.0) / gamma(1.5);
    assert!((kink - exact).abs() < 1e-9, "{kink} {exact}");
}

#[test]
fn a_pole_ends_the_run_before_it() {
    let text = "coordinates q\nequation caputo(q, 0.5) = 1/(t - 0.5)\nsolve t = 0..1\n";
    let motion = at(text, &[0.25, 1.0]);
    assert_ne!(motion.stop.reason, pfaff::StopReason::End);
    assert!((motion.stop.t - 0.5).abs() < 1e-9, "{}", motion.stop.t);
}
