//! A motion as `run --json` prints it.

use std::io::{self, Write};

use pfaff::{
    Audit, Check, DoubleDoubleSeries, EventRecord, EventSensitivity, Motion, Sensitivity,
    Series, Solution, Statistics, StopReason, signs,
};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::equivalence::equivalence_json;
use super::note::sentence;
use crate::ToJson;
use crate::json::{number, numbers, object, string, strings, text_of, write_text};

/// An entry of a motion. Columns are written from where they are: as values they take many times their memory.
pub(super) enum Entry<'a> {
    Value(Value),
    Numbers(&'a [f64]),
    Columns(&'a [Series]),
    Energies(&'a Motion),
    Motions(Vec<(String, &'a Motion)>),
}

impl Entry<'_> {
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Numbers(values) => numbers(values),
            Self::Columns(columns) => by_name(columns),
            Self::Energies(motion) => {
                let total: Vec<f64> = totals(motion).collect();
                object([
                    ("E", numbers(&motion.energy)),
                    ("constraint", numbers(&motion.constraint_energy)),
                    ("total", numbers(&total)),
                ])
            }
            Self::Motions(motions) => {
                object(motions.into_iter().map(|(name, motion)| (name, motion.to_json())))
            }
        }
    }
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Numbers(values) => values.serialize(serializer),
            Self::Columns(columns) => {
                serializer.collect_map(columns.iter().map(|s| (&s.name, &s.values)))
            }
            Self::Energies(motion) => {
                let mut map = serializer.serialize_map(Some(3))?;
                map.serialize_entry("E", &motion.energy)?;
                map.serialize_entry("constraint", &motion.constraint_energy)?;
                map.serialize_entry("total", &Totals(motion))?;
                map.end()
            }
            Self::Motions(motions) => serializer.collect_map(
                motions.iter().map(|(name, motion)| (name, Entries(entries(motion)))),
            ),
        }
    }
}

/// $E + E[M]$ at the outputs.
fn totals(motion: &Motion) -> impl Iterator<Item = f64> {
    motion.energy.iter().zip(&motion.constraint_energy).map(|(e, c)| e + c)
}

struct Totals<'a>(&'a Motion);

impl Serialize for Totals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(totals(self.0))
    }
}

/// The entries of an object.
pub(super) struct Entries<'a>(pub(super) Vec<(&'static str, Entry<'a>)>);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, entry)| (key, entry)))
    }
}

impl ToJson for Motion {
    /// As `run --json` prints it.
    fn to_json(&self) -> Value {
        object(entries(self).into_iter().map(|(key, entry)| (key, entry.into_value())))
    }

    fn to_json_line(&self) -> String {
        text_of(&Entries(entries(self))) + "\n"
    }

    fn write_json_line(&self, out: &mut dyn Write) -> io::Result<()> {
        write_text(&Entries(entries(self)), out)?;
        out.write_all(b"\n")
    }
}

fn by_name(series: &[Series]) -> Value {
    object(series.iter().map(|s| (s.name.clone(), numbers(&s.values))))
}

