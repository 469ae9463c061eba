//! The command line of `pfaff`: files and terminal around the engine.
//!
//! Results go to standard output, everything else to standard error. Exit status: 0 done, 1 the model or its
//! data is wrong, 2 wrong usage, 3 the run stopped early, 4 the audit failed under `--strict`.
//!
//! The program is [`answer`] with the words of its process. It is a library as well so that tests can ask for many
//! answers in one process (`fuzz/`); it is no interface for others: what the program does as a library is `pfaff` and
//! `pfaff_present`.

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
mod spool;
mod table;
mod whole_file;

use std::ffi::OsString;
use std::io;

use crate::command::Command;

/// Does what a command line asks for, the first word being the program, and gives its exit status.
///
/// Limits of time and memory are those of the last call: two at once are not told apart.
pub fn answer(words: &[OsString]) -> u8 {
    guard::outlive_large_files();
    let command = match Command::read(words) {
        Ok(command) => command,
        Err(error) => {
            // NOTE: help and version are results, mistakes are not.
            if error.use_stderr() {
                output::mistaken(&error);
                return 2;
            }
            let printed = error.print();
            let is_lost = printed.is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe);
            return if is_lost { 2 } else { 0 };
        }
    };
    // A backend that does not exist is a mistake, whether or not the command needs one.
    if let Err(exit) = backend::from_environment() {
        return exit.status();
    }
    match command.run() {
        Ok(exit) | Err(exit) => exit.status(),
    }
}

/// Whether the words are a command with options that it has. Nothing is done.
pub fn is_command(words: &[OsString]) -> bool {
    Command::read(words).is_ok()
}
