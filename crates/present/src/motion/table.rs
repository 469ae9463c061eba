//! A motion as columns, and as a file of any format.

#[cfg(not(target_arch = "wasm32"))]
use std::io::{self, Write};

use pfaff::{Motion, Principle};

use crate::Table;
#[cfg(not(target_arch = "wasm32"))]
use crate::ToJson as _;

/// The formats of a file with a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// `.csv`
    Csv,
    /// `.json`
    Json,
    /// `.parquet`
    Parquet,
    /// `.arrow`
    Arrow,
}

impl FileFormat {
    /// All formats, with the ending of their files.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Csv, "csv"),
        (Self::Json, "json"),
        (Self::Parquet, "parquet"),
        (Self::Arrow, "arrow"),
    ];

    /// The format of a file by its ending.
    pub fn of(ending: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, e)| *e == ending).map(|(format, _)| *format)
    }

    /// Whether a file of this format is made from blocks of rows, one after the other.
    pub fn has_blocks(self) -> bool {
        match self {
            Self::Csv | Self::Parquet | Self::Arrow => true,
            Self::Json => false,
        }
    }

    /// Whether a file of this format can grow by rows and stay readable.
    pub fn grows(self) -> bool {
        match self {
            Self::Csv => true,
            Self::Json | Self::Parquet | Self::Arrow => false,
        }
    }
}

/// The motion as columns, with what it is about.
pub fn motion_table(motion: &Motion) -> Table<'_> {
    Table {
        columns: motion.columns(),
        about: vec![
            ("model", motion.title.clone()),
            ("principle", motion.principle.map_or("", Principle::name).to_owned()),
            ("stop", motion.stop.reason.name().to_owned()),
            ("audit", motion.audit.verdict.name().to_owned()),
        ],
    }
}

/// Writes a whole motion.
///
/// # Errors
///
/// Those of the writer.
#[cfg(not(target_arch = "wasm32"))]
pub fn write_motion(
    motion: &Motion,
    format: FileFormat,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    match format {
        FileFormat::Csv => motion_table(motion).write_csv(0, out),
        FileFormat::Json => motion.write_json_line(out),
        FileFormat::Parquet => motion_table(motion).write_parquet(out),
        FileFormat::Arrow => motion_table(motion).write_arrow(out),
    }
}
