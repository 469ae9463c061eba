//! `pfaff report`

use clap::Args;
use pfaff::report::{Report, Shown, page};
use pfaff::{Overrides, compare as compare_principles};

use crate::arguments::MotionArguments;
use crate::command::run::{request, watched};
use crate::input::Reading;
use crate::interrupt;
use crate::output::{Exit, failed, print, say, usage};

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
    interrupt::listen();
    let initial = motion_arguments.initial.as_deref();
    let Reading { model, read_us } = crate::input::reading(&motion_arguments.model, initial)?;
    let overrides = Overrides {
        set: motion_arguments.model.set.clone(),
        initial: motion_arguments.initial.clone(),
    };
    let written = |shown: Shown<'_>| {
        let report =
            Report { model: &model, request: &request, name, overrides: &overrides, shown };
        write(&output, &page(&report))
    };
    let early = if let Some(list) = principles {
        let comparison = compare_principles(&model, &request, Some(&list)).map_err(failed)?;
        crate::command::compare::notes(&comparison);
        written(Shown::Comparison(&comparison))?;
        comparison.motions.iter().any(|m| m.stop.reason.is_early())
    } else {
        let mut motion = watched(&model, &request, None)?;
        motion.statistics.derive_us += read_us;
        for note in &motion.notes {
            say(&format!("note: {note}"));
        }
        written(Shown::Motion(&motion))?;
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

/// Writes a page, or prints it for `-`.
pub(crate) fn write(name: &str, text: &str) -> Result<(), Exit> {
    if name == "-" {
        return print(text);
    }
    std::fs::write(name, text)
        .map_err(|error| usage(&format!("`{name}` could not be written: {error}")))?;
    say(&format!("{name}: {:.0} kB", text.len() as f64 / 1e3));
    Ok(())
}
