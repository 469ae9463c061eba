//! Events, rank, start, integrability and divergence, through the language.

use pfaff::{Model, Motion, Run, StopReason, Verdict, check, thermal};

use crate::support;

fn motion(text: &str) -> Motion {
    support::run(&support::model(text), &Run::default())
}

/// The diagnostic of a run that cannot begin.
fn refusal(text: &str) -> String {
    let model = support::model(text);
    match pfaff::run(&model, &Run::default(), &mut |_, _| true) {
        Ok(motion) => panic!("it runs: {:?}", motion.stop),
        Err(pfaff::Error::Usage(message)) => message,
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics: all, .. })) => {
            let told = |d: &pfaff::Diagnostic| format!("{} {}", d.code, d.message);
            all.iter().map(told).collect::<Vec<_>>().join("\n")
        }
    }
}

fn notes(motion: &Motion) -> String {
    pfaff_present::notes(motion).join("\n")
}

fn times(motion: &Motion, name: &str) -> Vec<(f64, &'static str)> {
    let of_name = motion.events.iter().filter(|e| e.name == name);
    of_name.map(|e| (e.t, e.direction)).collect()
}

fn close(a: f64, b: f64, tolerance: f64, what: &str) {
    assert!((a - b).abs() <= tolerance, "{what}: {a}, not {b} (off by {:e})", a - b);
}

const PENDULUM: &str = "coordinates x, y\n\
    lagrangian (x'^2 + y'^2)/2 - 9.81*y\n\
    constraint rod: x^2 + y^2 = 1\n\
    initial x = 0.6, y = -0.8, x' = 0, y' = 0\n";

/// $4K(k)/\omega$ by the arithmetic-geometric mean, $k^2 = 0.1$.
fn period() -> f64 {
    let (mut a, mut b) = (1.0_f64, 0.9_f64.sqrt());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    2.0 * std::f64::consts::PI / (a * 9.81_f64.sqrt())
}

#[test]
fn events_of_a_holonomic_motion_are_located_to_1e_12() {
    let text = format!(
        "{PENDULUM}event falling left: x\nevent rising right: x\nevent rest: x'\n\
         event taut: -2*lambda(rod) - 9.81*(3*0.9 - 1.6)\nevent heavy: reaction(y) - 0.9*9.81*(3*0.9 - 1.6)\n\
         solve t = 0..6, tolerance = 1e-13"
    );
    let motion = motion(&text);
    let period = period();
    for (name, first, direction) in [("left", 0.25, "falling"), ("right", 0.75, "rising")] {
        let found = times(&motion, name);
        assert!(found.len() >= 2, "{name} {found:?}");
        for (k, (t, way)) in found.into_iter().enumerate() {
            close(t, (first + k as f64) * period, 1e-12, name);
            assert_eq!(way, direction);
        }
    }
    for (k, (t, _)) in times(&motion, "rest").into_iter().enumerate() {
        close(t, 0.5 * (1.0 + k as f64) * period, 1e-12, "rest");
    }
    // Tension and vertical reaction pass their values where c = 0.9: at the same moments, four in a period.
    let (taut, heavy) = (times(&motion, "taut"), times(&motion, "heavy"));
    assert!(taut.len() >= 11 && taut.len() == heavy.len(), "{taut:?} {heavy:?}");
    for (a, b) in taut.iter().zip(&heavy) {
        close(a.0, b.0, 1e-12, "reactions as triggers");
    }
    let turn = taut[0].0 + taut[1].0;
    close(turn, 0.5 * period, 1e-12, "symmetric about the lowest point");
}

#[test]
fn a_wheel_that_would_lift_off_stops_the_run() {
    // A bead on the outside of a circle leaves it where cos = 2/3 after starting at rest near the top.
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - y\n\
        constraint hill: x^2 + y^2 = 1\ninitial x = 0.6, y = 0.8, x' = 0\n\
        event stop falling lift: lambda(hill)\nsolve t = 0..10, tolerance = 1e-13";
    let motion = motion(text);
    assert_eq!(motion.stop.reason, StopReason::Event("lift".into()));
    let event = &motion.events[0];
    // N = y − v² with v² = 2 (0.8 − y): zero at y = 1.6/3.
    close(event.q[1], 1.6 / 3.0, 1e-12, "height of the lift-off");
}

