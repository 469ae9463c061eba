//! Each rule on a bad snippet, and on the good one next to it.

use std::path::Path;

use super::*;

const EXPR: &str = "crates/expr/src/graph.rs";

fn rust_faults(path: &str, body: &str) -> Vec<String> {
    let faults = rust(Path::new(path), &format!("//! Doc.\n{body}"));
    faults.into_iter().map(|(line, fault)| format!("{line}: {fault}")).collect()
}

fn text_faults(path: &str, text: &str) -> Vec<String> {
    let faults = any_text(Path::new(path), text, &["AS64".to_owned()]);
    faults.into_iter().map(|(line, fault)| format!("{line}: {fault}")).collect()
}

#[track_caller]
fn one(faults: &[String], expected: &str) {
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains(expected), "{faults:?}");
}

const NONE: Vec<String> = Vec::new();

#[test]
fn a_file_opens_with_its_doc() {
    let faults = rust(Path::new(EXPR), "use std::fmt;\n");
    assert_eq!(faults.len(), 1);
    assert!(faults[0].1.contains("`//!`"));
}

#[test]
fn a_file_has_at_most_600_lines() {
    assert_eq!(rust_faults(EXPR, &"\n".repeat(599)), NONE);
    one(&rust_faults(EXPR, &"\n".repeat(600)), "601 lines");
}

#[test]
fn public_names_are_ascii() {
    one(&rust_faults(EXPR, "pub fn λ() {}\n"), "2: public names");
    one(&rust_faults(EXPR, "pub struct S {\n    pub μ: f64,\n}\n"), "3: public names");
    one(&rust_faults(EXPR, "pub enum E {\n    Φ,\n}\n"), "3: public names");
    one(&rust_faults(EXPR, "pub trait T {\n    fn δ(&self);\n}\n"), "3: public names");
}

#[test]
fn local_names_are_as_on_paper() {
    let body = "pub fn reaction(λ: f64) -> f64 { let μ = λ; μ }\npub const PHI: char = 'φ';\nfn δ() {}\n";
    assert_eq!(rust_faults(EXPR, body), NONE);
    assert_eq!(rust_faults(EXPR, "pub enum E {\n    A, // φ\n}\nfn φ() {}\n"), NONE);
}

#[test]
fn last_bits_are_those_of_every_machine() {
    let body = "fn f(a: f64, b: f64) -> f64 {\n    a.hypot(b)\n}\n";
    for path in ["crates/solver/src/run.rs", "crates/engine/src/run.rs"] {
        one(&rust_faults(path, body), "3: the last bit of `hypot`");
        assert_eq!(rust_faults(path, &body.replace("a.hypot(b)", "libm::hypot(a, b)")), NONE);
    }
    assert_eq!(rust_faults("crates/present/src/run.rs", body), NONE);
}

#[test]
fn unsafe_is_for_the_native_module() {
    let body = "fn f() { unsafe { g() } }\n";
    one(&rust_faults("crates/program/src/run.rs", body), "2: `unsafe`");
    assert_eq!(rust_faults("crates/program/src/backend/native/mod.rs", body), NONE);
    assert_eq!(rust_faults("crates/program/src/backend/native/x86_64/emitter.rs", body), NONE);
    assert_eq!(rust_faults("crates/solver/tests/allocation.rs", body), NONE);
    one(&rust_faults("crates/engine/src/native.rs", body), "`unsafe`");
    assert_eq!(rust_faults(EXPR, "// unsafe\nconst S: &str = \"unsafe\";\n"), NONE);
}

#[test]
fn nothing_below_the_engine_touches_the_world() {
    one(&rust_faults(EXPR, "use std::fs;\n"), "2: `std::fs`");
    one(&rust_faults(EXPR, "fn f() { std::thread::spawn(g); }\n"), "`std::thread`");
    one(
        &rust_faults(EXPR, "\nuse std::{\n    fmt,\n    time::Instant,\n};\n"),
        "3: `std::time`",
    );
    one(&rust_faults(EXPR, "use std::{collections::{BTreeMap}, env};\n"), "`std::env`");
    one(&rust_faults(EXPR, "const A: B =\nstd::env::X;\n"), "3: `std::env`");
    one(&rust_faults("crates/solver/src/lu.rs", "use std::net::TcpStream;\n"), "`std::net`");
    assert_eq!(rust_faults("crates/cli/src/main.rs", "use std::fs;\n"), NONE);
    assert_eq!(rust_faults("crates/expr/tests/text.rs", "use std::fs;\n"), NONE);
    assert_eq!(rust_faults(EXPR, "use std::{fmt, ops::Add};\n"), NONE);
}

#[test]
fn unfinished_places_are_faults() {
    for word in UNFINISHED_MACROS {
        one(&rust_faults(EXPR, &format!("fn f() {{ {word}() }}\n")), "2: ");
    }
    for word in UNFINISHED_WORDS {
        one(&text_faults("docs/language.md", &format!("a\n{word}: more\n")), "2: ");
        one(&text_faults(EXPR, &format!("// {word}\n")), "1: ");
    }
    assert_eq!(text_faults("docs/language.md", &format!("{}S\n", UNFINISHED_WORDS[0])), NONE);
}

#[test]
fn paths_of_one_machine_are_faults() {
    for path in MACHINE_PATHS {
        one(&text_faults("README.md", &format!("see {path}pfaff\n")), "path of one machine");
    }
    assert_eq!(text_faults("README.md", &format!("docs{}x.md\n", MACHINE_PATHS[4])), NONE);
}

#[test]
fn registry_hosts_are_faults() {
    for host in REGISTRY_WORDS {
        one(&text_faults(".cargo/config.toml", &format!("a = \"{host}\"\n")), "registry");
    }
}

#[test]
fn a_lock_file_names_the_public_registry_only() {
    let line = |source: &str| format!("[[package]]\nname = \"libm\"\nsource = \"{source}\"\n");
    assert_eq!(text_faults("Cargo.lock", &line(PUBLIC_SOURCE)), NONE);
    one(&text_faults("Cargo.lock", &line("registry+https://mirror.example/index")), "3: ");
}

#[test]
fn citations_have_an_entry() {
    assert_eq!(text_faults("docs/a.md", "as in [AS64, (6.1.1)]\n"), NONE);
    one(&text_faults("docs/a.md", "as in [XY99]\n"), "[XY99] is not in");
    one(&text_faults(EXPR, "//! After [XY99, (3)].\n"), "[XY99] is not in");
    assert_eq!(text_faults(EXPR, "const S: &str = \"[XY99]\";\n"), NONE);
}

#[test]
fn every_model_is_in_the_gallery() {
    let models = ["sleigh".to_owned(), "disk".to_owned()];
    assert_eq!(unlisted(&models, "| `sleigh` | … |"), ["disk"]);
}

#[test]
fn paths_in_documents_exist() {
    let text =
        "see `crates/expr/src/gone.rs`,\n`docs/gallery.md`, `models/NAME.pfaff`, `x/y`\n";
    let faults = dead_paths(text, |path| path == "docs/gallery.md");
    assert_eq!(faults, [(1, "`crates/expr/src/gone.rs` does not exist".to_owned())]);
}
