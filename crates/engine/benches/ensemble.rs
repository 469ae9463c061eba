//! Ensembles beside hand-written code: `cargo bench -p pfaff --bench ensemble [-- COUNT [PART]]`.
//!
//! So many sleighs (100 000) with other masses, offsets and starts to T = 10 at 1e-8, consistent starts, checks and a
//! second integration of each included: in turn with `benches/peers/ensemble.c`, which has eight lanes of vector
//! instructions around equations reduced by hand, and no checks. Then rattlebacks with an event and fractional
//! oscillators against single runs of the library. The smallest of some passes, one thread and two; for sleighs also
//! the smallest processor time, which other work on the machine changes less. PART is the first letter of one of the
//! three.
#![allow(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
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

fn values(i: usize, own: &mut [f64]) {
    let i = i as u64;
    own.copy_from_slice(&[
        0.5 + 1.5 * drawn(4 * i),
        0.2 + 1.8 * drawn(4 * i + 1),
        0.02 + 0.48 * drawn(4 * i + 2),
        0.2 + 1.8 * drawn(4 * i + 3),
    ]);
}

/// One pass over all motions.
struct Pass {
    seconds: f64,
    /// Seconds of all threads together.
    processor: f64,
    /// How many motions ran by themselves.
    single: usize,
}

fn pass(
    ensemble: &Ensemble<'_>,
    count: usize,
    threads: usize,
    values: &(dyn Fn(usize, &mut [f64]) + Sync),
    ends: &mut Vec<[f64; 3]>,
) -> Pass {
    const PART: usize = 2048;
    ends.clear();
    ends.resize(count, [0.0; 3]);
    let parts = Mutex::new(ends.chunks_mut(PART).enumerate());
    let clock = Instant::now();
    let work = || {
        let (begun, mut single) = (processor_time(), 0);
        loop {
            let next = parts.lock().expect("no panic").next();
            let Some((part, ends)) = next else {
                return (processor_time() - begun, single);
            };
            let first = part * PART;
            let some = ends.len();
            let mut done = |i: usize, motion: CaseMotion<'_>| match motion {
                CaseMotion::Lane(motion) => {
                    ends[i].iter_mut().zip(&motion.state).for_each(|(to, from)| *to = *from);
                }
                CaseMotion::Single(motion) => {
                    single += 1;
                    let motion = motion.expect("a motion");
                    let last = |k: usize| *motion.q[k].values.last().expect("a row");
                    for k in 0..motion.q.len().min(3) {
                        ends[i][k] = last(k);
                    }
                }
            };
            ensemble.run_cases(
                (first as u64, some),
                &mut |i, own| values(first + i, own),
                &|| true,
                &mut done,
            );
        }
    };
    let found: Vec<(f64, usize)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
    });
    let seconds = clock.elapsed().as_secs_f64();
    let processor = found.iter().map(|one| one.0).sum();
    Pass { seconds, processor, single: found.iter().map(|one| one.1).sum() }
}

/// Seconds that this thread has run.
fn processor_time() -> f64 {
    // NOTE: without it the time is that of the last tick.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let first = told.as_deref().and_then(|text| text.split_whitespace().next());
    first.and_then(|word| word.parse().ok()).map_or(f64::NAN, |ns: f64| 1e-9 * ns)
}

fn by_hand(program: &Path, count: usize, tolerance: &str, threads: usize) -> Option<Vec<f64>> {
    let file = program.with_extension("ends");
    let words = [count.to_string(), tolerance.into(), threads.to_string()];
    let answer = Command::new(program).args(words).arg(&file).output().ok()?;
    let text = String::from_utf8(answer.stdout).ok()?;
    let mut words = text.split_whitespace();
    let seconds: f64 = words.next()?.parse().ok()?;
    let processor: f64 = words.nth(1)?.parse().ok()?;
    let bytes = std::fs::read(file).ok()?;
    let (numbers, _) = bytes.as_chunks::<8>();
    let mut all = vec![seconds, processor];
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
    let wanted = |part: &str| words.get(1).is_none_or(|w| part.starts_with(w.as_str()));
    if wanted("sleighs") {
        sleighs(count);
    }
    if wanted("rattlebacks") {
        rattlebacks(count / 10);
    }
    if wanted("oscillators") {
        oscillators(count / 10);
    }
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
        let (mut ours, mut theirs) = ([f64::INFINITY; 2], [f64::INFINITY; 2]);
        let (mut single, mut hand) = (0, None);
        for _ in 0..7 {
            let pass = pass(&ensemble, count, threads, &values, &mut ends);
            ours = [ours[0].min(pass.seconds), ours[1].min(pass.processor)];
            single = pass.single;
            if let Some(program) = &program {
                hand = by_hand(program, count, "1e-8", threads);
                if let Some(all) = &hand {
                    theirs = [theirs[0].min(all[0]), theirs[1].min(all[1])];
                }
            }
        }
        by_threads[threads - 1] = ours[0];
        println!(
            "{threads} threads: {count} sleighs in {:.4} s, {:.3} M/s, {single} by themselves; by hand {:.4} s; \
             ratio of speeds {:.2}",
            ours[0],
            1e-6 * count as f64 / ours[0],
            theirs[0],
            theirs[0] / ours[0]
        );
        println!(
            "  processor time of a motion {:.3} us; by hand {:.3} us; ratio {:.2}",
            1e6 * ours[1] / count as f64,
            1e6 * theirs[1] / count as f64,
            theirs[1] / ours[1]
        );
        if let (Some(exact), Some(hand)) = (&exact, &hand) {
            let error = |at: &dyn Fn(usize, usize) -> f64| {
                let each = (0..count).flat_map(|i| (0..3).map(move |k| (i, k)));
                each.map(|(i, k)| {
                    let true_value = exact[2 + k * count + i];
                    (at(i, k) - true_value).abs() / (1.0 + true_value.abs())
                })
                .fold(0.0, f64::max)
            };
            println!(
                "  largest error of x, y, phi: {:.1e}; by hand {:.1e}",
                error(&|i, k| ends[i][k]),
                error(&|i, k| hand[2 + k * count + i])
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
    let value = |i: usize| spread.0 + (spread.1 - spread.0) * drawn(i as u64);
    let values = |i: usize, own: &mut [f64]| own[0] = value(i);
    let some = count.min(200);
    let clock = Instant::now();
    for i in 0..some {
        let set = Some(format!("{name}={:?}", value(i)));
        let overrides = Overrides { set, initial: None };
        let model = Model::read(source.clone(), &overrides, &GalleryFiles).expect("a model");
        model.run(&request).expect("a motion");
    }
    let loops = clock.elapsed().as_secs_f64() * count as f64 / some as f64;
    let Pass { seconds: one, single, .. } = pass(&ensemble, count, 1, &values, &mut Vec::new());
    let two = pass(&ensemble, count, 2, &values, &mut Vec::new()).seconds;
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
