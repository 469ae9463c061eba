//! Random models and random options through every command of the real program: no panic, no signal, no hang beyond the
//! limits, and an answer that says why where there is none.
//!
//! A usual run takes a few. `cargo xtask fuzz commands 10000 7` takes other numbers of cases and seeds.

use std::time::{Duration, Instant};

use crate::choices::{Choices, SplitMix};
use crate::support::{Answer, Folder, feed};
use crate::writer::{SECONDS, Writer};

/// Beyond this it hangs, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is wrong with an answer.
fn fault(answer: &Answer, took: Duration) -> Option<&'static str> {
    if answer.err.contains("panicked") {
        return Some("panic");
    }
    if !(0..=4).contains(&answer.status) {
        return Some("status");
    }
    if (answer.status == 1 || answer.status == 2) && !answer.err.contains("error") {
        return Some("no reason");
    }
    (took > PATIENCE).then_some("hang")
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[allow(clippy::print_stdout, reason = "`cargo xtask fuzz commands` shows it")]
fn random_models_through_every_command() {
    let folder = Folder::new("fuzz");
    let (cases, seed) = (number("PFAFF_CASES", 40), number("PFAFF_SEED", 1));
    let mut counts = [0_usize; 5];
    let (mut faults, mut slow) = (0, 0);
    for case in 0..cases {
        let mut random = SplitMix::new(seed << 32 ^ case);
        let bytes: Vec<u8> = (0..2000).map(|_| random.word() as u8).collect();
        let mut writer = Writer::new(Choices::new(&bytes));
        let model = writer.model();
        let arguments = writer.arguments("-", &folder.path("."));
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let begun = Instant::now();
        let answer = feed(&words, model.as_bytes());
        let took = begun.elapsed();
        if let Ok(status) = usize::try_from(answer.status)
            && status < counts.len()
        {
            counts[status] += 1;
        }
        if answer.err.contains("no answer yet") {
            slow += 1;
            println!("slow: case {case}: pfaff {}\n{model}", words.join(" "));
        }
        if let Some(what) = fault(&answer, took) {
            faults += 1;
            let end: String = answer.err.lines().take(8).collect::<Vec<_>>().join("\n");
            println!("{what}: case {case}: pfaff {}\n{model}{end}\n", words.join(" "));
        }
    }
    println!(
        "{cases} cases of seed {seed}: statuses 0 to 4 {counts:?}, {slow} without an answer in {SECONDS} s"
    );
    assert_eq!(faults, 0);
}
