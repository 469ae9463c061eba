//! The commands of `pfaff`, one file each, and the one list of them: names, help, options and what they do.
//!
//! The list makes the enum that `clap` parses, the short cut that reads one command with its own options alone,
//! and the dispatch. A new command is a file here, a `mod` line and an entry of the list.

mod check;
mod compare;
mod continuation;
mod derive;
mod diff;
mod discover;
mod equilibria;
mod eval;
mod explain;
mod fit;
mod gait;
mod gallery;
mod geometry;
mod lift;
mod linearize;
mod lyapunov;
mod measure;
mod motion_view;
mod orbit;
mod plot;
mod report;
mod run;
mod section;
mod shell;
mod site;
mod studio;
mod sweep;
mod variations;

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use crate::guard::{self, LimitArguments};
use crate::output::{self, Exit};

/// Constrained mechanics: write a Lagrangian and constraints, get equations and an audited motion.
#[derive(Debug, Parser)]
#[command(name = "pfaff", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  pfaff gallery                              the built-in models
  pfaff run sleigh                           one motion with its audit
  pfaff run sleigh --set \"a=0.3\" --t1 50      other parameters, longer
  pfaff run sleigh --at 1,2,5 --json         numbers for a program
  pfaff check mine.pfaff                     classes, degrees of freedom, integrability
  pfaff derive mine.pfaff --format latex     equations for a paper
  pfaff report sleigh -o sleigh.html         one page that shows everything
  pfaff explain E0607                        a diagnostic, with an example and its repair
  pfaff eval \"gamma(1/2)^2\"                  a number

MODEL is a path, `-` for standard input, or the name of a gallery model. The model language is described in
docs/language.md.";

// The options of a command, and the limits that every command has. A doc comment would be shown as help.
#[derive(Args, Debug)]
pub(crate) struct Limited<A: Args> {
    #[command(flatten)]
    command: A,
    #[command(flatten)]
    limits: LimitArguments,
}