fn entries(motion: &Motion) -> Vec<(&'static str, Entry<'_>)> {
    let mut entries: Vec<_> = vec![
        ("pfaff", Entry::Value(string(env!("CARGO_PKG_VERSION")))),
        ("model", Entry::Value(string(&motion.title))),
        ("principle", Entry::Value(motion.principle.map_or(Value::Null, |p| string(p.name())))),
        ("method", Entry::Value(string(motion.method))),
        ("stop", Entry::Value(stop(motion))),
        ("t", Entry::Numbers(&motion.t)),
        ("q", Entry::Columns(&motion.q)),
        ("v", Entry::Columns(&motion.v)),
        ("multipliers", Entry::Columns(&motion.multipliers)),
        ("multiplier_rates", Entry::Columns(&motion.multiplier_rates)),
        ("reactions", Entry::Columns(&motion.reactions)),
        ("reaction_power", Entry::Numbers(&motion.reaction_power)),
        ("signs", Entry::Value(motion.principle.map_or(Value::Null, |p| string(signs(p))))),
        ("energy", Entry::Energies(motion)),
        ("observed", Entry::Columns(&motion.observed)),
        (
            "events",
            Entry::Value(Value::Array(
                motion.events.iter().map(|e| event(motion, e)).collect(),
            )),
        ),
        ("notes", Entry::Value(strings(motion.notes.iter().map(|n| sentence(n, motion))))),
        ("errors", Entry::Value(errors(motion))),
        ("audit", Entry::Value(audit(&motion.audit))),
        ("statistics", Entry::Value(statistics(motion.statistics))),
    ];
    if !motion.sensitivities.is_empty() {
        let event = |e: &EventSensitivity| {
            object([
                ("name", string(&e.name)),
                ("t", number(e.t)),
                ("q", named(&motion.q, &e.q)),
                ("v", named(&motion.v, &e.v)),
            ])
        };
        let derivative = |s: &Sensitivity, further: Vec<(&'static str, Value)>| {
            let stop = match (&motion.stop.reason, s.events.last()) {
                (StopReason::Event(name), Some(last)) if *name == last.name => event(last),
                _ => Value::Null,
            };
            let mut parts = vec![
                ("q", by_name(&s.q)),
                ("v", by_name(&s.v)),
                ("multipliers", by_name(&s.multipliers)),
                ("observed", by_name(&s.observed)),
                ("events", Value::Array(s.events.iter().map(event).collect())),
                ("stop", stop),
            ];
            parts.extend(s.end.map(|end| ("t1", number(end))));
            parts.extend(further);
            object(parts)
        };
        let one = |s: &Sensitivity| {
            let second = s.second.iter().map(|s| (s.name.clone(), derivative(s, Vec::new())));
            let second: Vec<_> = second.collect();
            let further =
                if second.is_empty() { Vec::new() } else { vec![("second", object(second))] };
            derivative(s, further)
        };
        let all = motion.sensitivities.iter().map(|s| (s.name.clone(), one(s)));
        entries.push(("sensitivities", Entry::Value(object(all))));
    }
    if let Some(exact) = &motion.double_double {
        let decimals = |list: &[DoubleDoubleSeries]| {
            object(list.iter().map(|s| (s.name.clone(), strings(s.decimals()))))
        };
        let low = |list: &[DoubleDoubleSeries]| {
            let parts = |s: &DoubleDoubleSeries| s.values.iter().map(|x| x.low).collect();
            let one = |s: &DoubleDoubleSeries| {
                let parts: Vec<f64> = parts(s);
                (s.name.clone(), numbers(&parts))
            };
            object(list.iter().map(one))
        };
        entries.push((
            "double_double",
            Entry::Value(object([
                ("digits", number(exact.digits)),
                ("q", decimals(&exact.q)),
                ("v", decimals(&exact.v)),
                ("observed", decimals(&exact.observed)),
                ("low", object([("q", low(&exact.q)), ("v", low(&exact.v))])),
            ])),
        ));
    }
    if let Some(transition) = &motion.transition {
        let size = transition.names.len().max(1);
        let matrix =
            |values: &Vec<f64>| Value::Array(values.chunks(size).map(numbers).collect());
        let matrices = transition.matrices.iter().map(matrix).collect();
        entries.push((
            "transition",
            Entry::Value(object([
                ("names", strings(&transition.names)),
                ("matrices", Value::Array(matrices)),
            ])),
        ));
    }
    if let Some(gradient) = &motion.gradient {
        let by = gradient.by.iter().map(|(name, x)| (name.clone(), number(*x)));
        entries.push((
            "gradient",
            Entry::Value(object([
                ("of", string(&gradient.of)),
                ("value", number(gradient.value)),
                ("by", object(by)),
            ])),
        ));
    }
    if let Some(solutions) = &motion.solutions {
        let list = solutions.iter().map(solution).collect();
        entries.push(("solutions", Entry::Value(Value::Array(list))));
    }
    if let Some(equivalence) = &motion.equivalence {
        let value = equivalence_json(equivalence, &motion.multipliers);
        entries.push(("equivalence", Entry::Value(value)));
    }
    entries
}

/// What is said about a motion as in its [`ToJson::to_json`], without its columns.
pub fn motion_summary(motion: &Motion) -> Value {
    object([
        ("pfaff", string(env!("CARGO_PKG_VERSION"))),
        ("model", string(&motion.title)),
        ("principle", motion.principle.map_or(Value::Null, |p| string(p.name()))),
        ("method", string(motion.method)),
        ("stop", stop(motion)),
        ("signs", motion.principle.map_or(Value::Null, |p| string(signs(p)))),
        ("events", Value::Array(motion.events.iter().map(|e| event(motion, e)).collect())),
        ("notes", strings(motion.notes.iter().map(|n| sentence(n, motion)))),
        ("errors", errors(motion)),
        ("audit", audit(&motion.audit)),
        ("statistics", statistics(motion.statistics)),
    ])
}

