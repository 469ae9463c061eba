//! The backends beside each other: `cargo bench -p pfaff --features cranelift --bench backends`.
//!
//! For each right-hand side the time to compile, and nanoseconds a state for one state and for
//! eight at once. The smallest of many runs.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

#[path = "reduction/common.rs"]
#[allow(dead_code, reason = "another benchmark uses the rest")]
mod common;

use std::hint::black_box;

use common::{SLEIGH, best, chain_text, model, program, reduction, saddle};
use pfaff_program::{Backend, Lanes, Program};

fn main() {
    println!(
        "{:<26} {:>12} {:<10} {:>12} {:>13} {:>13}",
        "", "instructions", "backend", "to compile", "one state", "one of eight"
    );
    let made = model(SLEIGH);
    let code = program(&made, &reduction(&made, &[0.1, 0.2, 0.3]));
    rows("sleigh", &code, &made.parameter_values());
    for n in [5, 12] {
        let made = model(&chain_text(n));
        let name = format!("snake of {n}, saddle point");
        rows(&name, &saddle(&made), &made.parameter_values());
    }
    for n in [20, 80] {
        let made = model(&chain_text(n));
        let q: Vec<f64> = (0..n + 3).map(|i| 0.3 * libm::sin(0.9 * i as f64)).collect();
        let code = program(&made, &reduction(&made, &q));
        rows(&format!("chain of {n}"), &code, &made.parameter_values());
    }
}

fn rows(name: &str, code: &Program, parameters: &[f64]) {
    let state = |lanes: usize| -> Vec<f64> {
        (0..code.inputs() * lanes)
            .map(|i| 0.3 * libm::sin(0.9 * (i / lanes) as f64) + 0.01 * (i % lanes) as f64)
            .collect()
    };
    let (x, mut y) = (state(1), vec![0.0; code.outputs()]);
    let (many, mut found) = (state(8), vec![0.0; 8 * code.outputs()]);
    let row = |backend: Backend, compile: f64, one: f64, eight: f64| {
        let steps = code.counts().per_evaluation;
        let (name, steps) = if backend == Backend::Interpreter {
            (name, steps.to_string())
        } else {
            ("", String::new())
        };
        println!(
            "{name:<26} {steps:>12} {:<10} {compile:>9.3} ms {one:>10.1} ns {eight:>10.1} ns",
            backend.name()
        );
    };
    for backend in Backend::ALL.into_iter().filter(|backend| backend.is_available()) {
        if backend == Backend::Interpreter {
            let (mut run, mut batch) =
                (code.interpreter(parameters), code.batch_interpreter(8, parameters));
            let one = best(&mut || run.evaluate(black_box(&x), black_box(&mut y)));
            let eight = best(&mut || batch.evaluate(black_box(&many), black_box(&mut found)));
            row(backend, 0.0, one, eight / 8.0);
            continue;
        }
        let compile = best(&mut || drop(black_box(code.native_code(Lanes::One, backend))));
        let start = |lanes| {
            let native = code.native_code(lanes, backend).expect("it is available");
            native.start(parameters)
        };
        let mut run = start(Lanes::One);
        let one = best(&mut || run.evaluate(black_box(&x), black_box(&mut y)));
        let mut run = start(Lanes::Eight);
        let eight = best(&mut || run.evaluate(black_box(&many), black_box(&mut found)));
        row(backend, compile / 1e6, one, eight / 8.0);
    }
}
