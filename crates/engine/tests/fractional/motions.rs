//! Extrema with memory between given ends: tables, closed forms, limits, first variations, and what is refused.

use pfaff::{Motion, Range, Run, Value, Verdict, evaluate};
use pfaff_present::{ToLatex, ToText, present_fractional};
use serde_json::Value as Json;

use crate::support::{Random, model, run};

/// Agreement asked for, relative to 1 + |reference|.
const TOLERANCE: f64 = 1e-10;

fn at(times: &[f64]) -> Run {
    Run { at: Some(times.to_vec()), ..Run::default() }
}

fn series<'a>(motion: &'a Motion, key: &str) -> &'a [f64] {
    let (kind, name) = key.split_once('.').expect("kind.name");
    let list = if kind == "q" { &motion.q } else { &motion.multipliers };
    &list.iter().find(|s| s.name == name).expect("the series is there").values
}

fn check(motion: &Motion, name: &str) -> f64 {
    motion.audit.checks.iter().find(|c| c.name == name).expect("the check is there").value
}

fn action(motion: &Motion) -> f64 {
    motion.solutions.as_ref().expect("ends are given")[0].action
}

fn mistake(text: &str) -> String {
    let Err(pfaff::Error::Text(pfaff::ParseErrors { diagnostics: list, .. })) =
        pfaff::run(&model(text), &Run::default(), &mut |_, _| true)
    else {
        panic!("refused: {text}")
    };
    format!("{} {}", list[0].code, list[0].message)
}

/// With at most 64 unknowns a coordinate, also where q₂ and μ grow like (1 − t)^(α−1).
#[test]
fn extrema_agree_with_the_tables() {
    let table: Json = serde_json::from_str(include_str!("../reference/fractional.json"))
        .expect("the table is JSON");
    let cases = table["cases"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 3, "all cases are there");
    for case in cases {
        let id = case["id"].as_str().expect("an id");
        let rows = case["rows"].as_array().expect("rows");
        let times: Vec<f64> = rows.iter().map(|r| r["t"].as_f64().expect("a time")).collect();
        let motion = run(&model(case["model"].as_str().expect("a text")), &at(&times));
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{id} {:?}", motion.audit);
        assert!(motion.statistics.steps <= 64, "{id} {}", motion.statistics.steps);
        for (i, row) in rows.iter().enumerate() {
            for (key, value) in row["values"].as_object().expect("values") {
                let (a, b) = (series(&motion, key)[i], value.as_f64().expect("a number"));
                let off = (a - b).abs() / (1.0 + b.abs());
                assert!(off < TOLERANCE, "{id} {key} at {}: {a} for {b}", times[i]);
            }
        }
        if let Some(wanted) = case["action"].as_f64() {
            assert!((action(&motion) - wanted).abs() < 1e-12, "{id} {}", action(&motion));
        }
    }
}

/// ½∫(D^α q)² from 0 to 1: the least action is (2α − 1)Γ(α)²/2, from either side.
#[test]
fn least_action_of_any_order() {
    for alpha in [0.6, 0.7, 0.9, 1.1, 1.4, 1.6, 1.8] {
        for word in ["caputo", "caputo_right"] {
            let (first, last) = if word == "caputo" { (0, 1) } else { (1, 0) };
            // With an order above 1 the velocity at the function's own end is given too.
            let rate = match (alpha > 1.0, word) {
                (false, _) => "",
                (_, "caputo") => "initial q' = 0\n",
                _ => "final q' = 0\n",
            };
            // q' has a value at an end only for orders above 3/2; below it is free, and the straight line has
            // no action at all.
            let straight = alpha > 1.0 && alpha < 1.5;
            let rate = if straight { "" } else { rate };
            let text = format!(
                "coordinates q\nlagrangian {word}(q, {alpha})^2/2\ninitial q = {first}\nfinal q = {last}\n{rate}solve t = 0..1\n"
            );
            let motion = run(&model(&text), &at(&[0.5]));
            let wanted = if straight {
                assert!((motion.q[0].values[0] - 0.5).abs() < TOLERANCE, "{alpha} {word}");
                0.0
            } else {
                0.5 * (2.0 * alpha - 1.0) * libm::pow(libm::tgamma(alpha), 2.0)
            };
            let value = action(&motion);
            assert!(
                (value - wanted).abs() < TOLERANCE * (1.0 + wanted),
                "{alpha} {word} {value} {wanted}"
            );
            assert_eq!(
                motion.audit.verdict,
                Verdict::Pass,
                "{alpha} {word} {:?}",
                motion.audit
            );
        }
    }
}

