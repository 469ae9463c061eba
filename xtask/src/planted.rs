//! Errors that are planted in a copy of the crates, all in one build, and what finds each of them.
//!
//! A place in the source becomes a call with its number k, and behaves wrongly if the variable `PFAFF_SIGN` is k. So
//! hundreds of errors cost one build, and the bits without an error are those of the crates. Places that the compiler
//! refuses are left out. Every model of the gallery and every test is run once to learn which places it comes to; for
//! an error only those are run again that come to its place, the quickest first.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::cargo;

const CRATES: [&str; 7] =
    ["expr", "model", "mechanics", "program", "solver", "engine", "present"];

/// The tests that look for an error after the gallery: the folder of the crate, and what is built.
const TESTS: [(&str, &[&str]); 4] = [
    ("mechanics", &["test", "--package", "pfaff-mechanics", "--lib", "--tests"]),
    ("solver", &["test", "--package", "pfaff-solver", "--lib", "--tests"]),
    ("engine", &["test", "--package", "pfaff", "--lib", "--test", "main"]),
    ("present", &["test", "--package", "pfaff-present", "--lib", "--tests"]),
];

/// Which of these look for an error of each place: those of its crate, of what is shown, of whole models.
const SEARCHES: [&[usize]; 3] = [&[0, 3, 2], &[1, 2], &[2]];

/// Tests that are run in one process, the quickest first.
const TOGETHER: usize = 12;

/// Runs models of the gallery that are named, and prints what their audits say; or lists the small ones.
const GALLERY: &str = r#"//! The audits of small models of the gallery.
use pfaff::{GALLERY, GalleryFiles, Model, Overrides, Run, Source, gallery_model};

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names.iter().any(|name| name == "--list") {
        for entry in GALLERY.iter().filter(|entry| !entry.is_large()) {
            println!("{}: test", entry.name);
        }
        return;
    }
    for entry in names.iter().filter_map(|name| gallery_model(name)) {
        let source = Source::new(entry.name, entry.text);
        let said = match Model::read(source, &Overrides::default(), &GalleryFiles) {
            Err(_) => "refused".to_owned(),
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

/// The crate of that program: by itself, because the examples of `pfaff` wait for all that its tests need.
const GALLERY_MANIFEST: &str = r#"[package]
name = "gallery_audit"
version = "0.1.0"
edition.workspace = true
publish = false

[dependencies]
pfaff = { workspace = true, features = ["whole"] }
"#;

/// What reads the variable, in each crate. The first time that a place is come to, its number is noted.
const SITE: &str = r#"
/// Planted errors.
#[doc(hidden)]
#[allow(missing_docs, dead_code, unreachable_pub)]
pub mod sign_site {
    use std::io::Write;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    static CHOSEN: AtomicUsize = AtomicUsize::new(usize::MAX);
    static SEEN: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

    pub fn is_chosen(k: usize) -> bool {
        if !SEEN[k].load(Relaxed) {
            first(k);
        }
        CHOSEN.load(Relaxed) == k
    }

    #[cold]
    fn first(k: usize) {
        SEEN[k].store(true, Relaxed);
        let text = std::env::var("PFAFF_SIGN").unwrap_or_default();
        CHOSEN.store(text.parse().unwrap_or(0), Relaxed);
        if let Some(log) = std::env::var_os("PFAFF_SIGN_LOG") {
            let file = std::fs::OpenOptions::new().create(true).append(true).open(log);
            let _ = file.and_then(|mut file| file.write_all(format!("{k}\n").as_bytes()));
        }
    }

    pub fn plus(k: usize) -> f64 {
        if is_chosen(k) { -1.0 } else { 1.0 }
    }

    pub fn minus(k: usize) -> f64 {
        if is_chosen(k) { 1.0 } else { -1.0 }
    }

    pub fn turned(k: usize, condition: bool) -> bool {
        is_chosen(k) != condition
    }
}
"#;

/// Cases that take longer without an error are left out.
const LONGEST: Duration = Duration::from_secs(30);

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

/// What kind of error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A sign is turned.
    Sign,
    /// A function returns nothing at once, or a condition is turned.
    Change,
}

/// One place where an error can be planted.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The name of the error, from 1.
    pub(crate) number: usize,
    pub(crate) kind: Kind,
    /// Which of the places: derivation, solver, audit.
    pub(crate) place: usize,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// Where in the file, how many bytes, and what stands there instead; `#` is the number.
    pub(crate) edits: Vec<(usize, usize, String)>,
    /// The line, for people.
    pub(crate) text: String,
}

/// What found an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Finder {
    Gallery,
    Tests,
}

impl Finder {
    /// What finds errors in a round.
    pub(crate) fn of(round: usize) -> Self {
        if round == 0 { Self::Gallery } else { Self::Tests }
    }
}

