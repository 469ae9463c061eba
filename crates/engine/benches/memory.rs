//! What motion with memory costs: error and time of the problems that documentation quotes.
//!
//! (a) a chain of two Duffing masses with dampers of order 1/2, (b) the constraint of Tarasov and Zaslavsky
//! 2006, (63)–(64), (c) the growth of the cost
//! with the number of steps, (d) relaxation, oscillator and Brusselator, to be set beside other programs
//! (`benches/peers/fractional.py`); beside them general
//! kernels, and reactions that are nearly not integrable at the start.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../../solver/tests/volterra/systems.rs"]
mod systems;

use std::time::Instant;

use pfaff_solver::{
    DampedWave, Kernel, KernelResolution, VolterraOptions, VolterraOutcome, VolterraSystem,
    integrate_volterra,
};
use systems::{Duffing, Fractional, Remembering, Values, constrained, relaxation};

/// A part of the benchmark.
type Part = fn();

fn main() {
    // `cargo bench -p pfaff --bench memory -- kernels` runs one part.
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let parts: [(&str, Part); 6] = [
        ("duffing", duffing),
        ("constraint", constraint),
        ("growth", growth),
        ("peers", peers),
        ("kernels", kernels),
        ("steep", steep),
    ];
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            part();
        }
    }
}

fn kernels() {
    println!("kernels: y' = -y - ∫ k y, t = 0..10, time of N → 2N steps with 3 nodes");
    let wave = DampedWave { weight: [libm::tgamma(0.4), 0.0], rate: [1.0, 0.0] };
    let tempered: Values = |_, s| libm::pow(s, -0.6) * libm::exp(-s);
    let smooth: Values = |_, s| libm::pow(s, -0.6) / (1.0 + s * s);
    let blocks =
        |values: Values| KernelResolution::new(0.4, 10.0, true, &[], &mut |t, s| values(t, s));
    let cases = [
        ("s^(-0.6) exp(-s), exponentials", Kernel::Waves(0.4, vec![wave]), tempered),
        ("s^(-0.6) exp(-s), blocks", Kernel::General(0.4, blocks(tempered)), tempered),
        ("s^(-0.6)/(1 + s²), blocks", Kernel::General(0.4, blocks(smooth)), smooth),
        ("s^(-0.6)/(1 + s²), nothing compressed", Kernel::General(0.4, None), smooth),
    ];
    for (name, kernel, values) in cases {
        let many = !matches!(kernel, Kernel::General(_, None));
        let mut system = Remembering { kernel, values };
        let mut before = f64::NAN;
        for steps in if many { [1e3, 2e3, 4e3] } else { [50.0, 100.0, 200.0] } {
            let step = Some(10.0 / steps);
            let options =
                VolterraOptions { t1: 10.0, stages: 3, step, ..VolterraOptions::default() };
            let mut outcome = None;
            let passed = seconds(&mut || {
                outcome = Some(integrate_volterra(&mut system, &options, &mut ()));
            });
            let outcome = outcome.expect("it ran");
            let per = 1e6 * passed / outcome.steps as f64;
            println!(
                "  {name:40} {:>6} steps {:>10.3} ms {per:>8.1} µs a step  ratio {:.2}  y {:.15}",
                outcome.steps,
                1e3 * passed,
                passed / before,
                outcome.z[0]
            );
            before = passed;
        }
    }
}

fn steep() {
    println!("steep: the constraint of order near 1 with λ ~ t^(-α), t = 0..1");
    // Laplace inversion in extended precision.
    for (alpha, exact) in [
        (0.9, 1.127_104_335_251_096_8),
        (0.99, 1.131_931_285_621_015_4),
        (0.999, 1.132_472_345_612_506),
    ] {
        let mut system = constrained(alpha, [0.5, -0.25], [0.7, -0.7]);
        let options = VolterraOptions { exponent: -alpha, ..VolterraOptions::default() };
        let (outcome, seconds) = timed(&mut system, &options);
        show(&format!("  α = {alpha}"), &outcome, seconds, (outcome.z[0] - exact).abs());
    }
}

