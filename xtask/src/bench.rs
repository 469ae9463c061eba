//! `cargo xtask bench`: one table of ratios to hand-written code. `cargo xtask bench all`: the benchmarks of
//! every crate that has some. `cargo xtask bench scale`: growth with the size of a system.
//!
//! A crate has benchmarks if it has a folder `benches` with Rust files, or names some in its manifest. Times are
//! printed and never judged: they belong to the machine.

use std::fs;
use std::path::Path;

use crate::cargo;

/// Prints the table of ratios. Rivals in Rust are compiled for this processor, in a folder of their own.
pub(crate) fn ratios(root: &Path) -> bool {
    let native = cargo::target(root).join("native").into_os_string();
    let variables =
        [("RUSTFLAGS", "-C target-cpu=native".into()), ("CARGO_TARGET_DIR", native)];
    cargo::run(root, &["bench", "--package", "pfaff", "--bench", "ratios"], &variables)
}

/// Prints how the cost of every stage grows with the size of a system; all models, or one at given sizes.
pub(crate) fn scale(root: &Path, words: &[&str]) -> bool {
    let fixed = ["bench", "--package", "pfaff", "--bench", "scale", "--"];
    cargo::run(root, &[&fixed, words].concat(), &[])
}

/// Writes the scoreboard of methods for long times into the documents.
pub(crate) fn longtime(root: &Path, steps: &[&str]) -> bool {
    let fixed =
        ["run", "--release", "--package", "pfaff-present", "--example", "longtime", "--"];
    cargo::run(root, &[&fixed, steps].concat(), &[])
}

/// Runs them all; true if none failed.
pub(crate) fn run(root: &Path) -> bool {
    let benches = benches(root);
    if benches.is_empty() {
        println!("no crate has benchmarks");
    }
    let mut passed = true;
    for (package, bench) in &benches {
        println!("\n── {package}: {bench} ──");
        passed &= cargo::run(root, &["bench", "--package", package, "--bench", bench], &[]);
    }
    passed
}

/// Package and benchmark, sorted by folder and name.
fn benches(root: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for folder in entries(&root.join("crates")) {
        let manifest = root.join("crates").join(&folder).join("Cargo.toml");
        let Ok(manifest) = fs::read_to_string(manifest) else { continue };
        let Some(package) = value(&manifest, "[package]", "name").into_iter().next() else {
            continue;
        };
        let files = entries(&root.join("crates").join(&folder).join("benches"));
        let mut names: Vec<String> = files
            .iter()
            .filter_map(|file| file.strip_suffix(".rs"))
            .map(str::to_owned)
            .collect();
        names.extend(value(&manifest, "[[bench]]", "name"));
        names.sort();
        names.dedup();
        found.extend(names.into_iter().map(|name| (package.clone(), name)));
    }
    found
}

fn entries(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        listed.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The values of `key` in all sections called `section`.
fn value(manifest: &str, section: &str, key: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == section;
        } else if inside
            && let Some((name, value)) = line.split_once('=')
            && name.trim() == key
        {
            found.push(value.split('#').next().unwrap_or("").trim().trim_matches('"').into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_their_sections() {
        let manifest = "[package]\nname = \"a\"\n[[bench]]\nname = \"b\"\nharness = false\n\
            [[bench]]\nname = \"c\" # d\n";
        assert_eq!(value(manifest, "[package]", "name"), ["a"]);
        assert_eq!(value(manifest, "[[bench]]", "name"), ["b", "c"]);
    }
}
