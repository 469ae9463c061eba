//! The reduced right-hand side, found from L and the constraints, against the same mathematics written by
//! hand: `cargo bench -p pfaff --bench reduction`.
//!
//! Nanoseconds a call, the smallest of many repetitions, all in one run. "waiting": every call waits for the
//! one before, as in a Runge–Kutta step. Hand-written code is
//! compiled for this processor only under `RUSTFLAGS="-C target-cpu=native"`; without it, its multiply-adds
//! are calls and the comparison is unfair.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

#[allow(dead_code, reason = "another benchmark uses the rest")]
mod common;
#[allow(dead_code, reason = "another benchmark uses the rest")]
mod hand;

use std::hint::black_box;
use std::time::Instant;

use common::{
    BALL, DISK, SLEIGH, best, chain_text, model, multipliers, program, reduction, waiting,
};
use hand::SinCos;
use pfaff::{Dynamics, Run, derive};
use pfaff_mechanics::solve_saddle;
use pfaff_program::{Backend, Executor, Lanes, Program, sincos_fused};

type Hand = fn(SinCos, &[f64], &[f64], &mut [f64]);

fn main() {
    println!(
        "{:<10} {:>6} {:>6} {:>8} {:>8} {:>8} {:>9} {:>9} {:>8} {:>8} {:>6} {:>6} | {:>8} {:>8} | {:>7} {:>6} {:>6}",
        "",
        "steps",
        "λ",
        "read",
        "reduce",
        "compile",
        "native",
        "interp.",
        "hand",
        "own",
        "ratio",
        "/own",
        "waiting",
        "own",
        "8 lanes",
        "λ",
        "worst"
    );
    let k = 1.0 * 0.2 / (0.5 + 0.04);
    row(
        "sleigh",
        SLEIGH,
        &[0.1, 0.2, 0.3, 1.1, 0.7],
        Some((hand::sleigh::<SinCos>, &[k, 0.2])),
    );
    let k = 9.81 * libm::sin(0.2) * 0.5 / (0.125 + 0.25);
    row("disk", DISK, &[0.1, 0.2, 0.3, 0.4, 1.1, 0.7], Some((hand::disk, &[0.5, k])));
    let ball = [0.6, 0.1, 0.0, 0.3, 1.3, 0.0, 0.8, 1.5, 0.7];
    row("ball", BALL, &ball, Some((hand::ball, &[0.3, 0.5, 0.8, 9.81, 0.4])));
    for n in [2, 5, 10, 20, 40, 80] {
        let hand: Hand = match n {
            2 => hand::chain::<3, SinCos>,
            5 => hand::chain::<6, SinCos>,
            10 => hand::chain::<11, SinCos>,
            20 => hand::chain::<21, SinCos>,
            40 => hand::chain::<41, SinCos>,
            _ => hand::chain::<81, SinCos>,
        };
        let mut y = vec![0.0, 0.0];
        y.extend((0..=n).map(|i| 0.3 * libm::sin(0.9 * f64::from(i))));
        y.extend([1.0, 0.2, 0.5]);
        let text = chain_text(n as usize);
        row(&format!("chain {n}"), &text, &y, Some((hand, &[1.0, 0.1, 0.5, 0.5])));
    }
    saddle_points();
    growth();
    trajectories();
}

/// (K) of the chain with its solve written out: steps, and nanoseconds for accelerations and multipliers.
fn saddle_points() {
    println!("\n{:<10} {:>8} {:>9} {:>9} {:>9}", "(K)", "steps", "native", "8 lanes", "solve");
    for n in [2, 5, 12] {
        let derivation = derive(&model(&chain_text(n)), None).expect("equations");
        let made = derivation.workspace();
        let Dynamics::Saddle(equations) = &derivation.dynamics else { panic!("a Lagrangian") };
        let clock = Instant::now();
        let solved = solve_saddle(&made.graph, equations, usize::MAX).expect("symmetric");
        let solve_us = clock.elapsed().as_secs_f64() * 1e6;
        let mut inputs = made.positions();
        inputs.extend(made.velocities());
        let mut outputs = solved.accelerations;
        outputs.extend(&solved.multipliers);
        let compiled =
            Program::compile(&made.graph, &inputs, &made.parameter_symbols(), &outputs);
        let code = compiled.expect("every symbol is an input").fused();
        let values = made.parameter_values();
        let mut native = code.executor(&values, Backend::default());
        let state: Vec<f64> =
            (0..inputs.len()).map(|i| 0.3 * libm::sin(0.9 * i as f64)).collect();
        let mut output = vec![0.0; outputs.len()];
        let ns = best(&mut || native.evaluate(black_box(&state), black_box(&mut output)));
        let lanes =
            code.native_code(Lanes::Eight, Backend::default()).map_or(f64::NAN, |native| {
                let mut run = native.start(&values);
                let wide: Vec<f64> = state
                    .iter()
                    .flat_map(|&x| (0..8).map(move |l| x + 0.01 * f64::from(l)))
                    .collect();
                let mut outputs = vec![0.0; 8 * output.len()];
                best(&mut || run.evaluate(black_box(&wide), black_box(&mut outputs))) / 8.0
            });
        println!(
            "N = {n:<6} {:>8} {ns:>9.1} {lanes:>9.1} {solve_us:>6.0} µs",
            code.counts().per_evaluation
        );
    }
}