/// The rounds in which errors are looked for. All errors go through one before the next begins: the gallery runs before
/// tests are built.
pub(crate) const ROUNDS: usize = 4;

/// A binary whose cases are run by their names.
struct Binary {
    path: PathBuf,
    folder: PathBuf,
    is_gallery: bool,
    cases: Vec<Case>,
}

/// A model of the gallery, or a test.
struct Case {
    name: String,
    time: Duration,
    /// The places that it comes to.
    reaches: BTreeSet<usize>,
    /// What it says without an error.
    usual: String,
}

/// The crates with all errors, built.
pub(crate) struct Planted {
    /// The places that the compiler takes.
    pub(crate) sites: Vec<Site>,
    copy: Copy,
    log: PathBuf,
    gallery: Binary,
    /// The tests of each crate, once they are needed.
    tests: [Option<Vec<Binary>>; 4],
}

impl Planted {
    /// Copies the crates, plants the errors, builds, and learns what comes to which place.
    pub(crate) fn new(root: &Path, mut sites: Vec<Site>) -> io::Result<Self> {
        let copy = Copy::new(root)?;
        copy.forget_refused(root, &mut sites)?;
        copy.write(root, &sites)?;
        loop {
            let wrong = copy.wrong_lines()?;
            if wrong.is_empty() {
                break;
            }
            let before = sites.len();
            sites.retain(|site| !wrong.contains(&(site.file.clone(), site.line)));
            println!("{} places left", sites.len());
            if sites.len() == before {
                return Err(io::Error::other("the copy does not compile"));
            }
            copy.write(root, &sites)?;
        }
        let log = copy.folder.join("reached.txt");
        let words = ["build", "--package", "gallery_audit"];
        let path = copy.binaries(&words)?.pop();
        let path = path.ok_or_else(|| io::Error::other("the gallery does not compile"))?;
        let mut gallery =
            Binary { path, folder: copy.folder.clone(), is_gallery: true, cases: Vec::new() };
        gallery.learn(&log)?;
        Ok(Self { sites, copy, log, gallery, tests: [const { None }; 4] })
    }

    /// The tests of a crate.
    fn tests(&mut self, which: usize) -> io::Result<&[Binary]> {
        if self.tests[which].is_none() {
            let (package, words) = TESTS[which];
            let mut built = Vec::new();
            let words = [words, &["--no-run"]].concat();
            for path in self.copy.binaries(&words)? {
                let folder = self.copy.folder.join("crates").join(package);
                let mut binary = Binary { path, folder, is_gallery: false, cases: Vec::new() };
                binary.learn(&self.log)?;
                built.push(binary);
            }
            self.tests[which] = Some(built);
        }
        Ok(self.tests[which].as_deref().unwrap_or_default())
    }

