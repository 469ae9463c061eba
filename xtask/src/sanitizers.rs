//! Compilers that watch: libFuzzer with AddressSanitizer, Miri, ThreadSanitizer.
//!
//! libFuzzer needs no other compiler: coverage is a pass of LLVM, and `RUSTC_BOOTSTRAP=1` lets the compiler of the
//! project take `-Zsanitizer=address` and `-Zsanitizer=thread`. Miri needs a nightly compiler with its sources:
//! `rustup toolchain install nightly --component miri,rust-src`.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo;

/// What makes a program tell libFuzzer where it was.
const COVERAGE: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
const HOST: &str = "x86_64-unknown-linux-gnu";

/// Runs a target of `fuzz/fuzz_targets` by libFuzzer for so many seconds. What it learns is in `target/corpus`; the
/// kept cases and, for texts, the models of the gallery are its first inputs.
pub(crate) fn guided(root: &Path, target: &str, seconds: &str) -> bool {
    // The plain loops write `command-line`.
    let target = target.replace('-', "_");
    let target = target.as_str();
    let place = cargo::target(root).join("guided");
    let needs_commands = ["command", "command_line", "table", "format"].contains(&target);
    let mut words = vec!["build", "--release", "--manifest-path", "fuzz/Cargo.toml"];
    words.extend(["--target", HOST, "--bin", target]);
    if target == "cranelift" {
        words.extend(["--no-default-features", "--features", "cranelift"]);
    } else if !needs_commands {
        words.push("--no-default-features");
    }
    let flags = [&COVERAGE[..], &["-Zsanitizer=address"]].concat().join(" ");
    let variables = [
        ("RUSTFLAGS", OsString::from(flags)),
        ("RUSTC_BOOTSTRAP", OsString::from("1")),
        ("CARGO_TARGET_DIR", place.clone().into_os_string()),
    ];
    if !cargo::run(root, &words, &variables) {
        return false;
    }
    let corpus = cargo::target(root).join("corpus").join(target);
    let found = cargo::target(root).join("found").join(target);
    if fs::create_dir_all(&corpus).is_err() || fs::create_dir_all(&found).is_err() {
        return false;
    }
    let cases = root.join("fuzz/cases").join(target.replace('_', "-"));
    let mut run = Command::new(place.join(HOST).join("release").join(target));
    run.arg(corpus);
    run.args(cases.is_dir().then_some(cases));
    if target == "text" {
        run.arg(root.join("models"));
    }
    run.arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", found.display()))
        .args(["-timeout=60", "-rss_limit_mb=4096", "-max_len=4096", "-print_final_stats=1"])
        .current_dir(root);
    run.status().is_ok_and(|status| status.success())
}

/// The unit tests of `pfaff-program` under Miri, but for those that run machine code, which Miri cannot: with the
/// instructions of every processor, so that the unsafe code for AVX-512 is what runs.
pub(crate) fn miri(root: &Path) -> bool {
    let flags = "-Ctarget-feature=+avx2,+fma,+avx512f,+avx512vl,+avx512dq";
    // NOTE: `libm` asks the processor, and has assembly, unless it is told not to.
    let soft = ["--features", "libm/force-soft-floats"];
    let words = ["miri", "test", "--package", "pfaff-program", "--lib"];
    let words = [&words[..], &soft, &["--", "simd"]].concat();
    nightly(root, &words, &[("RUSTFLAGS", flags), ("MIRIFLAGS", "-Zmiri-disable-isolation")])
}

/// What runs in threads, under ThreadSanitizer, by the compiler of the project: tests in which threads share machine
/// code, a model or a prepared model, runs at once, and a sweep of the real program on four threads.
///
/// The standard library is not rebuilt, so what its compiled parts order is not seen: reports between two places of
/// the standard library, of the test harness or of other crates are counted and not judged ([`races_of`]).
pub(crate) fn races(root: &Path) -> bool {
    let code = ["test", "--target", HOST, "--package", "pfaff-program", "--test", "main"];
    let models = ["test", "--target", HOST, "--package", "pfaff", "--test", "main"];
    let runs = ["run", "--target", HOST, "--package", "pfaff-fuzz", "--no-default-features"];
    let sweep = ["run", "--target", HOST, "--package", "pfaff-cli"];
    let cases = ["sweep", "sleigh", "--vary", "a=0.1..1:64", "--threads", "4"];
    [
        [&code[..], &["--", "threads"]].concat(),
        [&models[..], &["--", "threads", "ensemble"]].concat(),
        [&runs[..], &["--", "--threads", "60"]].concat(),
        [&sweep[..], &["--"], &cases].concat(),
    ]
    .iter()
    .all(|words| is_without_races(root, words))
}

