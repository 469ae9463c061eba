//! Motions: one, several principles side by side, the points of a section.

use pfaff::{Backend, Model, Motion, Note, Run, SectionRequest, StopReason};
use pfaff_expr::{is_interrupted, with_shield};
use pfaff_present::report::drawing::drawn;
use pfaff_present::{ToJson, column_values, motion_summary, sentence};
use serde_json::{Map, Value, json};

use crate::export::base64;
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
        let looks = Looks { is_draft: request.draft, packs: question.is_set("packed") };
        let mut answer = shown(model, &motion, &expressions, &looks);
        answer.insert("handles".to_owned(), handles::of(model, &motion));
        Ok(Value::Object(answer))
    })
}

/// The motion that a run gives.
pub(crate) fn computed(model: &Model, request: &Run) -> Result<Motion, Fault> {
    Ok(model.run(request)?)
}

/// How a motion is shown.
#[derive(Default)]
struct Looks {
    /// With fewer frames: it is gone in a moment.
    is_draft: bool,
    /// Columns as Base64 of their bytes.
    packs: bool,
}

/// Of the frames of a draft: every so many of those of a page.
const STRIDE: usize = 5;

/// A motion as the page shows it.
fn shown(
    model: &Model,
    motion: &Motion,
    expressions: &[String],
    looks: &Looks,
) -> Map<String, Value> {
    let drawing = drawn(model, motion, if looks.is_draft { STRIDE } else { 1 });
    let of_motion = motion.columns();
    let column = |name: &str, values: &[f64]| {
        if looks.packs {
            let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
            json!({"name": name, "packed": base64(&bytes)})
        } else {
            json!({"name": name, "values": values})
        }
    };
    let mut columns: Vec<Value> =
        of_motion.iter().map(|(name, values)| column(name, values)).collect();
    let mut faults = Vec::new();
    for text in expressions {
        match column_values(&of_motion, text, "the motion") {
            Ok(values) => columns.push(column(text, &values)),
            Err(why) => faults.push(why),
        }
    }
    let entries = [
        ("motion", motion_summary(motion)),
        ("columns", Value::Array(columns)),
        ("faults", json!(faults)),
        ("moved", moved(motion)),
        ("drawing", drawing.data),
        ("frames", json!(drawing.frames)),
        ("notes", json!(drawing.notes)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The initial values that contradicted the constraints: from where to where, and what is said of it.
fn moved(motion: &Motion) -> Value {
    let of = |note: &Note| match note {
        Note::Moved { name, old, new, .. } => {
            Some(json!({"name": name, "from": old, "to": new, "note": sentence(note, motion)}))
        }
        _ => None,
    };
    motion.notes.iter().filter_map(of).collect()
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
    let looks = Looks { packs: question.is_set("packed"), ..Looks::default() };
    let one = |m: &Motion| Value::Object(shown(model, m, &[], &looks));
    let motions: Vec<Value> = comparison.motions.iter().map(one).collect();
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
