//! `cargo xtask map`: the sources → the code map in ARCHITECTURE.md, between its two marks.
//!
//! One entry for each folder of a crate: the first sentence of its `mod.rs`, and the names of its files. The map
//! fits two screens, so files have no entries of their own, except those beside a `lib.rs` that are few.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const PAGE: &str = "ARCHITECTURE.md";
const START: &str = "<!-- map -->\n";
const END: &str = "<!-- end of map -->";

/// The crates in the order of the arrows.
const CRATES: &[&str] =
    &["expr", "model", "mechanics", "program", "solver", "engine", "present", "cli", "python"];

/// Two screens.
const MAX_LINES: usize = 150;
const WIDTH: usize = 120;
/// Sentences beyond so many characters are shortened.
const LONG: usize = 100;
/// So many files beside a `lib.rs` have a sentence each.
const FEW: usize = 8;

/// Rewrites the map; true if that worked.
pub(crate) fn run(root: &Path) -> bool {
    let Ok(page) = fs::read_to_string(root.join(PAGE)) else {
        eprintln!("map: {PAGE} cannot be read");
        return false;
    };
    let Some(page) = replaced(&page, &map(root)) else {
        eprintln!("map: {PAGE} lacks the marks of the map");
        return false;
    };
    fs::write(root.join(PAGE), page).is_ok()
}

/// What is wrong with the map as it is.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let page = fs::read_to_string(root.join(PAGE)).unwrap_or_default();
    let map = map(root);
    let mut faults = Vec::new();
    if replaced(&page, &map).as_ref() != Some(&page) {
        faults.push(format!("{PAGE}: the code map is out of date; run `cargo xtask map`"));
    }
    let lines = map.lines().count();
    if lines > MAX_LINES {
        faults.push(format!("{PAGE}: a code map of {lines} lines, the limit is {MAX_LINES}"));
    }
    faults
}

fn map(root: &Path) -> String {
    let crates = CRATES.iter().filter_map(|name| {
        let folder = format!("crates/{name}/src");
        let files = sources(&root.join(&folder), "");
        (!files.is_empty()).then(|| entries(&folder, &files))
    });
    crates.collect::<Vec<_>>().join("\n")
}

/// The page with another text between the marks.
fn replaced(page: &str, map: &str) -> Option<String> {
    let (before, rest) = page.split_once(START)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{START}{map}{END}{after}"))
}

/// Every Rust file below a folder that is no test, by its path inside it, with its text.
fn sources(folder: &Path, prefix: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs") {
            continue;
        }
        if entry.path().is_dir() {
            found.extend(sources(&entry.path(), &format!("{prefix}{name}/")));
        } else if entry.path().extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            found.insert(format!("{prefix}{name}"), text);
        }
    }
    found
}

/// The crate, its folders, and its files that stand beside them.
fn entries(source: &str, files: &BTreeMap<String, String>) -> String {
    let about = |file: &str| files.get(file).map(|text| sentence(text)).unwrap_or_default();
    let root = ["lib.rs", "main.rs"].into_iter().find(|file| files.contains_key(*file));
    let mut lines = vec![format!("**`{source}`**: {}", root.map(about).unwrap_or_default())];
    let folders: BTreeSet<&str> =
        files.keys().filter_map(|file| file.split_once('/')).map(|(top, _)| top).collect();
    for folder in &folders {
        let owner = [format!("{folder}/mod.rs"), format!("{folder}.rs")];
        let owner = owner.iter().find(|file| files.contains_key(*file));
        let about = owner.map(|file| about(file)).unwrap_or_default();
        let stop = if about.is_empty() || about.ends_with('?') { "" } else { "." };
        lines
            .push(format!("`{folder}/` {about}{stop} *{}*", members(folder, files).join(", ")));
    }
    let beside: Vec<&String> = files
        .keys()
        .filter(|file| !file.contains('/') && Some(file.as_str()) != root)
        .filter(|file| !folders.contains(file.trim_end_matches(".rs")))
        .collect();
    if beside.len() <= FEW {
        lines.extend(beside.iter().map(|file| format!("`{file}` {}", about(file))));
    } else {
        let names: Vec<String> = beside.iter().map(|file| format!("`{file}`")).collect();
        lines.push(names.join(", "));
    }
    let head = lines.remove(0);
    let list: Vec<String> = lines.iter().map(|line| wrapped("- ", line)).collect();
    format!("{}{}", wrapped("", &head), list.concat())
}

