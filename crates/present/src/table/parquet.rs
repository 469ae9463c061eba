//! A table → a Parquet file: one nullable DOUBLE column for each name.
//!
//! The bytes of the doubles are stored by place (`BYTE_STREAM_SPLIT`) and packed by Snappy: neighbours of a smooth
//! motion share their first bytes, and every reader knows both.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use parquet::data_type::DoubleType;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::Table;

/// Most rows of a group.
const GROUP: usize = 1 << 20;

pub(super) fn write(table: &Table<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
    written(table, out).map_err(plain_error)
}

/// The error of the file, where that was the cause.
pub(super) fn plain_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}

fn written(table: &Table<'_>, out: &mut (dyn Write + Send)) -> Result<()> {
    let field = |(name, _): &(String, &[f64])| {
        let column = Type::primitive_type_builder(name, Physical::DOUBLE);
        Ok(Arc::new(column.with_repetition(Repetition::OPTIONAL).build()?))
    };
    let fields = table.columns.iter().map(field).collect::<Result<Vec<_>>>()?;
    let schema = Type::group_type_builder("motion").with_fields(fields).build()?;
    let about = table.about.iter().map(|(k, v)| KeyValue::new((*k).to_owned(), v.clone()));
    let properties = WriterProperties::builder()
        .set_created_by(concat!("pfaff ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::BYTE_STREAM_SPLIT)
        .set_key_value_metadata(Some(about.collect()))
        .build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let (mut numbers, mut there) = (Vec::new(), Vec::new());
    for start in (0..table.rows()).step_by(GROUP) {
        let end = table.rows().min(start + GROUP);
        let mut group = writer.next_row_group()?;
        for (_, values) in &table.columns {
            let values = &values[start..end];
            numbers.clear();
            there.clear();
            numbers.extend(values.iter().copied().filter(|x| x.is_finite()));
            there.extend(values.iter().map(|x| i16::from(x.is_finite())));
            let mut column = group.next_column()?.expect("as many columns as fields");
            column.typed::<DoubleType>().write_batch(&numbers, Some(&there), None)?;
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
