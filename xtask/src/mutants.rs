//! Mutants of `mechanics`: small changes of its source that its own tests must notice.
//!
//! A mutant changes one token: a sign, a comparison, a condition, a small number. Mutants are drawn at random from
//! a seed, compiled and tested one after the other in a copy of the crate under `target/mutants`. One that does not
//! compile is not counted; one whose tests fail or take ten times as long is noticed. A mutant that no test
//! notices points to a formula without a test, or to code that changes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo;
use crate::steps::Verdict;
use crate::tidy::scan::views;

/// How many are tested.
const COUNT: usize = 40;
/// How many of them may survive: some change nothing that can be seen, such as the order of a search.
const ALLOWED: usize = 2;
/// The seed of `cargo xtask all`.
pub(crate) const SEED: u64 = 2026;
/// The crates that the tests of mechanics need.
const CRATES: [&str; 3] = ["expr", "model", "mechanics"];

/// What is replaced by what. The formatter puts spaces around operators between two operands.
const SWAPS: &[(&str, &str)] = &[
    (".add(", ".sub("),
    (".sub(", ".add("),
    (".mul(", ".div("),
    (".div(", ".mul("),
    ("g.neg(", "std::convert::identity("),
    (".zero()", ".one()"),
    (".one()", ".zero()"),
    (".sin(", ".cos("),
    (".cos(", ".sin("),
    (".any(", ".all("),
    (".all(", ".any("),
    (".is_some()", ".is_none()"),
    (".is_none()", ".is_some()"),
    (" + ", " - "),
    (" - ", " + "),
    (" += ", " -= "),
    (" -= ", " += "),
    (" == ", " != "),
    (" != ", " == "),
    (" < ", " <= "),
    (" <= ", " < "),
    (" > ", " >= "),
    (" >= ", " > "),
    (" && ", " || "),
    (" || ", " && "),
    (" !", " "),
    ("(!", "("),
    (" if ", " if true || "),
    (" if ", " if false && "),
];

/// One change of one file.
struct Mutant {
    file: PathBuf,
    line: usize,
    changed: &'static str,
    into: &'static str,
    text: String,
}

/// The check of `cargo xtask all`.
pub(crate) fn check(root: &Path) -> Verdict {
    Verdict::of(passes(root, SEED))
}

/// Tests the mutants of a seed and prints those that survive; true if they are few enough.
pub(crate) fn passes(root: &Path, seed: u64) -> bool {
    match survivors(root, seed) {
        Ok(survivors) => survivors <= ALLOWED,
        Err(fault) => {
            println!("{fault}");
            false
        }
    }
}

fn survivors(root: &Path, seed: u64) -> io::Result<usize> {
    let copy = Copy::new(root)?;
    let Some(binaries) = copy.build() else {
        return Err(io::Error::other("the tests of mechanics do not compile"));
    };
    let begun = Instant::now();
    if copy.fails(&binaries, Duration::MAX) {
        return Err(io::Error::other("the tests of mechanics fail without any change"));
    }
    let limit = 10 * begun.elapsed();
    let mut mutants = mutants(&root.join("crates/mechanics/src"))?;
    println!("{} mutants in all; {COUNT} of them with the seed {seed}", mutants.len());
    let mut random = SplitMix(seed);
    let (mut tested, mut survivors) = (0, 0);
    while tested < COUNT && !mutants.is_empty() {
        let mutant = mutants.swap_remove(random.below(mutants.len()));
        let file = copy.source().join(&mutant.file);
        let before = fs::read_to_string(&file)?;
        fs::write(&file, &mutant.text)?;
        if let Some(binaries) = copy.build() {
            tested += 1;
            if !copy.fails(&binaries, limit) {
                survivors += 1;
                let Mutant { file, line, changed, into, .. } = &mutant;
                println!("survives: {}:{line}: `{changed}` -> `{into}`", file.display());
            }
        }
        fs::write(&file, before)?;
    }
    println!("{survivors} of {tested} mutants survive");
    Ok(survivors)
}

/// A workspace of the crates that are needed, under `target/mutants`.
struct Copy {
    folder: PathBuf,
}

impl Copy {
    fn new(root: &Path) -> io::Result<Self> {
        let folder = cargo::target(root).join("mutants");
        let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
        let kept = |line: &&str| !line.starts_with("default-members");
        let lines: Vec<&str> =
            manifest
                .lines()
                .filter(kept)
                .map(|line| {
                    if line.starts_with("members") { "members = [\"crates/*\"]" } else { line }
                })
                .collect();
        fs::create_dir_all(folder.join("crates"))?;
        fs::write(folder.join("Cargo.toml"), lines.join("\n"))?;
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        for name in CRATES {
            let there = folder.join("crates").join(name);
            if there.exists() {
                fs::remove_dir_all(&there)?;
            }
            copy_folder(&root.join("crates").join(name), &there)?;
        }
        Ok(Self { folder })
    }

    fn source(&self) -> PathBuf {
        self.folder.join("crates/mechanics/src")
    }

