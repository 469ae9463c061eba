//! `pfaff geometry --motion`: a motion in another form of the equations.

use pfaff::{Model, Principle, Run, View, named_coordinates, view_motion};
use pfaff_present::{json_text, view_json, view_text};

use crate::arguments::FormulaFormat;
use crate::output::{Exit, failed, print, usage};

pub(crate) fn motion(
    model: &Model,
    word: &str,
    dependent: Option<&str>,
    request: &Run,
    format: FormulaFormat,
) -> Result<Exit, Exit> {
    let all: Vec<(View, &str)> =
        Principle::ALL.iter().flat_map(|(p, _)| View::of(*p)).copied().collect();
    let Some((view, word)) = all.iter().find(|(_, name)| *name == word) else {
        let names: Vec<&str> = all.iter().map(|v| v.1).collect();
        return Err(usage(&format!(
            "there is no form `{word}` of the motion: choose {}",
            names.join(", ")
        )));
    };
    let dependent = dependent.map(|text| named_coordinates(model, text)).transpose();
    let dependent = dependent.map_err(failed)?;
    let found = view_motion(model, *view, dependent.as_deref(), request);
    let found = found.map_err(failed)?;
    match format {
        FormulaFormat::Json => print(&(json_text(&view_json(&found, model, word)) + "\n"))?,
        FormulaFormat::Text => print(&view_text(&found, model, word))?,
        FormulaFormat::Latex | FormulaFormat::Csv => {
            return Err(usage("a motion consists of numbers: use text or json"));
        }
    }
    Ok(Exit::Done)
}