    /// Whether an error is found in this round: by the audit of the gallery, by the tests of its crate, or by those of
    /// whole models.
    pub(crate) fn finds(&mut self, site: &Site, round: usize) -> io::Result<bool> {
        let log = self.log.clone();
        if round == 0 {
            return self.gallery.finds(site.number, &log);
        }
        let Some(&which) = SEARCHES[site.place].get(round - 1) else { return Ok(false) };
        for binary in self.tests(which)? {
            if binary.finds(site.number, &log)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many models and tests come to the place of an error.
    pub(crate) fn reaching(&mut self, site: &Site) -> io::Result<usize> {
        let mut count = self.gallery.reaching(site.number).len();
        for &which in SEARCHES[site.place] {
            count +=
                self.tests(which)?.iter().map(|b| b.reaching(site.number).len()).sum::<usize>();
        }
        Ok(count)
    }

    /// Where results are kept until all errors of a run have been looked for.
    pub(crate) fn record(&self) -> PathBuf {
        self.copy.folder.join("found.txt")
    }
}

impl Binary {
    /// Runs each case by itself, without an error, unless what was learnt about this binary is still there.
    fn learn(&mut self, log: &Path) -> io::Result<()> {
        let begun = Instant::now();
        let name = self.path.file_name().unwrap_or_default().to_owned();
        let kept = log.with_file_name(&name).with_extension("cases");
        let time = |file: &Path| fs::metadata(file).and_then(|data| data.modified());
        let is_new = time(&kept).is_ok_and(|kept| time(&self.path).is_ok_and(|it| it < kept));
        if is_new {
            let text = fs::read_to_string(&kept)?;
            self.cases = text.split('\0').filter_map(Case::read).collect();
        } else {
            self.try_all(log)?;
            self.cases.sort_by_key(|case| case.time);
            let text: Vec<String> = self.cases.iter().map(Case::write).collect();
            fs::write(&kept, text.join("\0"))?;
        }
        let (count, seconds) = (self.cases.len(), begun.elapsed().as_secs_f64());
        println!("{}: {count} cases, {seconds:.0} s", name.display());
        Ok(())
    }

    fn try_all(&mut self, log: &Path) -> io::Result<()> {
        let words: &[&str] =
            if self.is_gallery { &["--list"] } else { &["--list", "--format", "terse"] };
        let output = Command::new(&self.path).args(words).current_dir(&self.folder).output()?;
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        for name in list.lines().filter_map(|line| line.strip_suffix(": test")) {
            let _ = fs::remove_file(log);
            let begun = Instant::now();
            let out = log.with_extension("out");
            let mut child =
                self.command(0, &[name], &out)?.env("PFAFF_SIGN_LOG", log).spawn()?;
            let status = loop {
                match child.try_wait()? {
                    None if begun.elapsed() <= LONGEST => {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    status => break status,
                }
            };
            if !status.is_some_and(|status| status.success()) {
                let why = if status.is_some() {
                    "it fails without an error"
                } else {
                    "it takes long"
                };
                println!("left out, because {why}: {name}");
                let _ = child.kill();
                let _ = child.wait();
                continue;
            }
            let (name, time) = (name.to_owned(), begun.elapsed());
            let numbers = fs::read_to_string(log).unwrap_or_default();
            let reaches = numbers.lines().filter_map(|line| line.parse().ok()).collect();
            self.cases.push(Case { name, time, reaches, usual: fs::read_to_string(&out)? });
        }
        Ok(())
    }

    fn reaching(&self, error: usize) -> Vec<&Case> {
        self.cases.iter().filter(|case| case.reaches.contains(&error)).collect()
    }

    /// Whether a case that comes to the place of an error says something else than usual, fails, or takes far too long.
    fn finds(&self, error: usize, log: &Path) -> io::Result<bool> {
        for some in self.reaching(error).chunks(TOGETHER) {
            if self.find(error, some, log)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn find(&self, error: usize, cases: &[&Case], log: &Path) -> io::Result<bool> {
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let usual: BTreeSet<&str> = cases.iter().map(|case| case.usual.trim_end()).collect();
        let alone: Duration = cases.iter().map(|case| case.time).sum();
        let out = log.with_extension("out");
        let mut child = self.command(error, &names, &out)?.spawn()?;
        let begun = Instant::now();
        loop {
            let status = child.try_wait()?;
            let said = fs::read_to_string(&out).unwrap_or_default();
            let differs = if self.is_gallery {
                let whole = said.rfind('\n').map_or("", |end| &said[..end]);
                whole.lines().any(|line| !usual.contains(line))
            } else {
                said.contains("FAILED")
            };
            match status {
                Some(status) => return Ok(differs || !status.success()),
                None if differs || begun.elapsed() > 10 * alone + Duration::from_secs(20) => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(true);
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn command(&self, error: usize, names: &[&str], out: &Path) -> io::Result<Command> {
        let mut command = Command::new(&self.path);
        command.args(names).current_dir(&self.folder).env("PFAFF_SIGN", error.to_string());
        if !self.is_gallery {
            command.arg("--exact");
        }
        command.stdout(fs::File::create(out)?).stderr(Stdio::null());
        Ok(command)
    }
}

impl Case {
    fn write(&self) -> String {
        let places: Vec<String> = self.reaches.iter().map(ToString::to_string).collect();
        let (time, places) = (self.time.as_millis(), places.join(" "));
        format!("{}\n{time}\n{places}\n{}", self.name, self.usual)
    }

    fn read(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '\n');
        let name = parts.next()?.to_owned();
        let time = Duration::from_millis(parts.next()?.parse().ok()?);
        let reaches = parts.next()?.split(' ').filter_map(|place| place.parse().ok()).collect();
        Some(Self { name, time, reaches, usual: parts.next()?.to_owned() })
    }
}

/// A workspace of the crates under `target/signs`.
struct Copy {
    folder: PathBuf,
    target: PathBuf,
}

impl Copy {
    fn new(root: &Path) -> io::Result<Self> {
        let folder = cargo::target(root).join("signs");
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
        write_if_new(&folder.join("Cargo.toml"), lines.join("\n").as_bytes())?;
        for name in ["Cargo.lock", "README.md"] {
            write_if_new(&folder.join(name), &fs::read(root.join(name))?)?;
        }
        let planted: BTreeSet<PathBuf> =
            crate::signs::sites(root)?.into_iter().map(|site| site.file).collect();
        for name in CRATES.map(|name| format!("crates/{name}")) {
            mirror(root, &folder, Path::new(&name), &planted)?;
        }
        for name in ["models", "docs"] {
            mirror(root, &folder, Path::new(name), &planted)?;
        }
        let gallery = folder.join("crates/gallery_audit");
        fs::create_dir_all(gallery.join("src"))?;
        write_if_new(&gallery.join("Cargo.toml"), GALLERY_MANIFEST.as_bytes())?;
        write_if_new(&gallery.join("src/main.rs"), GALLERY.as_bytes())?;
        // NOTE: cargo knows crates by their places in a workspace, and would take the copies for the originals.
        let target = folder.join("target");
        Ok(Self { folder, target })
    }

    /// Writes the files with these places, and those that had some before.
    fn write(&self, root: &Path, sites: &[Site]) -> io::Result<()> {
        let mut files: BTreeSet<PathBuf> = sites.iter().map(|site| site.file.clone()).collect();
        files.extend(crate::signs::sites(root)?.into_iter().map(|site| site.file));
        for file in files {
            let text = planted_text(root, &file, sites)?;
            write_if_new(&self.folder.join(&file), text.as_bytes())?;
        }
        Ok(())
    }

    /// Leaves out what the compiler refused before, in files that have not changed since.
    fn forget_refused(&self, root: &Path, sites: &mut Vec<Site>) -> io::Result<()> {
        let files: BTreeSet<PathBuf> = sites.iter().map(|site| site.file.clone()).collect();
        for file in files {
            let Ok(there) = fs::read_to_string(self.folder.join(&file)) else { continue };
            let is_kept = |site: &Site| {
                let number = site.number.to_string();
                site.edits.iter().all(|edit| there.contains(&edit.2.replace('#', &number)))
            };
            let here = sites.iter().filter(|site| site.file == file);
            let kept: Vec<Site> = here.filter(|site| is_kept(site)).cloned().collect();
            if planted_text(root, &file, &kept)? == there {
                sites.retain(|site| site.file != file || is_kept(site));
            }
        }
        Ok(())
    }

    fn cargo(&self, words: &[&str]) -> Command {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.args(words).args(["--message-format", "json"]);
        command.env("CARGO_TARGET_DIR", &self.target).current_dir(&self.folder);
        command.stderr(Stdio::null());
        command
    }

    /// The lines at which the compiler finds errors.
    fn wrong_lines(&self) -> io::Result<BTreeSet<(PathBuf, usize)>> {
        let output = self.cargo(&["check", "--package", "pfaff", "--keep-going"]).output()?;
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
        let output = self.cargo(words).output()?;
        let path = |line: &str| {
            let rest = line.split_once("\"executable\":\"")?.1;
            Some(PathBuf::from(rest.split_once('"')?.0))
        };
        if !output.status.success() {
            return Err(io::Error::other(format!("`cargo {}` fails", words.join(" "))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(path).collect())
    }
}

/// A file with its errors.
fn planted_text(root: &Path, file: &Path, sites: &[Site]) -> io::Result<String> {
    let mut text = fs::read_to_string(root.join(file))?;
    let mut edits = Vec::new();
    for site in sites.iter().filter(|site| site.file == file) {
        let number = site.number.to_string();
        for (at, length, into) in &site.edits {
            edits.push((*at, *length, into.replace('#', &number)));
        }
    }
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.0));
    for (at, length, into) in edits {
        text.replace_range(at..at + length, &into);
    }
    Ok(text)
}

/// Copies what differs in a part of the repository, but for files in which errors are planted, so that nothing is built
/// twice. What is planted keeps no rule of lints.
fn mirror(root: &Path, to: &Path, part: &Path, planted: &BTreeSet<PathBuf>) -> io::Result<()> {
    fs::create_dir_all(to.join(part))?;
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(root.join(part))? {
        let entry = entry?;
        names.insert(entry.file_name());
        let file = part.join(entry.file_name());
        if entry.path().is_dir() {
            mirror(root, to, &file, planted)?;
        } else if !planted.contains(&file) {
            let mut bytes = fs::read(entry.path())?;
            if file.ends_with("Cargo.toml") {
                let text = String::from_utf8_lossy(&bytes);
                bytes = text.replace("[lints]\nworkspace = true", "").into_bytes();
            } else if file.ends_with("src/lib.rs") {
                bytes.extend(SITE.bytes());
                let is_graph = file.starts_with("crates/expr");
                bytes.extend(GRAPH.bytes().filter(|_| is_graph));
            }
            write_if_new(&to.join(&file), &bytes)?;
        }
    }
    for entry in fs::read_dir(to.join(part))? {
        let entry = entry?;
        if !names.contains(&entry.file_name()) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn write_if_new(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(file).is_ok_and(|there| there == bytes) {
        Ok(())
    } else {
        fs::write(file, bytes)
    }
}
