//! `pfaff derive`

use pfaff::{
    Derivation, ExportForm, Language, Model, NoExport, Presentation, Principle, at_state,
    export, present, present_hamilton, present_reduced, read_state,
};

use crate::arguments::DeriveArguments;
use crate::output::{Exit, failed, print, show, usage};

pub(crate) fn derive(arguments: &DeriveArguments) -> Result<Exit, Exit> {
    let format =
        if arguments.json { "json" } else { arguments.format.as_deref().unwrap_or("text") };
    let language = match format {
        "text" | "latex" | "json" => None,
        "c" => Some(Language::C),
        "rust" => Some(Language::Rust),
        "python" => Some(Language::Python),
        _ => {
            return Err(usage(&format!(
                "no format `{format}`: choose text, latex, json, c, rust or python"
            )));
        }
    };
    if arguments.document && (format != "latex" || arguments.state.is_some()) {
        return Err(usage("--document is for --format latex"));
    }
    let form = arguments.form.as_deref();
    match form {
        None | Some("multipliers" | "reduced") => {}
        Some("hamilton") if language.is_some() => {
            return Err(usage("source text is written for the forms multipliers and reduced"));
        }
        Some("hamilton") => {}
        Some(other) => {
            return Err(usage(&format!(
                "no form `{other}`: choose multipliers, reduced or hamilton"
            )));
        }
    }
    let principle = arguments.principle.as_deref().map(principle).transpose()?;
    let model = crate::input::model(&arguments.model, None)?;
    if let Some(language) = language {
        if arguments.state.is_some() {
            return Err(usage("--state gives numbers: use it with text or json"));
        }
        let form = match form {
            Some("reduced") => ExportForm::Reduced,
            Some(_) => ExportForm::Saddle,
            None => ExportForm::Best,
        };
        print(&export(&model, principle, form, language).map_err(|e| unwritten(&model, &e))?)?;
        return Ok(Exit::Done);
    }
    if arguments.state.is_none() && form != Some("reduced") {
        let shown = match form {
            Some("hamilton") => pfaff::present_fractional_hamilton(&model, principle)
                .map_err(|failure| failed(&failure, &model.source))?,
            _ => pfaff::present_fractional(&model, principle).map_err(|refusal| {
                show(&[refusal.diagnostic()], &model.source);
                Exit::BadModel
            })?,
        };
        if let Some(presentation) = shown {
            return typeset(&presentation, format, arguments.document);
        }
    }
    let derivation = pfaff::derive(&model, principle).map_err(|refusal| {
        show(&[refusal.diagnostic()], &model.source);
        Exit::BadModel
    })?;
    if let Some(text) = &arguments.state {
        return numbers(&derivation, text, format);
    }
    let presentation = match form {
        Some("reduced") => present_reduced(&derivation).ok_or_else(|| {
            usage("an `equation` model has no multipliers to eliminate: leave --form out")
        })?,
        Some("hamilton") => present_hamilton(&derivation, arguments.dependent.as_deref())
            .map_err(|failure| failed(&failure, &model.source))?,
        _ => present(&derivation),
    };
    typeset(&presentation, format, arguments.document)
}

/// Prints equations in the format asked for.
fn typeset(presentation: &Presentation, format: &str, document: bool) -> Result<Exit, Exit> {
    print(&match format {
        "latex" if document => presentation.to_latex_document(),
        "latex" => presentation.to_latex(),
        "json" => format!("{}\n", presentation.to_json()),
        _ => presentation.to_text(),
    })?;
    Ok(Exit::Done)
}

/// Says why there is no source text.
fn unwritten(model: &Model, error: &NoExport) -> Exit {
    match error {
        NoExport::Refused(refusal) => {
            show(&[refusal.diagnostic()], &model.source);
            Exit::BadModel
        }
        NoExport::Unwritable(why) => usage(why),
    }
}

/// The numbers at one state.
fn numbers(derivation: &Derivation, text: &str, format: &str) -> Result<Exit, Exit> {
    let model = &derivation.model;
    let state = read_state(model, text).map_err(|r| crate::output::rejected(&r))?;
    let report =
        at_state(derivation, &state).map_err(|failure| failed(&failure, &model.source))?;
    match format {
        "json" => print(&format!("{}\n", report.to_json()))?,
        "text" => print(&report.to_text())?,
        _ => return Err(usage("--state gives numbers: use it with text or json")),
    }
    Ok(Exit::Done)
}

/// A principle by its word.
pub(crate) fn principle(word: &str) -> Result<Principle, Exit> {
    let known = Principle::ALL.iter().find(|(_, name)| *name == word);
    known.map(|(principle, _)| *principle).ok_or_else(|| {
        usage(&format!("no principle `{word}`: choose chetaev, vakonomic or restricted"))
    })
}
