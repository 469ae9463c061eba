//! Motions: one, several principles side by side, the points of a section.

use pfaff::{Backend, Model, Motion, Run, SectionRequest};
use pfaff_expr::is_interrupted;
use pfaff_present::ToJson;
use pfaff_present::report::drawing::animation;
use serde_json::{Value, json};

use crate::question::{Fault, Question, principle};

/// A motion with its audit and its drawing.
pub(crate) fn run(model: &Model, request: &Run) -> Result<Value, Fault> {
    let motion = computed(model, request)?;
    Ok(shown(model, &motion))
}

/// The motion that a run gives.
pub(crate) fn computed(model: &Model, request: &Run) -> Result<Motion, Fault> {
    Ok(model.run(request)?)
}

/// A motion as the page shows it.
fn shown(model: &Model, motion: &Motion) -> Value {
    let drawing = animation(model, motion, "animation");
    let columns: Vec<Value> = motion
        .columns()
        .into_iter()
        .map(|(name, values)| json!({"name": name, "values": values}))
        .collect();
    json!({
        "motion": motion.to_json(),
        "columns": columns,
        "drawing": drawing.data,
        "frames": drawing.frames,
        "notes": drawing.notes,
    })
}

/// One model under several principles.
pub(crate) fn compare(
    model: &Model,
    question: Question<'_>,
    backend: Option<Backend>,
) -> Result<Value, Fault> {
    let list = match question.words("principles")? {
        None => None,
        Some(words) => Some(
            words.split(',').map(|w| principle(w.trim())).collect::<Result<Vec<_>, Fault>>()?,
        ),
    };
    let comparison = pfaff::compare(model, &question.run(backend)?, list.as_deref())?;
    let motions: Vec<Value> = comparison.motions.iter().map(|m| shown(model, m)).collect();
    Ok(json!({"comparison": comparison.to_json(), "motions": motions}))
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
