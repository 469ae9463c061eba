//! The limits of a command: its time, its memory, and Ctrl-C.
//!
//! A thread looks every [`PAUSE`] whether a limit is reached. A run that can end early is asked to do so, and what it
//! has is printed; work that has no part to show is ended with a sentence, and so is a run that does not listen.
//! Ctrl-C does the same: during a run it ends the run, during other work the program. While an answer is written it
//! is only noted. A second one ends the program in any case. No way out leaves a temporary file behind.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;

use crate::fault::{self, Operation};
use crate::output::{Exit, say};

/// What a shell reports for a program that was ended by Ctrl-C: 128 + 2.
const ENDED_BY_INTERRUPT: i32 = 130;
/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(20);
/// Looks after which an answer that is waited for is late: 0.2 s.
const SOON: u64 = 10;
/// How long a run that was asked to end may take for its last step, in processor time, and on a machine that does other
/// things as well.
const LAST_STEP: Duration = Duration::from_millis(1500);
const BUSY: Duration = Duration::from_secs(10);
/// How long what a run has may take to be audited and written, beyond the limit itself once more.
const ANSWER: Duration = Duration::from_secs(5);

/// Limits of a command, and what a model may read.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArguments {
    /// Time limit in seconds: a run ends there with what it has, other work with a message (given ends: 60)
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = seconds)]
    pub(crate) seconds: Option<f64>,
    /// Memory limit, such as 500MB or 8GB; 2GB if not given
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) memory: Option<u64>,
    /// The model may read only files beside it; the default for `-`
    #[arg(long, overrides_with = "no_sandbox")]
    pub(crate) sandbox: bool,
    /// The model may read any file, even from standard input
    #[arg(long)]
    pub(crate) no_sandbox: bool,
}

/// What the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// What has no part to show: reading, deriving, searching.
    Work,
    /// A run that can end after any step.
    Run,
    /// What was computed is written.
    Answer,
}

/// The command that is watched.
static WATCHED: Mutex<Option<Watched>> = Mutex::new(None);
static GUARD: OnceLock<()> = OnceLock::new();
static PHASE: AtomicU8 = AtomicU8::new(Phase::Work as u8);
static ASKED: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Looks at an answer since it should be there.
static LATE: AtomicU64 = AtomicU64::new(0);
/// The memory of this program at the last look, in bytes; 0 where the system does not tell.
static RESIDENT: AtomicU64 = AtomicU64::new(0);
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

const DEFAULT_MEMORY: u64 = 2_000_000_000;

/// A command with its limits.
#[derive(Clone, Copy)]
struct Watched {
    limits: LimitArguments,
    begun: Instant,
    /// The processor time at which a run was asked to end by a limit.
    asked: Option<Duration>,
}

/// Begins to watch a command with these limits, instead of an earlier one.
pub(crate) fn watch(limits: LimitArguments) {
    let watched = Watched { limits, begun: Instant::now(), asked: None };
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    enter(Phase::Work);
    ASKED.store(false, Ordering::SeqCst);
    LATE.store(0, Ordering::SeqCst);
    GUARD.get_or_init(|| {
        let started = fault::injected(Operation::Thread).and_then(|()| {
            std::thread::Builder::new().name("guard".into()).spawn(|| {
                std::thread::sleep(PAUSE / 2);
                listen();
                loop {
                    look();
                    std::thread::sleep(PAUSE);
                }
            })
        });
        if let Err(error) = started {
            say(&format!(
                "warning: no thread can be started ({error}): limits of time and memory are not kept"
            ));
        }
    });
}

fn watched() -> Option<Watched> {
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn limits() -> LimitArguments {
    watched().map(|watched| watched.limits).unwrap_or_default()
}

/// The time limit, if one is given.
pub(crate) fn time_limit() -> Option<f64> {
    limits().seconds
}

/// Whether a model may read only what lies beside it.
pub(crate) fn is_sandboxed(from_standard_input: bool) -> bool {
    limits().sandbox || (from_standard_input && !limits().no_sandbox)
}

/// From here on the program does this.
pub(crate) fn enter(phase: Phase) {
    PHASE.store(phase as u8, Ordering::SeqCst);
}

/// Whether the run is to end. Who asks can end with what it has: work becomes a run, and a run that has heard it an
/// answer, because what it has must be audited.
pub(crate) fn is_asked_to_end() -> bool {
    let asked = ASKED.load(Ordering::Relaxed);
    let (from, to) =
        if asked { (Phase::Run, Phase::Answer) } else { (Phase::Work, Phase::Run) };
    let (from, to) = (from as u8, to as u8);
    if PHASE.load(Ordering::Relaxed) == from {
        // NOTE: it fails where another phase has begun meanwhile, which is right.
        let _ = PHASE.compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst);
    }
    asked
}

/// Whether a run was asked to end.
pub(crate) fn was_asked_to_end() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Whether an answer has been waited for: a run was ended, or Ctrl-C came, and [`SOON`] has passed since then. Parts of
/// an answer that take long are left out then.
pub(crate) fn is_late() -> bool {
    LATE.load(Ordering::Relaxed) >= SOON
}

