//! How cost grows with the size of a system: `cargo xtask bench scale`.
//!
//! Each model of `benches/scale`, and the snake of the gallery, is run at several sizes, each in processes of its own:
//! the time of every stage, the time of one right-hand side, the peak memory, and beside each time its growth exponent
//! $\log(t_2/t_1)/\log(N_2/N_1)$ since the size before. Stages are measured in time of the processor where the system
//! tells it, so that other work counts less, and the least of five processes counts. Where there is a C compiler,
//! right-hand sides are compared with `chain.c` and `gas.c`, compiled in the same run. `cargo xtask bench scale chain
//! 100 200` runs one model at given sizes.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]
#![allow(clippy::print_stderr, reason = "a run that fails says so")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use pfaff::{Clock, GalleryFiles, Model, Overrides, PreparedRun, Run, Source, gallery_model};
use pfaff_present::ToJson;

/// A model with the parameter that is its size, and the sizes.
struct Problem {
    name: &'static str,
    size: &'static str,
    sizes: &'static [usize],
    /// What is written by hand, and how large it is for a size.
    rival: Option<&'static str>,
}

const PROBLEMS: [Problem; 6] = [
    Problem { name: "chain", size: "N", sizes: &[125, 250, 500, 1000], rival: Some("chain") },
    Problem { name: "rods", size: "N", sizes: &[125, 250, 500, 1000], rival: Some("chain") },
    Problem { name: "gas", size: "n", sizes: &[150, 300, 1000], rival: Some("gas") },
    Problem { name: "snake", size: "N", sizes: &[80, 160, 320], rival: None },
    Problem { name: "ring", size: "N", sizes: &[50, 100, 200], rival: None },
    Problem { name: "net", size: "N", sizes: &[8, 15, 30], rival: None },
];

/// How often each size is run.
const ROUNDS: usize = 5;

/// Seconds of each stage, seconds of a right-hand side, and megabytes.
const STAGES: [&str; 8] =
    ["read", "derive", "compile", "integrate", "evaluation", "audit", "present", "memory"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    match &words[..] {
        [word, name, size] if word == "one" => one(name, size),
        [name, sizes @ ..] => {
            let sizes: Vec<usize> = sizes.iter().filter_map(|s| s.parse().ok()).collect();
            let wanted = PROBLEMS.iter().filter(|p| p.name == name);
            wanted.for_each(|p| table(p, if sizes.is_empty() { p.sizes } else { &sizes }));
        }
        [] => PROBLEMS.iter().for_each(|p| table(p, p.sizes)),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/scale")
}

/// One size in this process: the numbers of [`STAGES`] on one line.
fn one(name: &str, set: &str) {
    let clock = Clock(processor_time);
    let text = match std::fs::read_to_string(folder().join(format!("{name}.pfaff"))) {
        Ok(text) => text,
        Err(_) => gallery_model(name).expect("a model of the gallery").text.to_owned(),
    };
    let overrides = Overrides { set: Some(set.to_owned()), ..Overrides::default() };
    let begin = processor_time();
    let model = Model::read(Source::new(name, &text), &overrides, &GalleryFiles)
        .expect("a right model");
    let read = processor_time() - begin;
    let request = Run { t1: Some(0.1), clock: Some(clock), ..Run::default() };
    let motion = model.run(&request).expect("a motion");
    assert!(!motion.stop.reason.is_early(), "{} stopped at t = {}", name, motion.stop.t);
    let begin = processor_time();
    let shown = motion.to_json_line().len();
    let present = processor_time() - begin;
    assert!(shown > 0);
    let mut prepared = PreparedRun::new(&model, &request).expect("a start");
    let s = &motion.statistics;
    let seconds = [
        read,
        1e-6 * s.derive_us,
        1e-6 * s.compile_us,
        1e-6 * s.integrate_us / s.evaluations as f64,
        evaluation(&mut prepared),
        1e-6 * s.audit_us / s.steps as f64,
        present,
        peak(),
    ];
    println!("{}", seconds.map(|x| format!("{x:e}")).join(" "));
}

/// Seconds that the processor worked for this process.
#[cfg(unix)]
#[allow(unsafe_code, reason = "the standard library of Rust has no such clock, that of C has")]
fn processor_time() -> f64 {
    // SAFETY: the function of the standard library of C, which takes nothing and can be called at any time.
    unsafe extern "C" {
        safe fn clock() -> std::ffi::c_long;
    }
    // POSIX has a million ticks a second on every system.
    1e-6 * clock() as f64
}

/// Seconds of the clock.
#[cfg(not(unix))]
fn processor_time() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}

