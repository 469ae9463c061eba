//! Affine bodies written with matrices and words, through the whole road.
//!
//! The motions of the reference tables are those of the same bodies written out by components in extended
//! precision. At tolerance 1e-12 positions, velocities,
//! reactions, energies and, where the rows are the same, multipliers agree to 1e-10·(1+|b|): a hundred times
//! the local tolerance for the errors of some hundred steps.

use std::fmt::Write;

use pfaff::{Motion, Run, Verdict};
use serde_json::Value;

use crate::support;

const TOLERANCE: f64 = 1e-10;

#[test]
fn bodies_written_with_matrices_move_as_the_tables_say() {
    let bodies = table(include_str!("../reference/affine_bodies.json"));
    let chetaev = table(include_str!("../reference/trajectories.json"));
    let vakonomic = table(include_str!("../reference/vakonomic.json"));
    assert_eq!(bodies.len(), 21, "all bodies are there");
    let mut faults = Vec::new();
    let mut compared = 0;
    for body in &bodies {
        let id = body["id"].as_str().expect("an id");
        let find = |table: &[Value]| table.iter().find(|c| c["id"] == id).cloned();
        let case = find(&chetaev).or_else(|| find(&vakonomic)).expect("a motion");
        compared += compare(id, &text(body, &case), &case, &mut faults);
    }
    assert!(faults.is_empty(), "{} deviations:\n{}", faults.len(), faults.join("\n"));
    assert!(compared > 1600, "{compared} numbers were compared");
}

