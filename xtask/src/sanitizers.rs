//! Compilers that watch: libFuzzer with AddressSanitizer, Miri, ThreadSanitizer.
//!
//! libFuzzer needs no other compiler: coverage is a pass of LLVM, and `RUSTC_BOOTSTRAP=1` lets the compiler of the
//! project take `-Zsanitizer=address`. Miri and ThreadSanitizer need a nightly compiler with its sources:
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

/// What runs in threads, under ThreadSanitizer: the ensembles of the engine, and runs at once in threads.
pub(crate) fn races(root: &Path) -> bool {
    let build = ["-Zbuild-std", "--target", HOST];
    let runs = ["run", "--package", "pfaff-fuzz", "--no-default-features"];
    let tests = ["test", "--package", "pfaff", "--test", "main", "ensemble"];
    let variables = [("RUSTFLAGS", "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer")];
    nightly(root, &[&runs[..], &build, &["--", "--threads", "60"]].concat(), &variables)
        && nightly(root, &[&tests[..], &build].concat(), &variables)
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
