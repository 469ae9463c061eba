//! Two tables side by side: which columns and rows both have, and how far their values are apart.
//!
//! Rows belong together by `case`, `t` and `check`, `event` where both tables have these columns, else by their place.
//! The distance of two numbers is $|a - b|/(1 + |b|)$.

use std::collections::HashMap;

use serde_json::Value;

use super::{Block, Cells, Heading};
use crate::json::{number, object, string, strings};
use crate::{ToJson, ToText, brief};

/// What two tables have in common, and where they differ.
#[derive(Clone, Debug)]
pub struct TableDifference {
    /// The columns of both.
    pub columns: Vec<ColumnDifference>,
    /// Columns of the first table alone, and of the second.
    pub alone: [Vec<String>; 2],
    /// Rows of both.
    pub rows: usize,
    /// Rows of the first table alone, and of the second.
    pub rows_alone: [usize; 2],
    /// How rows belong together.
    pub by: Vec<String>,
}

/// How far two columns are apart.
#[derive(Clone, Debug)]
pub struct ColumnDifference {
    /// Its name.
    pub name: String,
    /// The largest $|a - b|/(1 + |b|)$; infinite where only one has a value, or texts differ.
    pub largest: f64,
    /// How many rows differ at all.
    pub differing: usize,
    /// The row of the first table with the largest difference, from 1, with both values.
    pub place: Option<(usize, String, String)>,
}

/// What tells rows apart.
const KEYS: [&str; 4] = ["case", "t", "check", "event"];

/// Compares two tables.
pub fn difference(a: &(Vec<Heading>, Block), b: &(Vec<Heading>, Block)) -> TableDifference {
    // NOTE: of columns with the same name the first counts.
    let [places_a, places_b] = [a, b].map(|table| {
        let named = table.0.iter().enumerate().rev();
        named.map(|(i, heading)| (heading.name.as_str(), i)).collect::<HashMap<&str, usize>>()
    });
    let common: Vec<(usize, usize, &str)> = (a.0.iter().enumerate())
        .filter_map(|(i, Heading { name, .. })| {
            Some((i, *places_b.get(name.as_str())?, name.as_str()))
        })
        .collect();
    let alone = [(a, &places_b), (b, &places_a)].map(|(own, other)| {
        let names = own.0.iter().map(|heading| heading.name.clone());
        names.filter(|name| !other.contains_key(name.as_str())).collect()
    });
    let keys: Vec<&(usize, usize, &str)> =
        common.iter().filter(|(_, _, name)| KEYS.contains(name)).collect();
    let key = |block: &Block, columns: &[usize], row: usize| -> Vec<String> {
        columns.iter().map(|&i| cell(&block.columns[i], row)).collect()
    };
    let (mine, theirs): (Vec<usize>, Vec<usize>) =
        keys.iter().map(|(i, j, _)| (*i, *j)).unzip();
    let pairs: Vec<(usize, usize)> = if keys.is_empty() {
        (0..a.1.rows().min(b.1.rows())).map(|row| (row, row)).collect()
    } else {
        let mut rows: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
        for row in (0..b.1.rows()).rev() {
            rows.entry(key(&b.1, &theirs, row)).or_default().push(row);
        }
        let partner =
            |row: usize| rows.get_mut(&key(&a.1, &mine, row))?.pop().map(|r| (row, r));
        (0..a.1.rows()).filter_map(partner).collect()
    };
    let columns = common
        .iter()
        .map(|&(i, j, name)| compared(name, &a.1.columns[i], &b.1.columns[j], &pairs));
    TableDifference {
        columns: columns.collect(),
        alone,
        rows: pairs.len(),
        rows_alone: [a.1.rows() - pairs.len(), b.1.rows() - pairs.len()],
        by: keys.iter().map(|(_, _, name)| (*name).to_owned()).collect(),
    }
}

