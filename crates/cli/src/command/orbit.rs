//! `pfaff orbit`

use clap::{Args, ValueEnum};
use pfaff::{OrbitMethod, OrbitRequest};
use pfaff_present::{ToJson, ToText};

use crate::arguments::{ModelArguments, PlainFormat, principle};
use crate::guard;
use crate::output::{Exit, failed, print};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff orbit mine.pfaff --period 6.3            from the initial state, with a guess of the period
  pfaff orbit mine.pfaff --on \"rising x\"         from a crossing of a surface
  pfaff orbit driven.pfaff --period 2*pi/w       with t in the equations: this period

Coordinates on which nothing depends may move from one period to the next. Without both options the first event of the
model is the surface.")]
pub(crate) struct OrbitArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The name of an event, or an expression such as "rising x - 1"
    #[arg(long, value_name = "EVENT", allow_hyphen_values = true)]
    pub(crate) on: Option<String>,
    /// A guess of the period, or the period itself if the equations contain t
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) period: Option<String>,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own, such as "x'=1"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Largest local error per step (1e-12 if not given)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// shooting, compared with collocation; shooting alone; or what collocation gives
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) method: OrbitMethodName,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OrbitMethodName {
    Both,
    Shooting,
    Collocation,
}

pub(crate) fn orbit(arguments: &OrbitArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let request = OrbitRequest {
        on: arguments.on.clone(),
        period: arguments.period.clone(),
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        tolerance: arguments.tolerance,
        method: match arguments.method {
            OrbitMethodName::Both => OrbitMethod::Both,
            OrbitMethodName::Shooting => OrbitMethod::Shooting,
            OrbitMethodName::Collocation => OrbitMethod::Collocation,
        },
        backend: crate::backend::from_environment()?,
    };
    // NOTE: a search has no part to show, and is given up at a limit.
    let found =
        pfaff::orbit(&model, &request, &mut || !guard::was_asked_to_end()).map_err(failed)?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    print(&if json { found.to_json_line() } else { found.to_text() })?;
    Ok(Exit::Done)
}
