//! What motion with memory costs: error and time of the four problems that documentation quotes.
//!
//! (a) a chain of two Duffing masses with dampers of order 1/2, (b) the constraint of Tarasov and Zaslavsky 2006, (63)–(64), (c) the growth of the cost
//! with the number of steps, (d) relaxation, oscillator and Brusselator, to be set beside other programs (`benches/peers/fractional.py`).

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::time::Instant;

use pfaff_solver::{
    Halt, Kernel, MemoryOptions, MemoryOutcome, MemorySystem, Operand, SampleOperator,
    integrate_memory, operate_on_samples,
};

/// Writes the rates at a state.
type Field = fn(&[f64], &mut [f64]);

/// A part of the benchmark.
type Part = fn();

fn main() {
    // `cargo bench -p pfaff --bench memory -- samples` runs one part.
    let asked: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let parts: [(&str, Part); 5] = [
        ("duffing", duffing),
        ("constraint", constraint),
        ("growth", growth),
        ("peers", peers),
        ("samples", samples),
    ];
    for (name, part) in parts {
        if asked.is_empty() || asked.iter().any(|a| a == name) {
            part();
        }
    }
}

fn samples() {
    println!("samples: Caputo's derivative of order 1/2 of 1e6 samples by fast convolution");
    let h = 1e-5;
    let f: Vec<f64> = (0..1_000_000).map(|i| libm::sin(f64::from(i) * h)).collect();
    let (mut seconds, mut found) = (f64::INFINITY, Vec::new());
    for _ in 0..5 {
        let clock = Instant::now();
        found = operate_on_samples(SampleOperator::Caputo(0.5), h, &f).expect("enough samples");
        seconds = seconds.min(clock.elapsed().as_secs_f64());
    }
    let t = 999_999.0 * h;
    // D^{1/2} sin t = t^{1/2} E_{2,3/2}(−t²)
    let exact = t.sqrt() * pfaff_expr::special::mittag_leffler(2.0, 1.5, -t * t);
    println!("  {:.3} ms  error {:.1e}", 1e3 * seconds, (found[999_999] - exact).abs());
}

fn timed(system: &mut dyn MemorySystem, options: &MemoryOptions) -> (MemoryOutcome, f64) {
    let mut best = f64::INFINITY;
    let mut outcome = None;
    let repeats =
        if options.step.is_some_and(|h| (options.t1 - options.t0) / h > 1e4) { 3 } else { 50 };
    for _ in 0..repeats {
        let clock = Instant::now();
        outcome = Some(integrate_memory(system, options, &mut ()));
        best = best.min(clock.elapsed().as_secs_f64());
    }
    (outcome.expect("it ran"), best)
}

fn show(name: &str, outcome: &MemoryOutcome, seconds: f64, error: f64) {
    println!(
        "{name:44} {:>8} steps {:>4} exponentials {:>10.3} ms  error {error:.1e}",
        outcome.steps,
        outcome.exponentials,
        1e3 * seconds
    );
}

fn power(unknown: usize, mu: f64, start: &[(f64, f64)]) -> Operand {
    Operand { unknown, kernel: Kernel::Power(mu), start: start.to_vec(), controlled: mu >= 1.0 }
}

/// $\ddot q + 0.3 D^{1/2} q + \dots = 0$ for two coupled masses.
struct Duffing;

