//! `pfaff gait`

use clap::Args;
use pfaff::GaitRequest;

use crate::arguments::{ModelArguments, PlainOutput};
use crate::guard;
use crate::output::{Exit, failed, print};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff gait snake.pfaff --shape \"a1, a2\" --loop \"a1 = cos(s), a2 = sin(s)\"
  pfaff gait snake.pfaff --shape \"a1, a2\"              the best ellipse for its length
  pfaff gait snake.pfaff --shape \"a1, a2\" --within 0.5 --json

The shapes go through the loop, s from 0 to 2*pi, and constraints (or momenta that are zero) move the other
coordinates. `group SE(2): x, y, theta` in the model says which of them are those of a body in the plane. The
displacement is seen from where the body began; the area rule is the integral of the curvature over the loop, right to
first order.")]
pub(crate) struct GaitArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The shape coordinates, such as "a1, a2"
    #[arg(long, value_name = "LIST")]
    pub(crate) shape: String,
    /// The loop, such as "a1 = cos(s), a2 = sin(s)"; the best ellipse if not given
    #[arg(long = "loop", value_name = "LOOP", allow_hyphen_values = true)]
    pub(crate) path: Option<String>,
    /// How far the shapes of the best ellipse go from their initial values; 1 if not given
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "path")]
    pub(crate) within: Option<f64>,
    /// Initial values instead of the model's own
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

pub(crate) fn gait(arguments: &GaitArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let shape = arguments.shape.split(',').map(|name| name.trim().to_owned());
    let request = GaitRequest {
        shape: shape.filter(|name| !name.is_empty()).collect(),
        path: arguments.path.clone(),
        within: arguments.within,
    };
    // NOTE: of a search that is cut short it cannot be told which loop is the best: it is given up at a limit.
    let found =
        pfaff::gait(&model, &request, &mut || !guard::was_asked_to_end()).map_err(failed)?;
    print(&arguments.output.of(&found))?;
    Ok(Exit::Done)
}
