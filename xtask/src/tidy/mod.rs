//! `cargo xtask tidy`: the files of the repository → a list of faults.
//!
//! The rules are pure functions, one file a subject; this file reads and prints.

mod arrows;
mod citations;
mod cycles;
mod dependency_rows;
mod lines;
mod links;
mod rules;
pub(crate) mod scan;
mod wildcards;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::map;

/// Files that are text, by extension; a file without one is looked at as well.
const TEXT: &[&str] =
    &["rs", "toml", "lock", "md", "pfaff", "bib", "json", "csv", "html", "py", "sh", "txt"];

const DEPENDENCIES: &str = "docs/dependencies.md";

/// The crates whose modules form no cycle of more than two.
const ACYCLIC: &[&str] =
    &["expr", "model", "mechanics", "program", "solver", "engine", "present", "cli", "python"];

/// Prints every fault; true if there is none.
pub(crate) fn run(root: &Path) -> bool {
    let faults = faults(root);
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    println!("tidy: {} faults", faults.len());
    faults.is_empty()
}

fn faults(root: &Path) -> Vec<String> {
    let bibliography = fs::read_to_string(root.join("docs/theory/references.bib"));
    let known = citations::keys(&bibliography.unwrap_or_default());
    let paths = files(root);
    let mut faults = Vec::new();
    for path in &paths {
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let mut add =
            |(line, fault)| faults.push(format!("{}:{line}: {fault}", path.display()));
        rules::any_text(path, &text, &known).into_iter().for_each(&mut add);
        if path.extension().is_some_and(|e| e == "rs") {
            rules::rust(path, &text).into_iter().for_each(&mut add);
        }
        if path.extension().is_some_and(|e| e == "md") {
            let exists = |named: &str| root.join(named).exists();
            rules::dead_paths(&text, exists).into_iter().for_each(&mut add);
            links::dead(path, &text, |linked| page(&root.join(linked)))
                .into_iter()
                .for_each(&mut add);
            lines::markdown(&text).into_iter().for_each(&mut add);
        }
        if let Some(folder) = manifest_of(path) {
            arrows::check(folder, &text).into_iter().map(|fault| (1, fault)).for_each(&mut add);
        }
    }
    faults.extend(gallery(root, &paths));
    faults.extend(dependencies(root, &paths));
    faults.extend(modules(root, &paths));
    faults.extend(map::faults(root));
    faults
}

/// The text of a file; an empty one for a folder.
fn page(path: &Path) -> Option<String> {
    if path.is_dir() {
        Some(String::new())
    } else {
        fs::read(path).ok().map(|b| String::from_utf8_lossy(&b).into_owned())
    }
}

/// Direct dependencies without a row in docs/dependencies.md, and rows that lack a figure.
fn dependencies(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    let text = fs::read_to_string(root.join(DEPENDENCIES)).unwrap_or_default();
    let mut faults: Vec<String> = dependency_rows::incomplete(&text)
        .into_iter()
        .map(|line| format!("{DEPENDENCIES}:{line}: an empty cell"))
        .collect();
    for path in paths.iter().filter(|path| path.file_name().is_some_and(|n| n == "Cargo.toml"))
    {
        let manifest = fs::read_to_string(root.join(path)).unwrap_or_default();
        for name in dependency_rows::missing(&dependency_rows::packages(&manifest), &text) {
            faults.push(format!("{}:1: `{name}` has no row in {DEPENDENCIES}", path.display()));
        }
    }
    faults
}

/// Groups of modules of a crate that all need one another.
fn modules(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    let mut faults = Vec::new();
    for name in ACYCLIC {
        let source = Path::new("crates").join(name).join("src");
        let files: BTreeMap<String, String> = paths
            .iter()
            .filter(|path| path.extension().is_some_and(|e| e == "rs"))
            .filter_map(|path| {
                let file = path.strip_prefix(&source).ok()?.display().to_string();
                Some((file, fs::read_to_string(root.join(path)).ok()?))
            })
            .collect();
        for (folder, group) in cycles::groups(&files) {
            let place = source.join(folder).display().to_string();
            let place = place.trim_end_matches('/');
            let meant = cycles::MEANT.iter().any(|(at, all)| *at == place && group == *all);
            if group.len() > cycles::LIMIT && !meant {
                faults.push(format!(
                    "{place}: {} modules need one another: {}",
                    group.len(),
                    group.join(", ")
                ));
            }
        }
    }
    faults
}

/// The folder under `crates/` of which this file is the manifest.
fn manifest_of(path: &Path) -> Option<&str> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        ["crates", folder, "Cargo.toml"] => Some(folder),
        _ => None,
    }
}

fn gallery(root: &Path, paths: &[PathBuf]) -> Vec<String> {
    let page = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let pages = page("README.md") + &page("docs/gallery.md");
    let is_model = |path: &&PathBuf| {
        path.parent() == Some(Path::new("models"))
            && path.extension().is_some_and(|e| e == "pfaff")
    };
    let stem =
        |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let models: Vec<String> = paths.iter().filter(is_model).filter_map(stem).collect();
    let missing = rules::unlisted(&models, &pages);
    missing
        .into_iter()
        .map(|name| {
            format!("models/{name}.pfaff:1: not listed in docs/gallery.md or README.md")
        })
        .collect()
}

/// The files that are tracked, or would be if they were added; without git, all but `target`.
fn files(root: &Path) -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output();
    let mut paths = match listed {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout)
            .split('\0')
            .filter(|path| !path.is_empty())
            .map(PathBuf::from)
            .collect(),
        _ => walk(root, Path::new("")),
    };
    paths.retain(|path| path.extension().is_none_or(|e| TEXT.iter().any(|text| e == *text)));
    paths.sort();
    paths
}

fn walk(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let path = folder.join(&name);
        if name == "target" || name == ".git" {
            continue;
        }
        if entry.path().is_dir() {
            found.extend(walk(root, &path));
        } else {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_of_crates_are_known() {
        assert_eq!(manifest_of(Path::new("crates/expr/Cargo.toml")), Some("expr"));
        assert_eq!(manifest_of(Path::new("xtask/Cargo.toml")), None);
        assert_eq!(manifest_of(Path::new("Cargo.toml")), None);
    }

    #[test]
    fn the_walk_without_git_finds_this_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(walk(root, Path::new("")).contains(&PathBuf::from("src/tidy/mod.rs")));
    }
}
