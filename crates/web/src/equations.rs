//! The equations in the form that is asked for.

use pfaff::{Model, derive, signs};
use pfaff_present::{
    Presentation, StandardForm, ToLatex, ToText, present, present_fractional,
    present_fractional_hamilton, present_hamilton, present_outline, present_reduced,
    present_standard,
};
use serde_json::{Value, json};

use crate::question::{Fault, Question};

/// Coordinates above which equations are shown in outline.
const LARGE: usize = 100;

/// Formulas as MathML, LaTeX and text.
pub(crate) fn answer(model: &Model, question: Question<'_>) -> Result<Value, Fault> {
    let form = question.words("form")?;
    let principle = question.principle()?;
    let shown = presentation(model, form.as_deref(), principle)?;
    let principle = principle.unwrap_or(model.principle);
    Ok(json!({
        "form": form.as_deref().unwrap_or("multipliers"),
        "mathml": shown.to_mathml(),
        "latex": shown.to_latex(),
        "typst": shown.to_typst(),
        "text": shown.to_text(),
        "signs": if model.constraints.is_empty() { None } else { Some(signs(principle)) },
    }))
}

/// The equations as they are laid out.
pub(crate) fn presentation(
    model: &Model,
    form: Option<&str>,
    principle: Option<pfaff::Principle>,
) -> Result<Presentation, Fault> {
    match form {
        None | Some("multipliers") => {
            if let Some(shown) = present_fractional(model, principle)? {
                return Ok(shown);
            }
            if model.coordinates.len() > LARGE {
                return Ok(present_outline(&pfaff::derive_for_run(model, principle)?));
            }
            Ok(present(&derive(model, principle)?))
        }
        Some("reduced") => present_reduced(&derive(model, principle)?).ok_or_else(|| {
            Fault::Question(
                "an `equation` model has no multipliers that could be eliminated".to_owned(),
            )
        }),
        Some("hamilton") => {
            if let Some(shown) = present_fractional_hamilton(model, principle)? {
                return Ok(shown);
            }
            Ok(present_hamilton(&derive(model, principle)?, None)?)
        }
        Some(word) => {
            let standard = StandardForm::named(word)
                .ok_or_else(|| Fault::Question(format!("there is no form `{word}`")))?;
            Ok(present_standard(&derive(model, principle)?, standard, None)?)
        }
    }
}
