//! The table of variations, for people and for programs.

use std::fmt::Write;

use crate::analysis::variations::{Variation, Variations};
use crate::json::Json;
use crate::motion::Series;

/// Below this a defect is rounding: all come from one evaluation of the constraints.
const NOTHING: f64 = 1e-9;

impl Variations {
    /// For people: largest defects over all times.
    pub fn to_text(&self) -> String {
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
            let cells: Vec<String> = kind.parts().iter().map(|(_, s)| cell(s)).collect();
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
                    "  {}: the varied curve ends off the motion by w[{name}] = {end:.6e}",
                    kind.name
                );
            }
        }
        text
    }

    /// As `variations --json` prints it.
    pub fn to_json(&self) -> Json {
        let kind = |k: &Variation| {
            let mut entries: Vec<(String, Json)> = vec![("name".into(), Json::text(k.name))];
            for (key, series) in k.parts() {
                let columns = series.iter().map(|s| (s.name.clone(), Json::numbers(&s.values)));
                let object = Json::object([
                    ("defects", Json::object(columns)),
                    ("largest", Json::Number(largest(series))),
                    ("holds", Json::Bool(largest(series) <= NOTHING)),
                ]);
                entries.push((key.into(), object));
            }
            if !k.end.is_empty() {
                let ends =
                    self.dependent.iter().cloned().zip(k.end.iter().map(|&x| Json::Number(x)));
                entries.push(("end".into(), Json::object(ends)));
            }
            Json::Object(entries)
        };
        Json::object([
            ("pfaff", Json::text(env!("CARGO_PKG_VERSION"))),
            ("model", Json::text(&self.title)),
            ("principle", self.principle.map_or(Json::Null, |p| Json::text(p.name()))),
            ("base", Json::texts(&self.base)),
            ("dependent", Json::texts(&self.dependent)),
            ("t", Json::numbers(&self.t)),
            ("curvature", self.curvature.map_or(Json::Null, Json::Number)),
            ("variations", Json::List(self.kinds.iter().map(kind).collect())),
        ])
    }
}

impl Variation {
    /// The four defects with their keys.
    fn parts(&self) -> [(&'static str, &[Series]); 4] {
        [
            ("chetaev", &self.chetaev),
            ("commutation", &self.commutation),
            ("constraint", &self.constraint),
            ("dependent_commutation", &self.dependent_commutation),
        ]
    }
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
