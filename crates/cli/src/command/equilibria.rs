//! `pfaff equilibria`

use clap::Args;
use pfaff::{EquilibriaRequest, SearchRange};

use crate::arguments::{ModelArguments, PlainOutput, principle};
use crate::guard;
use crate::output::{Exit, failed, print};
use crate::range::ParameterRange;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff equilibria pendulum                              rest, with stability
  pfaff equilibria mine.pfaff --search \"x=-2..2, y=0..1\"  in a box
  pfaff equilibria falling_disk --search \"th=-1..1, psi'=1..2, phi'=-8..8\"  steady motions

The search starts at the initial state and at states that fill the box evenly. Coordinates on which nothing depends move
uniformly in a steady motion; their rates are part of the answer. Equilibria that are not isolated belong to a family,
whose dimension is shown. A search can miss equilibria.")]
pub(crate) struct EquilibriaArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own: where the search starts
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// A box of positions and velocities, such as "x=-2..2, x'=0..1"; positions from -4 to 4 if not given
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

pub(crate) fn equilibria(arguments: &EquilibriaArguments) -> Result<Exit, Exit> {
    let model = crate::input::model(&arguments.model, arguments.initial.as_deref())?;
    let search = arguments.search.as_deref().map_or(Ok(Vec::new()), search)?;
    let request = EquilibriaRequest {
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        search,
        backend: crate::backend::from_environment()?,
    };
    let found = pfaff::equilibria(&model, &request, &mut || !guard::is_asked_to_end())
        .map_err(failed)?;
    print(&arguments.output.of(&found))?;
    Ok(if found.interrupted { Exit::StoppedEarly } else { Exit::Done })
}

/// The box of `--search`.
pub(crate) fn search(text: &str) -> Result<Vec<SearchRange>, Exit> {
    text.split(',').map(range).collect()
}

fn range(text: &str) -> Result<SearchRange, Exit> {
    let ParameterRange { name, from, to, .. } = ParameterRange::read("--search", text)?;
    Ok(SearchRange { name, from, to })
}
