//! Tables and manifests of sweeps as files.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use pfaff_present::{Block, Heading, TableWriter};
use serde_json::{Value, json};

use crate::output::{Exit, usage};
use crate::table::Ending;
use crate::whole_file::{Part, Place};

/// A table that is written row by row beside its place, and moved there when it is whole.
pub(super) struct TableFile<'a> {
    name: &'a str,
    writer: TableWriter<Summed<BufWriter<Part>>>,
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
            let out = Summed { out, bytes: Bytes::NONE };
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

    /// Ends the table and moves it to its place; what its manifest says of its bytes.
    pub(super) fn finish(self) -> Result<Value, Exit> {
        let finished = || -> io::Result<Value> {
            let Summed { out, bytes } = self.writer.finish()?;
            let mut part = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            part.sync()?;
            part.take_place()?;
            Ok(bytes.to_json())
        };
        finished().map_err(|error| refused(self.name, &error))
    }
}

/// The number of bytes, and a sum in which every one of them counts (FNV-1a): not against malice, but against disks and
/// editors.
#[derive(Clone, Copy)]
struct Bytes {
    count: u64,
    sum: u64,
}

impl Bytes {
    const NONE: Self = Self { count: 0, sum: 0xcbf2_9ce4_8422_2325 };

    fn take(&mut self, bytes: &[u8]) {
        self.count += bytes.len() as u64;
        for byte in bytes {
            self.sum = (self.sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn to_json(self) -> Value {
        json!({ "bytes": self.count, "check_sum": format!("{:016x}", self.sum) })
    }
}

/// Sums up what is written.
struct Summed<W> {
    out: W,
    bytes: Bytes,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.bytes.take(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a table has the bytes that its manifest says; manifests of earlier versions say nothing.
pub(super) fn is_as_written(name: &str, said: &Value) -> io::Result<bool> {
    if said.is_null() {
        return Ok(true);
    }
    let mut file = crate::input::plain_file(Path::new(name))?;
    let (mut found, mut part) = (Bytes::NONE, vec![0; 1 << 18]);
    loop {
        match file.read(&mut part) {
            Ok(0) => return Ok(found.to_json() == *said),
            Ok(count) => found.take(&part[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
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
