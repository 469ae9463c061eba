//! Runs of `cargo`: arguments → success, and from tests also what they skipped.
//!
//! Tests print `skipped: WHY`. The harness hides what passing tests print unless it is asked for
//! `--show-output`; that output is read here, and only the lines about skipping are kept.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a test prints that cannot run here, before the reason.
const SKIPPED: &str = "skipped: ";

/// Whether the tests write snapshots that differ: `no` or `always`.
pub(crate) const SNAPSHOTS: &str = "INSTA_UPDATE";

type Variables<'a> = [(&'a str, OsString)];

fn command(root: &Path, arguments: &[&str], variables: &Variables) -> Command {
    println!("cargo {}", arguments.join(" "));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.args(arguments).envs(variables.iter().cloned()).current_dir(root);
    command
}

/// Where `cargo` puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Whether `cargo` with these arguments succeeds.
pub(crate) fn run(root: &Path, arguments: &[&str], variables: &Variables) -> bool {
    command(root, arguments, variables).status().is_ok_and(|status| status.success())
}

/// What `cargo` prints with these arguments, if it succeeds.
pub(crate) fn output(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = command(root, arguments, &[]).stderr(Stdio::inherit()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the tests pass, and what they skipped: `test: reason`.
pub(crate) fn tests(
    root: &Path,
    arguments: &[&str],
    variables: &Variables,
) -> (bool, Vec<String>) {
    let mut all = arguments.to_vec();
    all.extend(["--", "--show-output"]);
    let mut command = command(root, &all, variables);
    let child = command.env(SNAPSHOTS, "no").stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return (false, Vec::new()) };
    let mut filter = Filter::default();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            if filter.shows(&line) {
                println!("{line}");
            }
        }
    }
    (child.wait().is_ok_and(|status| status.success()), filter.skipped)
}

/// The lines of a test run: hides what passing tests printed, keeps what they skipped.
#[derive(Default)]
struct Filter {
    inside_successes: bool,
    test: String,
    skipped: Vec<String>,
}

impl Filter {
    fn shows(&mut self, line: &str) -> bool {
        if line == "successes:" {
            self.inside_successes = true;
        } else if line == "failures:" || line.starts_with("test result:") {
            self.inside_successes = false;
        }
        if !self.inside_successes {
            return true;
        }
        if let Some(name) = line.strip_prefix("---- ") {
            self.test = name.trim_end_matches(" stdout ----").to_owned();
        } else if let Some(why) = line.strip_prefix(SKIPPED) {
            self.skipped.push(format!("{}: {why}", self.test));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passing_tests_skip_is_kept_and_the_rest_of_their_output_hidden() {
        let text = "running 2 tests\ntest a ... ok\n\nsuccesses:\n\n---- a::b stdout ----\n\
            noise\nskipped: no browser\n\n\nsuccesses:\n    a::b\n    c\n\nfailures:\n\n\
            ---- d stdout ----\npanicked\n\ntest result: FAILED. 1 passed; 1 failed\n";
        let mut filter = Filter::default();
        let shown: Vec<&str> = text.lines().filter(|line| filter.shows(line)).collect();
        assert_eq!(filter.skipped, ["a::b: no browser"]);
        assert!(!shown.contains(&"noise") && !shown.contains(&"    c"), "{shown:?}");
        assert!(shown.contains(&"panicked") && shown.contains(&"test a ... ok"), "{shown:?}");
        assert!(shown.iter().any(|line| line.starts_with("test result:")), "{shown:?}");
    }
}
