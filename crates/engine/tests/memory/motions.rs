//! Motions with memory against reference tables, and what may not start.
//!
//! The tables come from closed forms with Mittag-Leffler functions, from Laplace inversion, and from spectral
//! collocation in $t^{1/q}$, all in extended precision.

use pfaff::{Motion, Range, Run, Value, Verdict, evaluate};
use serde_json::Value as Json;

use crate::support::{model, run};

/// Agreement asked for, relative to 1 + |reference|: ten times the tolerance 1e-10 of a run.
const TOLERANCE: f64 = 1e-9;

fn at(times: &[f64]) -> Run {
    Run { at: Some(times.to_vec()), ..Run::default() }
}

fn series<'a>(motion: &'a Motion, key: &str) -> &'a [f64] {
    let (kind, name) = key.split_once('.').expect("kind.name");
    let list = match kind {
        "q" => &motion.q,
        "v" => &motion.v,
        "multipliers" => &motion.multipliers,
        _ => &motion.observed,
    };
    &list.iter().find(|s| s.name == name).expect("the series is there").values
}

#[test]
fn motions_agree_with_the_tables() {
    agree_with(include_str!("../reference/memory.json"), 18);
}

/// Linear systems with one and two constraints of orders from 0.05 to 2.6, free and bound starts, mixed
/// orders and memory in forces.
#[test]
fn linear_systems_agree_with_their_laplace_transforms() {
    agree_with(include_str!("../reference/memory_linear.json"), 15);
}

fn agree_with(table: &str, count: usize) {
    let table: Json = serde_json::from_str(table).expect("the table is JSON");
    let cases = table["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), count, "all cases are there");
    for case in cases {
        let id = case["id"].as_str().expect("an id");
        let rows = case["rows"].as_array().expect("rows");
        let times: Vec<f64> = rows.iter().map(|r| r["t"].as_f64().expect("a time")).collect();
        let motion = run(&model(case["model"].as_str().expect("a text")), &at(&times));
        assert_eq!(motion.t, times, "{id} {:?}", motion.notes);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{id} {:?}", motion.audit);
        for (i, row) in rows.iter().enumerate() {
            for (key, value) in row["values"].as_object().expect("values") {
                let (a, b) = (series(&motion, key)[i], value.as_f64().expect("a number"));
                let off = (a - b).abs() / (1.0 + b.abs());
                assert!(off < TOLERANCE, "{id} {key} at {}: {a} for {b}", times[i]);
            }
        }
    }
}

#[test]
fn operators_agree_with_the_tables() {
    let table: Json = serde_json::from_str(include_str!("../reference/operators.json"))
        .expect("the table is JSON");
    let cases = table.as_array().expect("a list of cases");
    assert!(cases.len() > 400, "all cases are there");
    for case in cases {
        let text = case["expression"].as_str().expect("an expression");
        let range = Range { from: case["from"].as_f64(), to: case["to"].as_f64() };
        let found = evaluate(text, &format!("t={}", case["t"]), range);
        match (found, case["value"].as_f64()) {
            (Ok(Value::Number(a)), Some(b)) => {
                // Rounding of Γ and of Mittag-Leffler functions, some of them in differences of a thousandth.
                assert!((a - b).abs() <= 1e-13 * (b.abs() + 1e-3), "{text} {case}: {a}");
            }
            (Err(_), None) => {}
            (found, expected) => panic!("{text}: {found:?} for {expected:?}"),
        }
    }
}

fn number(text: &str, with: &str, range: Range) -> f64 {
    match evaluate(text, with, range) {
        Ok(Value::Number(x)) => x,
        other => panic!("{text}: {other:?}"),
    }
}

/// $\frac{d}{dt} D^\alpha f = D^{\alpha+1} f + \frac{(t-a)^{m-\alpha-1}}{\Gamma(m-\alpha)} f^{(m)}(a)$,
/// Tarasov and Zaslavsky 2006, Proposition 1 with $t-a$ for $t$.
#[test]
fn proposition_1_holds_with_the_time_since_the_start() {
    let range = Range { from: Some(1.0), to: None };
    let caputo = |alpha: f64, t: f64| {
        number(&format!("caputo(exp(t), {alpha})"), &format!("t={t}"), range)
    };
    let h = 1e-3;
    // Five-point difference: its error h⁴ e³/30 is 1e-12.
    let d = |k: f64| caputo(0.4, 3.0 + k * h);
    let left = (8.0 * (d(1.0) - d(-1.0)) - (d(2.0) - d(-2.0))) / (12.0 * h);
    let start = |t: f64| libm::pow(t, -0.4) * libm::exp(1.0) / libm::tgamma(0.6);
    let right = caputo(1.4, 3.0) + start(2.0);
    assert!((left - 20.264_275_513_201).abs() < 1e-10, "{left}");
    assert!((right - left).abs() < 1e-10, "{right} {left}");
    // As printed, with t for t − a, it fails in the third digit.
    assert!((caputo(1.4, 3.0) + start(3.0) - left).abs() > 0.2);
}

/// Numbers that no table has, by quadrature: operands without a closed form.
#[test]
fn quadrature_meets_functions_without_closed_form() {
    let none = Range::default();
    for (text, with, exact) in [
        ("caputo(exp(-t)*sin(3*t), 0.5)", "t=4", 0.000_914_235_306_920_174_5),
        ("integral(exp(-t^2), 0.3)", "t=5", 0.105_061_469_962_217_59),
        ("caputo(sqrt(t)*cos(t), 0.5)", "t=2", -1.196_287_523_720_329_1),
    ] {
        let found = number(text, with, none);
        // Terms of size 1 are added up.
        assert!((found - exact).abs() < 2e-14, "{text} {found} {exact}");
    }
}

fn refusal(text: &str) -> String {
    let model = model(text);
    match pfaff::run(&model, &Run::default(), &mut |_, _| true) {
        Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics, .. })) => {
            diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("\n")
        }
        other => panic!("{other:?}"),
    }
}