#[test]
fn many_events_and_two_in_one_step() {
    let mut text = String::from(
        "coordinates x\nlagrangian x'^2/2\ninitial x' = 1\nsolve t = 0..10, tolerance = 1e-12\n",
    );
    let many: Vec<String> = (1..=40).map(|k| format!("event e{k}: x - {k}/4.1\n")).collect();
    text += &many.concat();
    text += "event pair: (x - 5)*(x - 5.001)\nevent graze: (x - 3)^2\nevent near: (x - 3)^2 + 1e-9\n";
    let motion = motion(&text);
    for k in 1..=40 {
        let found = times(&motion, &format!("e{k}"));
        assert_eq!(found.len(), 1, "e{k}");
        close(found[0].0, f64::from(k) / 4.1, 1e-12, "e");
    }
    let pair = times(&motion, "pair");
    assert_eq!(pair.iter().map(|p| p.1).collect::<Vec<_>>(), ["falling", "rising"]);
    close(pair[0].0, 5.0, 1e-12, "first of two in one step");
    close(pair[1].0, 5.001, 1e-12, "second of two in one step");
    let graze = times(&motion, "graze");
    assert_eq!(graze.len(), 1);
    assert_eq!(graze[0].1, "touch");
    // A double zero is known to the square root of the rounding.
    close(graze[0].0, 3.0, 1e-6, "grazing");
    assert!(times(&motion, "near").is_empty(), "what does not touch is not reported");
    let mut last = 0.0;
    for event in &motion.events {
        assert!(event.t >= last, "in the order of the run");
        last = event.t;
    }
}

#[test]
fn repeated_constraints_are_named_and_change_nothing() {
    let plain = motion(&format!("{PENDULUM}solve t = 0..3, tolerance = 1e-12"));
    let twice = motion(&format!(
        "{PENDULUM}constraint again: 3*x^2 + 3*y^2 - 3 = 0\nconstraint moving: x*x' + y*y' = 0\nsolve t = 0..3, tolerance = 1e-12"
    ));
    assert!(notes(&twice).contains("`moving`") && notes(&twice).contains("redundant"));
    assert_eq!(twice.audit.verdict, Verdict::Pass);
    for (a, b) in plain.q.iter().zip(&twice.q) {
        for (x, y) in a.values.iter().zip(&b.values) {
            close(*x, *y, 1e-10, &a.name);
        }
    }
    // No step is lost to rows that disagree by rounding.
    assert!(twice.statistics.rejected <= plain.statistics.rejected + 5);
}

#[test]
fn bricards_linkage_moves_though_counting_forbids_it() {
    let gallery = pfaff::gallery_model("bricard").expect("in the gallery");
    let model = support::model(gallery.text);
    let seen = check(&model);
    assert_eq!((seen.degrees_of_freedom, seen.regular), (1, Some(true)));
    let motion = support::run(&model, &Run::default());
    assert!(notes(&motion).contains("is redundant"), "{}", notes(&motion));
    let q = &motion.q[0].values;
    let range = q.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        - q.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(range > 0.5, "it moves by {range}");
    // Energy at rest is that of the start: gravity moves it and nothing takes from it.
    let drift = motion.energy.iter().fold(0.0_f64, |m, e| m.max((e - motion.energy[0]).abs()));
    assert!(drift < 1e-9, "{drift:e}");
    assert!(motion.statistics.rejected < 10);
}

