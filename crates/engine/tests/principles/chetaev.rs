//! Every Chetaev motion of the reference tables, through the whole road.
//!
//! The tables have 12 to 20 digits from integrations in extended precision. At tolerance 1e-12 the motion
//! must agree to 1e-10·(1+|b|) in positions, velocities,
//! multipliers, reactions and energy: a hundred times the local tolerance for the errors of some hundred steps.

use serde_json::Value;

use crate::support;

/// Agreement asked for, relative to 1 + |reference|.
const TOLERANCE: f64 = 1e-10;

#[test]
fn motions_agree_with_the_tables() {
    let table: Value = serde_json::from_str(include_str!("../reference/trajectories.json"))
        .expect("the table is JSON");
    let cases = table["cases"].as_array().expect("a list of cases");
    assert!(cases.len() >= 40, "all cases are there");
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
        faults.push(format!(
            "{id}: times {:?} instead of {times:?}: {:?}",
            motion.t, motion.notes
        ));
        return;
    }
    if motion.audit.verdict != pfaff::Verdict::Pass {
        faults.push(format!("{id}: audit {:?}", motion.audit));
    }
    let mut check = |what: &str, computed: &[pfaff::Series], expected: &Value| {
        if expected.is_null() {
            return;
        }
        for series in computed {
            let reference = numbers(&expected[&series.name]);
            for (i, (a, b)) in series.values.iter().zip(&reference).enumerate() {
                if (a - b).abs() > TOLERANCE * (1.0 + b.abs()) || a.is_nan() {
                    let t = times[i];
                    faults.push(format!("{id}: {what} {} at {t}: {a} for {b}", series.name));
                }
            }
            assert_eq!(reference.len(), series.values.len(), "{id} {what} {}", series.name);
        }
    };
    check("q", &motion.q, &case["q"]);
    check("v", &motion.v, &case["v"]);
    check("acceleration", &motion.a, &case["accelerations"]);
    check("lambda", &motion.multipliers, &case["multipliers"]);
    check("reaction", &motion.reactions, &case["reactions"]);
    if !case["energy"].is_null() {
        let energy = pfaff::Series { name: "E".into(), values: motion.energy.clone() };
        let expected = serde_json::json!({ "E": case["energy"] });
        check("energy", &[energy], &expected);
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().unwrap_or_else(|| panic!("a list, not {value}"));
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}
