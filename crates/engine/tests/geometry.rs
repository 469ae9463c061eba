//! Tensors and growth vectors at points: tables, and closed forms.
//!
//! Values must agree to 1e-12·(1+|b|): they come from a few hundred operations without integration.

mod support;

use serde_json::Value;
use support::model;
use support::tensors::{at, entries, entry};

const TOLERANCE: f64 = 1e-12;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * (1.0 + b.abs())
}

fn table() -> Vec<Value> {
    let table: Value = serde_json::from_str(include_str!("reference/geometry.json"))
        .expect("the table is JSON");
    table["cases"].as_array().expect("a list of cases").clone()
}

/// The place of `R^1_2,12` and the like: key and indices; dependent indices are names.
fn place(name: &str, dependent: &[&str]) -> (&'static str, Vec<usize>) {
    let (letter, index) = name.split_once(['_', '^']).expect("a letter, then indices");
    let key = match letter {
        "g" => "metric",
        "LC" => "christoffel",
        "Gamma" => "connection",
        "S" => "torsion",
        "K" => "contorsion",
        "R" => "curvature",
        "RLC" => "christoffel_curvature",
        "F" => "bundle_curvature",
        other => panic!("no letter {other}"),
    };
    let digits = |s: &str| -> Vec<usize> {
        s.chars().filter_map(|c| c.to_digit(10)).map(|d| d as usize - 1).collect()
    };
    if letter == "F" {
        let (name, rest) = index.split_once('_').expect("an upper index");
        let α = dependent.iter().position(|d| *d == name).expect("a dependent coordinate");
        return (key, [vec![α], digits(rest)].concat());
    }
    (key, digits(index))
}

#[test]
fn tensors_agree_with_the_table() {
    let mut compared = 0;
    for case in table().iter().filter(|c| c["kind"] == "connection") {
        let id = case["id"].as_str().expect("an id");
        let model = model(case["model"].as_str().expect("a text"));
        let names = case["dependent"].as_str().expect("names");
        let dependent: Vec<&str> = names.split(',').collect();
        for point in case["points"].as_array().expect("points") {
            let state = point["state"].as_str().expect("a state");
            let found = at(&model, "", state);
            assert_eq!(found["dependent"], Value::from(dependent.clone()), "{id}");
            let expected = point["nonzero"].as_object().expect("components");
            for key in [
                "metric",
                "christoffel",
                "connection",
                "torsion",
                "contorsion",
                "curvature",
                "christoffel_curvature",
                "bundle_curvature",
            ] {
                for (index, value) in entries(&found, key) {
                    let given = expected.iter().find(|(name, _)| {
                        let (known, place) = place(name, &dependent);
                        let mut flipped = place.clone();
                        let last = flipped.len() - 1;
                        flipped.swap(last - 1, last);
                        known == key
                            && (place == index || (repeats(key) != 0.0 && flipped == index))
                    });
                    let expected = given.map_or(0.0, |(name, x)| {
                        let direct = place(name, &dependent).1 == index;
                        let sign = if direct { 1.0 } else { repeats(key) };
                        sign * x.as_f64().expect("a number")
                    });
                    assert!(close(value, expected), "{id} {key}{index:?}: {value}, {expected}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "the table was read");
}

/// What an exchange of the last two indices does to a tensor that is listed once.
fn repeats(key: &str) -> f64 {
    match key {
        "metric" => 1.0,
        "torsion" | "curvature" | "christoffel_curvature" | "bundle_curvature" => -1.0,
        _ => 0.0,
    }
}

#[test]
fn growth_vectors_agree_with_the_table() {
    for case in table().iter().filter(|c| c["kind"] == "growth") {
        let id = case["id"].as_str().expect("an id");
        let model = model(case["model"].as_str().expect("a text"));
        for point in case["points"].as_array().expect("points") {
            let found = at(&model, "", point["state"].as_str().expect("a state"));
            for (ours, theirs) in [
                ("growth_vector", "growth_vector"),
                ("closure_rank", "rank_closure"),
                ("bracket_generating", "bracket_generating"),
                ("integrable", "frobenius_integrable"),
                ("holonomic_integrals", "number_of_holonomic_integrals"),
            ] {
                assert_eq!(found[ours], point[theirs], "{id} {ours}");
            }
        }
    }
}

/// With the metric not constant, Γ has the ambient Christoffel terms: Γ^1_22 = −a cos θ.
#[test]
fn the_offset_sleigh_has_ambient_terms() {
    let sleigh = model(
        "coordinates x, th, y\nparameters m = 1.3, J = 0.7, a = 0.4\n\
         lagrangian m*((x' - a*sin(th)*th')^2 + (y' + a*cos(th)*th')^2)/2 + J*th'^2/2\n\
         constraint y'*cos(th) = x'*sin(th)\n",
    );
    let (m, J, a, th) = (1.3, 0.7, 0.4, 0.3);
    let found = at(&sleigh, "", "th=0.3");
    let (cos, tan) = (libm::cos(th), libm::tan(th));
    let whole = J + m * a * a;
    for (key, index, value) in [
        ("metric", vec![0, 0], m / (cos * cos)),
        ("metric", vec![1, 1], whole),
        ("connection", vec![0, 1, 0], tan),
        ("connection", vec![0, 1, 1], -a * cos),
        ("connection", vec![1, 1, 0], m * a / (whole * cos)),
        ("torsion", vec![1, 0, 1], -m * a / (2.0 * whole * cos)),
    ] {
        let found = entry(&found, key, &index);
        assert!(close(found, value), "{key}{index:?}: {found}, {value}");
    }
}

/// The symmetric Heisenberg form has a curved connection: R^1_{2,12} = (x² + 4)/(4 + r²)².
#[test]
fn heisenberg_is_curved() {
    let text = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\n\
                constraint z' = (x*y' - y*x')/2\n";
    let (x, y) = (0.7, -0.4);
    let found = at(&model(text), "", "x=0.7, y=-0.4");
    let s = 4.0 + x * x + y * y;
    for (key, index, value) in [
        ("connection", vec![0, 1, 0], y / s),
        ("connection", vec![0, 0, 1], -y / s),
        ("connection", vec![1, 0, 1], x / s),
        ("torsion", vec![0, 0, 1], -y / s),
        ("torsion", vec![1, 0, 1], x / s),
        ("curvature", vec![0, 1, 0, 1], (x * x + 4.0) / (s * s)),
        ("bundle_curvature", vec![0, 0, 1], 1.0),
    ] {
        let found = entry(&found, key, &index);
        assert!(close(found, value), "{key}{index:?}: {found}, {value}");
    }
}

#[test]
fn growth_depends_on_the_point() {
    let martinet = model(
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z' = y^2*x'/2\n",
    );
    assert_eq!(at(&martinet, "", "")["growth_vector"], Value::from(vec![2, 3]));
    assert_eq!(at(&martinet, "", "y=0.1")["growth_vector"], Value::from(vec![2, 3]));
    assert_eq!(at(&martinet, "", "x=1")["growth_vector"], Value::from(vec![2, 2, 3]));
    let engel = model(
        "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2\n\
         constraint y' = z*x'\nconstraint z' = w*x'\n",
    );
    let found = at(&engel, "", "");
    assert_eq!(found["growth_vector"], Value::from(vec![2, 3, 4]));
    assert_eq!(found["abnormal"]["kind"], "directions");
    // Along ∂_w: the base is (x, w).
    assert_eq!(found["abnormal"]["directions"][0], Value::from(vec!["0", "1"]));
}
