//! Points of a section.

use std::fmt::Write;

use pfaff::{Section, Series};
use serde_json::Value;

use crate::json::{number, numbers, object, string};
use crate::number::{changes, column, largest, significant};
use crate::plot::{Axis, Curve, Figure, Points};
use crate::table::Table;
use crate::{ToJson, ToText};

/// Points that are shown to people.
const SHOWN: usize = 20;

impl ToJson for Section {
    /// As `section --json` prints it.
    fn to_json(&self) -> Value {
        let columns =
            |list: &[Series]| object(list.iter().map(|s| (s.name.clone(), numbers(&s.values))));
        let stop = self.stop.as_ref().map_or(Value::Null, |(reason, t)| {
            object([("reason", string(reason.name())), ("t", number(*t))])
        });
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("on", string(&self.on)),
            ("t", numbers(&self.t)),
            ("q", columns(&self.q)),
            ("v", columns(&self.v)),
            ("observed", columns(&self.observed)),
            ("stop", stop),
        ])
    }
}

/// The points as a table: `t`, positions, velocities, what is observed.
pub fn section_table(section: &Section) -> Table<'_> {
    let mut columns = vec![("t".to_owned(), section.t.as_slice())];
    columns.extend(section.q.iter().map(|s| (s.name.clone(), s.values.as_slice())));
    columns.extend(section.v.iter().map(|s| (format!("{}'", s.name), s.values.as_slice())));
    columns.extend(section.observed.iter().map(|s| (s.name.clone(), s.values.as_slice())));
    Table { columns, ..Table::default() }
}

impl ToText for Section {
    /// The first points, for people.
    fn to_text(&self) -> String {
        let count = self.t.len();
        let mut text = format!("{}\n  {} = 0: {count} points\n\n", self.title, self.on);
        if let Some((reason, t)) = &self.stop {
            let t = significant(*t, 6);
            text = format!(
                "{}\n  {} = 0: {count} points, the motion ended at t = {t} ({})\n\n",
                self.title,
                self.on,
                reason.name()
            );
        }
        let table = section_table(self);
        let names: Vec<String> =
            table.columns.iter().map(|(name, _)| format!("{name:>16}")).collect();
        let _ = writeln!(text, "{}", names.join(" "));
        for row in 0..count.min(SHOWN) {
            let cells: Vec<String> =
                table.columns.iter().map(|(_, x)| format!("{:>16}", column(x[row]))).collect();
            let _ = writeln!(text, "{}", cells.join(" "));
        }
        if count > SHOWN {
            let _ = writeln!(text, "{:>16}   ({} more)", "…", count - SHOWN);
        }
        text
    }
}

/// Two columns against each other, as dots.
pub fn section_figure(
    section: &Section,
    columns: Option<&[&str]>,
) -> Result<Figure<'static>, String> {
    let table = section_table(section);
    let place = |name: &str| {
        let found = table.columns.iter().position(|(known, _)| known == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = table.columns.iter().map(|(n, _)| n.as_str()).collect();
            format!("there is no column `{name}`; the columns are {}", names.join(", "))
        })
    };
    let (x, y) = match columns {
        Some([x, y]) => (place(x)?, place(y)?),
        Some(_) => {
            return Err("a figure of a section has two columns, such as \"y, y'\"".into());
        }
        None => {
            let all = table.columns.iter().enumerate().skip(1);
            let largest =
                largest(all.clone().flat_map(|(_, (_, values))| values.iter().copied()));
            let mut moving = all
                .filter(|(_, (_, values))| changes(values.iter().copied(), largest))
                .map(|(k, _)| k);
            match (moving.next(), moving.next()) {
                (Some(x), Some(y)) => (x, y),
                _ => return Err("no two columns of the section change".into()),
            }
        }
    };
    let curve = Curve {
        name: table.columns[y].0.clone(),
        x: table.columns[x].1.to_vec().into(),
        y: table.columns[y].1.to_vec().into(),
        points: Points::Dots,
        ..Curve::default()
    };
    Ok(Figure {
        x: Axis { label: table.columns[x].0.clone(), log: false },
        y: Axis { label: table.columns[y].0.clone(), log: false },
        curves: vec![curve],
        ..Figure::default()
    })
}
