//! The Python package: a wheel by maturin, installed into a fresh virtual environment, and its tests there.
//!
//! Packages that the tests use are in `target/python`, where [`crate::prepare`] installs them; the fresh environment
//! sees them by a path file, and gets the wheel alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::prepare::{python_packages, starts};
use crate::steps::Verdict;

/// What the tests cannot do without.
const NEEDED: &str = "import maturin, numpy, pytest";

/// Builds the wheel, installs it and runs the tests.
pub(crate) fn check(root: &Path) -> Verdict {
    let tools = cargo::target(root).join("python/bin");
    let python = tools.join("python3").display().to_string();
    if !starts(&python, &["-c", NEEDED]) {
        return Verdict::Skip(
            "no Python with maturin, numpy and pytest in target/python".into(),
        );
    }
    let place = cargo::target(root).join("python-tests");
    // NOTE: the environment is fresh at each time, so that nothing of an older wheel is left.
    let _ = fs::remove_dir_all(&place);
    let Some(wheel) = wheel(root, &place, false) else { return Verdict::Fail };
    let Some(fresh) = environment(&python, &place, &wheel) else { return Verdict::Fail };
    let tests = Command::new(fresh)
        .args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--color=no"])
        .arg(root.join("crates/python/tests"))
        .current_dir(root)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "Agg")
        .status();
    Verdict::of(tests.is_ok_and(|status| status.success()))
}

/// Builds the wheel as it is published, into `target/wheels`, by what it installs into `target/python` where that is
/// missing.
pub(crate) fn release(root: &Path) -> bool {
    println!("{}", python_packages(&cargo::target(root).join("python")));
    match wheel(root, &cargo::target(root).join("wheels"), true) {
        Some(wheel) => println!("{}", wheel.display()),
        None => {
            println!(
                "no wheel was built: maturin is not in target/python, or the build failed"
            );
            return false;
        }
    }
    true
}

/// The wheel that maturin builds into a folder.
fn wheel(root: &Path, folder: &Path, is_release: bool) -> Option<PathBuf> {
    let maturin = cargo::target(root).join("python/bin/maturin");
    let mut build = Command::new(maturin);
    build.args(["build", "--quiet", "--out"]).arg(folder).current_dir(root);
    build.args(["--profile", if is_release { "release" } else { "dev" }]);
    let built = build.status().is_ok_and(|status| status.success());
    let mut wheels: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).collect();
    wheels.retain(|path| path.extension().is_some_and(|ending| ending == "whl"));
    wheels.pop().filter(|_| built)
}

/// A fresh environment with the wheel; its Python.
fn environment(python: &str, place: &Path, wheel: &Path) -> Option<PathBuf> {
    let venv = place.join("venv");
    let made = Command::new(python).args(["-m", "venv"]).arg(&venv).status();
    made.is_ok_and(|status| status.success()).then_some(())?;
    let fresh = venv.join("bin/python3");
    let own = "import sysconfig; print(sysconfig.get_paths()['purelib'])";
    let site = |python: &Path| {
        let output = Command::new(python).args(["-c", own]).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (packages, fresh_packages) = (site(Path::new(python))?, site(&fresh)?);
    fs::write(Path::new(&fresh_packages).join("packages.pth"), packages).ok()?;
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--disable-pip-version-check",
    ];
    let installed = Command::new(&fresh).args(install).arg(wheel).status();
    installed.is_ok_and(|status| status.success()).then_some(fresh)
}
