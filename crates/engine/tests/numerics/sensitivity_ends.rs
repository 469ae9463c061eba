//! Derivatives of motions between given ends and with memory, second derivatives, and names that are not there.

use pfaff::{Model, Motion, NoFiles, Overrides, Run, Source, Verdict};

use crate::support;

/// What an asked derivative may be off by, in parts of the largest one.
const DIGITS: f64 = 1e-10;

fn changed(text: &str, name: &str, x: f64) -> Model {
    let (set, initial) = match name.strip_suffix("(0)") {
        Some(quantity) => (None, Some(format!("{quantity} = {x:?}"))),
        None => (Some(format!("{name} = {x:?}")), None),
    };
    Model::read(Source::new("model", text), &Overrides { set, initial }, &NoFiles)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn lists(q: &[pfaff::Series], v: &[pfaff::Series], μ: &[pfaff::Series]) -> Vec<f64> {
    q.iter().chain(v).chain(μ).flat_map(|s| s.values.iter().copied()).collect()
}

fn numbers(motion: &Motion) -> Vec<f64> {
    lists(&motion.q, &motion.v, &motion.multipliers)
}

/// Central differences of order eight: truncation of $h^8$ and rounding of $10^{-13}/h$ are both below 1e-11 here.
fn differences(text: &str, request: &Run, (name, value, h): (&str, f64, f64)) -> Vec<f64> {
    let weights = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let mut sum: Vec<f64> = Vec::new();
    for (j, weight) in weights.iter().enumerate() {
        let at = |sign: f64| {
            let x = value + sign * (j + 1) as f64 * h;
            numbers(&support::run(&changed(text, name, x), request))
        };
        let (above, below) = (at(1.0), at(-1.0));
        sum.resize(above.len(), 0.0);
        for (s, (a, b)) in sum.iter_mut().zip(above.iter().zip(&below)) {
            *s += weight * (a - b) / h;
        }
    }
    sum
}

fn agrees(text: &str, at: &[f64], directions: &[(&str, f64, f64)]) -> Motion {
    let request = Run::default().tolerance(1e-13).at(at);
    let names: Vec<&str> = directions.iter().map(|d| d.0).collect();
    let asked = request.clone().sensitivity(&names.join(", "));
    let motion = support::run(&support::model(text), &asked);
    for &direction in directions {
        let found = motion.sensitivity(direction.0).unwrap_or_else(|error| panic!("{error}"));
        let found = lists(&found.q, &found.v, &found.multipliers);
        let expected = differences(text, &request, direction);
        let size =
            expected.iter().filter(|x| x.is_finite()).fold(1.0_f64, |s, x| s.max(x.abs()));
        assert_eq!(found.len(), expected.len(), "{text}");
        for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
            let off = (a - b).abs();
            assert!(
                off <= DIGITS * size || (a.is_nan() && b.is_nan()),
                "{text}\nby {}, number {i}: {a} for {b}, off by {off:e} of {size}",
                direction.0
            );
        }
    }
    for check in motion.audit.checks.iter().filter(|c| c.name.contains("sensitivities")) {
        assert_eq!(check.verdict, Verdict::Pass, "{text}\n{check:?}");
    }
    motion
}

#[test]
fn an_oscillator_between_ends_in_closed_form() {
    let text = "coordinates x\nparameters k = 4, b = 0.7\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 0.1\n\
                final x = b\nsolve t = 0..1\n";
    let request = Run::default().at([0.5, 1.0]).sensitivity("k, b, x(0), x(1)");
    let motion = support::run(&support::model(text), &request);
    let by = |name: &str| motion.sensitivity(name).expect("asked for").q[0].values[0];
    // x = (x₀ sin ω(1 − t) + b sin ωt)/sin ω
    let (w, s) = (2.0_f64, libm::sin(2.0));
    let half = libm::sin(0.5 * w) / s;
    let slope = 0.8 * (0.5 * libm::cos(1.0) * s - libm::sin(1.0) * libm::cos(2.0)) / (s * s);
    for (name, exact) in [("b", half), ("x(0)", half), ("x(1)", half), ("k", slope / (2.0 * w))]
    {
        assert!((by(name) - exact).abs() < 1e-12, "{name}: {} for {exact}", by(name));
    }
}

#[test]
fn a_vakonomic_path_between_ends() {
    let text = "coordinates x, y, z\nparameters c = 1, zf = 0.3, k = 0.2\n\
                lagrangian (x'^2 + y'^2)/2 - k*x^2\nconstraint contact: z' = c*(x*y' - y*x')/2\n\
                principle vakonomic\ninitial x = 0, y = 0, z = 0\nfinal x = 1, y = 0.2, z = zf\n\
                solve t = 0..1\n";
    agrees(text, &[0.0, 0.4, 1.0], &[("c", 1.0, 0.01), ("zf", 0.3, 0.004), ("k", 0.2, 0.02)]);
}