fn row(name: &str, text: &str, state: &[f64], by_hand: Option<(Hand, &[f64])>) {
    let read_us = best(&mut || drop(black_box(model(text)))) / 1e3;
    let made = model(text);
    let q = &state[..made.coordinates.len()];
    let reduce_us = best(&mut || drop(black_box(reduction(&made, q)))) / 1e3;
    let reduced = reduction(&made, q);
    let code = program(&made, &reduced);
    let values = made.parameter_values();
    let start = || program(&made, &reduced).executor(&values, Backend::default());
    let compile_us = best(&mut || drop(black_box(start()))) / 1e3;
    let mut input = vec![0.0];
    input.extend(state);
    let mut output = vec![0.0; state.len()];
    let mut native = start();
    let mut interpreter = Executor::Interpreted(code.interpreter(&values));
    let native_ns = best(&mut || native.evaluate(black_box(&input), black_box(&mut output)));
    let interpreter_ns =
        best(&mut || interpreter.evaluate(black_box(&input), black_box(&mut output)));
    let waiting = waiting(&mut input, &mut output, |x, y| native.evaluate(x, y));
    let side = multipliers(&made, &reduced);
    let mut λ = vec![0.0; side.outputs()];
    let known = vec![0.1; side.inputs()];
    let mut side_native = side.executor(&values, Backend::default());
    let λ_ns = best(&mut || side_native.evaluate(black_box(&known), black_box(&mut λ)));
    print!(
        "{name:<10} {:>6} {:>6} {read_us:>8.0} {reduce_us:>8.0} {compile_us:>8.0} \
         {native_ns:>9.1} {interpreter_ns:>9.1}",
        code.counts().per_evaluation,
        side.counts().per_evaluation,
    );
    if let Some((hand, p)) = by_hand {
        let mut expected = vec![0.0; state.len()];
        let platform: SinCos = f64::sin_cos;
        let mut time = |sc: SinCos| {
            best(&mut || hand(sc, black_box(p), black_box(state), black_box(&mut expected)))
        };
        let (plain, own) = (time(platform), time(sincos_fused));
        let mut moving = state.to_vec();
        let own_waiting = common::waiting(&mut moving, &mut vec![0.0; state.len()], |x, y| {
            hand(sincos_fused, p, x, y);
        });
        hand(sincos_fused, p, state, &mut expected);
        input[1..].copy_from_slice(state);
        native.evaluate(&input, &mut output);
        let worst = output
            .iter()
            .zip(&expected)
            .fold(0.0_f64, |m, (a, b)| m.max((a - b).abs() / (1.0 + b.abs())));
        print!(
            " {plain:>8.1} {own:>8.1} {:>6.2} {:>6.2} | {waiting:>8.1} {own_waiting:>8.1}",
            native_ns / plain,
            native_ns / own
        );
        print!(" | {:>7.2} {λ_ns:>6.0} {worst:>6.0e}", eight(&code, &values, state));
    }
    println!();
}

/// Nanoseconds a lane, eight states at once.
fn eight(code: &Program, values: &[f64], state: &[f64]) -> f64 {
    let Some(native) = code.native_code(Lanes::Eight, Backend::default()) else {
        return f64::NAN;
    };
    let mut run = native.start(values);
    let mut inputs = vec![0.0; 8];
    inputs.extend(state.iter().flat_map(|&x| (0..8).map(move |l| x + 0.01 * f64::from(l))));
    let mut outputs = vec![0.0; 8 * state.len()];
    best(&mut || run.evaluate(black_box(&inputs), black_box(&mut outputs))) / 8.0
}

/// From text to something that runs, as the chain grows: milliseconds.
fn growth() {
    println!(
        "\n{:<10} {:>9} {:>9} {:>9} {:>9}",
        "chain", "read", "derive", "reduce", "compile"
    );
    for n in [5, 10, 20, 40] {
        let text = chain_text(n);
        let read_ns = best(&mut || drop(black_box(model(&text))));
        let derive_ns = best(&mut || {
            let model = model(&text);
            black_box(derive(&model, None).expect("equations"));
        }) - read_ns;
        let made = model(&text);
        let q = vec![0.1; made.coordinates.len()];
        let reduce_ns = best(&mut || drop(black_box(reduction(&made, &q))));
        let reduced = reduction(&made, &q);
        let values = made.parameter_values();
        let compile_ns = best(&mut || {
            black_box(program(&made, &reduced).executor(&values, Backend::default()));
        });
        println!(
            "N = {n:<6} {:>9.3} {:>9.3} {:>9.3} {:>9.3}",
            read_ns / 1e6,
            derive_ns / 1e6,
            reduce_ns / 1e6,
            compile_ns / 1e6
        );
    }
}

/// Whole runs through the engine, in both forms: milliseconds.
fn trajectories() {
    println!(
        "\n{:<10} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9}",
        "run", "derive", "compile", "reduced", "saddle", "steps", "apart"
    );
    for n in [5, 20] {
        let made = model(&chain_text(n));
        let request = Run { samples: Some(2), ..Run::default() };
        let dynamics = derive(&model(&chain_text(n)), None).expect("equations");
        let reduced = pfaff::run(&made, &request, &mut |_, _| true).expect("a motion");
        let saddle = pfaff::run_derived(&dynamics, &request, &mut |_, _| true);
        let saddle = saddle.expect("a motion");
        let apart = reduced.q.iter().zip(&saddle.q).fold(0.0_f64, |m, (a, b)| {
            let ends = (a.values.last(), b.values.last());
            m.max(ends.0.zip(ends.1).map_or(f64::NAN, |(a, b)| (a - b).abs()))
        });
        println!(
            "N = {n:<6} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>7} {apart:>9.0e}",
            reduced.statistics.derive_us / 1e3,
            reduced.statistics.compile_us / 1e3,
            reduced.statistics.integrate_us / 1e3,
            saddle.statistics.integrate_us / 1e3,
            reduced.statistics.steps,
        );
    }
}
