//! What the command line understands.

use clap::{Args, Parser, Subcommand, ValueEnum};

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
  pfaff eval \"gamma(1/2)^2\"                  a number

MODEL is a path, `-` for standard input, or the name of a gallery model. The model language is described in docs/language.md.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reads a model and classifies it: degrees of freedom, the class of each constraint, integrable or not,
    /// regular or not
    Check(CheckArguments),
    /// Derives the equations of motion, or their numbers at one state
    Derive(DeriveArguments),
    /// Integrates one motion and audits it
    Run(RunArguments),
    /// Puts principles side by side: equations, motions, where they part, what each keeps
    Compare(CompareArguments),
    /// Varies a motion under its constraints in the ways of Hölder, Suslov and the vakonomic principle: which
    /// conditions hold, what the others cost
    Variations(VariationsArguments),
    /// Shows the geometry behind the constraints: metric, connections, torsion, curvature, distribution, integrability
    Geometry(GeometryArguments),
    /// Lifts a path of the base along the constraints, and tells the holonomy of a loop
    Lift(LiftArguments),
    /// Writes one self-contained page: animation, equations, plots, audit
    Report(ReportArguments),
    /// Draws columns of a motion as .svg, .pdf or .png
    Plot(PlotArguments),
    /// Lists the built-in models, prints one, or builds a site of all
    Gallery(GalleryArguments),
    /// Evaluates an expression
    Eval(EvalArguments),
    /// Prints a script that completes commands and options in a shell
    Completions(CompletionsArguments),
    /// Prints the man page, of pfaff or of one command
    Man(ManArguments),
    /// What is not a command (yet)
    #[command(external_subcommand)]
    Later(Vec<String>),
}

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
    /// Local error ≤ E·(1+|y|) a step in every component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// auto, dop853, taylor or rk4
    #[arg(long, value_name = "M")]
    pub(crate) method: Option<String>,
    /// The step of rk4, or the first step of the others
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    pub(crate) step: Option<f64>,
    /// Output times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// This many output times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// The most steps the run may take
    #[arg(long, value_name = "N")]
    pub(crate) max_steps: Option<usize>,
}

/// How a motion between given ends (`final`) is looked for.
#[derive(Args, Debug)]
pub(crate) struct SearchArguments {
    /// With `final`: begins at these velocities and multipliers, such as "x'=1, mu(c)=2"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true, conflicts_with_all = ["from", "lead"])]
    pub(crate) guess: Option<String>,
    /// With `final`: begins at a motion, a table as --output writes it
    #[arg(long, value_name = "FILE.csv", conflicts_with = "lead")]
    pub(crate) from: Option<String>,
    /// With `final`: begins at other parameters, such as "Y=0.1", and leads their motions to the model's own
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) lead: Option<String>,
    /// With `final`: the most seconds that the search may take, 60 if not given
    #[arg(long, value_name = "S", allow_hyphen_values = true)]
    pub(crate) seconds: Option<f64>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff check sleigh
  pfaff check mine.pfaff --json
  pfaff check snake --set \"N=20\"
  pfaff check isokinetic --temperature 0.5

A mistake in the text is shown with its line, what is wrong and a hint; all mistakes come at once, and the exit status is 1.")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
    /// Also tests whether exp(-H/kT) is stationary: power = kT*divergence
    #[arg(long, value_name = "kT", allow_hyphen_values = true)]
    pub(crate) temperature: Option<f64>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff derive sleigh                                   as text, in the words of the model language
  pfaff derive sleigh --format latex > equations.tex    one align* for each block
  pfaff derive sleigh --format latex --document         a document that compiles
  pfaff derive sleigh --format c > sleigh.c             the right-hand side as C; also rust and python
  pfaff derive sleigh --state \"phi=0.5, x'=1\" --json   M, A, accelerations, multipliers as numbers

Signs: M q'' = f + R with R = A^T lambda and A = dphi/dq', where phi = left side - right side of the constraint as written.")]
pub(crate) struct DeriveArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev, vakonomic or restricted, instead of the model's own
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// multipliers (for people the default), reduced: independent quasi-velocities, λ as an expression,
    /// Helmholtz's test; or hamilton: momenta instead of velocities. Source text is reduced where that
    /// applies
    #[arg(long)]
    pub(crate) form: Option<String>,
    /// text, latex or json; or c, rust or python: the right-hand side as source text
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// With --format latex: a whole document that compiles
    #[arg(long)]
    pub(crate) document: bool,
    /// The same as --format json
    #[arg(long, overrides_with = "format")]
    pub(crate) json: bool,
    /// Numbers at this state, such as "x=1, x'=2, t=0"; what is missing is 0, nothing is projected
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) state: Option<String>,
    /// The dependent coordinates of --form hamilton, such as y,z; their velocities come from the constraints,
    /// the others from momenta
    #[arg(long, value_name = "NAMES")]
    pub(crate) dependent: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff run sleigh
  pfaff run sleigh --set \"a=0.3, m=2\" --initial \"x'=2\" --t1 50
  pfaff run sleigh --at 1,2,5 --json                numbers for a program
  pfaff run sleigh --samples 1001 --output a.csv    a table; .parquet and .json likewise
  pfaff run - < mine.pfaff                          from standard input

