//! Tensors and growth vectors at points: tables, and closed forms.
//!
//! Values must agree to 1e-12·(1+|b|): they come from a few hundred operations without integration.

use serde_json::Value;

use crate::support::model;
use crate::support::tensors::{at, entries, entry};

const TOLERANCE: f64 = 1e-12;

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= TOLERANCE * (1.0 + b.abs())
}

fn table() -> Vec<Value> {
    let table: Value = serde_json::from_str(include_str!("../reference/geometry.json"))
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
    // Rational values are exact: no threshold takes 1e-13 for zero.
    assert_eq!(at(&martinet, "", "y=1e-13")["growth_vector"], Value::from(vec![2, 3]));
    let engel = model(
        "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2\n\
         constraint y' = z*x'\nconstraint z' = w*x'\n",
    );
    let found = at(&engel, "", "");
    assert_eq!(found["growth_vector"], Value::from(vec![2, 3, 4]));
    assert_eq!(found["abnormal"]["kind"], "directions");
    // Along ∂_w: the base is (z, w).
    assert_eq!(found["abnormal"]["directions"][0], Value::from(vec!["0", "1"]));
}

/// T = ½(I + mr²)(θ′² + sin²θ φ′²) + ½I(ψ′ + cos θ φ′)² on the base of the ball, and F = dε of ε^x = r ω_y,
/// ε^y = −r ω_x. With g_αβ = mδ_αβ, S_σμν = ½m ε^α_σ F^α_μν.
#[test]
fn the_ball_in_euler_angles() {
    let ball = pfaff::gallery_model("ball").expect("in the gallery");
    let (m, r, ψ, θ) = (1.0, 0.5, 0.7, 1.1);
    let found = at(&model(ball.text), "", "psi=0.7, th=1.1, phi=0.4");
    assert_eq!(found["dependent"], Value::from(vec!["x", "y"]));
    assert_eq!(found["growth_vector"], Value::from(vec![3, 5]));
    assert_eq!(found["torsion_kind"], "general");
    // p·F u = 0 for some p: the plane of the two f^α, not every direction.
    assert_eq!(found["abnormal"]["kind"], "directions");
    assert_eq!(found["abnormal"]["directions"].as_array().map(Vec::len), Some(2));
    let (sin, cos) = (libm::sin(θ), libm::cos(θ));
    let (s, c) = (libm::sin(ψ), libm::cos(ψ));
    let inertia = 0.4 * m * r * r;
    let whole = inertia + m * r * r;
    let metric = [
        [inertia, 0.0, inertia * cos],
        [0.0, whole, 0.0],
        [inertia * cos, 0.0, whole * sin * sin + inertia * cos * cos],
    ];
    for k in 0..9 {
        let ours = entry(&found, "metric", &[k / 3, k % 3]);
        assert!(close(ours, metric[k / 3][k % 3]), "g{k}: {ours}");
    }
    // Pairs (ψ,θ), (ψ,φ), (θ,φ) of F^x, F^y, then 2S_σ/(mr²).
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let curvature = [[r * c, r * sin * s, -r * cos * c], [r * s, -r * sin * c, -r * cos * s]];
    let torsion = [[0.0, 0.0, 0.0], [0.0, sin, 0.0], [-sin, 0.0, sin * cos]];
    for (k, &(μ, ν)) in pairs.iter().enumerate() {
        for (α, row) in curvature.iter().enumerate() {
            let ours = entry(&found, "bundle_curvature", &[α, μ, ν]);
            assert!(close(ours, row[k]), "F{α}{k}: {ours} {}", row[k]);
        }
        for (σ, row) in torsion.iter().enumerate() {
            let lowered: f64 =
                (0..3).map(|λ| metric[σ][λ] * entry(&found, "torsion", &[λ, μ, ν])).sum();
            assert!(close(lowered, m * r * r * row[k] / 2.0), "S{σ}{k}: {lowered}");
        }
    }
}

/// The rotation group with ω inserted for three further velocities (Maurer–Cartan): a flat connection with
/// S_ψθφ = −½ sin θ, over a sphere of radius 2, R̄_ρσμν = ¼(g_ρμ g_σν − g_ρν g_σμ).
#[test]
fn maurer_cartan_is_flat_over_a_sphere() {
    let text = "coordinates a, b, c, x, y, z\n\
        let R = rotation_z(a)*rotation_x(b)*rotation_z(c)\nlet om = vee(R'*transpose(R))\n\
        lagrangian (x'^2 + y'^2 + z'^2)/2\n\
        constraint x' = om[1]\nconstraint y' = om[2]\nconstraint z' = om[3]\n";
    let found = at(&model(text), "", "a=0.3, b=0.9, c=0.4");
    let (sin, cos) = (libm::sin(0.9), libm::cos(0.9));
    let metric = [[1.0, 0.0, cos], [0.0, 1.0, 0.0], [cos, 0.0, 1.0]];
    let lower = |key: &str, σ: usize, rest: &[usize]| -> f64 {
        (0..3).map(|λ| metric[σ][λ] * entry(&found, key, &[&[λ], rest].concat())).sum()
    };
    for (i, value) in entries(&found, "curvature") {
        assert!(close(value, 0.0), "R{i:?}: {value}");
    }
    for k in 0..81 {
        let (ρ, σ, μ, ν) = (k / 27, k / 9 % 3, k / 3 % 3, k % 3);
        let sphere = (metric[ρ][μ] * metric[σ][ν] - metric[ρ][ν] * metric[σ][μ]) / 4.0;
        let ours = lower("christoffel_curvature", ρ, &[σ, μ, ν]);
        assert!(close(ours, sphere), "R{ρ}{σ}{μ}{ν}: {ours} {sphere}");
    }
    for (σ, μ, ν, sign) in [(0, 1, 2, 1.0), (1, 2, 0, 1.0), (2, 0, 1, 1.0), (1, 0, 2, -1.0)]
    {
        let ours = lower("torsion", σ, &[μ, ν]);
        assert!(close(ours, -sign * sin / 2.0), "S{σ}{μ}{ν}: {ours}");
    }
}

