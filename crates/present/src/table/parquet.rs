//! A table → a Parquet file: one nullable DOUBLE column for each name.
//!
//! The bytes of the doubles are stored by place (`BYTE_STREAM_SPLIT`) and packed by Snappy: neighbours of a smooth
//! motion share their first bytes, and every reader knows both. A file of doubles alone takes little, so it is written
//! here: the workbench in a page carries no more than that.
//! [Apache Parquet, "File Format" and `parquet.thrift`, version 2.11]

use std::io::{self, Write};

#[cfg(not(target_arch = "wasm32"))]
use parquet::errors::ParquetError;

use super::Table;
use super::thrift::{Thrift, varint};

/// Most rows of a group, and of a page of a column.
const GROUP: usize = 1 << 20;
const PAGE: usize = 1 << 16;

const MAGIC: &[u8; 4] = b"PAR1";
/// Numbers of `parquet.thrift`: of types, repetitions, encodings, codecs and pages.
const DOUBLE: i32 = 5;
const OPTIONAL: i32 = 1;
const RLE: i32 = 3;
const BYTE_STREAM_SPLIT: i32 = 9;
const SNAPPY: i32 = 1;
const DATA_PAGE: i32 = 0;

/// The error of the file, where that was the cause.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn plain_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        error => io::Error::other(error),
    }
}

/// A column of a group as it stands in the file.
struct Chunk<'a> {
    name: &'a str,
    offset: usize,
    rows: usize,
    /// Bytes before and after packing.
    plain: usize,
    packed: usize,
    nulls: usize,
    /// The smallest and the largest value.
    range: Option<[f64; 2]>,
}

/// Columns of the same rows.
struct Group<'a> {
    rows: usize,
    chunks: Vec<Chunk<'a>>,
}

pub(super) fn write(table: &Table<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
    out.write_all(MAGIC)?;
    let mut place = MAGIC.len();
    let mut groups = Vec::new();
    for start in (0..table.rows()).step_by(GROUP) {
        let end = table.rows().min(start + GROUP);
        let mut chunks = Vec::with_capacity(table.columns.len());
        for (name, values) in &table.columns {
            let chunk = write_chunk(name, &values[start..end], place, out)?;
            place += chunk.packed;
            chunks.push(chunk);
        }
        groups.push(Group { rows: end - start, chunks });
    }
    let about = metadata(table, &groups);
    out.write_all(&about)?;
    out.write_all(&size(about.len())?.to_le_bytes())?;
    out.write_all(MAGIC)
}

/// Sizes have 32 bits.
fn size(length: usize) -> io::Result<u32> {
    u32::try_from(length).map_err(|_| io::Error::other("a part of a Parquet file is too long"))
}

fn write_chunk<'a>(
    name: &'a str,
    values: &[f64],
    offset: usize,
    out: &mut (dyn Write + Send),
) -> io::Result<Chunk<'a>> {
    let rows = values.len();
    let mut chunk = Chunk { name, offset, rows, plain: 0, packed: 0, nulls: 0, range: None };
    for values in values.chunks(PAGE) {
        let page = page(values);
        let packed = snap::raw::Encoder::new().compress_vec(&page).map_err(io::Error::other)?;
        let sizes = [size(page.len())?, size(packed.len())?].map(u32::cast_signed);
        let head = Thrift::of(|head| {
            head.i32(1, DATA_PAGE);
            head.i32(2, sizes[0]);
            head.i32(3, sizes[1]);
            head.nested(5, |data| {
                data.i32(1, values.len() as i32);
                data.i32(2, BYTE_STREAM_SPLIT);
                data.i32(3, RLE);
                data.i32(4, RLE);
            });
        });
        out.write_all(&head)?;
        out.write_all(&packed)?;
        chunk.plain += head.len() + page.len();
        chunk.packed += head.len() + packed.len();
        for &x in values {
            match &mut chunk.range {
                _ if !x.is_finite() => chunk.nulls += 1,
                Some([least, most]) => (*least, *most) = (least.min(x), most.max(x)),
                range @ None => *range = Some([x, x]),
            }
        }
    }
    Ok(chunk)
}

/// Which values are there, in runs, and the bytes of those by place.
fn page(values: &[f64]) -> Vec<u8> {
    let mut levels = Vec::new();
    for run in values.chunk_by(|a, b| a.is_finite() == b.is_finite()) {
        varint((run.len() as u64) << 1, &mut levels);
        levels.push(u8::from(run[0].is_finite()));
    }
    let there: Vec<[u8; 8]> =
        values.iter().filter(|x| x.is_finite()).map(|x| x.to_le_bytes()).collect();
    let mut page = Vec::with_capacity(4 + levels.len() + 8 * there.len());
    page.extend_from_slice(&(levels.len() as u32).to_le_bytes());
    page.extend_from_slice(&levels);
    for place in 0..8 {
        page.extend(there.iter().map(|bytes| bytes[place]));
    }
    page
}

fn metadata(table: &Table<'_>, groups: &[Group<'_>]) -> Vec<u8> {
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    // The schema is a tree, its root first.
    let schema: Vec<Option<&str>> =
        [None].into_iter().chain(names.iter().map(|n| Some(*n))).collect();
    Thrift::of(|file| {
        file.i32(1, 1);
        file.structs(2, &schema, |element, name| match name {
            Some(name) => {
                element.i32(1, DOUBLE);
                element.i32(3, OPTIONAL);
                element.binary(4, name.as_bytes());
            }
            None => {
                element.binary(4, b"motion");
                element.i32(5, names.len() as i32);
            }
        });
        file.i64(3, table.rows());
        file.structs(4, groups, |group, written| {
            group.structs(1, &written.chunks, |column, chunk| {
                column.i64(2, chunk.offset);
                column.nested(3, |about| chunk.describe(about));
            });
            group.i64(2, written.chunks.iter().map(|chunk| chunk.plain).sum());
            group.i64(3, written.rows);
        });
        file.structs(5, &table.about, |pair, (key, value)| {
            pair.binary(1, key.as_bytes());
            pair.binary(2, value.as_bytes());
        });
        file.binary(6, concat!("pfaff ", env!("CARGO_PKG_VERSION")).as_bytes());
        // Smallest and largest values are in the order of their type.
        file.structs(7, &names, |order, _| order.nested(1, |_| {}));
    })
}

impl Chunk<'_> {
    fn describe(&self, about: &mut Thrift) {
        about.i32(1, DOUBLE);
        about.numbers(2, &[RLE, BYTE_STREAM_SPLIT]);
        about.texts(3, self.name);
        about.i32(4, SNAPPY);
        about.i64(5, self.rows);
        about.i64(6, self.plain);
        about.i64(7, self.packed);
        about.i64(9, self.offset);
        about.nested(12, |statistics| {
            statistics.i64(3, self.nulls);
            if let Some([least, most]) = self.range {
                // NOTE: zeros are those of both signs, as readers expect it.
                let signed = |x: f64, zero: f64| if x == 0.0 { zero } else { x };
                statistics.binary(5, &signed(most, 0.0).to_le_bytes());
                statistics.binary(6, &signed(least, -0.0).to_le_bytes());
            }
        });
    }
}