impl MemorySystem for Duffing {
    fn unknowns(&self) -> usize {
        2
    }
    fn operands(&self) -> Vec<Operand> {
        let damped = 0.3 / libm::tgamma(1.5);
        vec![
            power(0, 2.0, &[(1.0, 0.0)]),
            power(1, 2.0, &[(-0.5, 0.0), (0.3, 1.0)]),
            power(0, 1.0, &[]),
            power(1, 1.0, &[(0.3, 0.0)]),
            power(0, 1.5, &[]),
            power(1, 1.5, &[(damped, 0.5)]),
        ]
    }
    fn residual(&mut self, t: f64, x: &[f64], z: &[f64], out: &mut [f64]) -> Result<(), Halt> {
        let spring = 0.5 * (z[1] - z[0]);
        out[0] =
            x[0] + 0.3 * z[4] + z[0] + z[0] * z[0] * z[0] - spring - 0.4 * libm::cos(1.2 * t);
        out[1] = x[1] + 0.3 * z[5] + z[1] + 0.5 * z[1] * z[1] * z[1] + spring;
        Ok(())
    }
    fn jacobian(
        &mut self,
        (_, _, z): (f64, &[f64], &[f64]),
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), Halt> {
        by_x.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        by_z.fill(0.0);
        by_z[0] = 1.5 + 3.0 * z[0] * z[0];
        by_z[1] = -0.5;
        by_z[4] = 0.3;
        by_z[6] = -0.5;
        by_z[7] = 1.5 + 1.5 * z[1] * z[1];
        by_z[11] = 0.3;
        Ok(())
    }
}

fn duffing() {
    println!("(a) two-mass Duffing chain with two dampers of order 1/2, t = 0..100");
    let fine =
        MemoryOptions { t1: 100.0, stages: 8, step: Some(0.05), ..MemoryOptions::default() };
    let exact = integrate_memory(&mut Duffing, &fine, &mut ()).z;
    let error = |z: &[f64]| (z[0] - exact[0]).abs().max((z[1] - exact[1]).abs());
    for (stages, tolerance) in
        [(6, 1e-10), (6, 1e-12), (8, 1e-10), (8, 1e-12), (8, 1e-13), (10, 1e-12)]
    {
        let options =
            MemoryOptions { t1: 100.0, stages, tolerance, ..MemoryOptions::default() };
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
        let options = MemoryOptions { t1: 100.0, stages, step, ..MemoryOptions::default() };
        let (outcome, seconds) = timed(&mut Duffing, &options);
        show(
            &format!("  fixed, {stages} nodes, {steps:e} steps"),
            &outcome,
            seconds,
            error(&outcome.z),
        );
    }
}

/// $\ddot q = -Kq + \lambda a$, $a\cdot\dot q + b\cdot D^{1/2} q = 0$.
struct Constrained;

impl MemorySystem for Constrained {
    fn unknowns(&self) -> usize {
        3
    }
    fn operands(&self) -> Vec<Operand> {
        let start = 0.7 / libm::tgamma(1.5);
        vec![
            power(0, 2.0, &[(1.0, 0.0), (0.7, 1.0)]),
            power(1, 2.0, &[(-0.5, 0.0), (-0.7, 1.0)]),
            power(0, 1.0, &[(0.7, 0.0)]),
            power(1, 1.0, &[(-0.7, 0.0)]),
            power(0, 1.5, &[(start, 0.5)]),
            power(1, 1.5, &[(-start, 0.5)]),
        ]
    }
    fn residual(&mut self, _t: f64, x: &[f64], z: &[f64], out: &mut [f64]) -> Result<(), Halt> {
        out[0] = x[0] + 2.0 * z[0] + 0.5 * z[1] - x[2];
        out[1] = x[1] + 0.5 * z[0] + z[1] - x[2];
        out[2] = z[2] + z[3] + 0.5 * z[4] - 0.25 * z[5];
        Ok(())
    }
    fn jacobian(
        &mut self,
        _at: (f64, &[f64], &[f64]),
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), Halt> {
        by_x.copy_from_slice(&[1.0, 0.0, -1.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0]);
        by_z.copy_from_slice(&[
            2.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0,
            0.5, -0.25,
        ]);
        Ok(())
    }
}

