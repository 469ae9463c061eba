//! Tools that are not part of the Rust toolchain: looked for, and run or skipped with a reason.

use std::path::Path;
use std::process::Command;

use crate::cargo;
use crate::prepare::starts;
use crate::steps::Verdict;

/// Licences, sources and duplicates by `deny.toml`. Advisories need a database from a network, and are left out.
pub(crate) fn deny(root: &Path) -> Verdict {
    let there = || starts("cargo-deny", &["--version"]);
    let install = ["install", "--locked", "cargo-deny"];
    if !(there() || cargo::run(root, &install, &[]) && there()) {
        return Verdict::Skip("`cargo install --locked cargo-deny` failed".to_owned());
    }
    let checks = ["deny", "--all-features", "check", "licenses", "bans", "sources"];
    Verdict::of(cargo::run(root, &checks, &[]))
}

/// Spelling by `typos.toml`, with the program that [`crate::prepare`] found or installed.
pub(crate) fn typos(root: &Path) -> Verdict {
    let own = cargo::target(root).join("python/bin/typos").display().to_string();
    let found = ["typos", own.as_str()].into_iter().find(|p| starts(p, &["--version"]));
    let Some(program) = found else {
        return Verdict::Skip("no typos; `cargo install --locked typos-cli`".to_owned());
    };
    let status = Command::new(program).current_dir(root).status();
    Verdict::of(status.is_ok_and(|status| status.success()))
}

/// Processors that QEMU is, and what they lack: AVX2 with all that came after it, and AVX-512.
const PROCESSORS: [&str; 2] = ["Nehalem", "Haswell"];
/// The tests in which machine code, lanes and interpreter are compared.
const COMPARED: [&str; 3] = ["backends", "refused", "edges"];

/// Programs under an emulated processor without AVX2, and one without AVX-512: the same bits, by what it has.
pub(crate) fn older_processor(root: &Path) -> Verdict {
    if !starts("qemu-x86_64", &["--version"]) {
        return Verdict::Skip("no qemu-x86_64; `apt-get install qemu-user`".to_owned());
    }
    let build = ["test", "--package", "pfaff-program", "--lib", "--test", "main", "--no-run"];
    let build = [&build[..], &["--message-format", "json"]].concat();
    let Some(text) = cargo::output(root, &build) else { return Verdict::Fail };
    let path = |line: &str| {
        let rest = line.split_once("\"executable\":\"")?.1;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let binaries: Vec<String> = text.lines().filter_map(path).collect();
    let run = |processor: &str, binary: &String| {
        println!("{processor}: {binary}");
        Command::new("qemu-x86_64")
            .args(["-cpu", processor, binary])
            .args(COMPARED)
            .current_dir(root.join("crates/program"))
            .status()
            .is_ok_and(|status| status.success())
    };
    let passed = PROCESSORS.iter().all(|processor| binaries.iter().all(|b| run(processor, b)));
    Verdict::of(passed && !binaries.is_empty())
}
