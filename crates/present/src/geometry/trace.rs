//! A lift, a geodesic or an autoparallel, for people, programs and tables.

use std::fmt::Write;

use pfaff::{Series, Trace};
use serde_json::Value;

use crate::json::{number, numbers, object, string, strings};
use crate::{Table, ToJson, ToText};

impl ToJson for Trace {
    /// One JSON object.
    fn to_json(&self) -> Value {
        let columns =
            |list: &[Series]| object(list.iter().map(|s| (s.name.clone(), numbers(&s.values))));
        let mut entries = vec![
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("curve", string(self.kind)),
            ("base", strings(&self.base)),
            ("dependent", strings(&self.dependent)),
            ("stop", object([("reason", string(self.reason.name())), ("t", number(self.end))])),
            ("t", numbers(&self.t)),
            ("q", columns(&self.q)),
            ("v", columns(&self.v)),
            ("figures", object(self.figures.iter().map(|(n, x)| (*n, number(*x))))),
        ];
        if self.kind == "lift" {
            let changes = self.holonomy.as_ref().map_or(Value::Null, |all| {
                object(all.iter().map(|(n, x)| (n.clone(), number(*x))))
            });
            entries.push(("holonomy", changes));
        }
        object(entries)
    }
}

impl ToText for Trace {
    /// For people: where it ends, and what it tells.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(
            text,
            "{}; base {}; dependent {}",
            self.kind,
            self.base.join(", "),
            if self.dependent.is_empty() { "none".into() } else { self.dependent.join(", ") }
        );
        let _ = writeln!(text, "ended at t = {} ({})", self.end, self.reason.name());
        if let Some(last) = self.t.len().checked_sub(1) {
            let _ = writeln!(text, "\nlast output, t = {}", self.t[last]);
            for (q, v) in self.q.iter().zip(&self.v) {
                let (name, x, v) = (&q.name, q.values[last], v.values[last]);
                let _ = writeln!(text, "  {name:8} {x:>20.12}   {name}' {v:>20.12}");
            }
        }
        for (name, x) in &self.figures {
            let _ = writeln!(text, "\n{name}: {x:.1e}");
        }
        match &self.holonomy {
            Some(all) => {
                let _ = writeln!(text, "\nthe base path is closed; its holonomy is");
                for (name, x) in all {
                    let _ = writeln!(text, "  {name:8} {x:>20.12}");
                }
            }
            None if self.kind == "lift" => {
                let _ = writeln!(text, "\nthe base path is not closed: no holonomy");
            }
            None => {}
        }
        text
    }
}

/// The curve as columns: time, positions, velocities.
pub fn trace_table(trace: &Trace) -> Table<'_> {
    let mut columns = vec![("t".to_owned(), trace.t.as_slice())];
    columns.extend(trace.q.iter().map(|s| (s.name.clone(), s.values.as_slice())));
    columns.extend(trace.v.iter().map(|s| (format!("{}'", s.name), s.values.as_slice())));
    Table { columns, ..Table::default() }
}
