//! Blocks of rows → a CSV, Parquet or Arrow file that is written as they come, with bounded memory.
//!
//! The bytes depend on the rows alone and not on how they are divided into blocks: groups of a Parquet file and batches
//! of an Arrow file have [`GROUP`] rows, whatever the blocks have.

use std::io::{self, Write};
use std::sync::Arc;

use csv::{Terminator, WriterBuilder};
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{ColumnPath, Type};

use super::arrow::Batches;
use super::block::{Block, Cells};
use super::{Heading, Kind, parquet::plain_error};

/// Rows of a group of a Parquet file, or a batch of an Arrow file.
const GROUP: usize = 1 << 16;

/// A file to which blocks are added.
pub enum TableWriter<W: Write + Send> {
    /// `.csv`
    Csv(Box<csv::Writer<W>>),
    /// `.parquet` and `.arrow`
    Groups(Box<Groups<W>>),
}

/// Rows that wait until a group is full.
pub struct Groups<W: Write + Send> {
    file: GroupFile<W>,
    waiting: Block,
}

/// What groups are written to.
enum GroupFile<W: Write + Send> {
    Parquet(SerializedFileWriter<W>),
    Arrow(Batches<W>),
}

impl<W: Write + Send> TableWriter<W> {
    /// A CSV file with these columns.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn csv(headings: &[Heading], out: W) -> io::Result<Self> {
        let mut writer =
            WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(out);
        writer.write_record(headings.iter().map(|heading| &heading.name))?;
        Ok(Self::Csv(Box::new(writer)))
    }

    /// A Parquet file with these columns, and texts about the whole.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn parquet(headings: &[Heading], about: &[(&str, String)], out: W) -> io::Result<Self> {
        let file = GroupFile::Parquet(begun(headings, about, out).map_err(plain_error)?);
        let waiting = Block::new(headings.iter().map(|heading| heading.kind));
        Ok(Self::Groups(Box::new(Groups { file, waiting })))
    }

    /// An Arrow file with these columns, and texts about the whole.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn arrow(headings: &[Heading], about: &[(&str, String)], out: W) -> io::Result<Self> {
        let file = GroupFile::Arrow(Batches::new(headings, about, out)?);
        let waiting = Block::new(headings.iter().map(|heading| heading.kind));
        Ok(Self::Groups(Box::new(Groups { file, waiting })))
    }

    /// Adds rows.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn write(&mut self, block: &Block) -> io::Result<()> {
        match self {
            Self::Csv(writer) => write_lines(writer, block),
            Self::Groups(groups) => groups.write(block),
        }
    }

    /// Ends the file and gives back what it was written to.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn finish(self) -> io::Result<W> {
        match self {
            Self::Csv(writer) => {
                writer.into_inner().map_err(|error| io::Error::other(error.to_string()))
            }
            Self::Groups(mut groups) => {
                groups.write_group()?;
                match groups.file {
                    GroupFile::Parquet(writer) => writer.into_inner().map_err(plain_error),
                    GroupFile::Arrow(batches) => batches.finish(),
                }
            }
        }
    }
}

fn write_lines<W: Write>(writer: &mut csv::Writer<W>, block: &Block) -> io::Result<()> {
    use std::fmt::Write as _;
    let mut cell = String::new();
    for row in 0..block.rows() {
        for cells in &block.columns {
            cell.clear();
            match cells {
                Cells::Integers(values) => {
                    let _ = write!(cell, "{}", values[row]);
                }
                // The shortest digits that read back as the same number.
                Cells::Numbers(values) if values[row].is_finite() => {
                    let _ = write!(cell, "{:?}", values[row]);
                }
                Cells::Numbers(_) => {}
                Cells::Texts(texts) => cell.push_str(texts.get(row)),
            }
            writer.write_field(&cell)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

fn begun<W: Write + Send>(
    headings: &[Heading],
    about: &[(&str, String)],
    out: W,
) -> Result<SerializedFileWriter<W>> {
    let field = |Heading { name, kind }: &Heading| {
        let builder = |physical| Type::primitive_type_builder(name, physical);
        let column = match kind {
            Kind::Integer => builder(Physical::INT64).with_repetition(Repetition::REQUIRED),
            Kind::Number => builder(Physical::DOUBLE).with_repetition(Repetition::OPTIONAL),
            Kind::Text => builder(Physical::BYTE_ARRAY)
                .with_logical_type(Some(LogicalType::String))
                .with_repetition(Repetition::OPTIONAL),
        };
        Ok(Arc::new(column.build()?))
    };
    let fields = headings.iter().map(field).collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("cases").with_fields(fields).build()?;
    let about = about.iter().map(|(k, v)| KeyValue::new((*k).to_owned(), v.clone()));
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("pfaff ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_key_value_metadata(Some(about.collect()));
    for Heading { name, kind } in headings {
        let path = ColumnPath::from(vec![name.clone()]);
        properties = match kind {
            Kind::Number => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            Kind::Text => properties.set_column_dictionary_enabled(path, true),
            Kind::Integer => {
                properties.set_column_encoding(path, Encoding::DELTA_BINARY_PACKED)
            }
        };
    }
    SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))
}

impl<W: Write + Send> Groups<W> {
    fn write(&mut self, block: &Block) -> io::Result<()> {
        let mut from = 0;
        while from < block.rows() {
            let to = block.rows().min(from + GROUP - self.waiting.rows());
            self.waiting.extend(block, from, to);
            from = to;
            if self.waiting.rows() == GROUP {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes what waits.
    fn write_group(&mut self) -> io::Result<()> {
        if self.waiting.rows() == 0 {
            return Ok(());
        }
        match &mut self.file {
            GroupFile::Parquet(writer) => {
                write_columns(writer, &self.waiting).map_err(plain_error)?;
            }
            GroupFile::Arrow(batches) => batches.write(&self.waiting)?,
        }
        self.waiting.clear();
        Ok(())
    }
}

/// Writes rows as one group of a Parquet file.
fn write_columns<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    block: &Block,
) -> Result<()> {
    let mut group = writer.next_row_group()?;
    for cells in &block.columns {
        let mut column = group.next_column()?.expect("as many columns as fields");
        match cells {
            Cells::Integers(values) => {
                column.typed::<Int64Type>().write_batch(values, None, None)?;
            }
            Cells::Numbers(values) => {
                let there: Vec<i16> = values.iter().map(|x| i16::from(x.is_finite())).collect();
                let numbers: Vec<f64> =
                    values.iter().copied().filter(|x| x.is_finite()).collect();
                column.typed::<DoubleType>().write_batch(&numbers, Some(&there), None)?;
            }
            Cells::Texts(texts) => {
                let there: Vec<i16> =
                    texts.iter().map(|text| i16::from(!text.is_empty())).collect();
                // Rows with equal texts share one: a text is not copied for each of them.
                let (words, codes) = texts.parts();
                let words: Vec<ByteArray> = words.iter().map(|w| w.as_str().into()).collect();
                let of = |code: &u32| words[*code as usize].clone();
                let texts: Vec<ByteArray> =
                    codes.iter().map(of).filter(|text| !text.is_empty()).collect();
                column.typed::<ByteArrayType>().write_batch(&texts, Some(&there), None)?;
            }
        }
        column.close()?;
    }
    group.close()?;
    Ok(())
}
