//! Plain loops on stable: a target, a count and a seed → how many cases failed, hung or had no answer in time.
//!
//! A process of its own works through the cases and notes how far it came. If it dies or stands still, the case is
//! named, and another process goes on after it. Panics are caught there and told with their input.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::{TARGETS, Target, scratch, soak, target};

/// A case that takes more time of a processor hangs.
const PATIENCE: Duration = Duration::from_mins(1);
/// A case that takes longer without using a processor waits for something that never comes.
const STANDSTILL: Duration = Duration::from_mins(30);
/// The status of a process whose panics were told.
const FAULTY: i32 = 101;
/// The status of a command that had no answer at its limit.
const NO_ANSWER: i32 = 3;

/// The program `pfaff-fuzz`: `TARGET COUNT SEED`, or `TARGET FILE…` for inputs that are kept.
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |text: &str| text.parse::<u64>().ok();
    match words.as_slice() {
        ["--child", name, seed, from, to, every, log] => {
            let numbers = [seed, from, to, every].map(|text| number(text).unwrap_or_default());
            let Some(target) = target(name) else { return ExitCode::from(2) };
            child(target, numbers, Path::new(log))
        }
        ["--service", count] => soak::service(number(count).unwrap_or(1000)),
        ["--threads", count] => soak::threads(number(count).unwrap_or(100) as usize),
        ["--steps", count] => soak::steps(number(count).unwrap_or(100_000) as usize),
        ["--shown", name, file] => shown(name, file),
        ["--replay", name, files @ ..] => replay(name, files),
        [name, count, seed] if target(name).is_some() => {
            let (Some(target), Some(count), Some(seed)) =
                (target(name), number(count), number(seed))
            else {
                return help();
            };
            let end = Loop { target, seed, count }.run();
            if end { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        _ => help(),
    }
}

fn help() -> ExitCode {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    println!(
        "pfaff-fuzz TARGET COUNT SEED\npfaff-fuzz --replay TARGET FILE…\n\
         pfaff-fuzz --service REQUESTS | --threads RUNS | --steps STEPS\ntargets: {}",
        names.join(", ")
    );
    ExitCode::from(2)
}

/// A loop over the cases of a seed.
struct Loop {
    target: &'static Target,
    seed: u64,
    count: u64,
}

/// How a process of the loop ended.
enum End {
    /// All cases are done; how many panicked.
    Done(u64),
    /// It died in a case, with this status; none if a signal ended it.
    Died(u64, Option<i32>),
    /// It stood still in a case.
    Hung(u64),
}

#[derive(Default)]
struct Faults {
    panics: u64,
    deaths: u64,
    hangs: u64,
    silent: u64,
}

impl Loop {
    fn run(&self) -> bool {
        let begun = Instant::now();
        let mut faults = Faults::default();
        let (mut from, mut every) = (0, self.target.every);
        let mut block_end = self.count;
        while from < self.count {
            match self.process(from, block_end, every) {
                End::Done(panics) => {
                    faults.panics += panics;
                    (from, block_end, every) = (block_end, self.count, self.target.every);
                }
                // NOTE: somewhere among these; they are done again one by one.
                End::Died(at, _) | End::Hung(at) if every > 1 => {
                    (from, block_end, every) = (at, (at + every).min(self.count), 1);
                }
                End::Died(at, Some(NO_ANSWER)) => {
                    faults.silent += 1;
                    self.tell("no answer in time", at);
                    from = at + 1;
                }
                End::Died(at, _) => {
                    faults.deaths += 1;
                    self.tell("died", at);
                    from = at + 1;
                }
                End::Hung(at) => {
                    faults.hangs += 1;
                    self.tell("hangs", at);
                    from = at + 1;
                }
            }
            if from >= block_end {
                (block_end, every) = (self.count, self.target.every);
            }
        }
        let Faults { panics, deaths, hangs, silent } = faults;
        println!(
            "{}: {} cases of seed {} in {:.0} s: {panics} panics, {deaths} deaths, {hangs} hangs, \
             {silent} without an answer in time",
            self.target.name,
            self.count,
            self.seed,
            begun.elapsed().as_secs_f64()
        );
        panics + deaths + hangs == 0
    }

    fn tell(&self, what: &str, case: u64) {
        let input = self.target.case(self.seed, case);
        println!(
            "{what}: {} seed {} case {case}\n{}",
            self.target.name,
            self.seed,
            readable(self.target, &input)
        );
    }

    /// Works through some cases in a process of its own.
    fn process(&self, from: u64, to: u64, every: u64) -> End {
        let log = std::env::temp_dir().join(format!("pfaff-fuzz-{}.log", std::process::id()));
        let place = at_path(&log);
        let _ = fs::remove_file(&log);
        let _ = fs::remove_file(&place);
        let program = std::env::current_exe().expect("this program has a place");
        let numbers = [self.seed, from, to, every].map(|n| n.to_string());
        let mut child = Command::new(program)
            .args(["--child", self.target.name])
            .args(numbers)
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts again");
        let status = watch(&mut child, &place);
        let at = position(&place).unwrap_or(from);
        let _ = fs::remove_dir_all(scratch::path(child.id()));
        let told = fs::read_to_string(&log).unwrap_or_default();
        let _ = fs::remove_file(&log);
        let _ = fs::remove_file(&place);
        // What a process told that was ended in a block is told again one by one.
        if every == 1 || matches!(status, Some(Some(0 | FAULTY))) {
            print!("{told}");
        }
        match status {
            Some(Some(0)) => End::Done(0),
            Some(Some(FAULTY)) => End::Done(told.matches("\npanic: ").count() as u64),
            Some(status) => End::Died(at, status),
            None => End::Hung(at),
        }
    }
}

/// Waits for the end of a process; none if it stands still, and is ended.
fn watch(child: &mut Child, place: &Path) -> Option<Option<i32>> {
    let (mut last, mut since, mut used) = (None, Instant::now(), Duration::ZERO);
    let id = child.id();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.code());
        }
        let now = position(place);
        // NOTE: on a busy machine it may be stopped for minutes, so its own time counts.
        let time = processor_time(id).unwrap_or_else(|| since.elapsed());
        if now != last {
            (last, since, used) = (now, Instant::now(), time);
        } else if time.saturating_sub(used) > PATIENCE || since.elapsed() > STANDSTILL {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The time of a processor that a process has used, where the system tells it.
fn processor_time(process: u32) -> Option<Duration> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    // Linux counts hundredths of a second here, whatever its clock does.
    Some(Duration::from_millis(10 * ticks))
}

