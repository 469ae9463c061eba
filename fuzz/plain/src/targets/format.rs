//! Choices → tables and motions → files of every format → the same numbers, bit for bit.

use std::ffi::OsString;
use std::fs::File;

use pfaff::{Model, Run};
use pfaff_present::{
    Block, Cells, FileFormat, Kind, Table, TableReader, Texts, ToJson, write_motion,
};

use crate::choices::Choices;
use crate::scratch;

/// Saves and reads again.
pub(crate) fn saved(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    match choices.below(4) {
        0 => table(&mut choices),
        1 => block(&mut choices),
        2 => motion(&mut choices),
        _ => sweep(&mut choices),
    }
}

/// What is not finite is missing.
fn assert_same(what: &str, found: &[f64], saved: &[f64]) {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && !b.is_finite());
    let equal =
        found.len() == saved.len() && found.iter().zip(saved).all(|(a, b)| same(*a, *b));
    assert!(equal, "{what}: {found:?} instead of {saved:?}");
}

fn table(choices: &mut Choices<'_>) {
    let names = ["t", "x", "x'", "phi[1,2]", "mu(c)", "a b"];
    let (columns, rows) = (1 + choices.below(names.len()), 1 + choices.below(9));
    let values: Vec<Vec<f64>> =
        (0..columns).map(|_| (0..rows).map(|_| choices.number()).collect()).collect();
    let columns: Vec<(String, &[f64])> =
        names.iter().zip(&values).map(|(n, v)| ((*n).to_owned(), &v[..])).collect();
    let table = Table { columns, about: vec![("model", "fuzz".to_owned())] };
    let mut parquet = Vec::new();
    table.write_parquet(&mut parquet).expect("a vector takes all");
    let csv = scratch::write("a.csv", table.to_csv().as_bytes());
    let parquet = scratch::write("a.parquet", &parquet);
    let open = |path| File::open(path).expect("it is there");
    for reader in [TableReader::csv(open(csv)), TableReader::parquet(open(parquet))] {
        let (headings, block) =
            reader.and_then(TableReader::whole).expect("what was written is read");
        for ((heading, cells), (name, saved)) in
            headings.iter().zip(&block.columns).zip(&table.columns)
        {
            assert_eq!(heading.name, *name);
            let Cells::Numbers(found) = cells else { panic!("numbers stay numbers") };
            assert_same(name, found, saved);
        }
        assert_eq!((headings.len(), block.rows()), (table.columns.len(), rows));
    }
}

/// The bytes of a journal.
fn block(choices: &mut Choices<'_>) {
    let kinds: Vec<Kind> = (0..=choices.below(4))
        .map(|_| choices.one(&[Kind::Integer, Kind::Number, Kind::Text]))
        .collect();
    let rows = choices.below(20);
    let columns = kinds.iter().map(|kind| match kind {
        Kind::Integer => {
            Cells::Integers((0..rows).map(|_| choices.bits().to_bits() as i64).collect())
        }
        Kind::Number => Cells::Numbers((0..rows).map(|_| choices.number()).collect()),
        Kind::Text => {
            let mut texts = Texts::default();
            let words = ["", "end", "λ", "a,b", "\"", "E0601: x\ny"];
            (0..rows).for_each(|_| texts.push(choices.one(&words)));
            Cells::Texts(texts)
        }
    });
    let block = Block { columns: columns.collect() };
    let bytes_of = |block: &Block| {
        let mut bytes = Vec::new();
        block.write_bytes(&mut bytes);
        bytes
    };
    let mut bytes = bytes_of(&block);
    let again = Block::from_bytes(&kinds, &bytes).expect("what was written is read");
    // NOTE: not `==`, by which a number that is none differs from itself.
    assert_eq!(bytes_of(&again), bytes);
    for _ in 0..choices.below(4) {
        let at = choices.below(bytes.len());
        bytes[at] = choices.below(256) as u8;
    }
    if choices.is_one_in(2) {
        bytes.truncate(choices.below(bytes.len() + 1));
    }
    let _ = Block::from_bytes(&kinds, &bytes);
}