fn constraint() {
    println!("(b) constraint of order 1/2 with a singular reaction, t = 0..1");
    // Laplace inversion in extended precision.
    let error = |z: &[f64]| {
        (z[0] - 1.117_274_449_189_068_2).abs().max((z[1] + 0.770_336_488_297_215_6).abs())
    };
    for (stages, tolerance) in [(4, 1e-11), (6, 1e-11)] {
        let options =
            MemoryOptions { stages, tolerance, first: 1e-20, ..MemoryOptions::default() };
        let (outcome, seconds) = timed(&mut Constrained, &options);
        show(
            &format!("  adaptive, {stages} nodes, tolerance {tolerance:e}"),
            &outcome,
            seconds,
            error(&outcome.z),
        );
    }
    {
        let (stages, steps) = (3, 1e4);
        let options = MemoryOptions {
            stages,
            step: Some(1.0 / steps),
            first: 1e-20,
            ..MemoryOptions::default()
        };
        let (outcome, seconds) = timed(&mut Constrained, &options);
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
        let options = MemoryOptions {
            stages: 4,
            step: Some(1.0 / steps),
            first: 1e-20,
            ..MemoryOptions::default()
        };
        let outcome = integrate_memory(&mut Constrained, &options, &mut ());
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
        let options = MemoryOptions {
            t1: 100.0,
            stages: 3,
            step: Some(100.0 / steps),
            ..MemoryOptions::default()
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

/// $D^{\alpha} y = f(y)$ with one order for each component.
struct Fractional {
    orders: Vec<f64>,
    start: Vec<Vec<(f64, f64)>>,
    rates: fn(&[f64], &mut [f64]),
    slopes: fn(&[f64], &mut [f64]),
}

impl MemorySystem for Fractional {
    fn unknowns(&self) -> usize {
        self.orders.len()
    }
    fn operands(&self) -> Vec<Operand> {
        let one =
            |k: usize| Operand { controlled: true, ..power(k, self.orders[k], &self.start[k]) };
        (0..self.orders.len()).map(one).collect()
    }
    fn residual(&mut self, _t: f64, x: &[f64], z: &[f64], out: &mut [f64]) -> Result<(), Halt> {
        (self.rates)(z, out);
        out.iter_mut().zip(x).for_each(|(o, x)| *o = x - *o);
        Ok(())
    }
    fn jacobian(
        &mut self,
        (_, _, z): (f64, &[f64], &[f64]),
        by_x: &mut [f64],
        by_z: &mut [f64],
    ) -> Result<(), Halt> {
        let n = self.orders.len();
        by_x.fill(0.0);
        (0..n).for_each(|k| by_x[k * n + k] = 1.0);
        (self.slopes)(z, by_z);
        by_z.iter_mut().for_each(|s| *s = -*s);
        Ok(())
    }
}

/// A run that goes no further than its tolerance: a longer first step, and iterations that end a hundred times below what is asked for.
fn loose(stages: usize, tolerance: f64) -> MemoryOptions {
    let first = if tolerance > 1e-6 { 1e-4 } else { 1e-10 };
    MemoryOptions { stages, tolerance, first, settled: 0.01, ..MemoryOptions::default() }
}

fn peers() {
    println!("(d) the problems of benches/peers/fractional.py");
    let linear: (Field, Field) = (|z, o| o[0] = -z[0], |_, s| s[0] = -1.0);
    for order in [0.3, 0.5, 0.7, 0.9, 1.2, 1.5, 1.8] {
        let name = if order < 1.0 { "relaxation" } else { "oscillator" };
        let start = vec![vec![(1.0, 0.0)]];
        let mut system =
            Fractional { orders: vec![order], start, rates: linear.0, slopes: linear.1 };
        let exact = pfaff_expr::special::mittag_leffler(order, 1.0, -libm::pow(10.0, order));
        for (stages, tolerance) in [(3, 1e-3), (4, 1e-3), (4, 1e-4), (4, 1e-8), (6, 1e-11)] {
            let options = MemoryOptions { t1: 10.0, ..loose(stages, tolerance) };
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
        MemoryOptions { t1: 50.0, stages: 8, tolerance: 1e-13, ..MemoryOptions::default() };
    let exact = integrate_memory(&mut brusselator, &fine, &mut ()).z;
    for (stages, tolerance) in
        [(2, 1e-1), (2, 1e-2), (4, 1e-3), (4, 1e-5), (4, 1e-8), (6, 1e-11)]
    {
        let options = MemoryOptions { t1: 50.0, ..loose(stages, tolerance) };
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
