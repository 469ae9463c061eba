//! `pfaff linearize`

use clap::Args;
use pfaff::{Linearization, LinearizeRequest, StabilityReason};
use pfaff_present::{
    RootLocus, ToJson, ToLatex, ToText, eigenvalue_csv, full_text, linear_page, locus_page,
    matrix_csv, moved_values,
};

use crate::arguments::{FormulaFormat, ModelArguments, principle};
use crate::figure_file::{command_line, write_figure, write_page};
use crate::guard;
use crate::input::VariedModel;
use crate::output::{Exit, failed, print, say, usage};
use crate::range::ParameterRange;

/// Values of a parameter that a root locus has by itself.
const VALUES: usize = 51;
/// Those of a figure.
const DRAWN: usize = 201;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff linearize pendulum --at \"x=0, y=-1\"                 matrices and eigenvalues about rest
  pfaff linearize bicycle --at \"x'=5\" --json               a steady motion: the cyclic coordinates are left out
  pfaff linearize falling_disk --at \"phi'=8\" --format latex
  pfaff linearize bicycle --at \"x'=v\" --vary \"v=0..10\"     eigenvalues over a parameter
  pfaff linearize bicycle --at \"x'=v\" --vary \"v=0..10\" --plot locus.svg
  pfaff linearize bicycle --at \"x'=5\" --report modes.html   modes that move
  pfaff linearize cart.pfaff --matrix B --format csv         what inputs (`input u = 0`) do

The state is made consistent with the constraints: what is given is kept, what is missing follows from them, as small
as they allow, or is zero. Without --at the initial state of the model is taken. A state that is no equilibrium is
linearised too; by how much it is none is shown, and the equilibrium that is found from there.")]
pub(crate) struct LinearizeArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// The state, such as "x=0, x'=1"; values may use parameters
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// Eigenvalues over a parameter, such as "v=0..10", or "v=0..10:200" for 200 values
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub(crate) vary: Option<String>,
    /// With --vary: a figure of the eigenvalues over the parameter, .svg, .pdf or .png
    #[arg(long, value_name = "FILE", requires = "vary")]
    pub(crate) plot: Option<String>,
    /// The figure shows the complex plane
    #[arg(long, requires = "plot")]
    pub(crate) plane: bool,
    /// A page with the modes as animations, or with the eigenvalues over a parameter
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<String>,
    /// Prints also E and A of E*x' = A*x in all coordinates, with constraints
    #[arg(long)]
    pub(crate) full: bool,
    /// With --format csv: a matrix instead of the eigenvalues: A, B, M, C, K, or E, "full A", "full B"
    #[arg(long, value_name = "NAME")]
    pub(crate) matrix: Option<String>,
    /// text, latex, json or csv (the eigenvalues)
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<FormulaFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn linearize(arguments: &LinearizeArguments) -> Result<Exit, Exit> {
    let format = match arguments.format {
        _ if arguments.json => FormulaFormat::Json,
        format => format.unwrap_or(FormulaFormat::Text),
    };
    let request = LinearizeRequest {
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        at: arguments.at.clone(),
        backend: crate::backend::from_environment()?,
    };
    let text = VariedModel::open(&arguments.model, None)?;
    if let Some(range) = &arguments.vary {
        return locus(
            arguments,
            &text,
            &ParameterRange::read("--vary", range)?,
            &request,
            format,
        );
    }
    if arguments.matrix.is_some() && format != FormulaFormat::Csv {
        return Err(usage("--matrix chooses what --format csv prints"));
    }
    let model = text.model(None)?;
    let found = pfaff::linearize(&model, &request).map_err(failed)?;
    for note in moved_values(&found.notes) {
        say(&format!("note: {note}"));
    }
    if let Some(name) = &arguments.report {
        let modes = pfaff::mode_motions(&model, &request, &found).map_err(failed)?;
        let page = linear_page(&model, &found, &modes, &command_line());
        write_page(name, &text.inputs(), &page)?;
    }
    print(&match format {
        FormulaFormat::Text if arguments.full => found.to_text() + &full_text(&found),
        FormulaFormat::Text => found.to_text(),
        FormulaFormat::Latex => found.to_latex(),
        FormulaFormat::Json => found.to_json_line(),
        FormulaFormat::Csv => match &arguments.matrix {
            None => eigenvalue_csv(&found),
            Some(name) => matrix_csv(&found, name).ok_or_else(|| {
                usage(&format!(
                    "there is no matrix `{name}` here; there are A, B, E, full A, full B, and M, C, K where the \
                     variables are coordinates and their velocities"
                ))
            })?,
        },
    })?;
    Ok(Exit::Done)
}

