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
  pfaff eval \"gamma(1/2)^2\"                  a number

MODEL is a path, `-` for standard input, or the name of a gallery model. The model language is described in docs/language.md.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reads a model and classifies it: degrees of freedom, the class of each constraint, integrable or not, regular or not
    Check(CheckArguments),
    /// Derives the equations of motion, or their numbers at one state
    Derive(DeriveArguments),
    /// Integrates one motion and audits it
    Run(RunArguments),
    /// Lists the built-in models, or prints one
    Gallery(GalleryArguments),
    /// Evaluates an expression
    Eval(EvalArguments),
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

#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

#[derive(Args, Debug)]
pub(crate) struct DeriveArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev (vakonomic and restricted are not built yet)
    #[arg(long)]
    pub(crate) principle: Option<String>,
    /// multipliers (reduced and hamilton are not built yet)
    #[arg(long, default_value = "multipliers")]
    pub(crate) form: String,
    /// text, latex or json (c, rust and python are not built yet)
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Numbers at this state, such as "x=1, x'=2, t=0"; what is missing is 0, nothing is projected
    #[arg(long, value_name = "ASSIGNMENTS", allow_hyphen_values = true)]
    pub(crate) state: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    /// chetaev (vakonomic and restricted are not built yet)
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
    /// auto, dop853 or rk4
    #[arg(long, value_name = "M")]
    pub(crate) method: Option<String>,
    /// The step of rk4, or the first step of dop853
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
    /// Writes the motion to a file: .csv or .json by its ending
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<String>,
    /// Exit status 4 if the audit fails
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

#[derive(Args, Debug)]
pub(crate) struct GalleryArguments {
    /// Prints the text of this model
    pub(crate) name: Option<String>,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlainFormat {
    Text,
    Json,
}
