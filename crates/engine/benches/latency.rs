//! From text to the end of the motion, stage by stage: `cargo bench -p pfaff --bench latency`.
//!
//! Microseconds: the first run of the process, which finds neither code nor memory in its caches, and the
//! smallest of many. `read` is the text to a model, `derive` the model to (K), `compile` everything up to the
//! first step: programs, reduction, machine code and a consistent start. The sum is what `pfaff run` tells.
//! `benches/peers/trajectories.py` runs the same problems beside other tools;
//! it gives the program of this benchmark a file, an end and a tolerance, and this one problem is run instead.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

#[allow(dead_code, reason = "only the texts are used here")]
#[path = "reduction/common.rs"]
mod common;

use std::sync::LazyLock;
use std::time::Instant;

use pfaff::{
    Clock, GalleryFiles, Model, Motion, Overrides, Run, Source, Statistics, gallery_model,
};

struct Problem<'a> {
    name: &'a str,
    text: &'a str,
    set: Option<&'a str>,
    initial: Option<&'a str>,
    t1: f64,
    tolerance: f64,
}

fn main() {
    let rattleback = gallery_model("rattleback").expect("built in").text;
    let problems = [
        Problem {
            name: "sleigh",
            text: common::SLEIGH,
            set: Some("J = 1, a = 0.05"),
            initial: Some("x' = -0.9, phi' = 0.4"),
            t1: 100.0,
            tolerance: 1e-10,
        },
        Problem {
            name: "disk",
            text: common::DISK,
            set: Some("beta = 0.3"),
            initial: Some("x' = 0.5, th' = 1, phi' = 0.7"),
            t1: 100.0,
            tolerance: 1e-10,
        },
        Problem {
            name: "ball in a bowl",
            text: common::BALL,
            set: None,
            initial: Some(
                "x = 0.6, y = 0.1, z = 0.094, psi = 0.3, theta = 1.3, \
                 psi' = 1.0321917090487966, theta' = 1.2075495012924942, phi' = -1.2418436026686328",
            ),
            t1: 20.0,
            tolerance: 1e-10,
        },
        Problem {
            name: "rattleback",
            text: rattleback,
            set: None,
            initial: None,
            t1: 5.0,
            tolerance: 1e-11,
        },
    ];
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    let given = match &words[..] {
        [file, t1, tolerance] => {
            let text = std::fs::read_to_string(file).expect("a model file");
            Some((text, t1.parse().expect("an end"), tolerance.parse().expect("a tolerance")))
        }
        _ => None,
    };
    let problems = match &given {
        Some((text, t1, tolerance)) => {
            let (t1, tolerance) = (*t1, *tolerance);
            vec![Problem { name: "given", text, set: None, initial: None, t1, tolerance }]
        }
        None => Vec::from(problems),
    };
    println!(
        "{:<26}{:>8}{:>9}{:>9}{:>11}{:>8}{:>9}{:>9}",
        "microseconds", "read", "derive", "compile", "integrate", "audit", "sum", "steps"
    );
    for problem in problems {
        let (read_us, first) = run(&problem);
        print(&format!("{}, first", problem.name), read_us, &first);
        let (mut best, mut seconds) = ((read_us, first), 0.0);
        let clock = Instant::now();
        while seconds < 1.0 {
            let next = run(&problem);
            if sum(next.0, &next.1) < sum(best.0, &best.1) {
                best = next;
            }
            seconds = clock.elapsed().as_secs_f64();
        }
        print("    best", best.0, &best.1);
    }
}

fn run(problem: &Problem<'_>) -> (f64, Statistics) {
    let overrides = Overrides {
        set: problem.set.map(str::to_owned),
        initial: problem.initial.map(str::to_owned),
    };
    let source = Source::new(problem.name, problem.text);
    let begun = seconds();
    let model = Model::read(source, &overrides, &GalleryFiles).expect("the text is right");
    let read_us = (seconds() - begun) * 1e6;
    let request = Run {
        t1: Some(problem.t1),
        tolerance: Some(problem.tolerance),
        samples: Some(2),
        outputs_only: true,
        clock: Some(Clock(seconds)),
        ..Run::default()
    };
    let motion = pfaff::run(&model, &request, &mut |_, _| true);
    let Motion { statistics, .. } = motion.expect("the model is right");
    (read_us, statistics)
}

/// Seconds since the benchmark began.
fn seconds() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed().as_secs_f64()
}

fn sum(read_us: f64, s: &Statistics) -> f64 {
    read_us + s.derive_us + s.compile_us + s.integrate_us + s.audit_us
}

fn print(name: &str, read_us: f64, s: &Statistics) {
    println!(
        "{name:<26}{read_us:>8.0}{:>9.0}{:>9.0}{:>11.0}{:>8.0}{:>9.0}{:>9}",
        s.derive_us,
        s.compile_us,
        s.integrate_us,
        s.audit_us,
        sum(read_us, s),
        s.steps
    );
}
