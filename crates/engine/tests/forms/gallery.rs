//! `geometry --json` of every gallery model: all parts come, none grows beyond reason, and the parts agree
//! with each other at a point.

use pfaff::{PARTS, geometry_with};
use pfaff_present::ToJson;
use serde_json::Value;

use crate::support::{self, Random};

/// Models of many nodes, seen with `PFAFF_TESTS=full`.
const LARGE: [&str; 8] = [
    "ball_in_bowl",
    "bicycle",
    "bounce_3d",
    "drop_3d",
    "falling_cat",
    "flip",
    "rattleback",
    "trailers",
];
/// Far more than any model needs with names for its parts; trees without names would be longer by orders.
const LONGEST: usize = 4_000_000;
/// Two derivations of the same covector, some hundred operations each.
const HOLDS: f64 = 1e-9;

/// The numbers of a list.
fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().into_iter().flatten().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// At accelerations zero, left − right of the foliation's equations is −A′ of the constrained system.
#[test]
fn every_gallery_model_has_its_geometry() {
    let all = support::full();
    let (mut seen, mut compared) = (0, 0);
    for gallery in support::gallery().iter().filter(|m| all || !LARGE.contains(&m.name)) {
        let name = gallery.name;
        let model = support::model_with(gallery.text, "", "");
        let mut random = Random::new(7);
        let mut parts = vec!["t = 1.3".to_owned()];
        for c in &model.coordinates {
            parts.push(format!("{} = {:.3}", c.name, 0.6 + 0.3 * random.number()));
            parts.push(format!("{}' = {:.3}", c.name, 0.5 + 0.3 * random.number()));
        }
        let state = parts.join(", ");
        let mut request = support::tensors::asked(&model, "", &state);
        let mut found = geometry_with(&model, &request, &PARTS);
        // A point where the constraints have no solution or lose rank says nothing about the symbols.
        let point_refused = |error: &pfaff::Error| match error {
            pfaff::Error::Text(errors) => {
                errors.diagnostics.iter().any(|d| d.code.starts_with("E06"))
            }
            pfaff::Error::Usage(_) => false,
        };
        if found.as_ref().is_err_and(point_refused) {
            request.state = None;
            found = geometry_with(&model, &request, &PARTS);
        }
        let report = match found {
            Ok(report) => report,
            Err(none) => {
                let why = support::tensors::shown(&none);
                let known = ["has memory", "has no Lagrangian", "contains no velocity"];
                assert!(known.iter().any(|k| why.contains(k)), "{name}: {why}");
                continue;
            }
        };
        let text = report.to_json().to_string();
        assert!(text.len() < LONGEST, "{name}: {} characters", text.len());
        let json: Value = serde_json::from_str(&text).expect("JSON");
        for key in ["foliation", "lagrange_space"] {
            assert!(json[key].is_object(), "{name} has no {key}");
        }
        let noted = |part: &str| {
            let notes = json["notes"].as_array().into_iter().flatten();
            notes.filter_map(Value::as_str).any(|n| n.starts_with(part))
        };
        for key in ["cotangent", "krupkova", "forms"] {
            assert!(json[key].is_object() || noted(key), "{name} has no {key} and no reason");
        }
        seen += 1;
        let left = numbers(&json["foliation"]["left"]["value"]);
        let right = numbers(&json["foliation"]["right"]["value"]);
        let A = numbers(&json["krupkova"]["A"]["value"]);
        if A.len() != left.len() || left.iter().chain(&A).any(|x| !x.is_finite()) {
            continue;
        }
        compared += usize::from(!A.is_empty());
        let size = left.iter().chain(&right).fold(1.0_f64, |m, x| m.max(x.abs()));
        for ((l, r), a) in left.iter().zip(&right).zip(&A) {
            assert!((l - r + a).abs() <= HOLDS * size, "{name}: {l} - {r} is not -({a})");
        }
    }
    assert!(seen >= 45, "{seen} models");
    assert!(compared >= 30, "{compared} models at a point");
}
