//! Rows of a motion on the disk, for formats that cannot grow: Parquet and Arrow.
//!
//! Blocks of columns, eight bytes a number, in a file beside the output that nobody else sees. The output is made from
//! it at each writing, so that a run of any length takes the memory of a block.

use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use pfaff_present::{Block, Cells, FileFormat, Heading, Kind, Table, TableWriter};

use crate::whole_file::{Part, Place};

/// Most rows of a block.
const BLOCK: usize = 1 << 15;

/// Rows that are in no file yet.
pub(crate) struct Spool {
    part: Part,
    columns: usize,
    /// The rows of each block.
    blocks: Vec<usize>,
}

impl Spool {
    /// No rows of so many columns, beside a place.
    pub(crate) fn new(place: &Place, columns: usize) -> io::Result<Self> {
        Ok(Self { part: place.part()?, columns, blocks: Vec::new() })
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.blocks.iter().sum()
    }

    /// Adds the rows of a table from one on.
    pub(crate) fn add(&mut self, table: &Table<'_>, from: usize) -> io::Result<()> {
        let mut bytes = Vec::new();
        for start in (from..table.rows()).step_by(BLOCK) {
            let end = table.rows().min(start + BLOCK);
            for (_, values) in &table.columns {
                bytes.clear();
                bytes.extend(values[start..end].iter().flat_map(|x| x.to_le_bytes()));
                self.part.write_all(&bytes)?;
            }
            self.blocks.push(end - start);
        }
        Ok(())
    }

    /// Writes all rows to their place as a table with these names and these words about it.
    pub(crate) fn write(
        &mut self,
        place: &Place,
        format: FileFormat,
        table: &Table<'_>,
        last: bool,
    ) -> io::Result<()> {
        let heading =
            |(name, _): &(String, &[f64])| Heading { name: name.clone(), kind: Kind::Number };
        let headings: Vec<Heading> = table.columns.iter().map(heading).collect();
        let out = BufWriter::with_capacity(1 << 18, place.part()?);
        let mut writer = if format == FileFormat::Arrow {
            TableWriter::arrow(&headings, &table.about, out)?
        } else {
            TableWriter::parquet(&headings, &table.about, out)?
        };
        self.read(|block| writer.write(block))?;
        let mut part = writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        if last {
            part.sync()?;
        }
        part.take_place()
    }

    /// Hands over all rows.
    fn read(&mut self, mut take: impl FnMut(&Block) -> io::Result<()>) -> io::Result<()> {
        let mut file = self.part.file();
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::new();
        for &rows in &self.blocks {
            let mut columns = Vec::with_capacity(self.columns);
            for _ in 0..self.columns {
                bytes.resize(8 * rows, 0);
                file.read_exact(&mut bytes)?;
                let (numbers, _) = bytes.as_chunks::<8>();
                columns.push(Cells::Numbers(
                    numbers.iter().map(|b| f64::from_le_bytes(*b)).collect(),
                ));
            }
            take(&Block { columns })?;
        }
        file.seek(SeekFrom::End(0))?;
        Ok(())
    }
}
