//! `pfaff lift`

use std::path::Path as FilePath;

use pfaff::Path;

use crate::arguments::{LiftArguments, TableFormat};
use crate::geometry::{ended, refused, request};
use crate::output::{Exit, say};

pub(crate) fn lift(arguments: &LiftArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.times.initial.as_deref())?;
    let request = request(&arguments.times)?;
    let path = path(&arguments.path)?;
    let found = pfaff::lift(&model, &path, arguments.dependent.as_deref(), &request)
        .map_err(|none| refused(&none, &model))?;
    let format = match arguments.format {
        _ if arguments.json => TableFormat::Json,
        format => format.unwrap_or(TableFormat::Text),
    };
    let text = match format {
        TableFormat::Json => format!("{}\n", found.to_json()),
        TableFormat::Csv => found.to_csv(),
        TableFormat::Text => found.to_text(),
    };
    ended(&found, &text)
}

/// Formulas, or the text of a table.
fn path(text: &str) -> Result<Path, Exit> {
    if !FilePath::new(text.trim()).extension().is_some_and(|e| e.eq_ignore_ascii_case("csv")) {
        return Ok(Path::Formulas(text.to_owned()));
    }
    let name = text.trim().to_owned();
    std::fs::read_to_string(&name).map(|table| Path::Table(name.clone(), table)).map_err(
        |error| {
            say(&format!("error: the path `{name}` cannot be read: {error}"));
            Exit::BadModel
        },
    )
}
