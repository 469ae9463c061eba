//! `pfaff geometry`

use clap::{Args, ValueEnum};
use pfaff::{
    CurveKind, GeometryRequest, Model, PARTS, Point, Run, Trace, fractional_geometry,
    geometry_parts, geometry_with,
};
use pfaff_present::{ToJson, ToLatex, ToText, present_fractional_forms, trace_table};

use crate::arguments::{FormulaFormat, ModelArguments, TimesArguments, dependent};
use crate::output::{Exit, failed, print, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff geometry contact_particle                          as text, only components that are not zero
  pfaff geometry contact_particle --format latex           for a paper
  pfaff geometry mine.pfaff --state \"y=0.5\" --json        numbers at a point; the growth vector is that of the point
  pfaff geometry mine.pfaff --dependent z                  which velocities the constraints give
  pfaff geometry contact_particle --curve geodesic --t1 3  a curve from the initial state
  pfaff geometry appell_hamel --part foliation             nonlinear constraints too
  pfaff geometry appell_hamel --motion cotangent --t1 2    the same motion from momenta
  pfaff geometry mine.pfaff --fractional 0.5,1             the Poincaré–Cartan form of order 1/2

Connections, torsion and growth vectors need constraints linear or affine in the velocities; the other parts do not.")]
pub(crate) struct GeometryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The dependent coordinates, such as y,z; by default the last declared ones that the constraints
    /// determine and whose values they do not contain
    #[arg(long, value_name = "NAMES")]
    pub(crate) dependent: Option<String>,
    /// Numbers at this state, such as "x=1, x'=2, t=0"; missing values are 0
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) state: Option<String>,
    /// Computes a curve instead: geodesic (of the metric on the base) or autoparallel (of the connection), from the
    /// initial state
    #[arg(long, value_enum, conflicts_with = "state")]
    pub(crate) curve: Option<Curve>,
    #[command(flatten)]
    pub(crate) times: TimesArguments,
    /// What is shown: riemann (the default), foliation, cotangent, lagrange_space, krupkova, forms, or all
    /// (the default of JSON)
    #[arg(long, value_name = "PARTS")]
    pub(crate) part: Option<String>,
    /// Integrates the motion in another form and compares it with that of `run`: cotangent, semispray,
    /// krupkova (or hamilton under the vakonomic principle)
    #[arg(long, value_name = "VIEW", conflicts_with_all = ["state", "part"])]
    pub(crate) motion: Option<String>,
    /// The fractional Poincaré–Cartan form of order ALPHA with velocities to the power BETA, its fractional
    /// derivative and the operator E^alpha, for a polynomial Lagrangian; numbers or parameters; one
    /// value stands for both
    #[arg(
        long,
        value_name = "ALPHA,BETA",
        allow_hyphen_values = true,
        conflicts_with_all = ["state", "part", "curve", "motion", "dependent"]
    )]
    pub(crate) fractional: Option<String>,
    /// text, latex or json; csv for a curve
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<FormulaFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Curve {
    Geodesic,
    Autoparallel,
}

pub(crate) fn geometry(arguments: &GeometryArguments) -> Result<Exit, Exit> {
    let format = match arguments.format {
        _ if arguments.json => FormulaFormat::Json,
        format => format.unwrap_or(FormulaFormat::Text),
    };
    match (arguments.curve, format) {
        (Some(_), FormulaFormat::Latex) => {
            return Err(usage("a curve consists of numbers: use text, json or csv"));
        }
        (None, FormulaFormat::Csv) => {
            return Err(usage("csv is for curves: use text, latex or json"));
        }
        (_, FormulaFormat::Latex) if arguments.state.is_some() => {
            return Err(usage("--state gives numbers: use it with text or json"));
        }
        _ => {}
    }
    let model = crate::input::model(&arguments.model, arguments.times.initial.as_deref())?;
    if let Some(curve) = arguments.curve {
        return trace(&model, curve, arguments, format);
    }
    if let Some(orders) = &arguments.fractional {
        let found = fractional_geometry(&model, orders).map_err(failed)?;
        let shown = present_fractional_forms(&found);
        print(&match format {
            FormulaFormat::Latex => shown.to_latex(),
            FormulaFormat::Json => shown.to_json_line(),
            _ => shown.to_text(),
        })?;
        return Ok(Exit::Done);
    }
    if let Some(word) = &arguments.motion {
        let request = request(&arguments.times)?;
        let dependent = arguments.dependent.as_deref();
        return crate::command::motion_view::motion(&model, word, dependent, &request, format);
    }
    let parts = match &arguments.part {
        Some(text) => geometry_parts(text).map_err(failed)?,
        None if format == FormulaFormat::Json => PARTS.to_vec(),
        None => vec!["riemann"],
    };
    let request = GeometryRequest {
        dependent: dependent(&model, arguments.dependent.as_deref())?,
        state: arguments
            .state
            .as_deref()
            .map(|text| Point::parse(&model, text))
            .transpose()
            .map_err(failed)?,
    };
    let report = geometry_with(&model, &request, &parts).map_err(failed)?;
    print(&match format {
        FormulaFormat::Latex => report.to_latex(),
        FormulaFormat::Json => report.to_json_line(),
        _ => report.to_text(),
    })?;
    Ok(Exit::Done)
}

/// A geodesic or an autoparallel.
fn trace(
    model: &Model,
    curve: Curve,
    arguments: &GeometryArguments,
    format: FormulaFormat,
) -> Result<Exit, Exit> {
    let kind = match curve {
        Curve::Geodesic => CurveKind::Geodesic,
        Curve::Autoparallel => CurveKind::Autoparallel,
    };
    let request = request(&arguments.times)?;
    let dependent = dependent(model, arguments.dependent.as_deref())?;
    let found = pfaff::curve(model, kind, dependent.as_deref(), &request).map_err(failed)?;
    let text = match format {
        FormulaFormat::Json => found.to_json_line(),
        FormulaFormat::Csv => trace_table(&found).to_csv(),
        _ => found.to_text(),
    };
    ended(&found, &text)
}

/// What the options of a curve ask for.
pub(crate) fn request(times: &TimesArguments) -> Result<Run, Exit> {
    Ok(Run {
        t0: times.t0,
        t1: times.t1,
        tolerance: times.tolerance,
        at: times.at.as_deref().map(crate::arguments::times).transpose()?,
        samples: times.samples,
        ..crate::backend::base_run()?
    })
}

/// Prints a curve; one that stopped early is printed too.
pub(crate) fn ended(found: &Trace, text: &str) -> Result<Exit, Exit> {
    print(text)?;
    Ok(if found.is_whole() { Exit::Done } else { Exit::StoppedEarly })
}