/// Whether a server may take more memory: at most half of the limit, so that what one question takes does not end the
/// others.
pub(crate) fn has_memory() -> bool {
    RESIDENT.load(Ordering::Relaxed) < limits().memory.unwrap_or_else(default_memory) / 2
}

/// The most memory that this command may take, in bytes.
fn memory_limit() -> u64 {
    limits().memory.unwrap_or_else(default_memory).min(address_limit())
}

/// Whether a copy of so many bytes leaves a run the memory in which it can end.
pub(crate) fn has_room(bytes: usize) -> bool {
    RESIDENT.load(Ordering::Relaxed) + bytes as u64 <= memory_limit() / 4 * 3
}

/// The bytes of rows that wait to be written, at most.
pub(crate) fn waiting_room() -> usize {
    (memory_limit() / 10) as usize
}

/// A run holds so many bytes now: whoever grows fast is looked at more often than every [`PAUSE`].
pub(crate) fn holds(bytes: usize) {
    static SEEN: AtomicU64 = AtomicU64::new(0);
    let (bytes, seen) = (bytes as u64, SEEN.load(Ordering::Relaxed));
    if bytes < seen {
        SEEN.store(bytes, Ordering::Relaxed);
    } else if bytes - seen > memory_limit() / 64 {
        SEEN.store(bytes, Ordering::Relaxed);
        look();
    }
}

/// Remembers a file that must not outlive the program.
pub(crate) fn remember(temporary: PathBuf) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).push(temporary);
}

/// The file has got its name, or is gone.
pub(crate) fn forget(temporary: &PathBuf) {
    TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| path != temporary);
}

/// Removes temporary files and ends the program.
fn end(status: i32) -> ! {
    let files = std::mem::take(&mut *TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner));
    for file in files {
        let _ = std::fs::remove_file(file);
    }
    std::process::exit(status);
}

fn phase() -> Phase {
    match PHASE.load(Ordering::SeqCst) {
        0 => Phase::Work,
        1 => Phase::Run,
        _ => Phase::Answer,
    }
}

/// Listens to Ctrl-C, and to the signals by which a batch system ends a job.
fn listen() {
    let heard = || {
        let first = !INTERRUPTED.swap(true, Ordering::SeqCst);
        match phase() {
            Phase::Run if first => ASKED.store(true, Ordering::SeqCst),
            Phase::Answer if first => {
                say("note: the answer is being written; Ctrl-C once more ends the program");
            }
            Phase::Work | Phase::Run | Phase::Answer => end(ENDED_BY_INTERRUPT),
        }
    };
    // NOTE: where signals cannot be listened to, they end the program as they always did.
    let _ = ctrlc::set_handler(heard);
}

/// A file that grows beyond `ulimit -f` is an error of its write, like a full disk, and not the end of the program.
pub(crate) fn outlive_large_files() {
    #[cfg(unix)]
    {
        static NOTED: OnceLock<()> = OnceLock::new();
        NOTED.get_or_init(|| {
            let noted = std::sync::Arc::new(AtomicBool::new(false));
            // NOTE: where this cannot be, the program ends as it always did.
            let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, noted);
        });
    }
}

/// Looks whether a limit is reached.
fn look() {
    let Some(Watched { limits, begun, .. }) = watched() else { return };
    let elapsed = begun.elapsed();
    let is_over = limits.seconds.is_some_and(|limit| elapsed.as_secs_f64() > limit);
    let is_wanted = is_over || was_asked_to_end() || INTERRUPTED.load(Ordering::Relaxed);
    if is_wanted && phase() == Phase::Answer {
        LATE.fetch_add(1, Ordering::Relaxed);
    }
    if let Some(limit) = limits.seconds.map(Duration::from_secs_f64)
        && elapsed > limit
    {
        time_is_over(limit, elapsed);
    }
    let Some(Memory { resident, addresses }) = memory() else { return };
    RESIDENT.store(resident, Ordering::Relaxed);
    let limit = limits.memory.unwrap_or_else(default_memory);
    let allowed = address_limit();
    let is_ours = limits.memory.is_some() || limit == DEFAULT_MEMORY;
    memory_is_over(resident, limit, is_ours, "--memory allows more");
    memory_is_over(addresses, allowed, false, "`ulimit -v` sets it");
}

fn time_is_over(limit: Duration, elapsed: Duration) {
    let shown = limit.as_secs_f64();
    let allowed = match phase() {
        Phase::Work => limit,
        // On a busy machine a step gets less of the time than passes, and so does an answer.
        Phase::Run if took_since_asked() <= LAST_STEP => limit + BUSY,
        Phase::Run => limit + LAST_STEP,
        Phase::Answer if took_since_asked() <= limit + ANSWER => 2 * limit + ANSWER + BUSY,
        Phase::Answer => 2 * limit + ANSWER,
    };
    if elapsed <= allowed {
        ask(&format!("the time limit of {shown} s is over; --seconds allows more"));
        return;
    }
    say(&format!(
        "error: the time limit of {shown} s is over, and there is no answer yet; --seconds allows more"
    ));
    end(i32::from(Exit::StoppedEarly.status()));
}

