//! A motion as `run --json` prints it.

use pfaff::{
    Audit, Check, DoubleDoubleSeries, EventRecord, EventSensitivity, Motion, Sensitivity,
    Series, Solution, Statistics, StopReason, signs,
};
use serde_json::Value;

use super::compare::equivalence_json;
use super::note::sentence;
use crate::ToJson;
use crate::json::{number, numbers, object, string, strings};

impl ToJson for Motion {
    /// As `run --json` prints it.
    fn to_json(&self) -> Value {
        let by_name = |series: &[Series]| {
            object(series.iter().map(|s| (s.name.clone(), numbers(&s.values))))
        };
        let total: Vec<f64> =
            self.energy.iter().zip(&self.constraint_energy).map(|(e, c)| e + c).collect();
        let mut entries = vec![
            ("pfaff", string(env!("CARGO_PKG_VERSION"))),
            ("model", string(&self.title)),
            ("principle", self.principle.map_or(Value::Null, |p| string(p.name()))),
            ("method", string(self.method)),
            ("stop", stop(self)),
            ("t", numbers(&self.t)),
            ("q", by_name(&self.q)),
            ("v", by_name(&self.v)),
            ("multipliers", by_name(&self.multipliers)),
            ("multiplier_rates", by_name(&self.multiplier_rates)),
            ("reactions", by_name(&self.reactions)),
            ("reaction_power", numbers(&self.reaction_power)),
            ("signs", self.principle.map_or(Value::Null, |p| string(signs(p)))),
            (
                "energy",
                object([
                    ("E", numbers(&self.energy)),
                    ("constraint", numbers(&self.constraint_energy)),
                    ("total", numbers(&total)),
                ]),
            ),
            ("observed", by_name(&self.observed)),
            ("events", Value::Array(self.events.iter().map(|e| event(self, e)).collect())),
            ("notes", strings(self.notes.iter().map(|n| sentence(n, self)))),
            ("errors", errors(self)),
            ("audit", audit(&self.audit)),
            ("statistics", statistics(self.statistics)),
        ];
        if !self.sensitivities.is_empty() {
            let event = |e: &EventSensitivity| {
                object([
                    ("name", string(&e.name)),
                    ("t", number(e.t)),
                    ("q", named(&self.q, &e.q)),
                    ("v", named(&self.v, &e.v)),
                ])
            };
            let derivative = |s: &Sensitivity, further: Vec<(&'static str, Value)>| {
                let stop = match (&self.stop.reason, s.events.last()) {
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
                let second =
                    s.second.iter().map(|s| (s.name.clone(), derivative(s, Vec::new())));
                let second: Vec<_> = second.collect();
                let further = if second.is_empty() {
                    Vec::new()
                } else {
                    vec![("second", object(second))]
                };
                derivative(s, further)
            };
            let all = self.sensitivities.iter().map(|s| (s.name.clone(), one(s)));
            entries.push(("sensitivities", object(all)));
        }
        if let Some(exact) = &self.double_double {
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
                object([
                    ("digits", number(exact.digits)),
                    ("q", decimals(&exact.q)),
                    ("v", decimals(&exact.v)),
                    ("observed", decimals(&exact.observed)),
                    ("low", object([("q", low(&exact.q)), ("v", low(&exact.v))])),
                ]),
            ));
        }
        if let Some(transition) = &self.transition {
            let size = transition.names.len().max(1);
            let matrix =
                |values: &Vec<f64>| Value::Array(values.chunks(size).map(numbers).collect());
            let matrices = transition.matrices.iter().map(matrix).collect();
            entries.push((
                "transition",
                object([
                    ("names", strings(&transition.names)),
                    ("matrices", Value::Array(matrices)),
                ]),
            ));
        }
        if let Some(gradient) = &self.gradient {
            let by = gradient.by.iter().map(|(name, x)| (name.clone(), number(*x)));
            entries.push((
                "gradient",
                object([
                    ("of", string(&gradient.of)),
                    ("value", number(gradient.value)),
                    ("by", object(by)),
                ]),
            ));
        }
        if let Some(solutions) = &self.solutions {
            let list = solutions.iter().map(solution).collect();
            entries.push(("solutions", Value::Array(list)));
        }
        if let Some(equivalence) = &self.equivalence {
            entries.push(("equivalence", equivalence_json(equivalence, &self.multipliers)));
        }
        object(entries)
    }
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