A file of --output follows the run and is readable whatever ends it. Ctrl-C ends the run after its step and prints what was computed; a second one ends the program.

Exit status: 0 done, 1 the model or its data is wrong, 2 wrong usage or a file that cannot be written, 3 the run stopped early (what was computed is printed), 4 the audit failed and --strict was given.")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
    /// Writes the motion to a file as the run goes on: .csv, .json or .parquet by its ending
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

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff report sleigh -o sleigh.html
  pfaff report mine.pfaff --set \"a=0.3\" --samples 2001
  pfaff report contact_vakonomic --principles chetaev,vakonomic

The page is one file that needs no network: animation, equations, plots, audit, and how to get the same numbers again.")]
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

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff plot sleigh -o path.svg --columns y --against x --equal
  pfaff plot sleigh -o speeds.pdf --columns \"x', y', phi'\"
  pfaff plot pendulum -o force.png --columns \"lambda(rod)\" --size 800x500 --scale 3
  pfaff plot sleigh -o both.svg                        all coordinates over time
  pfaff plot sleigh -o sleigh.svg --drawing 2,4,6      the system itself at these times

Columns are those of `pfaff run --output F.csv`: coordinates, x', x'', lambda(c), reaction(x), energy, work and what is observed.")]
pub(crate) struct PlotArguments {
    #[command(flatten)]
    pub(crate) motion: MotionArguments,
    /// The figure: .svg, .pdf or .png by its ending
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: String,
    /// What is drawn, such as "x, y'"; all coordinates if not given
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) columns: Option<String>,
    /// Instead of columns, the system as `draw` shows it (.svg): at the last of these times, faintly at the others
    #[arg(long, value_name = "TIMES", conflicts_with_all = ["columns", "against", "log", "equal", "title"])]
    #[arg(allow_hyphen_values = true)]
    pub(crate) drawing: Option<String>,
    /// What it is drawn over
    #[arg(long, value_name = "COLUMN", default_value = "t")]
    pub(crate) against: String,
    /// A logarithmic axis of absolute values
    #[arg(long)]
    pub(crate) log: bool,
    /// Units as long upwards as sideways
    #[arg(long)]
    pub(crate) equal: bool,
    /// Width and height in pixels of 1/96 inch
    #[arg(long, value_name = "WxH", default_value = "640x400")]
    pub(crate) size: String,
    /// Pixels of a .png for each of these
    #[arg(long, value_name = "S", default_value_t = 2.0)]
    pub(crate) scale: f64,
    /// A line above the figure
    #[arg(long)]
    pub(crate) title: Option<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff compare contact_vakonomic                      all principles that the model allows
  pfaff compare mine.pfaff --principles chetaev,vakonomic --initial \"mu(c)=0.2\"
  pfaff compare mine.pfaff --format csv > both.csv     positions at common times, and distances

The vakonomic principle needs its multipliers at the start: mu(c) = …, or multipliers = zero, or multipliers = transversal(z).")]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Such as chetaev,vakonomic; all that have equations if not given
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
    /// Local error ≤ E·(1+|y|) a step in every component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Common times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// This many common times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Writes the comparison to a file beside: .csv or .json by its ending
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff variations contact_particle --vary \"x = sin(pi*t/3)\" --t1 3
  pfaff variations contact_particle --motion \"x = t, y = t^2\" --vary \"y = t*(1 - t)\" --t1 1 --json

Coordinates that are not varied have the variation 0; dependent coordinates follow from the others.")]
pub(crate) struct VariationsArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The variation of base coordinates as functions of t, such as "x = sin(pi*t)"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) vary: String,
    /// The motion of the base coordinates as functions of t; the model's own motion if not given
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) motion: Option<String>,
    /// The principle of the model's own motion
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// Initial values instead of the model's own
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) initial: Option<String>,
    /// Start
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t0: Option<f64>,
    /// End
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) t1: Option<f64>,
    /// Times at which to look, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// This many times, evenly spaced from start to end
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<usize>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff geometry contact_particle                          as text, only components that are not zero
  pfaff geometry contact_particle --format latex           for a paper
  pfaff geometry mine.pfaff --state \"y=0.5\" --json        numbers at a point; the growth vector is that of the point
  pfaff geometry mine.pfaff --dependent z                  which velocities the constraints give
  pfaff geometry contact_particle --curve geodesic --t1 3  a curve from the initial state
  pfaff geometry appell_hamel --part foliation             nonlinear constraints too
  pfaff geometry appell_hamel --motion cotangent --t1 2    the same motion from momenta
  pfaff geometry mine.pfaff --fractional 0.5,1             the Poincaré–Cartan form of order 1/2