fn is_without_races(root: &Path, words: &[&str]) -> bool {
    println!("cargo {}", words.join(" "));
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(program)
        .args(words)
        .env("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer")
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", cargo::target(root).join("races"))
        .env("TSAN_OPTIONS", "exitcode=0")
        .current_dir(root)
        .output();
    let Ok(output) = output else { return false };
    let text = String::from_utf8_lossy(&output.stderr);
    let (all, ours) = races_of(&text, &root.join("").display().to_string());
    println!("{all} reports, {} of them in the crates", ours.len());
    ours.iter().for_each(|report| println!("{report}"));
    if !output.status.success() {
        println!("{}{text}", String::from_utf8_lossy(&output.stdout));
    }
    output.status.success() && ours.is_empty()
}

/// How many reports there are, and those that count: the first function of an access that does not belong to the
/// standard library is in the folder `root`.
///
/// The last drop of an `Arc` never counts: it is ordered by a fence, which ThreadSanitizer does not know.
fn races_of<'a>(text: &'a str, root: &str) -> (usize, Vec<&'a str>) {
    let reports: Vec<&str> =
        text.split("WARNING: ThreadSanitizer: data race").skip(1).collect();
    let is_ours = |access: &str| {
        let frames = access.lines().filter(|line| line.trim_start().starts_with('#'));
        let mut of_library = frames.clone().take_while(|frame| frame.contains(" /rustc/"));
        let is_dropped = of_library
            .any(|frame| frame.contains("drop") && frame.contains("alloc/src/sync.rs"));
        let first = frames.clone().find(|frame| !frame.contains(" /rustc/"));
        !is_dropped && first.is_some_and(|frame| frame.contains(root))
    };
    // The two accesses are the first paragraphs; how the threads were started comes after them.
    let counts = |report: &&str| report.split("\n\n").take(2).any(is_ours);
    (reports.len(), reports.iter().copied().filter(|report| counts(report)).collect())
}

/// Runs the nightly `cargo`, in a folder of its own.
fn nightly(root: &Path, words: &[&str], variables: &[(&str, &str)]) -> bool {
    println!("cargo +nightly {}", words.join(" "));
    Command::new("cargo")
        .args(words)
        .env_remove("CARGO")
        .env("RUSTUP_TOOLCHAIN", "nightly")
        .env("CARGO_TARGET_DIR", cargo::target(root).join("nightly"))
        .envs(variables.iter().copied())
        .current_dir(root)
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of two accesses, each with its frames from the innermost.
    fn report(accesses: [&[&str]; 2]) -> String {
        let shown = accesses.map(|frames| {
            let lines =
                frames.iter().enumerate().map(|(i, frame)| format!("    #{i} {frame}\n"));
            lines.collect::<String>()
        });
        format!(
            "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n  Write of size 8 by T1:\n{}\n  \
             Previous read of size 8 by main thread:\n{}\n  Thread T1 created by main thread at:\n    \
             #0 main /a/crates/b.rs:1:1\n\n",
            shown[0], shown[1]
        )
    }

    #[test]
    fn races_count_where_the_crates_touch_memory() {
        let ours = "step /a/crates/solver/src/step.rs:3:1 (main+0x1)";
        let copied = "memcpy /rustc/llvm/tsan/memcpy.inc:117:5 (main+0x2)";
        let harness = "test::run_test /rustc/1/library/test/src/lib.rs:647:13 (main+0x3)";
        let other = "clone /registry/proptest/src/config.rs:231:5 (main+0x4)";
        let arc = "<alloc::sync::Arc<A> as Drop>::drop /rustc/1/library/alloc/src/sync.rs:28:1";
        let counted = |accesses: [&[&str]; 2]| {
            let text = report(accesses).repeat(2);
            let (all, found) = races_of(&text, "/a/");
            assert_eq!(all, 2);
            found.len()
        };
        assert_eq!(counted([&[copied, ours], &[harness]]), 2);
        assert_eq!(counted([&[harness], &[ours]]), 2);
        assert_eq!(counted([&[copied, harness], &[harness]]), 0);
        assert_eq!(counted([&[other, ours], &[other]]), 0);
        assert_eq!(counted([&[copied, arc, ours], &[harness]]), 0);
    }
}
