//! The numbers of the equations at one state, as `derive --state` shows them.

use pfaff::{Principle, StateReport, signs};
use serde_json::Value;

use crate::json::{matrix, number, object, string};
use crate::{ToJson, ToText};

impl ToJson for StateReport {
    /// As `derive --state --json` prints it.
    fn to_json(&self) -> Value {
        let n = self.coordinates.len();
        let by_name = |names: &[String], values: &[f64]| {
            object(names.iter().cloned().zip(values.iter().map(|&x| number(x))))
        };
        let energy = object([
            ("E", number(self.energy)),
            ("constraint", number(self.constraint_energy)),
            ("total", number(self.energy + self.constraint_energy)),
        ]);
        let mut entries = vec![("mass", matrix(&self.mass, n))];
        // NOTE: the effective mass differs from the mass under the vakonomic principle only.
        if !self.effective_mass.is_empty() {
            entries.push(("effective_mass", matrix(&self.effective_mass, n)));
        }
        entries.extend([
            ("jacobian", matrix(&self.jacobian, n)),
            ("acceleration", by_name(&self.coordinates, &self.acceleration)),
            ("multipliers", by_name(&self.constraints, &self.multipliers)),
            ("multiplier_rates", by_name(&self.constraints, &self.multiplier_rates)),
            ("reaction", by_name(&self.coordinates, &self.reaction)),
            ("energy", energy),
            ("signs", self.principle.map_or(Value::Null, |p| string(signs(p)))),
        ]);
        object(entries)
    }
}

impl ToText for StateReport {
    /// For people.
    fn to_text(&self) -> String {
        use std::fmt::Write;
        let mut text = String::new();
        let mut list = |heading: &str, names: &[String], values: &[f64]| {
            if !values.is_empty() {
                let _ = writeln!(text, "{heading}");
                for (name, value) in names.iter().zip(values) {
                    let _ = writeln!(text, "  {name} = {value:?}");
                }
            }
        };
        list("acceleration", &self.coordinates, &self.acceleration);
        let multipliers = match self.principle {
            Some(Principle::Vakonomic) => "multipliers mu (given)",
            Some(Principle::Restricted) => "multipliers p",
            Some(Principle::Chetaev) | None => "multipliers lambda",
        };
        list(multipliers, &self.constraints, &self.multipliers);
        list("rates of the multipliers mu'", &self.constraints, &self.multiplier_rates);
        list("reaction (M q'' = f + R)", &self.coordinates, &self.reaction);
        let n = self.coordinates.len().max(1);
        let blocks = [
            ("mass", &self.mass),
            ("effective mass", &self.effective_mass),
            ("jacobian", &self.jacobian),
        ];
        for (heading, rows) in blocks {
            if !rows.is_empty() {
                let _ = writeln!(text, "{heading}");
            }
            for row in rows.chunks(n) {
                let _ = writeln!(text, "  {row:?}");
            }
        }
        if self.energy.is_finite() {
            let _ = writeln!(text, "energy\n  E = {:?}", self.energy);
            let total = self.energy + self.constraint_energy;
            match self.principle {
                Some(Principle::Vakonomic) => {
                    let _ = writeln!(text, "  E[M] = {:?}", self.constraint_energy);
                    let _ = writeln!(text, "  E[L,M] = {total:?}");
                }
                Some(Principle::Restricted) => {
                    let _ = writeln!(text, "  E of L_c = {total:?}");
                }
                Some(Principle::Chetaev) | None => {}
            }
        }
        if let Some(principle) = self.principle {
            let _ = writeln!(text, "signs: {}", signs(principle));
        }
        text
    }
}
