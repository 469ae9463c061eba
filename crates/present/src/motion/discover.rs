//! Constraints from measured motions for people and for programs.

use std::fmt::Write;

use pfaff::{DiscoveredRow, DiscoveredTerm, Discovery};
use serde_json::Value;

use crate::json::{number, object, strings};
use crate::number::brief;
use crate::{ToJson, ToText};

impl ToText for Discovery {
    fn to_text(&self) -> String {
        let count = |n: usize, one: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {one}s"),
        };
        let mut text = format!(
            "{}, {}; noise {}\n\n",
            count(self.motions, "motion"),
            count(self.samples, "sample"),
            self.coordinates
                .iter()
                .zip(&self.noise)
                .map(|(name, x)| format!("{name} {}", brief(*x)))
                .collect::<Vec<_>>()
                .join(", ")
        );
        match self.rows.len() {
            0 => text += "No velocity constraint of the library holds along these motions.\n",
            1 => text += "One velocity constraint holds:\n",
            n => {
                let _ = writeln!(text, "{n} velocity constraints hold:");
            }
        }
        for row in &self.rows {
            let _ = writeln!(text, "  {} = 0", row.text);
            let errors: Vec<String> = row
                .terms
                .iter()
                .filter(|term| term.sigma > 0.0)
                .map(|term| {
                    let sigma = brief(term.sigma);
                    format!("{} {} ± {sigma}", term.term, brief(term.coefficient))
                })
                .collect();
            if !errors.is_empty() {
                let _ = writeln!(text, "      {}", errors.join(", "));
            }
        }
        if let Some(is_integrable) = self.is_integrable {
            let subject = if self.rows.len() == 1 { "It is" } else { "Together they are" };
            let verdict = if is_integrable {
                "integrable: holonomic"
            } else {
                "not integrable: nonholonomic"
            };
            let _ = writeln!(text, "\n{subject} {verdict}.");
        }
        if !self.rows.is_empty() {
            let _ = write!(text, "\nAs a model:\n\n{}", self.model);
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note: {note}");
        }
        text
    }
}

impl ToJson for Discovery {
    fn to_json(&self) -> Value {
        let term = |t: &DiscoveredTerm| {
            object([
                ("term", Value::from(t.term.clone())),
                ("coefficient", number(t.coefficient)),
                ("sigma", number(t.sigma)),
            ])
        };
        let row = |row: &DiscoveredRow| {
            object([
                ("text", Value::from(format!("{} = 0", row.text))),
                ("terms", Value::Array(row.terms.iter().map(term).collect())),
                ("ratio", number(row.ratio)),
            ])
        };
        object([
            ("coordinates", strings(&self.coordinates)),
            ("count", Value::from(self.rows.len() as u64)),
            ("constraints", Value::Array(self.rows.iter().map(row).collect())),
            ("integrable", self.is_integrable.map_or(Value::Null, Value::Bool)),
            ("motions", Value::from(self.motions as u64)),
            ("samples", Value::from(self.samples as u64)),
            (
                "noise",
                object(
                    self.coordinates.iter().cloned().zip(self.noise.iter().map(|x| number(*x))),
                ),
            ),
            ("model", Value::from(self.model.clone())),
            ("notes", strings(&self.notes)),
        ])
    }
}