/// Where steps are too long the energy drifts, and the audit books none of it as work of the reaction, which does none.
#[test]
fn the_energy_balance_sees_what_is_lost_off_the_constraints() {
    let model = support::model(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\nconstraint rod: x^2 + y^2 = 1\n\
         initial x = 1, y = 0, x' = 0, y' = 0\nsolve t = 0..3",
    );
    for step in [0.05, 0.02] {
        let request =
            Run { method: Some(pfaff::Method::Rk4), step: Some(step), ..Run::default() };
        let motion = support::run(&model, &request);
        let drift =
            motion.energy.iter().fold(0.0_f64, |m, e| m.max((e - motion.energy[0]).abs()));
        let check = motion.audit.checks.iter().find(|c| c.name == "energy balance");
        let seen = check.expect("a balance").value;
        // Gravity is in the Lagrangian, so no work is booked at all; some other quadrature of the reaction's
        // would be off by the drift itself.
        assert!(drift > 1e-7, "step {step}: there is something to see, {drift:e}");
        assert!((seen / drift - 1.0).abs() < 1e-6, "step {step}: {seen:e} of {drift:e}");
    }
}

/// A rate that becomes a billion times too fast for an explicit method: given up after some ten thousand
/// steps, and not after ten million.
#[test]
fn a_run_that_crawls_is_given_up() {
    let model = support::model(
        "coordinates x\nequation x' = if(t > 0.5, 1e12, 1)*(1 - x)\ninitial x = 0\nsolve t = 0..2",
    );
    let request = Run { method: Some(pfaff::Method::Dop853), ..Run::default() };
    let motion = support::run(&model, &request);
    assert_eq!(motion.stop.reason, StopReason::StepTooSmall, "{:?}", motion.stop);
    assert!((motion.stop.t - 0.5).abs() < 1e-3, "{:?}", motion.stop);
    assert!(motion.statistics.steps < 100_000, "{:?}", motion.statistics);
}

#[test]
fn singular_places_are_passed_or_named() {
    // Straight through the crossing of two lines.
    let crossing = motion(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint lines: x^2 = y^2\n\
         initial x = -1, y = -1, x' = 0.7\nsolve t = 0..3",
    );
    assert_eq!(crossing.stop.reason, StopReason::End);
    close(crossing.q[0].values[200], 1.1, 1e-9, "x = −1 + 0.7 t");
    // A parallelogram through its change points: passed, or said to be singular at one of them (where a = 0
    // or π), never passed wrongly.
    for gravity in [0.0, 0.3, 1.0] {
        let parallelogram = motion(&format!(
            "coordinates a, b, c\nlet e(u) = [cos(u), sin(u)]\nlet A = e(a)\nlet C = [2, 0] + e(c)\n\
             kinetic (dot(A', A') + dot(C', C') + 0.3*b'^2)/2\npotential {gravity}*(A[2] + 0.5*C[2])\n\
             constraint loop: A + 2*e(b) = C\ninitial a = 1, b = 0, c = 1, a' = 3\nsolve t = 0..6",
        ));
        let drift = parallelogram
            .energy
            .iter()
            .fold(0.0_f64, |m, e| m.max((e - parallelogram.energy[0]).abs()));
        assert!(drift < 1e-6, "gravity {gravity}: energy drifts by {drift:e}");
        if gravity == 0.0 {
            assert_eq!(parallelogram.stop.reason, StopReason::End);
        }
        if parallelogram.stop.reason != StopReason::End {
            assert_eq!(parallelogram.stop.reason, StopReason::Singular);
            assert!(notes(&parallelogram).contains("`loop[1]`"), "{}", notes(&parallelogram));
        }
    }
    // A bead cannot turn round in a cusp: said at every tolerance, at one time, before any energy is lost.
    for tolerance in ["1e-5", "1e-8", "1e-10", "1e-12"] {
        let cusp = motion(&format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint track: y^2 = x^3\n\
             initial x = 1, y = 1, x' = -1, y' = -1.5\nsolve t = 0..2, tolerance = {tolerance}",
        ));
        assert_eq!(cusp.stop.reason, StopReason::Singular);
        // Length of the arc by its speed: ((13/4)^{3/2} − 1)·8/27/√(13/4).
        let arc = (3.25_f64 * 3.25_f64.sqrt() - 1.0) * 8.0 / 27.0;
        close(cusp.stop.t, arc / 3.25_f64.sqrt(), 1e-4, "at the tip");
        let told = notes(&cusp);
        assert!(told.contains("`track` no longer restricts any velocity"), "{told}");
    }
    // A rope that shrinks to nothing winds up infinitely often: given up at once, and not after ten million steps.
    let rope = motion(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint rope: x^2 + y^2 = (1 - t)^2\n\
         initial x = 1, y = 0, y' = 0.5\nsolve t = 0..2, tolerance = 1e-6",
    );
    assert_eq!(rope.stop.reason, StopReason::Singular);
    assert!(notes(&rope).contains("`rope`"), "{}", notes(&rope));
    assert!(rope.statistics.steps < 100_000 && rope.stop.t > 0.99, "{:?}", rope.statistics);
    // Two rods pulled straight cannot go on.
    let straight = motion(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint left: x^2 + y^2 = 1\n\
         constraint right: (x - 1 - t)^2 + y^2 = 1\ninitial x = 0.5, y = 0.8\nsolve t = 0..2",
    );
    assert_eq!(straight.stop.reason, StopReason::Singular);
    close(straight.stop.t, 1.0, 1e-6, "when they are straight");
    let told = notes(&straight);
    assert!(told.contains("`left`, `right` lose their independence"), "{told}");
}