/// The processor time since a run was asked to end.
fn took_since_asked() -> Duration {
    let asked = watched().and_then(|watched| watched.asked);
    asked.map_or(Duration::ZERO, |asked| processor_time().saturating_sub(asked))
}

/// The processor time of this program so far; where the system does not tell, the time since it is watched.
fn processor_time() -> Duration {
    let since = || watched().map_or(Duration::ZERO, |watched| watched.begun.elapsed());
    let ticks = || {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        // NOTE: the name before may have spaces and brackets of its own.
        let mut fields = text.rsplit(") ").next()?.split_whitespace().skip(11);
        let mut next = || fields.next()?.parse::<u64>().ok();
        Some(next()? + next()?)
    };
    // A tick is a hundredth of a second on every Linux.
    ticks().map_or_else(since, |ticks| Duration::from_millis(10 * ticks))
}

/// What a run has must still be audited and written, so it is asked to end at three quarters. An answer that is ended
/// is lost, and nothing comes after it, so that it may take all of what is our own limit and not the system's.
fn memory_is_over(used: u64, limit: u64, is_ours: bool, hint: &str) {
    let shown = limit as f64 / 1e9;
    // What no look sees in time fails, and ends the program without a word.
    let most = if is_ours && phase() == Phase::Answer { limit } else { limit - limit / 16 };
    if used >= most {
        say(&format!(
            "error: the memory limit of {shown} GB is reached, and there is no answer yet; {hint}"
        ));
        end(i32::from(Exit::StoppedEarly.status()));
    }
    if used > limit / 4 * 3 {
        ask(&format!("three quarters of the memory limit of {shown} GB are used; {hint}"));
    }
}

/// Asks a run to end, once.
fn ask(why: &str) {
    if phase() != Phase::Run {
        return;
    }
    let now = processor_time();
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(watched) = watched.as_mut()
        && watched.asked.is_none()
    {
        watched.asked = Some(now);
        ASKED.store(true, Ordering::SeqCst);
        say(&format!("note: {why}: the run ends here"));
    }
}

/// The memory of this program, in bytes.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// What it holds.
    resident: u64,
    /// What it has addresses for.
    addresses: u64,
}

/// The memory of this program, where the system tells it.
fn memory() -> Option<Memory> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let bytes = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(1024 * kilobytes)
    };
    Some(Memory { resident: bytes("VmRSS:")?, addresses: bytes("VmSize:")? })
}

/// 2 GB, or less where a container has less: beyond, the system would end the program without a word.
fn default_memory() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let files =
            ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        let read = |file: &&str| std::fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
        files.iter().find_map(read).map_or(DEFAULT_MEMORY, |most| DEFAULT_MEMORY.min(most))
    })
}

/// The addresses that `ulimit -v` leaves this program.
fn address_limit() -> u64 {
    static LIMIT: OnceLock<u64> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Max address space"));
        let soft = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        soft.unwrap_or(u64::MAX)
    })
}

/// A time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let value = text.trim().parse::<f64>().ok();
    value
        .filter(|s| *s > 0.0 && *s <= 1e9)
        .ok_or_else(|| "a time limit is a number of seconds above 0, such as 10".into())
}

/// `500MB`, `2GB`, or a number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("KB", 1e3), ("B", 1.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number, *unit)))
        .unwrap_or((text, 1.0));
    let value = number.trim().parse::<f64>().map(|x| x * unit).ok();
    value
        .filter(|x| (1e7..1e18).contains(x))
        .map(|x| x as u64)
        .ok_or_else(|| "a memory limit is a size of at least 10MB, such as 500MB or 2GB".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        assert_eq!(bytes("500MB"), Ok(500_000_000));
        assert_eq!(bytes(" 1.5 GB"), Ok(1_500_000_000));
        assert_eq!(bytes("30000000"), Ok(30_000_000));
        assert_eq!(seconds("0.5"), Ok(0.5));
        for bad in ["", "GB", "1MB", "-2GB", "nanGB", "1e30GB", "2TB"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
        for bad in ["", "0", "-1", "nan", "inf", "1e99"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_is_that_of_work() {
        let before = processor_time();
        let begun = Instant::now();
        std::thread::sleep(Duration::from_millis(50));
        let mut x = 1.0_f64;
        while processor_time() < before + Duration::from_millis(100) {
            x = std::hint::black_box(x * 1.000_1);
            assert!(begun.elapsed() < Duration::from_mins(1), "it does not pass");
        }
        assert!(begun.elapsed() > Duration::from_millis(50));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_what_the_program_holds() {
        let resident = || memory().expect("the system tells it").resident;
        let before = resident();
        let mut held = vec![0_u8; 50_000_000];
        held.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        let after = resident();
        // Other tests run beside this one.
        assert!(after > before + 25_000_000, "{before} {after}");
    }
}
