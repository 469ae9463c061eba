//! Ensembles beside hand-written code: `cargo bench -p pfaff --bench ensemble [-- COUNT]`.
//!
//! So many sleighs (100 000) with other masses, offsets and starts to T = 10 at 1e-8, consistent starts, checks and a
//! second integration of each included: in turn with `benches/peers/ensemble.c`, which has eight lanes of vector
//! instructions around equations reduced by hand, and no checks. Then rattlebacks with an event and fractional
//! oscillators against single runs of the library. The smallest of some passes, one thread and two.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use pfaff::{
    CaseMotion, Cases, Ensemble, GalleryFiles, Model, Overrides, Run, Source, gallery_model,
};

const SLEIGH: &str = "
coordinates  x, y, phi
parameters   m = 1, J = 1, a = 0.05
lagrangian   m*((x' - a*phi'*sin(phi))^2 + (y' + a*phi'*cos(phi))^2)/2 + J*phi'^2/2
constraint   blade: y'*cos(phi) - x'*sin(phi) = 0
initial      x' = -0.5, phi' = 0.4
solve        t = 0..10, tolerance = 1e-8
";

/// The same numbers as in the program beside.
fn drawn(i: u64) -> f64 {
    let mut z = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    (z >> 11) as f64 / 9_007_199_254_740_992.0
}

fn values(i: usize) -> Vec<f64> {
    let i = i as u64;
    vec![
        0.5 + 1.5 * drawn(4 * i),
        0.2 + 1.8 * drawn(4 * i + 1),
        0.02 + 0.48 * drawn(4 * i + 2),
        0.2 + 1.8 * drawn(4 * i + 3),
    ]
}

/// What a thread found: the values of each case, and how many ran by themselves.
type Part = (Vec<(usize, [f64; 3])>, usize);

/// Seconds of one pass over all motions, and how many ran by themselves.
fn pass(
    ensemble: &Ensemble<'_>,
    count: usize,
    threads: usize,
    values: &(dyn Fn(usize) -> Vec<f64> + Sync),
    ends: &mut Vec<[f64; 3]>,
) -> (f64, usize) {
    const PART: usize = 2048;
    let next = AtomicUsize::new(0);
    let clock = Instant::now();
    let work = || {
        let (mut found, mut single) = (Vec::new(), 0);
        loop {
            let first = next.fetch_add(PART, Ordering::Relaxed);
            if first >= count {
                return (found, single);
            }
            let some = PART.min(count - first);
            let mut done = |i: usize, motion: CaseMotion| match motion {
                CaseMotion::Lane(motion) => {
                    found
                        .push((first + i, [motion.state[0], motion.state[1], motion.state[2]]));
                }
                CaseMotion::Single(motion) => {
                    single += 1;
                    let motion = motion.expect("a motion");
                    let last = |k: usize| *motion.q[k].values.last().expect("a row");
                    let third = if motion.q.len() > 2 { last(2) } else { 0.0 };
                    let second = if motion.q.len() > 1 { last(1) } else { 0.0 };
                    found.push((first + i, [last(0), second, third]));
                }
            };
            ensemble.run_cases(
                (first as u64, some),
                &mut |i| values(first + i),
                &|| true,
                &mut done,
            );
        }
    };
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    let seconds = clock.elapsed().as_secs_f64();
    ends.resize(count, [0.0; 3]);
    for (case, end) in parts.iter().flat_map(|part| &part.0) {
        ends[*case] = *end;
    }
    (seconds, parts.iter().map(|part| part.1).sum())
}

fn by_hand(program: &Path, count: usize, tolerance: &str, threads: usize) -> Option<Vec<f64>> {
    let file = program.with_extension("ends");
    let words = [count.to_string(), tolerance.into(), threads.to_string()];
    let answer = Command::new(program).args(words).arg(&file).output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    let bytes = std::fs::read(file).ok()?;
    let (numbers, _) = bytes.as_chunks::<8>();
    let mut all = vec![seconds];
    all.extend(numbers.iter().map(|b| f64::from_le_bytes(*b)));
    Some(all)
}

fn compiled() -> Option<std::path::PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers/ensemble.c");
    let program = std::env::temp_dir().join(format!("ensemble-{}", std::process::id()));
    let flags = [
        "-O3",
        "-march=native",
        "-mprefer-vector-width=512",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-ffp-contract=fast",
        "-o",
    ];
    let mut gcc = Command::new("gcc");
    let status = gcc.args(flags).arg(&program).arg(source).args(["-lm", "-lpthread"]).status();
    let status = status.ok()?;
    status.success().then_some(program)
}

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|w| !w.starts_with("--")).collect();
    let count = words.first().and_then(|w| w.parse().ok()).unwrap_or(100_000);
    sleighs(count);
    rattlebacks(count / 10);
    oscillators(count / 10);
}

