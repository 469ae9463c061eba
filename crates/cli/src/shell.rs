//! `pfaff completions` and `pfaff man`: what a shell and `man` want to know, from the same arguments that are parsed.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments, ManArguments};
use crate::output::{Exit, print, usage};

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
