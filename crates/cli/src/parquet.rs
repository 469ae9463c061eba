//! Named columns of doubles → a Parquet file.
//!
//! One required DOUBLE column for each name, PLAIN and uncompressed: what is written are the eight bytes of
//! each number, so that they read back exactly; what is not
//! finite stays what it is. Rows come in groups of at most [`GROUP`]. The layout is that of the Apache
//! Parquet format, version 1:
//!
//! ```text
//! "PAR1", then for each group and column a page header and its numbers, then the footer, its length (4 bytes), "PAR1"
//! ```
//!
//! Headers and footer are structures of Thrift's compact protocol: a byte with the distance to the last
//! field's number in its upper half and the type in its
//! lower, then the value; integers as zigzag varints; a zero byte ends a structure.

use std::io::{self, Write};

/// Most rows of a group: its pages stay below 8 MiB.
const GROUP: usize = 1 << 20;

const MAGIC: &[u8; 4] = b"PAR1";
/// The numbers of the format: physical type, repetition, encodings.
const DOUBLE: i64 = 5;
const REQUIRED: i64 = 0;
const PLAIN: i64 = 0;
const RLE: i64 = 3;

/// Writes columns of equal length, and texts about them that readers show as metadata.
pub(crate) fn write(
    columns: &[(String, &[f64])],
    about: &[(&str, String)],
    file: &mut dyn Write,
) -> io::Result<()> {
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    file.write_all(MAGIC)?;
    let mut at = MAGIC.len() as i64;
    let mut groups = Vec::new();
    for start in (0..rows).step_by(GROUP) {
        let end = rows.min(start + GROUP);
        let mut chunks = Vec::new();
        for (_, values) in columns {
            let header = page_header(end - start);
            file.write_all(&header)?;
            for value in &values[start..end] {
                file.write_all(&value.to_le_bytes())?;
            }
            let size = (header.len() + 8 * (end - start)) as i64;
            chunks.push((at, size));
            at += size;
        }
        groups.push((end - start, chunks));
    }
    let footer = footer(columns, about, rows, &groups);
    file.write_all(&footer)?;
    file.write_all(&(footer.len() as u32).to_le_bytes())?;
    file.write_all(MAGIC)
}

fn page_header(count: usize) -> Vec<u8> {
    let size = 8 * count as i64;
    let mut s = Structure::default();
    s.integer(1, I32, 0); // a data page
    s.integer(2, I32, size);
    s.integer(3, I32, size);
    s.structure(5, |s| {
        s.integer(1, I32, count as i64);
        s.integer(2, I32, PLAIN);
        s.integer(3, I32, RLE);
        s.integer(4, I32, RLE);
    });
    s.end()
}

/// A group: how many rows, and where each column's chunk begins and how long it is.
type Group = (usize, Vec<(i64, i64)>);

fn footer(
    columns: &[(String, &[f64])],
    about: &[(&str, String)],
    rows: usize,
    groups: &[Group],
) -> Vec<u8> {
    let mut s = Structure::default();
    s.integer(1, I32, 1); // the version
    s.list(2, STRUCTURE, 1 + columns.len());
    s.element(|s| {
        s.text(4, "motion");
        s.integer(5, I32, columns.len() as i64);
    });
    for (name, _) in columns {
        s.element(|s| {
            s.integer(1, I32, DOUBLE);
            s.integer(3, I32, REQUIRED);
            s.text(4, name);
        });
    }
    s.integer(3, I64, rows as i64);
    s.list(4, STRUCTURE, groups.len());
    for (count, chunks) in groups {
        s.element(|s| {
            s.list(1, STRUCTURE, chunks.len());
            for ((name, _), &(at, size)) in columns.iter().zip(chunks) {
                s.element(|s| chunk(s, name, *count, at, size));
            }
            s.integer(2, I64, chunks.iter().map(|c| c.1).sum());
            s.integer(3, I64, *count as i64);
        });
    }
    s.list(5, STRUCTURE, about.len());
    for (key, value) in about {
        s.element(|s| {
            s.text(1, key);
            s.text(2, value);
        });
    }
    s.text(6, concat!("pfaff ", env!("CARGO_PKG_VERSION")));
    s.end()
}

fn chunk(s: &mut Structure, name: &str, count: usize, at: i64, size: i64) {
    s.integer(2, I64, at);
    s.structure(3, |s| {
        s.integer(1, I32, DOUBLE);
        s.list(2, I32, 1);
        s.varint(zigzag(PLAIN));
        s.list(3, TEXT, 1);
        s.bytes_of(name);
        s.integer(4, I32, 0); // uncompressed
        s.integer(5, I64, count as i64);
        s.integer(6, I64, size);
        s.integer(7, I64, size);
        s.integer(9, I64, at);
    });
}

/// The types of the compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const STRUCTURE: u8 = 12;

/// A structure under way.
#[derive(Default)]
struct Structure {
    bytes: Vec<u8>,
    last: i16,
}

impl Structure {
    fn field(&mut self, number: i16, kind: u8) {
        // NOTE: fields come in order and close together, so the short form always does.
        let distance = number - self.last;
        debug_assert!((1..=15).contains(&distance), "fields in order");
        self.bytes.push((distance as u8) << 4 | kind);
        self.last = number;
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn integer(&mut self, number: i16, kind: u8, value: i64) {
        self.field(number, kind);
        self.varint(zigzag(value));
    }

    fn bytes_of(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn text(&mut self, number: i16, text: &str) {
        self.field(number, TEXT);
        self.bytes_of(text);
    }

    fn list(&mut self, number: i16, kind: u8, count: usize) {
        self.field(number, LIST);
        if count < 15 {
            self.bytes.push((count as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            self.varint(count as u64);
        }
    }

    fn structure(&mut self, number: i16, fill: impl FnOnce(&mut Self)) {
        self.field(number, STRUCTURE);
        self.element(fill);
    }

    /// A structure in a list: it counts its fields from zero.
    fn element(&mut self, fill: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.last);
        fill(self);
        self.bytes.push(0);
        self.last = outer;
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;
