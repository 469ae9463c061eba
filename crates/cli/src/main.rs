//! The command line of `pfaff`: files and terminal around the engine.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done, 1 the model or its
//! data is wrong, 2 wrong usage,
//! 3 the run stopped early, 4 the audit failed under `--strict`.

mod arguments;
mod bar;
mod check;
mod code;
mod compare;
mod derive;
mod eval;
mod file;
mod gallery;
mod geometry;
mod input;
mod interrupt;
mod lift;
mod output;
mod parquet;
mod plot;
mod plot_command;
mod report;
mod run;
mod shell;
mod site;
mod summary;
mod variations;
mod view;
mod words;

use std::process::ExitCode;

use crate::arguments::Command;
use crate::output::Exit;

fn main() -> ExitCode {
    let command = match words::command(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(command) => command,
        Err(error) => {
            // NOTE: help and version are results, mistakes are not; clap knows which stream.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    if let Err(exit) = code::choose() {
        return ExitCode::from(exit.status());
    }
    let done = match command {
        Command::Check(a) => check::check(&a),
        Command::Derive(a) => derive::derive(&a),
        Command::Run(a) => run::run(&a),
        Command::Compare(a) => compare::compare(&a),
        Command::Variations(a) => variations::variations(&a),
        Command::Geometry(a) => geometry::geometry(&a),
        Command::Report(a) => report::report(&a),
        Command::Plot(a) => plot_command::plot(&a),
        Command::Lift(a) => lift::lift(&a),
        Command::Gallery(a) => gallery::gallery(&a),
        Command::Eval(a) => eval::eval(&a),
        Command::Completions(a) => shell::completions(&a),
        Command::Man(a) => shell::man(&a),
        Command::Later(words) => Err(later(&words)),
    };
    match done {
        Ok(exit) | Err(exit) => ExitCode::from(exit.status()),
    }
}

/// Commands that are planned are refused plainly, others with a hint.
fn later(words: &[String]) -> Exit {
    const PLANNED: [&str; 3] = ["linearize", "sweep", "fit"];
    let built = shell::commands();
    let built: Vec<&str> = built.iter().map(String::as_str).collect();
    let word = words.first().map_or("", String::as_str);
    if PLANNED.contains(&word) {
        return output::usage(&format!("the command `{word}` is not built yet"));
    }
    let hint = pfaff::closest(word, &built).map_or_else(
        || format!("the commands are {}", built.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    output::usage(&format!("there is no command `{word}`; {hint}"))
}
