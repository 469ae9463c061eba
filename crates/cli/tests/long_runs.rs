//! Long runs: files that follow the run, Ctrl-C, full disks.

use std::process::{Child, Stdio};

use crate::support::{
    self, Folder, json, keys, numbers, object, pfaff, pfaff_text, program, wait_for,
};

/// A run that takes minutes, with rows to write all the time.
const ENDLESS: [&str; 6] = ["run", "pendulum", "--t1", "1000000", "--samples", "1000001"];

fn start(more: &[&str]) -> Child {
    program()
        .args(ENDLESS)
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// The columns of a CSV file.
fn csv(text: &str) -> Vec<(String, Vec<f64>)> {
    let mut lines = text.lines();
    let names = lines.next().expect("a line of names").split(',');
    let mut columns: Vec<(String, Vec<f64>)> =
        names.map(|n| (n.to_owned(), Vec::new())).collect();
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        assert_eq!(fields.len(), columns.len(), "{line}");
        for (column, field) in columns.iter_mut().zip(fields) {
            column.1.push(if field.is_empty() {
                f64::NAN
            } else {
                field.parse().expect("a number")
            });
        }
    }
    columns
}

#[test]
fn csv_has_everything_and_reads_back_exactly() {
    let folder = Folder::new("csv");
    let file = folder.path("motion.csv");
    let run = json(&["run", "sleigh", "--samples", "11", "--output", &file, "--json"]);
    let text = std::fs::read_to_string(&file).expect("the file is there");
    let columns = csv(&text);
    let names: Vec<&str> = columns.iter().map(|c| c.0.as_str()).collect();
    let expected = "t x y phi x' y' phi' x'' y'' phi'' lambda(blade) reaction(x) reaction(y) reaction(phi) energy work speed";
    // Others may stand between them.
    let expected: Vec<&str> = expected.split(' ').collect();
    let known: Vec<&str> = names.iter().copied().filter(|n| expected.contains(n)).collect();
    assert_eq!(known, expected);
    let column = |name: &str| &columns.iter().find(|c| c.0 == name).expect("a column").1;
    assert_eq!(*column("t"), numbers(&run["t"]));
    assert_eq!(*column("y'"), numbers(&run["v"]["y"]));
    assert_eq!(*column("lambda(blade)"), numbers(&run["multipliers"]["blade"]));
    assert_eq!(*column("speed"), numbers(&run["observed"]["speed"]));
}

#[test]
fn names_with_commas_are_quoted() {
    let folder = Folder::new("quotes");
    let file = folder.path("m.csv");
    let text = "coordinates phi[1,2]\nlagrangian phi[1,1]'^2 + phi[1,2]'^2\nsolve t = 0..1\n";
    let answer = pfaff_text(&["run", "-", "--output", &file], text);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let written = std::fs::read_to_string(&file).expect("the file is there");
    assert!(written.starts_with("t,\"phi[1,1]\",\"phi[1,2]\",\"phi[1,1]'\""), "{written}");
}

#[test]
fn a_json_file_is_what_is_printed() {
    let folder = Folder::new("json");
    let file = folder.path("motion.json");
    let answer = pfaff(&["run", "sleigh", "--output", &file, "--json"]);
    assert_eq!(std::fs::read_to_string(&file).expect("the file is there"), answer.out);
    assert_eq!(folder.names(), ["motion.json"], "nothing else is left");
}

#[test]
fn a_parquet_file_begins_and_ends_as_one() {
    let folder = Folder::new("parquet");
    let file = folder.path("motion.parquet");
    let run = json(&["run", "sleigh", "--output", &file, "--json"]);
    let bytes = std::fs::read(&file).expect("the file is there");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    // What is in it is read back by other programs in the tests of `pfaff-present`.
    let contains = |word: &str| bytes.windows(word.len()).any(|w| w == word.as_bytes());
    for name in ["phi'", "lambda(blade)", "reaction_power", "Chaplygin sleigh", "chetaev"] {
        assert!(contains(name), "{name}");
    }
    let plain = 8 * numbers(&run["t"]).len() * 18;
    assert!(bytes.len() < plain, "{} of {plain} bytes", bytes.len());
    assert_eq!(folder.names(), ["motion.parquet"]);
}

/// Kills a run that has begun to write, and gives back its file.
fn killed(folder: &Folder, name: &str) -> Vec<u8> {
    let file = folder.path(name);
    let mut child = start(&["--output", &file]);
    let size = || std::fs::metadata(&file).map_or(0, |m| m.len());
    wait_for("the file", || size() > 0);
    let first = size();
    wait_for("the file to grow", || size() > first);
    child.kill().expect("it still runs");
    child.wait().expect("it ended");
    std::fs::read(&file).expect("the file is there")
}

