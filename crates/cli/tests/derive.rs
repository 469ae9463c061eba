//! `pfaff derive` in the forms of books: every format, and what is refused.

#![allow(clippy::print_stdout, reason = "a test that is skipped says why")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{folder, full, json, pfaff};

#[test]
fn derive_writes_the_forms_of_books_in_every_format() {
    let forms = ["gibbs_appell", "kane", "maggi", "voronets", "chaplygin", "boltzmann_hamel"];
    for form in forms {
        let shown = json(&["derive", "sleigh", "--form", form, "--json"]);
        assert!(shown["symbols"].is_string() && shown["equations"].is_array(), "{form}");
        for (format, words) in [
            ("text", "symbols: "),
            ("latex", "\\begin{align*}"),
            ("mathml", "<mtable"),
            ("typst", "$ "),
        ] {
            let answer = pfaff(&["derive", "sleigh", "--form", form, "--format", format]);
            assert_eq!(answer.status, 0, "{form}, {format}: {}", answer.err);
            assert!(answer.out.contains(words), "{form}, {format}: {}", answer.out);
        }
    }
    let page = pfaff(&["derive", "sleigh", "--format", "mathml", "--document"]);
    assert!(page.out.starts_with("<!DOCTYPE html>"), "{}", page.out);
    let refused = pfaff(&["derive", "sleigh", "--form", "routhian"]);
    assert_eq!(refused.status, 1);
    assert!(
        refused.err.contains("[E0436]") && refused.err.contains("cyclic"),
        "{}",
        refused.err
    );
    let unknown = pfaff(&["derive", "sleigh", "--form", "newton"]);
    assert_eq!(unknown.status, 2);
    assert!(unknown.err.contains("boltzmann_hamel"), "{}", unknown.err);
}

/// Forms of many coordinates are not waited for: what is shown instead is said.
#[test]
fn forms_of_large_models_are_shown_in_outline() {
    for form in ["hamilton", "reduced"] {
        let answer = pfaff(&["derive", "train", "--form", form]);
        assert_eq!(answer.status, 0, "{}", answer.err);
        assert!(answer.err.contains("written out for up to 100 coordinates"), "{}", answer.err);
        assert!(answer.out.contains("This model has 103 coordinates"), "{}", answer.out);
    }
}

/// Every form of `--form`, and what is shown without it.
const FORMS: [Option<&str>; 11] = [
    None,
    Some("multipliers"),
    Some("reduced"),
    Some("hamilton"),
    Some("routhian"),
    Some("gibbs_appell"),
    Some("kane"),
    Some("maggi"),
    Some("voronets"),
    Some("chaplygin"),
    Some("boltzmann_hamel"),
];

/// The documents of the models in every form that applies to them, in one format.
fn documents(models: &[&str], format: &str) -> Vec<(String, String)> {
    /// Longer ones are tables of numbers of operations, not for the eye.
    const LONGEST: usize = 200_000;
    let mut all = Vec::new();
    for model in models {
        for form in FORMS {
            let mut words =
                vec!["derive", model, "--format", format, "--document", "--seconds", "20"];
            words.extend(form.iter().flat_map(|form| ["--form", form]));
            let answer = pfaff(&words);
            if answer.status == 0 && answer.out.len() <= LONGEST {
                all.push((format!("{model}, {}", form.unwrap_or("no form")), answer.out));
            }
        }
    }
    all
}

/// The small models, or with `PFAFF_TESTS=full` the whole gallery.
fn models() -> Vec<&'static str> {
    if full() {
        pfaff::GALLERY.iter().map(|m| m.name).collect()
    } else {
        vec!["sleigh", "double_pendulum", "bouncing_ball", "disk_vakonomic"]
    }
}

/// Whether a program can be started with these words.
fn starts(words: &[&str]) -> bool {
    Command::new(words[0]).args(&words[1..]).output().is_ok_and(|o| o.status.success())
}

fn compiled(folder: &Path, words: &[&str]) -> Result<(), String> {
    let mut command = Command::new(words[0]);
    let done = command.args(&words[1..]).current_dir(folder).output().expect("it starts");
    let text = [done.stdout, done.stderr].concat();
    done.status
        .success()
        .then_some(())
        .ok_or_else(|| String::from_utf8_lossy(&text).into_owned())
}

/// All documents in a format, and a folder for them.
fn to_be_compiled(format: &str) -> (PathBuf, Vec<(String, String)>) {
    let all = documents(&models(), format);
    assert!(all.len() >= 20, "{} documents", all.len());
    (folder(&format!("{format}_forms")), all)
}

/// One LaTeX file with all documents: a start of the program takes longer than a page.
#[test]
fn latex_of_all_forms_compiles() {
    if !starts(&["pdflatex", "--version"]) {
        println!("skipped: there is no pdflatex; install texlive-latex-base");
        return;
    }
    let (folder, all) = to_be_compiled("latex");
    let start = "\\begin{document}\n";
    let preamble = all[0].1.split(start).next().expect("a preamble").to_owned();
    let mut text = preamble + start;
    for (name, document) in &all {
        let body = document.split(start).nth(1).expect("a body");
        let body = body.trim_end().trim_end_matches("\\end{document}");
        text += &format!("% {name}\n\\typeout{{now: {name}}}\n{body}\\clearpage\n");
    }
    text += "\\end{document}\n";
    std::fs::write(folder.join("all.tex"), text).expect("written");
    let words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"];
    if let Err(log) = compiled(&folder, &words) {
        let from = log.rfind("now: ").unwrap_or(0);
        panic!("{}", &log[from..]);
    }
}

#[test]
fn typst_of_all_forms_compiles() {
    // The program, or the package of Python that contains it.
    let program = ["typst", "compile", "one.typ", "one.pdf"];
    let package = ["python3", "-c", "import typst; typst.compile('one.typ', output='one.pdf')"];
    let words = if starts(&["typst", "--version"]) {
        program.as_slice()
    } else if starts(&["python3", "-c", "import typst"]) {
        &package
    } else {
        println!("skipped: there is no typst; `pip install typst`");
        return;
    };
    let (folder, all) = to_be_compiled("typst");
    for (name, document) in &all {
        std::fs::write(folder.join("one.typ"), document).expect("written");
        if let Err(log) = compiled(&folder, words) {
            panic!("{name}: {log}\n{document}");
        }
    }
}
