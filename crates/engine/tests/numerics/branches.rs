//! Motions that are not smooth everywhere: right to the tolerance by every method, and passed.

use pfaff::{Method, Model, Motion, Note, Overrides, Run, Source, StopReason, Verdict};
use pfaff_model::Files;

use crate::support;

const METHODS: [Method; 3] = [Method::Auto, Method::Dop853, Method::Taylor];
const TOLERANCES: [f64; 4] = [1e-6, 1e-9, 1e-11, 1e-13];

/// The motion with one output, at its end.
fn end(text: &str, method: Method, tolerance: f64) -> Motion {
    let model = support::model(text);
    let t1 = model.solve.range.expect("a solve line").1;
    let run = Run::default().method(method).tolerance(tolerance).at([t1]);
    support::run(&model, &run)
}

/// Every method comes to the same end, passed, with an error of some tens of steps.
fn comes_to(text: &str, expected: f64) {
    for method in METHODS {
        for tolerance in TOLERANCES {
            let motion = end(text, method, tolerance);
            let found = motion.q[motion.q.len() - 1].values[0];
            let what = format!("{text}\n{method:?} {tolerance:e}: {found} for {expected}");
            assert_eq!(motion.stop.reason, StopReason::End, "{what}");
            assert!((found - expected).abs() < 300.0 * tolerance.max(1e-13), "{what}");
            assert_eq!(motion.audit.verdict, Verdict::Pass, "{what}\n{:?}", motion.audit);
        }
    }
}

/// A potential |x|: parabolas of the period 4√2.
#[test]
fn a_kink_of_the_potential() {
    let s = 20.0 - 14.0 * f64::sqrt(2.0);
    comes_to(
        "coordinates x\nlagrangian x'^2/2 - abs(x)\ninitial x = 1\nsolve t = 0..20",
        s * s / 2.0 - 1.0,
    );
    comes_to(
        "coordinates x\nlagrangian x'^2/2 - sqrt(x^2)\ninitial x = 1\nsolve t = 0..20",
        s * s / 2.0 - 1.0,
    );
    comes_to(
        "coordinates x\nlagrangian x'^2/2 - max(x, -x)\ninitial x = 1\nsolve t = 0..20",
        s * s / 2.0 - 1.0,
    );
}

/// A potential that is twice as steep on one side: the period is 3√2, and after four of them it rises from x = 0.
#[test]
fn a_kink_between_two_slopes() {
    let rising = 20.0 - 14.0 * f64::sqrt(2.0);
    for potential in ["max(x, -2*x)", "if(x > 0, x, -2*x)", "-min(-x, 2*x)"] {
        comes_to(
            &format!(
                "coordinates x\nlagrangian x'^2/2 - {potential}\ninitial x = 1\nsolve t = 0..20"
            ),
            f64::sqrt(2.0) * rising - rising * rising / 2.0,
        );
    }
}

/// A potential of triangles, over whose tops the motion goes: it slows down by 1 and speeds up by 1 in turn.
#[test]
fn corners_of_triangles() {
    use std::f64::consts::PI;
    let top = f64::sqrt(9.0 - 2.0 * PI);
    let half = 3.0 - top;
    let whole = (20.0 / (2.0 * half)).floor();
    let s = 20.0 - 2.0 * whole * half;
    let u = s - half;
    let part = if u < 0.0 { 3.0 * s - s * s / 2.0 } else { PI + top * u + u * u / 2.0 };
    for potential in ["acos(cos(x))", "-asin(sin(x + pi/2))"] {
        comes_to(
            &format!(
                "coordinates x\nlagrangian x'^2/2 - {potential}\ninitial x' = 3\nsolve t = 0..20"
            ),
            2.0 * PI * whole + part,
        );
    }
}

/// A kink within a kink: the sign of the outer switch depends on the branch of the inner one. With $w = x + 0.3$ the
/// force is −w up to w = 0, which is passed at the speed V, and then w.
#[test]
fn a_kink_within_a_kink() {
    let (passed, speed) = (libm::atan(0.4), f64::sqrt(0.04 + 0.25));
    comes_to(
        "coordinates x\nlagrangian x'^2/2\nforce x: abs(abs(x) - 0.3)\n\
         initial x = -0.5, x' = 0.5\nsolve t = 0..0.8",
        speed * libm::sinh(0.8 - passed) - 0.3,
    );
}

