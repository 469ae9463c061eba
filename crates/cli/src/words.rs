//! The words of the command line into a command.

use std::ffi::OsString;

use clap::{Args, Parser};

use crate::arguments::{Arguments, Command};

/// The command that the words ask for, the first of them being the program.
pub(crate) fn command(words: &[OsString]) -> Result<Command, clap::Error> {
    match alone(words) {
        Some(command) => Ok(command),
        None => Arguments::try_parse_from(words).map(|arguments| arguments.command),
    }
}

/// The command that the first word names, read with its own options alone: to list those of all others takes
/// longer than many a run.
/// `None` where something is wrong or help is asked for: the whole list tells.
fn alone(words: &[OsString]) -> Option<Command> {
    fn read<A: Args>(words: &[OsString]) -> Option<A> {
        let command = A::augment_args(clap::Command::new("pfaff")).no_binary_name(true);
        A::from_arg_matches(&command.try_get_matches_from(words).ok()?).ok()
    }
    let (name, rest) = words.get(1..)?.split_first()?;
    match name.to_str()? {
        "check" => read(rest).map(Command::Check),
        "derive" => read(rest).map(Command::Derive),
        "run" => read(rest).map(Command::Run),
        "compare" => read(rest).map(Command::Compare),
        "variations" => read(rest).map(Command::Variations),
        "geometry" => read(rest).map(Command::Geometry),
        "lift" => read(rest).map(Command::Lift),
        "report" => read(rest).map(Command::Report),
        "plot" => read(rest).map(Command::Plot),
        "gallery" => read(rest).map(Command::Gallery),
        "eval" => read(rest).map(Command::Eval),
        "completions" => read(rest).map(Command::Completions),
        "man" => read(rest).map(Command::Man),
        _ => None,
    }
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
            "compare snake",
            "variations sleigh --vary x=t",
            "geometry disk --state phi=1",
            "lift sleigh --path x=t",
            "report sleigh -o a.html",
            "plot sleigh --columns x -o a.svg",
            "gallery",
            "eval -1+2",
            "completions bash",
            "man run",
        ];
        let mut met: Vec<&str> = Vec::new();
        for line in lines {
            let words: Vec<OsString> =
                ["pfaff"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            let whole = Arguments::try_parse_from(&words).expect(line).command;
            assert_eq!(format!("{:?}", Some(whole)), format!("{:?}", alone(&words)), "{line}");
            met.extend(line.split(' ').next());
        }
        for command in Arguments::command().get_subcommands() {
            assert!(met.contains(&command.get_name()), "{} is not tried", command.get_name());
        }
        for line in ["run", "run a b", "run a --help", "run a --version", "sweep a", "--help"] {
            let words: Vec<OsString> =
                ["pfaff"].into_iter().chain(line.split(' ')).map(Into::into).collect();
            assert!(alone(&words).is_none(), "{line}");
        }
    }
}
