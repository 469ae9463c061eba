//! The equations in the form that is asked for.

use pfaff::{GeometryRequest, Model, derive, geometry_with, signs};
use pfaff_expr::escape_markup;
use pfaff_model::Dynamics;
use pfaff_present::{
    Presentation, StandardForm, ToLatex, ToText, present, present_fractional,
    present_fractional_hamilton, present_geometry, present_hamilton, present_outline,
    present_reduced, present_short, present_short_quickly, present_standard,
};
use serde_json::{Value, json};

use crate::WHOLE;
use crate::question::{Fault, Question};

/// Coordinates above which equations are shown in outline.
const LARGE: usize = 100;
/// Operations of a formula that fits beside a pointer.
const SHORT: usize = 120;

/// Formulas as a piece of a page, LaTeX and text.
pub(crate) fn answer(model: &Model, question: Question<'_>) -> Result<Value, Fault> {
    let form = question.words("form")?;
    let principle = question.principle()?;
    // What is long is shown before everything about it is known.
    let first = match form.as_deref() {
        None | Some("multipliers") if question.is_set("quick") => quick(model, principle)?,
        _ => None,
    };
    let is_partial = first.is_some();
    let shown = match first {
        Some(shown) => shown,
        None => presentation(model, form.as_deref(), principle)?,
    };
    let principle = principle.unwrap_or(model.principle);
    let is_geometry = form.as_deref() == Some("geometry");
    let has_signs = !model.constraints.is_empty() && !is_geometry;
    Ok(json!({
        "form": form.as_deref().unwrap_or("multipliers"),
        "partial": is_partial,
        "html": shown.to_html(),
        "latex": shown.to_latex(),
        "text": shown.to_text(),
        "signs": has_signs.then(|| signs(principle)),
    }))
}

/// Long equations without their conserved quantities; none of short ones.
fn quick(
    model: &Model,
    principle: Option<pfaff::Principle>,
) -> Result<Option<Presentation>, Fault> {
    let is_other = model.coordinates.len() > LARGE || fractional(model, principle)?.is_some();
    Ok(if is_other { None } else { present_short_quickly(&derive(model, principle)?) })
}

/// The equations of an extremum with memory; none of other models.
fn fractional(
    model: &Model,
    principle: Option<pfaff::Principle>,
) -> Result<Option<Presentation>, Fault> {
    if WHOLE {
        return Ok(present_fractional(model, principle)?);
    }
    if pfaff::is_fractional(&model.workspace()) { Err(Fault::Elsewhere) } else { Ok(None) }
}

/// The equations as they are laid out.
pub(crate) fn presentation(
    model: &Model,
    form: Option<&str>,
    principle: Option<pfaff::Principle>,
) -> Result<Presentation, Fault> {
    match form {
        None | Some("multipliers" | "full") => {
            if let Some(shown) = fractional(model, principle)? {
                return Ok(shown);
            }
            if model.coordinates.len() > LARGE {
                return Ok(present_outline(&pfaff::derive_for_run(model, principle)?));
            }
            let derivation = derive(model, principle)?;
            // Every block, however long; or what people look for.
            let short = if form == Some("full") { None } else { present_short(&derivation) };
            Ok(short.unwrap_or_else(|| present(&derivation)))
        }
        _ if !WHOLE => Err(Fault::Elsewhere),
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
        Some("geometry") => {
            let request = GeometryRequest { dependent: None, state: None };
            Ok(present_geometry(&geometry_with(model, &request, &["riemann"])?))
        }
        Some(word) => {
            let standard = StandardForm::named(word)
                .ok_or_else(|| Fault::Question(format!("there is no form `{word}`")))?;
            Ok(present_standard(&derive(model, principle)?, standard, None)?)
        }
    }
}

/// What a name of the text stands for, as a formula: for whoever points at it.
pub(crate) fn formula(model: &Model, question: Question<'_>) -> Result<Value, Fault> {
    let name = question.text("of")?;
    let workspace = model.workspace();
    let energies = match &workspace.dynamics {
        Dynamics::Lagrangian { lagrangian, kinetic, potential, .. } => vec![
            ("lagrangian", Some(*lagrangian)),
            ("kinetic", *kinetic),
            ("potential", *potential),
        ],
        Dynamics::Equations(_) => Vec::new(),
    };
    let energy = energies.into_iter().filter_map(|(word, e)| Some((word, e?)));
    let lets = workspace.abbreviations.iter().map(|(name, e)| (name.as_str(), *e));
    let observed = workspace.observed.iter().map(|o| (o.name.as_str(), o.expr));
    let constraints = workspace.constraints.iter().map(|c| (c.name.as_str(), c.expr));
    // A vector or a matrix is the list of its entries.
    let is_meant = |known: &str| {
        known.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let is_constraint = workspace.constraints.iter().any(|c| is_meant(&c.name));
    let found = lets.chain(observed).chain(constraints).chain(energy);
    let lines: Vec<String> = found
        .filter(|(known, _)| is_meant(known))
        .take(9)
        .map(|(known, e)| {
            let right = if workspace.graph.operations(&[e]) <= SHORT {
                workspace.graph.to_mathml(e)
            } else {
                "<mo>…</mo>".to_owned()
            };
            let left = format!("<mtext>{}</mtext>", escape_markup(known));
            let row = if is_constraint {
                format!("{left}<mo>:</mo><mspace width=\"0.5em\"/>{right}<mo>=</mo><mn>0</mn>")
            } else {
                format!("{left}<mo>=</mo>{right}")
            };
            format!("<mtr><mtd columnalign=\"left\">{row}</mtd></mtr>")
        })
        .collect();
    let html = (!lines.is_empty()).then(|| {
        format!("<math><mtable displaystyle=\"true\">{}</mtable></math>", lines.concat())
    });
    Ok(json!({"html": html}))
}