/// A blow of ten milliseconds, which a long step would not see: $\cos t + 100\int\sin(t - s)\,ds$.
#[test]
fn a_pulse_in_time() {
    let t = 10.0;
    comes_to(
        "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: if(t > 2 and t < 2.01, 100, 0)\n\
         initial x = 1\nsolve t = 0..10",
        libm::cos(t) + 100.0 * (libm::cos(t - 2.01) - libm::cos(t - 2.0)),
    );
}

/// A ball thrown straight up with quadratic drag: the root of a sum of squares is not analytic where it turns.
#[test]
fn drag_at_the_turning_point() {
    let (c, g, v, t) = (0.1_f64, 9.81_f64, 11.0_f64, 2.75);
    let terminal = (g / c).sqrt();
    let up = libm::atan(v / terminal) / (g * c).sqrt();
    let height = libm::log(1.0 + c * v * v / g) / (2.0 * c);
    let fall = libm::log(libm::cosh((g * c).sqrt() * (t - up))) / c;
    comes_to(
        "parameters c = 0.1, g = 9.81\ncoordinates x, y\nlagrangian (x'^2 + y'^2)/2 - g*y\n\
         force at [x, y]: -c*norm([x', y'])*[x', y']\ninitial y' = 11\nsolve t = 0..2.75",
        height - fall,
    );
}

/// A force that switches within a thousandth of a unit of the velocity: the amplitude falls by almost 0.2 each half
/// period. All methods agree; nothing closed is known of the layer.
#[test]
fn a_narrow_layer_is_seen() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: -0.1*tanh(x'/0.001)\ninitial x = 1\nsolve t = 0..10";
    let expected = end(text, Method::Dop853, 1e-14).q[0].values[0];
    comes_to(text, expected);
}

/// Switches that oscillate with time, many within one step of a series.
#[test]
fn a_switch_that_oscillates() {
    // The integral of ±1 by the sign of sin 3t − 0.3 over whole periods and a rest in which it is positive.
    let (a, period) = (libm::asin(0.3) / 3.0, 2.0 * std::f64::consts::PI / 3.0);
    let high = period / 2.0 - 2.0 * a;
    let t = 4.0 * period + 0.5;
    let expected = 4.0 * (high - (period - high)) - a + (0.5 - a);
    comes_to(
        &format!("coordinates q\nequation q' = if(sin(3*t) > 0.3, 1, -1)\nsolve t = 0..{t}"),
        expected,
    );
}

/// Dry friction: the amplitude falls by 0.6 each half period, and the third time the spring is too weak.
#[test]
fn friction_holds() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: -0.3*sign(x')\ninitial x = 2\nsolve t = 0..20";
    for method in METHODS {
        let motion = end(text, method, 1e-10);
        assert_eq!(motion.stop.reason, StopReason::End, "{method:?}");
        let off = motion.q[0].values[0] + 0.2;
        assert!(off.abs() < 1e-8, "{method:?}: {off:e}");
    }
}

/// At rest within the reach of friction it stays so.
#[test]
fn friction_holds_from_the_start() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: -0.3*sign(x')\ninitial x = 0.1\nsolve t = 0..5";
    let motion = support::run(&support::model(text), &Run::default());
    assert!(motion.q[0].values.iter().all(|x| (x - 0.1).abs() < 1e-15));
    assert_eq!(motion.audit.verdict, Verdict::Pass);
}

/// Between two branches that push back to where they meet, the motion stays there (Filippov's solution).
#[test]
fn branches_that_push_back_hold() {
    let text = "coordinates x\nequation x' = if(x > 0, -1, 1)\ninitial x = 1\nsolve t = 0..5";
    let motion = end(text, Method::Auto, 1e-10);
    assert_eq!(motion.stop.reason, StopReason::End);
    // It comes to zero at t = 1, by straight lines.
    let off = motion.q[0].values[0];
    assert!(off.abs() < 1e-10, "{off:e}");
}

