//! Delays, against closed forms by the method of steps.

use pfaff::{Run, StopReason, Verdict};

use super::{codes, last, motion, sound};

/// x' = −x(t − 1) with x = 1 before: a polynomial of degree k on the k-th step, Σ (−1)^k (t − k + 1)^k/k!.
fn decay(t: f64) -> f64 {
    let (mut sum, mut factorial, mut k) = (1.0, 1.0, 1.0);
    while t - k + 1.0 > 0.0 {
        factorial *= k;
        let sign = if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
        sum += sign * libm::pow(t - k + 1.0, k) / factorial;
        k += 1.0;
    }
    sum
}

#[test]
fn the_simplest_delay_is_a_polynomial_on_each_step() {
    let text = "coordinates x\nequation x' = -delay(x, 1)\ninitial x = 1\nsolve t = 0..8, samples = 161";
    let motion = motion(text, &Run::default());
    assert_eq!(motion.stop.reason, StopReason::End);
    for (t, x) in motion.t.iter().zip(&motion.q[0].values) {
        assert!((x - decay(*t)).abs() < 1e-9, "{t}: {x} and not {}", decay(*t));
    }
}

/// x'' = −x(t − π) with x = cos t... before: x'' = cos t, so x = 2 − cos t + … on the first step; and for x = cos t
/// with x(t − 2π) it stays cos t for ever.
#[test]
fn a_history_is_a_function_of_time() {
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: -delay(x, 2*pi)\nhistory x = cos(t)\n\
        initial x = 1\nsolve t = 0..20";
    let motion = sound(text);
    for (t, x) in motion.t.iter().zip(&motion.q[0].values) {
        assert!((x - libm::cos(*t)).abs() < 1e-8, "{t}: {x}");
    }
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: -delay(x', 1)\nhistory x = t^2\n\
        initial x = 0\nsolve t = 0..1";
    // x'' = −2(t − 1): x = t² − t³/3.
    let motion = sound(text);
    assert!((last(&motion.q, "x") - 2.0 / 3.0).abs() < 1e-10);
}

/// Two delays that have no common multiple, against small steps with a stored past.
#[test]
fn several_delays_agree_with_small_steps() {
    let text = "coordinates x\nlagrangian x'^2/2 - 2*x^2\nforce x: -delay(x, 0.7) - 0.3*delay(x', sqrt(2)/4)\n\
        history x = 1 + t/2\ninitial x = 1, x' = 0.5\nsolve t = 0..4";
    let found = last(&sound(text).q, "x");
    // The midpoint rule, by Richardson from two steps.
    let by_steps = |n: usize| {
        let h = 0.7 / n as f64;
        let past = |k: f64, list: &[[f64; 2]], i: usize| -> f64 {
            if k < 0.0 {
                return if i == 0 { 1.0 + k * h / 2.0 } else { 0.5 };
            }
            let (a, part) = (k.floor() as usize, k - k.floor());
            let [p, q] = [list[a], list[(a + 1).min(list.len() - 1)]];
            if i == 1 {
                return p[1] + part * (q[1] - p[1]);
            }
            // Hermite.
            let (s, u) = (part, 1.0 - part);
            u * u * (1.0 + 2.0 * s) * p[0]
                + s * s * (3.0 - 2.0 * s) * q[0]
                + h * (s * u * u * p[1] - s * s * u * q[1])
        };
        let lag = 2.0_f64.sqrt() / 4.0 / h;
        let steps = (4.0 / h).round() as usize;
        let mut list = vec![[1.0, 0.5]];
        for k in 0..steps {
            let [x, v] = list[k];
            let force = |x: f64, at: f64| {
                -4.0 * x - past(at - n as f64, &list, 0) - 0.3 * past(at - lag, &list, 1)
            };
            let at = k as f64;
            let a = force(x, at);
            let middle = [x + h / 2.0 * v, v + h / 2.0 * a];
            let b = force(middle[0], at + 0.5);
            list.push([x + h * middle[1], v + h * b]);
        }
        let over = 4.0 - steps as f64 * h;
        let [x, v] = list[steps];
        x + over * v + over * over / 2.0 * (-4.0 * x)
    };
    let (coarse, fine) = (by_steps(7_000), by_steps(14_000));
    let limit = fine + (fine - coarse) / 3.0;
    assert!((found - limit).abs() < 1e-6, "{found} and not {limit}");
}

/// A sampled law with a delay: between samples x'' is constant.
#[test]
fn a_control_may_look_back() {
    let text = "coordinates x\ninput u = 0\nlagrangian x'^2/2\nforce x: u\n\
        control u = -delay(x, 0.25) every 0.25\ninitial x = 1\nsolve t = 0..3";
    let found = last(&motion(text, &Run::default()).q, "x");
    let (mut x, mut v, mut old) = (1.0, 0.0, 1.0);
    for _ in 0..12 {
        let u = -old;
        old = x;
        x += 0.25 * v + 0.25 * 0.25 * u / 2.0;
        v += 0.25 * u;
    }
    assert!((found - x).abs() < 1e-10, "{found} and not {x}");
}

/// A ball thrown up by a floor that answers to where the ball was: delays go with contacts.
#[test]
fn delays_go_with_contacts() {
    let text = "coordinates y\nlagrangian y'^2/2 - 9.81*y\nforce y: 0.5*delay(y', 0.1)\n\
        contact floor: y >= 0, restitution = 0.8\ninitial y = 1\nsolve t = 0..2";
    let motion = sound(text);
    assert!(motion.events.len() > 2 && motion.q[0].values.iter().all(|y| *y > -1e-9));
}

#[test]
fn mistakes_of_delays_are_told() {
    let head = "coordinates x\ninitial x = 1\nsolve t = 0..10\n";
    let cases = [
        ("lagrangian x'^2/2\nforce x: -delay(x, 0)", "E0456"),
        ("lagrangian x'^2/2\nforce x: -delay(x, -1)", "E0456"),
        ("lagrangian x'^2/2\nforce x: -delay(x, 2)\nhistory t = -1, x = 1", "E0456"),
        ("lagrangian x'^2/2\nforce x: -delay(x, 1)\nhistory x' = 1", "E0456"),
        ("lagrangian x'^2/2\nforce x: -delay(x, 1)\nhistory x = x", "E0456"),
        ("lagrangian x'^2/2 - delay(x, 1)", "E0412"),
        ("lagrangian x'^2/2\nforce x: -delay(x, 1)\nfinal x = 1", "E0451"),
    ];
    for (rest, code) in cases {
        assert_eq!(codes(&format!("{head}{rest}")), [code], "{rest}");
    }
}

/// Errors come back with what is delayed, and are seen: what is told is not below the tenth of what there is, and the
/// strictest tolerances end.
#[test]
fn errors_that_come_back_are_told() {
    let text = "coordinates x\nequation x' = -delay(x, 1)\ninitial x = 1\nsolve t = 0..8";
    for tolerance in [1e-5, 1e-7, 1e-13] {
        let motion = motion(text, &Run { tolerance: Some(tolerance), ..Run::default() });
        assert_eq!(motion.stop.reason, StopReason::End, "{tolerance}: {:?}", motion.notes);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{tolerance}: {:?}", motion.audit);
        let error = (last(&motion.q, "x") - decay(8.0)).abs();
        assert!(error <= 1e3 * tolerance, "{tolerance}: {error}");
        let told = motion.errors[0] + 1e-14;
        assert!(told > 0.1 * error, "{tolerance}: {told} for {error}");
    }
}
