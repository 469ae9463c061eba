//! Tables and manifests of sweeps as files.

use std::io::{self, BufWriter};

use pfaff_present::{Block, Heading, TableWriter};
use serde_json::Value;

use crate::output::{Exit, usage};
use crate::table::Ending;
use crate::whole_file::{Part, Place};

/// A table that is written row by row beside its place, and moved there when it is whole.
pub(super) struct TableFile<'a> {
    name: &'a str,
    writer: TableWriter<BufWriter<Part>>,
}

impl<'a> TableFile<'a> {
    /// Begins a table with these columns.
    pub(super) fn create(
        name: &'a str,
        place: &Place,
        ending: Ending,
        headings: &[Heading],
        manifest: &Value,
    ) -> Result<Self, Exit> {
        let begun = || -> io::Result<_> {
            let out = BufWriter::with_capacity(1 << 18, place.part()?);
            let word = |key: &str| manifest[key].as_str().unwrap_or_default().to_owned();
            let about = [("model", word("model")), ("keep", word("keep"))];
            match ending {
                Ending::Csv => TableWriter::csv(headings, out),
                Ending::Parquet => TableWriter::parquet(headings, &about, out),
                Ending::Arrow => TableWriter::arrow(headings, &about, out),
            }
        };
        let writer = begun().map_err(|error| refused(name, &error))?;
        Ok(Self { name, writer })
    }

    /// Adds rows.
    pub(super) fn write(&mut self, block: &Block) -> io::Result<()> {
        self.writer.write(block)
    }

    /// Ends the table and moves it to its place.
    pub(super) fn finish(self) -> Result<(), Exit> {
        let finished = || -> io::Result<()> {
            let out = self.writer.finish()?;
            let mut part = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            part.sync()?;
            part.take_place()
        };
        finished().map_err(|error| refused(self.name, &error))
    }
}

/// A table that cannot be written.
pub(super) fn refused(name: &str, error: &io::Error) -> Exit {
    usage(&format!("`{name}` could not be written: {error}"))
}

/// Writes the manifest beside its table.
pub(super) fn write_manifest(name: &str, place: &Place, manifest: &Value) -> Result<(), Exit> {
    let text = format!("{manifest:#}\n");
    place.write(text.as_bytes()).map_err(|error| {
        usage(&format!("the manifest of `{name}` could not be written: {error}"))
    })
}
