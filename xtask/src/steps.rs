//! `cargo xtask test` and `cargo xtask all`: checks one after the other, and a summary of what ran and what did not.
//!
//! The cheap checks come first, and the first failure ends the run. A test that cannot run here prints
//! `skipped: WHY`; the summary repeats these lines, so that a pass never hides what was not looked at.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::prepare::Preparation;
use crate::{api, cargo, licences, mutants, python, signs, tidy, tools, web};

/// How a check ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    /// It could not run, and why.
    Skip(String),
}

impl Verdict {
    pub(crate) fn of(passed: bool) -> Self {
        if passed { Self::Pass } else { Self::Fail }
    }
}

/// One check.
struct Step {
    name: &'static str,
    work: Work,
}

enum Work {
    /// `cargo` with these arguments and these variables of the environment.
    Cargo(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// Tests, likewise: the browser and Python are made ready before, and what they skip is collected.
    Tests(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// A check in this process.
    Here(fn(&Path) -> Verdict),
}

/// Every change passes these.
const TEST: &[Step] = &[
    Step { name: "format", work: Work::Cargo(&["fmt", "--all", "--check"], &[]) },
    Step { name: "tidy", work: Work::Here(|root| Verdict::of(tidy::run(root))) },
    Step { name: "licences", work: Work::Here(licences::check) },
    Step {
        name: "lints",
        work: Work::Cargo(
            &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
            &[],
        ),
    },
    Step {
        name: "tests",
        work: Work::Tests(
            &["test", "--workspace", "--lib", "--bins", "--tests", "--examples"],
            &[],
        ),
    },
    Step { name: "scripts of the workbench", work: Work::Here(web::check) },
    Step { name: "WebAssembly", work: Work::Here(web::compiles) },
    Step { name: "Python", work: Work::Here(python::check) },
    Step { name: "spelling", work: Work::Here(tools::typos) },
    Step {
        name: "examples in the documentation",
        work: Work::Tests(&["test", "--workspace", "--doc"], &[]),
    },
    Step {
        name: "documentation",
        work: Work::Cargo(
            &["doc", "--workspace", "--no-deps"],
            &[("RUSTDOCFLAGS", "-D warnings")],
        ),
    },
    Step { name: "public interface", work: Work::Here(|root| Verdict::of(api::check(root))) },
];

/// The long checks, which a release passes too.
const LONG: &[Step] = &[
    Step { name: "licences and sources (cargo deny)", work: Work::Here(tools::deny) },
    Step {
        name: "release build of the command line",
        work: Work::Cargo(&["build", "--release", "--package", "pfaff-cli"], &[]),
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
            &[],
        ),
    },
    Step {
        name: "tests with their full numbers",
        work: Work::Tests(
            &["test", "--release", "--package", "pfaff", "--package", "pfaff-cli"],
            &[("PFAFF_TESTS", "full")],
        ),
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
            &[],
        ),
    },
    Step {
        name: "programs with Cranelift",
        work: Work::Tests(
            &["test", "--package", "pfaff-program", "--features", "cranelift"],
            &[],
        ),
    },
    Step {
        name: "motions with Cranelift",
        work: Work::Tests(
            &[
                "test",
                "--package",
                "pfaff",
                "--features",
                "cranelift",
                "--test",
                "main",
                "numerics::backends",
            ],
            &[],
        ),
    },
    Step {
        name: "workbench as a site",
        work: Work::Here(|root| Verdict::of(web::build(root))),
    },
    Step { name: "mutants of mechanics", work: Work::Here(mutants::check) },
    Step { name: "planted sign errors and changes", work: Work::Here(signs::check) },
    Step { name: "an older processor (QEMU)", work: Work::Here(tools::older_processor) },
];

/// The checks of every change; true if all passed.
pub(crate) fn test(root: &Path) -> bool {
    run_all(root, TEST.iter().collect())
}

