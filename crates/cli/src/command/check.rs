//! `pfaff check`

use clap::Args;
use pfaff::{Model, Thermal, derive, thermal};
use pfaff_present::{ToJson, ToText, json_text};

use crate::arguments::{ModelArguments, PlainFormat};
use crate::output::{Exit, failed, print};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff check sleigh
  pfaff check mine.pfaff --json
  pfaff check snake --set \"N=20\"
  pfaff check isokinetic --temperature 0.5

All mistakes in the text are shown at once, each with its line, what is wrong and a hint; the exit status is
then 1.")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
    /// Also tests whether exp(-H/kT) is stationary: power = kT*divergence
    #[arg(long, value_name = "kT", allow_hyphen_values = true)]
    pub(crate) temperature: Option<f64>,
}

pub(crate) fn check(arguments: &CheckArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, None)?;
    let report = pfaff::check(&model);
    let tested = arguments.temperature.map(|kt| temperature(&model, kt)).transpose()?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    if json {
        let mut object = report.to_json();
        if let Some(tested) = &tested {
            object["temperature"] = tested.to_json();
        }
        print(&(json_text(&object) + "\n"))?;
    } else {
        let tested = tested.map_or(String::new(), |t| t.to_text());
        print(&format!("{}{tested}", report.to_text()))?;
    }
    Ok(Exit::Done)
}

/// Whether the model keeps the temperature.
fn temperature(model: &Model, kt: f64) -> Result<Thermal, Exit> {
    let derivation = derive(model, None).map_err(failed)?;
    thermal(&derivation, kt).map_err(failed)
}
