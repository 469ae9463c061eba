//! Questions and their answers.

use std::cell::Cell;
use std::rc::Rc;

use pfaff::{Model, Run};
use pfaff_web::Workbench;
use serde_json::{Value, json};

fn ask(question: &Value) -> Value {
    serde_json::from_str(&Workbench::default().ask(&question.to_string())).expect("JSON")
}

fn sleigh() -> &'static str {
    pfaff::gallery_model("sleigh").expect("it is there").text
}

#[test]
fn a_run_has_the_bits_of_the_engine() {
    let answer = ask(&json!({"ask": "run", "text": sleigh(), "t1": 5.0, "samples": 11}));
    let motion = Model::parse(sleigh())
        .expect("sound")
        .run(&Run { samples: Some(11), ..Run::to(5.0) })
        .expect("it runs");
    let x: Vec<f64> = answer["motion"]["q"]["x"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|v| v.as_f64().expect("a number"))
        .collect();
    assert_eq!(x, motion.position("x").expect("it is there").values());
    assert_eq!(answer["motion"]["audit"]["verdict"], "pass");
    assert!(answer["frames"].as_u64().expect("a count") > 100);
    let names: Vec<&str> = answer["columns"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|c| c["name"].as_str())
        .collect();
    assert!(names.contains(&"speed") && names.contains(&"x'"), "{names:?}");
}

#[test]
fn other_values_change_the_motion() {
    let at = |set: &str, initial: &str| {
        let answer = ask(
            &json!({"ask": "run", "text": sleigh(), "set": set, "initial": initial, "t1": 3.0}),
        );
        answer["motion"]["q"]["x"].as_array().expect("a list").last().cloned().expect("rows")
    };
    assert_ne!(at("", ""), at("a=0.3", ""));
    assert_ne!(at("", ""), at("", "x'=2"));
    assert_eq!(at("", ""), at("a=0.2", " "));
}

#[test]
fn an_editor_gets_colours_mistakes_and_names() {
    let text = "coordinates x\nlagrangian m*x'^2/2 # ü\ninitial x' = 1\n";
    let answer = ask(&json!({"ask": "read", "text": text}));
    assert!(answer["model"].is_null());
    let mistake = &answer["diagnostics"][0];
    assert_eq!(
        (mistake["line"].as_u64(), mistake["severity"].as_str()),
        (Some(2), Some("error"))
    );
    let (from, to) =
        (mistake["from"].as_u64().expect("from"), mistake["to"].as_u64().expect("to"));
    assert_eq!(&text[from as usize..to as usize], "m");
    let answer = ask(&json!({"ask": "read", "text": format!("parameters m = 2\n{text}")}));
    assert_eq!(answer["model"]["parameters"][0]["value"], 2.0);
    assert_eq!(answer["model"]["initial"][0], json!({"name": "x'", "value": 1.0}));
    let pieces = answer["pieces"].as_array().expect("a list");
    assert_eq!(pieces[0], json!([0, 10, "keyword"]));
    let comment = pieces.iter().find(|p| p[2] == "comment").expect("a comment");
    let units = |text: &str| text.encode_utf16().count() as u64;
    let whole = format!("parameters m = 2\n{text}");
    let start = whole.find('#').expect("it is there");
    assert_eq!(comment[0].as_u64(), Some(units(&whole[..start])));
    assert_eq!(comment[1].as_u64(), Some(units(&whole[..start + "# ü".len()])));
}

