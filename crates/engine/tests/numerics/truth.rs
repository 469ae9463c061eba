//! What `pass` promises: units do not matter, narrow features are met, and the error that is told is the error.

use pfaff::{Method, Motion, Run, Verdict};

use crate::support;

fn run(text: &str, method: &str, tolerance: f64) -> Motion {
    let request =
        Run { method: Method::from_name(method), tolerance: Some(tolerance), ..Run::default() };
    support::run(&support::model(text), &request)
}

fn last(motion: &Motion, k: usize) -> [f64; 2] {
    [&motion.q[k], &motion.v[k]].map(|s| *s.values.last().expect("an output"))
}

/// Two rods in Cartesian coordinates, a sleigh and a spring in the plane, in units of length, mass and time.
fn in_units([l, m, t]: [f64; 3]) -> [String; 3] {
    let g = 9.81 * l / (t * t);
    [
        format!(
            "coordinates x1, y1, x2, y2\nparameters m = {m:e}, l = {l:e}, g = {g:e}\n\
             lagrangian m*(x1'^2 + y1'^2 + x2'^2 + y2'^2)/2 - m*g*(y1 + y2)\n\
             constraint a: x1^2 + y1^2 = l^2\nconstraint b: (x2 - x1)^2 + (y2 - y1)^2 = l^2\n\
             initial x1 = 0.6*l, y1 = -0.8*l, x2 = 1.6*l, y2 = -0.8*l\nsolve t = 0..{:e}",
            2.0 * t
        ),
        format!(
            "coordinates x, y, th\nparameters m = {m:e}, a = {:e}, J = {:e}\n\
             lagrangian m*((x' - a*sin(th)*th')^2 + (y' + a*cos(th)*th')^2)/2 + J*th'^2/2\n\
             constraint k: sin(th)*x' - cos(th)*y' = 0\ninitial x' = {:e}, th' = {:e}\nsolve t = 0..{:e}",
            0.3 * l,
            0.2 * m * l * l,
            l / t,
            1.5 / t,
            5.0 * t
        ),
        format!(
            "coordinates x, y\nparameters m = {m:e}, k = {:e}, c = {:e}, l = {l:e}\nkinetic m*(x'^2 + y'^2)/2\n\
             potential k*(sqrt(x^2 + y^2) - l)^2/2\nforce at [x, y]: -c*[x', y']\n\
             initial x = 1.3*l, y' = {:e}\nsolve t = 0..{:e}",
            40.0 * m / (t * t),
            0.1 * m / t,
            0.5 * l / t,
            5.0 * t
        ),
    ]
}

#[test]
fn units_do_not_matter() {
    let usual = in_units([1.0; 3]);
    for units in [[1e-6, 1e-9, 1.0], [1e6, 1e20, 1e3], [1e-10, 1e-30, 1e-12], [1.0, 1e-16, 1.0]]
    {
        for (text, same) in in_units(units).iter().zip(&usual) {
            let (motion, usual) = (run(text, "dop853", 1e-10), run(same, "dop853", 1e-10));
            assert_eq!(motion.audit.verdict, Verdict::Pass, "{text}: {:?}", motion.audit);
            // Roundings of the units themselves may shift a step.
            let (a, b) = (motion.statistics.steps, usual.statistics.steps);
            assert!(a.abs_diff(b) <= 1 + b / 50, "{text}: {a} steps for {b}");
            let [x, v] = last(&motion, 0);
            let [expected, speed] = last(&usual, 0);
            assert!((x / units[0] - expected).abs() < 1e-7, "{text}: {x} for {expected}");
            assert!((v / units[0] * units[2] - speed).abs() < 1e-6, "{text}: {v} for {speed}");
        }
    }
}

