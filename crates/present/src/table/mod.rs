//! Named columns, and their files: CSV, Parquet and Arrow.
//!
//! Numbers read back exactly. What is not finite is an empty field in CSV and null in Parquet and Arrow, as it is
//! `null` in JSON.

#[cfg(not(target_arch = "wasm32"))]
mod arrow;
mod block;
mod csv;
mod difference;
mod expression;
mod parquet;
#[cfg(not(target_arch = "wasm32"))]
mod read;
#[cfg(not(target_arch = "wasm32"))]
mod stream;
mod thrift;

use std::io::{self, Write};

pub use block::{Block, Cells, Texts};
pub use difference::{ColumnDifference, TableDifference, difference};
pub use expression::column_values;
#[cfg(not(target_arch = "wasm32"))]
pub use read::TableReader;
#[cfg(not(target_arch = "wasm32"))]
pub use stream::TableWriter;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Texts.
    Text,
}

/// Name and kind of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// Columns of equal length.
#[derive(Clone, Debug, Default)]
pub struct Table<'a> {
    /// Name and values of each column.
    pub columns: Vec<(String, &'a [f64])>,
    /// Texts about the whole, by name, for formats that keep such.
    pub about: Vec<(&'static str, String)>,
}

impl Table<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// Writes the rows from `start` on as CSV, with the names before the first row.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_csv(&self, start: usize, out: &mut dyn Write) -> io::Result<()> {
        csv::write(self, start, start == 0, out)
    }

    /// Writes the rows from `start` on as CSV, without names.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_csv_rows(&self, start: usize, out: &mut dyn Write) -> io::Result<()> {
        csv::write(self, start, false, out)
    }

    /// The whole table as CSV.
    pub fn to_csv(&self) -> String {
        let mut bytes = Vec::new();
        self.write_csv(0, &mut bytes).expect("a vector takes every byte");
        String::from_utf8(bytes).expect("names and numbers are text")
    }

    /// Writes the whole table as Parquet.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write_parquet(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        parquet::write(self, out)
    }

    /// Writes the whole table as an Arrow file.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn write_arrow(&self, out: &mut (dyn Write + Send)) -> io::Result<()> {
        arrow::write(self, out)
    }
}