/// The names of the files and folders in a folder.
fn members(folder: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let inside = files.keys().filter_map(|file| file.strip_prefix(folder)?.strip_prefix('/'));
    let all: BTreeSet<String> = inside
        .filter(|file| *file != "mod.rs")
        .map(|file| match file.split_once('/') {
            Some((deeper, _)) => format!("{deeper}/"),
            None => file.trim_end_matches(".rs").to_owned(),
        })
        .collect();
    // A file that has a folder of the same name is shown as the folder.
    let is_folder = |name: &String| all.contains(&format!("{name}/"));
    all.iter().filter(|name| !is_folder(name)).cloned().collect()
}

/// A text broken into lines: the first begins with `mark`, the others with as many spaces.
fn wrapped(mark: &str, text: &str) -> String {
    let indent = " ".repeat(mark.len());
    let mut lines = vec![mark.to_owned()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a first line");
        let fresh = last.trim() == mark.trim() && last.len() == mark.len();
        if fresh {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("{indent}{word}"));
        } else {
            last.push(' ');
            last.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

/// A sentence without what it explains or lists at its end, if it is long.
fn shortened(sentence: &str) -> &str {
    let end = sentence.find(": ").into_iter().chain(sentence.find("; ")).min();
    match end {
        Some(end) if sentence.chars().count() > LONG && end > LONG / 4 => &sentence[..end],
        _ => sentence,
    }
}

/// The first sentence of the doc of a file, without its full stop and without links.
fn sentence(text: &str) -> String {
    let doc = text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    let paragraph: Vec<&str> = doc.take_while(|line| !line.is_empty()).collect();
    let paragraph = paragraph.join(" ");
    let end = paragraph.find(". ").unwrap_or(paragraph.len());
    let sentence = paragraph[..end].trim_end_matches(['.', ':']);
    let mut plain = String::new();
    for (k, part) in sentence.split("](").enumerate() {
        plain.push_str(if k == 0 { part } else { part.split_once(')').map_or("", |(_, r)| r) });
    }
    shortened(&plain.replace("[`", "`").replace("`]", "`")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, &str)]) -> BTreeMap<String, String> {
        list.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn an_entry_begins_with_the_first_sentence_without_links() {
        let text = "//! Text to [`Tokens`](crate::T),\n//! by line. More.\n//!\n//! Else.\n";
        assert_eq!(sentence(text), "Text to `Tokens`, by line");
        let list =
            "keywords, numbers, strings, comments and the rest, for whoever shows it to people";
        let text = format!("//! A model text into coloured pieces: {list}.\n");
        assert_eq!(sentence(&text), "A model text into coloured pieces");
        assert_eq!(sentence("//! Short: a list.\n"), "Short: a list");
    }

    #[test]
    fn a_folder_is_one_entry_with_its_files() {
        let files = files(&[
            ("lib.rs", "//! All.\n"),
            ("deep/mod.rs", "//! Depths.\n"),
            ("deep/a.rs", ""),
            ("deep/er.rs", ""),
            ("deep/er/b.rs", ""),
            ("zero.rs", "//! Zero.\n"),
            ("zero/form.rs", ""),
            ("error.rs", "//! What fails.\n"),
        ]);
        let expected = "**`src`**: All\n- `deep/` Depths. *a, er/*\n- `zero/` Zero. *form*\n\
            - `error.rs` What fails\n";
        assert_eq!(entries("src", &files), expected);
    }

    #[test]
    fn long_entries_are_broken() {
        let text = wrapped("- ", &"word ".repeat(40));
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(text.starts_with("- word") && text.contains("\n  word"), "{text}");
    }

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = format!("a\n{START}old\n{END}\nb");
        assert_eq!(replaced(&page, "new\n"), Some(format!("a\n{START}new\n{END}\nb")));
        assert_eq!(replaced("no marks", "new\n"), None);
    }
}
