//! The command line of `pfaff`: files and terminal around the engine.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done, 1 the model or its
//! data is wrong, 2 wrong usage, 3 the run stopped early, 4 the audit failed under `--strict`.

mod arguments;
mod backend;
mod bar;
mod clock;
mod command;
mod fault;
mod figure_file;
mod file;
mod guard;
mod input;
mod options;
mod output;
mod range;
mod reproduction;
mod table;
mod whole_file;

use std::process::ExitCode;

use crate::command::Command;

fn main() -> ExitCode {
    let command = match Command::read(&std::env::args_os().collect::<Vec<_>>()) {
        Ok(command) => command,
        Err(error) => {
            // NOTE: help and version are results, mistakes are not; clap knows which stream.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    // A backend that does not exist is a mistake, whether or not the command needs one.
    if let Err(exit) = backend::from_environment() {
        return ExitCode::from(exit.status());
    }
    match command.run() {
        Ok(exit) | Err(exit) => ExitCode::from(exit.status()),
    }
}