fn at_path(log: &Path) -> PathBuf {
    log.with_extension("at")
}

fn position(place: &Path) -> Option<u64> {
    let mut bytes = [0; 8];
    File::open(place).ok()?.read_exact(&mut bytes).ok()?;
    Some(u64::from_le_bytes(bytes))
}

/// The cases of a process.
fn child(target: &Target, [seed, from, to, every]: [u64; 4], log: &Path) -> ExitCode {
    let mut place = File::create(at_path(log)).expect("a temporary file");
    quiet();
    let mut panics = 0;
    let mut slowest = (Duration::ZERO, from);
    let mut begun = Instant::now();
    let mut input = Vec::new();
    for case in from..to {
        if (case - from).is_multiple_of(every) {
            let done = place
                .seek(SeekFrom::Start(0))
                .and_then(|_| place.write_all(&case.to_le_bytes()));
            done.expect("a temporary file");
            if begun.elapsed() > slowest.0 {
                slowest = (begun.elapsed(), case.saturating_sub(every));
            }
            begun = Instant::now();
        }
        target.draw(seed, case, &mut input);
        if panic::catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).is_err() {
            panics += 1;
            let why = LAST.lock().map(|last| last.clone()).unwrap_or_default();
            note(
                log,
                &format!(
                    "\npanic: {} seed {seed} case {case}: {why}\n{}\n",
                    target.name,
                    readable(target, &input)
                ),
            );
        }
    }
    let (time, case) = slowest;
    note(
        log,
        &format!("slowest: {:.3} s from case {case}; {} MB\n", time.as_secs_f64(), memory()),
    );
    let _ = fs::remove_dir_all(scratch::path(std::process::id()));
    ExitCode::from(if panics > 0 { FAULTY as u8 } else { 0 })
}

/// The largest memory of this process so far, in megabytes; 0 where the system does not tell.
fn memory() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or_default() / 1000
}

/// The last panic.
static LAST: Mutex<String> = Mutex::new(String::new());

/// Panics are kept, not printed.
fn quiet() {
    panic::set_hook(Box::new(|panic| {
        if let Ok(mut last) = LAST.lock() {
            *last = panic.to_string();
        }
    }));
}

fn note(log: &Path, text: &str) {
    let file = OpenOptions::new().create(true).append(true).open(log);
    let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
}

/// An input as people read it: the command and its model, else the bytes.
fn readable(target: &Target, input: &[u8]) -> String {
    let bytes = format!("bytes: \"{}\"", input.escape_ascii());
    #[cfg(feature = "commands")]
    if target.name == "command" {
        return format!("{}\n{bytes}", crate::targets::command::shown(input));
    }
    let _ = target;
    bytes
}

fn shown(name: &str, file: &str) -> ExitCode {
    let (Some(target), Ok(input)) = (target(name), fs::read(file)) else { return help() };
    println!("{}", readable(target, &input));
    ExitCode::SUCCESS
}

/// Runs inputs that are kept.
fn replay(name: &str, files: &[&str]) -> ExitCode {
    let Some(target) = target(name) else { return help() };
    for file in files {
        let input = fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        (target.run)(&input);
    }
    let _ = fs::remove_dir_all(scratch::path(std::process::id()));
    ExitCode::SUCCESS
}
