//! The documents tell the truth: every command in them is run and every model in them is read.
//!
//! In a block marked `console`, a line `$ pfaff …` is a command and the lines below are its answer (standard
//! error after standard output). A line `…` stands for any lines. Times, sizes of files, counts of steps and the
//! found values of the audit differ from machine to machine and are not compared. A block with a file name
//! in its mark, such as `pfaff NAME.pfaff` or `python NAME.py`, is written to that file before the commands below
//! it run. Other programs than `pfaff` (python3, cc) are run where they are installed.
//! `cargo xtask bless` writes the answers of the program into the documents; look at the difference before you keep it.
#![allow(clippy::print_stdout, reason = "a command that cannot run here says why")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Folder, pfaff_text, program};

fn document(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let text = std::fs::read_to_string(&path).expect("the document is there");
    (path, text)
}

/// A fenced block: its mark, its lines, and the number of its first line.
struct Block<'a> {
    mark: &'a str,
    lines: Vec<&'a str>,
    first: usize,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(mark), false) => {
                blocks.push(Block { mark: mark.trim(), lines: Vec::new(), first: number + 2 });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => blocks.last_mut().expect("an open block").lines.push(line),
            (None, false) => {}
        }
    }
    blocks
}

/// The words of a command, with quotes as a shell has them.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut begun) = (Vec::new(), String::new(), None, false);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(q)) if c == q => quote = None,
            ('"' | '\'', None) => (quote, begun) = (Some(c), true),
            (' ', None) => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (c, _) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

/// What a command answers in a folder; `cat FILE` is known too.
fn run(command: &str, folder: &Folder) -> String {
    let words = words(command);
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    if words[0] == "cat" {
        return std::fs::read_to_string(folder.path(arguments[0])).expect("a file to show");
    }
    if words[0] != "pfaff" || arguments.contains(&">") {
        return run_in_shell(command, folder);
    }
    let output =
        program().args(arguments).current_dir(folder.path("")).output().expect("it runs");
    text(&output.stdout) + &text(&output.stderr)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command of the shell answers, with `pfaff` on its path.
fn run_in_shell(command: &str, folder: &Folder) -> String {
    let own = Path::new(env!("CARGO_BIN_EXE_pfaff")).parent().expect("it lies in a folder");
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(own.to_owned()).chain(std::env::split_paths(&inherited));
    let path = std::env::join_paths(folders).expect("a path of folders");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder.path("")).env("PATH", path);
    let output = shell.output().expect("there is a shell");
    text(&output.stdout) + &text(&output.stderr)
}

/// What a command needs and this machine lacks: the program, or a module that a Python script imports.
fn missing(command: &str, folder: &Folder) -> Option<String> {
    let words = words(command);
    match words[0].as_str() {
        "pfaff" | "cat" => None,
        "python3" => {
            let script = std::fs::read_to_string(folder.path(&words[1])).expect("a script");
            let runs = |code: &str| {
                let test = Command::new("python3").args(["-c", code]).output();
                test.is_ok_and(|output| output.status.success())
            };
            if !runs("") {
                return Some("`python3`".to_owned());
            }
            let mut imports = script.lines().filter(|line| line.starts_with("import "));
            imports.find(|line| !runs(line)).map(|line| format!("what `{line}` needs"))
        }
        name if name.starts_with("./") => {
            let there = Path::new(&folder.path(name)).exists();
            (!there).then(|| format!("what builds `{name}`"))
        }
        name => {
            let there = Command::new(name).arg("--version").output().is_ok();
            (!there).then(|| format!("`{name}`"))
        }
    }
}

