//! The program `pfaff`: the words of its process → an exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(pfaff_cli::answer(&std::env::args_os().collect::<Vec<_>>()))
}
