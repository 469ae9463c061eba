//! Planted errors: in the derivation, the solver and the audit, each must be found by a test or by the audit of a
//! gallery run.
//!
//! `signs`: a sum `a - b` becomes `a + s(k)*b`, where `s(k)` is −1 unless k is chosen, and `g.sub(a, b)` becomes
//! `g.sub_site(k, a, b)` likewise. `mutants` in one build: a function returns zero, nothing or an empty list at once,
//! or a condition is turned. How they are built and looked for is in `planted.rs`.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::accepted::ACCEPTED;
use crate::mutants::SplitMix;
use crate::planted::{Finder, Kind, Planted, ROUNDS, Site};
use crate::steps::Verdict;
use crate::tidy::scan::views;

/// Where errors are planted, by folders below `crates`, and how many of two hundred.
const PLACES: [(&str, usize); 3] =
    [("mechanics/src", 80), ("solver/src", 80), ("engine/src/audit", 40)];
/// The seed of `cargo xtask all`.
pub(crate) const SEED: u64 = 2026;
/// How many changes `cargo xtask all` plants.
pub(crate) const CHANGES: usize = 100;

/// The check of `cargo xtask all`.
pub(crate) fn check(root: &Path) -> Verdict {
    Verdict::of(passes(root, &[(Kind::Sign, 200), (Kind::Change, CHANGES)], SEED))
}

/// Plants so many errors of each kind of a seed; true if every one is found or accepted.
pub(crate) fn passes(root: &Path, kinds: &[(Kind, usize)], seed: u64) -> bool {
    match survivors(root, kinds, seed) {
        Ok(survivors) => survivors == 0,
        Err(fault) => {
            println!("{fault}");
            false
        }
    }
}

fn survivors(root: &Path, kinds: &[(Kind, usize)], seed: u64) -> io::Result<usize> {
    let mut planted = Planted::new(root, sites(root)?)?;
    let mut record = Record::read(planted.record(), root);
    let chosen: Vec<Site> =
        kinds.iter().flat_map(|&kind| chosen(&planted.sites, kind, seed)).collect();
    for round in 0..ROUNDS {
        for site in &chosen {
            if record.finder(site)?.is_none() && planted.finds(site, round)? {
                record.add(site, Finder::of(round))?;
            }
        }
    }
    let mut all = 0;
    for &(kind, _) in kinds {
        let (mut by_gallery, mut by_tests, mut survived, mut accepted) = (0, 0, 0, 0);
        for site in chosen.iter().filter(|site| site.kind == kind) {
            match record.finder(site)? {
                Some(Finder::Gallery) => by_gallery += 1,
                Some(Finder::Tests) => by_tests += 1,
                None if is_accepted(site) => accepted += 1,
                None => {
                    survived += 1;
                    println!(
                        "survives, {} come there: {}:{}: {}",
                        planted.reaching(site)?,
                        site.file.display(),
                        site.line,
                        site.text.trim()
                    );
                }
            }
        }
        println!(
            "{} {}, of {} places: {by_gallery} found by the audit of the gallery, {by_tests} by tests, {accepted} \
             accepted, {survived} survive",
            by_gallery + by_tests + accepted + survived,
            if kind == Kind::Sign { "sign errors" } else { "changes" },
            planted.sites.iter().filter(|site| site.kind == kind).count()
        );
        all += survived;
    }
    if all == 0 {
        record.forget()?;
    }
    Ok(all)
}

/// So many places of a kind, drawn from a seed, as many from each part of the crates as its share.
fn chosen(sites: &[Site], (kind, count): (Kind, usize), seed: u64) -> Vec<Site> {
    let (mut random, mut chosen) = (SplitMix(seed), Vec::new());
    for (place, (_, share)) in PLACES.iter().enumerate() {
        let is_here = |site: &&Site| site.place == place && site.kind == kind;
        let mut left: Vec<Site> = sites.iter().filter(is_here).cloned().collect();
        for _ in 0..(share * count).div_ceil(200).min(left.len()) {
            chosen.push(left.swap_remove(random.below(left.len())));
        }
    }
    chosen
}

/// What was found, in a file, so that a run that was broken off goes on where it was, and one that had survivors looks
/// for these again. An error is known by the whole text of its file.
struct Record {
    file: PathBuf,
    root: PathBuf,
    lines: Vec<String>,
}

impl Record {
    fn read(file: PathBuf, root: &Path) -> Self {
        let text = fs::read_to_string(&file).unwrap_or_default();
        Self { file, root: root.to_owned(), lines: text.lines().map(str::to_owned).collect() }
    }

    fn name(&self, site: &Site) -> io::Result<String> {
        let mut hasher = DefaultHasher::new();
        fs::read(self.root.join(&site.file))?.hash(&mut hasher);
        let columns: Vec<String> = site.edits.iter().map(|edit| edit.0.to_string()).collect();
        let (file, text) = (site.file.display(), hasher.finish());
        Ok(format!("{file} {text:x} {} {:?}", columns.join(" "), site.kind))
    }

