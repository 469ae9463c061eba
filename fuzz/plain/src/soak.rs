//! Long use of one process: requests one after another, runs at once in threads, many steps. Memory must not grow, and
//! the same request must give the same bits, whatever came before and whatever runs beside.

use std::process::ExitCode;
use std::sync::Barrier;

use pfaff::{
    GALLERY, GalleryFiles, GalleryModel, Method, Model, Motion, Overrides, Run, Source,
};

/// Growth that is allowed after the first tenth: what the allocator keeps of uneven requests.
const GROWTH: u64 = 16 << 20;

/// So many requests as a service has them: a text is read, derived, run and audited, and all is dropped. Every model of
/// the gallery that is not large and has no given ends takes its turn.
pub(crate) fn service(requests: u64) -> ExitCode {
    let models = quick();
    let mut first = vec![None; models.len()];
    let (mut early, mut different) = (0, 0);
    for request in 0..requests {
        let at = request as usize % models.len();
        let bits = answer(models[at].text);
        match first[at] {
            None => first[at] = Some(bits),
            Some(known) => different += u64::from(known != bits),
        }
        if request == requests / 10 {
            early = resident();
        }
        if requests >= 10 && request.is_multiple_of(requests / 10) {
            println!("{request} requests: {} kB", resident() / 1024);
        }
    }
    let grown = resident().saturating_sub(early);
    println!(
        "{requests} requests: {} kB, {} kB more than after a tenth of them; {different} answers differ from the first",
        resident() / 1024,
        grown / 1024
    );
    ExitCode::from(u8::from(grown > GROWTH || different > 0))
}

/// So many runs at once, each in a thread of its own; all give the bits of a run alone.
pub(crate) fn threads(count: usize) -> ExitCode {
    let models = quick();
    let alone: Vec<u64> = models.iter().map(|model| answer(model.text)).collect();
    let barrier = Barrier::new(count);
    let different: usize = std::thread::scope(|scope| {
        let start = |i: usize| {
            let (models, alone, barrier) = (&models, &alone, &barrier);
            let run = move || {
                let at = i % models.len();
                barrier.wait();
                usize::from(answer(models[at].text) != alone[at])
            };
            std::thread::Builder::new()
                .spawn_scoped(scope, run)
                .expect("threads can be started")
        };
        let started: Vec<_> = (0..count).map(start).collect();
        started.into_iter().map(|thread| thread.join().unwrap_or(1)).sum()
    });
    println!(
        "{count} runs at once: {different} differ from the same run alone; {} kB",
        resident() / 1024
    );
    ExitCode::from(u8::from(different > 0))
}

/// So many steps of one run with a fixed step.
pub(crate) fn steps(count: usize) -> ExitCode {
    let text = "coordinates x\nlagrangian x'^2/2 + cos(x)\ninitial x = 1\n";
    let model = Model::parse(text).expect("a pendulum");
    let step = 0.01;
    let request = Run {
        step: Some(step),
        max_steps: Some(count + 1),
        samples: Some(2),
        outputs_only: true,
        ..Run::to(step * count as f64).method(Method::Rk4)
    };
    let (mut early, mut late) = (0, 0);
    let motion = pfaff::run(&model, &request, &mut |_, steps| {
        if steps == count / 100 {
            early = resident();
        }
        if steps.is_multiple_of((count / 10).max(1)) {
            late = resident();
            println!("{steps} steps: {} kB", late / 1024);
        }
        true
    });
    let motion = motion.expect("it can begin");
    println!(
        "{} steps, {}: {} kB more than after a hundredth",
        motion.statistics.steps,
        motion.stop.reason.name(),
        late.saturating_sub(early) / 1024
    );
    ExitCode::from(u8::from(late.saturating_sub(early) > GROWTH / 16))
}

/// The models of the gallery that are not large and have no given ends, between which searches take seconds.
fn quick() -> Vec<&'static GalleryModel> {
    let is_quick = |model: &&GalleryModel| !model.is_large() && !model.text.contains("\nfinal");
    GALLERY.iter().filter(is_quick).collect()
}

/// A short run of a text, as one number that any other bit would change.
fn answer(text: &str) -> u64 {
    let model = Model::read(Source::new("service", text), &Overrides::default(), &GalleryFiles);
    let Ok(model) = model else { return 1 };
    let request = Run { max_steps: Some(40), samples: Some(9), ..Run::default() };
    match pfaff::run(&model, &request, &mut |_, _| true) {
        Ok(motion) => digest(&motion),
        Err(_) => 2,
    }
}

fn digest(motion: &Motion) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let columns = motion.columns();
    let checks = motion.audit.checks.iter().map(|check| check.value);
    for value in columns.iter().flat_map(|(_, values)| values.iter().copied()).chain(checks) {
        sum = (sum ^ value.to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 29;
    }
    sum
}

/// The memory of this process in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or_default() * 1024
}
