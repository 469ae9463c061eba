//! Tools that are not part of the Rust toolchain: found, installed by `cargo xtask all` where that is possible, run.

use std::path::Path;
use std::process::Command;

use crate::cargo;
use crate::prepare::starts;
use crate::steps::Verdict;

/// Licences, sources and duplicates by `deny.toml`. Advisories need a database from a network, and are left out.
pub(crate) fn deny(root: &Path) -> Verdict {
    if let Some(skip) = missing(root, "cargo-deny", "cargo-deny") {
        return skip;
    }
    let checks = ["deny", "--all-features", "check", "licenses", "bans", "sources"];
    Verdict::of(cargo::run(root, &checks, &[]))
}

/// Spelling by `typos.toml`.
pub(crate) fn typos(root: &Path) -> Verdict {
    if let Some(skip) = missing(root, "typos", "typos-cli") {
        return skip;
    }
    let status = Command::new("typos").current_dir(root).status();
    Verdict::of(status.is_ok_and(|status| status.success()))
}

/// The engine compiles for WebAssembly, where there is no clock, thread or file.
pub(crate) fn web_assembly(root: &Path) -> Verdict {
    const TARGET: &str = "wasm32-unknown-unknown";
    let libraries = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .current_dir(root)
        .output();
    let there = libraries
        .is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir());
    if !there {
        return Verdict::Skip(format!("no target {TARGET}; `rustup target add {TARGET}`"));
    }
    let check = ["check", "--package", "pfaff", "--lib", "--target", TARGET];
    Verdict::of(cargo::run(root, &check, &[]))
}

/// Forty mutants of the mechanics, every k-th of the list: the tests notice all but two.
pub(crate) fn mutants(root: &Path) -> Verdict {
    if !starts("cargo-mutants", &["--version"]) {
        return Verdict::Skip(
            "no cargo-mutants; `cargo install --locked cargo-mutants`".to_owned(),
        );
    }
    let Some(list) =
        cargo::output(root, &["mutants", "--list", "--package", "pfaff-mechanics"])
    else {
        return Verdict::Fail;
    };
    let shards = (list.lines().count() / 40).max(1);
    let shard = format!("0/{shards}");
    let arguments =
        ["mutants", "--package", "pfaff-mechanics", "--shard", &shard, "--output", "target"];
    cargo::run(root, &arguments, &[]);
    let missed = std::fs::read_to_string(root.join("target/mutants.out/missed.txt"));
    match missed {
        Ok(missed) => Verdict::of(missed.lines().count() <= 2),
        Err(_) => Verdict::Fail,
    }
}

/// Installs `package` unless its program is there; why it is skipped if that does not work.
fn missing(root: &Path, program: &str, package: &str) -> Option<Verdict> {
    let there = || starts(program, &["--version"]);
    if there() || (cargo::run(root, &["install", "--locked", package], &[]) && there()) {
        return None;
    }
    Some(Verdict::Skip(format!("`cargo install --locked {package}` failed")))
}