#[test]
fn contradictions_are_refused_by_name() {
    let plane =
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\ninitial x' = 1\nsolve t = 0..1\n";
    let at_once = refusal(&format!("{plane}constraint one: y = 0\nconstraint two: y = 1"));
    assert!(at_once.contains("E0601") && at_once.contains("off by"), "{at_once}");
    let next = refusal(&format!("{plane}constraint one: y' = 0\nconstraint two: y' = t"));
    assert!(next.contains("E0603") && next.contains("`two` contradicts"), "{next}");
    let late = motion(&format!(
        "{plane}constraint one: y' = 0\nconstraint two: y' = if(t < 0.5, 0, (t - 0.5)^4)"
    ));
    assert_eq!(late.stop.reason, StopReason::Singular);
    assert!(late.stop.t >= 0.5 && late.stop.t < 0.52 && notes(&late).contains("`two`"));
    let free = refusal("coordinates x, y\nlagrangian x'^2/2 + y*x'\nsolve t = 0..1");
    assert!(free.contains("mass matrix is singular"), "{free}");
    // A massless coordinate that a constraint holds is no trouble: x'' = -x.
    let held = motion(
        "coordinates x, y\nlagrangian x'^2/2 - y^2/2\nconstraint c: y' = x'\ninitial x' = 1\nsolve t = 0..1, tolerance = 1e-12",
    );
    close(held.q[0].values[200], libm::sin(1.0), 1e-11, "sin");
}

#[test]
fn loops_are_closed_from_what_is_given() {
    let loop_of = |initial: &str| {
        motion(&format!(
            "coordinates a, b, s\nlet e(u) = [cos(u), sin(u)]\nlagrangian (a'^2 + b'^2 + s'^2)/2\n\
             constraint loop: 0.3*e(a) + e(-b) = [s, 0]\ninitial {initial}\nsolve t = 0..1"
        ))
    };
    let (sine, cosine) = (libm::sin(0.5), libm::cos(0.5));
    let b = libm::asin(0.3 * sine);
    let s = 0.3 * cosine + libm::cos(b);
    let open = loop_of("a = 0.5, a' = 1");
    close(open.q[0].values[0], 0.5, 0.0, "what is given is kept");
    close(open.q[1].values[0], b, 1e-14, "b is solved for");
    close(open.q[2].values[0], s, 1e-14, "s is solved for");
    assert!(notes(&open).contains("initial b ="), "{}", notes(&open));
    let guessed = loop_of("a = 0.5, b = 0.1, s = 1.2, a' = 1");
    let told = notes(&guessed);
    for name in ["initial a moved from 0.5", "initial b moved", "initial s moved"] {
        assert!(told.contains(name), "{told}");
    }
    let residual = 0.3 * libm::sin(guessed.q[0].values[0]) - libm::sin(guessed.q[1].values[0]);
    close(residual, 0.0, 1e-14, "closed");
    let none = refusal(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint a: x^2 + y^2 = 1\nconstraint b: x = 3\nsolve t = 0..1",
    );
    assert!(none.contains("`b`") || none.contains("`a`"), "{none}");
    assert!(none.contains("off by"), "{none}");
}