/// Energy and work go on over the switches: a force that is bounded by `min` and `max` in both directions.
#[test]
fn work_adds_up_over_segments() {
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: -2*max(-0.1, min(0.1, x)) - 0.05*x'\n\
                initial x = 0.5, x' = 1\nsolve t = 0..30";
    let motion = support::run(&support::model(text), &Run::default());
    for ((energy, work), t) in motion.energy.iter().zip(&motion.work).zip(&motion.t) {
        assert!((energy - motion.energy[0] - work).abs() < 1e-8, "{t}: {energy} {work}");
    }
    assert_eq!(motion.audit.verdict, Verdict::Pass);
    assert!(motion.audit.checks.iter().any(|c| c.name == "branches"));
    // Dense output goes on too.
    let x = motion.position("x").expect("a column");
    for (t, value) in motion.t.iter().zip(&motion.q[0].values) {
        assert!((x.at(*t) - value).abs() < 1e-9, "{t}");
    }
}

/// A vanishing second derivative is no linearity: the running length of $\sin t$ over ten units of time.
#[test]
fn memory_of_an_absolute_value() {
    let text = "coordinates q, w\nequation q' = cos(t)\nequation w = integral(abs(q'), 1)\nsolve t = 0..10";
    let motion = end(text, Method::Auto, 1e-10);
    // The way of sin t: 1 up, 2 down, 2 up, 1 down to 3π, and on down to sin 10.
    let expected = 6.0 - libm::sin(10.0);
    assert!((motion.q[1].values[0] - expected).abs() < 1e-7, "{}", motion.q[1].values[0]);
}

#[test]
fn a_constraint_with_an_absolute_value_is_not_linear() {
    let text = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x^2/2\nconstraint c: y' = abs(x')\n\
                initial x = 1, x' = 0.2\nsolve t = 0..10";
    let model = support::model(text);
    let motion = support::run(&model, &Run::default());
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    // On either branch y'² = x'², so that x moves with twice its mass; y grows by the way of x.
    let w = f64::sqrt(0.5);
    for (i, t) in motion.t.iter().enumerate() {
        let x = libm::cos(w * t) + 0.2 / w * libm::sin(w * t);
        assert!((motion.q[0].values[i] - x).abs() < 1e-7, "{t}: {}", motion.q[0].values[i]);
    }
}

/// The cube of a magnitude as a spline: the condition at its ends holds, so that it is exact.
struct Cube;

impl Files for Cube {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok("x,f\n-2,8\n-1,1\n0,0\n1,1\n2,8\n".to_owned())
    }
}

/// A blow of 20 ms.
struct Blow;

impl Files for Blow {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok("t,tau\n0,0\n1,0\n1.01,5\n1.02,0\n4,0\n".to_owned())
    }
}

/// Straight lines through a blow: its moment is 5·0.01, about t = 1.01. The smooth curve swings beyond the data, which
/// is noted.
#[test]
fn lines_through_a_blow() {
    let read = |manner: &str| {
        let text = format!(
            "coordinates x\nlagrangian x'^2/2\nforce x: table(t, \"blow.csv\", \"tau\"{manner})\nsolve t = 0..4"
        );
        Model::read(Source::new("test", &text), &Overrides::default(), &Blow).expect("a model")
    };
    for tolerance in TOLERANCES {
        let run = Run::default().tolerance(tolerance).at([4.0]);
        let motion = support::run(&read(", \"linear\""), &run);
        let [x, v] = [&motion.q, &motion.v].map(|columns| columns[0].values[0]);
        // Polynomials between the knots: rounding remains.
        assert!((v - 0.05).abs() < 1e-14 && (x - 0.05 * 2.99).abs() < 1e-13, "{x} {v}");
        assert_eq!((motion.audit.verdict, &motion.notes[..]), (Verdict::Pass, &[][..]));
    }
    let motion = support::run(&read(""), &Run::default().at([4.0]));
    let told = format!("{:?}", motion.notes);
    assert!(told.contains("between 1.02 and 4"), "{told}");
    let wrong =
        "coordinates x\nlagrangian x'^2/2\nforce x: table(t, \"blow.csv\", \"tau\", \"cubic\")";
    let refused = Model::read(Source::new("test", wrong), &Overrides::default(), &Blow);
    let refused = refused.expect_err("no such manner");
    assert_eq!(refused.diagnostics[0].code, "E0303");
}

