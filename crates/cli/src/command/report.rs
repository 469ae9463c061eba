//! `pfaff report`

use clap::Args;
use pfaff::{Derivation, Overrides, compare as compare_principles, derive, run_watched};
use pfaff_present::hurried;
use pfaff_present::report::{LARGE, Report, Shown, page};

use crate::arguments::MotionArguments;
use crate::clock::seconds;
use crate::command::run::{observed, request};
use crate::guard::{self, Phase};
use crate::input::Reading;
use crate::output::{Exit, failed, print, say, usage};
use crate::reproduction;
use crate::whole_file::Place;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff report sleigh -o sleigh.html
  pfaff report mine.pfaff --set \"a=0.3\" --samples 2001
  pfaff report contact_vakonomic --principles chetaev,vakonomic

The page is one file that needs no network: animation, equations, plots, audit, and how to get the same
numbers again.")]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    /// Principles side by side, such as chetaev,vakonomic
    #[arg(long, value_name = "LIST", conflicts_with = "principle")]
    pub(crate) principles: Option<String>,
    /// The page; MODEL.html in the current folder if not given, `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<String>,
}

pub(crate) fn report(arguments: &ReportArguments) -> Result<Exit, Exit> {
    let motion_arguments = &arguments.motion;
    let request = request(motion_arguments)?;
    let principles =
        arguments.principles.as_deref().map(crate::command::compare::words).transpose()?;
    let name = motion_arguments.model.model.as_str();
    let output = arguments.output.clone().unwrap_or_else(|| page_name(name));
    let initial = motion_arguments.initial.as_deref();
    let Reading { model, read_us, inputs } =
        crate::input::reading(&motion_arguments.model, initial)?;
    let place = if output == "-" { None } else { Some(Place::new(&output, &inputs)?) };
    let overrides = Overrides {
        set: motion_arguments.model.set.clone(),
        initial: motion_arguments.initial.clone(),
    };
    let written = |derivations: &[Derivation], shown: Shown<'_>| {
        let (model, request) = (&model, &request);
        let compared = match shown {
            Shown::Motion(_) => None,
            Shown::Comparison(comparison) => Some(comparison.motions.as_slice()),
        };
        let command = &reproduction::command(name, request, &overrides, compared);
        let report = Report { model, request, name, command, derivations, shown };
        let page = hurried(|| !guard::is_late(), || page(&report));
        write(&output, place.as_ref(), &page)
    };
    let early = if let Some(list) = principles {
        let comparison = compare_principles(&model, &request, Some(&list)).map_err(failed)?;
        guard::enter(Phase::Answer);
        crate::command::compare::notes(&comparison);
        written(&comparison.derivations, Shown::Comparison(&comparison))?;
        comparison.motions.iter().any(|m| m.stop.reason.is_early())
    } else {
        let begun = seconds();
        // The equations of a large model fill no page, and its runs take a shorter form of them.
        let is_large = model.coordinates.len() > LARGE;
        let derivation = if is_large { None } else { derive(&model, request.principle).ok() };
        let derive_us = (seconds() - begun) * 1e6;
        let mut motion = observed(None, |watch| match &derivation {
            Some(derivation) => derivation.run_watched(request.clone(), watch),
            None => run_watched(&model, &request, watch),
        })?;
        motion.statistics.derive_us += read_us + derive_us;
        crate::output::notes(&motion);
        written(derivation.as_slice(), Shown::Motion(&motion))?;
        say(&format!("audit: {}", motion.audit.verdict.name()));
        motion.stop.reason.is_early()
    };
    Ok(if early { Exit::StoppedEarly } else { Exit::Done })
}

/// `sleigh.html` for `models/sleigh.pfaff`.
fn page_name(model: &str) -> String {
    let stem = std::path::Path::new(model).file_stem().and_then(|s| s.to_str());
    match stem {
        Some("-") | None => "report.html".into(),
        Some(stem) => format!("{stem}.html"),
    }
}

/// Writes a page, or prints it where it has no place.
fn write(name: &str, place: Option<&Place>, text: &str) -> Result<(), Exit> {
    let Some(place) = place else { return print(text) };
    place
        .write(text.as_bytes())
        .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    say(&format!("{name}: {:.0} kB", text.len() as f64 / 1e3));
    Ok(())
}