/// A bump of width 0.05 after a flight of length 30 that needs no step at all: what is slower than its height is
/// thrown back with its speed, what is faster passes with it.
#[test]
fn bumps_on_the_way_are_met() {
    for (height, returns) in [(3.0, true), (0.5, false)] {
        let text = format!(
            "coordinates x\nlagrangian x'^2/2 - {height}*exp(-((x - 30)/0.05)^2)\ninitial x = 0, x' = 1.5\n\
             solve t = 0..60"
        );
        for method in ["dop853", "taylor", "auto"] {
            for tolerance in [1e-6, 1e-10, 1e-13] {
                let motion = run(&text, method, tolerance);
                let [x, v] = last(&motion, 0);
                let expected = if returns { -1.5 } else { 1.5 };
                assert!((v - expected).abs() < 1e4 * tolerance, "{method} {tolerance}: {v}");
                assert!(
                    if returns { x < -29.0 } else { x > 89.0 },
                    "{method} {tolerance}: {x}"
                );
                assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
            }
        }
    }
}

/// A blow of 10 ms that is smooth: the momentum is its area.
#[test]
fn smooth_blows_are_met() {
    let text = "coordinates x\nlagrangian x'^2/2\n\
                force x: 1/(1 + exp(-(t - 2)/0.001)) - 1/(1 + exp(-(t - 2.01)/0.001))\nsolve t = 0..40";
    for tolerance in [1e-6, 1e-10, 1e-13] {
        let motion = run(text, "auto", tolerance);
        let [x, v] = last(&motion, 0);
        assert!(
            (v - 0.01).abs() < 1e-2 * tolerance.sqrt()
                && (x - 0.37995).abs() < 0.1 * tolerance.sqrt()
        );
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    }
}

/// Far from t = 0 a step is as long as the rounded times of its ends say.
#[test]
fn large_times_keep_their_digits() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\nsolve t = 1700000000..1700000100";
    for method in ["dop853", "taylor"] {
        let motion = run(text, method, 1e-13);
        let [x, _] = last(&motion, 0);
        // Some hundred steps at 1e-13.
        assert!((x - libm::cos(100.0)).abs() < 1e-10, "{method}: {x}");
    }
}

/// The error that is told is neither far above nor below the true one.
#[test]
fn the_error_that_is_told_is_the_error() {
    let oscillator = |k: f64| {
        format!("coordinates x\nlagrangian x'^2/2 - {k}*x^2/2\ninitial x = 1\nsolve t = 0..20")
    };
    for k in [0.3, 1.0, 7.0] {
        for method in ["dop853", "taylor"] {
            for tolerance in [1e-6, 1e-8, 1e-10] {
                let motion = run(&oscillator(k), method, tolerance);
                let [x, v] = last(&motion, 0);
                let (rate, phase) = (k.sqrt(), k.sqrt() * 20.0);
                let errors = [x - libm::cos(phase), v + rate * libm::sin(phase)];
                let told = [motion.errors[0], motion.velocity_errors[0]];
                for (error, told) in errors.map(f64::abs).into_iter().zip(told) {
                    let what = format!("{k} {method} {tolerance}: {told:e} for {error:e}");
                    assert!(told >= 0.1 * error, "{what}");
                    assert!(told <= 100.0 * error + 1e-12, "{what}");
                }
            }
        }
    }
}

/// Where neighbouring motions come apart, `pass` would promise digits that nobody has.
#[test]
fn chaos_does_not_pass() {
    let text = pfaff::gallery_model("double_pendulum").expect("built in").text;
    let request = Run { t1: Some(40.0), tolerance: Some(1e-10), ..Run::default() };
    let motion = support::run(&support::model(text), &request);
    assert_ne!(motion.audit.verdict, Verdict::Pass);
}