/// The ends of the motions with two forces are the same.
fn agree(model: &dyn Fn(&str) -> String, force: &str, same: &str) {
    for method in [Method::Auto, Method::Dop853] {
        for tolerance in [1e-6, 1e-10] {
            let [found, expected] = [force, same].map(|f| end(&model(f), method, tolerance));
            let what = format!("{force}: {:?} for {:?}", found.q, expected.q);
            for (a, b) in found.q.iter().zip(&expected.q) {
                // Both have the errors of some tens of steps.
                let off = (a.values[0] - b.values[0]).abs();
                assert!(off < 300.0 * tolerance, "{what}");
            }
            assert_eq!(found.stop.reason, StopReason::End, "{what}");
            assert_eq!(found.audit.verdict, Verdict::Pass, "{what}\n{:?}", found.audit);
        }
    }
}

/// Functions that are zero on the whole of one side of a switch have the sign of zero there.
const ZERO_ON_ONE_SIDE: [(&str, &str); 8] = [
    ("sign(max(x - 0.5, 0))", "if(x > 0.5, 1, 0)"),
    ("sign((x - 0.5 + abs(x - 0.5))/2)", "if(x > 0.5, 1, 0)"),
    ("if(max(x - 0.5, 0) <= 0, 1, 0)", "if(x > 0.5, 0, 1)"),
    ("if(max(x - 0.5, 0) > 0, 1, 0)", "if(x > 0.5, 1, 0)"),
    ("if(min(x - 0.5, 0) < 0, 0, 1)", "if(x < 0.5, 0, 1)"),
    ("if(min(x, 0.5) >= 0.5, 1, 0)", "if(x > 0.5, 1, 0)"),
    ("if(if(x > 0.5, 0.5 - x, 0) > 0, 1, 0)", "0"),
    ("atan2(min(x - 0.5, 0), -1)", "if(x > 0.5, pi, atan2(x - 0.5, -1))"),
];

#[test]
fn functions_that_are_zero_on_one_side_of_a_switch() {
    let model = |force: &str| {
        format!(
            "coordinates x\nlagrangian x'^2/2 - x^2/2\nforce x: {force}\ninitial x = 0.3, x' = 1\nsolve t = 0..3"
        )
    };
    for (force, same) in ZERO_ON_ONE_SIDE {
        agree(&model, force, same);
    }
}

#[test]
fn functions_that_are_zero_on_one_side_in_models_with_memory() {
    let model = |force: &str| {
        format!(
            "coordinates x\nequation x'' + x + 0.1*memory(exp(-s), x) = {force}\ninitial x = 0.3, x' = 1\n\
             solve t = 0..3"
        )
    };
    for (force, same) in ZERO_ON_ONE_SIDE.into_iter().take(3) {
        agree(&model, force, same);
    }
}

/// The sign of a coordinate that stays at zero is zero, until something pushes it.
#[test]
fn the_sign_of_what_stays_at_zero() {
    let model = |push: &str, force: &str| {
        format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 - x^2/2 - y^2/2\nforce x: {force}\nforce y: {push}\n\
             initial x = 0.3, x' = 1\nsolve t = 0..3"
        )
    };
    agree(&|force: &str| model("0", force), "sign(y)", "0");
    agree(&|force: &str| model("0", force), "if(y >= 0, 1, 0)", "1");
    agree(&|force: &str| model("0", force), "if(y > 0, 1, 0)", "0");
    agree(&|force: &str| model("0", force), "sign(y) + if(y >= 0, 1, 0)", "1");
    agree(&|force: &str| model("if(t > 1, 1, 0)", force), "sign(y)", "if(t > 1, 1, 0)");
    agree(&|force: &str| model("if(t > 1, -1, 0)", force), "sign(y)", "if(t > 1, -1, 0)");
}