#[test]
fn files_are_readable_after_a_kill() {
    let folder = Folder::new("killed");
    let text = String::from_utf8(killed(&folder, "a.csv")).expect("UTF-8");
    assert!(text.ends_with('\n'), "the last row is whole");
    let columns = csv(&text);
    let t = &columns[0].1;
    assert!(t.len() > 10 && t.len() < 1_000_001, "{} rows", t.len());
    // The times are rounded, a millionth of a row is not.
    assert!(t.windows(2).all(|w| (w[1] - w[0] - 1.0).abs() < 1e-6), "no row is missing");

    let text = String::from_utf8(killed(&folder, "a.json")).expect("UTF-8");
    let run = object(&text);
    assert_eq!(run["stop"]["reason"], "interrupted");
    assert_eq!(run["audit"]["verdict"], "unchecked", "it could not be audited");
    assert_eq!(keys(&run["q"]), ["x", "y"]);
    assert_eq!(numbers(&run["t"]).len(), numbers(&run["q"]["x"]).len());
    assert!(numbers(&run["t"]).len() > 10);

    let bytes = killed(&folder, "a.parquet");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_computed() {
    let folder = Folder::new("interrupted");
    let file = folder.path("a.csv");
    let mut child = start(&["--json", "--output", &file]);
    wait_for("the file", || std::fs::metadata(&file).is_ok_and(|m| m.len() > 0));
    let interrupted = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(interrupted.success());
    let mut out = String::new();
    let mut pipe = child.stdout.take().expect("a pipe");
    std::io::Read::read_to_string(&mut pipe, &mut out).expect("UTF-8");
    let answer = support::answer(child.wait_with_output().expect("it ends"));
    assert_eq!(answer.status, 3, "{}", answer.err);
    let run = object(&out);
    assert_eq!(run["stop"]["reason"], "interrupted");
    let t = numbers(&run["t"]);
    assert!(t.len() > 10, "{} rows", t.len());
    // A second integration of a long run would take too long for somebody who has pressed Ctrl-C.
    assert_eq!(run["audit"]["verdict"], "unchecked");
    let checks = run["audit"]["checks"].as_array().expect("checks");
    let verdict = |name: &str| {
        checks.iter().find(|c| c["name"] == name).expect("a check")["verdict"].clone()
    };
    assert_eq!(verdict("energy balance"), "pass", "what there is was audited");
    assert_eq!(verdict("error by a second integration"), "unchecked");
    let written = csv(&std::fs::read_to_string(&file).expect("the file is there"));
    assert_eq!(written[0].1, t, "the file has it all");
}

/// Faults at every operation on a file: the old file stays, the motion is printed, nothing else is left.
#[test]
fn a_full_disk_costs_the_file_and_not_the_motion() {
    let folder = Folder::new("full");
    for name in ["full.csv", "full.json", "full.parquet", "full.arrow"] {
        // NOTE: the first `create` is the trial before the run.
        let other = ["write:1:eio", "write:1:edquot", "sync:1:eio", "rename:1:erofs"];
        let full = ["create:2", "write:1", "write:2", "sync:1", "rename:1"];
        for fault in full.into_iter().chain(other) {
            let file = folder.write(name, "precious\n");
            let answer = support::answer(
                program()
                    .args(["run", "sleigh", "--json", "--output", &file])
                    .env("PFAFF_FAULT", fault)
                    .output()
                    .expect("it runs"),
            );
            let kept = std::fs::read_to_string(&file).is_ok_and(|text| text == "precious\n");
            if answer.status == 0 {
                assert!(!kept && fault == "write:2", "{name} {fault}: one write is enough");
                continue;
            }
            assert_eq!(answer.status, 2, "a script must see it: {name} {fault}");
            assert!(answer.err.contains("could not be written"), "{}", answer.err);
            assert_eq!(numbers(&object(&answer.out)["t"]).len(), 201, "the motion is printed");
            assert!(kept, "{name} {fault}");
            assert_eq!(folder.names(), [name], "{fault}: no temporary file");
        }
        std::fs::remove_file(folder.path(name)).expect("it is there");
    }
    let file = folder.path("never.csv");
    let refused = program()
        .args(["run", "sleigh", "--output", &file])
        .env("PFAFF_FAULT", "create:1")
        .output()
        .expect("it runs");
    assert_eq!((refused.status.code(), refused.stdout.len()), (Some(2), 0));
    for (command, name) in [("report", "a.html"), ("plot", "a.svg"), ("compare", "a.csv")] {
        for fault in ["create:2", "write:1", "sync:1", "rename:1"] {
            let file = folder.write(name, "precious\n");
            let arguments = [command, "sleigh", "--output", &file];
            let run = program().args(arguments).env("PFAFF_FAULT", fault).output();
            let answer = support::answer(run.expect("it runs"));
            assert_eq!(answer.status, 2, "{command} {fault}");
            assert!(answer.err.contains("could not be written"), "{}", answer.err);
            assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "precious\n");
            assert_eq!(folder.names(), [name], "{command} {fault}");
        }
        std::fs::remove_file(folder.path(name)).expect("it is there");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_told() {
    let out = std::fs::File::options().write(true).open("/dev/full").expect("a full device");
    let run = program().args(["run", "sleigh"]).stdout(out).output().expect("it runs");
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("cannot be written"));
}

#[test]
fn files_that_cannot_be_written_are_refused_before_the_run() {
    let folder = Folder::new("refused");
    let nowhere = folder.path("no/such/folder/a.csv");
    let answer = pfaff(&["run", "sleigh", "--output", &nowhere]);
    assert_eq!((answer.status, answer.out.as_str()), (2, ""));
    assert!(answer.err.contains("cannot be written"), "{}", answer.err);
    let ending = pfaff(&["run", "sleigh", "--output", "motion.xlsx"]);
    assert_eq!(ending.status, 2);
    assert!(ending.err.contains(".csv, .json, .parquet or .arrow"), "{}", ending.err);
}

/// A model that cannot start leaves an older file alone and makes no new one.
#[test]
fn a_run_that_does_not_begin_touches_no_file() {
    let folder = Folder::new("untouched");
    let old = folder.write("old.csv", "precious\n");
    let wrong = "coordinates x\nlagrangian x'^2/2\nconstraint a: x^2 = -1\nsolve t = 0..1\n";
    assert_eq!(pfaff_text(&["run", "-", "--output", &old], wrong).status, 1);
    assert_eq!(std::fs::read_to_string(&old).expect("still there"), "precious\n");
    let new = folder.path("new.parquet");
    assert_eq!(pfaff_text(&["run", "-", "--output", &new], wrong).status, 1);
    assert_eq!(folder.names(), ["old.csv"]);
}
