//! What an affine body in space costs: derivation, the blocks M, A, f, b of one state in the batched
//! interpreter, and a whole evaluation of the rates in a run.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Instant;

use pfaff::{Dynamics, Model, NoFiles, Overrides, Run, Source, derive, run};
use pfaff_program::Program;

/// States at once.
const LANES: usize = 64;

fn main() {
    let words = ["", "gyroscopic", "isochoric", "conformal", "rotation_free"];
    println!(
        "{:14} {:>12} {:>12} {:>16} {:>16}",
        "word", "derive µs", "operations", "blocks ns/state", "run µs/rates"
    );
    for word in words {
        measure(word);
    }
}

fn measure(word: &str) {
    let constraint =
        if word.is_empty() { String::new() } else { format!("constraint c: {word}(phi)\n") };
    let text = format!(
        "coordinates phi[3,3]\nparameters J = [[1, 0.1, 0], [0.1, 1.5, -0.2], [0, -0.2, 2]]
let E = green(phi) - identity(3)\nkinetic tr(transpose(phi')*phi'*J)/2
potential 0.4*tr(E*E) + 0.5*log(det(phi))^2\n{constraint}initial phi = identity(3), phi'[1,2] = 0.4, phi'[2,1] = -0.3
solve t = 0..2000, tolerance = 1e-10, samples = 2"
    );
    let reading = || {
        Model::read(Source::new("body", &text), &Overrides::default(), &NoFiles)
            .expect("a model")
    };
    let mut least = f64::INFINITY;
    let mut derived = None;
    for _ in 0..5 {
        let model = reading();
        let clock = Instant::now();
        derived = Some(derive(&model, None).expect("equations"));
        least = least.min(clock.elapsed().as_secs_f64() * 1e6);
    }
    let Some(derivation) = derived else { return };
    let Dynamics::Saddle(equations) = &derivation.dynamics else { return };
    let model = derivation.workspace();
    let mut outputs = equations.mass.concat();
    outputs.extend(equations.jacobian.concat());
    outputs.extend(equations.force.iter().chain(&equations.drift));
    let mut inputs = vec![model.time];
    inputs.extend(model.positions());
    inputs.extend(model.velocities());
    let program = Program::compile(&model.graph, &inputs, &model.parameter_symbols(), &outputs)
        .expect("a tape");
    let mut batch = program.batch_interpreter(LANES, &model.parameter_values());
    let states: Vec<f64> = (0..inputs.len() * LANES)
        .map(|k| if (k / LANES) % 4 == 1 { 1.1 } else { 0.01 * (k % 17) as f64 })
        .collect();
    let mut values = vec![0.0; outputs.len() * LANES];
    let mut fastest = f64::INFINITY;
    for _ in 0..200 {
        let clock = Instant::now();
        batch.evaluate(&states, &mut values);
        fastest = fastest.min(clock.elapsed().as_secs_f64() * 1e9 / LANES as f64);
    }
    assert!(values.iter().all(|x| x.is_finite()), "the blocks have values");
    let mut rates = f64::INFINITY;
    for _ in 0..3 {
        let motion =
            run(&derivation.model, &Run::default(), &mut |_, _| true).expect("a motion");
        let statistics = motion.statistics;
        rates = rates.min(statistics.integrate_us / statistics.evaluations as f64);
    }
    let name = if word.is_empty() { "free" } else { word };
    println!(
        "{name:14} {least:12.0} {:12} {fastest:16.0} {rates:16.2}",
        program.counts().per_evaluation
    );
}
