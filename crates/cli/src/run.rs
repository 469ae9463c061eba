//! `pfaff run`

use std::io::IsTerminal;

use pfaff::{Model, Motion, Progress, Reading, Request, Verdict};

use crate::arguments::{MotionArguments, PlainFormat, RunArguments};
use crate::bar::Bar;
use crate::file::OutputFile;
use crate::interrupt;
use crate::output::{Exit, failed, print, say, usage};
use crate::summary::summary;

pub(crate) fn run(arguments: &RunArguments) -> Result<Exit, Exit> {
    let request = request(&arguments.motion)?;
    interrupt::listen();
    let Reading { model, read_us, .. } =
        crate::input::reading(&arguments.motion.model, arguments.motion.initial.as_deref())?;
    let mut file = arguments.output.as_deref().map(OutputFile::open).transpose()?;
    let mut motion = watched(&model, &request, file.as_mut())?;
    motion.statistics.derive_us += read_us;
    let written = file.is_none_or(|mut file| file.finish(&motion));
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    for note in &motion.notes {
        say(&format!("note: {note}"));
    }
    print(&if json {
        format!("{}\n", motion.to_json())
    } else {
        summary(&motion, std::io::stdout().is_terminal())
    })?;
    if motion.stop.reason.is_early() {
        return Ok(Exit::StoppedEarly);
    }
    if arguments.strict && motion.audit.verdict == Verdict::Fail {
        return Ok(Exit::AuditFailed);
    }
    Ok(if written { Exit::Done } else { Exit::BadUsage })
}

/// The motion, with a bar where there is a terminal, a file that follows the run, and an ear for Ctrl-C.
pub(crate) fn watched(
    model: &Model,
    request: &Request,
    mut file: Option<&mut OutputFile>,
) -> Result<Motion, Exit> {
    let mut bar = Bar::new();
    let mut watch = |progress: &Progress<'_>| {
        if let Some(bar) = &mut bar {
            bar.update(progress);
        }
        if let Some(file) = &mut file {
            file.update(progress);
        }
        !interrupt::asked()
    };
    interrupt::underway(true);
    let motion = pfaff::run_watched(model, request, &mut watch);
    interrupt::underway(false);
    if let Some(bar) = &mut bar {
        bar.clear();
    }
    motion.map_err(|failure| failed(&failure, &model.source))
}

/// What the options ask for.
pub(crate) fn request(arguments: &MotionArguments) -> Result<Request, Exit> {
    let at = arguments.at.as_deref().map(times).transpose()?;
    Ok(Request {
        principle: arguments.principle.as_deref().map(crate::derive::principle).transpose()?,
        t0: arguments.t0,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        method: arguments.method.clone(),
        at,
        samples: arguments.samples,
        step: arguments.step,
        max_steps: arguments.max_steps,
    })
}

/// The numbers of `--at`.
pub(crate) fn times(text: &str) -> Result<Vec<f64>, Exit> {
    text.split(',')
        .map(|word| {
            let time = word.trim().parse::<f64>().ok().filter(|t| t.is_finite());
            time.ok_or_else(|| usage(&format!("`{}` in --at is not a time", word.trim())))
        })
        .collect()
}