/// Every check there is; true if all passed.
pub(crate) fn all(root: &Path) -> bool {
    run_all(root, TEST.iter().chain(LONG).collect())
}

/// The tests that compare with what was blessed.
const BLESSED: &[&[&str]] = &[
    &["test", "--package", "pfaff-cli", "--test", "main", "documents::"],
    &["test", "--package", "pfaff-present", "--test", "main", "equations::"],
    &["test", "--package", "pfaff", "--test", "main", "numerics::statistics::"],
];

/// Writes the answers of the program into the documents, and printed equations and counts of steps into the
/// snapshots of the tests.
pub(crate) fn bless(root: &Path) -> bool {
    let variables =
        [("PFAFF_BLESS", OsString::from("1")), (cargo::SNAPSHOTS, OsString::from("always"))];
    BLESSED.iter().all(|arguments| cargo::run(root, arguments, &variables))
}

/// Writes `docs/proof.md`.
pub(crate) fn proof(root: &Path) -> bool {
    let arguments = ["test", "--package", "pfaff", "--test", "main", "analysis::proof::"];
    cargo::run(root, &arguments, &[("PFAFF_BLESS", OsString::from("1"))])
}

/// The Python package and its tests, by themselves.
pub(crate) fn python(root: &Path) -> bool {
    const PYTHON: Step = Step { name: "Python", work: Work::Here(python::check) };
    let _ = Preparation::begin(root).path();
    run_all(root, vec![&PYTHON])
}

/// The targets of `fuzz/plain` with as many cases as take a minute or two each.
const FUZZ: &[(&str, &str)] = &[
    ("text", "1000000"),
    ("model", "10000"),
    ("command", "1000"),
    ("command-line", "20000"),
    ("table", "20000"),
    ("tape", "100000"),
    ("cranelift", "2000"),
    ("expression", "20000"),
    ("format", "5000"),
];

/// All targets.
pub(crate) fn fuzz(root: &Path) -> bool {
    FUZZ.iter().all(|(target, count)| loops(root, target, &[count, "1"]))
}

/// A target of `fuzz/plain`: how many cases, and the seed.
pub(crate) fn loops(root: &Path, target: &str, numbers: &[&str]) -> bool {
    let features: &[&str] = match target {
        // NOTE: these need the engine alone, which builds in a fraction of the time.
        "text" | "model" | "tape" | "expression" => &["--no-default-features"],
        "cranelift" => &["--no-default-features", "--features", "cranelift"],
        _ => &[],
    };
    let number = |i: usize, default: &'static str| *numbers.get(i).unwrap_or(&default);
    plain(root, features, &[target, number(0, "10000"), number(1, "1")])
}

/// The soak: steps, requests, runs at once.
pub(crate) fn soak(root: &Path) -> bool {
    let runs = [["--steps", "100000000"], ["--service", "86400"], ["--threads", "1000"]];
    runs.iter().all(|words| plain(root, &["--no-default-features"], words))
}

fn plain(root: &Path, features: &[&str], words: &[&str]) -> bool {
    let run = ["run", "--quiet", "--profile", "fuzz", "--package", "pfaff-fuzz"];
    cargo::run(root, &[&run, features, &["--"], words].concat(), &[])
}

/// Random motions against an independent integrator: how many, and the seed. Fails if one is wrong and passed.
pub(crate) fn differential(root: &Path, numbers: &[&str]) -> bool {
    cases(root, &["test", "--release", "--package", "pfaff"], "differential::", numbers)
}

/// Random models through every command: how many, and the seed. Fails at a panic, a signal or a hang. In a debug
/// build, because there arithmetic is checked.
pub(crate) fn commands(root: &Path, numbers: &[&str]) -> bool {
    cases(root, &["test", "--package", "pfaff-cli"], "fuzz::", numbers)
}

