//! Planted sign errors: in the derivation, the solver and the audit, each must be found by a test or by the audit of a
//! gallery run.
//!
//! All errors are in one binary of each kind, in a copy of the crates under `target/signs`: a sum `a - b` becomes
//! `a + s(k)*b`, where `s(k)` is −1 unless the variable `PFAFF_SIGN` is k, and `g.sub(a, b)` becomes
//! `g.sub_site(k, a, b)` likewise. Places of which the compiler says that they are no sums of doubles are left out. So
//! two hundred errors cost one build, and the bits without an error are those of the crates.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo;
use crate::mutants::{SplitMix, copy_folder};
use crate::steps::Verdict;
use crate::tidy::scan::views;

/// Where errors are planted, by folders below `crates`, and how many of all.
const PLACES: [(&str, usize); 3] =
    [("mechanics/src", 80), ("solver/src", 80), ("engine/src/audit", 40)];
const CRATES: [&str; 7] =
    ["expr", "model", "mechanics", "program", "solver", "engine", "present"];
/// Errors that no test can find, by file and line text, with the reason.
const ACCEPTED: &[(&str, &str, &str)] = &[];
/// The seed of `cargo xtask all`.
pub(crate) const SEED: u64 = 2026;

/// The tests that look for an error, after the gallery: the folder of the crate, what is built, which tests are run.
const TESTS: [(&str, &[&str], &[&str]); 3] = [
    ("mechanics", &["test", "--package", "pfaff-mechanics", "--lib", "--tests"], &[]),
    ("solver", &["test", "--package", "pfaff-solver", "--lib", "--tests"], &[]),
    ("engine", &["test", "--package", "pfaff", "--lib", "--test", "main"], AUDIT),
];

/// The tests of the engine that look at audits.
const AUDIT: &[&str] = &["audit", "truth", "numerics::long_runs", "numerics::branches"];

/// Tests of a crate that are built.
struct Tests {
    package: &'static str,
    binaries: Vec<PathBuf>,
    filters: &'static [&'static str],
    /// Longer than this they hang.
    limit: Duration,
}

/// Runs every small model of the gallery, and prints what its audit says.
const GALLERY: &str = r#"//! The audit of every small model of the gallery.
use pfaff::{GALLERY, GalleryFiles, Model, Overrides, Run, Source};

fn main() {
    for entry in GALLERY.iter().filter(|entry| !entry.is_large()) {
        let source = Source::new(entry.name, entry.text);
        let said = match Model::read(source, &Overrides::default(), &GalleryFiles) {
            Err(_) => "refused".to_owned(),
            Ok(model) if !model.terminal.is_empty() => "left out".to_owned(),
            Ok(model) => {
                let request = Run { max_steps: Some(300), samples: Some(21), ..Run::default() };
                let motion = std::panic::catch_unwind(|| model.run(&request));
                match motion {
                    Ok(Ok(motion)) => {
                        format!("{} {}", motion.stop.reason.name(), motion.audit.verdict.name())
                    }
                    Ok(Err(_)) => "refused".to_owned(),
                    Err(_) => "panic".to_owned(),
                }
            }
        };
        println!("{} {said}", entry.name);
    }
}
"#;

/// What reads the variable, in each crate.
const SITE: &str = r#"
/// Planted errors.
#[doc(hidden)]
#[allow(missing_docs, dead_code, unreachable_pub)]
pub mod sign_site {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);

    pub fn is_chosen(k: usize) -> bool {
        let mut chosen = CHOSEN.load(Ordering::Relaxed);
        if chosen == usize::MAX {
            let text = std::env::var("PFAFF_SIGN").unwrap_or_default();
            chosen = text.parse().unwrap_or(0);
            CHOSEN.store(chosen, Ordering::Relaxed);
        }
        chosen == k
    }

    pub fn plus(k: usize) -> f64 {
        if is_chosen(k) { -1.0 } else { 1.0 }
    }

    pub fn minus(k: usize) -> f64 {
        if is_chosen(k) { 1.0 } else { -1.0 }
    }
}
"#;

const GRAPH: &str = r"
#[doc(hidden)]
#[allow(missing_docs)]
impl Graph {
    pub fn add_site(&self, k: usize, a: Expr, b: Expr) -> Expr {
        if sign_site::is_chosen(k) { self.sub(a, b) } else { self.add(a, b) }
    }

