//! `pfaff geometry`

use pfaff::{
    CurveKind, GeometryRequest, Model, NoGeometry, PARTS, Request, Trace, geometry_parts,
    geometry_with, present_fractional_forms,
};

use crate::arguments::{Curve, FormulaFormat, GeometryArguments, TimesArguments};
use crate::output::{Exit, failed, print, rejected, usage};

pub(crate) fn geometry(arguments: &GeometryArguments) -> Result<Exit, Exit> {
    let format = match arguments.format {
        _ if arguments.json => FormulaFormat::Json,
        format => format.unwrap_or(FormulaFormat::Text),
    };
    match (arguments.curve, format) {
        (Some(_), FormulaFormat::Latex) => {
            return Err(usage("a curve is numbers: use text, json or csv"));
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
        let shown = present_fractional_forms(&model, orders);
        let shown = shown.map_err(|none| refused(&none, &model))?;
        print(&match format {
            FormulaFormat::Latex => shown.to_latex(),
            FormulaFormat::Json => format!("{}\n", shown.to_json()),
            _ => shown.to_text(),
        })?;
        return Ok(Exit::Done);
    }
    if let Some(word) = &arguments.motion {
        let request = request(&arguments.times)?;
        let dependent = arguments.dependent.as_deref();
        return crate::view::motion(&model, word, dependent, &request, format);
    }
    let parts = match &arguments.part {
        Some(text) => geometry_parts(text).map_err(|f| failed(&f, &model.source))?,
        None if format == FormulaFormat::Json => PARTS.to_vec(),
        None => vec!["riemann"],
    };
    let request = GeometryRequest {
        dependent: arguments.dependent.clone(),
        state: arguments.state.clone(),
    };
    let report =
        geometry_with(&model, &request, &parts).map_err(|none| refused(&none, &model))?;
    print(&match format {
        FormulaFormat::Latex => report.to_latex(),
        FormulaFormat::Json => format!("{}\n", report.to_json()),
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
    let found = pfaff::curve(model, kind, arguments.dependent.as_deref(), &request)
        .map_err(|none| refused(&none, model))?;
    let text = match format {
        FormulaFormat::Json => format!("{}\n", found.to_json()),
        FormulaFormat::Csv => found.to_csv(),
        _ => found.to_text(),
    };
    ended(&found, &text)
}

/// What the options of a curve ask for.
pub(crate) fn request(times: &TimesArguments) -> Result<Request, Exit> {
    Ok(Request {
        t0: times.t0,
        t1: times.t1,
        tolerance: times.tolerance,
        at: times.at.as_deref().map(crate::run::times).transpose()?,
        samples: times.samples,
        ..Request::default()
    })
}

/// Prints a curve; one that stopped early is printed too.
pub(crate) fn ended(found: &Trace, text: &str) -> Result<Exit, Exit> {
    print(text)?;
    Ok(if found.is_whole() { Exit::Done } else { Exit::StoppedEarly })
}

/// Shows why there is no geometry.
pub(crate) fn refused(none: &NoGeometry, model: &Model) -> Exit {
    match none {
        NoGeometry::Rejected(r) => rejected(r),
        NoGeometry::Failure(f) => failed(f, &model.source),
    }
}
