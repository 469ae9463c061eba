//! `cargo xtask map`: the sources → the code map in ARCHITECTURE.md, between its two marks.
//!
//! A row is a file and the first sentence of its doc. `lexer_token.rs` joins the row of `lexer.rs`, and the
//! files of the folder
//! `zero/` join the row of `zero.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const PAGE: &str = "ARCHITECTURE.md";
const START: &str = "<!-- map -->\n";
const END: &str = "<!-- end of map -->";

/// The crates in the order of the arrows.
const CRATES: &[&str] =
    &["expr", "model", "mechanics", "program", "solver", "engine", "cli", "py"];

/// Rewrites the map; true if that worked.
pub(crate) fn run(root: &Path) -> bool {
    let Ok(page) = fs::read_to_string(root.join(PAGE)) else {
        eprintln!("map: {PAGE} cannot be read");
        return false;
    };
    let tables: Vec<String> = CRATES.iter().filter_map(|name| table(root, name)).collect();
    let Some(page) = replaced(&page, &tables.join("\n")) else {
        eprintln!("map: {PAGE} lacks the marks of the map");
        return false;
    };
    fs::write(root.join(PAGE), page).is_ok()
}

/// The page with another text between the marks.
fn replaced(page: &str, map: &str) -> Option<String> {
    let (before, rest) = page.split_once(START)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{START}{map}{END}{after}"))
}

/// The table of one crate, if there is such a crate.
fn table(root: &Path, name: &str) -> Option<String> {
    let folder = format!("crates/{name}/src");
    let files: BTreeMap<String, String> = sources(&root.join(&folder), "");
    (!files.is_empty())
        .then(|| format!("**`{folder}`**\n\n| file | |\n|---|---|\n{}", rows(&files)))
}

/// Every Rust file below a folder, by its path inside it, with its text.
fn sources(folder: &Path, prefix: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            found.extend(sources(&entry.path(), &format!("{prefix}{name}/")));
        } else if entry.path().extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            found.insert(format!("{prefix}{name}"), text);
        }
    }
    found
}

/// One row for each file that no other file owns, the root of the crate first.
fn rows(files: &BTreeMap<String, String>) -> String {
    let mut owned: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files.keys() {
        let owner = owner(file, files);
        let parts = owned.entry(owner.clone().unwrap_or_else(|| file.clone())).or_default();
        if owner.is_some() {
            parts.push(file);
        }
    }
    let is_root = |file: &str| file == "lib.rs" || file == "main.rs";
    let (roots, others): (Vec<_>, Vec<_>) = owned.iter().partition(|(file, _)| is_root(file));
    let lines = roots.into_iter().chain(others).map(|(file, parts)| {
        let mut about = files.get(file).map(|text| sentence(text)).unwrap_or_default();
        if !parts.is_empty() {
            let names: Vec<String> = parts.iter().map(|part| format!("`{part}`")).collect();
            let joint = match about.chars().next_back() {
                None => "",
                Some('?') => " With ",
                Some(_) => "; with ",
            };
            about = format!("{about}{joint}{}", names.join(", "));
        }
        format!("| `{file}` | {about} |\n")
    });
    lines.collect()
}

/// The file that this one belongs to; a folder without one of its own is its own owner.
fn owner(file: &str, files: &BTreeMap<String, String>) -> Option<String> {
    if let Some((top, _)) = file.split_once('/') {
        let beside = format!("{top}.rs");
        return Some(if files.contains_key(&beside) { beside } else { format!("{top}/") });
    }
    let mut stem = file.strip_suffix(".rs")?;
    while let Some((shorter, _)) = stem.rsplit_once('_') {
        stem = shorter;
        let candidate = format!("{stem}.rs");
        if files.contains_key(&candidate) {
            return Some(candidate);
        }
    }
    None
}

/// The first sentence of the doc of a file, without its full stop.
fn sentence(text: &str) -> String {
    let doc = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = doc.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    paragraph[..end].trim_end_matches(['.', ':']).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        list.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_row_is_a_file_and_its_first_sentence() {
        let text = "//! Text to tokens,\n//! by line. More.\n//!\n//! Else.\n";
        assert_eq!(sentence(text), "Text to tokens, by line");
    }

    #[test]
    fn parts_join_their_owner() {
        let map = rows(&files(&[
            ("lexer.rs", "//! Tokens.\n"),
            ("lexer_token.rs", "//! One.\n"),
            ("lib.rs", "//! All.\n"),
            ("least_squares.rs", "//! Short.\n"),
            ("zero.rs", "//! Zero.\n"),
            ("zero/form.rs", "//! Forms.\n"),
            ("deep/a.rs", "//! A.\n"),
        ]));
        let expected = "| `lib.rs` | All |\n| `deep/` | `deep/a.rs` |\n| `least_squares.rs` | Short |\n\
            | `lexer.rs` | Tokens; with `lexer_token.rs` |\n| `zero.rs` | Zero; with `zero/form.rs` |\n";
        assert_eq!(map, expected);
    }

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = format!("a\n{START}old\n{END}\nb");
        assert_eq!(replaced(&page, "new\n"), Some(format!("a\n{START}new\n{END}\nb")));
        assert_eq!(replaced("no marks", "new\n"), None);
    }
}
