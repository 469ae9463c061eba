//! Periodic motions.

use std::fmt::Write;

use pfaff::{Orbit, OrbitCheck};
use serde_json::Value;

use crate::json::{number, object, string};
use crate::number::significant;
use crate::phase::words::{complex, listed, named, pairs};
use crate::{ToJson, ToText};

impl ToJson for Orbit {
    /// As `orbit --json` prints it.
    fn to_json(&self) -> Value {
        let known = |(k, why): &(usize, String)| {
            object([("index", Value::from(*k as u64)), ("why", string(why))])
        };
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("period", number(self.period)),
            ("state", named(&self.state)),
            ("drift", named(&self.drift)),
            ("multipliers", pairs(&self.multipliers)),
            ("turns", named(&self.turns)),
            ("trivial", Value::Array(self.trivial.iter().map(known).collect())),
            ("residual", number(self.residual)),
            ("stability", string(self.stability.name())),
            ("collocation", self.check.as_ref().map_or(Value::Null, check)),
        ])
    }
}

fn check(check: &OrbitCheck) -> Value {
    object([
        ("intervals", Value::from(check.intervals as u64)),
        ("period", number(check.period)),
        ("difference", number(check.difference)),
    ])
}

impl ToText for Orbit {
    /// For people.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let _ = writeln!(text, "  period     {}", significant(self.period, 12));
        let _ = writeln!(text, "  state      {}", listed(&self.state));
        if self.drift.iter().any(|(_, x)| *x != 0.0) {
            let _ = writeln!(text, "  moves by   {}", listed(&self.drift));
        }
        if !self.turns.is_empty() {
            let _ = writeln!(text, "  returns    after a {}", listed(&self.turns));
        }
        let _ = writeln!(text, "  stability  {}", self.stability.name());
        let _ = writeln!(text, "  residual   {:.1e}", self.residual);
        if let Some(check) = &self.check {
            let OrbitCheck { intervals, difference, .. } = check;
            let _ = writeln!(
                text,
                "  check      by collocation on {intervals} intervals: the same to {difference:.0e}"
            );
        }
        let _ = writeln!(text, "\nFloquet multipliers");
        for (k, &value) in self.multipliers.iter().enumerate() {
            let known = self.trivial.iter().find(|(place, _)| *place == k);
            let note = known.map_or(String::new(), |(_, why)| format!("  ({why})"));
            let _ = writeln!(text, "  {:>32}{note}", complex(value, 10));
        }
        text
    }
}
