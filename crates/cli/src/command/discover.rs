//! `pfaff discover`

use std::path::Path;

use clap::Args;
use pfaff::{MeasuredMotions, discover as find, separated};
use pfaff_present::{ToJson, ToText};

use crate::arguments::PlainFormat;
use crate::output::{Exit, failed, print, usage};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff discover --data measured.csv --coordinates \"x, y, phi\"
  pfaff discover --data first.csv --data second.csv --coordinates \"x, y, phi\" --json

The data are comma-separated values with a line of names: `t` and the coordinates. A column `case`, `run` or `motion`
tells motions apart; without one, a new motion begins where the time goes back. Ten motions or more that start in
different directions are a good beginning: what all of them obey is taken for a constraint.

Rows are linear in the velocities, with coefficients of sines, cosines and powers of the coordinates.

Exit status: 0 done, also if nothing was found; 2 wrong usage or data.")]
pub(crate) struct DiscoverArguments {
    /// Measured positions; may be given several times
    #[arg(long, value_name = "FILE.csv", required = true)]
    pub(crate) data: Vec<String>,
    /// The coordinates, such as "x, y, phi"
    #[arg(long, value_name = "NAMES")]
    pub(crate) coordinates: String,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// text or json
    #[arg(long, value_enum, overrides_with = "json")]
    pub(crate) format: Option<PlainFormat>,
}

pub(crate) fn discover(arguments: &DiscoverArguments) -> Result<Exit, Exit> {
    let names = separated(&arguments.coordinates);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut motions = Vec::new();
    for file in &arguments.data {
        let text = crate::input::data(Path::new(file))
            .map_err(|error| usage(&format!("`{file}` cannot be read: {error}")))?;
        motions.push(MeasuredMotions::read(file, &text, &names).map_err(failed)?);
    }
    let found = find(&motions).map_err(failed)?;
    let json = arguments.json || arguments.format == Some(PlainFormat::Json);
    print(&if json { found.to_json_line() } else { found.to_text() })?;
    Ok(Exit::Done)
}
