//! `pfaff lift`

use std::path::Path as FilePath;

use clap::Args;
use pfaff::Path;
use pfaff_present::{ToJson, ToText, trace_table};

use crate::arguments::{ModelArguments, TableFormat, TimesArguments, dependent};
use crate::command::geometry::{ended, request};
use crate::guard::{self, Phase};
use crate::output::{Exit, failed, say};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff lift contact_particle --path \"x = cos(t), y = sin(t)\" --t1 2*pi
  pfaff lift contact_particle --path loop.csv                             a table with columns t, x, y
  pfaff lift mine.pfaff --path \"x = t, phi = t^2\" --t1 1 --format csv

A path of formulas gives every base coordinate as a function of t. A table has t in its first column and a
column for every base coordinate; it is interpolated smoothly between its corners.")]
pub(crate) struct LiftArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The base path: functions of t, such as "x = cos(t), y = sin(t)", or a file that ends in .csv
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) path: String,
    /// The dependent coordinates, such as y,z
    #[arg(long, value_name = "NAMES")]
    pub(crate) dependent: Option<String>,
    #[command(flatten)]
    pub(crate) times: TimesArguments,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
}

pub(crate) fn lift(arguments: &LiftArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.times.initial.as_deref())?;
    let request = request(&arguments.times)?;
    let path = path(&arguments.path)?;
    let dependent = dependent(&model, arguments.dependent.as_deref())?;
    let found = pfaff::lift(&model, &path, dependent.as_deref(), &request).map_err(failed)?;
    guard::enter(Phase::Answer);
    let format = match arguments.format {
        _ if arguments.json => TableFormat::Json,
        format => format.unwrap_or(TableFormat::Text),
    };
    let text = match format {
        TableFormat::Json => found.to_json_line(),
        TableFormat::Csv => trace_table(&found).to_csv(),
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
    crate::input::data(FilePath::new(&name))
        .map(|table| Path::Table(name.clone(), table))
        .map_err(|error| {
            say(&format!("error: the path `{name}` cannot be read: {error}"));
            Exit::BadModel
        })
}
