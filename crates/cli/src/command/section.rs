//! `pfaff section`

use clap::Args;
use pfaff::{SectionRequest, StopReason};
use pfaff_present::{ToJson, ToText, section_table};

use crate::arguments::{ModelArguments, TableFormat, principle};
use crate::guard::{self, Phase};
use crate::output::{Exit, failed, print, say};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff section double_pendulum --on \"rising a1\" --count 500 --format csv > points.csv
  pfaff section mine.pfaff --on returns --count 100 --json      an event of the model

EVENT is the name of an event of the model, or an expression that vanishes on the surface, after `rising` or `falling`
if only one direction counts. The motion goes on until there are so many points, or until --t1.")]
pub(crate) struct SectionArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The name of an event, or an expression such as "rising x - 1"
    #[arg(long, value_name = "EVENT", allow_hyphen_values = true)]
    pub(crate) on: String,
    /// How many points
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) count: usize,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own, such as "x'=1"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// When the motion ends at the latest
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t1: Option<f64>,
    /// Largest local error per step, in parts of the size of each component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn section(arguments: &SectionArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let request = SectionRequest {
        on: arguments.on.clone(),
        count: arguments.count,
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        backend: crate::backend::from_environment()?,
    };
    guard::enter(Phase::Run);
    let found =
        pfaff::section(&model, &request, &mut || !guard::is_asked_to_end()).map_err(failed)?;
    let format = if arguments.json { Some(TableFormat::Json) } else { arguments.format };
    print(&match format.unwrap_or(TableFormat::Text) {
        TableFormat::Text => found.to_text(),
        TableFormat::Json => found.to_json_line(),
        TableFormat::Csv => section_table(&found).to_csv(),
    })?;
    let Some((reason, t)) = &found.stop else { return Ok(Exit::Done) };
    let often = match found.t.len() {
        0 => "never met".to_owned(),
        1 => "met once only".to_owned(),
        count => format!("met {count} times only"),
    };
    let why = match reason {
        StopReason::MaxSteps => "no crossing in the last 200000 steps".to_owned(),
        other => format!("the motion ended: {}", other.name()),
    };
    say(&format!("note: the surface `{}` is {often} up to t = {t} ({why})", found.on));
    Ok(Exit::StoppedEarly)
}