/// Missing velocities are the smallest in the kinetic metric also where the constraint bends: a stationary
/// point of the energy on it.
#[test]
fn missing_velocities_are_the_smallest_possible() {
    let motion = motion(
        "coordinates x, y, z\nlagrangian x'^2/2 + (y'^2 + 3*z'^2)/2\n\
         constraint c: 0.05*y' + 0.6*z' + 0.2*z'^2 = -1.1 + 0.1*x'\ninitial x' = 1\nsolve t = 0..0.1",
    );
    let (y, z) = (motion.v[1].values[0], motion.v[2].values[0]);
    close(0.05 * y + 0.6 * z + 0.2 * z * z, -1.0, 1e-12, "on the constraint");
    // (y, 3 z) is parallel to the gradient (0.05, 0.6 + 0.4 z).
    close(y * (0.6 + 0.4 * z), 3.0 * z * 0.05, 1e-9, "stationary");
    close(motion.v[0].values[0], 1.0, 0.0, "what is given is kept");
}

fn integrable(constraints: &str, coordinates: &str) -> Vec<Option<bool>> {
    let kinetic: Vec<String> = coordinates.split(", ").map(|q| format!("{q}'^2")).collect();
    let text = format!(
        "coordinates {coordinates}\nlagrangian ({})/2\n{constraints}\nsolve t = 0..1",
        kinetic.join(" + ")
    );
    check(&support::model(&text)).constraints.iter().map(|c| c.integrable).collect()
}

#[test]
fn integrability_is_that_of_the_distribution() {
    let (yes, no) = (Some(true), Some(false));
    let one = |constraint: &str| integrable(&format!("constraint {constraint}"), "x, y, z")[0];
    assert_eq!(one("z' = y*x'"), no, "contact");
    assert_eq!(one("x*x' + y*y' = 0"), yes, "exact");
    assert_eq!(one("y*x' - x*y' = 0"), yes, "with the integrating factor 1/x²");
    assert_eq!(one("exp(z)*(y*z*x' + x*z*y' + x*y*z') = 0"), yes, "with an integrating factor");
    assert_eq!(one("(x^2 + 1)*(z' - y*x') = 0"), no, "a factor does not help");
    assert_eq!(one("sin(x)*x' + t*y' = 0"), no, "time: dt enters the form");
    assert_eq!(one("x' = t"), yes, "affine and holonomic in disguise");
    assert_eq!(one("x' = y"), no, "affine");
    assert_eq!(one("t*x' + x = 0"), yes, "d(t x)");
    assert_eq!(one("x'^2 + y'^2 = 1"), no, "nonlinear");
    // Row mixing: neither row is closed, both together are the differentials of x and y - z.
    let mixed = integrable(
        "constraint a: x'*cos(z) + (y' - z')*sin(z) = 0\nconstraint b: -x'*sin(z) + (y' - z')*cos(z) = 0",
        "x, y, z",
    );
    assert_eq!(mixed, [yes, yes]);
    // With the help of others: z' = y x' is integrable where x is held.
    let helped = integrable("constraint hold: x' = 0\nconstraint c: z' = y*x'", "x, y, z");
    assert_eq!(helped, [yes, yes]);
    let partly =
        integrable("constraint c: z' = y*x'\nconstraint d: w' = 2*u'", "x, y, z, u, w");
    assert_eq!(partly, [no, yes]);
    let robot = pfaff::gallery_model("two_wheel_robot").expect("in the gallery");
    let robot = check(&support::model(robot.text));
    let verdicts: Vec<_> = robot.constraints.iter().map(|c| c.integrable).collect();
    assert_eq!(verdicts, [no, no, yes], "the heading is the difference of the wheels");
}

