//! Every vakonomic motion of the reference tables, through the whole road.
//!
//! The tables have 12 to 20 digits from integrations in extended precision. At tolerance 1e-12 the motion
//! must agree to 1e-10·(1+|b|) in positions, velocities,
//! accelerations, μ, its rates and the energies: a hundred times the local tolerance for the errors of some
//! hundred steps.

use serde_json::Value;

use crate::support;

/// Agreement asked for, relative to 1 + |reference|.
const TOLERANCE: f64 = 1e-10;

#[test]
fn vakonomic_motions_agree_with_the_tables() {
    let table: Value = serde_json::from_str(include_str!("../reference/vakonomic.json"))
        .expect("the table is JSON");
    let cases = table["cases"].as_array().expect("a list of cases");
    assert!(cases.len() >= 15, "all cases are there, not {}", cases.len());
    let mut faults = Vec::new();
    for case in cases {
        compare(case, &mut faults);
    }
    assert!(faults.is_empty(), "{} deviations:\n{}", faults.len(), faults.join("\n"));
}

fn compare(case: &Value, faults: &mut Vec<String>) {
    let id = case["id"].as_str().expect("an id");
    let model = support::model(case["model"].as_str().expect("a text"));
    let times = numbers(&case["times"]);
    let request =
        pfaff::Run { at: Some(times.clone()), tolerance: Some(1e-12), ..pfaff::Run::default() };
    let motion = support::run(&model, &request);
    if motion.t != times {
        faults.push(format!("{id}: stopped: {:?}", motion.notes));
        return;
    }
    if motion.audit.verdict != pfaff::Verdict::Pass {
        faults.push(format!("{id}: audit {:?}", motion.audit));
    }
    let total: Vec<f64> =
        motion.energy.iter().zip(&motion.constraint_energy).map(|(e, c)| e + c).collect();
    // E[L,M] of an autonomous system without forces is kept to 1e-9 over the run.
    let kept = case["total"].as_array().is_some_and(|e| e.iter().all(|x| x == &e[0]));
    if kept {
        let drift = total.iter().fold(0.0_f64, |d, e| d.max((e - total[0]).abs()));
        if drift > 1e-9 {
            faults.push(format!("{id}: E[L,M] drifts by {drift:e}"));
        }
    }
    let mut check = |what: &str, name: &str, values: &[f64], expected: &Value| {
        if expected.is_null() {
            return;
        }
        let reference = numbers(expected);
        assert_eq!(reference.len(), values.len(), "{id} {what} {name}");
        for (i, (a, b)) in values.iter().zip(&reference).enumerate() {
            if (a - b).abs() > TOLERANCE * (1.0 + b.abs()) || a.is_nan() {
                faults.push(format!("{id}: {what} {name} at {}: {a} for {b}", times[i]));
            }
        }
    };
    for (what, series) in [
        ("q", &motion.q),
        ("v", &motion.v),
        ("accelerations", &motion.a),
        ("mu", &motion.multipliers),
        ("mu_rates", &motion.multiplier_rates),
        ("reactions", &motion.reactions),
    ] {
        for s in series {
            check(what, &s.name, &s.values, &case[what][&s.name]);
        }
    }
    check("energy", "E", &motion.energy, &case["energy"]);
    check("total", "E[L,M]", &total, &case["total"]);
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("a list, not {value}"));
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}
