//! `pfaff completions` and `pfaff man`: what a shell and `man` want to know, from the same arguments that are parsed.

use clap::{Args, CommandFactory};

use crate::command::Arguments;
use crate::output::{Exit, print, usage};

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

/// The names of the commands there are.
pub(crate) fn commands() -> Vec<String> {
    Arguments::command().get_subcommands().map(|c| c.get_name().to_owned()).collect()
}

pub(crate) fn completions(arguments: &CompletionsArguments) -> Result<Exit, Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "pfaff", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub(crate) fn man(arguments: &ManArguments) -> Result<Exit, Exit> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    // NOTE: this gives the pages of the commands their full names.
    command.build();
    let page = match &arguments.command {
        None => clap_mangen::Man::new(command),
        Some(name) => {
            let Some(found) = command.find_subcommand(name) else {
                return Err(usage(&format!(
                    "there is no command `{name}`; the commands are {}",
                    commands().join(", ")
                )));
            };
            clap_mangen::Man::new(found.clone())
        }
    };
    let mut text = Vec::new();
    page.render(&mut text).map_err(|error| usage(&error.to_string()))?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Exit::Done)
}
