//! `pfaff section`

use clap::Args;
use pfaff::{SectionRequest, StopReason};
use pfaff_present::{ToJson, ToText, section_figure, section_table};

use crate::arguments::{ModelArguments, TableFormat, principle};
use crate::figure_file::write_figure;
use crate::guard;
use crate::input::VariedModel;
use crate::output::{Exit, failed, print, say, usage};
use crate::range::ParameterRange;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff section double_pendulum --on \"rising a1\" --count 500 --format csv > points.csv
  pfaff section mine.pfaff --on returns --count 100 --json      an event of the model
  pfaff section henon.pfaff --on \"rising x\" --starts \"y=-0.3..0.5:20\" --plot s.svg --columns \"y, y'\"

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
    /// Many motions: a range of an initial value or of a parameter, such as "y=-0.3..0.5:20"; each has --count points
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(crate) starts: Option<String>,
    /// A figure of the points: .svg, .pdf or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<String>,
    /// The two columns of the figure, such as "y, y'"; the first two that change if not given
    #[arg(long, value_name = "LIST", requires = "plot", allow_hyphen_values = true)]
    pub(crate) columns: Option<String>,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn section(arguments: &SectionArguments) -> Result<Exit, Exit> {
    let request = SectionRequest {
        on: arguments.on.clone(),
        count: arguments.count,
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        backend: crate::backend::from_environment()?,
    };
    let text = VariedModel::open(&arguments.model, arguments.initial.as_deref())?;
    let found = match &arguments.starts {
        None => {
            let model = text.model(None)?;
            pfaff::section(&model, &request, &mut || !guard::is_asked_to_end())
                .map_err(failed)?
        }
        Some(range) => many(&text, &ParameterRange::read("--starts", range)?, &request)?,
    };
    if let Some(name) = &arguments.plot {
        let columns: Option<Vec<&str>> =
            arguments.columns.as_deref().map(|list| list.split(',').map(str::trim).collect());
        let figure = section_figure(&found, columns.as_deref()).map_err(|why| usage(&why))?;
        write_figure(name, &text.inputs(), &figure)?;
    }
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

/// How many motions a range has by itself.
const STARTS: usize = 20;

/// The points of many motions, in the order of their starts.
fn many(
    text: &VariedModel,
    range: &ParameterRange,
    request: &SectionRequest,
) -> Result<pfaff::Section, Exit> {
    let values = range.values(STARTS);
    let models = values.iter().map(|&value| text.changed(&range.name, value));
    let models = models.collect::<Result<Vec<pfaff::Model>, Exit>>()?;
    let found = pfaff::section_many(&models, request, &mut || !guard::is_asked_to_end());
    let mut whole: Option<pfaff::Section> = None;
    for (value, found) in values.iter().zip(found) {
        // A start from which nothing can move, such as one beyond the energy, is left out.
        let Ok(found) = found else {
            say(&format!("note: no motion begins at {} = {value}", range.name));
            continue;
        };
        match &mut whole {
            Some(whole) => whole.append(found),
            None => whole = Some(found),
        }
    }
    whole.ok_or_else(|| usage("--starts: no motion begins at any of these values"))
}