#[test]
fn large_models_are_surveyed_without_delay() {
    let snake = pfaff::gallery_model("snake").expect("in the gallery");
    let model = support::model_with(snake.text, "N=20", "");
    let seen = check(&model);
    assert_eq!(seen.degrees_of_freedom, 2);
    assert_eq!(seen.constraints[0].integrable, Some(false));
    assert!(seen.constraints.iter().all(|c| c.integrable != Some(true)));
}

/// The divergence on (q, p) by differences: $\operatorname{tr}\partial\ddot q/\partial\dot q + d\ln\det
/// M/dt$, another road than $\partial(Q+R)/\partial p$.
fn divergence_by_differences(model: &Model, t: f64, q: &[f64], v: &[f64]) -> f64 {
    let dynamics = pfaff::derive(model, None).expect("equations");
    let at = |t: f64, q: &[f64], v: &[f64]| {
        let state = pfaff::State { t, q: q.to_vec(), v: v.to_vec(), multipliers: Vec::new() };
        pfaff::at_state(&dynamics, &state).expect("a regular state")
    };
    let (n, h) = (q.len(), 1e-5);
    let mut sum = 0.0;
    for k in 0..n {
        let shifted = |h: f64| {
            let mut v = v.to_vec();
            v[k] += h;
            at(t, q, &v).acceleration[k]
        };
        sum += (shifted(h) - shifted(-h)) / (2.0 * h);
    }
    let a = at(t, q, v).acceleration;
    let determinant = |h: f64| {
        let q: Vec<f64> = (0..n).map(|k| q[k] + h * v[k] + h * h * a[k] / 2.0).collect();
        let v: Vec<f64> = (0..n).map(|k| v[k] + h * a[k]).collect();
        let m = at(t + h, &q, &v).mass;
        match n {
            2 => m[0] * m[3] - m[1] * m[2],
            3 => {
                m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6])
                    + m[2] * (m[3] * m[7] - m[4] * m[6])
            }
            _ => panic!("two or three coordinates"),
        }
    };
    sum + (libm::log(determinant(h)) - libm::log(determinant(-h))) / (2.0 * h)
}

#[test]
fn divergence_agrees_with_differences() {
    let texts = [
        "coordinates x, y\nlagrangian (2 + sin(x))*x'^2/2 + (1 + y^2)*y'^2/2 + 0.2*cos(x)*x'*y' - x*y\n\
         force x: -0.3*x'^3*y\ndissipation 0.2*(x' - y')^2\n",
        "coordinates x, y, phi\nlet X = x + 0.2*cos(phi)\nlet Y = y + 0.2*sin(phi)\n\
         lagrangian (X'^2 + Y'^2)/2 + phi'^2/4\nconstraint blade: y'*cos(phi) - x'*sin(phi) = 0\n",
        "coordinates x, y, z\nlagrangian (1 + z^2)*(x'^2 + y'^2)/2 + z'^2/2 - x*z\n\
         constraint wheel: z' = 0.6*sqrt(x'^2 + y'^2)\ndissipation 0.1*x'^2\n",
        "coordinates x, y\nlagrangian x'^4/12 + x'^2/2 + y'^2/2 - x^2*y\nforce y: -0.3*y'*x'\n",
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x*y - x*z\n\
         constraint held along [1, 0.2, 0]: y' = z*x' + cos(t)\n",
    ];
    for text in texts {
        let initial = "initial x = 0.3, y = 0.4, x' = 0.8, y' = 0.5\nobserve omega = divergence\nsolve t = 0..1, tolerance = 1e-12, samples = 5";
        let model = support::model(&format!("{text}{initial}"));
        let motion = support::run(&model, &Run::default());
        let mut largest = 0.0_f64;
        for i in 0..motion.t.len() {
            let row = |s: &[pfaff::Series]| s.iter().map(|s| s.values[i]).collect::<Vec<_>>();
            let (q, v) = (row(&motion.q), row(&motion.v));
            let expected = divergence_by_differences(&model, motion.t[i], &q, &v);
            // Central differences with h = 1e-5: truncation 1e-10, rounding 1e-11 over h.
            close(motion.observed[0].values[i], expected, 1e-8 * (1.0 + expected.abs()), text);
            largest = largest.max(expected.abs());
        }
        assert!(largest > 1e-3, "there is something to compare in {text}");
    }
}

