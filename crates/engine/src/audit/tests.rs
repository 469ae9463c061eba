//! What the audit measures, and against which limits: numbers of samples that are no motions, against sums by hand.
//!
//! A sign that is wrong in a size or a limit makes no motion look wrong. It only makes the audit blind, so it is looked
//! for here.

use std::slice::from_ref;

use pfaff_expr::Expr;
use pfaff_mechanics::Class;
use pfaff_model::{Principle, Workspace};

use crate::audit::dual_residual::{DualResidual, Findings};
use crate::audit::error::{WORST, error_limit, plain_limit};
use crate::audit::memory::MemoryEvidence;
use crate::audit::sensitivity::Sensitivity;
use crate::model::Model;
use crate::motion::sample::Sample;

fn workspace(text: &str) -> Workspace {
    Model::parse(text).expect("a model").workspace()
}

/// An instant of two coordinates with one constraint.
fn sample(t: f64, q: [f64; 2], v: [f64; 2], a: [f64; 2], multiplier: f64) -> Sample {
    let mut sample = Sample::new(2, 1);
    sample.t = t;
    for (values, given) in [
        (&mut sample.q, q),
        (&mut sample.v, v),
        (&mut sample.a, a),
        (&mut sample.reaction, [0.0; 2]),
    ] {
        values.copy_from_slice(&given);
    }
    sample.multipliers = vec![multiplier];
    sample
}

/// What is found at one instant. Its step is so long that no deviation counts as little.
fn judged(model: &Workspace, principle: Principle, class: Class, sample: &Sample) -> Findings {
    let mut dual = DualResidual::new(model, principle, &[], &[class]).expect("a Lagrangian");
    let mut findings = Findings::new(2, 1, [&[0.0; 2], &[0.0; 2]]);
    dual.judge(from_ref(sample), &[10.0], &mut findings);
    findings
}

/// Equal up to the rounding of a dozen operations.
fn close(found: Option<f64>, wanted: f64) {
    let found = found.expect("something was judged");
    assert!((found - wanted).abs() <= 1e-14 * wanted.abs(), "{found} instead of {wanted}");
}

const BODY: &str = "coordinates x, y\nkinetic x'^2 + y'^2/2\npotential 3*x^2/2\ndissipation x'^2/4\nforce x: 7\n";

/// $|\sum A_i| / \sum|A_i|$ of the terms $\dot p$, $\partial L/\partial q$, the force and $\lambda w$.
#[test]
fn an_equation_is_measured_by_the_sum_of_its_terms() {
    let model = workspace(&format!("{BODY}constraint c: y' = x*x'"));
    let mut at = sample(0.0, [0.5, -1.0], [2.0, 3.0], [-4.0, 5.0], 1.5);
    // λ ∂φ/∂q′ with φ = y′ − x x′.
    at.reaction = vec![-0.75, 1.5];
    let found = judged(&model, Principle::Chetaev, Class::Linear, &at);
    close(found.equations(), (-8.0 + 1.5 - 6.0 + 0.75_f64).abs() / (8.0 + 1.5 + 6.0 + 0.75));
    // A reaction that is not that of the multipliers.
    at.a = vec![-4.0 + 11.75 / 2.0, 1.5];
    close(judged(&model, Principle::Chetaev, Class::Linear, &at).equations(), 0.0);
    at.reaction[1] = 1.0;
    let found = judged(&model, Principle::Chetaev, Class::Linear, &at);
    close(found.equations(), 0.5 / (1.5 + 1.5));
}

/// $R = \dot\mu w + \mu(\dot w - \partial\varphi/\partial q)$ with $\varphi = \dot y - y\dot x$.
#[test]
fn a_vakonomic_reaction_is_measured_by_the_sum_of_its_parts() {
    let model = workspace("coordinates x, y\nkinetic x'^2/2 + y'^2/2\nconstraint c: y' = y*x'");
    let mut at = sample(0.0, [1.0, 0.5], [2.0, 3.0], [4.0, 0.0], 1.5);
    at.multiplier_rates = vec![-2.0];
    // In parts −μ′y, −μy′ and μ′, μx′.
    at.reaction = vec![1.0 - 4.5, -2.0 + 3.0];
    let found = judged(&model, Principle::Vakonomic, Class::Linear, &at);
    close(found.equations(), (4.0 - 1.0 + 4.5) / (4.0 + 1.0 + 4.5));
    at.a = vec![-3.5, 5.0];
    let found = judged(&model, Principle::Vakonomic, Class::Linear, &at);
    close(found.equations(), (5.0 - 1.0) / (5.0 + 2.0 + 3.0));
}

