//! `pfaff variations`

use clap::Args;
use pfaff::{Run, VariationRequest, variations as vary};
use pfaff_present::{ToJson, ToText};

use crate::arguments::{ModelArguments, PlainFormat};
use crate::output::{Exit, failed, print, say};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff variations contact_particle --vary \"x = sin(pi*t/3)\" --t1 3
  pfaff variations contact_particle --motion \"x = t, y = t^2\" --vary \"y = t*(1 - t)\" --t1 1 --json

Coordinates that are not varied have the variation 0; dependent coordinates follow from the others.")]
pub(crate) struct VariationsArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The variation of base coordinates as functions of t, such as "x = sin(pi*t)"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) vary: String,
    /// The motion of the base coordinates as functions of t; the model's own motion if not given
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) motion: Option<String>,
    /// The principle of the model's own motion
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Start
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t0: Option<f64>,
    /// End
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t1: Option<f64>,
    /// Output times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// Number of output times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

pub(crate) fn variations(arguments: &VariationsArguments) -> Result<Exit, Exit> {
    let run = Run {
        principle: arguments
            .principle
            .as_deref()
            .map(crate::arguments::principle)
            .transpose()?,
        t0: arguments.t0,
        t1: arguments.t1,
        at: arguments.at.as_deref().map(crate::arguments::times).transpose()?,
        samples: arguments.samples,
        ..crate::backend::base_run()?
    };
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let request = VariationRequest {
        vary: arguments.vary.clone(),
        motion: arguments.motion.clone(),
        run,
    };
    let found = vary(&model, &request).map_err(failed)?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    if let Some(stop) = &found.stop {
        say(&format!(
            "note: the motion stopped early ({}) at t = {}: the variations are those up to there",
            stop.reason.name(),
            stop.t
        ));
    }
    print(&if json { found.to_json_line() } else { found.to_text() })?;
    Ok(if found.stop.is_some() { Exit::StoppedEarly } else { Exit::Done })
}
