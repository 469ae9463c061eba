//! `cargo xtask test`: every check there is, one after the other, with a header and a time for each.
//!
//! The cheap checks come first. The first failure ends the run, and the summary says what was not reached.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::{browser, tidy};

/// One check.
struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    /// `cargo` with these arguments and, if any, one variable of the environment.
    Cargo(&'static [&'static str], Option<(&'static str, &'static str)>),
    /// The rules of the house, in this process.
    Tidy,
    /// The browser for the tests of the pages, installed where that is possible.
    Browser,
}

const STEPS: &[Step] = &[
    Step { name: "format", work: Work::Cargo(&["fmt", "--all", "--check"], None) },
    Step { name: "tidy", work: Work::Tidy },
    Step {
        name: "lints",
        work: Work::Cargo(
            &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
            None,
        ),
    },
    Step {
        name: "release build of the command line",
        work: Work::Cargo(&["build", "--release", "--package", "pfaff-cli"], None),
    },
    Step {
        name: "gallery as a site",
        work: Work::Cargo(
            &[
                "run",
                "--release",
                "--package",
                "pfaff-cli",
                "--",
                "gallery",
                "--html",
                "target/site",
            ],
            None,
        ),
    },
    Step { name: "browser", work: Work::Browser },
    Step {
        name: "tests",
        work: Work::Cargo(&["test", "--workspace", "--lib", "--bins", "--tests"], None),
    },
    Step {
        name: "lints with Cranelift",
        work: Work::Cargo(
            &[
                "clippy",
                "--package",
                "pfaff-program",
                "--features",
                "cranelift",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
            None,
        ),
    },
    Step {
        name: "programs with Cranelift",
        work: Work::Cargo(
            &["test", "--package", "pfaff-program", "--features", "cranelift"],
            None,
        ),
    },
    Step {
        name: "motions with Cranelift",
        work: Work::Cargo(
            &["test", "--package", "pfaff", "--features", "cranelift", "--test", "ways"],
            None,
        ),
    },
    Step {
        name: "examples in the documentation",
        work: Work::Cargo(&["test", "--workspace", "--doc"], None),
    },
    Step {
        name: "documentation",
        work: Work::Cargo(
            &["doc", "--workspace", "--no-deps"],
            Some(("RUSTDOCFLAGS", "-D warnings")),
        ),
    },
];

/// Runs the steps and prints the summary; true if all passed.
pub(crate) fn run_all(root: &Path) -> bool {
    let mut done: Vec<(bool, Duration)> = Vec::new();
    for (number, step) in (1..).zip(STEPS) {
        println!("\n── {number}/{} {} ──", STEPS.len(), step.name);
        let start = Instant::now();
        let passed = run(step, root);
        done.push((passed, start.elapsed()));
        if !passed {
            break;
        }
    }
    println!("\n── summary ──\n{}", summary(&done));
    done.len() == STEPS.len() && done.iter().all(|(passed, _)| *passed)
}

fn run(step: &Step, root: &Path) -> bool {
    let (arguments, variable) = match &step.work {
        Work::Cargo(arguments, variable) => (arguments, variable),
        Work::Tidy => return tidy::run(root),
        Work::Browser => {
            browser::prepare();
            return true;
        }
    };
    println!("cargo {}", arguments.join(" "));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let status =
        Command::new(cargo).args(*arguments).envs(*variable).current_dir(root).status();
    status.is_ok_and(|status| status.success())
}

/// Writes the answers of the program into the documents.
pub(crate) fn bless(root: &Path) -> bool {
    let arguments = &["test", "--package", "pfaff-cli", "--test", "main", "documents::"];
    let work = Work::Cargo(arguments, Some(("PFAFF_BLESS", "1")));
    run(&Step { name: "bless", work }, root)
}

/// The property tests with their full numbers.
pub(crate) fn fuzz(root: &Path) -> bool {
    let arguments = &["test", "--release", "--package", "pfaff", "--test", "main", "fuzz::"];
    let work = Work::Cargo(arguments, Some(("PFAFF_FUZZ", "full")));
    run(&Step { name: "fuzz", work }, root)
}

/// One line for each step: its verdict and its seconds.
fn summary(done: &[(bool, Duration)]) -> String {
    let mut lines = Vec::new();
    for (k, step) in STEPS.iter().enumerate() {
        lines.push(match done.get(k) {
            Some((true, time)) => format!("pass {:8.1} s  {}", time.as_secs_f64(), step.name),
            Some((false, time)) => format!("FAIL {:8.1} s  {}", time.as_secs_f64(), step.name),
            None => format!("not run         {}", step.name),
        });
    }
    let total: Duration = done.iter().map(|(_, time)| *time).sum();
    lines.push(format!("     {:8.1} s  in all", total.as_secs_f64()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_every_step() {
        let text =
            summary(&[(true, Duration::from_millis(500)), (false, Duration::from_secs(2))]);
        assert!(text.contains("pass      0.5 s  format"), "{text}");
        assert!(text.contains("FAIL      2.0 s  tidy"), "{text}");
        assert_eq!(text.matches("not run").count(), STEPS.len() - 2);
    }
}