/// A test with its number of cases and its seed.
fn cases(root: &Path, test: &[&str], name: &str, numbers: &[&str]) -> bool {
    let arguments = [test, &["--test", "main", name, "--", "--nocapture"]].concat();
    let number = |i: usize, default: &str| OsString::from(*numbers.get(i).unwrap_or(&default));
    let variables = [("PFAFF_CASES", number(0, "1000")), ("PFAFF_SEED", number(1, "1"))];
    cargo::run(root, &arguments, &variables)
}

/// What a run of the steps has found so far.
#[derive(Default)]
struct Log {
    done: Vec<(Verdict, Duration)>,
    /// What tests did not look at, and why.
    skipped: Vec<String>,
}

fn run_all(root: &Path, steps: Vec<&Step>) -> bool {
    let mut preparation = Preparation::begin(root);
    let mut log = Log::default();
    for (number, step) in (1..).zip(&steps) {
        println!("\n── {number}/{} {} ──", steps.len(), step.name);
        let start = Instant::now();
        let verdict = run(step, root, &mut preparation, &mut log.skipped);
        let failed = verdict == Verdict::Fail;
        log.done.push((verdict, start.elapsed()));
        if failed {
            break;
        }
    }
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    println!("\n── summary ──\n{}", summary(&names, &log));
    log.done.len() == steps.len() && log.done.iter().all(|(v, _)| *v != Verdict::Fail)
}

fn run(
    step: &Step,
    root: &Path,
    preparation: &mut Preparation,
    skipped: &mut Vec<String>,
) -> Verdict {
    let owned = |variables: &[(&'static str, &str)]| -> Vec<(&'static str, OsString)> {
        variables.iter().map(|(name, value)| (*name, OsString::from(value))).collect()
    };
    match &step.work {
        Work::Cargo(arguments, variables) => {
            Verdict::of(cargo::run(root, arguments, &owned(variables)))
        }
        Work::Tests(arguments, variables) => {
            let mut variables = owned(variables);
            variables.push(("PATH", preparation.path()));
            let (passed, found) = cargo::tests(root, arguments, &variables);
            skipped.extend(
                found.into_iter().filter(|line| !skipped.contains(line)).collect::<Vec<_>>(),
            );
            Verdict::of(passed)
        }
        Work::Here(work) => work(root),
    }
}

/// One line for each step, its verdict and its seconds; then what was skipped.
fn summary(names: &[&str], log: &Log) -> String {
    let mut lines = Vec::new();
    for (k, name) in names.iter().enumerate() {
        lines.push(match log.done.get(k) {
            Some((Verdict::Pass, time)) => format!("pass {:8.1} s  {name}", time.as_secs_f64()),
            Some((Verdict::Fail, time)) => format!("FAIL {:8.1} s  {name}", time.as_secs_f64()),
            Some((Verdict::Skip(why), _)) => format!("skipped         {name}: {why}"),
            None => format!("not run         {name}"),
        });
    }
    let total: Duration = log.done.iter().map(|(_, time)| *time).sum();
    lines.push(format!("     {:8.1} s  in all", total.as_secs_f64()));
    if !log.skipped.is_empty() {
        lines.push("\nskipped by tests:".to_owned());
        lines.extend(log.skipped.iter().map(|line| format!("  {line}")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_every_step_and_what_was_skipped() {
        let done = vec![
            (Verdict::Pass, Duration::from_millis(500)),
            (Verdict::Skip("no such tool".to_owned()), Duration::ZERO),
            (Verdict::Fail, Duration::from_secs(2)),
        ];
        let log = Log { done, skipped: vec!["a_page: no browser".to_owned()] };
        let text = summary(&["format", "spelling", "tidy", "tests"], &log);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "pass      0.5 s  format");
        assert_eq!(lines[1], "skipped         spelling: no such tool");
        assert_eq!(lines[2], "FAIL      2.0 s  tidy");
        assert_eq!(lines[3], "not run         tests");
        assert_eq!(lines[4], "          2.5 s  in all");
        assert!(text.ends_with("skipped by tests:\n  a_page: no browser"), "{text}");
    }
}
