//! `pfaff diff`

use clap::Args;
use pfaff_present::{ToJson, ToText, difference};

use crate::output::{Exit, print, usage};
use crate::table::whole_table;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  pfaff diff a.csv b.csv                              where the values of two runs differ
  pfaff diff a.parquet b.csv --tolerance 1e-9 --strict  exit status 4 if they differ by more

Tables are those of `pfaff run --output` and `pfaff sweep --output`, or others with names in their first line. Rows
belong together by the columns case, t, check and event where both tables have them, else by their place. The difference
of two numbers is |a − b|/(1 + |b|).")]
pub(crate) struct DiffArguments {
    /// A table, .csv, .parquet or .arrow
    pub(crate) first: String,
    /// Another one
    pub(crate) second: String,
    /// Differences up to this do not count for --strict
    #[arg(long, value_name = "E", default_value_t = 0.0, allow_hyphen_values = true)]
    pub(crate) tolerance: f64,
    /// Exit status 4 if the tables differ
    #[arg(long)]
    pub(crate) strict: bool,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn diff(arguments: &DiffArguments) -> Result<Exit, Exit> {
    let tolerance = arguments.tolerance;
    if tolerance.is_nan() || tolerance < 0.0 {
        return Err(usage(&format!("the tolerance must not be negative, as {tolerance} is")));
    }
    let found = difference(&whole_table(&arguments.first)?, &whole_table(&arguments.second)?);
    print(&if arguments.json { found.to_json_line() } else { found.to_text() })?;
    let differs = arguments.strict && !found.is_within(tolerance);
    Ok(if differs { Exit::AuditFailed } else { Exit::Done })
}
