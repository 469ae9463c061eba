//! Programs that some tests start: looked for, and installed where that is possible, while other checks run.
//!
//! | program | for | from |
//! |---|---|---|
//! | `chromedriver` | the tests of the pages | Debian's packages `chromium` and `chromium-driver` |
//! | `firefox-esr` | a test of the workbench | Debian's package of this name |
//! | `pdflatex` | compiling our LaTeX | Debian's packages `texlive-latex-base` and `texlive-latex-recommended` |
//! | `typst` in Python | compiling our Typst | a virtual environment in `target/python` |
//! | `pyarrow` in Python | reading our Parquet files back | a virtual environment in `target/python` |
//! | `typos` | spelling | the same |
//! | `maturin`, numpy, pytest and what tests compare with | the Python package | the same |
//!
//! Where there is no right or no network to install, the tests say what they skipped.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::cargo;

/// The longest that the installation of one program may take.
const PATIENCE: Duration = Duration::from_mins(3);

/// Programs on their way.
pub(crate) struct Preparation {
    threads: Vec<JoinHandle<String>>,
    python: PathBuf,
}

impl Preparation {
    /// Begins to look and to install, beside what happens next.
    pub(crate) fn begin(root: &Path) -> Self {
        let python = cargo::target(root).join("python");
        let folder = python.clone();
        Self {
            threads: vec![
                std::thread::spawn(debian_packages),
                std::thread::spawn(move || python_packages(&folder)),
            ],
            python,
        }
    }

    /// Waits until the programs are there or cannot be had, prints which, and gives the `PATH` for the tests.
    pub(crate) fn path(&mut self) -> OsString {
        for thread in self.threads.drain(..) {
            println!(
                "{}",
                thread.join().unwrap_or_else(|_| "the preparation failed".to_owned())
            );
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let first = Some(self.python.join("bin")).filter(|bin| bin.is_dir());
        env::join_paths(first.into_iter().chain(env::split_paths(&path))).unwrap_or(path)
    }
}

/// One after the other: two installations cannot run beside each other.
fn debian_packages() -> String {
    let browser = debian_package("chromedriver", &["chromium", "chromium-driver"]);
    let firefox = if starts("firefox", &["--version"]) {
        "firefox: found".to_owned()
    } else {
        debian_package("firefox-esr", &["firefox-esr"])
    };
    let latex = ["texlive-latex-base", "texlive-latex-recommended"];
    format!("{browser}\n{firefox}\n{}", debian_package("pdflatex", &latex))
}

/// A program from Debian's packages.
fn debian_package(program: &str, packages: &[&str]) -> String {
    if starts(program, &["--version"]) {
        return format!("{program}: found");
    }
    let deadline = Instant::now() + PATIENCE;
    let install = [&["install", "--yes", "--no-install-recommends"], packages].concat();
    let installed = within("apt-get", &["update"], deadline)
        .and_then(|()| within("apt-get", &install, deadline));
    report(program, installed)
}

/// A virtual environment in `folder` with what is missing.
pub(crate) fn python_packages(folder: &Path) -> String {
    const IMPORT: &[&str] = &["-c", "import pyarrow.parquet"];
    // NOTE: the names of packages and modules are the same, but for these.
    const PACKAGES: &[&str] = &[
        "pyarrow",
        "typos",
        "maturin",
        "numpy",
        "pytest",
        "scipy",
        "sympy",
        "pandas",
        "xarray",
        "matplotlib",
        "mypy",
        "distributed",
        "nbclient",
        "nbformat",
        "ipykernel",
        "duckdb",
        "jax",
        "typst",
    ];
    const IMPORT_OWN: &[&str] = &[
        "-c",
        "import maturin, numpy, pytest, scipy, sympy, pandas, xarray, mypy, nbclient, duckdb, jax, typst",
    ];
    let own = |name: &str| folder.join("bin").join(name).display().to_string();
    let here = |name: &str, arguments| starts(name, arguments) || starts(&own(name), arguments);
    let has_own = starts(&own("python3"), IMPORT_OWN);
    if has_own && here("python3", IMPORT) && here("typos", &["--version"]) {
        return "packages of Python: found".to_owned();
    }
    let own = own("python3");
    let deadline = Instant::now() + PATIENCE;
    let place = folder.display().to_string();
    let install = [&["-m", "pip", "install", "--quiet"], PACKAGES].concat();
    let installed = within("python3", &["-m", "venv", &place], deadline)
        .and_then(|()| within(&own, &install, deadline));
    report("packages of Python", installed)
}

fn report(program: &str, installed: Result<(), String>) -> String {
    match installed {
        Ok(()) => format!("{program}: installed"),
        Err(why) => format!("{program}: not installed ({why}); its tests will be skipped"),
    }
}

/// Whether a program can be started with these arguments and succeeds.
pub(crate) fn starts(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|s| s.success())
}

/// A program with these arguments, ended at the deadline; or why it failed.
fn within(program: &str, arguments: &[&str], deadline: Instant) -> Result<(), String> {
    let what = || format!("{program} {}", arguments.join(" "));
    let mut child = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("{program} does not start: {error}"))?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("`{}` failed: {status}", what())),
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(200));
            }
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{}` took too long", what()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_ended() {
        let why = within("sleep", &["60"], Instant::now());
        assert_eq!(why, Err("`sleep 60` took too long".to_owned()));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        assert!(!starts("no-such-program", &[]));
        let why = within("no-such-program", &[], Instant::now()).expect_err("it is not there");
        assert!(why.starts_with("no-such-program does not start"), "{why}");
    }
}