fn compared(name: &str, a: &Cells, b: &Cells, pairs: &[(usize, usize)]) -> ColumnDifference {
    let mut found =
        ColumnDifference { name: name.to_owned(), largest: 0.0, differing: 0, place: None };
    for &(i, j) in pairs {
        let distance = match (a, b) {
            (Cells::Numbers(a), Cells::Numbers(b)) => distance(a[i], b[j]),
            _ if cell(a, i) == cell(b, j) => 0.0,
            _ => f64::INFINITY,
        };
        if distance > 0.0 {
            found.differing += 1;
        }
        if distance > found.largest {
            found.largest = distance;
            found.place = Some((i + 1, cell(a, i), cell(b, j)));
        }
    }
    found
}

fn distance(a: f64, b: f64) -> f64 {
    match (a.is_finite(), b.is_finite()) {
        (true, true) => (a - b).abs() / (1.0 + b.abs()),
        (false, false) => 0.0,
        (true, false) | (false, true) => f64::INFINITY,
    }
}

/// A value as a CSV file has it.
fn cell(cells: &Cells, row: usize) -> String {
    match cells {
        Cells::Integers(values) => values[row].to_string(),
        Cells::Numbers(values) if values[row].is_finite() => format!("{:?}", values[row]),
        Cells::Numbers(_) => String::new(),
        Cells::Texts(texts) => texts.get(row).to_owned(),
    }
}

impl TableDifference {
    /// Whether both have the same columns and rows, and values that are nowhere farther apart than this.
    pub fn is_within(&self, tolerance: f64) -> bool {
        self.alone.iter().all(Vec::is_empty)
            && self.rows_alone == [0, 0]
            && self.columns.iter().all(|column| column.largest <= tolerance)
    }

    /// The largest distance of all columns.
    pub fn largest(&self) -> f64 {
        self.columns.iter().fold(0.0, |largest, column| largest.max(column.largest))
    }
}

impl ToText for TableDifference {
    fn to_text(&self) -> String {
        let by = if self.by.is_empty() { "their place".to_owned() } else { self.by.join(", ") };
        let mut lines = vec![format!("{} rows in common, by {by}", self.rows)];
        for (k, which) in ["first", "second"].into_iter().enumerate() {
            if self.rows_alone[k] > 0 {
                lines.push(format!("{} rows of the {which} table alone", self.rows_alone[k]));
            }
            if !self.alone[k].is_empty() {
                lines.push(format!(
                    "columns of the {which} table alone: {}",
                    self.alone[k].join(", ")
                ));
            }
        }
        let differing: Vec<&ColumnDifference> =
            self.columns.iter().filter(|column| column.differing > 0).collect();
        if self.rows == 0 || self.columns.is_empty() {
            lines.push("the tables have no values in common".into());
        } else if differing.is_empty() {
            lines.push("all values in common are equal".into());
        }
        let width = differing.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
        for ColumnDifference { name, largest, differing, place } in differing {
            let pad = " ".repeat(width - name.chars().count());
            let size = if largest.is_finite() { brief(*largest) } else { "other".into() };
            let (row, a, b) = place.clone().unwrap_or_default();
            lines.push(format!(
                "{name}{pad}  {size:>9}  in {differing} rows, most in row {row}: {a} and {b}"
            ));
        }
        lines.join("\n") + "\n"
    }
}

impl ToJson for TableDifference {
    fn to_json(&self) -> Value {
        let column = |c: &ColumnDifference| {
            let (row, a, b) =
                c.place.clone().map_or((Value::Null, Value::Null, Value::Null), |p| {
                    (Value::from(p.0), string(&p.1), string(&p.2))
                });
            object([
                ("name", string(&c.name)),
                ("largest", number(c.largest)),
                ("differing", Value::from(c.differing)),
                ("row", row),
                ("first", a),
                ("second", b),
            ])
        };
        object([
            ("rows", Value::from(self.rows)),
            ("rows_alone", Value::from(self.rows_alone.to_vec())),
            ("by", strings(&self.by)),
            ("columns_alone", Value::Array(self.alone.iter().map(strings).collect())),
            ("largest", number(self.largest())),
            ("equal", Value::Bool(self.is_within(0.0))),
            ("columns", Value::Array(self.columns.iter().map(column).collect())),
        ])
    }
}
