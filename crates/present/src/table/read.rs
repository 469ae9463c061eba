//! CSV, Parquet and Arrow files → rows by columns.

use std::fs::File;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_ipc::reader::FileReader as ArrowReader;
use csv::StringRecord;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::Result;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};

use super::arrow;
use super::block::{Block, Cells, Texts};
use super::parquet::plain_error;
use super::{Heading, Kind};

/// Rows that are read from a CSV file at once.
const LINES: usize = 1 << 14;

/// A file with a table, which is read block by block.
pub struct TableReader {
    /// The columns. Those of a CSV file are known when its first block was read.
    headings: Vec<Heading>,
    file: Format,
}

enum Format {
    Csv(Box<csv::Reader<File>>, Option<Block>),
    Parquet(SerializedFileReader<File>, usize),
    Arrow(Box<ArrowReader<File>>),
}

impl TableReader {
    /// A CSV file. Columns are of numbers if all values in the first rows are, else of texts.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn csv(file: File) -> io::Result<Self> {
        let mut reader = csv::Reader::from_reader(file);
        let names: Vec<String> = reader.headers()?.iter().map(ToOwned::to_owned).collect();
        let headings = names.into_iter().map(|name| Heading { name, kind: Kind::Number });
        let mut headings: Vec<Heading> = headings.collect();
        let mut rows = Vec::new();
        let mut record = StringRecord::new();
        while rows.len() < LINES && reader.read_record(&mut record)? {
            for (heading, cell) in headings.iter_mut().zip(&record) {
                if !cell.trim().is_empty() && cell.trim().parse::<f64>().is_err() {
                    heading.kind = Kind::Text;
                }
            }
            rows.push(record.clone());
        }
        let first = lines(&headings, &rows, 0)?;
        Ok(Self { headings, file: Format::Csv(Box::new(reader), Some(first)) })
    }

    /// A Parquet file. Columns that are no numbers and no texts are refused.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn parquet(file: File) -> io::Result<Self> {
        whole_or_damaged(|| Self::opened(file))
    }

    /// An Arrow file. Columns that are no numbers and no texts are refused.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn arrow(file: File) -> io::Result<Self> {
        let (headings, reader) = whole_or_damaged(|| arrow::opened(file))?;
        Ok(Self { headings, file: Format::Arrow(Box::new(reader)) })
    }

    fn opened(file: File) -> io::Result<Self> {
        let reader = SerializedFileReader::new(file).map_err(plain_error)?;
        let schema = reader.metadata().file_metadata().schema_descr();
        let mut headings = Vec::new();
        for column in schema.columns() {
            use parquet::basic::Type as Physical;
            let name = column.path().parts().join(".");
            let kind = match column.physical_type() {
                Physical::INT32 | Physical::INT64 => Kind::Integer,
                Physical::DOUBLE | Physical::FLOAT => Kind::Number,
                Physical::BYTE_ARRAY => Kind::Text,
                Physical::BOOLEAN | Physical::INT96 | Physical::FIXED_LEN_BYTE_ARRAY => {
                    return Err(damaged(&format!(
                        "the column `{name}` holds neither numbers nor texts"
                    )));
                }
            };
            if column.max_rep_level() > 0 || column.max_def_level() > 1 {
                return Err(damaged(&format!("the column `{name}` is nested")));
            }
            headings.push(Heading { name, kind });
        }
        Ok(Self { headings, file: Format::Parquet(reader, 0) })
    }

    /// The columns.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    ///
    /// Those of the file, and cells that are not of the kind of their column.
    pub fn block(&mut self) -> io::Result<Option<Block>> {
        match &mut self.file {
            Format::Csv(reader, first) => {
                if let Some(block) = first.take() {
                    return Ok((block.rows() > 0).then_some(block));
                }
                let mut rows = Vec::new();
                let mut record = StringRecord::new();
                while rows.len() < LINES && reader.read_record(&mut record)? {
                    rows.push(record.clone());
                }
                let before = reader.position().line() as usize - rows.len();
                let block = lines(&self.headings, &rows, before)?;
                Ok((block.rows() > 0).then_some(block))
            }
            Format::Parquet(reader, next) => {
                if *next == reader.num_row_groups() {
                    return Ok(None);
                }
                let headings = &self.headings;
                let block = whole_or_damaged(|| {
                    let group = reader.get_row_group(*next).map_err(plain_error)?;
                    group_block(headings, &*group).map_err(plain_error)
                })?;
                *next += 1;
                let rows = block.rows();
                if block.columns.iter().any(|cells| cells.len() != rows) {
                    return Err(damaged("it is damaged: its columns have different lengths"));
                }
                Ok(Some(block))
            }
            Format::Arrow(reader) => whole_or_damaged(|| arrow::next(reader)),
        }
    }

    /// All rows, where columns of whole numbers are numbers too.
    ///
    /// # Errors
    ///
    /// As [`block`](Self::block).
    pub fn whole(mut self) -> io::Result<(Vec<Heading>, Block)> {
        let mut whole = Block::new(self.headings.iter().map(|heading| heading.kind));
        while let Some(block) = self.block()? {
            whole.extend(&block, 0, block.rows());
        }
        for (cells, heading) in whole.columns.iter_mut().zip(&mut self.headings) {
            if let Cells::Integers(values) = cells {
                *cells = Cells::Numbers(values.iter().map(|&x| x as f64).collect());
                heading.kind = Kind::Number;
            }
        }
        Ok((self.headings, whole))
    }

    /// Reads the columns as these instead, if they have the same names.
    pub fn expect(&mut self, headings: &[Heading]) -> bool {
        let same = self.headings.iter().map(|h| &h.name).eq(headings.iter().map(|h| &h.name));
        let fits = match &mut self.file {
            // NOTE: a column of which the first rows are empty may be one of texts, and one of numbers.
            Format::Csv(_, Some(first)) => {
                same && headings
                    .iter()
                    .zip(&mut first.columns)
                    .all(|(heading, cells)| converted(heading.kind, cells))
            }
            Format::Csv(_, None) => false,
            Format::Parquet(..) | Format::Arrow(_) => same && self.headings == headings,
        };
        if fits {
            self.headings = headings.to_vec();
        }
        fits
    }
}

