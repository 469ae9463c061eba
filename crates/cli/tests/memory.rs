//! Limits of memory: what was computed comes out, with its audit, and nothing of it is lost.

use crate::support::{Folder, keys, numbers, object, pfaff, pfaff_text};

/// More outputs than there is memory.
const LONG: [&str; 6] = ["run", "pendulum", "--t1", "1500", "--samples", "3000001"];
const LIMIT: [&str; 2] = ["--memory", "100MB"];
/// A ball that bounces: a run of segments, whose rows nobody forgets.
const BOUNCING: &str = "coordinates y\nlagrangian y'^2/2 - 9.81*y\n\
                        contact floor: y >= 0, restitution = 1\ninitial y = 1\nsolve t = 0..1000\n";
/// A motion of one step, which has all outputs.
const FREE: &str = "coordinates x\nlagrangian x'^2/2\ninitial x' = 3\nsolve t = 0..1\n";

/// The times of a motion that was ended by its limit, all columns of which are as long.
fn times(text: &str, of: &str) -> Vec<f64> {
    let motion = object(text);
    assert_eq!(motion["stop"]["reason"], "interrupted", "{of}");
    assert_ne!(motion["audit"]["verdict"], "fail", "{of}");
    assert!(
        motion["audit"]["checks"].as_array().is_some_and(|checks| checks.len() > 3),
        "{of}"
    );
    let t = numbers(&motion["t"]);
    for key in ["q", "v", "observed"] {
        for name in keys(&motion[key]) {
            assert_eq!(numbers(&motion[key][&name]).len(), t.len(), "{of} {key} {name}");
        }
    }
    assert_eq!(numbers(&motion["energy"]["total"]).len(), t.len(), "{of}");
    t
}

/// Rows become columns in their place, and JSON is written from them: a motion that fills three quarters of its memory
/// fits into it until the end.
#[test]
fn a_motion_that_fills_its_memory_comes_out() {
    let folder = Folder::new("fills_memory");
    let samples = ["run", "-", "--samples", "3000001"];
    let cases: [(&[&str], &str, f64); 3] =
        [(&LONG, "", 2000.0), (&samples, BOUNCING, 3000.0), (&samples, FREE, 3e6)];
    for (words, text, rate) in cases {
        let answer = pfaff_text(&[words, &LIMIT[..], &["--json"]].concat(), text);
        assert_eq!(answer.status, 3, "{text}: {}", answer.err);
        assert!(answer.err.contains("three quarters of the memory limit"), "{}", answer.err);
        let t = times(&answer.out, text);
        assert!(t.len() > 50_000, "{text}: {}", t.len());
        // NOTE: bounces have rows of their own.
        let even = t.iter().filter(|t| (*t * rate - (*t * rate).round()).abs() < 1e-6).count();
        assert!(even > t.len() - 1000, "{text}: {even} of {}", t.len());
        let answer = pfaff_text(&[words, &LIMIT[..]].concat(), text);
        assert_eq!(answer.status, 3, "{text}: {}", answer.err);
        assert!(answer.out.contains("energy balance"), "{text}: {}", answer.out);
    }
    for name in ["a.json", "a.parquet", "a.csv"] {
        let file = folder.path(name);
        let json = if name == "a.json" { [].as_slice() } else { &["--json"] };
        let answer = pfaff(&[&LONG[..], &LIMIT, &["--output", &file], json].concat());
        assert_eq!(answer.status, 3, "{name}: {}", answer.err);
        assert!(!answer.err.contains("no answer"), "{name}: {}", answer.err);
        if name == "a.json" {
            let text = std::fs::read_to_string(&file).expect("it was written");
            assert!(times(&text, name).len() > 50_000);
        } else {
            // What was written is what was printed.
            let printed = folder.write("printed.json", &answer.out);
            let rows = times(&answer.out, name).len();
            assert!(rows > 50_000, "{name}: {rows}");
            let answer = pfaff(&["diff", &file, &file]);
            assert_eq!(answer.status, 0, "{name}: {}", answer.err);
            assert!(answer.out.contains(&rows.to_string()), "{rows}: {}", answer.out);
            std::fs::remove_file(printed).expect("it was written");
        }
        std::fs::remove_file(&file).expect("it was written");
        assert!(folder.names().is_empty(), "{:?}", folder.names());
    }
}

/// A limit that is not reached changes no byte: neither of what is printed nor of a file.
#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let folder = Folder::new("memory_not_reached");
    let words = ["run", "pendulum", "--t1", "20", "--samples", "60001", "--output"];
    let written = ["60MB", "2GB"].map(|limit| {
        let file = folder.path(&format!("{limit}.json"));
        let answer = pfaff(&[&words[..], &[&file, "--memory", limit]].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        let mut motion = object(&std::fs::read_to_string(&file).expect("it was written"));
        motion["statistics"] = serde_json::Value::Null;
        motion
    });
    assert_eq!(numbers(&written[0]["t"]).len(), 60_001);
    assert!(written[0] == written[1]);
}

/// A sweep without a file and a comparison print what they have.
#[test]
fn sweeps_and_comparisons_that_fill_their_memory_come_out() {
    let words = ["sweep", "pendulum", "--vary", "m=1..2:100000", "--keep", "samples"];
    let more = ["--samples", "20001", "--t1", "10"];
    let answer = pfaff(&[&words[..], &more, &LIMIT].concat());
    assert_eq!(answer.status, 3, "{}", answer.err);
    let table = object(&answer.out);
    let cases = table["cases"].as_u64().expect("a number") as usize;
    assert!(cases > 4, "{cases}");
    for column in ["case", "m", "t", "x", "tension", "audit"] {
        let length = table[column].as_array().map(Vec::len);
        assert_eq!(length, Some(20_001 * cases), "{column}");
    }
    let words =
        ["compare", "contact_vakonomic", "--samples", "1000001", "--t1", "100", "--json"];
    let answer = pfaff(&[&words[..], &["--memory", "150MB"]].concat());
    assert_eq!(answer.status, 3, "{}", answer.err);
    let compared = object(&answer.out);
    let rows = numbers(&compared["t"]).len();
    assert!(rows > 100, "{rows}");
    for principle in keys(&compared["motions"]) {
        let motion = &compared["motions"][&principle];
        assert_eq!(numbers(&motion["t"]).len(), rows, "{principle}");
    }
}

/// Rows of many coordinates are long: a table that grows holds fewer of them.
#[test]
fn long_rows_wait_in_little_memory() {
    let folder = Folder::new("long_rows");
    let file = folder.path("a.csv");
    let chain = "coordinates q[200]\nlagrangian dot(q', q')/2 - dot(q, q)/2\ninitial q[3] = 1\nsolve t = 0..10\n";
    let words = ["run", "-", "--samples", "40001", "--output", &file, "--memory", "150MB"];
    let answer = pfaff_text(&words, chain);
    // NOTE: held as a whole, the rows take 260 MB.
    assert_eq!(answer.status, 0, "{}", answer.err);
    let text = std::fs::read_to_string(&file).expect("it was written");
    assert_eq!(text.lines().count(), 40_002);
}
