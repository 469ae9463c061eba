//! `pfaff derive`

use clap::Args;
use pfaff::{Derivation, ExportForm, Language, at_state, export, read_state};
use pfaff_present::{
    Presentation, StandardForm, ToJson, ToLatex, ToText, is_long_in_velocities, present,
    present_fractional, present_fractional_hamilton, present_hamilton,
    present_hamilton_in_velocities, present_outline, present_reduced, present_reduced_shortly,
    present_short, present_standard,
};

use crate::arguments::{ModelArguments, dependent, principle};
use crate::output::{Exit, failed, print, say, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff derive sleigh                                   as text, in the words of the model language
  pfaff derive sleigh --format latex > equations.tex    one align* for each block
  pfaff derive sleigh --format latex --document         a document that compiles
  pfaff derive sleigh --format c > sleigh.c             the right-hand side as C; also rust and python
  pfaff derive sleigh --state \"phi=0.5, x'=1\" --json   M, A, accelerations, multipliers as numbers

Signs: M q'' = f + R with R = A^T lambda and A = dphi/dq', where phi = left side - right side of the constraint
as written.")]
pub(crate) struct DeriveArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// multipliers (the default), reduced (independent quasi-velocities, λ as an expression, Helmholtz's test),
    /// hamilton (momenta instead of velocities), routhian, gibbs_appell, kane, maggi, voronets, chaplygin or
    /// boltzmann_hamel; the default of source code is reduced where that applies
    #[arg(long)]
    pub(crate) form: Option<String>,
    /// text, latex, mathml, typst or json; or c, rust or python: the right-hand side as source code
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// With --format latex, mathml or typst: a whole document
    #[arg(long)]
    pub(crate) document: bool,
    /// The same as --format json
    #[arg(long, overrides_with = "format")]
    pub(crate) json: bool,
    /// Numbers at this state, such as "x=1, x'=2, t=0"; missing values are 0, and the state is not projected
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) state: Option<String>,
    /// Everything, also what is longer than a few pages
    #[arg(long)]
    pub(crate) full: bool,
    /// The dependent coordinates of --form hamilton, voronets or chaplygin, such as y,z; their velocities come
    /// from the constraints
    #[arg(long, value_name = "NAMES")]
    pub(crate) dependent: Option<String>,
}

/// Coordinates above which blocks are shown in outline, unless the form `multipliers` is named.
const LARGE: usize = 100;
/// Where to find what is left out.
const WHOLE: &str = "--full writes it, and --json";