/// A line without what differs from run to run.
fn masked(line: &str) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let counts = line.contains(" evaluations");
    for k in 0..words.len() {
        let time = words.get(k + 1).is_some_and(|unit| {
            ["µs", "ms", "s", "kB,"].contains(unit) && words[k].parse::<f64>().is_ok()
        });
        let found = words.get(k + 1) == Some(&"≤");
        let count = counts && words[k].trim_start_matches('(').parse::<usize>().is_ok();
        if time {
            words[k + 1] = "_";
        }
        if time || found || count {
            words[k] = "_";
        }
        // The limit of the energy balance grows with the steps.
        if k > 0 && words[k - 1] == "≤" {
            words[k] = "_";
        }
    }
    words.join(" ")
}

/// Whether the lines are those expected, where `…` stands for any.
fn fits(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skip| fits(rest, &lines[skip..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, others)| masked(first) == masked(line) && fits(rest, others)),
    }
}

/// Runs the commands of a document, in order; gives back what is wrong, and the document with the answers of
/// the program.
fn told(name: &str) -> (Vec<String>, String) {
    let (_, text) = document(name);
    let folder = Folder::new(&name.replace(['/', '.'], "-"));
    let mut lines: Vec<Option<String>> = text.lines().map(|l| Some(l.to_owned())).collect();
    let mut faults = Vec::new();
    for block in blocks(&text) {
        if let Some((_, file)) =
            block.mark.split_once(' ').filter(|(_, file)| file.contains('.'))
        {
            folder.write(file, block.lines.join("\n") + "\n");
        }
        if block.mark != "console" {
            continue;
        }
        let starts: Vec<usize> =
            (0..block.lines.len()).filter(|&k| block.lines[k].starts_with("$ ")).collect();
        for (i, &start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(block.lines.len());
            let command = &block.lines[start][2..];
            if let Some(what) = missing(command, &folder) {
                println!("skipped: `{command}` in {name}: {what} is not installed");
                continue;
            }
            let answer = run(command, &folder);
            let answered: Vec<&str> = answer.lines().collect();
            let expected: Vec<&str> = block.lines[start + 1..end].to_vec();
            if !fits(&expected, &answered) {
                let number = block.first + start;
                faults.push(format!("{name}:{number}: `{command}` answers\n{answer}"));
                let first = block.first - 1 + start + 1;
                (first..first + expected.len()).for_each(|k| lines[k] = None);
                lines[first - 1] = Some(format!("$ {command}\n{}", answer.trim_end()));
            }
        }
    }
    let kept: Vec<String> = lines.into_iter().flatten().collect();
    (faults, kept.join("\n") + "\n")
}