#[test]
fn equations_come_in_every_form_and_exports_in_every_kind() {
    for form in ["multipliers", "reduced", "hamilton", "kane", "boltzmann_hamel"] {
        let answer = ask(&json!({"ask": "equations", "text": sleigh(), "form": form}));
        assert!(
            answer["mathml"].as_str().is_some_and(|m| m.contains("<math")),
            "{form}: {answer}"
        );
        assert!(answer["latex"].as_str().is_some_and(|m| m.contains("\\varphi")), "{form}");
    }
    for (kind, word) in [
        ("c", "double"),
        ("python", "def "),
        ("rust", "fn "),
        ("latex", "align"),
        ("csv", "t,"),
        ("report", "<!doctype html>"),
    ] {
        let answer = ask(
            &json!({"ask": "export", "kind": kind, "text": sleigh(), "name": "sleigh", "t1": 1.0}),
        );
        assert!(
            answer["content"].as_str().is_some_and(|c| c.contains(word)),
            "{kind}: {answer}"
        );
    }
}

#[test]
fn principles_sections_and_verdicts() {
    let text = pfaff::gallery_model("contact_vakonomic").expect("it is there").text;
    let answer = ask(
        &json!({"ask": "compare", "text": text, "principles": "chetaev, vakonomic", "t1": 2.0}),
    );
    assert_eq!(answer["motions"].as_array().map(Vec::len), Some(2), "{answer}");
    let swing = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n";
    let answer = ask(&json!({"ask": "section", "text": swing, "on": "rising x", "count": 3}));
    let times = answer["section"]["t"].as_array().expect("a list");
    // x = cos t rises through zero at 3π/2 + 2πk; located to 1e-12 of the time.
    let exact = 1.5 * std::f64::consts::PI;
    assert!((times[0].as_f64().expect("a time") - exact).abs() < 1e-9);
    assert_eq!(times.len(), 3);
    let answer = ask(&json!({"ask": "check", "text": sleigh()}));
    assert_eq!(answer["check"]["constraints"][0]["integrable"], false);
}

#[test]
fn bad_questions_are_answered_too() {
    for question in [
        "",
        "[",
        "[]",
        "{}",
        "{\"ask\": 3}",
        "{\"ask\": \"nothing\"}",
        "{\"ask\": \"run\"}",
        "{\"ask\": \"run\", \"text\": 7}",
        "{\"ask\": \"run\", \"text\": \"coordinates x\\nlagrangian x'^2/2\", \"samples\": -1}",
        "{\"ask\": \"run\", \"text\": \"coordinates x\\nlagrangian x'^2/2\", \"t1\": \"later\"}",
        "{\"ask\": \"run\", \"text\": \"coordinates x\\nlagrangian x'^2/2\", \"method\": \"euler\"}",
        "{\"ask\": \"equations\", \"text\": \"coordinates x\\nlagrangian x'^2/2\", \"form\": \"poetry\"}",
        "{\"ask\": \"export\", \"text\": \"coordinates x\\nlagrangian x'^2/2\", \"kind\": \"gold\"}",
        "{\"ask\": \"explain\", \"code\": \"E9999\"}",
        "{\"ask\": \"run\", \"text\": \"coordinates x\\nlagrangian y\", \"t1\": 1}",
    ] {
        let answer: Value =
            serde_json::from_str(&Workbench::default().ask(question)).expect("JSON");
        let message = answer["error"]["message"].as_str().expect("a message");
        assert!(!message.is_empty(), "{question}");
    }
}

#[test]
fn a_question_can_be_ended() {
    let text = "coordinates x\nlagrangian x'^2/2 - x^2/2\ninitial x = 1\n";
    let question = json!({"ask": "run", "text": text, "t1": 1e6}).to_string();
    let ask = |most: usize| {
        let calls = Rc::new(Cell::new(0));
        let counted = Rc::clone(&calls);
        let go_on = move || {
            counted.set(counted.get() + 1);
            counted.get() < most
        };
        (Workbench::default().ask_while(&question, go_on), calls.get())
    };
    let (answer, _) = ask(500);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["motion"]["stop"]["reason"], "interrupted");
    assert!(answer["motion"]["stop"]["t"].as_f64().expect("a time") > 0.0);
    // Before its first step there is nothing to show.
    let (answer, calls) = ask(2);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.contains("given up") && calls == 2, "{message}");
}