fn constrained(constraint: &str, initial: &str) -> String {
    format!(
        "coordinates q1, q2\nlagrangian (q1'^2 + q2'^2)/2\nconstraint c: {constraint}\ninitial {initial}\nsolve t = 0..1\n"
    )
}

#[test]
fn inadmissible_starts_name_the_datum() {
    let text = constrained("q1' + q2' + caputo(q1, 0.5) = 0", "q1' = 1, q2' = 0");
    let message = refusal(&text);
    assert!(message.contains("q1'") && message.contains("cannot be chosen"), "{message}");
}

#[test]
fn above_order_one_velocities_are_free_if_a_times_b_is_not_zero() {
    let text = constrained("q1' + q2' + caputo(q1, 1.5) = 0", "q1' = 1, q2' = 0");
    let motion = run(&model(&text), &at(&[1e-9, 1.0]));
    // λ ~ −(a·v0)/(κ Γ(1/2) a²) t^{−1/2} with a = (1,1), b = (1,0), κ = 1/2.
    let law = -1.0 / libm::tgamma(0.5);
    let scaled = motion.multipliers[0].values[0] * 1e-9_f64.sqrt();
    // The next term is smaller by t^{1/2} = 3e-5.
    assert!((scaled / law - 1.0).abs() < 1e-3, "{scaled} {law}");
    assert!(pfaff_present::notes(&motion).iter().any(|n| n.contains("(t - t0)^(-0.5)")));
    let orthogonal = constrained("q1' + q2' + caputo(q1 - q2, 1.5) = 0", "q1' = 1, q2' = 0");
    assert!(refusal(&orthogonal).contains("cannot be chosen"));
}

#[test]
fn what_has_no_motion_is_refused() {
    let none = constrained("q1 + caputo(q2, 0.5) = 0", "q1 = 0");
    assert!(refusal(&none).contains("no reaction"));
    let future = constrained("q1' + caputo_right(q2, 0.5) = 0", "q1 = 0");
    assert!(refusal(&future).contains("anticipative"));
    let high = constrained("q1' + q2' + caputo(q2, 3.5) = 0", "q1 = 0");
    assert!(refusal(&high).contains("below 3"));
    let equation = |kernel: &str| {
        format!(
            "coordinates x\nequation x' + memory({kernel}, x) = 0\ninitial x = 1\nsolve t = 0..1\n"
        )
    };
    for kernel in ["1/s", "s^(-1.2)", "exp(-s)/s", "cos(t)/sin(s)"] {
        assert!(refusal(&equation(kernel)).contains("its integral diverges"), "{kernel}");
    }
    for kernel in ["s^(-0.99)", "1/s - cos(s)/s", "log(s)", "exp(-s)/sqrt(s)", "1"] {
        let found = pfaff::run(&model(&equation(kernel)), &at(&[0.1]), &mut |_, _| false);
        assert!(found.is_ok(), "{kernel} {found:?}");
    }
}