#[test]
fn divergence_as_formula_and_as_event() {
    let model = support::model(
        "coordinates x, y\nparameters m = 2, gamma = 0.3\nlagrangian m*(x'^2 + y'^2)/2 - x^2*y\n\
         dissipation gamma*m*(x'^2 + y'^2)/2\nobserve omega = divergence\nevent late: divergence + 0.6 + (t - 0.5)\nsolve t = 0..1",
    );
    let motion = support::run(&model, &Run::default());
    close(motion.observed[0].values[7], -0.6, 1e-15, "−2 γ");
    close(times(&motion, "late")[0].0, 0.5, 1e-12, "an event of it");
    let dynamics = pfaff::derive(&model, None).expect("equations");
    let shown = pfaff_present::ToText::to_text(&pfaff_present::present(&dynamics));
    assert!(shown.contains("Omega = -2*gamma"), "{shown}");
    let free = support::run(
        &support::model(
            "coordinates x, y\nlagrangian (1 + y^2)*x'^2/2 + y'^2/2 - cos(x)\ninitial x' = 1, y' = 0.3\nobserve omega = divergence\nsolve t = 0..1",
        ),
        &Run::default(),
    );
    assert!(free.observed[0].values.iter().all(|x| *x == 0.0), "Liouville");
}

/// [TZ06, §6]: $\mathcal P = kT\,\Omega$. Friction alone keeps no temperature; friction with $\sum p^2/m =
/// n\,kT$ held does on it; Gauss's thermostat does for $2K = (n-1)kT$.
#[test]
fn constant_temperature_systems_pass_their_test() {
    let test = |text: &str, kt: f64| {
        let model = support::model(text);
        let dynamics = pfaff::derive(&model, None).expect("equations");
        thermal(&dynamics, kt).expect("a temperature can be tested")
    };
    let plane = "coordinates x, y, z\nparameters m = 2, kT = 0.7\nkinetic m*(x'^2 + y'^2 + z'^2)/2\n\
        potential x^2/2 + y^2*z^2\ninitial x = 0.3, y = 0.5, x' = 0.6, y' = 0.3, z' = 0.5\nsolve t = 0..1\n";
    let none = test(plane, 0.7);
    assert!(none.stationary && none.forces == 0.0, "no forces: any temperature");
    let friction = format!("{plane}dissipation 0.3*m*(x'^2 + y'^2 + z'^2)/2\n");
    let alone = test(&friction, 0.7);
    assert!(!alone.stationary && alone.forces > 0.1);
    // Σ p²/m = n kT is the condition for the friction force itself …
    let held = format!("{friction}constraint c: m*(x'^2 + y'^2 + z'^2) = 3*kT\n");
    assert!(test(&held, 0.7).forces < 1e-12);
    assert!(test(&held, 0.8).forces > 0.01);
    // … and Σ p²/m = (n − 1) kT for the whole flow, reactions included.
    let gauss = format!("{friction}constraint c: m*(x'^2 + y'^2 + z'^2) = 2*kT\n");
    let whole = test(&gauss, 0.7);
    assert!(whole.stationary && whole.stationarity < 1e-12, "{whole:?}");
    assert!(!test(&gauss, 0.75).stationary);
    let model = support::model(plane);
    let dynamics = pfaff::derive(&model, None).expect("equations");
    assert!(thermal(&dynamics, -1.0).is_err());
}