/// Seconds on the processor, where the system tells them; they count other work on the machine for nothing.
fn processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(1e-9 * text.split(' ').next()?.parse::<f64>().ok()?)
}

/// Seconds of a piece of work: on the processor if it is long, since these are told in steps of some milliseconds.
fn seconds(work: &mut dyn FnMut()) -> f64 {
    let (before, clock) = (processor(), Instant::now());
    work();
    let passed = clock.elapsed().as_secs_f64();
    match (before, processor()) {
        (Some(before), Some(after)) if after - before > 0.05 => after - before,
        _ => passed,
    }
}

fn timed(system: &mut dyn VolterraSystem, options: &VolterraOptions) -> (VolterraOutcome, f64) {
    let mut best = f64::INFINITY;
    let mut outcome = None;
    let repeats =
        if options.step.is_some_and(|h| (options.t1 - options.t0) / h > 1e4) { 3 } else { 50 };
    for _ in 0..repeats {
        let mut run = || outcome = Some(integrate_volterra(system, options, &mut ()));
        best = best.min(seconds(&mut run));
    }
    (outcome.expect("it ran"), best)
}

fn show(name: &str, outcome: &VolterraOutcome, seconds: f64, error: f64) {
    println!(
        "{name:44} {:>8} steps {:>4} exponentials {:>10.3} ms  error {error:.1e}",
        outcome.steps,
        outcome.exponentials,
        1e3 * seconds
    );
}

fn duffing() {
    println!("(a) two-mass Duffing chain with two dampers of order 1/2, t = 0..100");
    let fine = VolterraOptions {
        t1: 100.0,
        stages: 8,
        step: Some(0.05),
        ..VolterraOptions::default()
    };
    let exact = integrate_volterra(&mut Duffing, &fine, &mut ()).z;
    let error = |z: &[f64]| (z[0] - exact[0]).abs().max((z[1] - exact[1]).abs());
    for (stages, tolerance) in
        [(6, 1e-10), (6, 1e-12), (8, 1e-10), (8, 1e-12), (8, 1e-13), (10, 1e-12)]
    {
        let options =
            VolterraOptions { t1: 100.0, stages, tolerance, ..VolterraOptions::default() };
        let (outcome, seconds) = timed(&mut Duffing, &options);
        show(
            &format!("  adaptive, {stages} nodes, tolerance {tolerance:e}"),
            &outcome,
            seconds,
            error(&outcome.z),
        );
    }
    for (stages, steps) in [(6, 400.0), (8, 250.0), (2, 1e6), (3, 1e6)] {
        let step = Some(100.0 / steps);
        let options = VolterraOptions { t1: 100.0, stages, step, ..VolterraOptions::default() };
        let (outcome, seconds) = timed(&mut Duffing, &options);
        show(
            &format!("  fixed, {stages} nodes, {steps:e} steps"),
            &outcome,
            seconds,
            error(&outcome.z),
        );
    }
}

fn constraint() {
    println!("(b) constraint of order 1/2 with a singular reaction, t = 0..1");
    let mut system = constrained(0.5, [0.5, -0.25], [0.7, -0.7]);
    // Laplace inversion in extended precision.
    let error = |z: &[f64]| {
        (z[0] - 1.117_274_449_189_068_2).abs().max((z[1] + 0.770_336_488_297_215_6).abs())
    };
    for (stages, tolerance) in [(4, 1e-11), (6, 1e-11)] {
        let options =
            VolterraOptions { stages, tolerance, first: 1e-20, ..VolterraOptions::default() };
        let (outcome, seconds) = timed(&mut system, &options);
        show(
            &format!("  adaptive, {stages} nodes, tolerance {tolerance:e}"),
            &outcome,
            seconds,
            error(&outcome.z),
        );
    }
    {
        let (stages, steps) = (3, 1e4);
        let options = VolterraOptions {
            stages,
            step: Some(1.0 / steps),
            first: 1e-20,
            ..VolterraOptions::default()
        };
        let (outcome, seconds) = timed(&mut system, &options);
        show(
            &format!("  fixed, {stages} nodes, {steps:e} steps"),
            &outcome,
            seconds,
            error(&outcome.z),
        );
    }
    println!("  order: error at t = 1 with 4 nodes and steps halved");
    let mut before = f64::NAN;
    for steps in [4.0, 8.0, 16.0, 32.0] {
        let options = VolterraOptions {
            stages: 4,
            step: Some(1.0 / steps),
            first: 1e-20,
            ..VolterraOptions::default()
        };
        let outcome = integrate_volterra(&mut system, &options, &mut ());
        let e = error(&outcome.z);
        println!(
            "    {:>4} steps  {e:.2e}  order {:.1}",
            outcome.steps,
            libm::log2(before / e)
        );
        before = e;
    }
}