    pub fn sub_site(&self, k: usize, a: Expr, b: Expr) -> Expr {
        if sign_site::is_chosen(k) { self.add(a, b) } else { self.sub(a, b) }
    }

    pub fn neg_site(&self, k: usize, a: Expr) -> Expr {
        if sign_site::is_chosen(k) { a } else { self.neg(a) }
    }
}
";

/// One place where a sign can be turned.
#[derive(Clone, Debug)]
struct Site {
    /// The name of the error, from 1.
    number: usize,
    place: usize,
    file: PathBuf,
    line: usize,
    /// Where in the file, and what is replaced by what.
    at: usize,
    length: usize,
    into: String,
    /// The line, for people.
    text: String,
}

/// The check of `cargo xtask all`.
pub(crate) fn check(root: &Path) -> Verdict {
    Verdict::of(passes(root, 200, SEED))
}

/// Plants so many errors of a seed; true if every one is found or accepted.
pub(crate) fn passes(root: &Path, count: usize, seed: u64) -> bool {
    match survivors(root, count, seed) {
        Ok(survivors) => survivors == 0,
        Err(fault) => {
            println!("{fault}");
            false
        }
    }
}

fn survivors(root: &Path, count: usize, seed: u64) -> io::Result<usize> {
    let copy = Copy::new(root)?;
    let mut sites = sites(root)?;
    copy.write(root, &sites)?;
    for _ in 0..12 {
        let wrong = copy.wrong_lines()?;
        if wrong.is_empty() {
            break;
        }
        sites.retain(|site| !wrong.contains(&(site.file.clone(), site.line)));
        println!("{} places left", sites.len());
        copy.write(root, &sites)?;
    }
    let gallery = copy.gallery()?;
    let mut tests = Vec::new();
    for (package, words, filters) in TESTS {
        let binaries = copy.binaries(words)?;
        let limit = Duration::from_hours(1);
        let mut built = Tests { package, binaries, filters, limit };
        let begun = Instant::now();
        if copy.fails(&built, 0) {
            return Err(io::Error::other(format!(
                "the tests of {package} fail without any error"
            )));
        }
        println!("tests of {package}: {:.0} s", begun.elapsed().as_secs_f64());
        built.limit = 10 * begun.elapsed() + Duration::from_secs(20);
        tests.push(built);
    }
    let begun = Instant::now();
    let Some(usual) = copy.audits(&gallery, 0, Duration::from_mins(30), "") else {
        return Err(io::Error::other("the gallery cannot be run without any error"));
    };
    let patience = 10 * begun.elapsed() + Duration::from_secs(20);
    let mut random = SplitMix(seed);
    let (mut planted, mut by_gallery, mut by_tests, mut survived, mut accepted) =
        (0, 0, 0, 0, 0);
    for (place, (_, share)) in PLACES.iter().enumerate() {
        let mut left: Vec<&Site> = sites.iter().filter(|site| site.place == place).collect();
        for _ in 0..(share * count).div_ceil(200).min(left.len()) {
            let site = left.swap_remove(random.below(left.len()));
            planted += 1;
            if copy.audits(&gallery, site.number, patience, &usual).as_ref() != Some(&usual) {
                by_gallery += 1;
            } else if copy.fails(&tests[place], site.number) {
                by_tests += 1;
            } else if is_accepted(site) {
                accepted += 1;
            } else {
                survived += 1;
                println!(
                    "survives: {}:{}: {}",
                    site.file.display(),
                    site.line,
                    site.text.trim()
                );
            }
        }
    }
    println!(
        "{planted} sign errors of {}: {by_gallery} found by the audit of the gallery, {by_tests} by tests, \
         {accepted} accepted, {survived} survive",
        sites.len()
    );
    Ok(survived)
}

fn is_accepted(site: &Site) -> bool {
    let file = site.file.display().to_string();
    ACCEPTED.iter().any(|(name, text, _)| file.ends_with(name) && site.text.contains(text))
}

