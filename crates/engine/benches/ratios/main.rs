//! One table of ratios, ours to what a person would write, each measured in this run: `cargo xtask bench`.
//!
//! Rivals are hand-written Rust (`../reduction/hand.rs`) and, where there is a C compiler, hand-written C
//! (`benches/peers/hand.c`, `hand_dop853.c`) and our own
//! equations as C, compiled with `-O3 -march=native`. Only the rivals get equations reduced on paper. Times
//! are the smallest of many, ours and the rival's in turn.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(unsafe_code, reason = "functions compiled from C are called")]

#[path = "../reduction/common.rs"]
#[allow(dead_code, reason = "another benchmark uses the rest")]
mod common;
#[path = "../../src/system/explicit_steps.rs"]
mod explicit_steps;
#[path = "../reduction/hand.rs"]
#[allow(dead_code, reason = "another benchmark uses the rest")]
mod hand;
mod library;
mod runs;
mod table;

use std::hint::black_box;

use common::{SLEIGH, best, chain_text, model, multipliers, program, reduction, saddle};
use library::{Library, compile_c};
use pfaff_program::{Argument, Backend, ExportedFunction, Lanes, Language, Module, Program};
use table::{Row, pair};

fn main() {
    table::head();
    chain();
    sleigh();
    runs::chain();
    runs::ball();
    saddle_points();
    compiling();
    from_text();
}

/// $(t, y)$ of the chain, away from symmetry.
fn chain_state(n: usize) -> Vec<f64> {
    let mut state = vec![0.0, 0.0, 0.0];
    state.extend((0..=n).map(|i| 0.3 * libm::sin(0.9 * i as f64)));
    state.extend([1.0, 0.2, 0.5]);
    state
}

/// The right-hand side of P4.
fn chain() {
    let parameters = [1.0, 0.1, 0.5, 0.5];
    let made = |n: usize| {
        let model = model(&chain_text(n));
        let state = chain_state(n);
        let reduced = reduction(&model, &state[1..n + 4]);
        (program(&model, &reduced), multipliers(&model, &reduced), model.parameter_values())
    };
    let (code, side, values) = made(20);
    let state = chain_state(20);
    let mut output = vec![0.0; state.len() - 1];
    let mut ours = code.executor(&values, Backend::default());
    let mut wanted = output.clone();
    for (name, flags, limit) in
        [("C, libm", &[][..], 1.0), ("C, our sincos inlined", &["-DOWN"], 1.25)]
    {
        let Some(library) = compile_c("hand.c", flags) else { continue };
        let rival = library.function("chain_20");
        let (a, b) =
            pair(&mut || ours.evaluate(black_box(&state), black_box(&mut output)), &mut || {
                rival(black_box(&state[1..]), &parameters, black_box(&mut wanted));
            });
        Row::new("chain of 20, right-hand side", name, a, b, limit)
            .error(&output, &wanted)
            .print();
    }
    let mut by_hand = || {
        hand::chain::<21, _>(
            hand::own,
            &parameters,
            black_box(&state[1..]),
            black_box(&mut wanted),
        );
    };
    let (a, b) =
        pair(&mut || ours.evaluate(black_box(&state), black_box(&mut output)), &mut by_hand);
    Row::new("", "Rust, our sincos inlined", a, b, 1.25).error(&output, &wanted).print();
    eight_of_the_chain(&code, &values, &state, &parameters);
    let (longer, _, more) = made(80);
    let far = chain_state(80);
    let mut outputs = vec![0.0; far.len() - 1];
    let mut long = longer.executor(&more, Backend::default());
    let (a, b) =
        pair(&mut || long.evaluate(black_box(&far), black_box(&mut outputs)), &mut || {
            ours.evaluate(black_box(&state), black_box(&mut output));
        });
    Row::new("chain of 80", "chain of 20", a, b, 4.5).print();
    let known = vec![0.1; side.inputs()];
    let mut λ = vec![0.0; side.outputs()];
    let mut multiplied = side.executor(&values, Backend::default());
    let (a, b) =
        pair(&mut || multiplied.evaluate(black_box(&known), black_box(&mut λ)), &mut || {
            ours.evaluate(black_box(&state), black_box(&mut output));
        });
    Row::new("chain of 20, all multipliers", "its right-hand side", a, b, 1.5).print();
}

/// The same state in eight lanes, a little apart.
fn spread(state: &[f64]) -> Vec<f64> {
    state.iter().flat_map(|&x| (0..8).map(move |l| x + 0.01 * f64::from(l))).collect()
}

fn eight_of_the_chain(code: &Program, values: &[f64], state: &[f64], parameters: &[f64]) {
    let flags = &["-DOWN", "-DLANES=8"];
    eight(
        ("chain of 20", "chain_20", 1.2),
        (code, values, state),
        parameters,
        "C, 8 lanes by hand",
        flags,
    );
}