/// Eigenvalues over a parameter.
fn locus(
    arguments: &LinearizeArguments,
    text: &VariedModel,
    range: &ParameterRange,
    request: &LinearizeRequest,
    format: FormulaFormat,
) -> Result<Exit, Exit> {
    if format == FormulaFormat::Latex {
        return Err(usage("a root locus consists of numbers: use text, json or csv"));
    }
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    let mut exit = Exit::Done;
    let count = if arguments.plot.is_some() { DRAWN } else { VALUES };
    for value in range.values(count) {
        let model = text.model(Some((&range.name, value)))?;
        match pfaff::linearize(&model, request) {
            Ok(found) => points.push((value, found)),
            Err(error) => left_out.push((value, error)),
        }
        if guard::is_asked_to_end() {
            exit = Exit::StoppedEarly;
            break;
        }
    }
    if points.is_empty()
        && let Some((_, error)) = left_out.pop()
    {
        return Err(failed(error));
    }
    for (value, error) in &left_out {
        say(&format!("note: {} = {value} is left out: {error}", range.name));
    }
    let moving = |(_, found): &&(f64, Linearization)| {
        !found.is_equilibrium && found.reason == StabilityReason::NoEquilibrium
    };
    let count = points.iter().filter(moving).count();
    if count > 0 {
        say(&format!(
            "note: at {count} of {} values the state is not an equilibrium: there the eigenvalues do not say whether \
             it is stable",
            points.len()
        ));
    }
    if let Some((_, first)) = points.first()
        && points
            .iter()
            .all(|(_, found)| found.matrix == first.matrix && found.state == first.state)
    {
        say(&format!(
            "note: the parameter `{}` does nothing here: the linear equations are the same for all of its values",
            range.name
        ));
    }
    let title = points.first().map_or(String::new(), |(_, found)| found.title.clone());
    let locus = RootLocus { parameter: range.name.clone(), points };
    if arguments.plot.is_some() || arguments.report.is_some() {
        let at = |value: f64| {
            let model = text.model(Some((&range.name, value))).ok()?;
            pfaff::linearize(&model, request).ok()
        };
        let drawn = with_meetings(&locus, at);
        if let Some(name) = &arguments.plot {
            let figure =
                if arguments.plane { drawn.in_plane() } else { drawn.over_parameter() };
            write_figure(name, &text.inputs(), &figure)?;
        }
        if let Some(name) = &arguments.report {
            write_page(name, &text.inputs(), &locus_page(&drawn, &title, &command_line()))?;
        }
    }
    print(&match format {
        FormulaFormat::Json => locus.to_json_line(),
        FormulaFormat::Csv => locus.to_csv(),
        FormulaFormat::Text | FormulaFormat::Latex => locus.to_text(),
    })?;
    Ok(exit)
}

/// The same with more values where two eigenvalues meet and leave the real axis: near it they run like a root, so that
/// a curve through even values has a gap there.
fn with_meetings(locus: &RootLocus, at: impl Fn(f64) -> Option<Linearization>) -> RootLocus {
    /// How near to a meeting, in parts of the step between values, and for how many of them.
    const NEAR: f64 = 1e-5;
    const MOST: usize = 40;
    // Not the real ones: at single values of the parameter a cyclic coordinate may take one of them away.
    let complex =
        |found: &Linearization| found.eigenvalues.iter().filter(|v| v[1] != 0.0).count();
    let mut points = locus.points.clone();
    let mut gaps: Vec<usize> = (1..points.len())
        .filter(|&k| complex(&points[k - 1].1) != complex(&points[k].1))
        .take(MOST)
        .collect();
    // The last first, so that the places of the others stay.
    while let Some(mut k) = gaps.pop() {
        let width = (points[k].0 - points[k - 1].0).abs();
        while (points[k].0 - points[k - 1].0).abs() > NEAR * width {
            let middle = f64::midpoint(points[k - 1].0, points[k].0);
            let Some(found) = at(middle) else { break };
            let is_before = complex(&found) == complex(&points[k - 1].1);
            points.insert(k, (middle, found));
            k += usize::from(is_before);
        }
    }
    RootLocus { parameter: locus.parameter.clone(), points }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x'' = −2x' − kx: two real eigenvalues meet at −1 where k = 1, and a figure shows them there.
    #[test]
    fn figures_have_values_where_eigenvalues_meet() {
        let at = |k: f64| {
            let text = format!("coordinates x\nequation x'' = -2*x' - {k:?}*x");
            let model = pfaff::Model::parse(&text).ok()?;
            pfaff::linearize(&model, &LinearizeRequest::default()).ok()
        };
        let even: Vec<f64> = (0..5).map(|k| 0.1 + f64::from(k)).collect();
        let points = even.iter().filter_map(|&k| Some((k, at(k)?))).collect();
        let locus = RootLocus { parameter: "k".to_owned(), points };
        let drawn = with_meetings(&locus, at).points;
        assert!(drawn.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(even.iter().all(|k| drawn.iter().any(|(value, _)| value == k)));
        // The roots of what is left of k − 1 on both sides.
        let off = |(_, found): &(f64, Linearization)| {
            let [re, im] = found.eigenvalues[0];
            (re + 1.0).hypot(im)
        };
        let near = drawn.iter().map(off).fold(f64::INFINITY, f64::min);
        assert!(near < 4e-3 && drawn.len() < even.len() + 20, "{near} {}", drawn.len());
    }
}