fn sleighs(count: usize) {
    let cases = Cases::default().vary("m=1..2:2, J=1..2:2, a=0.1..0.2:2, phi'=1..2:2");
    let cases = cases.expect("ranges");
    let source = Source::new("sleigh", SLEIGH);
    let request = Run { samples: Some(2), ..Run::to(10.0) };
    let ensemble = Ensemble::new(source, Overrides::default(), &GalleryFiles, &cases, request)
        .expect("it");
    println!("sleighs: lanes {}", ensemble.has_lanes());
    let program = compiled();
    let exact = program.as_ref().and_then(|p| by_hand(p, count, "1e-13", 1));
    let mut ends = Vec::new();
    let mut by_threads = [0.0; 2];
    for threads in [1, 2] {
        let (mut ours, mut theirs, mut single) = (f64::INFINITY, f64::INFINITY, 0);
        let mut hand = None;
        for _ in 0..7 {
            let (seconds, alone) = pass(&ensemble, count, threads, &values, &mut ends);
            (ours, single) = (ours.min(seconds), alone);
            if let Some(program) = &program {
                hand = by_hand(program, count, "1e-8", threads);
                theirs = theirs.min(hand.as_ref().map_or(f64::INFINITY, |all| all[0]));
            }
        }
        by_threads[threads - 1] = ours;
        println!(
            "{threads} threads: {count} sleighs in {ours:.4} s, {:.3} M/s, {single} by themselves; \
             by hand {theirs:.4} s; \
             ratio of speeds {:.2}",
            1e-6 * count as f64 / ours,
            theirs / ours
        );
        if let (Some(exact), Some(hand)) = (&exact, &hand) {
            let error = |at: &dyn Fn(usize, usize) -> f64| {
                let each = (0..count).flat_map(|i| (0..3).map(move |k| (i, k)));
                each.map(|(i, k)| {
                    let true_value = exact[1 + k * count + i];
                    (at(i, k) - true_value).abs() / (1.0 + true_value.abs())
                })
                .fold(0.0, f64::max)
            };
            println!(
                "  largest error of x, y, phi: {:.1e}; by hand {:.1e}",
                error(&|i, k| ends[i][k]),
                error(&|i, k| hand[1 + k * count + i])
            );
        }
    }
    println!("two threads are {:.2} times as fast as one", by_threads[0] / by_threads[1]);
}

/// Against single runs of the library, of which a part is timed.
fn against_runs(
    what: &str,
    text: &str,
    name: &'static str,
    spread: (f64, f64),
    (count, request): (usize, Run),
) {
    let cases = Cases::default().vary(&format!("{name}={}..{}:2", spread.0, spread.1));
    let source = Source::new(what, text);
    let ensemble = Ensemble::new(
        source.clone(),
        Overrides::default(),
        &GalleryFiles,
        &cases.expect("a range"),
        request.clone(),
    );
    let ensemble = ensemble.expect("a model");
    let value = |i: usize| vec![spread.0 + (spread.1 - spread.0) * drawn(i as u64)];
    let some = count.min(200);
    let clock = Instant::now();
    for i in 0..some {
        let set = Some(format!("{name}={:?}", value(i)[0]));
        let overrides = Overrides { set, initial: None };
        let model = Model::read(source.clone(), &overrides, &GalleryFiles).expect("a model");
        model.run(&request).expect("a motion");
    }
    let loops = clock.elapsed().as_secs_f64() * count as f64 / some as f64;
    let (one, single) = pass(&ensemble, count, 1, &value, &mut Vec::new());
    let (two, _) = pass(&ensemble, count, 2, &value, &mut Vec::new());
    println!(
        "{count} {what}: {one:.3} s on one thread (lanes {}, {single} by themselves), {two:.3} s on two; a loop over \
         runs {loops:.2} s: {:.1} and {:.1} times as fast",
        ensemble.has_lanes(),
        loops / one,
        loops / two
    );
}

fn rattlebacks(count: usize) {
    let text = gallery_model("rattleback").expect("it is there").text;
    let request = Run { samples: Some(2), ..Run::to(5.0).tolerance(1e-8) };
    against_runs("rattlebacks", text, "spin0", (-6.0, -4.0), (count, request));
}

const OSCILLATOR: &str = "
coordinates  x
parameters   k = 1, c = 0.3
lagrangian   x'^2/2 - k*x^2/2
force        x: -c*caputo(x, 0.5)
initial      x = 1
solve        t = 0..5, tolerance = 1e-8
";

fn oscillators(count: usize) {
    let request = Run { samples: Some(2), ..Run::default() };
    let spread = (0.9, 1.1);
    against_runs("fractional oscillators", OSCILLATOR, "k", spread, (count, request));
}