/// A right-hand side of eight states at once beside a function of the C, with the limit of the ratio.
fn eight(
    (problem, function, limit): (&str, &str, f64),
    (code, values, state): (&Program, &[f64], &[f64]),
    parameters: &[f64],
    rival: &str,
    flags: &[&str],
) {
    let Some(native) = code.native_code(Lanes::Eight, Backend::default()) else { return };
    let Some(library) = compile_c("hand.c", flags) else { return };
    let (mut run, by_hand) = (native.start(values), library.function(function));
    let inputs = library::Aligned::new(&spread(state));
    let every: Vec<f64> = parameters.iter().flat_map(|&p| [p; 8]).collect();
    let every = library::Aligned::new(&every);
    let mut outputs = library::Aligned::new(&vec![0.0; 8 * (state.len() - 1)]);
    let mut wanted = library::Aligned::new(outputs.numbers());
    let (a, b) = pair(
        &mut || run.evaluate(black_box(inputs.numbers()), black_box(outputs.numbers_mut())),
        &mut || {
            by_hand(
                black_box(&inputs.numbers()[8..]),
                every.numbers(),
                black_box(wanted.numbers_mut()),
            );
        },
    );
    Row::new(&format!("{problem}, a state of eight"), rival, a / 8.0, b / 8.0, limit)
        .error(outputs.numbers(), wanted.numbers())
        .print();
}

/// The right-hand side of P1.
fn sleigh() {
    let made = model(SLEIGH);
    let state = [0.0, 0.1, 0.2, 0.3, 1.1, 0.7];
    let reduced = reduction(&made, &state[1..4]);
    let (code, values) = (program(&made, &reduced), made.parameter_values());
    let mut ours = code.executor(&values, Backend::default());
    let (mut output, mut wanted) = ([0.0; 5], [0.0; 5]);
    let p = [0.2 / 0.54, 0.2];
    let (a, b) =
        pair(&mut || ours.evaluate(black_box(&state), black_box(&mut output)), &mut || {
            hand::sleigh(
                hand::own,
                black_box(&p),
                black_box(&state[1..]),
                black_box(&mut wanted),
            );
        });
    Row::new("sleigh, right-hand side", "Rust, our sincos inlined", a, b, 1.1)
        .error(&output, &wanted)
        .print();
    for (rival, flags) in [
        ("C, 8 lanes by hand", &["-DOWN", "-DLANES=8"][..]),
        ("the same, angles as exact", &["-DOWN", "-DLANES=8", "-DEXACT"]),
    ] {
        eight(("sleigh", "sleigh", 1.1), (&code, &values, &state), &p, rival, flags);
    }
}

/// (K) of the snake with its solve written out, against the same operations in C.
fn saddle_points() {
    for n in [5, 12] {
        let made = model(&chain_text(n));
        let code = saddle(&made);
        let function = ExportedFunction {
            name: "solve".into(),
            comment: String::new(),
            inputs: vec![Argument { name: "y".into(), length: Some(code.inputs()) }],
            output: "x".into(),
            program: code.clone(),
        };
        let parameters = made.parameters.iter().map(|p| (p.name.clone(), p.value)).collect();
        let module = Module {
            prefix: "snake".into(),
            comment: Vec::new(),
            parameters,
            functions: vec![function],
        };
        let text = module.text(Language::C).expect("sines and cosines only");
        let Some(library) = Library::of_text(&format!("snake_{n}"), &text) else { return };
        let values = made.parameter_values();
        let mut constants = vec![0.0; values.len() + code.kept()];
        library.prepare("snake_prepare")(&values, &mut constants);
        let rival = library.function("snake_solve");
        let state: Vec<f64> =
            (0..code.inputs()).map(|i| 0.3 * libm::sin(0.9 * i as f64)).collect();
        let mut output = vec![0.0; code.outputs()];
        let mut wanted = output.clone();
        let mut ours = code.executor(&values, Backend::default());
        let (a, b) =
            pair(&mut || ours.evaluate(black_box(&state), black_box(&mut output)), &mut || {
                rival(black_box(&state), &constants, black_box(&mut wanted));
            });
        let name = format!("snake of {n}, saddle point");
        Row::new(&name, "cc -O3 on our C", a, b, 1.0).error(&output, &wanted).print();
    }
}

/// Machine code, by the number of operations.
fn compiling() {
    let model = model(&chain_text(80));
    let state = chain_state(80);
    let code = program(&model, &reduction(&model, &state[1..84]));
    let ns = best(&mut || drop(black_box(code.native_code(Lanes::One, Backend::default()))));
    let steps = code.counts().per_evaluation as f64;
    Row::new("machine code, 10 000 steps", "1 ms", ns * 1e4 / steps, 1e6, 1.0).print();
}

/// From a text to native code of the reduced right-hand side. A run derives (K) besides, for its start and its audit.
fn from_text() {
    for (name, text, limit_ms) in [
        ("sleigh", SLEIGH.to_owned(), 0.2),
        ("chain of 12", chain_text(12), 3.0),
        ("chain of 20", chain_text(20), 5.0),
    ] {
        let mut work = || {
            let made = model(&text);
            let q = vec![0.1; made.coordinates.len()];
            let code = program(&made, &reduction(&made, &q));
            black_box(code.executor(&made.parameter_values(), Backend::default()));
        };
        // Few repetitions of something long: the smallest of several tries.
        let ns = (0..10).map(|_| best(&mut work)).fold(f64::INFINITY, f64::min);
        let rival = format!("{limit_ms} ms");
        Row::new(&format!("{name}, text to native code"), &rival, ns, limit_ms * 1e6, 1.0)
            .print();
    }
}