/// Straight lines through the points of a potential, and of a stiffness.
struct Corners;

impl Files for Corners {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok("x,f\n-3,2\n-1,0.5\n0.4,0.1\n3,4\n".to_owned())
    }
}

/// At the knots of straight lines over the state, or over what is not linear in time, the motion goes on from one line
/// to the next as it does where the lines are written out.
#[test]
fn straight_lines_over_the_state() {
    let lines = |u: &str| {
        format!(
            "if({u} < -1, 0.5 - 0.75*({u} + 1), if({u} < 0.4, 0.1 - ({u} - 0.4)*2/7, 0.1 + ({u} - 0.4)*1.5))"
        )
    };
    let models = [
        ("x", "lagrangian x'^2/2 - CURVE"),
        ("(t/7 - 1)", "lagrangian x'^2/2 - (1 + 0.3*CURVE)*x^2/2"),
        ("2*sin(t)", "lagrangian x'^2/2 - (1 + 0.3*CURVE)*x^2/2"),
        ("x'", "lagrangian x'^2/2 - x^2/2\nforce x: -CURVE*x'"),
    ];
    for (u, equations) in models {
        let text = |curve: &str| {
            let equations = equations.replace("CURVE", curve);
            format!("coordinates x\n{equations}\ninitial x = 1.5\nsolve t = 0..20")
        };
        let table = text(&format!("table({u}, \"f.csv\", \"f\", \"linear\")"));
        let table = Model::read(Source::new("test", &table), &Overrides::default(), &Corners);
        let table = table.expect("a model");
        let written = support::model(&text(&lines(u)));
        for tolerance in [1e-6, 1e-10, 1e-12] {
            let run = Run::default().method(Method::Dop853).tolerance(tolerance).at([20.0]);
            let [found, expected] = [&table, &written].map(|model| support::run(model, &run));
            let off = (found.q[0].values[0] - expected.q[0].values[0]).abs();
            assert!(off < 1e3 * tolerance, "{u}, {tolerance:e}: {off:e}");
            assert_eq!(found.audit.verdict, Verdict::Pass, "{u}: {:?}", found.audit);
        }
    }
    // Beyond the data there is no motion.
    let text = "coordinates x\nlagrangian x'^2/2\nforce x: table(x, \"f.csv\", \"f\", \"linear\")\n\
                initial x = 1\nsolve t = 0..20";
    let model = Model::read(Source::new("test", text), &Overrides::default(), &Corners);
    let motion = support::run(&model.expect("a model"), &Run::default());
    let last = *motion.q[0].values.last().expect("a row");
    // The last output is less than a tenth before, at a speed below 4.
    assert!(motion.stop.reason != StopReason::End && last > 2.6 && last <= 3.0, "{last}");
}

/// A spline at a coordinate: steps end at its knots, where its third derivative jumps. At loose tolerances, too, the
/// errors are those of smooth equations.
#[test]
fn a_spline_at_a_coordinate() {
    let read = |text: &str| {
        Model::read(Source::new("test", text), &Overrides::default(), &Cube).expect("a model")
    };
    let quadrature = read(
        "coordinates q, p\nequation q' = 1\nequation p' = table(q, \"cube.csv\", \"f\")\n\
         initial q = -1.3\nsolve t = 0..2.9",
    );
    let integral = (f64::powi(1.3, 4) + f64::powi(1.6, 4)) / 4.0;
    let spline = read(
        "coordinates x\nlagrangian x'^2/2 - table(x, \"cube.csv\", \"f\")\n\
         initial x = 1.2, x' = 0.3\nsolve t = 0..30",
    );
    let written = support::model(
        "coordinates x\nlagrangian x'^2/2 - abs(x)^3\ninitial x = 1.2, x' = 0.3\nsolve t = 0..30",
    );
    let expected = support::run(&written, &Run::default().tolerance(1e-14).at([30.0]));
    for tolerance in TOLERANCES {
        let run = Run::default().tolerance(tolerance);
        let motion = support::run(&quadrature, &run.clone().at([2.9]));
        let off = (motion.q[1].values[0] - integral).abs();
        // A rule of order 8 is exact for the polynomials on both sides: rounding remains.
        assert!(off < 1e-14 * integral, "{tolerance:e}: {off:e}");
        let motion = support::run(&spline, &run.at([30.0]));
        let off = (motion.q[0].values[0] - expected.q[0].values[0]).abs();
        assert!(off < 300.0 * tolerance.max(1e-14), "{tolerance:e}: {off:e}");
        assert!(off < 10.0 * motion.errors[0], "{off:e} of {:?}", motion.errors);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
    }
}