#[test]
fn free_ends_holonomic_constraints_and_forces() {
    // A free end on a surface, a force, and a velocity that is given.
    let text = "coordinates x, y\nparameters r = 1.1, g = 0.6, c = 0.3\n\
                lagrangian (x'^2 + y'^2)/2 - g*y\nconstraint rod: x^2 + y^2 = r^2\nforce x: -c*x'\n\
                initial x = 0.4, y = -sqrt(r^2 - 0.16)\nfinal x = 0.9\nsolve t = 0..1\n";
    agrees(text, &[0.3, 1.0], &[("g", 0.6, 0.02), ("c", 0.3, 0.02)]);
    let text = "coordinates x, y\nparameters m = 1.2, v = 0.5, k = 0.7\n\
                lagrangian m*(x'^2 + y'^2)/2 - k*(x - y)^2/2 - x^4/8\ninitial x = 0.2, y' = v\n\
                final x = 1, y' = 0.1 + m/10\nsolve t = 0..1.5\n";
    let motion = agrees(
        text,
        &[0.0, 1.0, 1.5],
        // y is held by k alone: its derivatives grow like powers of 1/k, and so must the steps shrink.
        &[("m", 1.2, 0.01), ("v", 0.5, 0.03), ("k", 0.7, 0.006), ("x(0)", 0.2, 0.02)],
    );
    assert!(motion.sensitivities.iter().all(|s| s.end.is_none()));
}

#[test]
fn a_free_end_time_moves() {
    // x'^2/2 + e with a free end: the speed is √(2e), so that T = d/√(2e).
    let text = "coordinates x\nparameters e = 0.4, d = 1.5\nlagrangian x'^2/2 + e\ninitial x = 0\n\
                final x = d, t = free\n";
    let request = Run::default().at([0.5]).sensitivity("e, d, x(end)");
    let motion = support::run(&support::model(text), &request);
    let speed = 0.8_f64.sqrt();
    let end = |name: &str| motion.sensitivity(name).expect("asked for").end.expect("free");
    let by = |name: &str| motion.sensitivity(name).expect("asked for").q[0].values[0];
    for (found, exact) in [
        (end("e"), -1.5 / (speed * speed * speed)),
        (end("d"), 1.0 / speed),
        (end("x(end)"), 1.0 / speed),
        (by("e"), 0.5 / speed),
        (by("d"), 0.0),
    ] {
        assert!((found - exact).abs() < 1e-11, "{found} for {exact}");
    }
}

#[test]
fn fractional_equations_and_kernels() {
    // The operators act on the state with the parameters outside, inside (r) and as the order (al).
    let text = "coordinates x\nparameters c = 0.4, k = 2, al = 0.5, r = 1.3\n\
                equation x'' + c*caputo(x, al) + k*x + 0.2*x^3 + 0.1*memory(exp(-r*s), c*x^2) = 0\n\
                initial x = 1, x' = 0.3\nsolve t = 0..2\n";
    let motion = agrees(
        text,
        &[0.0, 1.0, 2.0],
        &[
            ("c", 0.4, 0.02),
            ("k", 2.0, 0.05),
            ("x(0)", 1.0, 0.05),
            ("x'(0)", 0.3, 0.05),
            ("al", 0.5, 0.02),
            ("r", 1.3, 0.05),
        ],
    );
    let noted =
        motion.notes.iter().filter(|n| format!("{n:?}").contains("differences")).count();
    assert_eq!(noted, 2, "the order and the kernel");
    // By the Mittag-Leffler function: D^a x = −k x has x = x₀ E_a(−k t^a), of which the slope by x₀ is E_a itself.
    let text = "coordinates x\nparameters k = 0.8\nequation caputo(x, 0.7) + k*x = 0\ninitial x = 1\nsolve t = 0..1\n";
    let request = Run::default().tolerance(1e-12).at([1.0]).sensitivity("x(0)");
    let motion = support::run(&support::model(text), &request);
    let slope = motion.sensitivities[0].q[0].values[0];
    assert!((slope - motion.q[0].values[0]).abs() < 1e-11, "{slope}");
}

#[test]
fn memory_in_forces_and_constraints() {
    let text = "coordinates x, y\nparameters m = 1, c = 0.3, b = 0.6\n\
                lagrangian m*(x'^2 + y'^2)/2 - x^2/2\nforce x: -c*caputo(x, 0.5)\n\
                constraint drag: y' = b*caputo(x, 0.4)\ninitial x = 1, x' = 0.2\nsolve t = 0..1.5\n";
    agrees(
        text,
        &[0.5, 1.5],
        &[("m", 1.0, 0.012), ("c", 0.3, 0.02), ("b", 0.6, 0.02), ("x(0)", 1.0, 0.05)],
    );
}