/// `complex(re, im)` as an argument of `gamma` and `mittag_leffler`: the answer is two numbers.
#[test]
fn functions_of_complex_numbers_have_values() {
    use pfaff::{Range, Value, evaluate};
    let value = |text: &str, with: &str| match evaluate(text, with, Range::default()) {
        Ok(Value::List(parts)) => match parts[..] {
            [Value::Number(re), Value::Number(im)] => [re, im],
            _ => panic!("{text}"),
        },
        other => panic!("{text}: {other:?}"),
    };
    // Γ(1 + i), and E_{1,1}(z) = exp z, E_{2,1}(−z²) = cos z.
    let [re, im] = value("gamma(complex(1, a))", "a=1");
    close(re, 0.498_015_668_118_356, 1e-14, "re");
    close(im, -0.154_949_828_301_810_7, 1e-14, "im");
    let [re, im] = value("mittag_leffler(1, 1, complex(0.5, 2))", "");
    close(re, libm::exp(0.5) * libm::cos(2.0), 1e-13, "re");
    close(im, libm::exp(0.5) * libm::sin(2.0), 1e-13, "im");
    let [re, im] = value("mittag_leffler(2, 1, complex(0, -2))", "");
    // z = 1 + i.
    close(re, libm::cos(1.0) * libm::cosh(1.0), 1e-13, "re");
    close(im, -libm::sin(1.0) * libm::sinh(1.0), 1e-13, "im");
    assert!(evaluate("gamma(complex(0, 0))", "", Range::default()).is_err(), "a pole");
}

/// Accelerations follow from the equations: they are no data where nothing has memory.
#[test]
fn an_initial_acceleration_is_a_mistake_without_memory() {
    for text in [
        "coordinates x\nlagrangian x'^2/2\ninitial x = 1, x'' = 3\nsolve t = 0..1",
        "coordinates x\nequation x'' = -x\ninitial x = 1, x'' = 3\nsolve t = 0..1",
    ] {
        let errors = Model::parse(text).expect_err("x'' is refused");
        assert!(
            errors.to_string().contains("`x''` follows from the equations of motion"),
            "{errors}"
        );
    }
}

/// Redundant multipliers are those of least norm, in a run as at a state, in the saddle-point form as in the reduced
/// one.
#[test]
fn redundant_multipliers_are_those_of_least_norm_everywhere() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - 9.81*y\nconstraint a: y' - x' = 0\n\
                constraint b: 2*y' - 2*x' = 0\nconstraint c: z' - x' = 0\ninitial x' = 1, y' = 1, z' = 1\nsolve t = 0..1\n";
    // λ_a + 2 λ_b = 2 g/3 is carried by both: (1, 2)/5 of it.
    let expected = [9.81 * 2.0 / 15.0, 9.81 * 4.0 / 15.0, -3.27];
    let model = support::model(text);
    let run = support::run(&model, &Run::default());
    let derivation = pfaff::derive(&model, None).expect("equations");
    let (q, v) = (vec![0.0; 3], vec![1.0; 3]);
    let state = pfaff::State { t: 0.0, q, v, multipliers: vec![0.0; 3] };
    let report = pfaff::at_state(&derivation, &state).expect("numbers");
    for a in 0..3 {
        close(run.multipliers[a].values[0], expected[a], 1e-12, "run");
        close(report.multipliers[a], expected[a], 1e-12, "state");
    }
    // The same with a holonomic constraint, which keeps the saddle-point form.
    let saddle = format!("{text}constraint d: z - x = 0\n");
    let run = support::run(&support::model(&saddle), &Run::default());
    let sum = run.multipliers[2].values[0] + run.multipliers[3].values[0];
    close(sum, -3.27, 1e-9, "both carry it");
    close(run.multipliers[2].values[0], run.multipliers[3].values[0], 1e-9, "in equal parts");
    close(run.multipliers[0].values[0], expected[0], 1e-9, "and the others as before");
    assert!(notes(&run).contains("reactions are determined, multipliers are not"));
}
