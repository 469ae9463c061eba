//! `pfaff studio`

use std::sync::Arc;

use clap::Args;
use pfaff_web::Server;

use crate::guard::{self, Phase};
use crate::input::{ModelText, sandbox};
use crate::output::{Exit, print, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff studio                 the workbench with the models of the gallery
  pfaff studio mine.pfaff      with a model of your own

The address that is printed opens the workbench in any browser on this machine. It contains a token: other programs and
pages cannot use the server without it. Models read files in the current folder and below, nothing else, and nothing is
written. Ctrl-C ends the server.")]
pub(crate) struct StudioArguments {
    /// A model to begin with: a path, `-` for standard input, or the name of a gallery model
    pub(crate) model: Option<String>,
    /// The port on this machine; any free one if not given
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
}

pub(crate) fn studio(arguments: &StudioArguments) -> Result<Exit, Exit> {
    let model = match &arguments.model {
        None => None,
        Some(name) => {
            let text = ModelText::open(name)?;
            let stem = std::path::Path::new(name).file_stem().and_then(|s| s.to_str());
            let stem = stem.filter(|stem| *stem != "-").unwrap_or("model");
            Some((stem.to_owned(), text.source.text().to_owned()))
        }
    };
    let server = Server {
        port: arguments.port,
        files: Arc::new(sandbox()),
        model,
        has_memory: guard::has_memory,
    };
    let mut printed = Ok(());
    let ended = server.run(|address| {
        printed = print(&format!("{address}\n"));
        // NOTE: the address is out: from here on Ctrl-C and --seconds end the server at once.
        guard::enter(Phase::Work);
    });
    printed?;
    ended.map_err(|error| usage(&format!("the workbench cannot be served: {error}")))?;
    Ok(Exit::Done)
}