/// All places that may be sums.
fn sites(root: &Path) -> io::Result<Vec<Site>> {
    let mut all = Vec::new();
    for (place, (folder, _)) in PLACES.iter().enumerate() {
        let mut open = vec![PathBuf::from("crates").join(folder)];
        let mut files = Vec::new();
        while let Some(part) = open.pop() {
            for entry in fs::read_dir(root.join(&part))? {
                let path = part.join(entry?.file_name());
                if root.join(&path).is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    files.push(path);
                }
            }
        }
        files.sort();
        for file in files {
            let text = fs::read_to_string(root.join(&file))?;
            of_text(place, &file, &text, &mut all);
        }
    }
    for (i, site) in all.iter_mut().enumerate() {
        site.number = i + 1;
    }
    Ok(all)
}

/// What is replaced, in symbols and in doubles.
const SYMBOLIC: &[(&str, &str)] =
    &[("g.add(", "g.add_site(#, "), ("g.sub(", "g.sub_site(#, "), ("g.neg(", "g.neg_site(#, ")];
const NUMERIC: &[(&str, &str)] = &[
    (" + ", " + crate::sign_site::plus(#) * "),
    (" - ", " + crate::sign_site::minus(#) * "),
    (" += ", " += crate::sign_site::plus(#) * "),
    (" -= ", " -= crate::sign_site::plus(#) * "),
];

/// The places of a text: in its code, before its tests, outside of declarations.
fn of_text(place: usize, file: &Path, text: &str, all: &mut Vec<Site>) {
    let code = views(text).code;
    let swaps = if place == 0 { SYMBOLIC } else { NUMERIC };
    let byte: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
    let mut start = 0;
    for (number, line) in code.lines().enumerate() {
        let begin = line.trim_start();
        if begin.starts_with("#[cfg(test)]") {
            break;
        }
        let is_code = !["#", "use ", "const ", "pub", "impl", "where", "fn ", "static "]
            .iter()
            .any(|word| begin.starts_with(word));
        for (from, into) in swaps.iter().filter(|_| is_code && !line.contains("dyn ")) {
            for (at, _) in line.match_indices(from) {
                let at = byte[start + line[..at].chars().count()];
                let (file, line) = (file.to_owned(), number + 1);
                let shown = text.lines().nth(number).unwrap_or_default().to_owned();
                let into = (*into).to_owned();
                all.push(Site {
                    number: 0,
                    place,
                    file,
                    line,
                    at,
                    length: from.len(),
                    into,
                    text: shown,
                });
            }
        }
        start += line.chars().count() + 1;
    }
}

/// A workspace of the crates under `target/signs`.
struct Copy {
    folder: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn new(root: &Path) -> io::Result<Self> {
        let target = cargo::target(root);
        let folder = target.join("signs");
        fs::create_dir_all(folder.join("crates"))?;
        let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
        let mut lines = Vec::new();
        for line in manifest.lines().filter(|line| !line.starts_with("default-members")) {
            match line {
                _ if line.starts_with("exclude") => {}
                _ if line.starts_with("members") => lines.push("members = [\"crates/*\"]"),
                _ => lines.push(line),
            }
        }
        fs::write(folder.join("Cargo.toml"), lines.join("\n"))?;
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        fs::copy(root.join("README.md"), folder.join("README.md"))?;
        for name in CRATES {
            let there = folder.join("crates").join(name);
            if there.exists() {
                fs::remove_dir_all(&there)?;
            }
            copy_folder(&root.join("crates").join(name), &there)?;
            // NOTE: what is planted keeps no rule.
            let manifest = there.join("Cargo.toml");
            let text = fs::read_to_string(&manifest)?.replace("[lints]\nworkspace = true", "");
            fs::write(manifest, text)?;
            let library = there.join("src/lib.rs");
            let mut text = fs::read_to_string(&library)? + SITE;
            if name == "expr" {
                text += GRAPH;
            }
            fs::write(library, text)?;
        }
        for name in ["models", "docs"] {
            copy_folder(&root.join(name), &folder.join(name))?;
        }
        fs::write(folder.join("crates/engine/examples/gallery_audit.rs"), GALLERY)?;
        Ok(Self { folder, target })
    }

    /// Writes the files with these places.
    fn write(&self, root: &Path, sites: &[Site]) -> io::Result<()> {
        let files: BTreeSet<&PathBuf> = sites.iter().map(|site| &site.file).collect();
        let mut every: BTreeSet<PathBuf> = files.iter().map(|file| (*file).clone()).collect();
        every.extend(self::sites(root)?.into_iter().map(|site| site.file));
        for file in every {
            let before = fs::read_to_string(root.join(&file))?;
            let mut text = before.clone();
            let mut here: Vec<&Site> = sites.iter().filter(|site| site.file == file).collect();
            here.sort_by_key(|site| std::cmp::Reverse(site.at));
            for site in here {
                let into = site.into.replace('#', &site.number.to_string());
                text.replace_range(site.at..site.at + site.length, &into);
            }
            let there = self.folder.join(&file);
            if fs::read_to_string(&there)? != text {
                fs::write(there, text)?;
            }
        }
        Ok(())
    }

