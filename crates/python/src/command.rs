//! What the commands of the command line answer, by their names and options.

use std::fs::File;
use std::io;

use pfaff::{
    ContinueRequest, CurveKind, EquilibriaRequest, FitRequest, FitRun, GaitRequest,
    GeometryRequest, LinearizeRequest, Loss, LyapunovRequest, MeasureRequest, MeasuredMotions,
    Measurements, Model, Motion, OrbitMethod, OrbitRequest, PARTS, Path, Point, Principle, Run,
    SearchRange, SectionRequest, VariationRequest, View, explanation, fit_runs,
    fractional_geometry, geometry_parts, geometry_with, named_bounds, named_priors,
    named_values, separated, view_motion,
};
use pfaff_present::report::{LARGE, Report, Shown, page as page_of};
use pfaff_present::{
    Block, Heading, Look, RootLocus, TableReader, ToJson, ToLatex, ToText, Value, json_text,
    present_fractional_forms, residual_figure, view_json, view_text,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::fault::{Fault, released};
use crate::interrupt::Watch;
use crate::options::{Options, principle, range};
use crate::source::ModelRead;

/// JSON, text, and LaTeX or a picture where there is one.
pub(crate) type Answer = (String, String, Option<String>);

/// Values of a parameter that a root locus has by itself.
const VALUES: usize = 51;

/// Whether a command looks for Ctrl-C itself, and answers with what it has by then.
pub(crate) fn listens(name: &str) -> bool {
    const LISTENING: [&str; 7] =
        ["linearize", "equilibria", "section", "lyapunov", "orbit", "continue", "gait"];
    LISTENING.contains(&name)
}

/// What a command answers.
pub(crate) fn run(
    native: &ModelRead,
    name: &str,
    options: &Options,
    watch: &mut Watch,
) -> Result<Answer, Fault> {
    let model = &native.model;
    let ear = &mut || watch.goes_on(|| (0.0, 0.0));
    match name {
        "check" => check(model, options),
        "compare" => compare(model, options),
        "variations" => {
            let request = VariationRequest {
                vary: options.text("vary").unwrap_or_default(),
                motion: options.text("motion"),
                run: options.run(None)?,
            };
            Ok(both(&pfaff::variations(model, &request)?))
        }
        "geometry" => geometry(model, options),
        "lift" => {
            let path = match options.text("path_table") {
                Some(table) => Path::Table("path".into(), table),
                None => Path::Formulas(options.text("path").unwrap_or_default()),
            };
            let dependent = options.dependent(model)?;
            Ok(both(&pfaff::lift(model, &path, dependent.as_deref(), &options.run(None)?)?))
        }
        "linearize" => linearize(native, options, watch),
        "equilibria" => {
            let request = EquilibriaRequest {
                principle: options.principle()?,
                search: ranges(options)?,
                backend: options.backend()?,
            };
            Ok(both(&pfaff::equilibria(model, &request, ear)?))
        }
        "section" => {
            let request = SectionRequest {
                on: options.text("on").unwrap_or_default(),
                count: options.whole("count").unwrap_or(100),
                principle: options.principle()?,
                t1: options.number("t1"),
                tolerance: options.number("tolerance"),
                backend: options.backend()?,
            };
            let found = pfaff::section(model, &request, ear)?;
            let mut object = found.to_json();
            object["stop"] = match &found.stop {
                Some((reason, t)) => json!({ "reason": reason.name(), "t": t }),
                None => Value::Null,
            };
            Ok((json_text(&object), found.to_text(), None))
        }
        "lyapunov" => {
            let request = LyapunovRequest {
                principle: options.principle()?,
                t1: options.number("t1"),
                tolerance: options.number("tolerance"),
                backend: options.backend()?,
            };
            Ok(both(&pfaff::lyapunov(model, &request, ear)?))
        }
        "orbit" => Ok(both(&pfaff::orbit(model, &orbit(options)?, ear)?)),
        "continue" => {
            let (name, from, to, _) = range(&options.text("vary").unwrap_or_default())?;
            let begun = native.with_parameter(&name, from)?;
            let request = ContinueRequest {
                parameter: name,
                from,
                to,
                switch: options.is_set("switch"),
                fix: options.text("fix"),
                search: ranges(options)?,
                principle: options.principle()?,
                backend: options.backend()?,
            };
            let found = match options.text("of").as_deref() {
                None | Some("equilibria") => pfaff::continue_equilibria(&begun, &request, ear)?,
                Some("orbits") => {
                    pfaff::continue_orbits(&begun, &request, &orbit(options)?, ear)?
                }
                Some(other) => {
                    return Err(Fault::usage(format!(
                        "`{other}` cannot be continued: choose equilibria or orbits"
                    )));
                }
            };
            Ok(both(&found))
        }
        "gait" => {
            let request = GaitRequest {
                shape: options.texts("shape").unwrap_or_default(),
                path: options.text("loop"),
                within: options.number("within"),
            };
            Ok(both(&pfaff::gait(model, &request, ear)?))
        }
        "measure" => {
            let request =
                MeasureRequest { principle: options.principle()?, backend: options.backend()? };
            Ok(both(&pfaff::measure(model, &request)?))
        }
        "fit" => fit(model, options),
        other => Err(Fault::usage(format!("there is no command `{other}`"))),
    }
}

fn both(found: &(impl ToJson + ToText)) -> Answer {
    (json_text(&found.to_json()), found.to_text(), None)
}

fn orbit(options: &Options) -> Result<OrbitRequest, Fault> {
    Ok(OrbitRequest {
        on: options.text("on"),
        period: options.text("period"),
        principle: options.principle()?,
        tolerance: options.number("tolerance"),
        method: orbit_method(options.text("method").as_deref())?,
        backend: options.backend()?,
    })
}

fn orbit_method(word: Option<&str>) -> Result<OrbitMethod, Fault> {
    match word {
        None | Some("both") => Ok(OrbitMethod::Both),
        Some("shooting") => Ok(OrbitMethod::Shooting),
        Some("collocation") => Ok(OrbitMethod::Collocation),
        Some(other) => {
            Err(Fault::usage(format!("`{other}` is not both, shooting or collocation")))
        }
    }
}

fn check(model: &Model, options: &Options) -> Result<Answer, Fault> {
    let report = pfaff::check(model);
    let mut object = report.to_json();
    let mut text = report.to_text();
    if let Some(kt) = options.number("temperature") {
        let tested = pfaff::thermal(&pfaff::derive(model, None)?, kt)?;
        object["temperature"] = tested.to_json();
        text += &tested.to_text();
    }
    Ok((json_text(&object), text, None))
}

fn compare(model: &Model, options: &Options) -> Result<Answer, Fault> {
    let principles = options
        .texts("principles")
        .map(|words| words.iter().map(|word| principle(word)).collect::<Result<Vec<_>, _>>())
        .transpose()?;
    let found = pfaff::compare(model, &options.run(None)?, principles.as_deref())?;
    Ok(both(&found))
}

fn geometry(model: &Model, options: &Options) -> Result<Answer, Fault> {
    let dependent = options.dependent(model)?;
    if let Some(word) = options.text("curve") {
        let kind = match word.as_str() {
            "geodesic" => CurveKind::Geodesic,
            "autoparallel" => CurveKind::Autoparallel,
            other => {
                return Err(Fault::usage(format!(
                    "there is no curve `{other}`: choose geodesic or autoparallel"
                )));
            }
        };
        let run = options.run(None)?;
        return Ok(both(&pfaff::curve(model, kind, dependent.as_deref(), &run)?));
    }
    if let Some(orders) = options.text("fractional") {
        let shown = present_fractional_forms(&fractional_geometry(model, &orders)?);
        return Ok((json_text(&shown.to_json()), shown.to_text(), Some(shown.to_latex())));
    }
    if let Some(word) = options.text("motion") {
        let all: Vec<(View, &str)> =
            Principle::ALL.iter().flat_map(|(p, _)| View::of(*p)).copied().collect();
        let Some((view, word)) = all.iter().find(|(_, name)| *name == word) else {
            let names: Vec<&str> = all.iter().map(|v| v.1).collect();
            return Err(Fault::usage(format!(
                "there is no form `{word}` of the motion: choose {}",
                names.join(", ")
            )));
        };
        let found = view_motion(model, *view, dependent.as_deref(), &options.run(None)?)?;
        let object = view_json(&found, model, word);
        return Ok((json_text(&object), view_text(&found, model, word), None));
    }
    let parts = match options.text("part") {
        Some(text) => geometry_parts(&text)?,
        None => PARTS.to_vec(),
    };
    let state = options.text("state").map(|text| Point::parse(model, &text)).transpose()?;
    let has_state = state.is_some();
    let report = geometry_with(model, &GeometryRequest { dependent, state }, &parts)?;
    let latex = if has_state { None } else { Some(report.to_latex()) };
    Ok((json_text(&report.to_json()), report.to_text(), latex))
}

/// The box of a search: one range for each text.
fn ranges(options: &Options) -> Result<Vec<SearchRange>, Fault> {
    let texts = options.texts("search").unwrap_or_default();
    let one =
        |text: &String| range(text).map(|(name, from, to, _)| SearchRange { name, from, to });
    Ok(texts.iter().map(one).collect::<Result<_, _>>()?)
}

fn linearize(
    native: &ModelRead,
    options: &Options,
    watch: &mut Watch,
) -> Result<Answer, Fault> {
    let request = LinearizeRequest {
        principle: options.principle()?,
        at: options.text("at"),
        backend: options.backend()?,
    };
    let Some(vary) = options.text("vary") else {
        let found = pfaff::linearize(&native.model, &request)?;
        return Ok((json_text(&found.to_json()), found.to_text(), Some(found.to_latex())));
    };
    let (name, from, to, count) = range(&vary)?;
    let last = count.unwrap_or(VALUES) - 1;
    let mut points = Vec::new();
    for i in 0..=last {
        let value = if i == last { to } else { from + (to - from) * (i as f64 / last as f64) };
        let model = native.with_parameter(&name, value)?;
        points.push((value, pfaff::linearize(&model, &request)?));
        if !watch.goes_on_now(|| (i as f64 / last as f64, value)) {
            break;
        }
    }
    Ok(both(&RootLocus { parameter: name, points }))
}

fn fit(model: &Model, options: &Options) -> Result<Answer, Fault> {
    let data = options.texts("data").unwrap_or_default();
    let names = options.texts("data_names").unwrap_or_default();
    let values = options.texts("runs").unwrap_or_default();
    if values.len() > data.len() {
        return Err(Fault::usage(format!(
            "`runs` has values for {} runs, but there are data of {}",
            values.len(),
            data.len()
        )));
    }
    let mut runs = Vec::new();
    for (k, text) in data.iter().enumerate() {
        let name = names.get(k).map_or("data", String::as_str);
        let own = values.get(k).filter(|text| !text.trim().is_empty());
        runs.push(FitRun {
            data: Measurements::read(name, text)?,
            values: own.map(|text| named_values(text)).transpose()?.unwrap_or_default(),
        });
    }
    let word = options.text("loss").unwrap_or_else(|| "squares".into());
    let loss = Loss::from_name(&word).ok_or_else(|| {
        Fault::usage(format!("there is no loss `{word}`: choose squares, huber or cauchy"))
    })?;
    let bounds = options.text("bounds").map(|text| named_bounds(&text)).transpose()?;
    let sigmas = options.text("sigma").map(|text| named_values(&text)).transpose()?;
    let priors = options.text("prior").map(|text| named_priors(&text)).transpose()?;
    let mut run = options.run(None)?;
    run.outputs_only = true;
    let request = FitRequest {
        parameters: options.texts("params").unwrap_or_default(),
        bounds: bounds.unwrap_or_default(),
        columns: options.text("columns").map(|t| separated(&t)).unwrap_or_default(),
        sigmas: sigmas.unwrap_or_default(),
        loss,
        priors: priors.unwrap_or_default(),
        profile: options.is_set("profile"),
        run,
    };
    let found = fit_runs(model, &runs, &request)?;
    let picture = residual_figure(&found).to_svg(Look::default());
    Ok((json_text(&found.to_json()), found.to_text(), Some(picture)))
}

/// A page about a motion.
pub(crate) fn page(
    native: &ModelRead,
    request: &Run,
    name: &str,
    shell: &str,
    motion: &Motion,
) -> String {
    let model = &native.model;
    let is_large = model.coordinates.len() > LARGE;
    let derivation = if is_large { None } else { pfaff::derive(model, motion.principle).ok() };
    let derivations = derivation.as_slice();
    let shown = Shown::Motion(motion);
    page_of(&Report { model, request, name, command: shell, derivations, shown })
}

/// The value of an expression of the model language.
#[pyfunction]
#[pyo3(signature = (expression, with_="", from_=None, to=None))]
pub(crate) fn evaluate(
    py: Python<'_>,
    expression: &str,
    with_: &str,
    from_: Option<f64>,
    to: Option<f64>,
) -> PyResult<String> {
    released(py, || {
        let found = pfaff::evaluate(expression, with_, pfaff::Range { from: from_, to })?;
        Ok(json_text(&entry(&found)))
    })
}

fn entry(value: &pfaff::Value) -> Value {
    match value {
        pfaff::Value::Number(x) => json!(x),
        pfaff::Value::List(items) => items.iter().map(entry).collect(),
    }
}

/// Constraints from measured motions: tables as CSV texts.
#[pyfunction]
pub(crate) fn discover(
    py: Python<'_>,
    tables: Vec<String>,
    coordinates: Vec<String>,
) -> PyResult<(String, String)> {
    released(py, || {
        let names: Vec<&str> = coordinates.iter().map(String::as_str).collect();
        let mut motions = Vec::new();
        for table in &tables {
            motions.push(MeasuredMotions::read("data", table, &names)?);
        }
        let found = pfaff::discover(&motions)?;
        Ok((json_text(&found.to_json()), found.to_text()))
    })
}

/// How two tables in files differ.
#[pyfunction]
pub(crate) fn difference(
    py: Python<'_>,
    first: &str,
    second: &str,
) -> PyResult<(String, String)> {
    released(py, || {
        let found = pfaff_present::difference(&whole_table(first)?, &whole_table(second)?);
        Ok((json_text(&found.to_json()), found.to_text()))
    })
}

/// All rows of a table in a file.
fn whole_table(name: &str) -> Result<(Vec<Heading>, Block), Fault> {
    let read = || {
        // NOTE: a pipe or a device would never end.
        if !std::fs::metadata(name)?.is_file() {
            return Err(io::Error::other("it is no file"));
        }
        let file = File::open(name)?;
        let reader = match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("parquet") => TableReader::parquet(file)?,
            Some("arrow") => TableReader::arrow(file)?,
            _ => TableReader::csv(file)?,
        };
        reader.whole()
    };
    read().map_err(|error| Fault::usage(format!("`{name}` cannot be read: {error}")))
}

/// What a code of a diagnostic means.
#[pyfunction]
pub(crate) fn explain(code: &str) -> Option<&'static str> {
    explanation(code).map(|explanation| explanation.page)
}
