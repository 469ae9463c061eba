//! The pages of `pfaff explain`: every code that the sources emit has one, each example provokes its code, and the
//! repaired example does not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use pfaff::{EXPLANATIONS, Example};

use crate::support::{Answer, Folder, answer, json, pfaff};

/// Runs the command of a page beside its model.
fn shell(name: &str, example: &Example) -> Answer {
    let folder = Folder::new(name);
    if !example.model.is_empty() {
        folder.write("model.pfaff", format!("{}\n", example.model));
    }
    let program = Path::new(env!("CARGO_BIN_EXE_pfaff")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", example.command])
        .current_dir(folder.path(""))
        .env("PATH", format!("{}:{path}", program.display()))
        .env_remove("PFAFF_CODE")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    answer(output)
}

/// Pages for which `wrong` has something to say.
fn faults(wrong: impl Fn(&pfaff::Explanation) -> Option<String> + Sync) -> Vec<String> {
    let half = EXPLANATIONS.len() / 2;
    std::thread::scope(|scope| {
        let parts = [&EXPLANATIONS[..half], &EXPLANATIONS[half..]];
        let workers = parts
            .map(|part| scope.spawn(|| part.iter().filter_map(&wrong).collect::<Vec<_>>()));
        workers.into_iter().flat_map(|w| w.join().expect("no panic")).collect()
    })
}

#[test]
fn examples_provoke_their_codes() {
    let faults = faults(|e| {
        let answer = shell(&format!("{}-example", e.code), &e.example());
        let named = answer.err.contains(&format!("[{}]: ", e.code));
        let refused = answer.status != 0 || answer.err.starts_with("warning");
        (!named || !refused).then(|| format!("{}: {answer:?}", e.code))
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn repaired_examples_are_accepted() {
    let faults = faults(|e| {
        let answer = shell(&format!("{}-repaired", e.code), &e.repaired());
        let named = answer.err.contains(&format!("[{}]: ", e.code));
        (named || answer.status != 0).then(|| format!("{}: {answer:?}", e.code))
    });
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Codes in the sources, as in `"E0607"`.
fn codes(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            codes(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("explain.rs") {
            let text = std::fs::read_to_string(&path).expect("a source");
            for (at, _) in text.match_indices("\"E0").chain(text.match_indices("\"W0")) {
                let word: String = text[at + 1..].chars().take_while(|c| *c != '"').collect();
                if word.len() == 5 && word[1..].bytes().all(|b| b.is_ascii_digit()) {
                    found.insert(word);
                }
            }
        }
    }
}

#[test]
fn every_code_of_the_sources_has_a_page_and_every_page_its_code() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates");
    let mut emitted = BTreeSet::new();
    for entry in std::fs::read_dir(crates).expect("a folder") {
        codes(&entry.expect("an entry").path().join("src"), &mut emitted);
    }
    let pages: BTreeSet<String> = EXPLANATIONS.iter().map(|e| e.code.to_owned()).collect();
    let lacking: Vec<_> = emitted.difference(&pages).collect();
    let idle: Vec<_> = pages.difference(&emitted).collect();
    assert!(lacking.is_empty(), "emitted without a page: {lacking:?}");
    assert!(idle.is_empty(), "pages of codes that nothing emits: {idle:?}");
    let files = crates.join("model/src/diagnostic/explain");
    assert_eq!(std::fs::read_dir(files).expect("pages").count(), pages.len());
}

#[test]
fn pages_have_their_parts() {
    for e in EXPLANATIONS {
        assert!(e.page.starts_with(&format!("# {}: {}\n\n", e.code, e.title())), "{}", e.code);
        assert!(e.example().command.contains("pfaff "), "{}", e.code);
        assert_ne!(e.example(), e.repaired(), "{}", e.code);
        assert!(e.page.lines().all(|line| line.chars().count() <= 120), "{}", e.code);
    }
}

#[test]
fn explain_prints_pages_and_refuses_unknown_codes() {
    let page = pfaff(&["explain", "e0607"]);
    assert_eq!(
        (page.status, page.out.as_str()),
        (0, pfaff::explanation("E0607").expect("one").page)
    );
    let all = pfaff(&["explain"]);
    assert_eq!(all.out.lines().count(), EXPLANATIONS.len() + 2);
    assert!(all.out.starts_with("E0101  the text is not UTF-8\n"), "{}", all.out);
    let pages = json(&["explain", "E0201", "E0301", "--json"]);
    assert_eq!(pages["diagnostics"][1]["code"], "E0301");
    for (word, hint) in [
        ("E0697", "did you mean E0607?"),
        ("E9999", "did you mean E0641?"),
        ("help", "codes look like"),
    ] {
        let wrong = pfaff(&["explain", word]);
        assert_eq!(wrong.status, 2);
        assert!(wrong.err.contains(hint), "{}", wrong.err);
    }
}

#[test]
fn diagnostics_end_with_the_way_to_their_pages() {
    let text = "coordinates x\nlagrangian x'^2/2 - k*x + q + sin(x, x)\n";
    let wrong = crate::support::pfaff_text(&["check", "-"], text);
    assert!(wrong.err.ends_with("\nfor more: pfaff explain E0201 E0302\n"), "{}", wrong.err);
}
