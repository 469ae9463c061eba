//! The program `pfaff-fuzz`: a target, a count and a seed → how many cases failed.

use std::process::ExitCode;

fn main() -> ExitCode {
    pfaff_fuzz::run::main()
}
