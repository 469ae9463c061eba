//! `pfaff sweep`: tables that are those of single runs, that survive being ended, and plain errors.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{
    Folder, answer, full, json, numbers, pfaff, pfaff_text, program, wait_for,
};

const OSCILLATOR: &str = "\
coordinates x
parameters k = 4, c = 2*k
lagrangian x'^2/2 - k*x^2/2
initial x = 1
observe amplitude = sqrt(x^2 + x'^2/k)
event falling zero: x
solve t = 0..2
";

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|x| x.as_str().expect("a text")).collect()
}

/// Each row is the end of a run with its values: to rounding with `--single`, to the tolerance in lanes.
#[test]
fn rows_are_those_of_single_runs() {
    for (model, vary, names) in [
        ("sleigh", "a=0.1..0.5:3, x'(0)=[1, 2]", &["a", "x'(0)"][..]),
        ("pendulum", "g=1..10:2:log, m=[1, 3]", &["g", "m"]),
        ("rattleback", "spin0=-5..-4:2", &["spin0"]),
    ] {
        let words = ["sweep", model, "--vary", vary, "--t1", "3"];
        let table = json(&[&words[..], &["--single"]].concat());
        let in_lanes = json(&words);
        let cases = numbers(&table["case"]).len();
        assert!(cases >= 2, "{model}");
        for row in 0..cases {
            let (mut set, mut initial) = (Vec::new(), Vec::new());
            for name in names {
                let value = numbers(&table[*name])[row];
                match name.strip_suffix("(0)") {
                    Some(plain) => initial.push(format!("{plain}={value:?}")),
                    None => set.push(format!("{name}={value:?}")),
                }
            }
            let run = json(&[
                "run",
                model,
                "--t1",
                "3",
                "--set",
                &set.join(", "),
                "--initial",
                &initial.join(", "),
                "--json",
            ]);
            let mut compared = 0;
            for (group, prime) in [("q", ""), ("v", "'"), ("observed", "")] {
                for (name, values) in run[group].as_object().expect("a group") {
                    let column = numbers(&table[&format!("{name}{prime}")]);
                    let last = numbers(values).last().copied().expect("outputs");
                    let off = (column[row] - last).abs();
                    assert!(off <= 1e-10 * (1.0 + last.abs()), "{model} {row} {name}: {off}");
                    let lane = numbers(&in_lanes[&format!("{name}{prime}")])[row];
                    // The models ask for 1e-10 and 1e-11; the rattleback magnifies errors.
                    let size = 1.0 + last.abs();
                    assert!(
                        (lane - last).abs() < 1e-6 * size,
                        "{model} {row} {name} {lane} {last}"
                    );
                    compared += 1;
                }
            }
            assert!(compared >= 2, "{model}");
            assert_eq!(texts(&table["stop"])[row], run["stop"]["reason"]);
            assert_eq!(texts(&table["audit"])[row], run["audit"]["verdict"]);
            assert_eq!(texts(&in_lanes["stop"])[row], run["stop"]["reason"]);
            assert_eq!(texts(&in_lanes["audit"])[row], run["audit"]["verdict"]);
        }
    }
}

