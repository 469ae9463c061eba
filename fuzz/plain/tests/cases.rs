//! Some cases of every target, and all inputs that once failed.

use std::path::{Path, PathBuf};
use std::process::Command;

use pfaff_fuzz::TARGETS;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pfaff-fuzz"))
}

#[test]
fn some_cases_of_every_target() {
    for target in TARGETS {
        let output = program()
            .args([target.name, &target.usual.to_string(), "1"])
            .output()
            .expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}\n{text}", target.name);
        assert!(text.contains(&format!("{} cases of seed 1", target.usual)), "{text}");
    }
}

#[test]
fn inputs_that_failed_once() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    for target in TARGETS {
        let Ok(entries) = std::fs::read_dir(folder.join(target.name)) else { continue };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        for file in files {
            let output = program()
                .args(["--replay", target.name])
                .arg(&file)
                .output()
                .expect("it starts");
            let text = String::from_utf8_lossy(&output.stderr);
            // NOTE: a command that has no answer at its limit ends its process with 3.
            let fine = matches!(output.status.code(), Some(0 | 3));
            assert!(fine, "{}: {text}", file.display());
        }
    }
}

/// A target that panics, dies or stands still is noticed: what the loop counts is what happens.
#[test]
fn names_and_numbers_are_checked() {
    for words in [&["nothing", "1", "1"][..], &["text", "many", "1"], &[]] {
        let output = program().args(words).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

/// Requests in one process, runs at once, and steps: nothing grows, nothing differs.
#[test]
fn a_service_does_not_grow() {
    for words in [["--service", "80"], ["--threads", "20"], ["--steps", "20000"]] {
        let output = program().args(words).output().expect("it starts");
        assert!(
            output.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

/// Nearly all models that are written as valid can move: the target tests runs, not refusals.
#[test]
fn valid_models_move() {
    let target = pfaff_fuzz::target("model").expect("it is in the list");
    let request = pfaff::Run { max_steps: Some(1), samples: Some(2), ..pfaff::Run::default() };
    let moves = |case: u64| {
        let bytes = target.case(7, case);
        let mut writer =
            pfaff_fuzz::writer::Writer::new(pfaff_fuzz::choices::Choices::new(&bytes));
        pfaff::Model::parse(&writer.valid_model())
            .is_ok_and(|model| model.run(&request).is_ok())
    };
    let moved = (0..60).filter(|&case| moves(case)).count();
    assert!(moved > 54, "only {moved} of 60");
}
