//! `pfaff compare`

use std::io;
use std::path::PathBuf;

use clap::Args;
use pfaff::{Comparison, Run, compare as compare_principles};
use pfaff_present::{ToJson, ToText, comparison_table, hurried, sentence};

use crate::arguments::{ModelArguments, TableFormat};
use crate::guard::{self, Phase};
use crate::input::Reading;
use crate::output::{Exit, failed, print_all, say, usage};
use crate::whole_file::Place;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff compare contact_vakonomic                      all principles that the model allows
  pfaff compare mine.pfaff --principles chetaev,vakonomic --initial \"mu(c)=0.2\"
  pfaff compare mine.pfaff --format csv > both.csv     positions at common times, and distances

The vakonomic principle needs initial values of its multipliers: mu(c) = …, or multipliers = zero, or
multipliers = transversal(z).")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Principles to compare, such as chetaev,vakonomic; all that the model allows if not given
    #[arg(long, value_name = "LIST")]
    pub(crate) principles: Option<String>,
    /// Initial values instead of the model's own, such as "x'=1, mu(c)=0.2"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Start of the runs
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t0: Option<f64>,
    /// End of the runs
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t1: Option<f64>,
    /// Largest local error per step, E·(1+|y|) in every component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Common times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// Number of common times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Also writes the comparison to a file: .csv or .json
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
}

pub(crate) fn compare(arguments: &CompareArguments) -> Result<Exit, Exit> {
    let principles = arguments.principles.as_deref().map(words).transpose()?;
    let request = Run {
        t0: arguments.t0,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        at: arguments.at.as_deref().map(crate::arguments::times).transpose()?,
        samples: arguments.samples,
        ..crate::backend::base_run()?
    };
    let Reading { model, inputs, .. } =
        crate::input::reading(&arguments.model, arguments.initial.as_deref())?;
    let file = arguments.output.as_deref().map(|name| output(name, &inputs)).transpose()?;
    let comparison =
        compare_principles(&model, &request, principles.as_deref()).map_err(failed)?;
    guard::enter(Phase::Answer);
    notes(&comparison);
    let format = if arguments.json {
        TableFormat::Json
    } else {
        arguments.format.unwrap_or(TableFormat::Text)
    };
    print_all(|out| render(&comparison, format, out))?;
    if let Some((name, format, place)) = file {
        place
            .write_with(|out| render(&comparison, format, out))
            .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    }
    // What judges the motions may have been left out, and equations too.
    let is_ended = comparison.motions.iter().any(|m| m.stop.reason.is_early());
    let early = is_ended || guard::was_asked_to_end();
    Ok(if early { Exit::StoppedEarly } else { Exit::Done })
}

/// The file of a comparison, with its format.
fn output<'a>(
    name: &'a str,
    inputs: &[PathBuf],
) -> Result<(&'a str, TableFormat, Place), Exit> {
    let format = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("csv") => TableFormat::Csv,
        Some("json") => TableFormat::Json,
        _ => return Err(usage(&format!("`{name}`: the output must end in .csv or .json"))),
    };
    Ok((name, format, Place::new(name, inputs)?))
}

/// What all motions say once, the rest with the name of the principle.
pub(crate) fn notes(comparison: &Comparison) {
    for (i, motion) in comparison.motions.iter().enumerate() {
        for note in &motion.notes {
            let everywhere = comparison.motions.iter().all(|m| m.notes.contains(note));
            let name = motion.principle.map_or("", |p| p.name());
            match (everywhere, i) {
                (true, 0) => say(&format!("note: {}", sentence(note, motion))),
                (true, _) => {}
                (false, _) => say(&format!("note: {name}: {}", sentence(note, motion))),
            }
        }
    }
}

fn render(
    comparison: &Comparison,
    format: TableFormat,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    hurried(
        || !guard::is_late(),
        || match format {
            TableFormat::Text => out.write_all(comparison.to_text().as_bytes()),
            TableFormat::Json => comparison.write_json_line(out),
            TableFormat::Csv => comparison_table(comparison).write_csv(0, out),
        },
    )
}

/// The principles of `--principles`, each once.
pub(crate) fn words(text: &str) -> Result<Vec<pfaff::Principle>, Exit> {
    let mut list = Vec::new();
    for word in text.split(',') {
        let principle = crate::arguments::principle(word.trim())?;
        if list.contains(&principle) {
            return Err(usage(&format!("`{}` occurs twice in --principles", word.trim())));
        }
        list.push(principle);
    }
    Ok(list)
}
