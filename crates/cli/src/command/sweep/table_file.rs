//! Tables and manifests of sweeps as files.

use std::io::{self, BufWriter};

use pfaff_present::{Block, Heading, TableWriter};
use serde_json::Value;

use crate::output::{Exit, usage};
use crate::table::Ending;
use crate::whole_file::Place;

/// Takes rows.
pub(super) type Take<'a> = &'a mut dyn FnMut(&Block) -> io::Result<()>;

/// Writes a table to its place; `fill` hands over its rows.
pub(super) fn write_table(
    name: &str,
    place: &Place,
    ending: Ending,
    headings: &[Heading],
    manifest: &Value,
    fill: impl FnOnce(Take<'_>) -> io::Result<()>,
) -> Result<(), Exit> {
    let written = || -> io::Result<()> {
        let out = BufWriter::with_capacity(1 << 18, place.part()?);
        let word = |key: &str| manifest[key].as_str().unwrap_or_default().to_owned();
        let about = [("model", word("model")), ("keep", word("keep"))];
        let mut writer = match ending {
            Ending::Csv => TableWriter::csv(headings, out)?,
            Ending::Parquet => TableWriter::parquet(headings, &about, out)?,
            Ending::Arrow => TableWriter::arrow(headings, &about, out)?,
        };
        fill(&mut |block| writer.write(block))?;
        let out = writer.finish()?;
        let mut part = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        part.sync()?;
        part.take_place()
    };
    written().map_err(|error| usage(&format!("`{name}` could not be written: {error}")))
}

/// Writes the manifest beside its table.
pub(super) fn write_manifest(name: &str, place: &Place, manifest: &Value) -> Result<(), Exit> {
    let text = format!("{manifest:#}\n");
    place.write(text.as_bytes()).map_err(|error| {
        usage(&format!("the manifest of `{name}` could not be written: {error}"))
    })
}
