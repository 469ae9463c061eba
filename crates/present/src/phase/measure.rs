//! Invariant measures and time reversal.

use std::fmt::Write;

use pfaff::Measure;
use serde_json::Value;

use crate::json::{number, object, string, strings};
use crate::number::significant;
use crate::{ToJson, ToText};

impl ToJson for Measure {
    /// As `measure --json` prints it.
    fn to_json(&self) -> Value {
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("variables", strings(&self.variables)),
            ("divergence", number(self.divergence)),
            ("density", self.density.as_deref().map_or(Value::Null, string)),
            ("residual", number(self.residual)),
            ("reversals", strings(&self.reversals)),
            ("states", Value::from(self.states as u64)),
        ])
    }
}

impl ToText for Measure {
    /// For people.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n  variables   {}\n", self.title, self.variables.join(", "));
        let _ = writeln!(
            text,
            "  divergence  at most {} at {} states around the initial one",
            significant(self.divergence, 4),
            self.states
        );
        let density = match self.density.as_deref() {
            Some("1") => "volume is kept: the density is 1".to_owned(),
            Some(formula) => {
                format!("{formula} is kept, to {:.0e} of its terms", self.residual.max(1e-16))
            }
            None => "none of the forms that were tried is kept: powers of det(M), exponentials and polynomials of \
                     positions up to degree two, of their sines and cosines"
                .to_owned(),
        };
        let _ = writeln!(text, "  density     {density}");
        let reversal = if self.reversals.is_empty() {
            "no mirror of the coordinates turns the motion back".to_owned()
        } else {
            self.reversals.join("; ")
        };
        let _ = writeln!(text, "  reversal    {reversal}");
        text
    }
}