/// Roots and fractional powers of what is never negative. In the potential |x|^(3/2) a swing from 1 lasts
/// 4/√2 · 2/3 · B(2/3, 1/2), and what is thrown through a root of a distance is not stopped by it.
#[test]
fn roots_of_magnitudes_go_on_beyond_their_zeros() {
    use libm::tgamma;
    let beta = tgamma(2.0 / 3.0) * tgamma(0.5) / tgamma(7.0 / 6.0);
    let period = 4.0 / 2.0_f64.sqrt() * 2.0 / 3.0 * beta;
    let energies = [
        "lagrangian x'^2/2 - abs(x)^1.5",
        "lagrangian x'^2/2\nforce x: -1.5*sign(x)*sqrt(abs(x))",
        "lagrangian x'^2/2\nforce x: 1.5*(sqrt(max(0, -x)) - sqrt(max(x, 0)))",
        "equation x'' = -1.5*sign(x)*exp(0.5*log(abs(x)))",
    ];
    for (energy, method) in
        energies.iter().flat_map(|e| ["auto", "dop853", "radau"].map(|m| (e, m)))
    {
        let text = format!("coordinates x\n{energy}\ninitial x = 1\nsolve t = 0..{period:?}");
        let request = Run { method: Method::from_name(method), ..Run::default() };
        let motion = support::run(&support::model(&text), &request);
        assert_eq!(motion.stop.reason, StopReason::End, "{text} {method}: {:?}", motion.notes);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{text} {method}: {:?}", motion.audit);
        let x = motion.q[0].values.last().expect("a row");
        assert!((x - 1.0).abs() < 1e-8, "{text} {method}: {x}");
    }
}

/// A constraint with two branches sets another velocity at its switch: x = cos t, and y grows while x is positive and
/// decays while it is not.
#[test]
fn a_constraint_sets_its_velocity_anew_where_it_switches() {
    use std::f64::consts::PI;
    for rate in ["constraint c: y' = if(x > 0, 1, -y)", "state y: if(x > 0, 1, -y)"] {
        let (q, kinetic) =
            if rate.starts_with('s') { ("x", "x'^2/2") } else { ("x, y", "(x'^2 + y'^2)/2") };
        let text = format!(
            "coordinates {q}\nlagrangian {kinetic} - x^2/2\n{rate}\ninitial x = 1\nsolve t = 0..7"
        );
        let motion = support::run(&support::model(&text), &Run::default());
        assert_eq!(motion.stop.reason, StopReason::End, "{rate}: {:?}", motion.notes);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{rate}: {:?}", motion.audit);
        let y = 0.5 * PI * libm::exp(-PI) + 7.0 - 1.5 * PI;
        let found = motion.q[1].values.last().expect("a row");
        assert!((found - y).abs() < 1e-9, "{rate}: {found} and not {y}");
    }
}

