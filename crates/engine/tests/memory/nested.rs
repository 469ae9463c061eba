//! Memory operators on memory operators, against closed forms, against models in which the inner operator is a
//! coordinate of its own, and against formulas.

use pfaff::{Error, Motion, ParseErrors, Range, Run, Value, Verdict, evaluate};

use crate::support::{model, run};

/// Ten times the tolerance 1e-10 of a run.
const TOLERANCE: f64 = 1e-9;
/// A formula has rounding alone: its quadratures go on to 1e-15, on up to three levels.
const FORMULA: f64 = 1e-12;

fn motion(text: &str, times: &[f64]) -> Motion {
    let request = Run { at: Some(times.to_vec()), ..Run::default() };
    let motion = run(&model(text), &request);
    assert_eq!(motion.t, times, "{text}{:?}", motion.notes);
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{text}{:?}", motion.audit);
    motion
}

fn value(formula: &str, t: f64) -> f64 {
    let found = evaluate(formula, &format!("t={t:?}"), Range::default());
    match found.unwrap_or_else(|e| panic!("{formula} {:?}", e.diagnostics)) {
        Value::Number(x) => x,
        Value::List(_) => panic!("{formula} is a number"),
    }
}

fn refusal(text: &str) -> String {
    match pfaff::run(&model(text), &Run::default(), &mut |_, _| true) {
        Err(Error::Text(ParseErrors { diagnostics, .. })) => {
            diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

/// Both sides are formulas: single operators, powers and exponentials on the right.
#[test]
fn compositions_in_formulas() {
    let power = |p: f64, order: f64| {
        format!("gamma({})/gamma({})*t^({})", p + 1.0, p + 1.0 + order, p + order)
    };
    for (nested, single) in [
        ("caputo(integral(t^2, 0.3), 0.5)", power(2.0, -0.2)),
        ("caputo(integral(t, 0.7), 0.7)", "t".into()),
        ("rl(integral(exp(t), 0.2), 0.9)", "rl(exp(t), 0.7)".into()),
        ("integral(integral(sin(t), 0.4), 0.9)", "integral(sin(t), 1.3)".into()),
        ("integral(caputo(cos(t), 0.5), 0.5)", "cos(t) - 1".into()),
        ("integral(caputo(1 + t, 0.5), 0.8)", power(1.0, 0.3)),
        ("integral(caputo(t^2 + 3*t + 5, 1.4), 1.4)", "t^2".into()),
        ("integral(rl(cos(t), 0.5), 0.7)", "integral(cos(t), 0.2)".into()),
        ("caputo(caputo(t^0.7, 0.3), 0.4)", power(0.7, -0.7)),
        // They do not add up to the derivative of order 1.3 of t, which is 0.
        ("caputo(caputo(t, 0.7), 0.6)", power(1.0, -1.3)),
        ("caputo(caputo(t + t^2, 0.5), 0.5)", "1 + 2*t".into()),
        (
            "caputo(2*integral(t, 0.5) + t^2, 0.3)",
            "2*integral(t, 0.2) + caputo(t^2, 0.3)".into(),
        ),
        ("caputo(integral(t, 0.5), 1)", power(1.0, -0.5)),
        ("mean(integral(t, 0.5))", format!("({})/t", power(1.0, 1.5))),
        ("caputo(mean(t^2), 0.5)", format!("({})/3", power(2.0, -0.5))),
        ("caputo(caputo(t, 0.5)^2, 0.5)", format!("4/pi*({})", power(1.0, -0.5))),
        (
            "rl(1 + caputo(t, 0.5)^2, 0.5)",
            format!("({}) + 4/pi*({})", power(0.0, -0.5), power(1.0, -0.5)),
        ),
        ("caputo(memory(exp(-s), t), 0.5)", "caputo(t - 1 + exp(-t), 0.5)".into()),
        ("memory(exp(-s), memory(exp(-s), t))", "t - 2 + (t + 2)*exp(-t)".into()),
        ("integral(abs(integral(cos(t), 1)), 1)", "integral(abs(sin(t)), 1)".into()),
        ("memory(s^(-0.5), integral(t, 0.5))", format!("sqrt(pi)*({})", power(1.0, 1.0))),
    ] {
        let (found, exact) = (value(nested, 1.3), value(&single, 1.3));
        assert!(
            (found - exact).abs() <= FORMULA * (1.0 + exact.abs()),
            "{nested} {found} {exact}"
        );
    }
}

/// What has no value is refused: $\tau^{1/2}$ has no derivative of order 3/2 in Caputo's sense.
#[test]
fn formulas_without_a_value() {
    for nested in [
        "caputo(caputo(t, 0.5), 1.5)",
        "caputo(rl(1 + t, 0.5), 0.4)",
        "caputo(if(mean(t) < 1, 0, 1), 0.5)",
    ] {
        assert!(evaluate(nested, "t=3", Range::default()).is_err(), "{nested}");
    }
}

/// Sequential derivatives: $D^a D^b q = -q$ has the solution $E_{a+b}(-\tau^{a+b})$ that starts with $D^b q = 0$; the
/// others follow from $J^\mu D^\mu q = q - q_0$. All from a start that is not 0.
#[test]
fn equations_with_closed_forms() {
    for (equation, exact) in [
        ("caputo(caputo(q, 0.3), 0.4) = -q", "mittag_leffler(0.7, 1, -(t - 2)^0.7)"),
        ("caputo(caputo(q, 0.7), 0.6) = -q", "mittag_leffler(1.3, 1, -(t - 2)^1.3)"),
        ("q' = 1 - integral(caputo(q, 0.5), 0.5)", "2 - exp(-(t - 2))"),
        ("q' = -integral(caputo(q, 0.5), 1) - caputo(q, 0.5)", "1"),
        ("q'' = 2 - integral(caputo(q, 1.4), 1.4)", "3 - 2*cos(t - 2)"),
        ("q' = -caputo(integral(q, 0.3), 0.3)", "exp(-(t - 2))"),
        ("q' = -(t - 2)*mean(caputo(integral(q, 0.4), 0.4))", "cos(t - 2)"),
    ] {
        let text = format!(
            "coordinates q\nequation {equation}\ninitial q = 1\nobserve exact = {exact}\nsolve t = 2..5\n"
        );
        let motion = motion(&text, &[2.3, 5.0]);
        for (q, exact) in motion.q[0].values.iter().zip(&motion.observed[0].values) {
            assert!(
                (q - exact).abs() <= TOLERANCE * (1.0 + exact.abs()),
                "{equation} {q} {exact}"
            );
        }
    }
}

/// Observed quantities along q = sin t, in a Lagrangian model, are those of the formulas.
#[test]
fn observed_quantities_are_those_of_formulas() {
    let nested = [
        "integral(abs(caputo(q, 0.5)), 1)",
        "caputo(caputo(q, 0.5)^2, 0.5)",
        "memory(exp(-s), caputo(q, 0.5))",
        "memory(s^(-0.3), integral(q, 0.5)^2)",
        "mean(integral(q, 0.5))",
        "caputo(mean(q), 0.5)",
        "caputo(abs(integral(q, 0.5)), 0.5)",
        "rl(exp(integral(q, 0.5)), 0.4)",
        "caputo(memory(exp(-s), q), 0.5)",
        "caputo(integral(q, 0.5)^2, 1.4)",
        "integral(integral(caputo(q, 0.6)^2, 0.5)*q, 0.5)",
    ];
    let observe = nested.iter().enumerate().map(|(i, e)| format!("observe o{i} = {e}\n"));
    let text = format!(
        "coordinates q\nlagrangian q'^2/2 - q^2/2\ninitial q = 0, q' = 1\nsolve t = 0..4\n{}",
        observe.collect::<String>()
    );
    let motion = motion(&text, &[1.0, 4.0]);
    for (nested, found) in nested.iter().zip(&motion.observed) {
        for (&t, found) in motion.t.iter().zip(&found.values) {
            let exact = value(&nested.replace('q', "sin(t)"), t);
            assert!(
                (found - exact).abs() <= TOLERANCE * (1.0 + exact.abs()),
                "{nested} {found} {exact}"
            );
        }
    }
}

/// The same motion with the inner operators written out, or as coordinates of their own.
#[test]
fn forces_and_constraints() {
    let start = "initial q = 1, q' = 0.5\nsolve t = 0..2\n";
    let force =
        |e: &str| format!("coordinates q\nlagrangian q'^2/2 - q^2/2\nforce q: {e}\n{start}");
    let by_hand =
        |more: &str, equations: &str| format!("coordinates q{more}\n{equations}{start}");
    let pair = |e: &str| {
        format!(
            "coordinates q, y\nlagrangian (q'^2 + y'^2)/2 - q\nconstraint c: y' = {e}\ninitial q = 0, y = 0, q' = 1\n\
             solve t = 0..2\n"
        )
    };
    for (nested, hand) in [
        (
            force("-caputo(caputo(q, 0.3), 0.4) - integral(caputo(q, 0.5), 0.5)"),
            force("-caputo(q, 0.7) - (q - 1)"),
        ),
        (
            force("-caputo(caputo(q, 0.5)^2, 0.5) - memory(exp(-s), caputo(q, 0.5))"),
            by_hand(
                ", y, z",
                "equation q'' + q + z + memory(exp(-s), y) = 0\nequation y = caputo(q, 0.5)\n\
                 equation z = caputo(y^2, 0.5)\n",
            ),
        ),
        // Here the inner derivative has no rate that the equation of order 1 determines.
        (
            by_hand("", "equation q' + q = 0.3*caputo(caputo(q, 0.5)^2, 0.3)\n")
                .replace(", q' = 0.5", ""),
            by_hand(
                ", y",
                "equation q' + q = 0.3*caputo(y, 0.3)\nequation y = caputo(q, 0.5)^2\n",
            )
            .replace(", q' = 0.5", ", y = 0"),
        ),
        (
            pair("integral(caputo(q, 0.5), 0.7) + caputo(caputo(q, 0.2), 0.3)"),
            pair("integral(q, 0.2) + caputo(q, 0.5)"),
        ),
        (
            pair("integral(abs(caputo(q, 0.5)), 0.7) + mean(integral(q', 0.5))"),
            pair("integral(abs(caputo(q, 0.5)), 0.7) + mean(caputo(q, 0.5))"),
        ),
    ] {
        let (a, b) = (motion(&nested, &[0.5, 2.0]), motion(&hand, &[0.5, 2.0]));
        for (x, y) in a.q[0].values.iter().zip(&b.q[0].values) {
            assert!((x - y).abs() <= TOLERANCE * (1.0 + y.abs()), "{nested} {x} {y}");
        }
    }
}

/// The integral of the size of $D^{1/2}\sin t$ reaches 1 where the formula does.
#[test]
fn events_watch_nested_operators() {
    let text = "coordinates q\nlagrangian q'^2/2 - q^2/2\ninitial q = 0, q' = 1\nsolve t = 0..4\n\
                event stop full: integral(abs(caputo(q, 0.5)), 1) - 1\n";
    let motion = run(&model(text), &Run::default());
    let t = motion.stop.t;
    let reached = value("integral(abs(caputo(sin(t), 0.5)), 1)", t);
    assert!((reached - 1.0).abs() <= TOLERANCE, "{t} {reached}");
}

#[test]
fn what_no_motion_can_have_is_refused() {
    let equation = |e: &str| {
        format!("coordinates q\nequation {e} + q = 0\ninitial q = 1, q' = 1\nsolve t = 0..1\n")
    };
    // The second datum of a sequential derivative is that of the inner one, not q'.
    let text = refusal(&equation("caputo(caputo(q, 0.7), 0.6)"));
    assert!(text.contains("begins like"), "{text}");
    let text = refusal(&equation("q'' + caputo(caputo(q, 0.5), 1.5)"));
    assert!(text.contains("(t - t0)^(0.5)"), "{text}");
    let text = refusal(&equation("q'' + caputo(rl(q, 0.5), 0.4)"));
    assert!(
        text.contains("caputo(rl(q, 1/2), 2/5)") && text.contains("(t - t0)^(-0.5)"),
        "{text}"
    );
    let text = refusal(
        "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: x' = caputo(abs(caputo(y, 0.8)), 0.7)\n\
         initial x = 0, y = 0\nsolve t = 0..1\n",
    );
    assert!(text.contains("of order 1.5"), "{text}");
    let text = refusal(
        "coordinates x\nlagrangian x'^2/2\nforce x: caputo(caputo(x, 1.8), 0.7)\ninitial x = 0\nsolve t = 0..1\n",
    );
    assert!(text.contains("of order 2.5"), "{text}");
}
