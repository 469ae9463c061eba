//! The equations for programs: what `derive --json` prints.

use pfaff::signs;
use pfaff_expr::Expr;
use serde_json::Value;

use super::{Label, Line, Presentation};
use crate::ToJson;
use crate::json::{object, string, strings};

impl ToJson for Presentation {
    /// As `derive --json` prints it.
    fn to_json(&self) -> Value {
        let line = |l: &Line| match &l.label {
            Label::Entry { text, indices, .. } => object([
                ("name", string(text)),
                ("index", strings(indices)),
                ("value", string(&self.graph.to_text(l.right))),
            ]),
            Label::Component { text, upper, lower, .. } => object([
                ("name", string(text)),
                ("index", strings([upper.as_slice(), lower].concat())),
                ("value", string(&self.graph.to_text(l.right))),
            ]),
            Label::Expression(e) => object([
                ("left", string(&self.graph.to_text(*e))),
                ("right", string(&self.graph.to_text(l.right))),
            ]),
        };
        let definition = |(name, e): &(String, Expr)| {
            object([("name", string(name)), ("value", string(&self.graph.to_text(*e)))])
        };
        let mut entries = vec![
            ("model".to_owned(), string(&self.title)),
            ("principle".to_owned(), self.principle.map_or(Value::Null, |p| string(p.name()))),
            ("signs".to_owned(), self.principle.map_or(Value::Null, |p| string(signs(p)))),
        ];
        entries.extend(self.symbols.map(|s| ("symbols".to_owned(), string(s))));
        entries.extend([(
            "definitions".to_owned(),
            Value::Array(self.definitions.iter().map(definition).collect()),
        )]);
        for section in &self.sections {
            let lines = if section.key == "conserved" {
                let lines = section.lines.iter().zip(&self.kept);
                lines.map(|(l, kept)| self.kept_object(l, kept)).collect()
            } else {
                section.lines.iter().map(line).collect()
            };
            entries.push((section.key.to_owned(), Value::Array(lines)));
        }
        if !self.remarks.is_empty() {
            entries.push(("remarks".to_owned(), strings(&self.remarks)));
        }
        object(entries)
    }
}
