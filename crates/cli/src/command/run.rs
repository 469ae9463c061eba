//! `pfaff run`

use std::path::{Path, PathBuf};

use clap::Args;
use pfaff::{
    Guess, Method, Model, Motion, Precision, Progress, Run, Verdict, read_named_numbers,
};
use pfaff_present::{ToJson, summary};

use crate::arguments::{MotionArguments, PlainFormat, SearchArguments, principle, times};
use crate::bar::Bar;
use crate::file::OutputFile;
use crate::guard::{self, Phase};
use crate::input::Reading;
use crate::output::{Exit, failed, print, print_all, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff run sleigh
  pfaff run sleigh --set \"a=0.3, m=2\" --initial \"x'=2\" --t1 50
  pfaff run sleigh --at 1,2,5 --json                numbers for a program
  pfaff run sleigh --samples 1001 --output a.csv    a table; .parquet, .arrow and .json likewise
  pfaff run sleigh --sensitivity \"a, x'(0)\"         derivatives by a parameter and an initial value
  pfaff run sleigh --gradient speed --by \"m, J, a\"      of an observed quantity, by the adjoint equations
  pfaff run - < mine.pfaff                          from standard input

The file of --output is written during the run. Whatever ends the program, it is whole: the older file, or one with the
rows up to the last writing. It must be a plain file and not a link, and no file that the model reads. Ctrl-C and
--seconds end the run after the current step and print what was computed; a second Ctrl-C ends the program.

Exit status: 0 done, 1 the model or its data is wrong, 2 wrong usage or a file that cannot be written, 3 the run
stopped early (what was computed is printed), 4 the audit failed and --strict was given.")]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
    /// Derivatives of the motion by parameters and initial values, such as "a, m, x'(0)"
    #[arg(long, value_name = "NAMES")]
    pub(crate) sensitivity: Option<String>,
    /// Second derivatives too, by the quantities of --sensitivity
    #[arg(long, requires = "sensitivity")]
    pub(crate) second: bool,
    /// The state-transition matrix at the output times
    #[arg(long)]
    pub(crate) transition: bool,
    /// The gradient of an observed quantity, a coordinate or a velocity at the end, or of "integral(NAME)" over the
    /// run, by the adjoint equations: its cost does not grow with the number of parameters
    #[arg(long, value_name = "NAME")]
    pub(crate) gradient: Option<String>,
    /// What --gradient differentiates by, such as "a, m, x'(0)"; all parameters if not given
    #[arg(long, value_name = "NAMES", requires = "gradient")]
    pub(crate) by: Option<String>,
    /// Writes the motion to a file during the run: .csv, .json, .parquet or .arrow
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Exit status 4 if the audit fails
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

pub(crate) fn run(arguments: &RunArguments) -> Result<Exit, Exit> {
    let mut request = request(&arguments.motion)?;
    let Reading { model, read_us, mut inputs } =
        crate::input::reading(&arguments.motion.model, arguments.motion.initial.as_deref())?;
    begin(&model, &arguments.search, &mut request)?;
    if let Some(names) = &arguments.sensitivity {
        request = request.sensitivity(names);
    }
    if arguments.second {
        request = request.second();
    }
    if arguments.transition {
        request = request.transition();
    }
    if let Some(of) = &arguments.gradient {
        request = request.gradient(of, arguments.by.as_deref().unwrap_or_default());
    }
    inputs.extend(arguments.search.from.iter().map(PathBuf::from));
    let open = |name| OutputFile::open(name, &inputs);
    let mut file = arguments.output.as_deref().map(open).transpose()?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    // NOTE: JSON shows all rows.
    request.streams = !json && file.as_ref().is_some_and(OutputFile::streams);
    // NOTE: derivatives are columns that exist after the run only.
    let growing = file.as_mut().filter(|_| request.sensitivities.is_empty());
    let mut motion = watched(&model, &request, growing)?;
    motion.statistics.derive_us += read_us;
    let written = file.is_none_or(|mut file| file.finish(&motion));
    crate::output::notes(&motion);
    if json {
        print_all(|out| motion.write_json_line(out))?;
    } else {
        print(&summary(&motion, crate::output::wants_colour()))?;
    }
    // NOTE: the program is about to end, and the system takes all memory back at once.
    let _model = std::mem::ManuallyDrop::new(model);
    let motion = std::mem::ManuallyDrop::new(motion);
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
    request: &Run,
    file: Option<&mut OutputFile>,
) -> Result<Motion, Exit> {
    observed(file, |watch| pfaff::run_watched(model, request, watch))
}

/// What a run is shown to after each step.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(&Progress<'_>) -> bool;

/// A run with its bar and its file, which Ctrl-C ends.
pub(crate) fn observed(
    mut file: Option<&mut OutputFile>,
    run: impl FnOnce(Watch<'_>) -> Result<Motion, pfaff::Error>,
) -> Result<Motion, Exit> {
    let mut bar = Bar::new();
    let mut watch = |progress: &Progress<'_>| {
        if let Some(bar) = &mut bar {
            bar.update(progress);
        }
        guard::holds(progress.bytes());
        if let Some(file) = &mut file {
            file.update(progress);
        }
        !guard::is_asked_to_end()
    };
    // NOTE: until the first step there is nothing to show, and a limit ends the program at once.
    let motion = run(&mut watch);
    guard::enter(Phase::Answer);
    if let Some(bar) = &mut bar {
        bar.clear();
    }
    motion.map_err(failed)
}

/// What the options ask for.
pub(crate) fn request(arguments: &MotionArguments) -> Result<Run, Exit> {
    let at = arguments.at.as_deref().map(times).transpose()?;
    Ok(Run {
        principle: arguments.principle.as_deref().map(principle).transpose()?,
        t0: arguments.t0,
        t1: arguments.t1,
        tolerance: arguments.tolerance,
        method: arguments.method.as_deref().map(method).transpose()?,
        precision: arguments.precision.as_deref().map(precision).transpose()?,
        at,
        samples: arguments.samples,
        step: arguments.step,
        max_steps: arguments.max_steps,
        seed: arguments.seed,
        ..crate::backend::base_run()?
    })
}

/// A method by its word.
fn method(word: &str) -> Result<Method, Exit> {
    Method::from_name(word).ok_or_else(|| {
        let words: Vec<String> =
            Method::ALL.iter().map(|(_, word)| format!("`{word}`")).collect();
        usage(&format!("there is no method `{word}`: choose from {}", words.join(", ")))
    })
}

/// A precision by its word.
fn precision(word: &str) -> Result<Precision, Exit> {
    Precision::from_name(word).ok_or_else(|| {
        usage(&format!("there is no precision `{word}`: choose `double` or `double_double`"))
    })
}

/// Where and how long motions between given ends are looked for.
fn begin(model: &Model, search: &SearchArguments, request: &mut Run) -> Result<(), Exit> {
    let used = [
        ("--guess", search.guess.is_some()),
        ("--from", search.from.is_some()),
        ("--lead", search.lead.is_some()),
    ];
    if let Some((option, _)) = used.iter().find(|(_, given)| *given)
        && model.terminal.is_empty()
    {
        return Err(usage(&format!("{option} needs a model with `final`")));
    }
    if !model.terminal.is_empty() {
        request.seconds = guard::time_limit();
    }
    if let Some(text) = &search.lead {
        request.lead = read_named_numbers("--lead", text).map_err(failed)?;
    }
    if let Some(text) = &search.guess {
        request.guess = Some(Guess::start(model, text).map_err(failed)?);
    }
    if let Some(name) = &search.from {
        let text = crate::input::data(Path::new(name))
            .map_err(|error| usage(&format!("`{name}` cannot be read: {error}")))?;
        let guess = Guess::motion(model, name, &text);
        request.guess = Some(guess.map_err(failed)?);
    }
    Ok(())
}
