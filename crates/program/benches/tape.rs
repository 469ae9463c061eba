//! Nanoseconds an evaluation, one state at a time and in lanes: `cargo bench -p pfaff-program`.
//!
//! The smallest of many repetitions; lanes hold different states.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::hint::black_box;
use std::time::Instant;

use pfaff_expr::{Binary, Expr, Graph, Role, Unary};
use pfaff_program::{Backend, Lanes, Program};

fn main() {
    println!(
        "{:<12} {:>12} {:>6} {:>10} {:>12} {:>12} {:>12} {:>12}",
        "", "instructions", "slots", "compile", "scalar", "8 lanes", "32 lanes", "256 lanes"
    );
    for (name, build) in MODELS {
        let g = Graph::new();
        let (symbols, outputs) = model(&g, build);
        let compile =
            || Program::compile(&g, &symbols, &[], &outputs).expect("every symbol is an input");
        let microseconds = best(&mut || drop(black_box(compile()))) / 1e3;
        let program = compile();
        let counts = program.counts();
        print!("{name:<12} {:>12} {:>6}", counts.per_evaluation, counts.slots);
        print!(" {microseconds:>7.1} µs");
        print!(" {:>9.1} ns", scalar(&program));
        for lanes in [8, 32, 256] {
            print!(" {:>9.2} ns", batched(&program, lanes));
        }
        println!();
    }
    println!("(in lanes: nanoseconds a lane)");
    functions();
    for fused in [false, true] {
        native_table(fused);
    }
}

type Build = fn(&Graph, &[Expr]) -> Vec<Expr>;

const MODELS: [(&str, Build); 6] = [
    ("polynomial", polynomial),
    ("sincos", angles),
    ("sleigh", sleigh),
    ("chain 20", |g, x| chain(g, x, 20)),
    ("chain 80", |g, x| chain(g, x, 80)),
    ("chain 1100", |g, x| chain(g, x, 1100)),
];

/// Symbols and outputs.
fn model(g: &Graph, build: Build) -> (Vec<Expr>, Vec<Expr>) {
    let x: Vec<Expr> = (0..100).map(|i| g.symbol(&format!("x{i}"), Role::Free)).collect();
    let outputs = build(g, &x);
    (g.symbols(&outputs), outputs)
}

/// Compiling to machine code, and evaluating it; ratios are to the interpreter (one lane; a batch of 32).
fn native_table(fused: bool) {
    println!(
        "\nnative, multiply-adds rounded {}\n{:<12} {:>12} {:>10} {:>9} {:>21} {:>12} {:>21}",
        if fused { "once" } else { "twice" },
        "",
        "instructions",
        "compile",
        "bytes",
        "scalar",
        "4 lanes",
        "8 lanes"
    );
    for (name, build) in MODELS {
        let g = Graph::new();
        let (symbols, outputs) = model(&g, build);
        let program =
            Program::compile(&g, &symbols, &[], &outputs).expect("every symbol is an input");
        let program = if fused { program.fused() } else { program };
        let Some(code) = program.native_code(Lanes::One, Backend::default()) else {
            println!("none for this processor");
            return;
        };
        let compile =
            best(&mut || drop(black_box(program.native_code(Lanes::One, Backend::default()))))
                / 1e3;
        print!("{name:<12} {:>12} {compile:>7.1} µs", program.counts().per_evaluation);
        let one = native(&program, Lanes::One);
        print!(" {:>9} {one:>9.1} ns ({:>4.2} ×)", code.bytes(), one / scalar(&program));
        print!(" {:>9.2} ns", native(&program, Lanes::Four));
        let eight = native(&program, Lanes::Eight);
        println!(" {eight:>9.2} ns ({:>4.2} ×)", eight / batched(&program, 32));
    }
}

/// Nanoseconds a lane.
fn native(program: &Program, lanes: Lanes) -> f64 {
    let count = lanes.count();
    let native =
        program.native_code(lanes, Backend::default()).expect("there was code for one lane");
    let mut run = native.start(&[]);
    let inputs: Vec<f64> =
        (0..program.inputs() * count).map(|i| 0.1 + 0.03 / count as f64 * i as f64).collect();
    let mut outputs = vec![0.0; program.outputs() * count];
    best(&mut || run.evaluate(black_box(&inputs), black_box(&mut outputs))) / count as f64
}

fn scalar(program: &Program) -> f64 {
    let mut run = program.interpreter(&[]);
    let inputs: Vec<f64> = (0..program.inputs()).map(|i| 0.1 + 0.03 * i as f64).collect();
    let mut outputs = vec![0.0; program.outputs()];
    best(&mut || run.evaluate(black_box(&inputs), black_box(&mut outputs)))
}

