//! `pfaff lyapunov`

use clap::Args;
use pfaff::LyapunovRequest;

use crate::arguments::{ModelArguments, PlainOutput, principle};
use crate::guard;
use crate::output::{Exit, failed, print};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff lyapunov double_pendulum --t1 1000      the spectrum of the motion from the initial state
  pfaff lyapunov lorenz.pfaff --json            until the exponents are known to about 2e-4

The exponents are those of the flow on the constraints, one for each direction that the state can vary in. The first
tenth of the motion does not count. Errors are standard errors from twenty parts of the motion. The sum of the exponents
is compared with the mean divergence of the flow, which is integrated separately.")]
pub(crate) struct LyapunovArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own, such as "x'=1"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// End of the motion; until the errors are small if not given
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t1: Option<f64>,
    /// Largest local error per step (1e-8 if not given)
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

pub(crate) fn lyapunov(arguments: &LyapunovArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let request = LyapunovRequest {
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        backend: crate::backend::from_environment()?,
    };
    let found =
        pfaff::lyapunov(&model, &request, &mut || !guard::is_asked_to_end()).map_err(failed)?;
    print(&arguments.output.of(&found))?;
    Ok(if found.stop.is_some() { Exit::StoppedEarly } else { Exit::Done })
}
