//! What can be taken along: tables, code, formulas, a page.

use pfaff::{ExportForm, Language, Model, Run, derive, export};
use pfaff_present::report::{LARGE, Report, Shown, page};
use pfaff_present::{ToLatex, motion_table};
use serde_json::{Value, json};

use crate::equations::presentation;
use crate::motion::computed;
use crate::question::{Fault, Question};

/// A file as text, with the name that it may have.
pub(crate) fn answer(
    model: &Model,
    question: Question<'_>,
    request: &Run,
) -> Result<Value, Fault> {
    let kind = question.text("kind")?;
    let stem = question.optional_text("name")?.unwrap_or("model");
    let source = |language| export(model, request.principle, ExportForm::Best, language);
    let (content, ending, media) = match kind {
        "c" => (source(Language::C)?, "c", "text/plain"),
        "rust" => (source(Language::Rust)?, "rs", "text/plain"),
        "python" => (source(Language::Python)?, "py", "text/plain"),
        "latex" => {
            let form = question.words("form")?;
            let shown = presentation(model, form.as_deref(), request.principle)?;
            (shown.to_latex(), "tex", "text/plain")
        }
        "csv" => (motion_table(&computed(model, request)?).to_csv(), "csv", "text/csv"),
        "report" => (report(model, request, stem)?, "html", "text/html"),
        other => return Err(Fault::Question(format!("nothing can be exported as `{other}`"))),
    };
    Ok(json!({"name": format!("{stem}.{ending}"), "media": media, "content": content}))
}

/// The page of a motion, in one file.
fn report(model: &Model, request: &Run, name: &str) -> Result<String, Fault> {
    let motion = computed(model, request)?;
    let is_large = model.coordinates.len() > LARGE;
    let derivation = if is_large { None } else { derive(model, request.principle).ok() };
    Ok(page(&Report {
        model,
        request,
        name,
        command: &format!("pfaff run {name}.pfaff"),
        derivations: derivation.as_slice(),
        shown: Shown::Motion(&motion),
    }))
}
