//! `pfaff fit`

use std::path::Path;

use clap::Args;
use pfaff::{
    FitRequest, FitRun, Loss, Measurements, fit_runs, named_bounds, named_priors, named_values,
    separated,
};
use pfaff_present::{Look, ToJson, ToText, residual_figure};

use crate::arguments::{MotionArguments, PlainFormat};
use crate::output::{Exit, failed, print, usage};
use crate::whole_file::Place;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff fit sleigh --data measured.csv --params \"m, J\"
  pfaff fit mine.pfaff --data m.csv --params \"k, x'(0)\" --bounds \"k=0..10\" --sigma \"x=0.01\" --json
  pfaff fit mine.pfaff --data m.csv --params k --loss cauchy       with outliers
  pfaff fit mine.pfaff --data a.csv --data b.csv --runs \"x'(0)=1; x'(0)=2\" --params \"k, m\" --prior \"m=1±0.1\"

The data are comma-separated values with a line of names: `t`, coordinates `x`, velocities `x'` and observed quantities.
Empty cells are missing values. A column `sigma(x)` has the standard deviation of each value of x; without it and
without --sigma, the standard deviation of each column is estimated from its residuals.

Exit status: 0 done, 1 the model is wrong, 2 wrong usage or data, 3 the iteration did not converge.")]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    /// The measured data; given several times, for several runs with the same parameters
    #[arg(long, value_name = "FILE.csv", required = true)]
    pub(crate) data: Vec<String>,
    /// What each run has values of its own of, in the order of --data and separated by semicolons, such as
    /// "x'(0)=1; x'(0)=2, a=0.3"
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true)]
    pub(crate) runs: Option<String>,
    /// Parameters and initial values to find, such as "m, J, x'(0)"; the search begins at their values in the model
    #[arg(long, value_name = "NAMES")]
    pub(crate) params: String,
    /// Bounds, such as "m=0..10, J=0.1..2"
    #[arg(long, value_name = "RANGES", allow_hyphen_values = true)]
    pub(crate) bounds: Option<String>,
    /// The columns to fit, such as "x, phi'"; all that belong to the model if not given
    #[arg(long, value_name = "NAMES")]
    pub(crate) columns: Option<String>,
    /// Standard deviations of columns, such as "x=0.01, phi=0.002"
    #[arg(long, value_name = "ASSIGNMENTS")]
    pub(crate) sigma: Option<String>,
    /// What is known before, as means with standard deviations, such as "m=1±0.1, J=0.5+-0.05"
    #[arg(long, value_name = "PRIORS", allow_hyphen_values = true)]
    pub(crate) prior: Option<String>,
    /// Also finds intervals by the profile of the likelihood, which takes many more motions
    #[arg(long)]
    pub(crate) profile: bool,
    /// Draws the residuals over time
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<String>,
    /// squares, huber or cauchy; the last two resist outliers
    #[arg(long, value_name = "LOSS", default_value = "squares")]
    pub(crate) loss: String,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

pub(crate) fn fit(arguments: &FitArguments) -> Result<Exit, Exit> {
    let run = crate::command::run::request(&arguments.motion)?;
    if run.at.is_some() || run.samples.is_some() || run.t1.is_some() {
        return Err(usage("--at, --samples and --t1 follow from the data"));
    }
    let model =
        crate::input::model(&arguments.motion.model, arguments.motion.initial.as_deref())?;
    let runs = read_runs(arguments)?;
    let words: Vec<&str> = Loss::ALL.iter().map(|(_, word)| *word).collect();
    let loss = Loss::from_name(&arguments.loss).ok_or_else(|| {
        usage(&format!("there is no loss `{}`: choose {}", arguments.loss, words.join(", ")))
    })?;
    let sigmas = arguments.sigma.as_deref().map(named_values);
    let request = FitRequest {
        parameters: separated(&arguments.params),
        bounds: arguments
            .bounds
            .as_deref()
            .map(named_bounds)
            .transpose()
            .map_err(failed)?
            .unwrap_or_default(),
        columns: arguments.columns.as_deref().map(separated).unwrap_or_default(),
        sigmas: sigmas.transpose().map_err(failed)?.unwrap_or_default(),
        loss,
        priors: arguments
            .prior
            .as_deref()
            .map(named_priors)
            .transpose()
            .map_err(failed)?
            .unwrap_or_default(),
        profile: arguments.profile,
        run,
    };
    let found = fit_runs(&model, &runs, &request).map_err(failed)?;
    if let Some(file) = &arguments.plot {
        if Path::new(file).extension().is_none_or(|ending| ending != "svg") {
            return Err(usage(&format!("`{file}` must end in .svg")));
        }
        let place = Place::new(file, &[])?;
        let figure = residual_figure(&found).to_svg(Look::default());
        let written = place.write(figure.as_bytes());
        written.map_err(|error| usage(&format!("`{file}` cannot be written: {error}")))?;
    }
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    print(&if json { found.to_json_line() } else { found.to_text() })?;
    Ok(if found.is_converged { Exit::Done } else { Exit::StoppedEarly })
}

/// The data of all runs, with their own values.
fn read_runs(arguments: &FitArguments) -> Result<Vec<FitRun>, Exit> {
    let given =
        arguments.runs.as_deref().map_or_else(Vec::new, |text| text.split(';').collect());
    if !given.is_empty() && given.len() != arguments.data.len() {
        return Err(usage(&format!(
            "--runs has values for {} runs, but --data was given {} times; leave a run empty that has none of its own, \
             as in \"x'=1;\"",
            given.len(),
            arguments.data.len()
        )));
    }
    let mut runs = Vec::new();
    for (k, file) in arguments.data.iter().enumerate() {
        let text = crate::input::data(Path::new(file))
            .map_err(|error| usage(&format!("`{file}` cannot be read: {error}")))?;
        let data = Measurements::read(file, &text).map_err(failed)?;
        let values = match given.get(k).map(|text| text.trim()).filter(|text| !text.is_empty())
        {
            Some(text) => named_values(text).map_err(failed)?,
            None => Vec::new(),
        };
        runs.push(FitRun { data, values });
    }
    Ok(runs)
}