fn growth() {
    println!("(c) time of N → 2N steps");
    let mut before = f64::NAN;
    for steps in [1e5, 2e5, 4e5] {
        let options = VolterraOptions {
            t1: 100.0,
            stages: 3,
            step: Some(100.0 / steps),
            ..VolterraOptions::default()
        };
        let (outcome, seconds) = timed(&mut Duffing, &options);
        println!(
            "  {:>8} steps {:>10.3} ms  ratio {:.2}",
            outcome.steps,
            1e3 * seconds,
            seconds / before
        );
        before = seconds;
    }
}

/// A run that goes no further than its tolerance: a longer first step, and iterations that end a hundred
/// times below what is asked for.
fn loose(stages: usize, tolerance: f64) -> VolterraOptions {
    let first = if tolerance > 1e-6 { 1e-4 } else { 1e-10 };
    VolterraOptions { stages, tolerance, first, settled: 0.01, ..VolterraOptions::default() }
}

fn peers() {
    println!("(d) the problems of benches/peers/fractional.py");
    for order in [0.3, 0.5, 0.7, 0.9, 1.2, 1.5, 1.8] {
        let name = if order < 1.0 { "relaxation" } else { "oscillator" };
        let mut system = relaxation(order);
        let exact = pfaff_expr::special::mittag_leffler(order, 1.0, -libm::pow(10.0, order));
        for (stages, tolerance) in [(3, 1e-3), (4, 1e-3), (4, 1e-4), (4, 1e-8), (6, 1e-11)] {
            let options = VolterraOptions { t1: 10.0, ..loose(stages, tolerance) };
            let (outcome, seconds) = timed(&mut system, &options);
            show(
                &format!("  {name} {order}, {stages} nodes, tolerance {tolerance:e}"),
                &outcome,
                seconds,
                (outcome.z[0] - exact).abs(),
            );
        }
    }
    let mut brusselator = Fractional {
        orders: vec![0.8, 0.7],
        start: vec![vec![(1.2, 0.0)], vec![(2.8, 0.0)]],
        rates: |z, o| {
            let q = z[0] * z[0] * z[1];
            o[0] = 1.0 - 5.0 * z[0] + q;
            o[1] = 4.0 * z[0] - q;
        },
        slopes: |z, s| {
            s.copy_from_slice(&[
                2.0 * z[0] * z[1] - 5.0,
                z[0] * z[0],
                4.0 - 2.0 * z[0] * z[1],
                -z[0] * z[0],
            ]);
        },
    };
    let fine =
        VolterraOptions { t1: 50.0, stages: 8, tolerance: 1e-13, ..VolterraOptions::default() };
    let exact = integrate_volterra(&mut brusselator, &fine, &mut ()).z;
    for (stages, tolerance) in
        [(2, 1.0), (2, 1e-1), (2, 1e-2), (4, 1e-3), (4, 1e-5), (4, 1e-8), (6, 1e-11)]
    {
        let options = VolterraOptions { t1: 50.0, ..loose(stages, tolerance) };
        let (outcome, seconds) = timed(&mut brusselator, &options);
        let error = (outcome.z[0] - exact[0]).abs().max((outcome.z[1] - exact[1]).abs());
        show(
            &format!("  brusselator 0.8, {stages} nodes, tolerance {tolerance:e}"),
            &outcome,
            seconds,
            error,
        );
    }
}