    /// The test binaries; none if the source does not compile.
    fn build(&self) -> Option<Vec<PathBuf>> {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(program)
            .args(["test", "--quiet", "--package", "pfaff-mechanics", "--lib", "--tests"])
            .args(["--no-run", "--message-format", "json"])
            .env("CARGO_TARGET_DIR", self.folder.join("target"))
            .current_dir(&self.folder)
            .stderr(Stdio::null())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = |line: &str| {
            let rest = line.split_once("\"executable\":\"")?.1;
            Some(PathBuf::from(rest.split_once('"')?.0))
        };
        output.status.success().then(|| text.lines().filter_map(path).collect())
    }

    /// Whether a test fails, or runs longer than the limit.
    fn fails(&self, binaries: &[PathBuf], limit: Duration) -> bool {
        let log = self.folder.join("log.txt");
        binaries.iter().any(|binary| {
            let Ok(out) = fs::File::create(&log) else { return true };
            let child = Command::new(binary)
                .current_dir(self.folder.join("crates/mechanics"))
                .stdout(out)
                .stderr(Stdio::null())
                .spawn();
            let Ok(mut child) = child else { return true };
            let begun = Instant::now();
            loop {
                match child.try_wait() {
                    Ok(Some(status)) => return !status.success(),
                    Ok(None) => {}
                    Err(_) => return true,
                }
                let failed = fs::read_to_string(&log).is_ok_and(|log| log.contains("FAILED"));
                if failed || begun.elapsed() > limit {
                    // NOTE: it may have ended by itself in between.
                    let _ = child.kill();
                    let _ = child.wait();
                    return true;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let there = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &there)?;
        } else {
            fs::copy(entry.path(), there)?;
        }
    }
    Ok(())
}

/// All mutants of the files under a folder, in a fixed order.
fn mutants(folder: &Path) -> io::Result<Vec<Mutant>> {
    let (mut all, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(part) = open.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder.join(&part))?
            .map(|entry| entry.map(|entry| part.join(entry.file_name())))
            .collect::<io::Result<_>>()?;
        entries.sort();
        for file in entries {
            if folder.join(&file).is_dir() {
                open.push(file);
            } else if file.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(folder.join(&file))?;
                all.extend(of_text(&file, &text));
            }
        }
    }
    Ok(all)
}

/// The mutants of a text: in its code, before its tests, outside of attributes, `use` and constants.
fn of_text(file: &Path, text: &str) -> Vec<Mutant> {
    let code = views(text).code;
    let (mut all, mut start) = (Vec::new(), 0);
    for (number, line) in code.lines().enumerate() {
        let begin = line.trim_start();
        if begin.starts_with("#[cfg(test)]") {
            break;
        }
        if !["#", "use ", "pub use ", "const ", "pub(crate) const "]
            .iter()
            .any(|word| begin.starts_with(word))
        {
            for (at, changed, into) in of_line(line) {
                let skipped = start + line[..at].chars().count();
                let place = text.char_indices().nth(skipped).map_or(text.len(), |(i, _)| i);
                let rest = &text[place + changed.len()..];
                let (file, line) = (file.to_owned(), number + 1);
                let text = format!("{}{into}{rest}", &text[..place]);
                all.push(Mutant { file, line, changed, into, text });
            }
        }
        start += line.chars().count() + 1;
    }
    all
}

/// Where a line can be changed, and how.
fn of_line(line: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut all = Vec::new();
    for &(changed, into) in SWAPS {
        all.extend(line.match_indices(changed).map(|(at, _)| (at, changed, into)));
    }
    for (changed, into) in [("0", "1"), ("1", "0"), ("2", "1")] {
        let lone = |at: &usize| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.' || c == '"';
            let after = &line[at + 1..];
            let range = after.starts_with("..");
            !line[..*at].ends_with(is_part) && (range || !after.starts_with(is_part))
        };
        let places = line.match_indices(changed).map(|(at, _)| at).filter(lone);
        all.extend(places.map(|at| (at, changed, into)));
    }
    all
}

/// Numbers that look random: SplitMix64.
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % count as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_changed_and_nothing_else() {
        let text = "/// λ + μ\nconst A: usize = 1;\nfn f(g: &Graph) {\n    let λ = g.add(a, b[0]); // a + b\n    \
            if x == 10 || !y {\n        h(\"1 + 1\", 0.5);\n    }\n}\n#[cfg(test)]\nmod tests { fn t() { a + b } }\n";
        let found: Vec<(usize, &str, &str)> = of_text(Path::new("a.rs"), text)
            .iter()
            .map(|m| (m.line, m.changed, m.into))
            .collect();
        let wanted = [
            (4, ".add(", ".sub("),
            (4, "0", "1"),
            (5, " == ", " != "),
            (5, " || ", " && "),
            (5, " !", " "),
            (5, " if ", " if true || "),
            (5, " if ", " if false && "),
        ];
        assert_eq!(found, wanted);
        let first = &of_text(Path::new("a.rs"), text)[0].text;
        assert!(first.contains("let λ = g.sub(a, b[0]);"), "{first}");
    }

    #[test]
    fn every_mutant_is_drawn_once() {
        let mut random = SplitMix(1);
        let mut left: Vec<usize> = (0..20).collect();
        let mut drawn = Vec::new();
        while !left.is_empty() {
            drawn.push(left.swap_remove(random.below(left.len())));
        }
        assert_ne!(drawn, (0..20).collect::<Vec<_>>());
        drawn.sort_unstable();
        assert_eq!(drawn, (0..20).collect::<Vec<_>>());
    }
}