/// `"name" Variant(Arguments) => function;`, with the help above each.
macro_rules! commands {
    ($($(#[$help:meta])* $name:literal $variant:ident($arguments:ty) => $run:path;)*) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[$help])* #[command(name = $name)] $variant(Limited<$arguments>),)*
            /// What is not a command
            #[command(external_subcommand)]
            Unknown(Vec<String>),
        }

        impl Command {
            /// Does what the command asks for.
            pub(crate) fn run(self) -> Result<Exit, Exit> {
                match self {
                    $(Self::$variant(Limited { command, limits }) => {
                        guard::watch(limits);
                        $run(&command)
                    })*
                    Self::Unknown(words) => Err(unknown(&words)),
                }
            }

            /// The command of this name, read with its own options alone.
            fn named(name: &str, words: &[OsString]) -> Option<Self> {
                match name {
                    $($name => options::<Limited<$arguments>>(words).map(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

commands! {
    /// Reads a model and classifies it: degrees of freedom, the class of each constraint, integrable or not,
    /// regular or not
    "check" Check(check::CheckArguments) => check::check;
    /// Derives the equations of motion, or their numbers at one state
    "derive" Derive(derive::DeriveArguments) => derive::derive;
    /// Integrates one motion and audits it
    "run" Run(run::RunArguments) => run::run;
    /// Integrates many motions with other parameters and initial values, into one table
    "sweep" Sweep(sweep::SweepArguments) => sweep::sweep;
    /// Finds parameters and initial values from measured data, with confidence intervals
    "fit" Fit(fit::FitArguments) => fit::fit;
    /// Finds the velocity constraints that measured motions obey
    "discover" Discover(discover::DiscoverArguments) => discover::discover;
    /// Compares principles: equations, motions, when they diverge, what each conserves
    "compare" Compare(compare::CompareArguments) => compare::compare;
    /// Varies a motion under its constraints after Hölder, Suslov and the vakonomic principle, and shows which
    /// conditions hold
    "variations" Variations(variations::VariationsArguments) => variations::variations;
    /// Shows the geometry behind the constraints: metric, connections, torsion, curvature, distribution, integrability
    "geometry" Geometry(geometry::GeometryArguments) => geometry::geometry;
    /// Lifts a path of the base along the constraints, and gives the holonomy of a loop
    "lift" Lift(lift::LiftArguments) => lift::lift;
    /// Runs a loop in shape space, and gives the displacement of the body
    "gait" Gait(gait::GaitArguments) => gait::gait;
    /// Finds rest and steady motions, with their stability
    "equilibria" Equilibria(equilibria::EquilibriaArguments) => equilibria::equilibria;
    /// Linearises about a state on the constraints: matrices, eigenvalues, stability
    "linearize" Linearize(linearize::LinearizeArguments) => linearize::linearize;
    /// Computes the Lyapunov exponents of a motion on its constraints
    "lyapunov" Lyapunov(lyapunov::LyapunovArguments) => lyapunov::lyapunov;
    /// Looks for an invariant measure of the flow, and for time reversal
    "measure" Measure(measure::MeasureArguments) => measure::measure;
    /// Integrates until a surface was crossed so many times, and prints the points
    "section" Section(section::SectionArguments) => section::section;
    /// Serves the workbench in a browser on this machine
    "studio" Studio(studio::StudioArguments) => studio::studio;
    /// Finds a periodic motion, with its Floquet multipliers
    "orbit" Orbit(orbit::OrbitArguments) => orbit::orbit;
    /// Follows equilibria over a parameter, and locates folds, branch points and Hopf points
    "continue" Continue(continuation::ContinueArguments) => continuation::continuation;
    /// Writes one self-contained page: animation, equations, plots, audit
    "report" Report(report::ReportArguments) => report::report;
    /// Draws columns of a motion as .svg, .pdf or .png
    "plot" Plot(plot::PlotArguments) => plot::plot;
    /// Compares two tables, such as those of two runs
    "diff" Diff(diff::DiffArguments) => diff::diff;
    /// Lists the built-in models, prints one, or builds a site of all
    "gallery" Gallery(gallery::GalleryArguments) => gallery::gallery;
    /// Evaluates an expression
    "eval" Eval(eval::EvalArguments) => eval::eval;
    /// Explains a diagnostic by its code: what it means, an example and its repair
    "explain" Explain(explain::ExplainArguments) => explain::explain;
    /// Prints a script that completes commands and options in a shell
    "completions" Completions(shell::CompletionsArguments) => shell::completions;
    /// Prints the man page, of pfaff or of one command
    "man" Man(shell::ManArguments) => shell::man;
}

impl Command {
    /// The command that the words ask for, the first of them being the program.
    pub(crate) fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        match Self::alone(words) {
            Some(command) => Ok(command),
            None => Arguments::try_parse_from(words).map(|arguments| arguments.command),
        }
    }

    /// The command that the first word names. Listing the options of all other commands takes longer than many
    /// a run. `None` where something is wrong or help is asked for: the whole list then answers.
    fn alone(words: &[OsString]) -> Option<Self> {
        let (name, rest) = words.get(1..)?.split_first()?;
        Self::named(name.to_str()?, rest)
    }
}

/// The options of one command.
fn options<A: Args>(words: &[OsString]) -> Option<A> {
    let command = A::augment_args(clap::Command::new("pfaff")).no_binary_name(true);
    A::from_arg_matches(&command.try_get_matches_from(words).ok()?).ok()
}

/// What is no command is refused with a hint.
fn unknown(words: &[String]) -> Exit {
    let built = shell::commands();
    let built: Vec<&str> = built.iter().map(String::as_str).collect();
    let word = words.first().map_or("", String::as_str);
    let hint = pfaff::closest(word, &built).map_or_else(
        || format!("the commands are {}", built.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    output::usage(&format!("there is no command `{word}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Every command is read by itself as it is among all others, and what is wrong or asked about is left to these.
    #[test]
    fn a_command_alone_is_read_as_among_all() {
        let lines = [
            "check sleigh --json",
            "derive - --principle vakonomic --form reduced",
            "run m.pfaff --set a=-1 --t0 -1 --t1 2 --tolerance 1e-9 --at 1,2 --strict --json",
            "run m.pfaff --initial -1 --samples 3 --output m.csv",
            "sweep sleigh --vary a=0.1..0.5:50 --keep final --output F.parquet --resume",
            "sweep a.csv b.csv --merge --output F.csv",
            "discover --data m.csv --data n.csv --coordinates x,y,phi --json",
            "fit sleigh --data m.csv --params m,J --bounds m=0..2 --json",
            "compare snake",
            "studio sleigh --port 8080",
            "variations sleigh --vary x=t",
            "geometry disk --state phi=1",
            "lift sleigh --path x=t",
            "equilibria sleigh --search x=-1..1",
            "section sleigh --on x --count 5",
            "orbit sleigh --on x --period 6.3 --json",
            "continue sleigh --vary a=0..1",
            "gait snake.pfaff --shape a1,a2 --json",
            "measure sleigh --json",
            "lyapunov sleigh --t1 100 --json",
            "linearize bicycle --at x'=5 --vary v=0..10 --json",
            "report sleigh -o a.html",
            "plot sleigh --columns x -o a.svg",
            "plot a.csv b.csv --columns x^2 -o a.svg",
            "diff a.csv b.csv --tolerance 1e-9 --strict",
            "gallery",
            "eval -1+2",
            "explain E0607",
            "completions bash",
            "man run",
        ];
        let mut met: Vec<&str> = Vec::new();
        for line in lines {
            let words: Vec<OsString> =
                ["pfaff"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            let whole = Arguments::try_parse_from(&words).expect(line).command;
            let alone = Command::alone(&words);
            assert_eq!(format!("{:?}", Some(whole)), format!("{alone:?}"), "{line}");
            met.extend(line.split(' ').next());
        }
        for command in Arguments::command().get_subcommands() {
            assert!(met.contains(&command.get_name()), "{} is not tried", command.get_name());
        }
        for line in ["run", "run a b", "run a --help", "run a --version", "fit a", "--help"] {
            let words: Vec<OsString> =
                ["pfaff"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            assert!(Command::alone(&words).is_none(), "{line}");
        }
    }
}