/// The motion is a polynomial that steps of any length follow; the work, of higher degree, is right between them too.
#[test]
fn work_is_right_within_long_steps() {
    for (force, work) in [("t^3", 1.0 / 32.0), ("t^2", 1.0 / 18.0)] {
        let text =
            format!("coordinates x\nlagrangian x'^2/2\nforce x: {force}\nsolve t = 0..3");
        for tolerance in [1e-6, 1e-10, 1e-13] {
            let motion = run(&text, "dop853", tolerance);
            assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
            let degree = if force == "t^3" { 8.0 } else { 6.0 };
            for (t, w) in motion.t.iter().zip(&motion.work) {
                let expected = work * libm::pow(*t, degree);
                let limit = 31.0 * tolerance * expected + 1e-11;
                assert!((w - expected).abs() <= limit, "{force}, t = {t}: {w} for {expected}");
            }
        }
    }
}

/// Positions far from zero hide what velocities are off by: after 40 steps of `rk4` x = 100 + cos t is right to 1e-3 of
/// its size, and x′ is not.
#[test]
fn velocities_are_judged_by_their_own_size() {
    let text = "coordinates x\nlagrangian x'^2/2 - (x - 100)^2/2\ninitial x = 101\nsolve t = 0..40, step = 1";
    let motion = run(text, "rk4", 1e-10);
    let [x, v] = last(&motion, 0);
    let t = 40.0_f64;
    assert!((x - 100.0 - libm::cos(t)).abs() < 1e-2 * 101.0 && (v + libm::sin(t)).abs() > 1e-2);
    let is_second = |c: &&pfaff::Check| c.name == "error by a second integration";
    let check = motion.audit.checks.iter().find(is_second).expect("a second integration");
    assert_eq!(check.verdict, Verdict::Warn, "{check:?}");
}

/// Angles that turn many times are large, and two motions that have nothing to do with each other are near in parts of
/// them. The truth is a motion with a tolerance that is a thousand times smaller, or more.
#[test]
fn angles_that_turn_many_times_do_not_hide_errors() {
    let driven = "coordinates th\nlet X = [0.9653301900550751*cos(4.8930516774692645*t) + sin(th), -cos(th)]\n\
                  kinetic dot(X', X')/2\npotential 9.81*X[2]\ninitial th = 0.3\nsolve t = 0..13.08835203306216";
    for tolerance in [1e-6, 1e-7, 1e-8, 1e-9, 1e-10] {
        let [found, truth] = [tolerance, 1e-13].map(|e| run(driven, "auto", e));
        let error = (last(&found, 0)[0] - last(&truth, 0)[0]).abs();
        let told = found.errors.first().copied().unwrap_or(f64::INFINITY);
        assert!(told >= 0.1 * error, "{tolerance}: {told:e} for {error:e}");
        assert!(error < 0.01 || found.audit.verdict != Verdict::Pass, "{tolerance}: {error}");
    }
}

/// Near the place where its velocity is zero, drag by a power of a half has a kink that no series sees.
#[test]
fn roots_of_speeds_pass_at_their_turning_point() {
    let text = "coordinates x\nlagrangian x'^2/2 - 1.02*x\nforce at [x]: -0.56*(x'^2)^(1/4)*[x']\n\
                initial x' = 1.86\nsolve t = 0..20";
    let found = run(text, "auto", 1e-13);
    assert_eq!(found.audit.verdict, Verdict::Pass, "{:?}", found.audit);
    assert!((last(&found, 0)[0] + 25.235_882_857_895_785).abs() < 1e-10);
}

/// A grain of dust beside a heavy body has digits of its own.
#[test]
fn light_particles_have_their_digits() {
    let text = "coordinates x, y\nlagrangian x'^2/2 + 1e-12*y'^2/2 - x^2/2 - 1e-12*y^2/2\nforce y: -1e-18*x\n\
                initial x = 1, y = 0.001\nsolve t = 0..30";
    // In resonance: y″ = −y − 10⁻⁶ cos t.
    let (s, c) = (libm::sin(30.0), libm::cos(30.0));
    let truth = 1e-3 * c - 0.5e-6 * 30.0 * s;
    for (method, tolerance) in
        [("dop853", 1e-8), ("taylor", 1e-8), ("taylor", 1e-12), ("radau", 1e-10)]
    {
        let found = run(text, method, tolerance);
        assert_eq!(found.audit.verdict, Verdict::Pass, "{method}: {:?}", found.audit);
        let error = (last(&found, 1)[0] - truth).abs();
        assert!(error < 1e-3 * (1e3 * tolerance + 1e-12), "{method} {tolerance}: {error:e}");
    }
}

