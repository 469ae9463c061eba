//! Choices → tables → everything that reads tables: models, fits, discoveries, files.

use std::fs::File;

use pfaff::{Files, MeasuredMotions, Measurements, Model, Overrides, Run, Source};
use pfaff_present::{Table, TableReader};

use crate::choices::Choices;
use crate::scratch;

struct One<'a>(&'a str);

impl Files for One<'_> {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_owned())
    }
}

const MODEL: &str =
    "coordinates x\nlagrangian x'^2/2 - table(t, \"a.csv\", \"x\")*x\nsolve t = 0..1\n";

/// Reads a table in every way.
pub(crate) fn read(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let text = text(&mut choices);
    let source = Source::new("fuzz", MODEL);
    match Model::read(source, &Overrides::default(), &One(&text)) {
        Ok(model) => {
            let request = Run { max_steps: Some(2), samples: Some(2), ..Run::default() };
            let _ = pfaff::run(&model, &request, &mut |_, _| true);
        }
        Err(refused) => assert!(!refused.diagnostics.is_empty(), "{text}"),
    }
    let _ = Measurements::read("a.csv", &text);
    let _ = MeasuredMotions::read("a.csv", &text, &["x", "y"]);
    let path = scratch::write("table.csv", text.as_bytes());
    let whole = TableReader::csv(File::open(&path).expect("it is there"));
    let _ = whole.and_then(TableReader::whole);
    let path = scratch::write("table.parquet", &damaged(&mut choices));
    let whole = TableReader::parquet(File::open(&path).expect("it is there"));
    let _ = whole.and_then(TableReader::whole);
}

/// A table as text: mostly columns of numbers, with what goes wrong in such files.
fn text(choices: &mut Choices<'_>) -> String {
    let separator = choices.one(&[",", ",", ",", ";", "\t", " ", ", "]);
    let end = choices.one(&["\n", "\n", "\r\n", "\r", "\n\n"]);
    let names =
        ["t", "x", "y", "t", "x'", "", "\"a b\"", "\"", "λ", "1", "\0", "#t", "\u{feff}t"];
    let columns = 1 + choices.below(5);
    let mut lines = vec![
        (0..columns)
            .map(|i| if choices.is_one_in(6) { choices.one(&names) } else { names[i % 3] })
            .collect::<Vec<_>>()
            .join(separator),
    ];
    for row in 0..choices.below(12) {
        let mut cells = Vec::new();
        for column in 0..columns + usize::from(choices.is_one_in(16)) {
            cells.push(match choices.below(16) {
                0 => choices
                    .one(&["", "nan", "inf", "-", "\"", "1e400", "0x1", "a", "1,5"])
                    .to_owned(),
                1 => format!("{:?}", choices.bits()),
                _ if column == 0 => format!("{}", row as f64 * 0.25),
                _ => format!("{:?}", choices.number()),
            });
        }
        lines.push(cells.join(separator));
    }
    lines.join(end)
}

/// A Parquet file with some bytes changed, or cut off.
fn damaged(choices: &mut Choices<'_>) -> Vec<u8> {
    let x: Vec<f64> = (0..=choices.below(9)).map(|_| choices.number()).collect();
    let columns = vec![("t".to_owned(), &x[..]), ("x".to_owned(), &x[..])];
    let mut bytes = Vec::new();
    Table { columns, about: Vec::new() }.write_parquet(&mut bytes).expect("a vector takes all");
    for _ in 0..choices.below(4) {
        let at = choices.below(bytes.len());
        bytes[at] = choices.below(256) as u8;
    }
    if choices.is_one_in(4) {
        bytes.truncate(choices.below(bytes.len()));
    }
    bytes
}