fn stop(motion: &Motion) -> Value {
    object([("reason", string(motion.stop.reason.name())), ("t", number(motion.stop.t))])
}

fn named(names: &[Series], values: &[f64]) -> Value {
    let values = values.iter().map(|&x| number(x));
    object(names.iter().map(|s| s.name.clone()).zip(values))
}

fn event(motion: &Motion, e: &EventRecord) -> Value {
    object([
        ("name", string(&e.name)),
        ("t", number(e.t)),
        ("direction", string(e.direction)),
        ("q", named(&motion.q, &e.q)),
        ("v", named(&motion.v, &e.v)),
        ("multipliers", named(&motion.multipliers, &e.multipliers)),
        ("multiplier_rates", named(&motion.multiplier_rates, &e.multiplier_rates)),
        ("reactions", named(&motion.reactions, &e.reactions)),
        (
            "energy",
            object([
                ("E", number(e.energy)),
                ("constraint", number(e.constraint_energy)),
                ("total", number(e.energy + e.constraint_energy)),
            ]),
        ),
        ("observed", named(&motion.observed, &e.observed)),
    ])
}

fn audit(audit: &Audit) -> Value {
    let check = |c: &Check| {
        object([
            ("name", string(&c.name)),
            ("value", number(c.value)),
            ("limit", number(c.limit)),
            ("verdict", string(c.verdict.name())),
            ("reason", string(c.reason)),
        ])
    };
    object([
        ("verdict", string(audit.verdict.name())),
        ("checks", Value::Array(audit.checks.iter().map(check).collect())),
    ])
}

/// Estimated errors, by coordinate and then by velocity (`x'`).
fn errors(motion: &Motion) -> Value {
    let velocities = motion.v.iter().zip(&motion.velocity_errors);
    let velocities = velocities.map(|(v, &error)| (format!("{}'", v.name), number(error)));
    let named = motion.q.iter().zip(&motion.errors);
    object(named.map(|(q, &error)| (q.name.clone(), number(error))).chain(velocities))
}

fn statistics(s: Statistics) -> Value {
    object([
        ("steps", Value::from(s.steps as u64)),
        ("rejected", Value::from(s.rejected as u64)),
        ("evaluations", Value::from(s.evaluations as u64)),
        ("derive_us", number(s.derive_us)),
        ("compile_us", number(s.compile_us)),
        ("integrate_us", number(s.integrate_us)),
        ("audit_us", number(s.audit_us)),
    ])
}

/// A motion between the ends.
fn solution(s: &Solution) -> Value {
    let named = |list: &[(String, f64)]| {
        object(list.iter().map(|(name, x)| (name.clone(), number(*x))))
    };
    object([
        ("action", number(s.action)),
        ("mu0", named(&s.mu0)),
        ("residual", number(s.residual)),
        ("family_dimension", Value::from(s.family_dimension as u64)),
        ("t1", number(s.t1)),
        ("q0", named(&s.q0)),
        ("v0", named(&s.v0)),
        ("p0", named(&s.p0)),
        ("conjugate", s.conjugate.as_deref().map_or(Value::Null, numbers)),
        ("minimum", s.minimum.map_or(Value::Null, Value::Bool)),
        ("abnormal", Value::Bool(s.abnormal)),
        ("agreement", s.agreement.map_or(Value::Null, number)),
        ("error", s.error.map_or(Value::Null, number)),
    ])
}

#[cfg(test)]
mod tests {
    use pfaff::{Model, Run};

    use super::*;
    use crate::json_text;

    /// Columns are written without a value of each number.
    #[test]
    fn the_text_of_a_motion_is_that_of_its_value() {
        let text = "coordinates x, y\nparameters l = 1\nlagrangian (x'^2 + y'^2)/2 - 9.81*y\n\
            constraint rod: x^2 + y^2 = l^2\nobserve u = 1/(t - 0.5)\nobserve w = x*y\ninitial x = 0.6, y = 0.8";
        let model = Model::parse(text).expect("a model");
        let request = Run { t1: Some(1.0), sensitivities: vec!["l".into()], ..Run::default() };
        let motion = model.run(&request).expect("a motion");
        assert!(!motion.multipliers.is_empty() && !motion.observed.is_empty());
        assert_eq!(motion.to_json_line(), json_text(&motion.to_json()) + "\n");
    }
}