#[test]
fn gradients_and_transitions_between_ends() {
    // x = sin(w t)/sin(w) with k = w²; v(1) = w cot(w), ∫x = (1 − cos w)/(w sin w) = tan(w/2)/w.
    let text = "coordinates x\nparameters k = 4, b = 1\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 0\nfinal x = b\n\
                observe v = x'\nobserve place = x\nsolve t = 0..1, tolerance = 1e-13\n";
    let model = support::model(text);
    let motion = support::run(&model, &Run::default().gradient("v", "k, b").transition());
    let w = 2.0_f64;
    let (s, c) = (libm::sin(w), libm::cos(w));
    let slope = (c / s - w / (s * s)) / (2.0 * w);
    let gradient = motion.gradient.as_ref().expect("asked for");
    assert!((gradient.value - w * c / s).abs() < 1e-10, "{gradient:?}");
    for ((name, found), exact) in gradient.by.iter().zip([slope, w * c / s]) {
        assert!((found - exact).abs() < 1e-10, "{name}: {found} for {exact}");
    }
    let matrix = motion.transition.as_ref().and_then(|t| t.matrices.last()).expect("asked for");
    for (found, exact) in matrix.iter().zip([c, s / w, -w * s, c]) {
        assert!((found - exact).abs() < 1e-10, "{matrix:?}");
    }
    let motion = support::run(&model, &Run::default().gradient("integral(place)", "k, b"));
    let gradient = motion.gradient.as_ref().expect("asked for");
    let (half, whole) = (libm::cos(0.5 * w), libm::tan(0.5 * w) / w);
    let slope = (0.5 / (w * half * half) - whole / w) / (2.0 * w);
    for ((name, found), exact) in gradient.by.iter().zip([slope, whole]) {
        assert!((found - exact).abs() < 1e-10, "{name}: {found} for {exact}");
    }
}

#[test]
fn gradients_with_memory_are_the_sensitivities() {
    let text = "coordinates x\nparameters k = 0.8\nequation caputo(x, 0.7) + k*x = 0\nobserve square = x^2\n\
                initial x = 1\nsolve t = 0..1, tolerance = 1e-11\n";
    let model = support::model(text);
    let request = Run::default().at([1.0]).gradient("square", "k, x(0)").sensitivity("k");
    let motion = support::run(&model, &request);
    let gradient = motion.gradient.as_ref().expect("asked for");
    let x = motion.q[0].values[0];
    // x = x₀ E(−k t^a): the slope by x₀ is x/x₀.
    assert!((gradient.value - x * x).abs() < 1e-12, "{gradient:?}");
    assert!((gradient.by[1].1 - 2.0 * x * x).abs() < 1e-9, "{gradient:?}");
    let by_k = 2.0 * x * motion.sensitivity("k").expect("asked for").q[0].values[0];
    assert!((gradient.by[0].1 - by_k).abs() < 1e-12, "{gradient:?}");
}

#[test]
fn second_derivatives() {
    // x = cos(√k t) + u sin(√k t)/√k
    let text = "coordinates x\nparameters k = 4\nlagrangian x'^2/2 - k*x^2/2\ninitial x = 1, x' = 0.5\n";
    let request = Run::to(1.0).at([1.0]).sensitivity("k, x'(0)").second();
    let motion = support::run(&support::model(text), &request);
    let by = |a: &str, b: &str| {
        let first = motion.sensitivity(a).expect("asked for");
        first.second.iter().find(|s| s.name == b).expect("asked for").q[0].values[0]
    };
    let (w, s, c) = (2.0_f64, libm::sin(2.0), libm::cos(2.0));
    // With f = cos w and g = sin w/w: d/dk = (1/2w) d/dw.
    let g1 = c / w - s / (w * w);
    let g2 = -s / w - 2.0 * c / (w * w) + 2.0 * s / (w * w * w);
    let twice = |first: f64, second: f64| (second - first / w) / (4.0 * w * w);
    let exact = twice(-s, -c) + 0.5 * twice(g1, g2);
    assert!((by("k", "k") - exact).abs() < 1e-9, "{} for {exact}", by("k", "k"));
    for pair in [by("k", "x'(0)"), by("x'(0)", "k")] {
        assert!((pair - g1 / (2.0 * w)).abs() < 1e-9, "{pair}");
    }
    assert!(by("x'(0)", "x'(0)").abs() < 1e-9);
}

#[test]
fn what_cannot_be_differentiated_is_refused() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\ninitial x = 0\nfinal x = 1\nsolve t = 0..1\n";
    let refused = |names: &str, words: &str| {
        let request = Run::default().sensitivity(names);
        let error = support::model(text).run(&request).expect_err(names).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("z", "no parameter and no initial value");
    refused("y(0)", "not given at the start");
    refused("y(1)", "not given at the end");
    refused("x(2)", "no initial value");
    // y is free at both ends: any constant does.
    refused("x(0)", "family");
}

/// Second derivatives of a double pendulum: the estimate from orders six and four is that of order eight.
#[test]
fn second_derivatives_are_not_blamed_for_lower_orders() {
    let model = support::model(
        "coordinates a, b\nparameters g = 9.81\nlet P = [sin(a), -cos(a)]\nlet Q = P + [sin(b), -cos(b)]\n\
         lagrangian (dot(P', P') + dot(Q', Q'))/2 - g*(P[2] + Q[2])\ninitial a = 0.6, b = 0.85\n",
    );
    let motion = support::run(&model, &Run::to(2.0).sensitivity("g, a(0)").second());
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}
