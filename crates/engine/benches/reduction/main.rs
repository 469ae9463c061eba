//! The reduced right-hand side, found from L and the constraints, against the same mathematics written by hand: `cargo bench -p pfaff --bench reduction`.
//!
//! Nanoseconds a call, the smallest of many repetitions, all in one run. "waiting": every call waits for the one before, as in a Runge–Kutta step. Hand-written code is
//! compiled for this processor only under `RUSTFLAGS="-C target-cpu=native"`; without it, its multiply-adds are calls and the comparison is unfair.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

mod hand;

use std::hint::black_box;
use std::time::Instant;

use hand::SinCos;
use pfaff::{Dynamics, NoFiles, Overrides, Request, Source, derive, gallery_model, read};
use pfaff_expr::Expr;
use pfaff_mechanics::{Class, Point, Reduction, Statement, solve_saddle};
use pfaff_model::Model;
use pfaff_program::{Executor, Lanes, Options, Program, sincos_fused};

const SLEIGH: &str = "
coordinates  x, y, phi
parameters   m = 1, J = 0.5, a = 0.2
let          X = x + a*cos(phi)
let          Y = y + a*sin(phi)
lagrangian   m*(X'^2 + Y'^2)/2 + J*phi'^2/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
";
const DISK: &str = "
coordinates  x, y, th, phi
parameters   m = 1, R = 0.5, I = 0.125, J = 0.0625, g = 9.81, beta = 0.2
lagrangian   m*(x'^2 + y'^2)/2 + I*th'^2/2 + J*phi'^2/2 + m*g*sin(beta)*x
constraint   x' = R*cos(phi)*th'
constraint   y' = R*sin(phi)*th'
";
const BALL: &str = "
coordinates  x, y, z, psi, theta, phi
parameters   m = 1, R = 0.3, g = 9.81, k1 = 0.5, k2 = 0.8, I = 0.036
let          w1 = theta'*cos(psi) + phi'*sin(theta)*sin(psi)
let          w2 = theta'*sin(psi) - phi'*sin(theta)*cos(psi)
let          w3 = psi' + phi'*cos(theta)
let          s = 1/sqrt(1 + (k1*x)^2 + (k2*y)^2)
let          n = [-k1*x*s, -k2*y*s, s]
lagrangian   m*(x'^2 + y'^2 + z'^2)/2 + I*(psi'^2 + theta'^2 + phi'^2 + 2*psi'*phi'*cos(theta))/2 - m*g*z
constraint   roll: [x', y', z'] = R*cross([w1, w2, w3], n)
";

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
    row("sleigh", SLEIGH, &[0.1, 0.2, 0.3, 1.1, 0.7], Some((hand::sleigh, &[k, 0.2])));
    let k = 9.81 * libm::sin(0.2) * 0.5 / (0.125 + 0.25);
    row("disk", DISK, &[0.1, 0.2, 0.3, 0.4, 1.1, 0.7], Some((hand::disk, &[0.5, k])));
    let ball = [0.6, 0.1, 0.0, 0.3, 1.3, 0.0, 0.8, 1.5, 0.7];
    row("ball", BALL, &ball, Some((hand::ball, &[0.3, 0.5, 0.8, 9.81, 0.4])));
    for n in [2, 5, 10, 20, 40, 80] {
        let hand: Hand = match n {
            2 => hand::chain::<3>,
            5 => hand::chain::<6>,
            10 => hand::chain::<11>,
            20 => hand::chain::<21>,
            40 => hand::chain::<41>,
            _ => hand::chain::<81>,
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
        let made = model(&chain_text(n));
        let Ok(Dynamics::Saddle(equations)) = derive(&made, None) else { panic!("equations") };
        let clock = Instant::now();
        let solved = solve_saddle(&made.graph, &equations, usize::MAX).expect("symmetric");
        let solve_us = clock.elapsed().as_secs_f64() * 1e6;
        let mut inputs = made.positions();
        inputs.extend(made.velocities());
        let mut outputs = solved.accelerations;
        outputs.extend(&solved.multipliers);
        let compiled =
            Program::compile(&made.graph, &inputs, &made.parameter_symbols(), &outputs);
        let code = compiled.expect("every symbol is an input").fused();
        let values = made.parameter_values();
        let mut native = code.executor(&values, Options::default());
        let state: Vec<f64> =
            (0..inputs.len()).map(|i| 0.3 * libm::sin(0.9 * i as f64)).collect();
        let mut output = vec![0.0; outputs.len()];
        let ns = best(&mut || native.evaluate(black_box(&state), black_box(&mut output)));
        let lanes = code.native(Lanes::Eight).map_or(f64::NAN, |native| {
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

fn chain_text(n: usize) -> String {
    let text = gallery_model("trailers").expect("a gallery model").text;
    text.replace("N = 5", &format!("N = {n}"))
}

fn model(text: &str) -> Model {
    let read = read(Source::new("bench", text), &Overrides::default(), &NoFiles);
    read.unwrap_or_else(|_| panic!("a model of the benchmark is wrong")).model
}

fn reduction(model: &Model, q: &[f64]) -> Reduction {
    let statement = Statement::of(model).expect("a Lagrangian");
    let classes = vec![Class::Linear; model.constraints.len()];
    statement.reduce(&classes, Point { t: 0.0, q, scale: &[] }).expect("linear constraints")
}

/// $(t, q, u)$ to $(\dot q, \dot u)$.
fn program(model: &Model, reduction: &Reduction) -> Program {
    let mut inputs: Vec<Expr> = vec![reduction.time];
    inputs.extend(&reduction.positions);
    inputs.extend(&reduction.independent);
    let rates = reduction.rates.as_ref().expect("few unknowns");
    let outputs: Vec<Expr> = reduction.velocities.iter().chain(rates).copied().collect();
    let parameters = model.parameter_symbols();
    // As the engine does it.
    let order: &[Expr] = if reduction.operations() > 500 { &reduction.order } else { &[] };
    let graph = &reduction.graph;
    let compiled = Program::compile_ordered(graph, &inputs, &parameters, &outputs, order);
    compiled.expect("every symbol is an input").fused()
}

/// $(t, q, u, \dot u, \dot q)$ to $\lambda$.
fn multipliers(model: &Model, reduction: &Reduction) -> Program {
    let mut inputs: Vec<Expr> = vec![reduction.time];
    inputs.extend(&reduction.positions);
    inputs.extend(&reduction.independent);
    inputs.extend(&reduction.independent_rates);
    inputs.extend(&reduction.velocity_symbols);
    let λ = reduction.multipliers().multipliers.expect("triangular rows");
    let first: Vec<Expr> = λ.iter().rev().copied().collect();
    let parameters = model.parameter_symbols();
    let compiled = Program::compile_ordered(&reduction.graph, &inputs, &parameters, &λ, &first);
    compiled.expect("every symbol is an input").fused()
}

fn row(name: &str, text: &str, state: &[f64], by_hand: Option<(Hand, &[f64])>) {
    let read_us = best(&mut || drop(black_box(model(text)))) / 1e3;
    let made = model(text);
    let q = &state[..made.coordinates.len()];
    let reduce_us = best(&mut || drop(black_box(reduction(&model_again(&made), q)))) / 1e3;
    let reduced = reduction(&made, q);
    let code = program(&made, &reduced);
    let values = made.parameter_values();
    let start = || program(&made, &reduced).executor(&values, Options::default());
    let compile_us = best(&mut || drop(black_box(start()))) / 1e3;
    let mut input = vec![0.0];
    input.extend(state);
    let mut output = vec![0.0; state.len()];
    let mut native = start();
    let mut interpreter = Executor::Interpreted(code.start(&values));
    let native_ns = best(&mut || native.evaluate(black_box(&input), black_box(&mut output)));
    let interpreter_ns =
        best(&mut || interpreter.evaluate(black_box(&input), black_box(&mut output)));
    let waiting = waiting(&mut input, &mut output, |x, y| native.evaluate(x, y));
    let side = multipliers(&made, &reduced);
    let mut λ = vec![0.0; side.outputs()];
    let known = vec![0.1; side.inputs()];
    let mut side_native = side.executor(&values, Options::default());
    let λ_ns = best(&mut || side_native.evaluate(black_box(&known), black_box(&mut λ)));
    print!(
        "{name:<10} {:>6} {:>6} {read_us:>8.0} {reduce_us:>8.0} {compile_us:>8.0} {native_ns:>9.1} {interpreter_ns:>9.1}",
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
        let own_waiting = crate::waiting(&mut moving, &mut vec![0.0; state.len()], |x, y| {
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

/// A copy in which nothing was derived yet.
fn model_again(model: &Model) -> Model {
    model.clone()
}

/// Nanoseconds a lane, eight states at once.
fn eight(code: &Program, values: &[f64], state: &[f64]) -> f64 {
    let Some(native) = code.native(Lanes::Eight) else { return f64::NAN };
    let mut run = native.start(values);
    let mut inputs = vec![0.0; 8];
    inputs.extend(state.iter().flat_map(|&x| (0..8).map(move |l| x + 0.01 * f64::from(l))));
    let mut outputs = vec![0.0; 8 * state.len()];
    best(&mut || run.evaluate(black_box(&inputs), black_box(&mut outputs))) / 8.0
}

/// Nanoseconds a call when each input hangs on the output before.
fn waiting(x: &mut [f64], y: &mut [f64], mut f: impl FnMut(&[f64], &mut [f64])) -> f64 {
    let start = x.to_vec();
    let skip = x.len() - y.len();
    let ns = best(&mut || {
        f(x, y);
        for (x, y) in x[skip..].iter_mut().zip(&*y) {
            *x += 1e-18 * y;
        }
    });
    x.copy_from_slice(&start);
    ns
}

/// The smallest mean of many batches, in nanoseconds.
fn best(work: &mut dyn FnMut()) -> f64 {
    let clock = Instant::now();
    work();
    let once = clock.elapsed().as_secs_f64().max(2e-8);
    let batch = (2e-4 / once).ceil() as usize;
    let rounds = if once > 1e-2 { 3 } else { 60 };
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let clock = Instant::now();
        (0..batch).for_each(|_| work());
        best = best.min(clock.elapsed().as_secs_f64() / batch as f64);
    }
    1e9 * best
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
            let Ok(Dynamics::Saddle(e)) = derive(&model, None) else { panic!("no equations") };
            black_box(e);
        }) - read_ns;
        let made = model(&text);
        let q = vec![0.1; made.coordinates.len()];
        let reduce_ns = best(&mut || drop(black_box(reduction(&made, &q))));
        let reduced = reduction(&made, &q);
        let values = made.parameter_values();
        let compile_ns = best(&mut || {
            black_box(program(&made, &reduced).executor(&values, Options::default()));
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
        let request = Request { samples: Some(2), ..Request::default() };
        let dynamics = derive(&model(&chain_text(n)), None).expect("equations");
        let reduced = pfaff::run(&made, &request, &mut |_, _| true).expect("a motion");
        let saddle = pfaff::run_derived(&made, &dynamics, &request, &mut |_, _| true);
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