/// ż = y²ẋ/2: g = diag(1 + y⁴/4, 1), Γ^1_21 = y³/2/(1 + y⁴/4), F = −y, and abnormal curves in y = 0 alone.
#[test]
fn martinet_in_closed_form() {
    let text =
        "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint z' = y^2*x'/2\n";
    let y = 0.8_f64;
    let found = at(&model(text), "", "y=0.8");
    let g = 1.0 + y * y * y * y / 4.0;
    let Γ = y * y * y / 2.0 / g;
    for (key, index, value) in [
        ("metric", vec![0, 0], g),
        ("connection", vec![0, 1, 0], Γ),
        ("connection", vec![0, 0, 1], 0.0),
        ("torsion", vec![0, 0, 1], -Γ / 2.0),
        ("christoffel", vec![1, 0, 0], -y * y * y / 2.0),
        ("bundle_curvature", vec![0, 0, 1], -y),
    ] {
        let found = entry(&found, key, &index);
        assert!(close(found, value), "{key}{index:?}: {found}, {value}");
    }
    assert_eq!(found["abnormal"]["kind"], "none");
    assert_eq!(found["abnormal"]["except_where_zero"][0], Value::from(vec!["-y"]));
}

/// ẏ = zẋ, ż = wẋ is not of Chaplygin's form over (x, w). In the frame X_x = ∂_x + z∂_y + w∂_z, ∂_w: g =
/// diag(1 + z² + w², 1), Γ_xxx = zw, Γ_xwx = w, [X_x, X_w] = −∂_z.
#[test]
fn engel_in_closed_form() {
    let text = "coordinates x, y, z, w\nlagrangian (x'^2 + y'^2 + z'^2 + w'^2)/2\n\
                constraint y' = z*x'\nconstraint z' = w*x'\n";
    let (z, w) = (0.6, -0.3);
    let found = at(&model(text), "y,z", "z=0.6, w=-0.3");
    assert_eq!(found["chaplygin"], false);
    let g = 1.0 + z * z + w * w;
    for (key, index, value) in [
        ("metric", vec![0, 0], g),
        ("connection", vec![0, 0, 0], z * w / g),
        ("connection", vec![0, 1, 0], w / g),
        ("connection", vec![0, 0, 1], 0.0),
        ("torsion", vec![0, 0, 1], -w / g / 2.0),
        ("bundle_curvature", vec![0, 0, 1], 0.0),
        ("bundle_curvature", vec![1, 0, 1], -1.0),
    ] {
        let found = entry(&found, key, &index);
        assert!(close(found, value), "{key}{index:?}: {found}, {value}");
    }
    // T(X_x, X_w) = P[X_x, X_w] − [X_x, X_w] = −(w/g) X_x + ∂_z, and the curvature of P∇ is zero.
    let inner = &found["nonholonomic"];
    for (k, value) in [-w / g, -w / g * z, 1.0 - w * w / g, 0.0].into_iter().enumerate() {
        let ours = entry(inner, "torsion", &[k, 0, 1]);
        assert!(close(ours, value), "T{k}: {ours} {value}");
    }
    for (i, value) in entries(inner, "curvature") {
        assert!(close(value, 0.0), "R{i:?}: {value}");
    }
}

/// A potential of the dependent coordinate leaves the geometry as it is, but the motion is not one on the base.
#[test]
fn a_potential_of_the_dependent_coordinate_is_told() {
    let text = |potential: &str| {
        format!(
            "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2 - {potential}\nconstraint z' = y*x'\n"
        )
    };
    let (free, held) =
        (at(&model(&text("x^2")), "z", "y=0.4"), at(&model(&text("z^2")), "z", "y=0.4"));
    assert_eq!((&free["chaplygin"], &free["held"]), (&Value::from(true), &Value::Null));
    assert_eq!((&held["chaplygin"], &held["held"]), (&Value::from(false), &Value::from("z")));
    assert_eq!(free["connection"], held["connection"]);
}

/// What is said to be reachable: everything where brackets span everywhere, also against a drift that free velocities
/// outrun; what is near where that is not proved; less where the drift must help (ẏ = x² never sinks) or the rank
/// at the state is lower.
#[test]
fn reachability_is_that_of_the_point_and_minds_the_drift() {
    let plain = "coordinates x, y, z\nlagrangian (x'^2 + y'^2 + z'^2)/2\nconstraint c: ";
    let flat = "coordinates x, y\nlagrangian (x'^2 + y'^2)/2\nconstraint c: ";
    for (head, constraint, state, wanted) in [
        (plain, "z' = y^2*x'", "", "every"),
        (plain, "z' = y^2*x'", "y = 0", "every"),
        (plain, "z' = y*x' + 1", "", "every"),
        (plain, "z' = y*z*x'", "", "near"),
        (plain, "z' = y*z*x'", "y = 1, z = 1", "near"),
        (plain, "z' = y*z*x'", "y = 1, z = 0", "leaf"),
        (plain, "z' = if(y > 0, y^2, 0)*x'", "y = -1", "leaf"),
        (plain, "z' = x*x' + y*y'", "", "leaf"),
        (flat, "y' = x^2", "", "interior"),
        (flat, "y' = x^2", "x = 0", "interior"),
        (flat, "y' = t", "", "leaf"),
    ] {
        let found = at(&model(&format!("{head}{constraint}\n")), "", state);
        assert_eq!(found["reachable"], wanted, "{constraint} at {state}");
    }
}