/// A motion in every format.
fn motion(choices: &mut Choices<'_>) {
    let start = choices.one(&["1", "0", "1e-300", "1e300", "-0.1"]);
    let observed = choices.one(&["1/x", "log(x)", "x^400", "x", "sqrt(-x)", "exp(x')"]);
    let text = format!(
        "coordinates x, phi[2]\nlagrangian (x'^2 + phi[1]'^2 + phi[2]'^2 - x^2)/2\n\
         constraint c: phi[1]' = x*phi[2]'\ninitial x = {start}, phi[2]' = 1\nobserve o = {observed}\n"
    );
    let Ok(model) = Model::parse(&text) else { return };
    let request =
        Run { samples: Some(2 + choices.below(6)), max_steps: Some(50), ..Run::to(1.0) };
    let Ok(motion) = pfaff::run(&model, &request, &mut |_, _| true) else { return };
    let columns = motion.columns();
    let json: serde_json::Value =
        serde_json::from_str(&motion.to_json_line()).expect("what is printed is JSON");
    let list = |value: &serde_json::Value| -> Vec<f64> {
        let number = |v: &serde_json::Value| v.as_f64().unwrap_or(f64::NAN);
        value.as_array().expect("a list").iter().map(number).collect()
    };
    assert_same("t", &list(&json["t"]), &motion.t);
    for (key, group) in [("q", &motion.q), ("v", &motion.v), ("observed", &motion.observed)] {
        for series in group {
            assert_same(&series.name, &list(&json[key][&series.name]), &series.values);
        }
    }
    for (format, ending) in FileFormat::ALL {
        let mut bytes = Vec::new();
        write_motion(&motion, format, &mut bytes).expect("a vector takes all");
        let file = File::open(scratch::write(&format!("m.{ending}"), &bytes));
        let file = file.expect("it is there");
        let reader = match format {
            FileFormat::Csv => TableReader::csv(file),
            FileFormat::Parquet => TableReader::parquet(file),
            FileFormat::Arrow => TableReader::arrow(file),
            FileFormat::Json => continue,
        };
        let (headings, block) =
            reader.and_then(TableReader::whole).expect("what was written is read");
        assert_eq!(headings.len(), columns.len(), "{ending}");
        for (((name, saved), heading), cells) in
            columns.iter().zip(&headings).zip(&block.columns)
        {
            assert_eq!(*name, heading.name);
            // NOTE: a column of which nothing is finite has no numbers by which it could be known.
            if let Cells::Numbers(found) = cells {
                assert_same(name, found, saved);
            }
        }
    }
}

/// A sweep with its manifest and journal, of which some bytes are changed: it is gone on with, or refused.
fn sweep(choices: &mut Choices<'_>) {
    let model = "coordinates x\nparameters a = 1\nlagrangian x'^2/2 - a*x^2/2\ninitial x = 1\nsolve t = 0..0.1\n";
    let model = scratch::write("s.pfaff", model.as_bytes()).display().to_string();
    let table =
        scratch::folder().join(choices.one(&["s.csv", "s.parquet"])).display().to_string();
    let answer = |words: &[&str]| {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        pfaff_cli::answer(&words)
    };
    let (vary, chunk) = ("a=1..2:3", choices.one(&["1/1", "1/2"]));
    let first =
        ["pfaff", "sweep", &model, "--vary", vary, "--chunk", chunk, "--output", &table];
    let first = [&first[..], &["--threads", "1"]].concat();
    assert_eq!(answer(&first), 0, "a sweep of three cases");
    let manifest = format!("{table}.manifest.json");
    let path = if choices.is_one_in(2) { &manifest } else { &table };
    let mut bytes = std::fs::read(path).expect("it was written");
    for _ in 0..choices.below(4) {
        let at = choices.below(bytes.len());
        bytes[at] = choices.below(256) as u8;
    }
    if choices.is_one_in(3) {
        bytes.truncate(choices.below(bytes.len() + 1));
    }
    std::fs::write(path, &bytes).expect("it can be written");
    // The rest, as a journal of nothing.
    if choices.is_one_in(2) {
        let mut journal = b"pfaff sweep 1\n".to_vec();
        journal.extend(choices.rest());
        std::fs::write(format!("{table}.sweep"), journal).expect("it can be written");
    }
    let merged = scratch::folder().join("whole.csv").display().to_string();
    for words in [
        &["pfaff", "sweep", "--merge", &table, "--output", &merged][..],
        &["pfaff", "sweep", "--merge", &format!("{table}.sweep"), "--output", &merged],
        &[&first[..], &["--resume"]].concat(),
    ] {
        let status = answer(words);
        assert!(status <= 3, "{status}: {words:?}");
    }
    for entry in std::fs::read_dir(scratch::folder()).expect("it is there").flatten() {
        let _ = std::fs::remove_file(entry.path());
    }
}