pub(crate) fn derive(arguments: &DeriveArguments) -> Result<Exit, Exit> {
    let format =
        if arguments.json { "json" } else { arguments.format.as_deref().unwrap_or("text") };
    let language = match format {
        "text" | "latex" | "mathml" | "typst" | "json" => None,
        "c" => Some(Language::C),
        "rust" => Some(Language::Rust),
        "python" => Some(Language::Python),
        _ => {
            return Err(usage(&format!(
                "there is no format `{format}`: choose text, latex, mathml, typst, json, c, rust or python"
            )));
        }
    };
    let is_typeset = matches!(format, "latex" | "mathml" | "typst");
    if arguments.document && (!is_typeset || arguments.state.is_some()) {
        return Err(usage("--document is for --format latex, mathml or typst"));
    }
    let form = arguments.form.as_deref();
    match form {
        None | Some("multipliers" | "reduced") => {}
        Some(other) if other != "hamilton" && StandardForm::named(other).is_none() => {
            let words: Vec<&str> = StandardForm::ALL.iter().map(|(_, word)| *word).collect();
            return Err(usage(&format!(
                "there is no form `{other}`: choose multipliers, reduced, hamilton, {}",
                words.join(", ")
            )));
        }
        Some(_) if language.is_some() => {
            return Err(usage(
                "source code is available for the forms multipliers and reduced",
            ));
        }
        Some(_) => {}
    }
    let principle = arguments.principle.as_deref().map(principle).transpose()?;
    let model = crate::input::model(&arguments.model, None)?;
    if !model.noises.is_empty() {
        let places = model.noises.iter().map(|noise| noise.coordinate);
        let names = places.map(|k| format!("`{}`", model.coordinates[k].name));
        let names = names.collect::<Vec<_>>().join(", ");
        say(&format!("note: white noise acts on {names}; the equations are those without it"));
    }
    if let Some(language) = language {
        if arguments.state.is_some() {
            return Err(usage("--state gives numbers: use it with text or json"));
        }
        let form = match form {
            Some("reduced") => ExportForm::Reduced,
            Some(_) => ExportForm::Saddle,
            None => ExportForm::Best,
        };
        print(&export(&model, principle, form, language).map_err(failed)?)?;
        return Ok(Exit::Done);
    }
    let standard = form.and_then(StandardForm::named);
    if arguments.state.is_none() && form != Some("reduced") && standard.is_none() {
        let shown = match form {
            Some("hamilton") => {
                present_fractional_hamilton(&model, principle).map_err(failed)?
            }
            _ => present_fractional(&model, principle).map_err(failed)?,
        };
        if let Some(presentation) = shown {
            return typeset(presentation, format, arguments);
        }
    }
    let is_outlined = matches!(form, None | Some("reduced" | "hamilton"));
    if model.coordinates.len() > LARGE && arguments.state.is_none() && is_outlined {
        if let Some(form) = form {
            say(&format!(
                "note: the form `{form}` is written out for up to {LARGE} coordinates; the equations with multipliers \
                 are shown in outline"
            ));
        }
        let derivation = pfaff::derive_for_run(&model, principle).map_err(failed)?;
        return typeset(present_outline(&derivation), format, arguments);
    }
    let derivation = pfaff::derive(&model, principle).map_err(failed)?;
    if let Some(text) = &arguments.state {
        return numbers(&derivation, text, format);
    }
    let dependent = || dependent(&model, arguments.dependent.as_deref());
    let is_whole = arguments.full || format == "json";
    let presentation = match (standard, form) {
        (Some(standard), _) => {
            present_standard(&derivation, standard, dependent()?.as_deref()).map_err(failed)?
        }
        (None, Some("reduced")) => {
            let page = if is_whole {
                present_reduced(&derivation)
            } else {
                present_reduced_shortly(&derivation)
            };
            page.ok_or_else(|| {
                usage("an `equation` model has no multipliers to eliminate: leave --form out")
            })?
        }
        (None, Some("hamilton")) => {
            let in_momenta =
                || present_hamilton(&derivation, dependent()?.as_deref()).map_err(failed);
            let in_velocities = || present_hamilton_in_velocities(&derivation);
            if is_whole {
                in_momenta()?
            } else if is_long_in_velocities(&derivation) {
                // NOTE: what is long in velocities is longer in momenta, and takes much longer.
                in_velocities().map_or_else(in_momenta, Ok)?
            } else {
                let page = in_momenta()?;
                let other = if page.fits_two_pages() { None } else { in_velocities() };
                other.unwrap_or(page)
            }
        }
        (None, None) if format != "json" => {
            present_short(&derivation).unwrap_or_else(|| present(&derivation))
        }
        _ => present(&derivation),
    };
    typeset(presentation, format, arguments)
}

/// Prints equations in the format asked for.
fn typeset(
    presentation: Presentation,
    format: &str,
    arguments: &DeriveArguments,
) -> Result<Exit, Exit> {
    let is_whole = arguments.full || format == "json";
    let presentation = if is_whole { presentation } else { presentation.on_few_pages(WHOLE) };
    let document = arguments.document;
    print(&match format {
        "latex" if document => presentation.to_latex_document(),
        "latex" => presentation.to_latex(),
        "mathml" if document => presentation.to_mathml_document(),
        "mathml" => presentation.to_mathml(),
        "typst" if document => presentation.to_typst_document(),
        "typst" => presentation.to_typst(),
        "json" => presentation.to_json_line(),
        _ => presentation.to_text(),
    })?;
    Ok(Exit::Done)
}

/// The numbers at one state.
fn numbers(derivation: &Derivation, text: &str, format: &str) -> Result<Exit, Exit> {
    let model = &derivation.model;
    let state = read_state(model, text).map_err(failed)?;
    let report = at_state(derivation, &state).map_err(failed)?;
    match format {
        "json" => print(&report.to_json_line())?,
        "text" => print(&report.to_text())?,
        _ => return Err(usage("--state gives numbers: use it with text or json")),
    }
    Ok(Exit::Done)
}