    fn finder(&self, site: &Site) -> io::Result<Option<Finder>> {
        let name = self.name(site)?;
        let has = |by: &str| self.lines.contains(&format!("{name} {by}"));
        Ok(if has("gallery") {
            Some(Finder::Gallery)
        } else if has("tests") {
            Some(Finder::Tests)
        } else {
            None
        })
    }

    fn add(&mut self, site: &Site, finder: Finder) -> io::Result<()> {
        let by = match finder {
            Finder::Gallery => "gallery",
            Finder::Tests => "tests",
        };
        let line = format!("{} {by}", self.name(site)?);
        if !self.lines.contains(&line) {
            self.lines.push(line);
            fs::write(&self.file, self.lines.join("\n"))?;
        }
        Ok(())
    }

    fn forget(self) -> io::Result<()> {
        if self.file.exists() { fs::remove_file(self.file) } else { Ok(()) }
    }
}

fn is_accepted(site: &Site) -> bool {
    let file = site.file.display().to_string();
    ACCEPTED.iter().any(|(name, text, _)| file.ends_with(name) && site.text.contains(text))
}

/// All places, by text alone: the compiler takes some of them.
pub(crate) fn sites(root: &Path) -> io::Result<Vec<Site>> {
    let mut all = Vec::new();
    for (place, (folder, _)) in PLACES.iter().enumerate() {
        let mut open = vec![PathBuf::from("crates").join(folder)];
        let mut files = Vec::new();
        while let Some(part) = open.pop() {
            for entry in fs::read_dir(root.join(&part))? {
                let path = part.join(entry?.file_name());
                if root.join(&path).is_dir() {
                    open.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs")
                    && !path.ends_with("lib.rs")
                    && !path.ends_with("tests.rs")
                {
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
    let byte: Vec<usize> =
        text.char_indices().map(|(i, _)| i).chain(std::iter::once(text.len())).collect();
    let mut start = 0;
    for (number, (line, shown)) in code.lines().zip(text.lines()).enumerate() {
        let begin = line.trim_start();
        if begin.starts_with("#[cfg(test)]") {
            break;
        }
        let at = |column: usize| byte[start + line[..column].chars().count()];
        let mut plant = |kind: Kind, edits: Vec<(usize, usize, String)>| {
            let (file, text) = (file.to_owned(), shown.to_owned());
            all.push(Site { number: 0, kind, place, file, line: number + 1, edits, text });
        };
        let is_code = !["#", "use ", "const ", "pub", "impl", "where", "fn ", "static "]
            .iter()
            .any(|word| begin.starts_with(word));
        for (from, into) in swaps.iter().filter(|_| is_code && !line.contains("dyn ")) {
            for (column, _) in line.match_indices(from) {
                plant(Kind::Sign, vec![(at(column), from.len(), (*into).to_owned())]);
            }
        }
        for edits in changes(line) {
            plant(Kind::Change, edits.into_iter().map(|(c, into)| (at(c), 0, into)).collect());
        }
        start += line.chars().count() + 1;
    }
}

/// What is inserted at which columns of a line of code: for a head of a function a return, for a condition its
/// contrary.
fn changes(line: &str) -> Vec<Vec<(usize, String)>> {
    let (begin, mut all) = (line.trim_start(), Vec::new());
    let Some(rest) = line.strip_suffix(" {") else { return all };
    let is_head = (line.contains("fn ") && line.contains('(')) || begin.starts_with(") -> ");
    if is_head && !begin.starts_with("impl") && !line.contains("const fn") {
        let into = " if crate::sign_site::is_chosen(#) { return Default::default(); }";
        all.push(vec![(line.len(), into.to_owned())]);
    }
    let condition = rest.rfind(" if ").map(|at| at + 4).filter(|_| !is_head);
    if let Some(from) = condition.filter(|&at| !rest[at..].contains("let ")) {
        let open = "crate::sign_site::turned(#, ".to_owned();
        all.push(vec![(from, open), (rest.len(), ")".to_owned())]);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_conditions_are_changed() {
        let of = |line: &str| {
            changes(line)
                .into_iter()
                .map(|edits| {
                    let mut text = line.to_owned();
                    for (at, into) in edits.into_iter().rev() {
                        text.insert_str(at, &into);
                    }
                    text
                })
                .collect::<Vec<_>>()
        };
        let head = "    fn norm(a: &[f64]) -> f64 {";
        let returned = " if crate::sign_site::is_chosen(#) { return Default::default(); }";
        assert_eq!(of(head), [format!("{head}{returned}")]);
        let turned = "    } else if crate::sign_site::turned(#, a < b && c) {";
        assert_eq!(of("    } else if a < b && c {"), [turned]);
        for other in ["    if let Some(a) = b {", "    match a {", "    a + b", "impl A {"] {
            assert_eq!(of(other), Vec::<String>::new(), "{other}");
        }
    }
}
