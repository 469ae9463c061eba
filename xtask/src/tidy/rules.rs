//! The rules for one file: path and text → faults with line numbers.
//!
//! | rule | for |
//! |---|---|
//! | opens with `//!`, at most 600 lines, public names in ASCII | every Rust file |
//! | lines of at most 120 characters, no `_ =>` over kinds that we match, no option below `cli` | the sources |
//! | `unsafe` in the native module only | the sources of the crates; a test may need it for a counting allocator |
//! | no file, clock, thread, environment, network | the sources below the engine |
//! | functions whose last bits differ between machines come from `libm` | the same, and the engine |
//! | paths in back-ticks exist | every Markdown page |
//! | no unfinished places, no path of one machine, no registry host, known citations | every text |

use std::path::Path;

use super::arrows::BELOW_ENGINE;
use super::citations::cited;
use super::scan::{Views, has_word, is_test, views};
use super::{lines, wildcards, words};

const MAX_FILE_LINES: usize = 600;

/// Modules of the standard library that touch the world.
const WORLD: &[&str] = &["fs", "time", "thread", "env", "net"];

/// Methods of numbers that no lint forbids, because tests may use them. Where a page computes, they are others.
const BY_MACHINE: &[&str] =
    &[".hypot(", ".atan2(", ".log10(", ".log2(", ".cbrt(", ".exp2(", ".exp_m1(", ".ln_1p("];

// NOTE: written in two halves, because this file is itself checked.
const UNFINISHED_WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME")];
const UNFINISHED_MACROS: &[&str] = &[concat!("to", "do!"), concat!("unimple", "mented!")];
const MACHINE_PATHS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/tm", "p/"),
    concat!("/wo", "rk/"),
    concat!("C:", "\\Users"),
];
const REGISTRY_WORDS: &[&str] = &[
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("pypi.", "org/simple"),
    concat!("files.python", "hosted"),
    concat!("registry.", "npmjs"),
    concat!("replace", "-with"),
    concat!("arti", "factory"),
];
/// What a lock file says of a package that comes from the public registry.
const PUBLIC_SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// A fault in a file: the line, counted from 1, and what is wrong.
pub(crate) type Fault = (usize, String);

/// What is wrong with a Rust file, whose path is relative to the root.
pub(crate) fn rust(path: &Path, text: &str) -> Vec<Fault> {
    let views = views(text);
    let mut faults = shape(text);
    faults.extend(public_names(&views.code));
    if is_source(path) && !is_native(path) {
        faults.extend(unsafe_code(&views.code));
    }
    if is_source(path) && crate_folder(path).is_some_and(|name| BELOW_ENGINE.contains(&name)) {
        faults.extend(world(&views.code));
        faults.extend(by_machine(&views.code));
    }
    if is_source(path) && crate_folder(path) == Some("engine") {
        faults.extend(by_machine(&views.code));
    }
    faults.extend(unfinished_macros(&views));
    faults.extend(lines::rust(path, text, &views));
    if is_source(path) && !is_test(path) {
        faults.extend(wildcards::faults(&views.code));
        let owner = crate_folder(path).unwrap_or_default();
        if owner != "cli" {
            // Python's users stop runs by Ctrl-C too, and a server has a limit for every question: somebody has to look
            // at the clock for that.
            if owner != "python" && owner != "web" {
                faults.extend(words::clock(&views.code));
            }
            faults.extend(words::options(&views.literals));
        }
        if owner == "engine" {
            faults.extend(words::markup(&views.literals));
        }
        if owner == "present" {
            faults.extend(words::integration(&views.code));
        }
    }
    faults
}

/// What is wrong with any text: `known` are the keys of the bibliography.
pub(crate) fn any_text(path: &Path, text: &str, known: &[String]) -> Vec<Fault> {
    if path.file_name().is_some_and(|name| name == "Cargo.lock") {
        return lock(text);
    }
    let mut faults = Vec::new();
    let is_rust = path.extension().is_some_and(|e| e == "rs");
    let prose = if is_rust { views(text).comments } else { text.to_owned() };
    for (number, line) in (1..).zip(text.lines()) {
        for word in UNFINISHED_WORDS.iter().filter(|word| has_word(line, word)) {
            faults.push((number, format!("`{word}`: open an issue instead")));
        }
        for path in MACHINE_PATHS.iter().filter(|path| has_path(line, path)) {
            faults.push((number, format!("`{path}` is a path of one machine")));
        }
        for host in REGISTRY_WORDS.iter().filter(|host| line.contains(*host)) {
            faults
                .push((number, format!("`{host}`: which registry to use is not ours to say")));
        }
    }
    for (number, line) in (1..).zip(prose.lines()) {
        for key in cited(line).into_iter().filter(|key| !known.iter().any(|k| k == key)) {
            faults.push((number, format!("[{key}] is not in docs/theory/references.bib")));
        }
    }
    faults
}

