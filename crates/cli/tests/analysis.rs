//! The commands that look at the flow in phase space: keys, formats, exit statuses.

use serde_json::Value;

use crate::support::{json, keys, pfaff_text};

const OSCILLATOR: &str = "\
title \"Oscillator\"
coordinates x
parameters k = 4
lagrangian x'^2/2 - k*x^2/2
initial x = 1
event falling zero: x
observe amplitude = sqrt(x^2 + x'^2/k)
solve t = 0..2, tolerance = 1e-12
";

#[test]
fn linearize_has_its_keys_and_formats() {
    let bicycle = json(&["linearize", "bicycle", "--at", "x'=5", "--json"]);
    let wanted = ["state", "eigenvalues", "matrices"];
    let known: Vec<&str> =
        keys(&bicycle).into_iter().filter(|key| wanted.contains(key)).collect();
    assert_eq!(known, wanted);
    assert_eq!(bicycle["stability"], "stable");
    assert_eq!(bicycle["eigenvalues"].as_array().expect("a list").len(), 5);
    assert_eq!(bicycle["eigenvalues"][0], serde_json::json!([0.0, 0.0]));
    assert_eq!(bicycle["matrices"]["A"].as_array().expect("rows").len(), 5);
    assert_eq!(bicycle["state"]["x'"], 5.0);
    assert!((bicycle["state"]["rear'"].as_f64().expect("a number") + 5.0 / 0.3).abs() < 1e-12);
    let text = pfaff_text(&["linearize", "-", "--at", "x=0"], OSCILLATOR);
    assert!(text.out.contains("2i") && text.out.contains("stable"), "{}", text.out);
    let latex = pfaff_text(&["linearize", "-", "--at", "x=0", "--format", "latex"], OSCILLATOR);
    assert!(latex.out.contains("\\begin{pmatrix}"), "{}", latex.out);
    let csv = pfaff_text(&["linearize", "-", "--at", "x=0", "--format", "csv"], OSCILLATOR);
    assert_eq!(csv.out.lines().next(), Some("re,im,frequency,damping"));
    assert_eq!(csv.out.lines().nth(1), Some("0.0,2.0,2.0,-0.0"));
}

#[test]
fn linearize_varies_a_parameter() {
    let arguments = ["linearize", "-", "--at", "x=0", "--vary", "k=1..9:3", "--format", "csv"];
    let csv = pfaff_text(&arguments, OSCILLATOR);
    let lines: Vec<&str> = csv.out.lines().collect();
    assert_eq!(lines[0], "k,re[1],im[1],re[2],im[2]");
    assert_eq!(lines.len(), 4);
    assert!(lines[3].starts_with("9.0,0.0,3.0"), "{}", lines[3]);
    let json = pfaff_text(&["linearize", "-", "--vary", "k=1..9:3", "--json"], OSCILLATOR);
    let json: Value = serde_json::from_str(&json.out).expect("one object");
    assert_eq!(json["points"][1]["parameter"], 5.0);
    for (range, status) in [("k=1..1", 2), ("k", 2), ("w=0..1", 2), ("k=0..1:0", 2)] {
        let answer = pfaff_text(&["linearize", "-", "--vary", range], OSCILLATOR);
        assert_eq!(
            (answer.status, answer.out.as_str()),
            (status, ""),
            "{range} {}",
            answer.err
        );
        let is_named = answer.err.contains("--vary: there is no parameter `w`");
        assert_eq!(is_named, range == "w=0..1", "{}", answer.err);
    }
}

/// What is varied must be a parameter, and should matter.
#[test]
fn linearize_says_what_cannot_be_varied() {
    let place = pfaff_text(&["linearize", "-", "--vary", "x=0..1"], OSCILLATOR);
    let named = "--vary: `x` is a coordinate, not a parameter";
    assert!(place.status == 2 && place.err.contains(named), "{}", place.err);
    let idle = "coordinates x\nparameters p = 1\nlagrangian x'^2/2 - x^2";
    let found = pfaff_text(&["linearize", "-", "--vary", "p=1..2:3"], idle);
    assert!(found.err.contains("the parameter `p` does nothing"), "{}", found.err);
    let matters = pfaff_text(&["linearize", "-", "--vary", "k=1..2:3"], OSCILLATOR);
    assert!(!matters.err.contains("does nothing"), "{}", matters.err);
}

#[test]
fn linearize_refuses_plainly() {
    for (state, status, part) in [("z=1", 1, "z"), ("x", 1, ""), ("x=1/0", 1, "zero")] {
        let answer = pfaff_text(&["linearize", "-", "--at", state], OSCILLATOR);
        assert_eq!((answer.status, answer.out.as_str()), (status, ""), "{state}");
        assert!(answer.err.contains(part), "{}", answer.err);
    }
    let off = pfaff_text(&["linearize", "-", "--at", "x=1"], OSCILLATOR);
    assert_eq!(off.status, 0, "any state can be linearised");
    assert!(off.out.contains("no equilibrium") && off.out.contains("x'' = -4"), "{}", off.out);
}

#[test]
fn equilibria_have_their_keys() {
    let found = json(&["equilibria", "pendulum", "--json"]);
    let list = found["equilibria"].as_array().expect("a list");
    assert_eq!(list.len(), 2);
    for key in ["state", "eigenvalues", "stability"] {
        assert!(keys(&list[0]).contains(&key), "{key}");
    }
    assert_eq!(list[0]["stability"], "stable");
    let text = pfaff_text(&["equilibria", "-", "--search", "x=-1..1"], OSCILLATOR);
    assert!(text.out.contains("1 equilibrium"), "{}", text.out);
    for range in ["x", "y=0..1", "x=0..1, x=0..2", "x=0..0"] {
        let answer = pfaff_text(&["equilibria", "-", "--search", range], OSCILLATOR);
        assert_eq!((answer.status, answer.out.as_str()), (2, ""), "{range}");
    }
}

#[test]
fn a_section_has_its_keys() {
    let arguments = ["section", "-", "--on", "zero", "--count", "3", "--json"];
    let found = pfaff_text(&arguments, OSCILLATOR);
    assert_eq!(found.status, 0, "{}", found.err);
    let found: Value = serde_json::from_str(&found.out).expect("one object");
    for key in ["t", "q", "v", "observed"] {
        assert!(keys(&found).contains(&key), "{key}");
    }
    for k in 0..3 {
        let number = |value: &Value| value[k].as_f64().expect("a number");
        // x = cos 2t falls through zero at π/4 + kπ.
        let t = (0.25 + k as f64) * std::f64::consts::PI;
        assert!((number(&found["t"]) - t).abs() < 1e-10);
        assert!(number(&found["q"]["x"]).abs() < 1e-10);
        assert!((number(&found["v"]["x"]) + 2.0).abs() < 1e-10);
        assert!((number(&found["observed"]["amplitude"]) - 1.0).abs() < 1e-10);
    }
    let both = ["section", "-", "--on", "x - 0.5", "--count", "4", "--format", "csv"];
    let both = pfaff_text(&both, OSCILLATOR);
    assert_eq!(both.out.lines().next(), Some("t,x,x',amplitude"));
    assert_eq!(both.out.lines().count(), 5);
    let never = ["section", "-", "--on", "x - 2", "--count", "4", "--t1", "50", "--json"];
    let never = pfaff_text(&never, OSCILLATOR);
    assert_eq!(never.status, 3);
    assert!(never.err.contains("never met"), "{}", never.err);
    assert!(never.out.contains("\"t\":[]"), "{}", never.out);
    for (on, status) in [("y", 1), ("x +", 1), ("[x, x]", 2)] {
        let answer = pfaff_text(&["section", "-", "--on", on], OSCILLATOR);
        assert_eq!((answer.status, answer.out.as_str()), (status, ""), "{on} {}", answer.err);
    }
}

const LORENZ: &str = "\
title \"Lorenz\"
coordinates x, y, z
parameters r = 28
equation x' = 10*(y - x)
equation y' = x*(r - z) - y
equation z' = x*y - 8/3*z
initial x = 1, y = 1, z = 20
";

#[test]
fn lyapunov_has_its_keys() {
    let found = pfaff_text(&["lyapunov", "-", "--t1", "60", "--json"], LORENZ);
    assert_eq!(found.status, 0, "{}", found.err);
    let found: Value = serde_json::from_str(&found.out).expect("one object");
    for key in ["exponents", "error", "sum", "divergence", "dimension"] {
        assert!(keys(&found).contains(&key), "{key}");
    }
    let divergence = found["divergence"].as_f64().expect("a number");
    assert!((divergence + 41.0 / 3.0).abs() < 1e-9, "{divergence}");
    assert!((found["sum"].as_f64().expect("a number") - divergence).abs() < 1e-6);
    let wrong = pfaff_text(&["lyapunov", "-", "--t1", "-1"], LORENZ);
    assert_eq!((wrong.status, wrong.out.as_str()), (2, ""));
}

#[test]
fn continue_has_its_keys() {
    let hoop = "\
coordinates a
parameters w = 1, g = 9.81, l = 1.2, b = 7
lagrangian l^2*(a'^2 + w^2*sin(a)^2)/2 + g*l*cos(a)
";
    let found = pfaff_text(&["continue", "-", "--vary", "w=1..5", "--json"], hoop);
    assert_eq!(found.status, 0, "{}", found.err);
    let found: Value = serde_json::from_str(&found.out).expect("one object");
    let branches = found["branches"].as_array().expect("a list");
    let specials = branches.iter().flat_map(|b| b["special"].as_array().expect("a list"));
    let pitchfork = (9.81_f64 / 1.2).sqrt();
    let near = |special: &&Value| {
        let w = special["parameter"].as_f64().expect("a number");
        special["kind"] == "branch" && (w - pitchfork).abs() < 1e-10
    };
    assert!(
        specials.clone().any(|special| near(&special)),
        "{:?}",
        specials.collect::<Vec<_>>()
    );
    for key in ["parameter", "state", "stability"] {
        assert!(keys(&branches[0]["points"][0]).contains(&key), "{key}");
    }
    for (range, status) in [("b=0..1", 2), ("z=0..1", 2), ("w=1..1", 2), ("w", 2)] {
        let answer = pfaff_text(&["continue", "-", "--vary", range], hoop);
        assert_eq!(
            (answer.status, answer.out.as_str()),
            (status, ""),
            "{range} {}",
            answer.err
        );
    }
}

/// A mass of zero leaves one value of the range without linear equations; the others are there, and where the state is
/// no equilibrium that is said. A surface that no motion changes is refused.
#[test]
fn values_without_linear_equations_are_left_out() {
    let text = "coordinates x\nparameters m = 1\nlagrangian m*x'^2/2 - 2*x^2\ninitial x = 1\n";
    let answer = pfaff_text(&["linearize", "-", "--at", "x=0", "--vary", "m=0..2:3"], text);
    assert_eq!(
        (answer.status, answer.out.lines().count()),
        (0, 3),
        "{}{}",
        answer.out,
        answer.err
    );
    assert!(answer.err.contains("m = 0 is left out"), "{}", answer.err);
    let moving = pfaff_text(&["linearize", "-", "--vary", "m=1..2:2"], text);
    assert!(
        moving.err.contains("at 2 of 2 values the state is not an equilibrium"),
        "{}",
        moving.err
    );
    let constant = pfaff_text(&["section", "-", "--on", "rising m - 2", "--count", "3"], text);
    assert_eq!((constant.status, constant.out.as_str()), (2, ""), "{}", constant.err);
    assert!(constant.err.contains("the same along every motion"), "{}", constant.err);
}
