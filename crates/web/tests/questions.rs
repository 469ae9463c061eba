//! Questions and their answers.

use std::cell::Cell;
use std::rc::Rc;

use pfaff::{Model, Run};
use pfaff_web::Workbench;
use serde_json::{Value, json};

fn ask(question: &Value) -> Value {
    serde_json::from_str(&Workbench::default().ask(&question.to_string())).expect("JSON")
}

/// The numbers of a column.
fn column(answer: &Value, name: &str) -> Vec<f64> {
    let columns = answer["columns"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let found = columns.iter().find(|c| c["name"] == name).expect("it is there");
    let values = found["values"].as_array().expect("a list");
    values.iter().map(|v| v.as_f64().expect("a number")).collect()
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
    assert_eq!(column(&answer, "x"), motion.position("x").expect("it is there").values());
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

/// The bytes of a text of four letters for three bytes. [RFC 4648, section 4]
fn bytes(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = |c: char| letters.find(c).map(|k| k as u32);
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').chars().collect::<Vec<_>>().chunks(4) {
        let all = group.iter().fold(0, |all, &c| all << 6 | bits(c).expect("a letter"));
        let all = all << (6 * (4 - group.len()));
        bytes.extend(all.to_be_bytes()[1..group.len()].iter());
    }
    bytes
}

#[test]
fn packed_columns_have_the_same_bits() {
    let question = json!({"ask": "run", "text": sleigh(), "t1": 5.0, "samples": 11, "expressions": ["x/0*0"]});
    let mut packed = question.clone();
    packed["packed"] = json!(true);
    let (plain, packed) = (ask(&question), ask(&packed));
    let list = |answer: &Value| answer["columns"].as_array().expect("a list").clone();
    for (plain, packed) in list(&plain).iter().zip(&list(&packed)) {
        assert_eq!(plain["name"], packed["name"]);
        let bytes = bytes(packed["packed"].as_str().expect("a text"));
        let numbers =
            bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")));
        let numbers: Vec<f64> = numbers.collect();
        let exact = plain["values"].as_array().expect("a list");
        assert_eq!(numbers.len(), exact.len());
        for (x, exact) in numbers.iter().zip(exact) {
            // What is no number is `null` in JSON.
            assert_eq!(x.is_finite().then_some(*x), exact.as_f64(), "{}", plain["name"]);
        }
    }
}

/// A draft has the same numbers, fewer frames, and no verdict: whatever was not audited has not passed.
#[test]
fn a_draft_is_the_same_motion_without_a_verdict() {
    for name in
        ["sleigh", "bouncing_ball", "fractional_relaxation", "shortest_path", "noisy_sleigh"]
    {
        let text = pfaff::gallery_model(name).expect("it is there").text;
        let question = json!({"ask": "run", "text": text, "samples": 11});
        let mut draft = question.clone();
        draft["draft"] = json!(true);
        let (whole, draft) = (ask(&question), ask(&draft));
        assert_eq!(draft["columns"], whole["columns"], "{name}");
        assert_eq!(whole["motion"]["audit"]["verdict"], "pass", "{name}");
        assert_eq!(
            draft["motion"]["audit"],
            json!({"verdict": "unchecked", "checks": []}),
            "{name}"
        );
        assert!(draft["frames"].as_u64() < whole["frames"].as_u64(), "{name}");
    }
}

#[test]
fn other_values_change_the_motion() {
    let at = |set: &str, initial: &str| {
        let answer = ask(
            &json!({"ask": "run", "text": sleigh(), "set": set, "initial": initial, "t1": 3.0}),
        );
        column(&answer, "x").pop().expect("rows")
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
    for form in ["multipliers", "reduced", "hamilton", "kane", "boltzmann_hamel", "geometry"] {
        let answer = ask(&json!({"ask": "equations", "text": sleigh(), "form": form}));
        assert!(
            answer["html"].as_str().is_some_and(|m| m.contains("<h2>") && m.contains("<math")),
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
        ("json", "\"audit\""),
        ("svg", "<svg"),
        ("drawing", "<svg"),
        ("report", "<!doctype html>"),
    ] {
        let answer = ask(&json!({
            "ask": "export", "kind": kind, "text": sleigh(), "name": "sleigh", "t1": 1.0, "columns": ["x^2 + y^2"],
        }));
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
    let ask = |t1: f64, most: usize| {
        let question = json!({"ask": "run", "text": text, "t1": t1}).to_string();
        let calls = Rc::new(Cell::new(0));
        let counted = Rc::clone(&calls);
        let go_on = move || {
            counted.set(counted.get() + 1);
            counted.get() < most
        };
        (Workbench::default().ask_while(&question, go_on), calls.get())
    };
    // A long motion has surely begun when a short one would have been over.
    let (_, short) = ask(1.0, usize::MAX);
    let (answer, _) = ask(1e6, short);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["motion"]["stop"]["reason"], "interrupted");
    assert!(answer["motion"]["stop"]["t"].as_f64().expect("a time") > 0.0);
    // Before its first step there is nothing to show.
    let (answer, calls) = ask(1e6, 2);
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    let message = answer["error"]["message"].as_str().expect("a message");
    assert!(message.contains("given up") && calls == 2, "{message}");
}

#[test]
fn files_of_bytes_come_as_base64() {
    // The first three bytes of each format as four letters.
    for (kind, letters) in [("parquet", "UEFS"), ("png", "iVBO")] {
        let question = json!({"ask": "export", "kind": kind, "text": sleigh(), "t1": 1.0, "columns": ["x"]});
        let answer = ask(&question);
        assert!(
            answer["base64"].as_str().is_some_and(|b| b.starts_with(letters)),
            "{kind}: {}",
            answer["error"]
        );
    }
}

#[test]
fn expressions_of_columns_are_columns_too() {
    let question = json!({
        "ask": "run", "text": sleigh(), "t1": 2.0, "samples": 5, "expressions": ["x^2 + y^2", "nothing + 1"],
    });
    let answer = ask(&question);
    let (x, y) = (column(&answer, "x"), column(&answer, "y"));
    let squares: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x * x + y * y).collect();
    assert_eq!(column(&answer, "x^2 + y^2"), squares);
    assert_eq!(answer["faults"].as_array().map(Vec::len), Some(1), "{}", answer["faults"]);
}

/// The swing of two rods of length 1, whose ends can be dragged though they are no coordinates.
const RODS: &str = "coordinates a, b\nlet P = [sin(a), -cos(a)]\nlet Q = P + [sin(b), -cos(b)]\n\
    lagrangian dot(P', P')/2 + dot(Q', Q')/2 - P[2] - Q[2]\ninitial a = 0.5, b = 0.7, a' = 0.3\n\
    draw point P\ndraw point Q\ndraw arrow P along P'\nsolve t = 0..1\n";

#[test]
fn a_hand_moves_points_and_their_velocities() {
    let answer = ask(&json!({"ask": "run", "text": RODS, "samples": 3}));
    let handles = answer["handles"].as_array().expect("a list");
    assert_eq!(handles.len(), 2, "{handles:?}");
    let near = |value: &Value, x: f64, within: f64| {
        assert!((value.as_f64().expect("a number") - x).abs() < within, "{value} and {x}");
    };
    near(&handles[1]["at"][0], 0.5f64.sin_cos().0 + 0.7f64.sin_cos().0, 1e-15);
    near(&handles[0]["velocity"][0], 0.3 * 0.5f64.sin_cos().1, 1e-9);

    // Both rods stretch towards a point that they reach: P + (cos, sin) of the answer is there.
    let drag =
        json!({"ask": "drag", "text": RODS, "point": 2, "x": 1.2, "y": -1.0, "q": [0.5, 0.7]});
    let initial = ask(&drag)["initial"].clone();
    let angle = |name: &str| initial[name].as_f64().expect("a number");
    let (a, b) = (angle("a").sin_cos(), angle("b").sin_cos());
    assert!((a.0 + b.0 - 1.2).abs() < 1e-6 && (a.1 + b.1 - 1.0).abs() < 1e-6);

    // What is out of reach is approached: both rods point there.
    let drag =
        json!({"ask": "drag", "text": RODS, "point": 2, "x": 6.0, "y": 0.0, "q": [0.5, 0.7]});
    let initial = ask(&drag)["initial"].clone();
    let half = std::f64::consts::FRAC_PI_2;
    near(&initial["a"], half, 0.05);
    near(&initial["b"], half, 0.05);

    // A velocity along the circle is reached by one rod alone.
    let (sin, cos) = 0.5f64.sin_cos();
    let drag = json!({
        "ask": "drag", "text": RODS, "point": 1, "x": 2.0 * cos, "y": 2.0 * sin, "q": [0.5, 0.7], "v": [0.3, 0.0],
    });
    near(&ask(&drag)["initial"]["a'"], 2.0, 1e-3);
    let wrong = json!({"ask": "drag", "text": RODS, "point": 3, "x": 0, "y": 0, "q": [0, 0]});
    assert!(ask(&wrong)["error"].is_object());
    let wrong = json!({"ask": "drag", "text": RODS, "point": 1, "x": 0, "y": 0, "q": [0]});
    assert!(ask(&wrong)["error"].is_object());
}

#[test]
fn values_that_contradict_the_constraints_are_told_as_numbers() {
    let text = "coordinates x, y\nkinetic (x'^2 + y'^2)/2\nconstraint x^2 + y^2 = 1\ninitial x = 0.6, y = 0.9";
    let answer = ask(&json!({"ask": "run", "text": text, "t1": 1.0, "samples": 3}));
    let moved = answer["moved"].as_array().expect("a list");
    let notes = answer["motion"]["notes"].as_array().expect("a list");
    let number = |m: &Value, key: &str| m[key].as_f64().expect("a number");
    let names: Vec<&Value> = moved.iter().map(|m| &m["name"]).collect();
    assert_eq!(names, ["x", "y"]);
    // The nearest point of the circle: on the ray from its centre.
    let norm = f64::hypot(0.6, 0.9);
    for (m, given) in moved.iter().zip([0.6, 0.9]) {
        assert_eq!(number(m, "from"), given);
        assert!((number(m, "to") - given / norm).abs() < 1e-12, "{m}");
        assert!(notes.contains(&m["note"]), "{m}");
    }
    let consistent = ask(&json!({"ask": "run", "text": sleigh(), "t1": 1.0, "samples": 3}));
    assert_eq!(consistent["moved"], json!([]));
}

#[test]
fn names_have_formulas() {
    let of =
        |name: &str| ask(&json!({"ask": "formula", "text": RODS, "of": name}))["html"].clone();
    assert!(
        of("P").as_str().is_some_and(|m| m.matches("<mtr>").count() == 2 && m.contains("sin"))
    );
    assert!(of("lagrangian").as_str().is_some_and(|m| m.contains("<math")));
    assert_eq!(of("nothing"), Value::Null);
}

#[test]
fn a_text_is_put_in_order_and_says_the_same() {
    let format = |text: &str| {
        ask(&json!({"ask": "format", "text": text}))["text"].as_str().expect("text").to_owned()
    };
    let rough = "# note\n\n\n  coordinates x,   y # here\nlagrangian (x'^2\n  +  y'^2)/2\ntitle \"a   b\"";
    let tidy = "# note\n\ncoordinates  x, y # here\nlagrangian   (x'^2\n             + y'^2)/2\ntitle        \"a   b\"\n";
    assert_eq!(format(rough), tidy);
    for model in pfaff::GALLERY {
        let once = format(model.text);
        assert_eq!(format(&once), once, "{}", model.name);
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&once), words(model.text), "{}", model.name);
    }
}
