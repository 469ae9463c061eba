//! What a loop in shape space does.

use std::fmt::Write;

use pfaff::Gait;
use serde_json::Value;

use crate::json::{number, object, string};
use crate::number::significant;
use crate::phase::words::named;
use crate::{ToJson, ToText};

impl ToJson for Gait {
    /// As `gait --json` prints it.
    fn to_json(&self) -> Value {
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("displacement", named(&self.displacement)),
            ("area_rule", self.area_rule.as_deref().map_or(Value::Null, named)),
            ("loop", string(&self.path)),
            ("length", number(self.length)),
            ("best", Value::Bool(self.is_best)),
            ("by", string(self.by)),
        ])
    }
}

impl ToText for Gait {
    /// For people.
    fn to_text(&self) -> String {
        let best = if self.is_best { " (the best ellipse for its length)" } else { "" };
        let mut text = format!("{}\n  loop          {}{best}\n", self.title, self.path);
        let _ = writeln!(text, "  length        {}", significant(self.length, 8));
        let _ = writeln!(text, "  connection    by {}\n", self.by);
        let _ = writeln!(text, "  {:>12}  {:>18}  {:>18}", "", "displacement", "area rule");
        for (k, (name, moved)) in self.displacement.iter().enumerate() {
            let area =
                self.area_rule.as_ref().map_or("-".to_owned(), |a| significant(a[k].1, 10));
            let _ = writeln!(text, "  {name:>12}  {:>18}  {area:>18}", significant(*moved, 10));
        }
        text
    }
}
