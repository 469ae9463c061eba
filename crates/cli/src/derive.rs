//! `pfaff derive`

use pfaff::{Dynamics, Model, Principle, at_state, present, present_reduced, read_state};

use crate::arguments::DeriveArguments;
use crate::output::{Exit, failed, print, show, usage};

pub(crate) fn derive(arguments: &DeriveArguments) -> Result<Exit, Exit> {
    let format =
        if arguments.json { "json" } else { arguments.format.as_deref().unwrap_or("text") };
    match format {
        "text" | "latex" | "json" => {}
        "c" | "rust" | "python" => {
            return Err(usage(&format!("the format `{format}` is not built yet")));
        }
        _ => return Err(usage(&format!("no format `{format}`: choose text, latex or json"))),
    }
    match arguments.form.as_str() {
        "multipliers" | "reduced" => {}
        "hamilton" => {
            return Err(usage(&format!("the form `{}` is not built yet", arguments.form)));
        }
        other => {
            return Err(usage(&format!("no form `{other}`: choose multipliers or reduced")));
        }
    }
    let principle = arguments.principle.as_deref().map(principle).transpose()?;
    let model = crate::input::model(&arguments.model, None)?;
    let dynamics = pfaff::derive(&model, principle).map_err(|refusal| {
        show(&[refusal.diagnostic()], &model.source);
        Exit::BadModel
    })?;
    if let Some(text) = &arguments.state {
        return numbers(&model, &dynamics, text, format);
    }
    let presentation = match arguments.form.as_str() {
        "reduced" => present_reduced(&model, &dynamics).ok_or_else(|| {
            usage("an `equation` model has no multipliers to eliminate: leave --form out")
        })?,
        _ => present(&model, &dynamics),
    };
    print(&match format {
        "latex" => presentation.to_latex(),
        "json" => format!("{}\n", presentation.to_json()),
        _ => presentation.to_text(),
    })?;
    Ok(Exit::Done)
}

/// The numbers at one state.
fn numbers(model: &Model, dynamics: &Dynamics, text: &str, format: &str) -> Result<Exit, Exit> {
    let state = read_state(model, text).map_err(|r| crate::output::rejected(&r))?;
    let report =
        at_state(model, dynamics, &state).map_err(|failure| failed(&failure, &model.source))?;
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
