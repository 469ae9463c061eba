//! `pfaff measure`

use clap::Args;
use pfaff::MeasureRequest;

use crate::arguments::{ModelArguments, PlainOutput, principle};
use crate::output::{Exit, failed, print};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff measure sleigh
  pfaff measure rattleback --json

Looks for a density rho(q) with div(rho X) = 0, where X is the flow in independent variables on the constraints: powers
of the determinant of the mass matrix, exponentials and polynomials of positions, sines and cosines. Then for mirrors
of the coordinates that turn the motion back in time. Both are decided by the numbers at scattered states.")]
pub(crate) struct MeasureArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own, around which the flow is looked at
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

pub(crate) fn measure(arguments: &MeasureArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let request = MeasureRequest {
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        backend: crate::backend::from_environment()?,
    };
    let found = pfaff::measure(&model, &request).map_err(failed)?;
    print(&arguments.output.of(&found))?;
    Ok(Exit::Done)
}