/// $|\dot\varphi|$ or $|\ddot\varphi|$ in parts of $\sum|w_k\ddot q_k|$ and what else there is.
#[test]
fn a_differentiated_constraint_is_measured_by_its_terms() {
    let at = sample(1.0, [0.5, -1.0], [2.0, 3.0], [-4.0, 5.0], 0.0);
    let model = workspace(&format!("{BODY}constraint c: y' = x*x'"));
    let found = judged(&model, Principle::Chetaev, Class::Linear, &at);
    close(found.differentiated(), (5.0 + 2.0 - 4.0) / (5.0 + 2.0 + 4.0));
    let model = workspace(&format!("{BODY}constraint c: y = x^2/2 + t^3"));
    let found = judged(&model, Principle::Chetaev, Class::Holonomic, &at);
    close(found.differentiated(), (4.0 + 6.0 - 7.0) / (5.0 + 2.0 + 10.0));
    // Where accelerations vanish, those count that would change the velocities by a thousandth in a step.
    let mut at = sample(1.0, [0.5, -1.0], [2.0, 3.0], [0.0, 0.0], 0.0);
    at.a[1] = 1.0;
    let model = workspace(&format!("{BODY}constraint c: y' = 5*x'"));
    let found = judged(&model, Principle::Chetaev, Class::Linear, &at);
    close(found.differentiated(), 1.0 / (1.0 + 5.0 * 2e-4));
}

/// $E$ in parts of $|\dot q\cdot p| + |L|$, and velocities in parts of the largest.
#[test]
fn energies_and_velocities_are_measured_by_their_terms() {
    let model = workspace(&format!("{BODY}constraint c: y' = x*x'"));
    let mut at = sample(0.0, [0.5, -1.0], [2.0, 3.0], [-4.0, 5.0], 0.0);
    let lagrangian = 4.0 + 4.5 - 0.375;
    at.energy = 17.0 - lagrangian - 0.875;
    let mut found = judged(&model, Principle::Chetaev, Class::Linear, &at);
    close(found.energy(), 0.875 / (17.0 + lagrangian));
    found.compare(&at, &[2.5, 2.0], 10.0);
    close(found.velocities(), 1.0 / 3.0);
    assert_eq!(found.pace(), 4.0, "x′/x");
}

/// $\sum_i|\partial E/\partial y_i|\,(|y_i| + \max|y_i|)$, with $E = x^2 + x\dot x$.
#[test]
fn an_error_is_worth_what_it_does_to_the_energy() {
    let model = workspace("coordinates x\nlagrangian x'^2/2");
    let (g, x) = (&model.graph, &model.coordinates[0]);
    let energy: Expr = g.add(g.mul(x.position, x.position), g.mul(x.position, x.velocity));
    let at = |x: f64, v: f64| {
        let mut sample = Sample::new(1, 0);
        (sample.q, sample.v, sample.a) = (vec![x], vec![v], vec![0.0]);
        sample
    };
    let worth =
        |samples: &[Sample]| Sensitivity::new(&model, Some(energy)).at(samples.iter().cloned());
    close(Some(worth(&[at(1.0, 2.0)])), 4.0 * 2.0 + 4.0);
    close(Some(worth(&[at(1.0, 2.0), at(3.0, -1.0)])), 5.0 * (3.0 + 3.0) + 3.0 * (1.0 + 2.0));
    assert_eq!(Sensitivity::new(&model, None).at([at(1.0, 2.0)].into_iter()), 0.0);
}

/// The limits of errors, written out: they grow with the tolerance, with rounding and with the steps.
#[test]
fn limits_of_errors_grow_with_all_that_makes_errors() {
    close(Some(error_limit(0.0, 0.0)), 2e-7);
    close(Some(error_limit(1e-10, 0.0)), 1.02e-5);
    close(Some(error_limit(1e-10, 300.0)), 4.08e-5);
    assert_eq!(error_limit(1.0, 0.0), WORST);
    close(Some(plain_limit(0.0, 0.0, 2.0)), 2e-10);
    close(Some(plain_limit(1e-10, 0.0, 1.0)), 1.001e-7);
    close(Some(plain_limit(1e-10, 100.0, 3.0)), 6.006e-7);
}

/// The limits of a motion with memory.
#[test]
fn limits_of_motions_with_memory_grow_with_tolerance_and_steps() {
    let limits = |tolerance: f64, steps: usize| -> Vec<(String, f64)> {
        let evidence = MemoryEvidence {
            held: vec![("c".to_owned(), Some(0.0))],
            balance: Some((Some(0.0), 5.0)),
            direct_difference: Some(Some(0.0)),
            error: Some(0.0),
            tolerance,
            steps,
        };
        evidence.checks().into_iter().map(|check| (check.name, check.limit)).collect()
    };
    let wanted = |tolerance: f64, steps: f64| {
        [
            ("constraint c", 1e-11),
            ("energy balance", 50.0 * (tolerance + 4.0 * f64::EPSILON) * (steps + 1.0)),
            ("memory by direct quadrature", 1e-11 + tolerance / 100.0),
            ("error by a second integration", error_limit(tolerance, steps)),
        ]
    };
    for (tolerance, steps) in [(1e-10, 20), (1e-15, 0), (0.0, 3)] {
        let found = limits(tolerance, steps);
        let wanted = wanted(tolerance, steps as f64);
        assert_eq!(found.len(), wanted.len());
        for ((name, limit), (other, wanted)) in found.iter().zip(wanted) {
            assert_eq!(name, other);
            close(Some(*limit), wanted);
        }
    }
    assert_eq!(limits(1e-3, 1000)[1].1, 5e-2, "a hundredth of the energy at most");
}
