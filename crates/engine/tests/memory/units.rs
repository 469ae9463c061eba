//! Motions with memory do not depend on the unit of length: from 1e-20 to 1e10 they are the same, with one verdict.

use pfaff::{Range, Run, Value, Verdict};

use crate::support;

/// Positions in units of length, and the verdict with all checks.
fn motion(model: &str, unit: &str) -> Vec<f64> {
    let text = model.replace("{L}", unit);
    let model = support::model_with(&text, "", "");
    let motion = support::run(&model, &Run { samples: Some(6), ..Run::default() });
    assert_eq!(motion.audit.verdict, Verdict::Pass, "{text}\n{:?}", motion.audit);
    let length: f64 = unit.parse().expect("it is a number");
    motion.q.iter().flat_map(|c| c.values.iter().map(|x| x / length)).collect()
}

fn same_in_all_units(model: &str) {
    let wanted = motion(model, "1");
    for unit in ["1e-6", "1e-12", "1e-20", "1e10"] {
        for (a, b) in wanted.iter().zip(&motion(model, unit)) {
            // A hundred tolerances for both runs, which take other steps.
            assert!((a - b).abs() < 1e-7, "{unit}: {a} {b}\n{model}");
        }
    }
}

#[test]
fn an_oscillator_whose_damping_remembers() {
    same_in_all_units(
        "coordinates x
parameters L = {L}
equation x: x'' + caputo(x, 0.5) + x^3/L^2 = 0
initial x = L, x' = 0
solve t = 0..5, tolerance = 1e-9",
    );
}

#[test]
fn a_fractional_equation_of_second_degree() {
    same_in_all_units(
        "coordinates q
parameters L = {L}
equation q: caputo(q, 0.7) = -q^2/L + L*sin(t)
initial q = L
solve t = 0..5, tolerance = 1e-9",
    );
}

/// A body and a force with memory, from rest.
#[test]
fn a_body_that_a_force_with_memory_moves() {
    same_in_all_units(
        "coordinates x, y
parameters L = {L}
lagrangian (x'^2 + y'^2)/2 - (x^2 + 2*y^2)/2
force x: -0.3*caputo(x, 0.6)
force y: L*sin(t) - 0.2*memory(exp(-s), y)
initial x = L, y = 0, x' = 0, y' = 0
solve t = 0..5, tolerance = 1e-9",
    );
}

/// What grows from a small value is measured by what it was: $q = q_0 E_{0.9}(2 t^{0.9})$ grows by more than 1e8.
#[test]
fn growth_from_a_small_value() {
    let model = "coordinates q
parameters L = {L}
equation q: caputo(q, 0.9) = 2*q
initial q = 1e-9*L
solve t = 0..9, tolerance = 1e-9";
    let grown = "1e-9*mittag_leffler(0.9, 1, 2*9^0.9)";
    let Ok(Value::Number(grown)) = pfaff::evaluate(grown, "", Range::default()) else {
        panic!("{grown} is a number")
    };
    assert!(grown > 0.1);
    for unit in ["1", "1e-12", "1e10"] {
        let q = motion(model, unit);
        let end = q[q.len() - 1];
        // Errors of steps are parts of 1e-9 and grow as the motion does.
        assert!((end / grown - 1.0).abs() < 1e-6, "{unit}: {end} {grown}");
    }
}

/// An extremum with memory between two ends.
#[test]
fn an_extremum_with_memory() {
    same_in_all_units(
        "coordinates q
lagrangian caputo(q, 0.8)^2/2 - q^2/2 + {L}*q
initial q = 0
final q = {L}
solve t = 0..1",
    );
}