/// The smallest time of a right-hand side.
fn evaluation(prepared: &mut PreparedRun) -> f64 {
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    while begin.elapsed().as_secs_f64() < 0.5 {
        let start = Instant::now();
        prepared.evaluate();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

/// Megabytes of memory at the most, where the system says so.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
    kilobytes.map_or(f64::NAN, |k: f64| k / 1024.0)
}

fn table(problem: &Problem, sizes: &[usize]) {
    println!(
        "\n{}: milliseconds and growth exponents; integrate is that of an evaluation, audit that of a step",
        problem.name
    );
    print!("{:>6}", problem.size);
    STAGES.iter().for_each(|stage| print!("{stage:>19}"));
    println!("{:>12}", if problem.rival.is_some() { "by hand" } else { "" });
    let mut before: Option<(usize, Vec<f64>)> = None;
    // Sizes in turn: what else the machine does meets all of them.
    let rounds: Vec<Vec<Option<Vec<f64>>>> =
        (0..ROUNDS).map(|_| sizes.iter().map(|&n| measured(problem, n)).collect()).collect();
    for (place, &size) in sizes.iter().enumerate() {
        let runs = rounds.iter().filter_map(|round| round[place].clone());
        let least = runs.reduce(|a, b| a.iter().zip(&b).map(|(x, y)| x.min(*y)).collect());
        let Some(found) = least else { continue };
        print!("{size:>6}");
        for (k, &x) in found.iter().enumerate() {
            let growth = before.as_ref().map_or(f64::NAN, |(other, found)| {
                libm::log(x / found[k]) / libm::log(size as f64 / *other as f64)
            });
            let shown = if k + 1 < found.len() { 1e3 * x } else { x };
            let growth = if growth.is_nan() { String::new() } else { format!("({growth:.1})") };
            print!("{:>12}{growth:>7}", short(shown));
        }
        if let Some(rival) = problem.rival
            && let Some(by_hand) = by_hand(rival, size)
        {
            print!("{:>12}  ×{:.1}", short(1e3 * by_hand), found[4] / by_hand);
        }
        println!();
        before = Some((size, found));
    }
}

/// Three digits.
fn short(x: f64) -> String {
    let digits = (2 - libm::floor(libm::log10(x.abs().max(1e-9))) as i32).clamp(0, 6);
    format!("{x:.0$}", digits as usize)
}

/// The numbers of one size, from a process of its own.
fn measured(problem: &Problem, size: usize) -> Option<Vec<f64>> {
    let this = std::env::current_exe().ok()?;
    let set = format!("{}={size}", problem.size);
    let output = Command::new(this).args(["one", problem.name, &set]).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|x| x.parse().ok()).collect();
    if numbers.len() != STAGES.len() {
        let why = String::from_utf8_lossy(&output.stderr);
        eprintln!("{} with {set}: {}", problem.name, why.trim());
        return None;
    }
    Some(numbers)
}

/// Seconds of a right-hand side written by hand.
fn by_hand(rival: &str, size: usize) -> Option<f64> {
    let source = folder().join(format!("{rival}.c"));
    let program =
        std::env::temp_dir().join(format!("pfaff_scale_{rival}_{}", std::process::id()));
    let flags: &[&str] = if rival == "gas" { &["-ffast-math"] } else { &[] };
    let compiled = Command::new("cc")
        .args(["-O3", "-march=native"])
        .args(flags)
        .arg(source)
        .args(["-lm", "-o"])
        .arg(&program)
        .stderr(Stdio::null())
        .status();
    let output = compiled
        .ok()
        .filter(std::process::ExitStatus::success)
        .and_then(|_| Command::new(&program).arg(size.to_string()).output().ok());
    let _ = std::fs::remove_file(&program);
    let text = String::from_utf8_lossy(&output?.stdout).into_owned();
    let (_, rest) = text.split_once(": ")?;
    let nanoseconds: f64 = rest.split_once(" ns")?.0.parse().ok()?;
    Some(1e-9 * nanoseconds)
}
