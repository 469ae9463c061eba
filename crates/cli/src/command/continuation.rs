//! `pfaff continue`

use clap::{Args, ValueEnum};
use pfaff::{ContinueRequest, OrbitMethod, OrbitRequest, continue_equilibria, continue_orbits};
use pfaff_present::{ToJson, ToText, branch_csv, diagram, diagram_page};

use crate::arguments::{ModelArguments, TableFormat, principle};
use crate::command::equilibria::search;
use crate::figure_file::{command_line, write_figure, write_page};
use crate::guard;
use crate::input::VariedModel;
use crate::output::{Exit, failed, print, usage};
use crate::range::ParameterRange;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff continue hoop.pfaff --vary \"w=1..5\"                 equilibria over the speed of a hoop
  pfaff continue hoop.pfaff --vary \"w=1..5\" --format csv    all points as a table
  pfaff continue duffing.pfaff --vary \"w=0.5..2\" --of orbits --period 2*pi/w    a driven oscillation
  pfaff continue hoop.pfaff --vary \"w=1..5\" --plot diagram.svg --show a
  pfaff continue cone.pfaff --vary \"w=2.5..5\" --fix \"x*y' - y*x' = w*(x^2 + y^2)\"    circles over their speed
  pfaff continue arm.pfaff --vary \"F=0..5\" --switch --report arm.html    also the motions that begin at Hopf points

The branches begin at the equilibria and steady motions that are found at the first value of the parameter, and at
branch points. Folds, branch points and Hopf points are located. Where motions form families, rates and conserved
quantities are held, or what --fix says. With --of orbits one periodic motion is followed, from the one that `pfaff
orbit` finds, and folds, branch, period-doubling (flip) and torus points are located.")]
pub(crate) struct ContinueArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The parameter and its range, such as "p=0..2"
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(crate) vary: String,
    /// What is continued: equilibria or orbits
    #[arg(long, value_enum, default_value = "equilibria")]
    pub(crate) of: Kind,
    /// For orbits: the name of an event or an expression, at a crossing of which the search starts
    #[arg(long, value_name = "EVENT", allow_hyphen_values = true)]
    pub(crate) on: Option<String>,
    /// For orbits: a guess of the period; the period itself if the equations contain t
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) period: Option<String>,
    /// Where motions form families, what picks one of them: expressions that keep their values along a branch, or
    /// equations, such as "energy" or "x*y' - y*x' = L"
    #[arg(long, value_name = "CONDITIONS", allow_hyphen_values = true)]
    pub(crate) fix: Option<String>,
    /// For equilibria: a box in which they are looked for at the first value, such as "x=-2..2, x'=0..1"
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    /// Follows also the periodic motions from Hopf points, and the other branches at branch and period-doubling points
    /// of periodic motions
    #[arg(long)]
    pub(crate) switch: bool,
    /// The bifurcation diagram: .svg, .pdf or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<String>,
    /// The component that --plot shows; the one that changes most if not given
    #[arg(long, value_name = "NAME", requires = "plot")]
    pub(crate) show: Option<String>,
    /// A page with the diagrams of all components
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<String>,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own: where the search for the first equilibria starts
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Equilibria,
    Orbits,
}

pub(crate) fn continuation(arguments: &ContinueArguments) -> Result<Exit, Exit> {
    let range = ParameterRange::read("--vary", &arguments.vary)?;
    let text = VariedModel::open(&arguments.model, arguments.initial.as_deref())?;
    let model = text.model(Some((&range.name, range.from)))?;
    let request = ContinueRequest {
        parameter: range.name.clone(),
        from: range.from,
        to: range.to,
        switch: arguments.switch,
        fix: arguments.fix.clone(),
        search: match arguments.search.as_deref() {
            Some(text) => search(text)?,
            None => Vec::new(),
        },
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        backend: crate::backend::from_environment()?,
    };
    let watch = &mut || !guard::is_asked_to_end();
    let found = match arguments.of {
        Kind::Equilibria => continue_equilibria(&model, &request, watch),
        Kind::Orbits => {
            let orbit = OrbitRequest {
                on: arguments.on.clone(),
                period: arguments.period.clone(),
                principle: request.principle,
                tolerance: None,
                method: OrbitMethod::default(),
                backend: request.backend,
            };
            continue_orbits(&model, &request, &orbit, watch)
        }
    }
    .map_err(failed)?;
    if let Some(name) = &arguments.plot {
        let figure = diagram(&found, arguments.show.as_deref()).ok_or_else(|| {
            let wanted = arguments.show.as_deref().unwrap_or_default();
            usage(&format!("--show: the state has no component `{wanted}`"))
        })?;
        write_figure(name, &text.inputs(), &figure)?;
    }
    if let Some(name) = &arguments.report {
        write_page(name, &text.inputs(), &diagram_page(&found, &command_line()))?;
    }
    let format = if arguments.json { Some(TableFormat::Json) } else { arguments.format };
    print(&match format.unwrap_or(TableFormat::Text) {
        TableFormat::Text => found.to_text(),
        TableFormat::Json => found.to_json_line(),
        TableFormat::Csv => branch_csv(&found),
    })?;
    Ok(if found.interrupted { Exit::StoppedEarly } else { Exit::Done })
}
