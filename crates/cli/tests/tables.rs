//! Saved tables: `pfaff diff` and `pfaff plot A.csv B.csv`.

use std::fs;

use crate::support::{Folder, json, pfaff};

fn saved(folder: &Folder, name: &str, samples: &str, more: &[&str]) -> String {
    let path = folder.path(name);
    let words = ["run", "sleigh", "--t1", "2", "--samples", samples, "--output", &path];
    let done = pfaff(&[&words[..], more].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    path
}

#[test]
fn tables_are_compared_by_their_times() {
    let folder = Folder::new("diff");
    let csv = saved(&folder, "a.csv", "5", &[]);
    let parquet = saved(&folder, "a.parquet", "5", &[]);
    let same = json(&["diff", &csv, &parquet, "--strict", "--json"]);
    assert_eq!((&same["equal"], &same["rows"]), (&true.into(), &5.into()), "{same}");
    let arrow = saved(&folder, "a.arrow", "5", &[]);
    let same = json(&["diff", &arrow, &parquet, "--strict", "--json"]);
    assert_eq!((&same["equal"], &same["rows"]), (&true.into(), &5.into()), "{same}");
    let broken = folder.write("broken.arrow", "ARROW1 and then nothing");
    let refused = pfaff(&["diff", &csv, &broken]);
    assert_eq!(refused.status, 2);
    assert!(refused.err.contains("cannot be read"), "{}", refused.err);
    let text = pfaff(&["diff", &csv, &parquet]);
    assert!(text.out.contains("all values in common are equal"), "{}", text.out);
    let other = folder.write("none.csv", "t,q\n7,1\n");
    let none = pfaff(&["diff", &csv, &other]);
    assert!(none.out.contains("the tables have no values in common"), "{}", none.out);
    // Every second time of nine is one of five.
    let finer = saved(&folder, "finer.csv", "9", &[]);
    let found = json(&["diff", &csv, &finer, "--json"]);
    assert_eq!(found["rows"], 5);
    assert_eq!(found["rows_alone"], serde_json::json!([0, 4]));
    let largest = found["largest"].as_f64().expect("a number");
    assert!(largest < 1e-9, "outputs do not depend on how many there are: {largest}");
    let other = saved(&folder, "other.csv", "5", &["--set", "a=0.3"]);
    let strict = pfaff(&["diff", &csv, &other, "--strict", "--tolerance", "1e-6"]);
    assert_eq!(strict.status, 4, "{}", strict.out);
    assert!(strict.out.lines().any(|line| line.starts_with("phi ")), "{}", strict.out);
    assert_eq!(pfaff(&["diff", &csv, &other, "--strict", "--tolerance", "10"]).status, 0);
    let columns = folder.write("b.csv", "t,z,x\n0,1,0\n");
    let found = json(&["diff", &csv, &columns, "--json"]);
    assert_eq!(found["columns_alone"][1], serde_json::json!(["z"]));
    assert_eq!(found["rows"], 1);
    for (words, expected) in [
        (&["diff", &csv, "no.csv"][..], "cannot be read"),
        (&["diff", &csv, "a.txt"], ".csv, .parquet or .arrow"),
        (&["diff", &csv, &csv, "--tolerance", "-1"], "negative"),
    ] {
        let refused = pfaff(words);
        assert_eq!(refused.status, 2, "{words:?}");
        assert!(refused.err.contains(expected), "{}", refused.err);
    }
}

#[test]
fn tables_are_drawn_over_each_other() {
    let folder = Folder::new("overlay");
    let a = saved(&folder, "a.csv", "5", &[]);
    let b = saved(&folder, "b.parquet", "5", &["--set", "a=0.4"]);
    let out = folder.path("f.svg");
    let curves = |words: &[&str]| {
        let done = pfaff(&[words, &["-o", &out]].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let figure = fs::read_to_string(&out).expect("a figure");
        assert!(figure.starts_with("<svg") || figure.contains("<svg"), "{figure}");
        figure
    };
    let both = curves(&["plot", &a, &b, "--columns", "x^2 + y^2"]);
    let one = curves(&["plot", &a, "--columns", "x^2 + y^2"]);
    assert!(both.matches("<path").count() > one.matches("<path").count());
    // The same expression of a model and of its saved run at the same times.
    let model = ["plot", "sleigh", "--t1", "2", "--samples", "5", "--columns", "x^2 + y^2"];
    assert_eq!(curves(&model), one);
    curves(&["plot", &a, &b]);
    for (words, expected) in [
        (&["plot", &a, "--columns", "x + z"][..], "`z`"),
        (&["plot", &a, "--columns", "z"], "no column `z`"),
        (&["plot", "sleigh", &a, "--columns", "x"], "is no table"),
        (&["plot", &a, "--drawing", "1"], "needs a model"),
    ] {
        let refused = pfaff(&[words, &["-o", &out]].concat());
        assert_eq!(refused.status, 2, "{words:?}");
        assert!(refused.err.contains(expected), "{words:?}: {}", refused.err);
    }
}