/// What is read from a file that may be damaged: the reader of Parquet panics at some such files.
fn whole_or_damaged<T>(read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged("it is damaged")))
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

/// Makes numbers that were read without knowing better into what they are.
fn converted(kind: Kind, cells: &mut Cells) -> bool {
    let Cells::Numbers(values) = cells else { return kind == Kind::Text };
    match kind {
        Kind::Number => {}
        Kind::Integer => {
            if values.iter().any(|x| x.fract() != 0.0) {
                return false;
            }
            *cells = Cells::Integers(values.iter().map(|&x| x as i64).collect());
        }
        Kind::Text => {
            if values.iter().any(|x| !x.is_nan()) {
                return false;
            }
            let mut texts = Texts::default();
            values.iter().for_each(|_| texts.push(""));
            *cells = Cells::Texts(texts);
        }
    }
    true
}

fn lines(headings: &[Heading], rows: &[StringRecord], before: usize) -> io::Result<Block> {
    let mut block = Block::new(headings.iter().map(|heading| heading.kind));
    for (row, record) in rows.iter().enumerate() {
        for ((cells, cell), heading) in block.columns.iter_mut().zip(record).zip(headings) {
            let word = cell.trim();
            let wrong = || {
                let line = record.position().map_or((before + row) as u64, csv::Position::line);
                damaged(&format!(
                    "line {line}: `{word}` is not a number of the column `{}`",
                    heading.name
                ))
            };
            match cells {
                Cells::Integers(values) => values.push(word.parse().map_err(|_| wrong())?),
                Cells::Numbers(values) if word.is_empty() => values.push(f64::NAN),
                Cells::Numbers(values) => values.push(word.parse().map_err(|_| wrong())?),
                Cells::Texts(texts) => texts.push(cell),
            }
        }
    }
    Ok(block)
}

fn group_block(headings: &[Heading], group: &dyn RowGroupReader) -> Result<Block> {
    let rows = group.metadata().num_rows() as usize;
    let mut columns = Vec::with_capacity(headings.len());
    for i in 0..headings.len() {
        columns.push(match group.get_column_reader(i)? {
            ColumnReader::Int32ColumnReader(c) => {
                Cells::Integers(values(c, rows, |x| i64::from(*x), 0)?)
            }
            ColumnReader::Int64ColumnReader(c) => Cells::Integers(values(c, rows, |x| *x, 0)?),
            ColumnReader::DoubleColumnReader(c) => {
                Cells::Numbers(values(c, rows, |x| *x, f64::NAN)?)
            }
            ColumnReader::FloatColumnReader(c) => {
                Cells::Numbers(values(c, rows, |x| f64::from(*x), f64::NAN)?)
            }
            ColumnReader::ByteArrayColumnReader(c) => {
                let text = |x: &parquet::data_type::ByteArray| {
                    String::from_utf8_lossy(x.data()).into_owned()
                };
                let mut texts = Texts::default();
                values(c, rows, text, String::new())?.iter().for_each(|t| texts.push(t));
                Cells::Texts(texts)
            }
            ColumnReader::BoolColumnReader(_)
            | ColumnReader::Int96ColumnReader(_)
            | ColumnReader::FixedLenByteArrayColumnReader(_) => {
                unreachable!("such columns are refused when the file is opened")
            }
        });
    }
    Ok(Block { columns })
}

/// All values of a column of a group, with `missing` where there is none.
fn values<T: DataType, V: Clone>(
    mut column: ColumnReaderImpl<T>,
    rows: usize,
    read: impl Fn(&T::T) -> V,
    missing: V,
) -> Result<Vec<V>> {
    let (mut there, mut found) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let (read, _, _) =
            column.read_records(rows - done, Some(&mut there), None, &mut found)?;
        if read == 0 {
            break;
        }
        done += read;
    }
    if there.is_empty() {
        return Ok(found.iter().map(read).collect());
    }
    let mut found = found.iter();
    let value = |level: &i16| match level {
        1 => found.next().map_or_else(|| missing.clone(), &read),
        _ => missing.clone(),
    };
    Ok(there.iter().map(value).collect())
}
