//! Options that several commands share, and the words of their values.

use clap::{Args, ValueEnum};
use pfaff::{Model, Principle, named_coordinates};
use pfaff_present::{ToJson, ToText};

use crate::output::{Exit, failed, usage};

/// The model and what is changed in it.
#[derive(Args, Debug)]
pub(crate) struct ModelArguments {
    /// A path, `-` for standard input, or the name of a gallery model
    pub(crate) model: String,
    /// Parameters instead of the model's own, such as "a=0.3, m=2"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) set: Option<String>,
}

/// A model and how it is to move.
#[derive(Args, Debug)]
pub(crate) struct MotionArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own, such as "x'=1"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Start of the run
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t0: Option<f64>,
    /// End of the run
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t1: Option<f64>,
    /// Largest local error per step, in parts of the size of each component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// auto, dop853, taylor, radau, rosenbrock or rk4; dalembert, gauss or energy for long times
    #[arg(long, value_name = "M")]
    pub(crate) method: Option<String>,
    /// double, or double_double: some thirty digits, by Taylor series
    #[arg(long, value_name = "P")]
    pub(crate) precision: Option<String>,
    /// The step of rk4, or the first step of the others
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub(crate) step: Option<f64>,
    /// Output times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// Number of output times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Largest number of steps
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<usize>,
    /// Another seed gives other random draws and other noise; 0 if not given
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
}

/// How an answer is printed.
#[derive(Args, Debug)]
pub(crate) struct PlainOutput {
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    format: Option<PlainFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

impl PlainOutput {
    /// The answer as it is wanted.
    pub(crate) fn of(&self, found: &(impl ToJson + ToText)) -> String {
        let is_json = self.json || self.format == Some(PlainFormat::Json);
        if is_json { found.to_json_line() } else { found.to_text() }
    }
}

/// How a motion between given ends (`final`) is looked for.
#[derive(Args, Debug)]
pub(crate) struct SearchArguments {
    /// With `final`: starts the search at these velocities and multipliers, such as "x'=1, mu(c)=2"
    #[arg(
        long,
        value_name = "ASSIGNMENTS",
        allow_hyphen_values = true,
        conflicts_with_all = ["from", "lead"]
    )]
    pub(crate) guess: Option<String>,
    /// With `final`: starts the search at a motion, a table that --output wrote
    #[arg(long, value_name = "FILE.csv", conflicts_with = "lead")]
    pub(crate) from: Option<String>,
    /// With `final`: starts at other parameters, such as "Y=0.1", and continues their motions to the model's own
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) lead: Option<String>,
}

/// When a curve begins and ends, and where it is looked at.
#[derive(Args, Debug)]
pub(crate) struct TimesArguments {
    /// Initial values instead of the model's own, such as "x'=1"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Start of the curve
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub(crate) t0: Option<f64>,
    /// End of the curve
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = number)]
    pub(crate) t1: Option<f64>,
    /// Largest local error per step, in parts of the size of each component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Output times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// Number of output times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
}

/// A number, written as one or as a constant expression such as 2*pi.
fn number(text: &str) -> Result<f64, String> {
    match pfaff::evaluate(text, "", pfaff::Range::default()) {
        Ok(pfaff::Value::Number(x)) => Ok(x),
        _ => Err("a number, or a constant expression such as 2*pi, is needed".into()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    Text,
    Json,
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormulaFormat {
    Text,
    Latex,
    Json,
    Csv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlainFormat {
    Text,
    Json,
}

/// A principle by its word.
pub(crate) fn principle(word: &str) -> Result<Principle, Exit> {
    let known = Principle::ALL.iter().find(|(_, name)| *name == word);
    known.map(|(principle, _)| *principle).ok_or_else(|| {
        usage(&format!(
            "there is no principle `{word}`: choose chetaev, vakonomic or restricted"
        ))
    })
}

/// The numbers of `--at`.
pub(crate) fn times(text: &str) -> Result<Vec<f64>, Exit> {
    text.split(',')
        .map(|word| {
            let time = word.trim().parse::<f64>().ok().filter(|t| t.is_finite());
            time.ok_or_else(|| {
                usage(&format!("`{}` is not a time; write times as 1,2,5", word.trim()))
            })
        })
        .collect()
}

/// The coordinates that `--dependent` names.
pub(crate) fn dependent(
    model: &Model,
    names: Option<&str>,
) -> Result<Option<Vec<usize>>, Exit> {
    names.map(|text| named_coordinates(model, text)).transpose().map_err(failed)
}
