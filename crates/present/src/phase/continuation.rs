//! Branches of equilibria and periodic motions over a parameter.

use std::fmt::Write;

use pfaff::{Branch, BranchPoint, Continuation, SpecialPoint};
use serde_json::Value;

use crate::json::{number, object, string};
use crate::number::significant;
use crate::phase::words::{listed, named};
use crate::table::Table;
use crate::{ToJson, ToText};

impl ToJson for Continuation {
    /// As `continue --json` prints it.
    fn to_json(&self) -> Value {
        let point = |p: &BranchPoint| {
            object(
                [
                    ("parameter", number(p.parameter)),
                    ("state", named(&p.state)),
                    ("stability", string(p.stability.name())),
                ]
                .into_iter()
                .chain(p.period.map(|period| ("period", number(period)))),
            )
        };
        let special = |p: &SpecialPoint| {
            object([
                ("kind", string(p.kind)),
                ("parameter", number(p.parameter)),
                ("state", named(&p.state)),
            ])
        };
        let branch = |b: &Branch| {
            object([
                ("points", Value::Array(b.points.iter().map(point).collect())),
                ("special", Value::Array(b.special.iter().map(special).collect())),
                ("end", string(b.end)),
            ])
        };
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("parameter", string(&self.parameter)),
            ("branches", Value::Array(self.branches.iter().map(branch).collect())),
            ("interrupted", Value::Bool(self.interrupted)),
        ])
    }
}

impl ToText for Continuation {
    /// For people: ends and special points of each branch.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for (k, branch) in self.branches.iter().enumerate() {
            let count = branch.points.len();
            let _ = writeln!(text, "\nBranch {}, {count} points", k + 1);
            let line = |p: f64, what: &str, state: &[(String, f64)]| {
                format!(
                    "  {} = {:<14} {what:12} {}\n",
                    self.parameter,
                    significant(p, 10),
                    listed(state)
                )
            };
            let end_point = |point: &BranchPoint| {
                let period = point.period.map(|period| ("period".to_owned(), period));
                let shown: Vec<(String, f64)> =
                    period.into_iter().chain(point.state.iter().cloned()).collect();
                line(point.parameter, point.stability.name(), &shown)
            };
            text.extend(branch.points.first().map(end_point));
            for special in &branch.special {
                text.push_str(&line(special.parameter, special.kind, &special.state));
            }
            text.extend(branch.points.last().map(end_point));
            let end = if branch.end == "range" { "the end of the range" } else { branch.end };
            let _ = writeln!(text, "  ends: {end}");
        }
        text
    }
}

/// All points as CSV: `branch`, the parameter, the period of periodic motions, the components of the state.
pub fn branch_csv(found: &Continuation) -> String {
    let points = || {
        let branches = found.branches.iter().enumerate();
        branches.flat_map(|(k, branch)| branch.points.iter().map(move |point| (k, point)))
    };
    let mut columns: Vec<(String, Vec<f64>)> = vec![
        ("branch".into(), points().map(|(k, _)| (k + 1) as f64).collect()),
        (found.parameter.clone(), points().map(|(_, point)| point.parameter).collect()),
    ];
    if points().any(|(_, point)| point.period.is_some()) {
        let periods = points().map(|(_, point)| point.period.unwrap_or(f64::NAN));
        columns.push(("period".into(), periods.collect()));
    }
    let first = points().next();
    for (c, (name, _)) in first.iter().flat_map(|(_, point)| point.state.iter().enumerate()) {
        columns.push((name.clone(), points().map(|(_, point)| point.state[c].1).collect()));
    }
    let columns = columns.iter().map(|(name, values)| (name.clone(), values.as_slice()));
    Table { columns: columns.collect(), ..Table::default() }.to_csv()
}
