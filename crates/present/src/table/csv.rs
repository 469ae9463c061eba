//! A table → CSV [RFC 4180]: a line of names, then a line for each row, ended by `\n`.

use std::io::{self, Write};

use csv::{Terminator, WriterBuilder};

use super::Table;

pub(super) fn write(
    table: &Table<'_>,
    start: usize,
    has_names: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(out);
    if has_names {
        writer.write_record(table.columns.iter().map(|(name, _)| name))?;
    }
    let mut cell = String::new();
    for row in start..table.rows() {
        for (_, values) in &table.columns {
            cell.clear();
            if values[row].is_finite() {
                use std::fmt::Write;
                // The shortest digits that read back as the same number.
                let _ = write!(cell, "{:?}", values[row]);
            }
            writer.write_field(&cell)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_read_back() {
        let (t, x) = ([0.1, 1e-300, f64::MAX], [0.1 + 0.2, f64::NAN, -0.0]);
        let columns = vec![("phi[1,2]".to_owned(), &t[..]), ("say \"x\"".to_owned(), &x[..])];
        let text = Table { columns, ..Table::default() }.to_csv();
        assert_eq!(text.lines().next().unwrap(), "\"phi[1,2]\",\"say \"\"x\"\"\"");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<[Option<f64>; 2]> = reader
            .records()
            .map(|r| {
                r.unwrap()
                    .iter()
                    .map(|c| c.parse().ok())
                    .collect::<Vec<_>>()
                    .try_into()
                    .unwrap()
            })
            .collect();
        let bits = |v: f64| Some(v.to_bits());
        for (i, row) in rows.iter().enumerate() {
            assert_eq!(row[0].map(f64::to_bits), bits(t[i]));
        }
        assert_eq!(rows[1][1], None);
        assert_eq!(rows[2][1].map(f64::to_bits), bits(-0.0));
    }

    #[test]
    fn later_rows_have_no_names() {
        let t = [1.0, 2.0];
        let table = Table { columns: vec![("t".to_owned(), &t[..])], ..Table::default() };
        let mut bytes = Vec::new();
        table.write_csv(1, &mut bytes).unwrap();
        assert_eq!(bytes, b"2.0\n");
    }
}