#[track_caller]
fn tells_the_truth(name: &str) {
    let (faults, blessed) = told(name);
    if std::env::var_os("PFAFF_BLESS").is_some() {
        std::fs::write(document(name).0, blessed).expect("the document can be written");
        return;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_tutorial_tells_the_truth() {
    tells_the_truth("docs/tutorial.md");
    let commands = document("docs/tutorial.md").1.matches("\n$ ").count();
    assert!(commands >= 10, "{commands} commands were found");
}

#[test]
fn the_readme_tells_the_truth() {
    tells_the_truth("README.md");
    let (_, text) = document("README.md");
    let folder = Folder::new("readme");
    let commands: Vec<&str> =
        text.lines().filter_map(|l| l.strip_prefix("cargo run --release -- ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        let command = command.split('#').next().unwrap_or("").trim();
        assert!(run(&format!("pfaff {command}"), &folder).contains("Audit: pass"), "{command}");
    }
}

#[test]
fn the_howto_pages_tell_the_truth() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/howto");
    let pages = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = pages
        .map(|page| page.expect("a page").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        let name = format!("docs/howto/{name}");
        assert!(document(&name).1.contains("\n$ pfaff "), "{name} shows no command");
        tells_the_truth(&name);
    }
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    pages.extend([root.join("ARCHITECTURE.md"), root.join("CONTRIBUTING.md")]);
    for folder in ["docs", "docs/howto"] {
        let entries = std::fs::read_dir(root.join(folder)).expect("a folder");
        let files = entries.map(|entry| entry.expect("a file").path());
        pages.extend(files.filter(|file| file.extension().is_some_and(|e| e == "md")));
    }
    let (mut count, mut broken) = (0, Vec::new());
    for page in &pages {
        let text = std::fs::read_to_string(page).expect("a text");
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { page.clone() } else { page.with_file_name("").join(file) };
            let found = target.exists()
                && (anchor.is_empty() || has_heading(&target, anchor) || target.is_dir());
            count += 1;
            if !found {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(count >= 100, "{count} links were found");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The links of a text to files, as `](FILE)` or `src="FILE"`.
fn links(text: &str) -> Vec<&str> {
    let after = |opening: &'static str, end: char| {
        text.split(opening).skip(1).filter_map(move |rest| rest.split(end).next())
    };
    let links = after("](", ')').chain(after("src=\"", '"'));
    links
        .filter(|link| {
            !link.contains("::") && !link.contains("://") && !link.contains([' ', '\n'])
        })
        .collect()
}

/// Whether a page has a heading that this anchor names.
fn has_heading(page: &Path, anchor: &str) -> bool {
    let text = std::fs::read_to_string(page).expect("a text");
    let name = |heading: &str| -> String {
        let kept = heading.trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let headings = text.lines().filter(|l| l.starts_with('#'));
    headings.map(|l| name(l.trim_start_matches('#'))).any(|h| h == anchor)
}

#[test]
fn models_of_the_language_reference_are_models() {
    assert!(checked_models("docs/language.md") >= 10, "models are found");
}

#[test]
fn models_of_the_page_on_affine_bodies_are_models() {
    assert!(checked_models("docs/affine.md") >= 2, "models are found");
}

#[test]
fn the_page_on_forms_tells_the_truth() {
    tells_the_truth("docs/forms.md");
    let commands = document("docs/forms.md").1.matches("\n$ ").count();
    assert!(commands >= 6, "{commands} commands were found");
}

#[test]
fn the_page_on_geometry_tells_the_truth() {
    tells_the_truth("docs/geometry.md");
    let commands = document("docs/geometry.md").1.matches("\n$ ").count();
    assert!(commands >= 10, "{commands} commands were found");
}

#[test]
fn the_page_on_stability_tells_the_truth() {
    tells_the_truth("docs/analysis.md");
    let commands = document("docs/analysis.md").1.matches("\n$ ").count();
    assert!(commands >= 5, "{commands} commands were found");
}

/// Checks every model in a document and counts them.
fn checked_models(path: &str) -> usize {
    let (_, text) = document(path);
    let mut count = 0;
    for block in blocks(&text).iter().filter(|b| b.mark == "pfaff") {
        let answer = pfaff_text(&["check", "-"], &block.lines.join("\n"));
        assert_eq!(answer.status, 0, "{path}:{}\n{}", block.first, answer.err);
        count += 1;
    }
    count
}

/// Every test of the errata is named in their page.
#[test]
fn errata_name_their_tests() {
    let (_, text) = document("docs/errata.md");
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/errata");
    let folder = std::fs::read_dir(tests).expect("a folder");
    let mut tests = Vec::new();
    for file in folder.map(|file| file.expect("a file").path()) {
        let source = std::fs::read_to_string(&file).expect("a text");
        let after_test = source.split("#[test]\nfn ").skip(1);
        tests.extend(after_test.filter_map(|t| t.split("()").next()).map(str::to_owned));
    }
    assert!(tests.len() >= 60, "{tests:?}");
    for name in &tests {
        assert!(text.contains(&format!("`{name}`")), "{name} is not in docs/errata.md");
    }
}

#[test]
fn answers_are_compared_as_they_should() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(!fits(&["a", "…", "d"], &["a", "b", "c"]));
    assert!(fits(
        &["3 ms to derive, 4 µs to compile"],
        &["17 µs to derive, 0.2 ms to compile"]
    ));
    assert!(!fits(&["x = 3"], &["x = 4"]));
    assert_eq!(words("pfaff run a --set \"a=1, b=2\" 'x y'").len(), 6);
}