/// Orders from 0.3 to 1.8 beside a kinetic energy, both sides at once, nonlinear, natural ends: the audit's
/// own first variation.
#[test]
fn first_variation_vanishes_for_random_variations() {
    for alpha in [0.3, 0.5, 0.75, 0.9] {
        let text = format!(
            "coordinates x, y\nlagrangian (x'^2 + y'^2)/2 + caputo_right(x, {alpha})^2/4 - cos(y)\nconstraint c: y' - caputo(x, {alpha})*(1 + x^2/4) = 0\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = 1\nsolve t = 0..1\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        assert!(check(&motion, "first variation") < 1e-9, "{alpha} {:?}", motion.audit);
        assert_eq!(motion.audit.verdict, Verdict::Pass, "{alpha} {:?}", motion.audit);
    }
    for alpha in [1.2, 1.5, 1.8] {
        let text = format!(
            "coordinates q\nlagrangian caputo(q, {alpha})^2/2 + q'^2/2 + q^4/4\ninitial q = 0\nfinal q = 1\nsolve t = 0..2\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        assert!(check(&motion, "first variation") < 1e-9, "{alpha} {:?}", motion.audit);
    }
}

/// In the action the limit of order 1 is the classical extremum.
#[test]
fn order_one_is_approached() {
    let off = |alpha: f64| {
        let text = format!(
            "coordinates q\nlagrangian caputo(q, {alpha})^2/2 - 4*q^2/2\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n"
        );
        let motion = run(&model(&text), &at(&[0.5]));
        (motion.q[0].values[0] - libm::sin(1.0) / libm::sin(2.0)).abs()
    };
    let (a, b) = (off(0.99), off(0.999));
    // The distance is proportional to 1 − α.
    assert!(a < 0.1 && b < 0.01 && (a / b - 10.0).abs() < 0.5, "{a} {b}");
}

/// ∫ g D^α f = ∫ f D_right^α g + boundary terms, over random functions; the operators are those of `eval`.
#[test]
fn integration_by_parts_with_its_boundary_terms() {
    let number = |text: &str, t: f64| -> f64 {
        let range = Range { from: Some(0.0), to: Some(1.0) };
        match evaluate(text, &format!("t={t}"), range) {
            Ok(Value::Number(x)) => x,
            other => panic!("{text}: {other:?}"),
        }
    };
    let mut numbers = Random::new(7);
    let mut random = || 0.5 * numbers.number();
    // Σ c_p x^p under the derivative of order β (an integral for β < 0), from the power `from` on.
    let powers = |c: &[f64], from: usize, beta: f64, x: f64| -> f64 {
        let term = |p: usize| {
            let q = p as f64 + 1.0;
            c[p] * libm::tgamma(q) / libm::tgamma(q - beta) * libm::pow(x, p as f64 - beta)
        };
        (from..c.len()).map(term).sum()
    };
    let grid = pfaff_solver::SincGrid::new(1.0, 40, 0.2);
    for alpha in [0.2, 0.4, 0.5, 1.3, 1.5, 1.8] {
        for _ in 0..5 {
            let m = if alpha < 1.0 { 1 } else { 2 };
            // f by powers of t; g by powers of 1 − t, as high as ∫ f D_right^α g needs them.
            let f: Vec<f64> = (0..4).map(|_| random()).collect();
            let g: Vec<f64> = (0..5).map(|p| if p + 1 < m { 0.0 } else { random() }).collect();
            let text = format!("({})*(1-t)^3", g[3]);
            let own = powers(&[0.0, 0.0, 0.0, g[3]], 0, alpha, 0.7);
            let value = number(&format!("rl_right({text}, {alpha})"), 0.3);
            assert!((value - own).abs() < 1e-9, "{alpha} {value} {own}");
            let (mut left, mut right) = (0.0, 0.0);
            for (p, w) in grid.places.iter().zip(&grid.weights) {
                let w = grid.step * w;
                left += w * powers(&g, 0, 0.0, p.right) * powers(&f, m, alpha, p.left);
                let t = if p.left < 0.5 { p.left } else { 1.0 - p.right };
                right += w * powers(&f, 0, 0.0, t) * powers(&g, 0, alpha, p.right);
            }
            // At the end 1 the brackets vanish, at 0 they count negative; D_right^β at 0 is at the distance 1.
            let mut brackets = -powers(&g, 0, alpha - 1.0, 1.0) * f[0];
            if m == 2 {
                brackets -= powers(&g, 0, alpha - 2.0, 1.0) * f[1];
            }
            // (1 − t)^(1−α) or more is integrated to rounding.
            let off = (left - right - brackets).abs();
            assert!(off < 1e-11, "{alpha}: {left} {right} {brackets} {off}");
        }
    }
}

/// (78) and (79) of Tarasov and Zaslavsky print the left Caputo derivative where the right one of Riemann and
/// Liouville belongs.
#[test]
fn euler_lagrange_79_exchanges_the_sides() {
    // δ∫½(D^½ q)² at q = t² along η = t²(1−t)².
    let gamma = libm::tgamma;
    let grid = pfaff_solver::SincGrid::new(1.0, 40, 0.5);
    let w = |t: f64| gamma(3.0) / gamma(2.5) * libm::pow(t, 1.5);
    let (mut variation, mut printed) = (0.0, 0.0);
    for (p, weight) in grid.places.iter().zip(&grid.weights) {
        let t = p.left;
        let eta = t * t * p.right * p.right;
        let derivative: f64 = [(2.0, 1.0), (3.0, -2.0), (4.0, 1.0)]
            .iter()
            .map(|(k, c)| c * gamma(k + 1.0) / gamma(k + 0.5) * libm::pow(t, k - 0.5))
            .sum();
        variation += grid.step * weight * w(t) * derivative;
        // Printed: the left Caputo derivative of D^½ q, which is q' = 2t.
        printed += grid.step * weight * eta * 2.0 * t;
    }
    assert!((variation + 0.003_233_624_240_6).abs() < 1e-12, "{variation}");
    assert!((printed - 1.0 / 30.0).abs() < 1e-12, "{printed}");
    // The engine's equation: its bracket is the right derivative, so the course with vanishing variation is found.
    let text = "coordinates q\nlagrangian caputo(q, 0.5)^2/2 + q'^2/2\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n";
    let model = model(text);
    let shown =
        present_fractional(&model, None).expect("derived").expect("fractional").to_text();
    assert!(shown.contains("p'[q] = rl_right(caputo(q, 1/2), 1/2)"), "{shown}");
    let motion = run(&model, &at(&[0.5]));
    assert!(check(&motion, "first variation") < 1e-12, "{:?}", motion.audit);
}

/// The swap is printed: a left Caputo derivative gives a right one of Riemann and Liouville.
#[test]
fn equations_are_printed_with_the_sides_exchanged() {
    let text = "coordinates x, y\nparameters a = 0.5\nlagrangian (x'^2 + y'^2)/2\nconstraint c: y' - caputo(x, a) = 0\nprinciple vakonomic\ninitial x = 0, y = 0\nfinal x = 1\nsolve t = 0..1\n";
    let model = model(text);
    let shown =
        present_fractional(&model, None).expect("it is derived").expect("it is fractional");
    let text = shown.to_text();
    assert!(text.contains("p'[x] = rl_right(mu(c), a)"), "{text}");
    assert!(text.contains("p[y] = y' - mu(c)"), "{text}");
    assert!(text.contains("x' + rl_right(mu(c), a - 1) = 0"), "{text}");
    let latex = shown.to_latex();
    assert!(latex.contains(r"{}^{RL}_{t}D^{a}_{t_1}\,\mu_{c}"), "{latex}");
}

#[test]
fn what_has_no_extremum_is_refused() {
    let base = |l: &str, ends: &str| {
        format!("coordinates q\nlagrangian {l}\n{ends}\nsolve t = 0..1\n")
    };
    // Order 0.4 does not see the value at an end.
    let text = mistake(&base("caputo(q, 0.4)^2/2", "initial q = 0\nfinal q = 1"));
    assert!(text.contains("E0636") && text.contains("cannot be given at an end"), "{text}");
    // Order 2.5 is outside.
    let text = mistake(&base("caputo(q, 2.5)^2/2", "initial q = 0\nfinal q = 1"));
    assert!(text.contains("must lie between 0 and 2"), "{text}");
    // Of order 1.7 with one datum: position and velocity stay free.
    let text = mistake(&base("caputo(q, 1.7)^2/2", "final q = 1"));
    assert!(text.contains("E0637") && text.contains("do not determine `q`"), "{text}");
    let text = mistake(&base("rl(q^2, 0.4)^2/2 + q'^2", "initial q = 0\nfinal q = 1"));
    assert!(text.contains("not linear"), "{text}");
    let text = mistake(&base("caputo(q'^2, 0.4)^2/2 + q'^2", "initial q = 0\nfinal q = 1"));
    assert!(text.contains("contains velocities"), "{text}");
    let text = mistake(
        "coordinates q, r\nlagrangian q'^2/2 + r'^2/2\nconstraint c: r' - caputo(q, 0.5) = 0\ninitial q = 0\nfinal q = 1\nsolve t = 0..1\n",
    );
    assert!(text.contains("E0634") && text.contains("chetaev"), "{text}");
    // A stiff enough spring makes the extremum a saddle.
    let motion = run(
        &model(&base("caputo(q, 0.9)^2/2 - 30*q^2/2", "initial q = 0\nfinal q = 1")),
        &at(&[0.5]),
    );
    assert_eq!(motion.solutions.as_ref().expect("ends")[0].minimum, Some(false));
    assert!(pfaff_present::notes(&motion).iter().any(|n| n.contains("not a minimum")));
}
