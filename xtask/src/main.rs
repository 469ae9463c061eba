//! `cargo xtask`: the checks of this repository. Arguments become runs of the tools and an exit status.
//!
//! `test` is what continuous integration calls. Without dependencies, so that it builds in a second.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal, not part of the engine"
)]

mod accepted;
mod api;
mod bench;
mod cargo;
mod licences;
mod map;
mod mutants;
mod planted;
mod prepare;
mod python;
mod sanitizers;
mod signs;
mod steps;
mod tidy;
mod tools;
mod web;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use planted::Kind;

const HELP: &str = "\
cargo xtask COMMAND

  test    what every change must pass: format, tidy, lints, tests, spelling, documentation, interface
  all     the same and the long checks: full test numbers, release build, gallery, Cranelift, cargo-deny
  tidy    the rules of this repository that no lint knows (dependencies between crates, line length, links, …)
  map     rewrites the code map in ARCHITECTURE.md from the heads of the files
  api     rewrites docs/api/pfaff.txt, the list of public items of the crate `pfaff`
  bless   writes answers into the documents and snapshots of the tests; look at the difference before you keep it
  proof   writes docs/proof.md: published numbers and ours
  python  builds the Python package and runs its tests, as `test` does
  wheel   builds the Python package as it is published, into target/wheels
  fuzz    a million texts, and more of every target: no panic, no hang (some minutes)
          `fuzz text 1000000 7`: so many cases of a seed of one target; targets: text, model, command, command-line,
          table, tape, cranelift, expression, format
          `fuzz commands 10000 7`: so many random models of a seed through every command of the program
          `fuzz differential 10000 7`: so many random motions of a seed against a slow integrator of their own
          `fuzz guided text 300`: so many seconds of one target by libFuzzer, with AddressSanitizer
  miri    the unsafe code of `pfaff-program` that Miri can run; needs a nightly compiler
  races   what runs in threads, under ThreadSanitizer
  soak    a hundred million steps, a day of a service, a thousand runs at once: memory does not grow
  mutants forty small changes of `mechanics`: at most two may escape its tests; `mutants 7`: another seed
          `mutants planted 100 7`: so many functions that return nothing, and conditions that are turned, in
          derivation, solver and audit, all in one build; each is found by a test or by the audit of the gallery
  signs   two hundred planted sign errors in derivation, solver and audit, looked for in the same way; `signs 40 7`:
          so many of another seed
  bench   one table of ratios to hand-written code; `bench all`: the benchmarks of every crate;
          `bench scale`: how cost grows with the size of a system
  longtime
          what the long-time methods keep of eight systems, as the table of docs/longtime.md; `longtime 100000`: steps
  web     the workbench as a static site in target/web: scripts and the engine as WebAssembly
  help    this text
";

fn main() -> ExitCode {
    let root = root();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["test"] => status(steps::test(&root)),
        ["all"] => status(steps::all(&root)),
        ["tidy"] => status(tidy::run(&root)),
        ["map"] => status(map::run(&root)),
        ["api"] => status(api::run(&root)),
        ["web"] => status(web::build(&root)),
        ["bless"] => status(steps::bless(&root)),
        ["proof"] => status(steps::proof(&root)),
        ["python"] => status(steps::python(&root)),
        ["wheel"] => status(python::release(&root)),
        ["fuzz"] => status(steps::fuzz(&root)),
        ["fuzz", "differential", numbers @ ..]
            if numbers.len() <= 2 && numbers.iter().all(|n| is_count(n)) =>
        {
            status(steps::differential(&root, numbers))
        }
        ["fuzz", "commands", numbers @ ..]
            if numbers.len() <= 2 && numbers.iter().all(|n| is_count(n)) =>
        {
            status(steps::commands(&root, numbers))
        }
        ["fuzz", "guided", target, seconds] if is_count(seconds) => {
            status(sanitizers::guided(&root, target, seconds))
        }
        ["miri"] => status(sanitizers::miri(&root)),
        ["races"] => status(sanitizers::races(&root)),
        ["fuzz", target, numbers @ ..]
            if numbers.len() <= 2 && numbers.iter().all(|n| is_count(n)) =>
        {
            status(steps::loops(&root, target, numbers))
        }
        ["soak"] => status(steps::soak(&root)),
        ["mutants"] => status(mutants::passes(&root, mutants::SEED)),
        ["mutants", seed] if seed.parse::<u64>().is_ok() => {
            status(mutants::passes(&root, seed.parse().unwrap_or(mutants::SEED)))
        }
        ["mutants", "planted", numbers @ ..]
            if numbers.len() <= 2 && numbers.iter().all(|n| is_count(n)) =>
        {
            planted(&root, Kind::Change, signs::CHANGES, numbers)
        }
        ["signs", numbers @ ..]
            if numbers.len() <= 2 && numbers.iter().all(|n| is_count(n)) =>
        {
            planted(&root, Kind::Sign, 200, numbers)
        }
        ["bench"] => status(bench::ratios(&root)),
        ["bench", "all"] => status(bench::run(&root)),
        ["bench", "scale", words @ ..] => status(bench::scale(&root, words)),
        ["longtime", steps @ ..] if steps.len() <= 1 && steps.iter().all(|n| is_count(n)) => {
            status(bench::longtime(&root, steps))
        }
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        other => {
            eprintln!("xtask: unknown command `{}`\n\n{HELP}", other.join(" "));
            ExitCode::from(2)
        }
    }
}

/// Errors of one kind: how many, and the seed.
fn planted(root: &Path, kind: Kind, usual: usize, numbers: &[&str]) -> ExitCode {
    let number = |i: usize| numbers.get(i).and_then(|text| text.parse::<u64>().ok());
    let count = number(0).map_or(usual, |count| count as usize);
    status(signs::passes(root, &[(kind, count)], number(1).unwrap_or(signs::SEED)))
}

fn is_count(text: &str) -> bool {
    text.parse::<u64>().is_ok()
}

/// The root of the repository: the folder above this package.
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .and_then(|xtask| xtask.parent().map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("."))
}

fn status(passed: bool) -> ExitCode {
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