#[test]
fn tables_have_the_columns_of_the_contract() {
    let folder = Folder::new("sweep-columns");
    let model = folder.write("o.pfaff", OSCILLATOR);
    let head = |keep: &str| {
        let out = folder.path(&format!("{keep}.csv"));
        let words = ["sweep", &model, "--vary", "k=1..4:3, x'=[0, 1]", "--keep", keep];
        let done = pfaff(&[&words[..], &["--samples", "5", "--output", &out]].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let table = fs::read_to_string(&out).expect("a table");
        (table.lines().next().unwrap_or_default().to_owned(), table.lines().count() - 1)
    };
    assert_eq!(head("final"), ("case,k,x'(0),stop,t,x,x',amplitude,audit".into(), 6));
    assert_eq!(head("samples"), ("case,k,x'(0),stop,t,x,x',amplitude,audit".into(), 30));
    assert_eq!(head("observe"), ("case,k,x'(0),stop,t,amplitude,audit".into(), 30));
    let (events, rows) = head("events");
    assert_eq!(events, "case,k,x'(0),stop,event,direction,t,x,x',amplitude,audit");
    // cos(√k t) falls through zero once before t = 2 for k ≤ 4; with x' = 1 likewise.
    assert!((5..=6).contains(&rows), "{rows}");
    let (audit, rows) = head("audit");
    assert_eq!(audit, "case,k,x'(0),stop,t,check,value,limit,verdict,audit");
    // In lanes there are two checks of a case.
    assert!(rows >= 6 * 2, "{rows}");
    // A parameter that follows from another one follows it here too.
    let table = json(&["sweep", &model, "--vary", "k=1..4:4"]);
    // cos(√k·2) for k = 1, …, 4
    let exact =
        [-0.416_146_836_547, -0.951_363_128_126, -0.948_443_195_842, -0.653_643_620_864];
    for (x, exact) in numbers(&table["x"]).iter().zip(exact) {
        assert!((x - exact).abs() < 1e-8, "{x} {exact}");
    }
    let manifest = fs::read_to_string(folder.path("final.csv.manifest.json")).expect("beside");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["text"], OSCILLATOR);
    assert_eq!(manifest["vary"], "k=1..4:3, x'=[0, 1]");
    assert!(!folder.names().iter().any(|name| name.contains(".sweep")), "journals are gone");
}