    fn cargo(&self, words: &[&str]) -> Command {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.args(words).env("CARGO_TARGET_DIR", &self.target).current_dir(&self.folder);
        command
    }

    /// The lines at which the compiler finds errors.
    fn wrong_lines(&self) -> io::Result<BTreeSet<(PathBuf, usize)>> {
        let words = ["check", "--package", "pfaff", "--keep-going", "--message-format", "json"];
        let output = self.cargo(&words).stderr(Stdio::null()).output()?;
        let mut wrong = BTreeSet::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if !line.contains("\"level\":\"error\"") {
                continue;
            }
            // Every place that the message names.
            for part in line.split("\"file_name\":\"").skip(1) {
                let Some((file, rest)) = part.split_once('"') else { continue };
                let number = |key: &str| {
                    let rest = rest.split_once(key)?.1;
                    let digits: String =
                        rest.chars().take_while(char::is_ascii_digit).collect();
                    digits.parse::<usize>().ok()
                };
                let (Some(start), Some(end)) =
                    (number("\"line_start\":"), number("\"line_end\":"))
                else {
                    continue;
                };
                wrong.extend((start..=end).map(|line| (PathBuf::from(file), line)));
            }
        }
        if wrong.is_empty() && !output.status.success() {
            return Err(io::Error::other("the copy does not compile"));
        }
        Ok(wrong)
    }

    fn binaries(&self, words: &[&str]) -> io::Result<Vec<PathBuf>> {
        let words = [words, &["--no-run", "--message-format", "json"]].concat();
        let output = self.cargo(&words).stderr(Stdio::null()).output()?;
        let path = |line: &str| {
            let rest = line.split_once("\"executable\":\"")?.1;
            Some(PathBuf::from(rest.split_once('"')?.0))
        };
        if !output.status.success() {
            return Err(io::Error::other(format!("`cargo {}` fails", words.join(" "))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(path).collect())
    }

    fn gallery(&self) -> io::Result<PathBuf> {
        let words = ["build", "--package", "pfaff", "--example", "gallery_audit"];
        let words = [&words[..], &["--message-format", "json"]].concat();
        let output = self.cargo(&words).stderr(Stdio::null()).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let path = |line: &str| {
            let rest = line.split_once("\"executable\":\"")?.1;
            Some(PathBuf::from(rest.split_once('"')?.0))
        };
        let found = text.lines().filter_map(path).next_back();
        found.ok_or_else(|| io::Error::other("the gallery does not compile"))
    }

    /// What the audits of the gallery say, up to the first that differs from the usual ones; none if it takes too long.
    fn audits(
        &self,
        binary: &Path,
        error: usize,
        limit: Duration,
        usual: &str,
    ) -> Option<String> {
        let log = self.folder.join("gallery.txt");
        let out = fs::File::create(&log).ok()?;
        let mut child = Command::new(binary)
            .env("PFAFF_SIGN", error.to_string())
            .current_dir(&self.folder)
            .stdout(out)
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let begun = Instant::now();
        while child.try_wait().ok()?.is_none() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let differs = !usual.is_empty() && !usual.starts_with(&said);
            if differs || begun.elapsed() > limit {
                let _ = child.kill();
                let _ = child.wait();
                return differs.then_some(said);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        fs::read_to_string(log).ok()
    }

    /// Whether a test fails, or runs longer than the limit.
    fn fails(&self, tests: &Tests, error: usize) -> bool {
        let log = self.folder.join("log.txt");
        tests.binaries.iter().any(|binary| {
            let Ok(out) = fs::File::create(&log) else { return true };
            let child = Command::new(binary)
                .env("PFAFF_SIGN", error.to_string())
                .args(tests.filters)
                .current_dir(self.folder.join("crates").join(tests.package))
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
                if failed || begun.elapsed() > tests.limit {
                    let _ = child.kill();
                    let _ = child.wait();
                    return true;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }
}