/// The body of `affine-translation`: centre and matrix together.
#[test]
fn translation_and_deformation_move_together() {
    let chetaev = table(include_str!("../reference/trajectories.json"));
    let case = chetaev.iter().find(|c| c["id"] == "affine-translation").expect("a motion");
    let text = "
coordinates  r[2], phi[2,2]
parameters   M = 3, J = [[1, 0.2], [0.2, 2]], kappa = 1.5
let          E = green(phi) - identity(2)
kinetic      M*dot(r', r')/2 + tr(transpose(phi')*phi'*J)/2
potential    kappa/4*tr(E*E) + 0.35*dot(r, r) + 0.4*(phi[1,1]*r[1] + phi[2,2]*r[2])
initial      r = [0.5, -0.3], r' = [0.2, 0.6]
initial      phi = [[1.2, 0.3], [-0.1, 0.9]], phi' = [[0.29, 0.72], [-0.5, 0.06]]
solve        t = 0..2, tolerance = 1e-12
";
    let mut faults = Vec::new();
    assert!(compare("affine-translation", text, case, &mut faults) > 30, "compared");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Every word in the plane and in space, with dead loads, a barrier (log det φ)², metrics, and friction of
/// each kind, under both principles: the audit passes; the three
/// integrable words have one motion for every μ(0), whose rate is λ; without rotation the principles differ.
#[test]
fn words_under_both_principles_with_friction_and_loads() {
    let friction = [
        "",
        "dissipation 0.15*tr(transpose(phi')*phi')\n",
        "force phi: -0.25*sqrt(tr(transpose(phi')*phi'))*phi'\n",
    ];
    let [plane, space] = ["phi[2,2]", "phi[3,3]"].map(String::from);
    let data = [
        (
            plane,
            "parameters J = [[1, 0.2], [0.2, 2]], g = [[2, 0.3], [0.3, 1]], B = [[0.3, -0.2], [0.5, 0.1]], p = [[1.2, 0.3], [-0.1, 0.9]]\n",
            2,
        ),
        (
            space,
            "parameters J = [[1, 0.1, 0], [0.1, 1.5, -0.2], [0, -0.2, 2]], g = [[2, 0.3, 0], [0.3, 1, 0.1], [0, 0.1, 1.5]], B = [[0.2, -0.1, 0.3], [0.4, 0.1, 0], [0, -0.2, 0.5]], p = [[1.1, 0.2, -0.1], [0, 0.9, 0.3], [0.1, -0.2, 1.2]]\n",
            3,
        ),
    ];
    for (coordinates, parameters, n) in &data {
        for word in [
            "gyroscopic(phi, g)",
            "isochoric(phi)",
            "conformal(phi, g, green(p, g))",
            "rotation_free(phi, g)",
        ] {
            for push in friction {
                let base = format!(
                    "coordinates {coordinates}\n{parameters}let E = green(phi, g) - identity({n})
kinetic tr(transpose(phi')*g*phi'*J)/2\npotential 0.3*tr(E*E) - tr(transpose(B)*phi) + 0.2*log(det(phi))^2
constraint c: {word}\n{push}initial phi = p, phi'[1,2] = 0.4, phi'[2,1] = -0.3\nsolve t = 0..1, tolerance = 1e-12, samples = 5\n"
                );
                let run = |rest: &str| {
                    let motion = support::run(
                        &support::model(&format!("{base}{rest}")),
                        &Run::default(),
                    );
                    assert_eq!(
                        motion.audit.verdict,
                        Verdict::Pass,
                        "{word} {push} {rest}: {:?}",
                        motion.audit
                    );
                    assert_eq!(motion.t.len(), 5, "{word} {push} {rest}");
                    motion
                };
                let chetaev = run("");
                let names: Vec<String> = chetaev
                    .multipliers
                    .iter()
                    .enumerate()
                    .map(|(k, s)| format!("mu({}) = {}", s.name, 0.2 - 0.1 * k as f64))
                    .collect();
                let starts = [
                    "initial multipliers = zero".to_owned(),
                    format!("initial {}", names.join(", ")),
                ];
                let vakonomic =
                    starts.map(|start| run(&format!("principle vakonomic\n{start}\n")));
                let last = |motion: &Motion| {
                    motion.q.iter().map(|s| s.values[4]).collect::<Vec<f64>>()
                };
                let apart =
                    |a: &Motion, b: &Motion| support::matrix::distance(&last(a), &last(b));
                if word.starts_with("rotation") {
                    assert!(
                        apart(&vakonomic[0], &vakonomic[1]) >= 1e-4,
                        "{word} {push}: the multiplier matters"
                    );
                    continue;
                }
                for motion in &vakonomic {
                    assert!(
                        apart(&chetaev, motion) <= 1e-9,
                        "{word} {push}: {:e}",
                        apart(&chetaev, motion)
                    );
                    for (rate, lambda) in
                        motion.multiplier_rates.iter().zip(&chetaev.multipliers)
                    {
                        let off = support::matrix::distance(&rate.values, &lambda.values);
                        assert!(off <= 1e-8, "{word} {push}: μ′ and λ are {off:e} apart");
                    }
                }
            }
        }
    }
}

fn table(text: &str) -> Vec<Value> {
    let table: Value = serde_json::from_str(text).expect("the table is JSON");
    table["cases"].as_array().expect("a list of cases").clone()
}

/// The model of a body, with the multipliers and the time of its motion.
fn text(body: &Value, case: &Value) -> String {
    let n = body["size"].as_u64().expect("a size");
    let matrix = |key: &str| body[key].to_string().replace('"', "");
    let word = |key: &str| body[key].as_str().expect("a text").to_owned();
    let mut text = format!("coordinates phi[{n},{n}]\n");
    for key in ["J", "load", "g", "eta", "gyration"] {
        let _ = writeln!(text, "parameters {key} = {}", matrix(key));
    }
    let _ = writeln!(text, "parameters kappa = {}, beta = {}", word("kappa"), word("beta"));
    text += "let E = inv(eta)*(green(phi, g) - eta)\n";
    text += "kinetic tr(transpose(phi')*g*phi'*J)/2\n";
    text += "potential kappa/4*tr(E*E) - tr(transpose(load)*phi)";
    // NOTE: without a barrier det φ may be anything, and a logarithm times 0 would still forbid it.
    text += if word("beta") == "0" { "\n" } else { " + beta/2*log(det(phi))^2\n" };
    match body["constraint"].as_str() {
        Some("none") => {}
        Some("isochoric") => text += "constraint c: isochoric(phi)\n",
        Some("conformal") => text += "constraint c: conformal(phi, g, eta)\n",
        other => {
            let _ = writeln!(text, "constraint c: {}(phi, g)", other.expect("a word"));
        }
    }
    if let Some(kind) = body["dissipation"][0].as_str() {
        let size = if kind == "linear" { "" } else { "sqrt(tr(transpose(phi')*phi'))*" };
        let c = body["dissipation"][1].as_str().expect("a text");
        let _ = writeln!(text, "force phi: -{c}*{size}phi'");
    }
    let _ = writeln!(text, "initial phi = {}, phi' = gyration*{0}", matrix("phi"));
    if body["vakonomic"] == true {
        text += "principle vakonomic\n";
        let names = rows(body);
        for (name, start) in &names {
            let _ = writeln!(text, "initial mu({name}) = {:?}", numbers(&case["mu"][start])[0]);
        }
    }
    text += "observe S = spin(phi, J)\nobserve NR = reaction_moment(phi, g)\n";
    let end = *numbers(&case["times"]).last().expect("a time");
    let _ = writeln!(text, "solve t = 0..{end}, tolerance = 1e-12");
    text
}

/// The rows of the word in our names and in those of the table, where they are the same functions.
fn rows(body: &Value) -> Vec<(String, String)> {
    let n = body["size"].as_u64().expect("a size");
    let pairs = |from: u64| (1..=n).flat_map(move |i| (i + from..=n).map(move |j| (i, j)));
    let named =
        |(k, (i, j)): (usize, (u64, u64))| (format!("c[{i},{j}]"), format!("c{}", k + 1));
    match body["constraint"].as_str() {
        Some("isochoric") => vec![("c".into(), "c1".into())],
        Some("rotation_free") => pairs(1).enumerate().map(named).collect(),
        Some("gyroscopic") => pairs(0).enumerate().map(named).collect(),
        _ => Vec::new(),
    }
}

/// Compares a motion with its table; gives how many numbers there were.
fn compare(id: &str, text: &str, case: &Value, faults: &mut Vec<String>) -> usize {
    let model = support::model(text);
    let times = numbers(&case["times"]);
    let request = Run { at: Some(times.clone()), ..Run::default() };
    let motion: Motion = support::run(&model, &request);
    if motion.t != times || motion.audit.verdict != Verdict::Pass {
        faults.push(format!("{id}: {:?} {:?}", motion.notes, motion.audit));
        return 0;
    }
    let mut compared = 0;
    let mut check = |what: &str, name: &str, values: &[f64], expected: &Value| {
        if expected.is_null() {
            return;
        }
        let reference = numbers(expected);
        assert_eq!(reference.len(), values.len(), "{id} {what} {name}");
        for (a, b) in values.iter().zip(&reference) {
            compared += 1;
            if (a - b).abs() > TOLERANCE * (1.0 + b.abs()) || a.is_nan() {
                faults.push(format!("{id}: {what} {name}: {a} for {b}"));
            }
        }
    };
    for (what, series) in [
        ("q", &motion.q),
        ("v", &motion.v),
        ("accelerations", &motion.a),
        ("reactions", &motion.reactions),
    ] {
        for s in series {
            let plain: String = s.name.chars().filter(|c| c.is_alphanumeric()).collect();
            let expected = &case[what][plain.replace("phi", "p")];
            assert!(what != "q" || !expected.is_null(), "{id} {}", s.name);
            check(what, &s.name, &s.values, expected);
        }
    }
    let same_rows = !id.contains("conformal");
    for (what, series) in [
        ("multipliers", &motion.multipliers),
        ("mu", &motion.multipliers),
        ("mu_rates", &motion.multiplier_rates),
    ] {
        for (k, s) in series.iter().enumerate().filter(|_| same_rows) {
            check(what, &s.name, &s.values, &case[what][format!("c{}", k + 1)]);
        }
    }
    check("energy", "E", &motion.energy, &case["energy"]);
    compared
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("a list, not {value}"));
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}