/// What decays to nothing is measured by what it was: a pulse behind a long rest.
#[test]
fn errors_are_parts_of_what_there_was() {
    let text = "coordinates q\nequation q' = -500*(q - if(t > 4 and t < 4.02, 1, 0))\ninitial q = 0.1\nsolve t = 0..4.03";
    let e = |x: f64| libm::exp(-500.0 * x);
    let truth = (1.0 - e(0.02)) * e(0.01);
    for tolerance in [1e-8, 1e-10, 1e-12] {
        let found = run(text, "radau", tolerance);
        assert_eq!(found.audit.verdict, Verdict::Pass, "{tolerance}: {:?}", found.audit);
        assert!((last(&found, 0)[0] - truth).abs() < 1e3 * tolerance, "{tolerance}");
    }
}

/// How much a short motion makes a change grow is measured by changes of the velocities' own sizes. A blow of some
/// hundred-thousandths of the time, at constant speed: of the tolerances one meets it with a step that is a thousand
/// tolerances wrong. The truths are motions at 1e-13.
#[test]
fn short_motions_do_not_excuse_errors_of_their_steps() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x^2/2 - y^2\nconstraint c: x'^2 + y'^2 = 1\n\
                force x: 2.792307692307692*exp(-((x - 0.285)/0.13)^2)\n\
                force y: 100*exp(-((t - 0.07403699999999999)/1.392e-5)^2)\n\
                initial x = -0.643, y = -0.688, x' = 0.9134962441529757, y' = -0.4068471603912298\n\
                solve t = 0..0.087";
    let truth = last(&run(text, "auto", 1e-13), 1)[1];
    for step in 0..40 {
        let tolerance = 1e-7 * libm::pow(10.0, -0.1 * f64::from(step));
        let found = run(text, "dop853", tolerance);
        let error = (last(&found, 1)[1] - truth).abs();
        let is_right = error < 1.2e3 * tolerance;
        assert!(
            is_right || found.audit.verdict != Verdict::Pass,
            "{tolerance:e}: {error:e}, {:?}",
            found.audit
        );
    }
}

/// Far from t = 0 a short blow begins at a rounded time: what that does to the velocity belongs to the time. Units
/// are 4·10⁻⁷ s in the second, 10¹¹ s in the other.
#[test]
fn short_blows_far_from_zero_pass() {
    for (t0, unit, width) in
        [(1.7e9, 1.0, 0.0005), (2.55e20, 1.5e11, 0.001_694), (850.0, 0.0085, 1e-5)]
    {
        let text = format!(
            "coordinates x\nparameters T = {unit:e}\nlagrangian T^2*x'^2/2 - x^2/2\n\
             force x: 100*exp(-(((t - {t0:e})/T - 0.33)/{width:e})^2)\ninitial x = 0.5\n\
             solve t = {t0:e}..{:e}",
            t0 + 0.75 * unit
        );
        // The area of the blow is 100·√π·width.
        let kick = 100.0 * width * libm::sqrt(std::f64::consts::PI);
        // Times as they are rounded.
        let span = ((t0 + 0.75 * unit) - t0) / unit;
        let truth = 0.5 * libm::cos(span) + kick * libm::sin(span - 0.33);
        for tolerance in [1e-7, 1e-9, 1e-11, 1e-13] {
            for method in ["auto", "dop853"] {
                let found = run(&text, method, tolerance);
                let error = (last(&found, 0)[0] - truth).abs();
                // Of the time, and of the blow's time in parts of its width.
                let late = 4.0 * f64::EPSILON * t0 / unit;
                let limit = 3e3 * tolerance
                    + 1e-11
                    + kick * (width * width + 30.0 * late / width)
                    + late;
                assert!(error < limit, "{t0:e} {method} {tolerance:e}: {error:e} of {limit:e}");
                assert_eq!(found.audit.verdict, Verdict::Pass, "{:?}", found.audit);
            }
        }
    }
}