Connections, torsion and growth vectors need constraints linear or affine in the velocities; the other parts do not.")]
pub(crate) struct GeometryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The dependent coordinates, such as y,z; by default the last declared ones that the constraints
    /// determine and whose values they do not contain
    #[arg(long, value_name = "NAMES")]
    pub(crate) dependent: Option<String>,
    /// Numbers at this state, such as "x=1, x'=2, t=0"; what is missing is 0
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) state: Option<String>,
    /// A curve instead: geodesic (of the metric on the base) or autoparallel (of the connection), from the
    /// initial state
    #[arg(long, value_enum, conflicts_with = "state")]
    pub(crate) curve: Option<Curve>,
    #[command(flatten)]
    pub(crate) times: TimesArguments,
    /// What is shown: riemann (the default), foliation, cotangent, lagrange_space, krupkova, forms, or all
    /// (the default of JSON)
    #[arg(long, value_name = "PARTS")]
    pub(crate) part: Option<String>,
    /// Integrates the motion in another form and compares it with that of `run`: cotangent, semispray,
    /// krupkova (or hamilton under the vakonomic principle)
    #[arg(long, value_name = "VIEW", conflicts_with_all = ["state", "part"])]
    pub(crate) motion: Option<String>,
    /// The fractional Poincaré–Cartan form of order ALPHA with velocities to the power BETA, its fractional
    /// derivative and the operator E^alpha, for a polynomial Lagrangian; numbers or parameters, and one
    /// stands for both
    #[arg(long, value_name = "ALPHA,BETA", allow_hyphen_values = true, conflicts_with_all = ["state", "part", "curve", "motion", "dependent"])]
    pub(crate) fractional: Option<String>,
    /// text, latex or json; csv for a curve
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<FormulaFormat>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff lift contact_particle --path \"x = cos(t), y = sin(t)\" --t1 2*pi
  pfaff lift contact_particle --path loop.csv                             a table with columns t, x, y
  pfaff lift mine.pfaff --path \"x = t, phi = t^2\" --t1 1 --format csv

A path of formulas gives every base coordinate as a function of t. A table has t in its first column and a column for every base coordinate; it is interpolated smoothly.")]
pub(crate) struct LiftArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// The base path: functions of t, such as "x = cos(t), y = sin(t)", or a file that ends in .csv
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(crate) path: String,
    /// The dependent coordinates, such as y,z
    #[arg(long, value_name = "NAMES")]
    pub(crate) dependent: Option<String>,
    #[command(flatten)]
    pub(crate) times: TimesArguments,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text, json or csv
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<TableFormat>,
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
    /// Local error ≤ E·(1+|y|) a step in every component
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) tolerance: Option<f64>,
    /// Output times, such as 1,2,5
    #[arg(long, value_name = "TIMES", allow_hyphen_values = true, conflicts_with = "samples")]
    pub(crate) at: Option<String>,
    /// This many output times, evenly spaced from start to end
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
pub(crate) enum Curve {
    Geodesic,
    Autoparallel,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff gallery                          names and titles
  pfaff gallery sleigh > mine.pfaff      a start for a model of your own
  pfaff gallery --html site              a page for each model, and an index")]
pub(crate) struct GalleryArguments {
    /// Prints the text of this model
    #[arg(conflicts_with = "html")]
    pub(crate) name: Option<String>,
    /// Writes a static site into this folder: an index, and a page for each model
    #[arg(long, value_name = "FOLDER")]
    pub(crate) html: Option<String>,
    /// Only these models in the site, such as sleigh,pendulum
    #[arg(long, value_name = "NAMES", requires = "html")]
    pub(crate) only: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff eval \"gamma(1/2)^2\"
  pfaff eval \"[cos(a), sin(a)]\" --with \"a=pi/6\"
  pfaff eval \"det([[1, 2], [3, 4]])\" --json")]
pub(crate) struct EvalArguments {
    /// An expression of the model language
    #[arg(allow_hyphen_values = true)]
    pub(crate) expression: String,
    /// Values of names, such as "a=1, t=2"
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) with: Option<String>,
    /// Where memory operators begin (0 by default)
    #[arg(long, value_name = "A", allow_hyphen_values = true)]
    pub(crate) from: Option<f64>,
    /// Where memory operators end (t by default)
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    pub(crate) to: Option<f64>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Where the script goes:
  pfaff completions bash > ~/.local/share/bash-completion/completions/pfaff
  pfaff completions zsh > ~/.zfunc/_pfaff            (with ~/.zfunc in fpath)
  pfaff completions fish > ~/.config/fish/completions/pfaff.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Read it at once, or keep it:
  pfaff man run | man -l -
  pfaff man > ~/.local/share/man/man1/pfaff.1")]
pub(crate) struct ManArguments {
    /// A command; pfaff itself if there is none
    pub(crate) command: Option<String>,
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
