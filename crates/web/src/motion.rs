//! Motions: one, several principles side by side, the points of a section.

use pfaff::{Backend, Model, Motion, Run, SectionRequest, StopReason};
use pfaff_expr::{is_interrupted, with_shield};
use pfaff_present::report::drawing::animation;
use pfaff_present::{ToJson, column_values};
use serde_json::{Map, Value, json};

use crate::handles;
use crate::question::{Fault, Question, principle};

/// A motion with its audit and its drawing; `expressions` of its columns are further columns.
pub(crate) fn run(
    model: &Model,
    question: Question<'_>,
    request: &Run,
) -> Result<Value, Fault> {
    let expressions = question.texts("expressions")?;
    let motion = computed(model, request)?;
    with_shield(|shield| {
        if motion.stop.reason == StopReason::Interrupted {
            // NOTE: what was computed by then is shown.
            shield();
        }
        let mut answer = shown(model, &motion, &expressions);
        answer.insert("handles".to_owned(), handles::of(model, &motion));
        Ok(Value::Object(answer))
    })
}

/// The motion that a run gives.
pub(crate) fn computed(model: &Model, request: &Run) -> Result<Motion, Fault> {
    Ok(model.run(request)?)
}

/// What the page reads of the JSON of a motion. Its numbers are in the columns already.
const KEYS: [&str; 11] = [
    "pfaff",
    "model",
    "principle",
    "method",
    "stop",
    "signs",
    "events",
    "notes",
    "errors",
    "audit",
    "statistics",
];

/// A motion as the page shows it.
fn shown(model: &Model, motion: &Motion, expressions: &[String]) -> Map<String, Value> {
    let drawing = animation(model, motion, "animation");
    let of_motion = motion.columns();
    let mut columns: Vec<Value> = of_motion
        .iter()
        .map(|(name, values)| json!({"name": name, "values": values}))
        .collect();
    let mut faults = Vec::new();
    for text in expressions {
        match column_values(&of_motion, text, "the motion") {
            Ok(values) => columns.push(json!({"name": text, "values": values})),
            Err(why) => faults.push(why),
        }
    }
    let mut about = motion.to_json();
    if let Value::Object(map) = &mut about {
        map.retain(|key, _| KEYS.contains(&key.as_str()));
    }
    let entries = [
        ("motion", about),
        ("columns", Value::Array(columns)),
        ("faults", json!(faults)),
        ("drawing", drawing.data),
        ("frames", json!(drawing.frames)),
        ("notes", json!(drawing.notes)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// One model under several principles.
pub(crate) fn compare(
    model: &Model,
    question: Question<'_>,
    request: &Run,
) -> Result<Value, Fault> {
    let list = match question.words("principles")? {
        None => None,
        Some(words) => Some(
            words.split(',').map(|w| principle(w.trim())).collect::<Result<Vec<_>, Fault>>()?,
        ),
    };
    let comparison = pfaff::compare(model, request, list.as_deref())?;
    let motions: Vec<Value> =
        comparison.motions.iter().map(|m| Value::Object(shown(model, m, &[]))).collect();
    Ok(json!({"motions": motions}))
}

/// The points where a motion crosses a surface.
pub(crate) fn section(
    model: &Model,
    question: Question<'_>,
    backend: Option<Backend>,
) -> Result<Value, Fault> {
    let request = SectionRequest {
        on: question.text("on")?.to_owned(),
        count: question.count("count", 1_000_000)?.unwrap_or(200),
        principle: question.principle()?,
        t1: question.number("t1")?,
        tolerance: question.number("tolerance")?,
        backend,
    };
    Ok(
        json!({"section": pfaff::section(model, &request, &mut || !is_interrupted())?.to_json()}),
    )
}

/// Degrees of freedom, classes, integrability.
pub(crate) fn check(model: &Model) -> Value {
    json!({"check": model.check().to_json()})
}
