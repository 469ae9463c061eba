//! Equilibria and steady motions.

use std::fmt::Write;

use pfaff::{Equilibria, Equilibrium};
use serde_json::Value;

use crate::json::{object, string};
use crate::phase::words::{complex, listed, named, pairs, verdict};
use crate::{ToJson, ToText};

impl ToJson for Equilibria {
    /// As `equilibria --json` prints it.
    fn to_json(&self) -> Value {
        let entry = |found: &Equilibrium| {
            object([
                ("state", named(&found.state)),
                ("cyclic", named(&found.cyclic)),
                ("frame", named(&found.frame)),
                ("eigenvalues", pairs(&found.eigenvalues)),
                ("stability", string(found.stability.name())),
                ("reason", string(&verdict(found.stability, found.reason))),
                ("family_dimension", Value::from(found.family as u64)),
            ])
        };
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("equilibria", Value::Array(self.found.iter().map(entry).collect())),
            ("starts", Value::from(self.starts as u64)),
            ("interrupted", Value::Bool(self.interrupted)),
        ])
    }
}

impl ToText for Equilibria {
    /// For people.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let found = match self.found.len() {
            0 => "no equilibrium was found".to_owned(),
            1 => "1 equilibrium".to_owned(),
            count => format!("{count} equilibria"),
        };
        let _ = writeln!(text, "  {found} from {} starts", self.starts);
        for (k, found) in self.found.iter().enumerate() {
            let _ = writeln!(text, "\n{}. {}", k + 1, listed(&found.state));
            if found.cyclic.iter().any(|(_, rate)| *rate != 0.0) {
                let moving: Vec<(String, f64)> = found
                    .cyclic
                    .iter()
                    .map(|(name, rate)| (format!("{name}'"), *rate))
                    .collect();
                let _ = writeln!(text, "   steady     {}", listed(&moving));
            }
            if !found.frame.is_empty() {
                let _ = writeln!(text, "   steady     {}", listed(&found.frame));
            }
            let _ = writeln!(text, "   stability  {}", verdict(found.stability, found.reason));
            if found.family > 0 {
                let _ = writeln!(text, "   family     of dimension {}", found.family);
            }
            let values: Vec<String> =
                found.eigenvalues.iter().map(|&value| complex(value, 8)).collect();
            let _ = writeln!(text, "   eigenvalues  {}", values.join(", "));
        }
        text
    }
}
