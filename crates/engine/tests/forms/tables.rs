//! `geometry --json` against tables: foliations, cotangent form, Lagrange spaces, Krupková's system, closedness.

use pfaff::{Model, PARTS, Point, Principle, geometry_with};
use pfaff_mechanics::{closedness, derive};
use pfaff_present::ToJson;
use serde_json::Value;

use crate::support;

/// The tables have at least fourteen digits; the formulas some hundred operations.
const HOLDS: f64 = 1e-12;

fn tables() -> Value {
    serde_json::from_str(include_str!("../reference/forms.json")).expect("JSON")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(s) => s.parse().expect("a number"),
        other => other.as_f64().unwrap_or_else(|| panic!("{other} is no number")),
    }
}

fn shown(model: &Model, dependent: Option<&str>, state: &str) -> Value {
    let request = support::tensors::asked(model, dependent.unwrap_or_default(), state);
    let report = geometry_with(model, &request, &PARTS);
    let report = report.unwrap_or_else(|none| panic!("{}", support::tensors::shown(&none)));
    serde_json::from_str(&report.to_json().to_string()).expect("JSON")
}

/// Nested lists of numbers agree.
#[track_caller]
fn agree(found: &Value, expected: &Value, what: &str) {
    match expected {
        Value::Array(list) => {
            let mine = found.as_array().unwrap_or_else(|| panic!("{what}: {found} is no list"));
            assert_eq!(mine.len(), list.len(), "{what}");
            for (a, b) in mine.iter().zip(list) {
                agree(a, b, what);
            }
        }
        _ => {
            let (a, b) = (number(found), number(expected));
            assert!((a - b).abs() <= HOLDS * (1.0 + b.abs()), "{what}: {a} instead of {b}");
        }
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().expect("a list")
}

#[test]
fn curvatures_of_foliations() {
    for case in list(&tables(), "foliations").iter().filter(|c| c["points"].is_array()) {
        let model = support::model(text(&case["text"]));
        let place = |list: &Value, name: &str| {
            list.as_array()
                .expect("names")
                .iter()
                .position(|n| text(n) == name)
                .expect("a name")
        };
        for point in list(case, "points") {
            let found = shown(&model, Some(text(&case["dependent"])), text(&point["state"]));
            let foliation = &found["foliation"];
            assert_eq!(foliation["leaf"], case["leaf"]);
            assert_eq!(foliation["transverse"], case["transverse"]);
            let values = point["values"].as_object().expect("values");
            assert!(!values.is_empty());
            for (name, expected) in values {
                let (tensor, indices) = name.split_once('^').expect("R^x_th");
                let (u, lower) = indices.split_once('_').expect("an index below");
                let key = if tensor == "R" { "S_curvature" } else { "B" };
                let mut value = &foliation[key]["value"][place(&case["leaf"], u)];
                for l in lower.split(',') {
                    value = &value[place(&case["transverse"], l)];
                }
                agree(value, expected, &format!("{} {name}", text(&case["id"])));
            }
        }
    }
}

/// Theorems 3.1 and 4.1 of Popescu and Popescu at points.
#[test]
fn both_theorems_at_points() {
    for case in list(&tables(), "foliations").iter().filter(|c| c["state"].is_string()) {
        let id = text(&case["id"]);
        let model = support::model(text(&case["text"]));
        let found = shown(&model, Some(text(&case["dependent"])), text(&case["state"]));
        let expected = &case["expected"];
        for key in ["L_c", "S_curvature", "left", "right"] {
            agree(&found["foliation"][key]["value"], &expected[key], &format!("{id} {key}"));
        }
        for key in ["p", "H"] {
            agree(&found["cotangent"][key]["value"], &expected[key], &format!("{id} {key}"));
        }
        // H ṗ = right
        let k = list(expected, "p").len();
        for i in 0..k {
            let row = &expected["H"][i];
            let left: f64 =
                (0..k).map(|j| number(&row[j]) * number(&expected["p_rate"][j])).sum();
            let right = number(&found["cotangent"]["right"]["value"][i]);
            assert!((left - right).abs() <= 10.0 * HOLDS * (1.0 + left.abs()), "{id} (Co)");
        }
        // A′ + B′ q̈ = 0
        let reduced = &found["krupkova"];
        for l in 0..k {
            let moved: f64 = (0..k)
                .map(|s| {
                    number(&reduced["B"]["value"][l][s])
                        * number(&expected["transverse_acceleration"][s])
                })
                .sum();
            let rest = number(&reduced["A"]["value"][l]) + moved;
            assert!(rest.abs() <= 10.0 * HOLDS * (1.0 + moved.abs()), "{id} (Kr) {rest:e}");
        }
    }
}

#[test]
fn lagrange_spaces_at_points() {
    for case in list(&tables(), "lagrange_spaces") {
        let model = support::model(text(&case["text"]));
        let found = shown(&model, None, text(&case["state"]));
        for key in ["g", "elicoidal", "G", "multipliers", "G_star"] {
            let what = format!("{} {key}", text(&case["id"]));
            agree(&found["lagrange_space"][key]["value"], &case["expected"][key], &what);
        }
        assert_eq!(found["lagrange_space"]["signature"]["positive"], 3);
    }
}

#[test]
fn krupkova_systems_at_points() {
    for case in list(&tables(), "krupkova") {
        let model = support::model(text(&case["text"]));
        let found = shown(&model, Some(text(&case["dependent"])), text(&case["state"]));
        for key in ["A", "B"] {
            let what = format!("{} {key}", text(&case["id"]));
            agree(&found["krupkova"][key]["value"], &case["expected"][key], &what);
        }
        assert_eq!(found["krupkova"]["regular"], true);
    }
}

#[test]
fn closed_and_open_forms() {
    for case in list(&tables(), "closedness") {
        let model = support::model(text(&case["text"])).workspace();
        let equations = derive(&model, Principle::Chetaev).expect("equations");
        let C = closedness(&model, &equations.jacobian, &[model.observed[0].expr]);
        assert_eq!(C.is_zero(&model.graph), case["closed"] == true);
        let point = Point::read(&model, text(&case["state"])).expect("a state");
        let values = point.evaluate(&model, &C.entries);
        for (i, row) in list(case, "expected").iter().enumerate() {
            for (j, expected) in row.as_array().expect("a row").iter().enumerate() {
                assert!((values[i * 3 + j] - number(expected)).abs() <= HOLDS);
            }
        }
    }
}

/// Nonlinear constraints have no distribution; the other parts are shown, a wrong part is named, a singular J
/// is noted with the word that the equations work.
#[test]
fn parts_that_are_not_there() {
    let nonlinear = support::model(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z'^2 = x'^2 + y'^2\n",
    );
    let found = shown(&nonlinear, Some("z"), "x' = 3, y' = 4, z' = -1");
    assert!(found.get("growth_vector").is_none());
    assert_eq!(found["foliation"]["explicit"], false);
    assert!((number(&found["foliation"]["C"]["value"][0]) + 5.0).abs() < 1e-14, "the branch");
    assert!(pfaff::geometry_parts("foliation, none").is_err());
    let singular =
        support::model("coordinates x, y, z\nlagrangian (x'^2 + z'^2)/2\nconstraint z' = y'\n");
    let found = shown(&singular, Some("z"), "x' = 1");
    assert!(found.get("cotangent").is_none());
    let notes = found["notes"].to_string();
    assert!(notes.contains("cotangent") && notes.contains("and a run"), "{notes}");
}

/// Krupková's system is regular where M is on the admissible velocities: for y²ẋ²/2 not at y = 0, whichever velocity
/// depends on the others, and generically it is.
#[test]
fn regularity_is_decided_at_the_state() {
    let model = support::model(
        "coordinates x, y, z\nlagrangian (y^2*x'^2 + y'^2 + z'^2)/2\nconstraint z' = (1 + y)*y'\n",
    );
    for (dependent, state, regular) in [
        ("", "", true),
        ("", "y = 0.5", true),
        ("", "y = 0, x' = 1", false),
        ("y", "y = 0.5", true),
        ("y", "y = 0", false),
        // (1 + y)² in M of ẏ does not vanish at y = −1, where ẏ itself remains.
        ("", "y = -1", true),
    ] {
        let found = shown(&model, Some(dependent), state);
        assert_eq!(found["krupkova"]["regular"], regular, "{dependent} at {state}");
    }
}