/// A blow with edges, and what comes long after it: its place in time is rounded, which the motion remembers in all
/// later segments.
#[test]
fn what_a_rounded_time_has_done_stays() {
    /// x and v after a time, of an oscillator with a force.
    fn on([x, v]: [f64; 2], w: f64, span: f64, force: f64) -> [f64; 2] {
        let (s, c, rest) = (libm::sin(w * span), libm::cos(w * span), force / (w * w));
        [rest + (x - rest) * c + v / w * s, v * c - w * (x - rest) * s]
    }
    // The second one and the third one count as wrong if the blow is forgotten.
    for (t0, width, force, w) in
        [(1.7e9, 1e-3, 100.0, 1.0), (1.7e9, 0.03, 80.0, 2.1), (1.7e9, 0.03, 65.0, 2.1)]
    {
        let [a, b, c, d, end] = [0.7, 0.7 + width, 2.3, 4.1, 7.9].map(|t| t0 + t);
        let text = format!(
            "coordinates x\nparameters w = {w}\nlagrangian x'^2/2 - w^2*x^2/2\n\
             force x: if(t > {a:?} and t < {b:?}, {force:?}, 0) + if(t > {c:?}, 0.2, 0) - if(t > {d:?}, 0.3, 0)\n\
             initial x = 1\nsolve t = {t0:?}..{end:?}"
        );
        let mut state = on([1.0, 0.0], w, a - t0, 0.0);
        for (span, force) in [(b - a, force), (c - b, 0.0), (d - c, 0.2), (end - d, -0.1)] {
            state = on(state, w, span, force);
        }
        for tolerance in [1e-8, 1e-9, 1e-11, 1e-13] {
            for method in ["auto", "dop853", "taylor"] {
                let found = run(&text, method, tolerance);
                let error = (last(&found, 0)[0] - state[0]).abs();
                // Both edges of the blow are known to a unit of the last place of time, and to another one where the
                // step is that ends there.
                let late = 4.0 * f64::EPSILON * t0.abs() * force;
                let limit = 1e3 * tolerance + 1e-11 + late;
                assert!(error < limit, "{t0:e} {method} {tolerance:e}: {error:e} of {limit:e}");
                assert_eq!(
                    found.audit.verdict,
                    Verdict::Pass,
                    "{method} {tolerance:e}: {:?}",
                    found.audit
                );
            }
        }
    }
}

/// Errors grow so much that the first second integration comes apart from the motion, and hands over to a stricter one:
/// what is told is the error still.
#[test]
fn errors_that_grow_are_told() {
    for (name, t1) in [("snakeboard", 100.0), ("roller_racer", 200.0)] {
        for tolerance in [1e-9, 1e-10] {
            let to_end = |tolerance: f64| Run {
                t1: Some(t1),
                ..Run::default().method(Method::Dop853).tolerance(tolerance).at([t1])
            };
            let found = support::ends::gallery_by(name, "", &to_end(tolerance));
            let finer = support::ends::gallery_by(name, "", &to_end(1e-13));
            let [mut told, mut off] = [0.0_f64; 2];
            for (k, q) in found.q.iter().enumerate() {
                off = off.max((q.values[0] - finer.q[k].values[0]).abs());
                told = told.max(found.errors[k]);
            }
            let what = format!("{name}, {tolerance:e}: {told:e} for {off:e}");
            assert_eq!(found.audit.verdict, Verdict::Pass, "{what}: {:?}", found.audit);
            assert!(told > 0.1 * off && told < 100.0 * off, "{what}");
        }
    }
}