#[test]
fn instability_is_announced() {
    let text = "coordinates q\nlagrangian q'^2/2\nconstraint c: q' - 0.5*caputo(q, 1.5) = 0\ninitial q' = 1\nsolve t = 0..1\n";
    let motion = run(&model(text), &at(&[0.5]));
    let note = pfaff_present::notes(&motion).into_iter().find(|n| n.contains("unstable"));
    assert!(note.is_some_and(|n| n.contains("exp(4.0")), "{:?}", motion.notes);
    // v = v0 E_{1/2}(2 t^{1/2})
    let exact = number("mittag_leffler(0.5, 1, 2*sqrt(t))", "t=0.5", Range::default());
    let v = motion.v[0].values[0];
    assert!((v - exact).abs() < TOLERANCE * (1.0 + exact), "{v} {exact}");
}

/// The limit α → 1 keeps the reaction along ∂φ/∂q̇ of the fractional constraint; the classical constraint has
/// it along a + b.
#[test]
fn the_limit_of_order_one_is_not_the_classical_constraint() {
    let text = |alpha: &str| {
        format!(
            "coordinates q1, q2\nlagrangian (q1'^2 + q2'^2)/2 - (2*q1^2 + q1*q2 + q2^2)/2\n\
             constraint c: q1' + q2' + 0.5*caputo(q1, {alpha}) - 0.25*caputo(q2, {alpha}) = 0\n\
             initial q1 = 1, q2 = -0.5, q1' = 0, q2' = 0\nsolve t = 0..1\n"
        )
    };
    let q1 = |alpha: &str| run(&model(&text(alpha)), &at(&[1.0])).q[0].values[0];
    // Six digits of the reference.
    assert!((q1("0.999") - 0.727_932).abs() < 1e-6, "{}", q1("0.999"));
    assert!((q1("1") - 0.836_360).abs() < 1e-6, "{}", q1("1"));
}

#[test]
fn fractional_forces_balance_the_energy() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2 - x^4/4\nforce x: -0.3*caputo(x, 0.5) - 0.1*integral(x', 0.7) + 0.2*mean(x) - memory(exp(-2*s) + s^(-0.3), x)\ninitial x = 1\nsolve t = 0..10\n";
    let motion = run(&model(text), &at(&[1.0, 10.0]));
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?}", motion.audit);
}

#[test]
fn several_constraints_with_mixed_orders_hold() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - (x^2 + 2*y^2 + 3*z^2)/2\n\
         constraint a: x' + y' + 0.3*caputo(z, 0.4) + 0.2*caputo(x, 0.7) = 0\n\
         constraint b: y' - z' + 0.5*caputo(y, 1.3) = 0\n\
         initial x = 1, y = 0.5, x' = 0.3, y' = -0.3, z' = 0.1\nsolve t = 0..3\n";
    let motion = run(&model(text), &at(&[0.1, 1.0, 3.0]));
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?} {:?}", motion.audit, motion.notes);
    assert_eq!(motion.t.len(), 3, "{:?}", motion.notes);
    let finer = run(&model(text), &Run { tolerance: Some(1e-12), ..at(&[3.0]) });
    for (a, b) in motion.q.iter().zip(&finer.q) {
        assert!((a.values[2] - b.values[0]).abs() < TOLERANCE, "{} {}", a.name, b.values[0]);
    }
}

#[test]
fn events_are_located_on_the_motion() {
    // x = E_{1.5}(−t^{1.5}) has its first zero where its own series vanishes.
    let text = "coordinates x\nequation caputo(x, 1.5) + x = 0\ninitial x = 1\nevent stop zero: x\nsolve t = 0..10\n";
    let motion = run(&model(text), &Run::default());
    let t = motion.stop.t;
    let value = number("mittag_leffler(1.5, 1, -t^1.5)", &format!("t={t}"), Range::default());
    assert!(t > 1.0 && t < 3.0 && value.abs() < 1e-9, "{t} {value}");
}

/// The principles that look at whole motions are refused by name wherever memory meets them, and `compare`
/// leaves them out.
#[test]
fn memory_under_other_principles_is_refused() {
    let text = "coordinates q, r\nlagrangian (q'^2 + r'^2)/2\nconstraint past: q' + caputo(q, 0.5) = r'\n\
                initial q' = 1, r' = 1\nsolve t = 0..1\n";
    let given = model(text);
    for principle in [pfaff::Principle::Vakonomic, pfaff::Principle::Restricted] {
        let refusal = pfaff::derive(&given, Some(principle)).expect_err("refused");
        let told = &refusal.diagnostics()[0];
        assert_eq!(told.code, "E0441");
        assert!(told.message.contains("`past` has memory"), "{}", told.message);
    }
    // What binds the start is derived from nodes that the model itself does not have.
    let motion = run(&given, &Run::default());
    assert_eq!(motion.stop.reason, pfaff::StopReason::End);
}