/// Without an event a case is a row too; what cannot be drawn or kept is refused before anything is written; curves of
/// cases are not joined.
#[test]
fn every_case_has_a_row_and_a_curve() {
    let folder = Folder::new("sweep-rows");
    let model = folder.write("o.pfaff", OSCILLATOR);
    let words = ["sweep", &model, "--vary", "k=[0.1, 1, 4]", "--keep", "events"];
    for way in [&["--single"][..], &[]] {
        let table = json(&[&words[..], way].concat());
        // cos(√k t) falls through zero before t = 2 for k = 1 and 4, and not for 0.1.
        assert_eq!(numbers(&table["case"]), [1.0, 2.0, 3.0]);
        assert_eq!(texts(&table["event"])[0], "");
        assert_eq!(texts(&table["stop"])[0], "end");
        assert_eq!(numbers(&table["t"])[0], 2.0);
        assert_eq!(table["stops"]["end"], 3);
    }
    let refused = |more: &[&str]| {
        let out = folder.path("refused.csv");
        let words = ["sweep", &model, "--vary", "k=1..4:3", "--output", &out];
        let done = pfaff(&[&words[..], more].concat());
        assert_eq!(done.status, 2, "{more:?}: {}", done.err);
        assert!(!fs::exists(&out).unwrap(), "{more:?}");
        done.err
    };
    let figure = folder.path("f.svg");
    assert!(refused(&["--plot", &figure, "--columns", "y"]).contains("no column `y`"));
    assert!(refused(&["--plot", &figure, "--plot-as", "fan"]).contains("keep samples"));
    assert!(refused(&["--plot", &figure, "--plot-as", "heat"]).contains("two quantities"));
    assert!(refused(&["--threads", "0"]).contains("from 1 to"));
    assert!(refused(&["--set", "k=2"]).contains("given value"));
    let out = folder.path("samples.csv");
    let words = ["sweep", &model, "--vary", "k=[1, 2, 4]", "--keep", "samples"];
    let done = pfaff(&[&words[..], &["--samples", "9", "--output", &out]].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    let done = pfaff(&["plot", &out, "--columns", "x", "--output", &figure]);
    assert_eq!(done.status, 0, "{}", done.err);
    let svg = fs::read_to_string(&figure).expect("a figure");
    // Curves go on by relative moves; ticks and frame do not.
    let paths = svg.split("<path d=\"").skip(1);
    let mut curves = paths.filter_map(|rest| rest.split('"').next());
    let curve = curves.find(|d| d.contains('l')).expect("a curve");
    assert_eq!(curve.matches('M').count(), 3, "one for each case: {curve}");
}

/// A sweep that was ended at any byte of its journal goes on to the same bytes.
#[test]
fn resumed_tables_are_the_same_bytes() {
    let folder = Folder::new("sweep-resume");
    let model = folder.write("o.pfaff", OSCILLATOR);
    for ending in ["csv", "parquet", "arrow"] {
        let path = |name: &str| folder.path(&format!("{name}.{ending}"));
        let words = |out: &str| {
            let words = ["sweep", &model, "--draw", "k~uniform(1,9), x'~normal(0,1)"];
            // Four blocks: those in lanes have at least 32 cases, and grow fourfold.
            let more = ["--count", "800", "--seed", "3", "--threads", "1", "--output", out];
            [&words[..], &more].concat().into_iter().map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        let whole = path("whole");
        let done = answer(program().args(words(&whole)).output().expect("it runs"));
        assert_eq!(done.status, 0, "{}", done.err);
        let whole = fs::read(&whole).expect("a table");
        // The disk is full after some blocks.
        let out = path("ended");
        let ended = program()
            .args(words(&out))
            .env("PFAFF_FAULT", "write:6")
            .output()
            .expect("it runs");
        let ended = answer(ended);
        assert_eq!(ended.status, 2, "{}", ended.err);
        assert!(ended.err.contains("--resume goes on"), "{}", ended.err);
        let journal = format!("{out}.sweep");
        let bytes = fs::read(&journal).expect("a journal");
        // Without --resume it is not lost.
        let refused = answer(program().args(words(&out)).output().expect("it runs"));
        assert_eq!(refused.status, 2, "{}", refused.err);
        let kept = folder.path("kept.csv");
        let readable = pfaff(&["sweep", "--merge", &journal, "--output", &kept]);
        assert_eq!(readable.status, 0, "{}", readable.err);
        let rows = fs::read_to_string(&kept).expect("a table").lines().count() - 1;
        assert!(rows > 3 && rows < 800, "{rows}");
        let places = if full() { 40 } else { 4 };
        for i in 0..=places {
            let length = bytes.len() * i / places;
            fs::write(&journal, &bytes[..length]).expect("written");
            let resumed =
                program().args(words(&out)).arg("--resume").output().expect("it runs");
            let resumed = answer(resumed);
            assert_eq!(resumed.status, 0, "{length}: {}", resumed.err);
            assert!(fs::read(&out).expect("a table") == whole, "{ending}: cut at {length}");
            assert!(!fs::exists(&journal).unwrap(), "the journal is gone");
        }
        // A finished table is left alone.
        let again = program().args(words(&out)).arg("--resume").output().expect("it runs");
        let again = answer(again);
        assert_eq!(again.status, 0, "{}", again.err);
        assert!(again.err.contains("is complete"), "{}", again.err);
        // Damage is not computed over.
        let mut damaged = bytes.clone();
        let last = damaged.len() - 20;
        damaged[last] ^= 1;
        fs::write(&journal, &damaged).expect("written");
        let refused =
            answer(program().args(words(&out)).arg("--resume").output().expect("ran"));
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains("damaged"), "{}", refused.err);
        fs::write(&journal, "case,k\n1,2\n").expect("written");
        let refused =
            answer(program().args(words(&out)).arg("--resume").output().expect("ran"));
        assert_eq!(refused.status, 2, "{}", refused.err);
        // The journal of another sweep.
        fs::write(&journal, &bytes).expect("written");
        let mut other = words(&out);
        other[7] = "4".into();
        let refused = answer(program().args(&other).arg("--resume").output().expect("ran"));
        assert_eq!(refused.status, 2, "{}", refused.err);
        assert!(refused.err.contains("another sweep (--seed)"), "{}", refused.err);
    }
}

/// A table that was cut or changed after the sweep is not taken for complete, and not merged. A manifest that says
/// nothing of the bytes, as those of earlier versions, is believed.
#[test]
fn tables_that_changed_are_noticed() {
    let folder = Folder::new("sweep-changed");
    let model = folder.write("o.pfaff", OSCILLATOR);
    for ending in ["csv", "parquet", "arrow"] {
        let path = |name: &str| folder.path(&format!("{name}.{ending}"));
        let (whole, parts) = (path("whole"), [path("1"), path("2")]);
        let words = ["sweep", &model, "--vary", "k=1..9:6"];
        let resume = || pfaff(&[&words[..], &["--output", &whole, "--resume"]].concat());
        assert_eq!(resume().status, 0);
        for (part, chunk) in parts.iter().zip(["1/2", "2/2"]) {
            let done = pfaff(&[&words[..], &["--chunk", chunk, "--output", part]].concat());
            assert_eq!(done.status, 0, "{}", done.err);
        }
        let merged = path("merged");
        let merge = || pfaff(&["sweep", "--merge", &parts[0], &parts[1], "--output", &merged]);
        assert_eq!((merge().status, resume().status), (0, 0));
        for file in [&whole, &parts[1]] {
            let bytes = fs::read(file).expect("a table");
            let mut changed = bytes.clone();
            changed[bytes.len() / 2] ^= 1;
            for bytes in [&changed[..], &bytes[..bytes.len() - 1], &[]] {
                fs::write(file, bytes).expect("written");
                let done = if file == &whole { resume() } else { merge() };
                assert_eq!(done.status, 2, "{ending}, {} bytes", bytes.len());
                assert!(done.err.contains("its bytes have changed"), "{}", done.err);
            }
            fs::write(file, bytes).expect("written");
        }
        // The merged table has a manifest of the same kind.
        let about = fs::read_to_string(format!("{merged}.manifest.json")).expect("a manifest");
        let mut about: Value = serde_json::from_str(&about).expect("JSON");
        let length = fs::metadata(&merged).expect("a table").len();
        assert_eq!(about["table"]["bytes"], length);
        about.as_object_mut().expect("an object").remove("table");
        fs::write(format!("{merged}.manifest.json"), about.to_string()).expect("written");
        fs::write(&merged, "changed").expect("written");
        let done = pfaff(&[&words[..], &["--output", &merged, "--resume"]].concat());
        assert!(done.err.contains("is complete"), "{}", done.err);
    }
}

/// Killed while it runs, as often as it takes.
#[test]
fn killed_sweeps_go_on() {
    let folder = Folder::new("sweep-kill");
    let model = folder.write("o.pfaff", OSCILLATOR);
    let words = |out: &str| {
        ["sweep", &model, "--vary", "k=1..9:300000", "--t1", "40", "--resume", "--output", out]
            .map(ToOwned::to_owned)
    };
    let whole = folder.path("whole.parquet");
    assert_eq!(answer(program().args(words(&whole)).output().unwrap()).status, 0);
    let out = folder.path("killed.parquet");
    let journal = format!("{out}.sweep");
    let mut kills = 0;
    for _ in 0..if full() { 20 } else { 3 } {
        let mut command = program();
        command.args(words(&out)).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let before = fs::metadata(&journal).map_or(0, |m| m.len());
        wait_for("a block or the end", || {
            let grown = fs::metadata(&journal).is_ok_and(|m| m.len() > before);
            grown || child.try_wait().expect("a child").is_some()
        });
        kills += usize::from(child.try_wait().expect("a child").is_none());
        let _ = child.kill();
        let _ = child.wait();
    }
    assert!(kills > 0, "it was always done before it could be killed");
    assert_eq!(answer(program().args(words(&out)).output().unwrap()).status, 0);
    assert!(fs::read(&out).unwrap() == fs::read(&whole).unwrap());
}

#[test]
fn chunks_make_the_whole_and_threads_change_nothing() {
    let folder = Folder::new("sweep-chunks");
    for ending in ["csv", "parquet"] {
        let path = |name: &str| folder.path(&format!("{name}.{ending}"));
        let sweep = |out: &str, more: &[&str]| {
            let words = ["sweep", "sleigh", "--vary", "a=0.1..0.5:7", "--t1", "2"];
            let done = pfaff(&[&words[..], &["--output", out], more].concat());
            assert_eq!(done.status, 0, "{}", done.err);
        };
        sweep(&path("whole"), &["--threads", "1"]);
        sweep(&path("threads"), &["--threads", "3"]);
        let whole = fs::read(path("whole")).unwrap();
        assert!(fs::read(path("threads")).unwrap() == whole, "threads");
        for i in 1..=3 {
            sweep(&path(&format!("part{i}")), &["--chunk", &format!("{i}/3")]);
        }
        let parts = [path("part3"), path("part1"), path("part2")];
        let merge = |parts: &[&str]| {
            let out = path("merged");
            pfaff(&[&["sweep", "--merge"], parts, &["--output", &out]].concat())
        };
        let done = merge(&[&parts[0], &parts[1], &parts[2]]);
        assert_eq!(done.status, 0, "{}", done.err);
        assert!(fs::read(path("merged")).unwrap() == whole, "{ending}");
        let about = |name: &str| fs::read(format!("{}.manifest.json", path(name))).unwrap();
        assert!(about("merged") == about("whole"), "manifests");
        let missing = merge(&[&parts[0], &parts[1]]);
        assert_eq!(missing.status, 2);
        assert!(missing.err.contains("chunk 2 of 3 is missing"), "{}", missing.err);
        let twice = merge(&[&parts[0], &parts[1], &parts[1], &parts[2]]);
        assert!(twice.err.contains("chunk 1 of 3 is there twice"), "{}", twice.err);
        sweep(&path("other"), &["--chunk", "2/3", "--set", "m=2"]);
        let other = merge(&[&parts[0], &parts[1], &path("other")]);
        assert_eq!(other.status, 2);
        assert!(other.err.contains("different sweeps: --set"), "{}", other.err);
        assert_eq!(merge(&[&path("whole")]).status, 2, "the whole is no chunk");
        for damaged in ["", "[]", "null", "7", "{}", "{\"chunk\": [1]}", "{\"chunk\": {}}"] {
            fs::write(format!("{}.manifest.json", parts[2]), damaged).unwrap();
            let answer = merge(&[&parts[0], &parts[1], &parts[2]]);
            assert_eq!(answer.status, 2, "{damaged}: {}", answer.err);
        }
    }
}

/// pyarrow, pandas and DuckDB read the same numbers from all three kinds of files, and what pandas writes is read as
/// cases, compressed as it does without being asked.
#[test]
#[allow(clippy::print_stdout, reason = "what was skipped is told")]
fn other_programs_read_and_write_tables() {
    let python = std::env::var("PFAFF_PYTHON").unwrap_or_else(|_| "python3".into());
    let folder = Folder::new("sweep-others");
    let files = ["t.csv", "t.parquet", "t.arrow"].map(|name| folder.path(name));
    for out in &files {
        let words = ["sweep", "sleigh", "--vary", "a=0.1..0.5:5", "--t1", "1", "--output", out];
        assert_eq!(pfaff(&words).status, 0);
    }
    let run = |script: &str, files: &[&str]| {
        let done = Command::new(&python).args(["-c", script]).args(files).output();
        done.is_ok_and(|output| {
            print!("{}", String::from_utf8_lossy(&output.stderr));
            output.status.success()
        })
    };
    for library in ["pandas, pyarrow", "duckdb"] {
        if !run(&format!("import {library}"), &[]) {
            println!("skipped: no {library}; install it, or name a Python by PFAFF_PYTHON");
            return;
        }
    }
    let read = "import sys, duckdb, pandas as pd, pyarrow as pa, pyarrow.parquet as pq
c, p = pd.read_csv(sys.argv[1]), pd.read_parquet(sys.argv[2])
a = pa.ipc.open_file(sys.argv[3]).read_all()
assert list(c.columns) == list(p.columns) == a.column_names and len(c) == 5
assert a.equals(pq.read_table(sys.argv[2]))
assert (c['x'].values == p['x'].values).all() and (c['audit'] == 'pass').all()
found = duckdb.sql(f\"select a, x from '{sys.argv[2]}' order by a\").fetchall()
assert found == list(zip(p['a'], p['x']))";
    assert!(run(read, &files.each_ref().map(String::as_str)), "see above");
    let cases = ["c.arrow", "c.parquet"].map(|name| folder.path(name));
    let write = "import sys, pandas as pd
table = pd.DataFrame({'a': [0.1, 0.25]})
table.to_feather(sys.argv[1])
table.to_parquet(sys.argv[2])";
    assert!(run(write, &cases.each_ref().map(String::as_str)), "see above");
    for cases in &cases {
        let table = json(&["sweep", "sleigh", "--cases", cases, "--t1", "1"]);
        assert_eq!(numbers(&table["a"]), [0.1, 0.25], "{cases}");
    }
}

#[test]
fn tables_of_cases_and_draws() {
    let folder = Folder::new("sweep-cases");
    let cases = folder.write("cases.csv", "case,a,x'\n1,0.1,1\n2,0.25,2e0\n");
    let table = json(&["sweep", "sleigh", "--cases", &cases, "--t1", "1"]);
    assert_eq!(numbers(&table["a"]), [0.1, 0.25]);
    assert_eq!(numbers(&table["x'(0)"]), [1.0, 2.0]);
    let same = folder.path("same.parquet");
    let done = pfaff(&["sweep", "sleigh", "--cases", &cases, "--t1", "1", "--output", &same]);
    assert_eq!(done.status, 0, "{}", done.err);
    let draw = |more: &[&str]| {
        let words = ["sweep", "sleigh", "--draw", "a~normal(0.2,0.01)", "--count", "8"];
        let table = json(&[&words[..], &["--t1", "0.5"], more].concat());
        numbers(&table["a"])
    };
    assert_eq!(draw(&[]), draw(&["--seed", "0"]));
    assert_ne!(draw(&[]), draw(&["--seed", "1"]));
    let mut even = draw(&["--sampling", "latin"]);
    even.sort_by(f64::total_cmp);
    // Octiles of the normal distribution: the smallest of eight lies below −1.15 deviations.
    assert!(even[0] < 0.2 - 0.0115 && even[3] < 0.2 && even[4] > 0.2, "{even:?}");
}

/// A case that fails is a row with its reason, and the others go on.
#[test]
fn cases_that_fail_are_rows() {
    let text = "coordinates x\nparameters k = 1\nlagrangian x'^2/2 - log(k)*x^2/2\ninitial x = 1\nsolve t = 0..1\n";
    let words = ["sweep", "-", "--vary", "k=[2, -1, 3]"];
    let done = pfaff_text(&words, text);
    assert_eq!(done.status, 0, "{}", done.err);
    let table: Value = serde_json::from_str(&done.out).expect("JSON");
    let stops = texts(&table["stop"]);
    assert_eq!((stops[0], stops[2]), ("end", "end"));
    assert!(stops[1].starts_with("E0602: "), "{}", stops[1]);
    assert!(table["x"][1].is_null() && table["x"][0].is_f64());
    assert_eq!(texts(&table["audit"])[1], "unchecked");
    // Stopped early: the state is that of the last step.
    let text =
        "coordinates x\nparameters v = 1\nequation x' = x^2\ninitial x = v\nsolve t = 0..1\n";
    let done = pfaff_text(&["sweep", "-", "--vary", "v=[0.5, 2]"], text);
    let table: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(texts(&table["stop"])[0], "end");
    assert_ne!(texts(&table["stop"])[1], "end");
    let (t, x) = (numbers(&table["t"])[1], numbers(&table["x"])[1]);
    assert!(t > 0.4 && t <= 0.51 && x > 10.0, "{t} {x}");
    let none = pfaff_text(
        &["sweep", "-", "--vary", "k=[-2, -1]"],
        &OSCILLATOR.replace("k*x", "log(k)*x"),
    );
    assert_eq!(none.status, 1, "{}", none.err);
    assert!(none.err.contains("no case could begin"), "{}", none.err);
}

#[test]
fn mistakes_are_plain() {
    let folder = Folder::new("sweep-mistakes");
    let texts = folder.write("texts.csv", "a\n1\nx\n");
    let out = folder.path("a.csv");
    let wrong: [(&[&str], &str); 16] = [
        (&[], "--vary, --draw or --cases"),
        (&["--vary", "a=0.1..0.5:0"], "not 0"),
        (&["--vary", "a=0.1..0.5:-5"], "not -5"),
        (&["--vary", "b=0.1..0.5:5"], "`b` cannot be varied"),
        (&["--vary", "a'=0.1..0.5:5"], "cannot be varied"),
        (&["--vary", "a=1..2:3, a=1..2:3"], "varied twice"),
        (&["--vary", "x'=1..2:3, x'(0)=1..2:3"], "varied twice"),
        (&["--draw", "a~normal(0.2,-1)", "--count", "3"], "positive, not -1"),
        (&["--draw", "a~normal(0.2,1)", "--count", "0"], "--count is `0`"),
        (&["--draw", "a~normal(0.2,1)", "--count", "-3"], "--count is `-3`"),
        (&["--draw", "a~cauchy(0.2,1)", "--count", "3"], "no distribution `cauchy`"),
        (&["--cases", "no.csv"], "cannot be read"),
        (&["--cases", &texts], "holds texts"),
        (&["--vary", "a=1..2:3", "--keep", "all"], "--keep is `all`"),
        (&["--vary", "a=1..2:3", "--output", "a.txt"], ".csv, .parquet or .arrow"),
        (&["--vary", "a=1..2:3", "--output", &out, "--chunk", "3/2"], "not a chunk"),
    ];
    for (words, expected) in wrong {
        let refused = pfaff(&[&["sweep", "sleigh"], words].concat());
        assert_eq!(refused.status, 2, "{words:?} {}", refused.err);
        assert!(refused.err.contains(expected), "{words:?} {}", refused.err);
        assert_eq!(refused.out, "");
    }
    let model =
        pfaff_text(&["sweep", "-", "--vary", "k=1..2:2"], "coordinates x\nlagrangian k*");
    assert_eq!(model.status, 1, "{}", model.err);
    assert!(!folder.names().iter().any(|n| n.starts_with("a.csv")), "{:?}", folder.names());
}

/// A time limit keeps what is complete, and --resume goes on.
#[test]
fn limits_keep_what_is_complete() {
    let folder = Folder::new("sweep-limits");
    let out = folder.path("a.csv");
    let words =
        ["sweep", "sleigh", "--vary", "a=0.1..0.5:3000000", "--t1", "200", "--output", &out];
    let ended = pfaff(&[&words[..], &["--seconds", "0.7"]].concat());
    assert_eq!(ended.status, 3, "{}", ended.err);
    let rows = fs::read_to_string(&out).map_or(0, |text| text.lines().count());
    assert!(rows < 3_000_001, "{rows}");
    assert!(fs::exists(format!("{out}.sweep")).unwrap());
}

/// Summaries say how the cases were run: in lanes, compiled once, or each by itself.
#[test]
fn summaries_say_how_cases_were_run() {
    let folder = Folder::new("sweep-runs");
    let relaxed = "coordinates x\nparameters k = 1\nlagrangian x'^2/2 - k*x^2/2\n\
                   force x: -caputo(x, 0.5)\ninitial x = 1\nsolve t = 0..1";
    let memory = folder.write("m.pfaff", relaxed);
    let out = folder.path("t.csv");
    for (model, vary, more, words) in [
        ("sleigh", "a=[0.1, 0.2]", &[][..], "eight at once in lanes"),
        ("ball", "m=[1, 2]", &[], "eight at once in lanes, 2 of them again one by one"),
        ("sleigh", "a=[0.1, 0.2]", &["--single"], "one by one, compiled once"),
        ("pendulum", "m=[1, 2]", &[], "one by one, compiled once"),
        (&memory, "k=[1, 2]", &[], "one by one, each compiled anew"),
    ] {
        let base = ["sweep", model, "--vary", vary, "--t1", "1", "--output", &out];
        let done = pfaff(&[&base[..], more].concat());
        assert!(done.out.contains(words), "{model}: {}", done.out);
    }
}

/// Figures of every kind, a page, and what cannot be drawn.
#[test]
fn sweeps_are_drawn() {
    let folder = Folder::new("sweep-plots");
    let model = folder.write("o.pfaff", OSCILLATOR);
    let grid = "k=1..4:6, x'=0..2:5";
    for (kind, keep, name) in [
        ("heat", "final", "a.svg"),
        ("basins", "final", "b.png"),
        ("histogram", "final", "c.pdf"),
        ("fan", "samples", "d.svg"),
        ("overlay", "samples", "e.svg"),
    ] {
        let vary = if kind == "overlay" { "k=1..4:3" } else { grid };
        let (out, page) = (folder.path(name), folder.path(&format!("{name}.html")));
        let words = ["sweep", &model, "--vary", vary, "--keep", keep, "--plot-as", kind];
        let done = pfaff(&[&words[..], &["--plot", &out, "--report", &page]].concat());
        assert_eq!(done.status, 0, "{kind}: {}", done.err);
        assert!(fs::metadata(&out).expect("a figure").len() > 1000, "{kind}");
        let text = fs::read_to_string(&page).expect("a page");
        assert!(text.contains("<svg") && text.contains("vary"), "{kind}");
    }
    let wrong = |more: &[&str]| {
        let base = ["sweep", &model, "--vary", "k=1..4:3"];
        pfaff(&[&base[..], more].concat())
    };
    let out = folder.path("x.svg");
    assert_eq!(wrong(&["--plot", "x.txt"]).status, 2);
    assert_eq!(wrong(&["--plot", &out, "--plot-as", "pie"]).status, 2);
    assert_eq!(wrong(&["--plot", &out, "--plot-as", "heat"]).status, 2, "one name is varied");
    assert_eq!(wrong(&["--plot", &out, "--columns", "nothing"]).status, 2);
    assert_eq!(wrong(&["--report", "x.txt"]).status, 2);
}

/// Noise: the same seed gives the same bytes whatever the threads and the chunks; another seed gives others.
#[test]
fn noise_is_reproducible() {
    let folder = Folder::new("sweep-noise");
    let text = "coordinates x\nparameters c = 1\nlagrangian x'^2/2\ndissipation c*x'^2/2\n\
                noise x: 1\nsolve t = 0..1, step = 0.1";
    let model = folder.write("n.pfaff", text);
    let sweep = |name: &str, more: &[&str]| {
        let out = folder.path(name);
        let words = ["sweep", &model, "--vary", "c=[1, 1, 1, 1, 2]", "--output", &out];
        assert_eq!(pfaff(&[&words[..], more].concat()).status, 0);
        fs::read(&out).expect("a table")
    };
    let one = sweep("one.csv", &["--threads", "1", "--seed", "3"]);
    assert!(one == sweep("two.csv", &["--threads", "2", "--seed", "3"]));
    assert!(one != sweep("other.csv", &["--threads", "2", "--seed", "4"]));
    let table = String::from_utf8(one).expect("text");
    let rows: Vec<&str> = table.lines().skip(1).map(|l| l.split_once(',').unwrap().1).collect();
    assert_ne!(rows[0], rows[1], "each case has its own path");
    for i in 1..=2 {
        sweep(&format!("p{i}.csv"), &["--seed", "3", "--chunk", &format!("{i}/2")]);
    }
    let merged = folder.path("m.csv");
    let parts = [folder.path("p1.csv"), folder.path("p2.csv")];
    let done = pfaff(&["sweep", "--merge", &parts[0], &parts[1], "--output", &merged]);
    assert_eq!(done.status, 0, "{}", done.err);
    assert_eq!(fs::read_to_string(&merged).expect("a table"), table);
    let run = |seed: &str| json(&["run", &model, "--json", "--seed", seed]);
    assert_eq!(run("7")["q"], run("7")["q"]);
    assert_ne!(run("7")["q"], run("8")["q"]);
    assert!(pfaff(&["check", &model]).out.contains("noise               on x"));
}
