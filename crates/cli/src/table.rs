//! Files with tables, by their endings.

use std::path::Path;

use pfaff_present::{Block, Heading, TableReader};

use crate::output::{Exit, usage};

/// The formats of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Csv,
    Parquet,
    Arrow,
}

impl Ending {
    /// The format of a file by its name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.') {
            Some((_, "csv")) => Some(Self::Csv),
            Some((_, "parquet")) => Some(Self::Parquet),
            Some((_, "arrow")) => Some(Self::Arrow),
            _ => None,
        }
    }
}

/// The format of a table by its name.
pub(crate) fn ending(name: &str) -> Result<Ending, Exit> {
    Ending::of(name).ok_or_else(|| {
        usage(&format!("`{name}`: a table must end in .csv, .parquet or .arrow"))
    })
}

/// Reads a file without telling of panics, which are caught: the reader of Parquet has some for damaged files.
pub(crate) fn quietly<T>(read: impl FnOnce() -> T) -> T {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let done = read();
    std::panic::set_hook(usual);
    done
}

/// All rows of a table.
pub(crate) fn whole_table(name: &str) -> Result<(Vec<Heading>, Block), Exit> {
    let read = || {
        let file = crate::input::plain_file(Path::new(name))?;
        let reader = match Ending::of(name) {
            Some(Ending::Parquet) => TableReader::parquet(file)?,
            Some(Ending::Arrow) => TableReader::arrow(file)?,
            Some(Ending::Csv) | None => TableReader::csv(file)?,
        };
        reader.whole()
    };
    ending(name)?;
    quietly(read).map_err(|error| usage(&format!("`{name}` cannot be read: {error}")))
}