/// With memory (q, p) is no state: no divergence is printed, and what asks for it is told so.
#[test]
fn there_is_no_divergence_with_memory() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - x^2/2\n\
                constraint heat: (x'^2 + y'^2 + z'^2)/2 - 1 - 0.1*caputo(x, 1/2) = 0\n\
                initial x' = 1, y' = 1\nsolve t = 0..1\n";
    let asks = model(&format!("{text}observe rate = divergence\n"));
    let derived = pfaff::derive(&asks, None).expect("derived");
    let pfaff::Dynamics::Saddle(equations) = &derived.dynamics else {
        panic!("a Lagrangian model")
    };
    assert!(pfaff_mechanics::divergence(&derived.workspace(), equations).is_none());
    let refused = pfaff::run(&asks, &Run::default(), &mut |_, _| true).expect_err("refused");
    assert!(format!("{refused:?}").contains("`rate` asks for `divergence`"), "{refused:?}");
}

fn noted(motion: &Motion, word: &str) -> bool {
    pfaff_present::notes(motion).iter().any(|n| n.contains(word))
}

/// $u = \int e^{-s}\cos 2s\,\dot x$ solves two ordinary equations: the same motion without memory.
#[test]
fn damped_waves_are_compressed() {
    let wave = "coordinates x\nequation x'' + x + memory(exp(-s)*cos(2*s), x') = 0\ninitial x = 1\nsolve t = 0..5\n";
    let plain = "coordinates x, u, w\nequation x'' + x + u = 0\nequation u' = x' - u - 2*w\nequation w' = 2*u - w\ninitial x = 1\nsolve t = 0..5\n";
    let (wave, plain) = (run(&model(wave), &at(&[5.0])), run(&model(plain), &at(&[5.0])));
    assert!(wave.notes.is_empty(), "{:?}", wave.notes);
    let off = (wave.q[0].values[0] - plain.q[0].values[0]).abs();
    assert!(off < TOLERANCE, "{off}");
}

/// With $a\cdot b = 0$ the reaction does not touch $d = q_1 - q_2$: $\ddot d = -d$, and $q_1 + q_2$ follows
/// by quadrature.
#[test]
fn orders_between_two_and_three_without_reaction_of_their_own() {
    let text = "coordinates q1, q2\nlagrangian (q1'^2 + q2'^2)/2 - (q1^2 + q2^2)/2\nconstraint c: q1' + q2' + caputo(q1 - q2, 2.5) = 0\ninitial q1 = 1, q2 = -0.5, q1' = 0.2, q2' = -0.2\nsolve t = 0..3\n";
    let motion = run(&model(text), &at(&[0.5, 3.0]));
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{:?} {:?}", motion.audit, motion.notes);
    for (i, t) in [0.5_f64, 3.0].into_iter().enumerate() {
        let d = 1.5 * libm::cos(t) + 0.4 * libm::sin(t);
        let along = number(
            "integral(1.5*cos(t) + 0.4*sin(t) - 1.5, 0.5)",
            &format!("t={t}"),
            Range::default(),
        );
        let (q1, q2) = (motion.q[0].values[i], motion.q[1].values[i]);
        assert!((q1 - q2 - d).abs() < TOLERANCE, "{t} {}", q1 - q2);
        assert!((q1 + q2 - 0.5 - along).abs() < TOLERANCE, "{t} {} {along}", q1 + q2);
    }
    let law = 0.4 / libm::tgamma(0.5) / 2.0;
    // λ a² = −d/dt D^{1/2} of d″ ~ ḋ(0) t^{−1/2}/Γ(1/2).
    assert!(noted(&motion, &format!("{law:.4}")), "{:?}", motion.notes);
    let bound = constrained("q1' + q2' + caputo(q1 - q2, 2.5) = 0", "q1' = 1, q2' = 0");
    assert!(refusal(&bound).contains("cannot be chosen"));
}

