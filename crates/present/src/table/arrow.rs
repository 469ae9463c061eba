//! Tables as Arrow files (`.arrow`, also called Feather), which other programs map into memory as they are.
//!
//! What is not finite is null, as in Parquet.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::reader::FileReader;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use super::block::{Block, Cells, Texts};
use super::{Heading, Kind, Table};

/// Most rows of a batch.
const BATCH: usize = 1 << 16;

/// A file to which batches are added.
pub(super) struct Batches<W: Write> {
    writer: FileWriter<W>,
    schema: SchemaRef,
}

impl<W: Write> Batches<W> {
    /// A file with these columns, and texts about the whole.
    pub(super) fn new(
        headings: &[Heading],
        about: &[(&str, String)],
        out: W,
    ) -> io::Result<Self> {
        let field = |Heading { name, kind }: &Heading| match kind {
            Kind::Integer => Field::new(name, DataType::Int64, false),
            Kind::Number => Field::new(name, DataType::Float64, true),
            Kind::Text => Field::new(name, DataType::Utf8, true),
        };
        let about: BTreeMap<String, String> =
            about.iter().map(|(key, text)| ((*key).to_owned(), text.clone())).collect();
        let fields: Vec<Field> = headings.iter().map(field).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, about));
        let writer = FileWriter::try_new(out, &schema).map_err(plain)?;
        Ok(Self { writer, schema })
    }

    /// Adds rows as one batch.
    pub(super) fn write(&mut self, block: &Block) -> io::Result<()> {
        let column = |cells: &Cells| -> ArrayRef {
            match cells {
                Cells::Integers(values) => Arc::new(Int64Array::from(values.clone())),
                Cells::Numbers(values) => Arc::new(numbers(values)),
                Cells::Texts(texts) => {
                    let there = |text| Some(text).filter(|text: &&str| !text.is_empty());
                    Arc::new(texts.iter().map(there).collect::<StringArray>())
                }
            }
        };
        self.batch(block.columns.iter().map(column).collect())
    }

    fn batch(&mut self, columns: Vec<ArrayRef>) -> io::Result<()> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(plain)?;
        self.writer.write(&batch).map_err(plain)
    }

    /// Ends the file and gives back what it was written to.
    pub(super) fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(plain)
    }
}

fn numbers(values: &[f64]) -> Float64Array {
    values.iter().map(|x| x.is_finite().then_some(*x)).collect()
}

/// Writes a whole table.
pub(super) fn write(table: &Table<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let heading =
        |(name, _): &(String, &[f64])| Heading { name: name.clone(), kind: Kind::Number };
    let headings: Vec<Heading> = table.columns.iter().map(heading).collect();
    let mut file = Batches::new(&headings, &table.about, out)?;
    for start in (0..table.rows()).step_by(BATCH) {
        let end = table.rows().min(start + BATCH);
        let column = |(_, values): &(String, &[f64])| -> ArrayRef {
            Arc::new(numbers(&values[start..end]))
        };
        file.batch(table.columns.iter().map(column).collect())?;
    }
    file.finish().map(|_| ())
}

/// The columns of a file. Those that are no numbers and no texts are refused.
pub(super) fn opened(file: File) -> io::Result<(Vec<Heading>, FileReader<File>)> {
    let reader = FileReader::try_new(file, None).map_err(plain)?;
    let mut headings = Vec::new();
    for field in reader.schema().fields() {
        let name = field.name().clone();
        let kind = match field.data_type() {
            DataType::Int32 | DataType::Int64 => Kind::Integer,
            DataType::Float32 | DataType::Float64 => Kind::Number,
            DataType::Utf8 | DataType::LargeUtf8 => Kind::Text,
            _ => {
                let why = format!("the column `{name}` holds neither numbers nor texts");
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        };
        headings.push(Heading { name, kind });
    }
    Ok((headings, reader))
}

/// The next batch of a file.
pub(super) fn next(reader: &mut FileReader<File>) -> io::Result<Option<Block>> {
    let Some(batch) = reader.next() else { return Ok(None) };
    let columns = batch.map_err(plain)?.columns().iter().map(cells).collect();
    Ok(Some(Block { columns }))
}

/// The values of a column; where there is none it is 0, not a number, or an empty text.
fn cells(column: &ArrayRef) -> Cells {
    let texts = |words: &mut dyn Iterator<Item = Option<&str>>| {
        let mut texts = Texts::default();
        words.for_each(|word| texts.push(word.unwrap_or_default()));
        Cells::Texts(texts)
    };
    match column.data_type() {
        DataType::Int32 => {
            let values = column.as_primitive::<Int32Type>().iter();
            Cells::Integers(values.map(|x| x.map_or(0, i64::from)).collect())
        }
        DataType::Int64 => {
            let values = column.as_primitive::<Int64Type>().iter();
            Cells::Integers(values.map(Option::unwrap_or_default).collect())
        }
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>().iter();
            Cells::Numbers(values.map(|x| x.map_or(f64::NAN, f64::from)).collect())
        }
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>().iter();
            Cells::Numbers(values.map(|x| x.unwrap_or(f64::NAN)).collect())
        }
        DataType::LargeUtf8 => texts(&mut column.as_string::<i64>().iter()),
        _ => texts(&mut column.as_string::<i32>().iter()),
    }
}

/// The error of the file, where that was the cause.
fn plain(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        ArrowError::ExternalError(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
    }
}