/// The paths in back-ticks of a document that `exists` denies. `NAME` and `…` stand for anything.
pub(crate) fn dead_paths(text: &str, exists: impl Fn(&str) -> bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let quoted = line.split('`').skip(1).step_by(2);
        for path in quoted.filter(|path| is_path(path) && !exists(path)) {
            faults.push((number, format!("`{path}` does not exist")));
        }
    }
    faults
}

/// A path that begins in a folder of the repository.
fn is_path(text: &str) -> bool {
    let begins = ["crates/", "docs/", "models/", "xtask/", ".ci/"];
    begins.iter().any(|folder| text.starts_with(folder))
        && !["NAME", "…", "*", " "].iter().any(|wild| text.contains(wild))
}

/// The models that no gallery page mentions as `` `name` ``.
pub(crate) fn unlisted(models: &[String], pages: &str) -> Vec<String> {
    models.iter().filter(|name| !pages.contains(&format!("`{name}`"))).cloned().collect()
}

fn shape(text: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push((1, "a file opens with `//!`: what it turns into what".to_owned()));
    }
    let lines = text.lines().count();
    if lines > MAX_FILE_LINES {
        faults.push((lines, format!("{lines} lines, the limit is {MAX_FILE_LINES}")));
    }
    faults
}

/// Names after `pub`, and everything declared inside a `pub enum` or `pub trait`.
fn public_names(code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut body_indent = None;
    for (number, line) in (1..).zip(code.lines()) {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let inside = body_indent.is_some();
        if trimmed.starts_with('}') && body_indent == Some(indent) {
            body_indent = None;
        }
        let declared = trimmed.strip_prefix("pub ").or(inside.then_some(trimmed));
        if declared.is_some_and(|rest| !declared_name(rest).is_ascii()) {
            faults.push((number, "public names are ASCII".to_owned()));
        }
        let opens = trimmed.starts_with("pub enum ") || trimmed.starts_with("pub trait ");
        if opens && !trimmed.trim_end().ends_with('}') {
            body_indent = Some(indent);
        }
    }
    faults
}

/// The declaration up to its arguments, type or value.
fn declared_name(declaration: &str) -> &str {
    let end = declaration.find(['(', ':', '=', '{', '<', ';']).unwrap_or(declaration.len());
    &declaration[..end]
}

fn unsafe_code(code: &str) -> Vec<Fault> {
    let lines = (1..).zip(code.lines()).filter(|(_, line)| has_word(line, "unsafe"));
    lines
        .map(|(number, _)| {
            (number, "`unsafe` belongs to the native module of program".to_owned())
        })
        .collect()
}

fn by_machine(code: &str) -> Vec<Fault> {
    let found = |(number, line): (usize, &str)| {
        let method = BY_MACHINE.iter().find(|method| line.contains(**method))?;
        let name = &method[1..method.len() - 1];
        Some((number, format!("the last bit of `{name}` depends on the machine: use `libm`")))
    };
    (1..).zip(code.lines()).filter_map(found).collect()
}

/// `std::fs` in full, or as a member of `use std::{…}`.
fn world(code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, _) in code.match_indices("std::") {
        let rest = &code[at + "std::".len()..];
        let members = match rest.strip_prefix('{') {
            Some(list) => group_members(list),
            None => vec![first_word(rest)],
        };
        let number = 1 + code[..at].matches('\n').count();
        for member in members.into_iter().filter(|member| WORLD.contains(member)) {
            faults.push((number, format!("`std::{member}` below the engine")));
        }
    }
    faults
}

/// The first word of each member of `{a, b::c, d::{e, f}}`, of which the opening brace is gone.
fn group_members(list: &str) -> Vec<&str> {
    let mut members = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                members.push(first_word(list[start..at].trim_start()));
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    members
}

fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn unfinished_macros(views: &Views) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(views.code.lines()) {
        for word in UNFINISHED_MACROS.iter().filter(|word| line.contains(*word)) {
            faults.push((number, format!("`{word}` in code: what exists is ready")));
        }
    }
    faults
}

/// Packages come from the public registry or from this repository.
fn lock(text: &str) -> Vec<Fault> {
    let sources = (1..).zip(text.lines()).filter(|(_, line)| line.starts_with("source = "));
    sources
        .filter(|(_, line)| {
            line.trim_start_matches("source = ").trim_matches('"') != PUBLIC_SOURCE
        })
        .map(|(number, _)| {
            (number, "a package from elsewhere than the public registry".to_owned())
        })
        .collect()
}

/// Whether `path` occurs and does not continue a longer, relative one.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-})".contains(c))
    })
}

fn crate_folder(path: &Path) -> Option<&str> {
    let mut parts = path.iter().map(|part| part.to_str().unwrap_or(""));
    (parts.next() == Some("crates")).then(|| parts.next()).flatten()
}

/// Whether the file is part of a crate as it is shipped.
fn is_source(path: &Path) -> bool {
    crate_folder(path).is_some() && path.iter().nth(2).is_some_and(|part| part == "src")
}

/// The folder `native/` among the backends.
fn is_native(path: &Path) -> bool {
    // The page calls functions of the workbench by their names.
    path.starts_with("crates/program/src/backend/native") || path.ends_with("web/src/border.rs")
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