#[test]
fn a_coefficient_that_varies_is_divided_by() {
    let text = |constraint: &str| {
        format!(
            "coordinates q\nlagrangian q'^2/2\nconstraint c: {constraint} = 0\ninitial q = 0.3, q' = -0.7, q'' = 1.1\nsolve t = 0..2\n"
        )
    };
    let varying = run(&model(&text("q' + (1 + t)*caputo(q, 2.5)")), &at(&[2.0]));
    let divided = run(&model(&text("q'/(1 + t) + caputo(q, 2.5)")), &at(&[2.0]));
    let (a, b) = (varying.q[0].values[0], divided.q[0].values[0]);
    assert!((a - b).abs() < TOLERANCE, "{a} {b}");
    // Not the motion of the constant coefficient.
    let constant = run(&model(&text("q' + caputo(q, 2.5)")), &at(&[2.0]));
    assert!((a - constant.q[0].values[0]).abs() > 1e-3);
}

#[test]
fn touches_and_pairs_of_zeros_are_found() {
    let text = "coordinates x, y\nequation x'' + x = 0\nequation caputo(y, 0.5) + y = 0\ninitial x = 1, y = 1\nevent touch: 1 - x\nevent pair: x - 0.999999\nsolve t = 0..10\n";
    let motion = run(&model(text), &at(&[10.0]));
    let turn = 2.0 * std::f64::consts::PI;
    let of = |name: &str| -> Vec<f64> {
        motion.events.iter().filter(|e| e.name == name).map(|e| e.t).collect()
    };
    let touch = of("touch");
    // The place of an extremum is found by differences of values.
    assert!(touch.len() == 1 && (touch[0] - turn).abs() < 1e-7, "{touch:?}");
    let half = libm::acos(0.999_999);
    let pair = of("pair");
    assert_eq!(pair.len(), 3, "{pair:?}");
    for (found, exact) in pair.iter().zip([half, turn - half, turn + half]) {
        assert!((found - exact).abs() < TOLERANCE, "{found} {exact}");
    }
}

/// Orders within hundredths of 1 in closed form, with few steps: $x = E_\alpha(-t^\alpha)$, and $v =
/// E_{\alpha-1}(-t^{\alpha-1}/2)$, whose $\lambda$ begins like $t^{\alpha-2}$.
#[test]
fn orders_near_one_agree_with_mittag_leffler_functions() {
    for alpha in ["0.99", "0.999", "1.001", "1.01"] {
        let text = format!(
            "coordinates x\nequation caputo(x, {alpha}) + x = 0\ninitial x = 1\nsolve t = 0..3\n"
        );
        let motion = run(&model(&text), &at(&[0.5, 3.0]));
        for (t, x) in ["0.5", "3"].iter().zip(&motion.q[0].values) {
            let form = format!("mittag_leffler({alpha}, 1, -t^{alpha})");
            let exact = number(&form, &format!("t={t}"), Range::default());
            assert!((x - exact).abs() < TOLERANCE, "{alpha} {t}: {x} for {exact}");
        }
        assert!(motion.statistics.steps < 120, "{alpha} {}", motion.statistics.steps);
    }
    for (alpha, rest) in [("1.001", "0.001"), ("1.01", "0.01"), ("1.1", "0.1")] {
        let text = format!(
            "coordinates q\nlagrangian q'^2/2\nconstraint c: q' + 2*caputo(q, {alpha}) = 0\ninitial q' = 1\nsolve t = 0..3\n"
        );
        let motion = run(&model(&text), &at(&[0.5, 3.0]));
        for (t, v) in ["0.5", "3"].iter().zip(&motion.v[0].values) {
            let form = format!("mittag_leffler({rest}, 1, -0.5*t^{rest})");
            let exact = number(&form, &format!("t={t}"), Range::default());
            assert!((v - exact).abs() < TOLERANCE, "{alpha} {t}: {v} for {exact}");
        }
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{alpha} {:?}", motion.audit);
        assert!(motion.statistics.steps < 250, "{alpha} {}", motion.statistics.steps);
    }
}

#[test]
fn the_audit_recounts_the_memory() {
    let text = constrained("q1' + q2' + caputo(q1, 1.5) = 0", "q1' = 1, q2' = 0");
    for tolerance in [1e-10, 1e-5] {
        let request = Run { tolerance: Some(tolerance), ..at(&[0.2, 0.7, 1.0]) };
        let motion = run(&model(&text), &request);
        let check =
            motion.audit.checks.iter().find(|c| c.name == "memory by direct quadrature");
        let check = check.unwrap_or_else(|| panic!("{:?}", motion.audit));
        assert_eq!(check.verdict, Verdict::Pass, "{check:?}");
        assert!(check.value > 0.0, "{check:?}");
    }
}
