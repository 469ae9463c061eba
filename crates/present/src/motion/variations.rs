//! The table of variations, for people and for programs.

use std::fmt::Write;

use pfaff::{Series, Variation, Variations};
use serde_json::Value;

use crate::json::{number, numbers, object, string, strings};
use crate::{ToJson, ToText};

/// Below this a defect is rounding: all come from one evaluation of the constraints.
const NOTHING: f64 = 1e-9;

impl ToText for Variations {
    /// For people: largest defects over all times.
    fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        let source = self.principle.map_or("the motion given".to_owned(), |p| {
            format!("the motion of the principle {}", p.name())
        });
        let _ = writeln!(
            text,
            "variations of {source}; base {}, dependent {}",
            self.base.join(", "),
            self.dependent.join(", ")
        );
        let _ = writeln!(
            text,
            "\nLargest defects of the conditions (0 where one holds)\n  {:26} {:>12} {:>12} {:>12} {:>12}",
            "", "(a) chetaev", "(b) commute", "(c) hold", "commute dep."
        );
        for kind in &self.kinds {
            let cells: Vec<String> = parts(kind).iter().map(|(_, s)| cell(s)).collect();
            let _ = writeln!(
                text,
                "  {:26} {:>12} {:>12} {:>12} {:>12}",
                kind.name, cells[0], cells[1], cells[2], cells[3]
            );
        }
        let _ = writeln!(
            text,
            "\n  (a) d/dt (w_dep - (deps/dv) w) = 0: displacements satisfy the constraints\n  (b) (delta v) - w' \
             = 0 for the base coordinates\n  (c) delta (v_dep - eps) = 0: the varied curve satisfies the \
             constraints\n  commute dep.: (delta v) - w' for the dependent coordinates"
        );
        if let Some(cost) = self.curvature {
            let _ = writeln!(
                text,
                "\n  curvature of the constraints on motion and variation: largest |F v w| = {cost:.6e}{}",
                if cost <= NOTHING { ", so all conditions hold together" } else { "" }
            );
        }
        for kind in self.kinds.iter().filter(|k| !k.end.is_empty()) {
            for (name, end) in self.dependent.iter().zip(&kind.end) {
                let _ = writeln!(
                    text,
                    "  {}: the varied curve misses the end of the motion by w[{name}] = {end:.6e}",
                    kind.name
                );
            }
        }
        text
    }
}

impl ToJson for Variations {
    /// As `variations --json` prints it.
    fn to_json(&self) -> Value {
        let kind = |k: &Variation| {
            let mut entries: Vec<(String, Value)> = vec![("name".into(), string(k.name))];
            for (key, series) in parts(k) {
                let columns = series.iter().map(|s| (s.name.clone(), numbers(&s.values)));
                let object = object([
                    ("defects", object(columns)),
                    ("largest", number(largest(series))),
                    ("holds", Value::Bool(largest(series) <= NOTHING)),
                ]);
                entries.push((key.into(), object));
            }
            if !k.end.is_empty() {
                let ends = self.dependent.iter().cloned().zip(k.end.iter().map(|&x| number(x)));
                entries.push(("end".into(), object(ends)));
            }
            object(entries)
        };
        object([
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("principle", self.principle.map_or(Value::Null, |p| string(p.name()))),
            ("base", strings(&self.base)),
            ("dependent", strings(&self.dependent)),
            ("t", numbers(&self.t)),
            ("curvature", self.curvature.map_or(Value::Null, number)),
            ("variations", Value::Array(self.kinds.iter().map(kind).collect())),
        ])
    }
}

/// The four defects with their keys.
fn parts(variation: &Variation) -> [(&'static str, &[Series]); 4] {
    [
        ("chetaev", &variation.chetaev),
        ("commutation", &variation.commutation),
        ("constraint", &variation.constraint),
        ("dependent_commutation", &variation.dependent_commutation),
    ]
}

fn largest(series: &[Series]) -> f64 {
    series
        .iter()
        .flat_map(|s| &s.values)
        .fold(0.0, |m: f64, x| if m.is_nan() || x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

fn cell(series: &[Series]) -> String {
    let x = largest(series);
    if x <= NOTHING { "0".into() } else { format!("{x:.4e}") }
}