fn batched(program: &Program, lanes: usize) -> f64 {
    let mut batch = program.batch_interpreter(lanes, &[]);
    let inputs: Vec<f64> =
        (0..program.inputs() * lanes).map(|i| 0.1 + 0.0003 * i as f64).collect();
    let mut outputs = vec![0.0; program.outputs() * lanes];
    best(&mut || batch.evaluate(black_box(&inputs), black_box(&mut outputs))) / lanes as f64
}

/// Nanoseconds a call, the smallest mean over 200 of at least 20 µs.
fn best(call: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    call();
    let repeats = 1 + 20_000 / (start.elapsed().as_nanos() as usize + 1);
    let mean = |_| {
        let start = Instant::now();
        for _ in 0..repeats {
            call();
        }
        start.elapsed().as_nanos() as f64 / repeats as f64
    };
    (0..200).map(mean).fold(f64::INFINITY, f64::min)
}

/// A hundred products and sums.
fn polynomial(g: &Graph, x: &[Expr]) -> Vec<Expr> {
    let step = |s, i: usize| g.add(g.mul(s, x[i % 7]), x[(i + 3) % 11]);
    vec![(0..50).fold(x[0], step)]
}

/// Sine and cosine of twenty angles.
fn angles(g: &Graph, x: &[Expr]) -> Vec<Expr> {
    x[..20].iter().flat_map(|&a| [g.sin(a), g.cos(a)]).collect()
}

/// The Chaplygin sleigh in quasi-velocities: x, y, φ, u, ω.
fn sleigh(g: &Graph, x: &[Expr]) -> Vec<Expr> {
    let (φ, u, ω) = (x[2], x[3], x[4]);
    let a = g.fraction(1, 5);
    let rate = g.mul(a, g.mul(ω, ω));
    vec![g.mul(u, g.cos(φ)), g.mul(u, g.sin(φ)), ω, rate, g.neg(g.mul(g.mul(a, u), ω))]
}

/// Velocities and energy of a chain of bodies, sums shared from body to body.
fn chain(g: &Graph, x: &[Expr], bodies: usize) -> Vec<Expr> {
    let (mut vx, mut vy, mut energy, mut outputs) = (x[0], x[1], g.zero(), Vec::new());
    for i in 0..bodies {
        let (θ, ω) = (x[2 + i % 49], x[51 + i % 49]);
        let (s, c) = (g.sin(g.add(θ, x[i % 5])), g.cos(g.add(θ, x[i % 5])));
        vx = g.sub(vx, g.mul(s, ω));
        vy = g.add(vy, g.mul(c, ω));
        energy = g.add(energy, g.add(g.mul(vx, vx), g.mul(vy, vy)));
        outputs.push(g.sub(g.mul(vx, s), g.mul(vy, c)));
        outputs.push(g.div(energy, g.add(g.one(), g.mul(ω, ω))));
    }
    outputs
}

/// Functions that native code calls: one state, and eight at once.
fn functions() {
    println!("\n{:<12} {:>12} {:>12}", "function", "one", "8 lanes");
    let g = Graph::new();
    let (x, y) = (g.symbol("x", Role::Free), g.symbol("y", Role::Free));
    let constant = g.fraction(37, 100);
    // Within the domain of inverse sines.
    let third = g.mul(g.fraction(1, 3), x);
    for (name, e) in [
        ("exp", g.unary(Unary::Exp, x)),
        ("log", g.unary(Unary::Log, x)),
        ("tan", g.unary(Unary::Tan, x)),
        ("atan", g.unary(Unary::Atan, x)),
        ("atan2", g.binary(Binary::Atan2, y, x)),
        ("x^0.37", g.pow(x, constant)),
        ("x^y", g.pow(x, y)),
        ("asin", g.unary(Unary::Asin, third)),
        ("acos", g.unary(Unary::Acos, third)),
        ("sinh", g.unary(Unary::Sinh, x)),
        ("cosh", g.unary(Unary::Cosh, x)),
        ("tanh", g.unary(Unary::Tanh, x)),
        ("erf", g.unary(Unary::Erf, x)),
        ("gamma", g.unary(Unary::Gamma, x)),
    ] {
        let program = Program::compile(&g, &[x, y], &[], &[e]).expect("two inputs").fused();
        let time = |lanes: Lanes| {
            let Some(native) = program.native_code(lanes, Backend::default()) else {
                return f64::NAN;
            };
            let n = lanes.count();
            let mut run = native.start(&[]);
            let inputs: Vec<f64> = (0..2 * n).map(|i| 0.7 + 0.31 * i as f64).collect();
            let mut outputs = vec![0.0; n];
            best(&mut || run.evaluate(black_box(&inputs), black_box(&mut outputs))) / n as f64
        };
        println!("{name:<12} {:>9.2} ns {:>9.2} ns", time(Lanes::One), time(Lanes::Eight));
    }
}