/// A sawtooth of time, t less the nearest whole number, by the tangent and its pole.
#[test]
fn sawteeth_jump_at_the_poles_of_the_tangent() {
    // After n whole periods v = 0; each adds −1/24 to what v = t²/2 would give at its middle.
    let sawtooth = "coordinates x, v\nequation x' = v\nequation v' = atan(tan(pi*t))/pi\nsolve t = 0..40.25";
    // x over a period from a whole number: 2∫₀^½ s²/2 ds = 1/24.
    let expected = (40.0 / 24.0 + libm::pow(0.25, 3.0) / 6.0, libm::pow(0.25, 2.0) / 2.0);
    for method in METHODS {
        for tolerance in TOLERANCES {
            let motion = end(sawtooth, method, tolerance);
            let (x, v) = (motion.q[0].values[0], motion.q[1].values[0]);
            let what = format!("{method:?} {tolerance:e}: {x}, {v} for {expected:?}");
            assert_eq!(motion.stop.reason, StopReason::End, "{what}");
            let limit = 3e3 * tolerance.max(1e-13);
            assert!((x - expected.0).abs() < limit && (v - expected.1).abs() < limit, "{what}");
            assert_eq!(motion.audit.verdict, Verdict::Pass, "{what}\n{:?}", motion.audit);
        }
    }
}

/// A Lagrangian that jumps needs an impulse at its switch, which the branches on its sides do not have: a step of the
/// potential that throws back, a mass that doubles, a momentum that jumps with the velocity. None of them passes.
#[test]
fn a_lagrangian_that_jumps_does_not_pass() {
    let one = "initial x = 0, x' = 1\nsolve t = 0..5";
    let three = "initial mu(c) = 0.2, x' = 1, y' = 0.5\nsolve t = 0..5";
    for text in [
        format!("coordinates x\nlagrangian x'^2/2 - 0.6*if(x > 3, 1, 0)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2 - 0.6*if(x > 3 and x < 3.001, 1, 0)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2 + 0.001*sign(x - 3)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2*if(x > 3, 2, 1)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2*if(t > 1, 2, 1)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2 + abs(x') - x^2/2\n{one}"),
        format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x^2/2\nconstraint c: z' = abs(x')\n\
             principle vakonomic\n{three}"
        ),
    ] {
        for method in [Method::Auto, Method::Dop853] {
            let motion = end(&text, method, 1e-8);
            assert_ne!(motion.audit.verdict, Verdict::Pass, "{text}\n{:?}", motion.audit);
            let is_it =
                |note: &Note| matches!(note, Note::Remark(text) if text.contains("jumps"));
            let told = motion.notes.iter().any(is_it);
            assert!(told, "{text}\n{:?}", motion.notes);
        }
    }
}

/// Kinks of a Lagrangian in positions, jumps that are the rate of a function, and jumps at a moment that add no
/// momentum need no impulse; nor do kinks that a constraint has in what the principle does not vary.
#[test]
fn kinks_of_a_lagrangian_pass() {
    let one = "initial x = 0, x' = 1\nsolve t = 0..5";
    let three = "initial x = -1, x' = 1, y' = 0.5\nsolve t = 0..5";
    for text in [
        format!("coordinates x\nlagrangian x'^2/2 - 0.1*abs(x - 3)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2 + if(x > 3, 1, 0)*x'\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2 + if(t > 3, 5, 0)*(1 - x)\n{one}"),
        format!("coordinates x\nlagrangian x'^2/2*(2 + abs(x - 1))\n{one}"),
        "coordinates x, y\nlagrangian (x'^2 + abs(x)*y'^2)/2 - x\ninitial x = 1, y' = 0\nsolve t = 0..1"
            .to_owned(),
        // The mass of what is led changes, which the constraint carries.
        format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2*if(t > 1, 2, 1))/2\nconstraint c: y' = 1\n{one}"
        ),
        format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: z' = abs(x)*y'\n\
             principle vakonomic\ninitial mu(c) = 0.2\n{three}"
        ),
        format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - abs(x)\nconstraint c: z' = y*x'\n{three}"
        ),
    ] {
        for method in [Method::Auto, Method::Dop853] {
            let motion = end(&text, method, 1e-8);
            assert_eq!(motion.stop.reason, StopReason::End, "{text}\n{:?}", motion.notes);
            assert_eq!(motion.audit.verdict, Verdict::Pass, "{text}\n{:?}", motion.audit);
        }
    }
}
