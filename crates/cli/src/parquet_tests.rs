//! Tests of the Parquet writer: a reader of its own for the compact protocol, which knows nothing of the writer.

use std::collections::BTreeMap;

use super::*;

/// A value of the compact protocol.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Integer(i64),
    Text(String),
    List(Vec<Value>),
    Structure(BTreeMap<i16, Value>),
}

impl Value {
    fn field(&self, number: i16) -> &Value {
        match self {
            Value::Structure(fields) => &fields[&number],
            other => panic!("not a structure: {other:?}"),
        }
    }

    fn integer(&self) -> i64 {
        match self {
            Value::Integer(x) => *x,
            other => panic!("not an integer: {other:?}"),
        }
    }

    fn text(&self) -> &str {
        match self {
            Value::Text(x) => x,
            other => panic!("not a text: {other:?}"),
        }
    }

    fn list(&self) -> &[Value] {
        match self {
            Value::List(x) => x,
            other => panic!("not a list: {other:?}"),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().expect("bytes are left");
        self.0 = rest;
        *first
    }

    fn varint(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    fn value(&mut self, kind: u8) -> Value {
        match kind {
            5 | 6 => {
                let z = self.varint();
                Value::Integer((z >> 1) as i64 ^ -((z & 1) as i64))
            }
            8 => {
                let length = self.varint() as usize;
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                Value::Text(String::from_utf8(text.to_vec()).unwrap())
            }
            9 => {
                let head = self.byte();
                let short = usize::from(head >> 4);
                let count = if short == 15 { self.varint() as usize } else { short };
                Value::List((0..count).map(|_| self.value(head & 15)).collect())
            }
            12 => self.structure(),
            other => panic!("type {other}"),
        }
    }

    fn structure(&mut self) -> Value {
        let (mut fields, mut last) = (BTreeMap::new(), 0);
        loop {
            let head = self.byte();
            if head == 0 {
                return Value::Structure(fields);
            }
            last += i16::from(head >> 4);
            let value = self.value(head & 15);
            fields.insert(last, value);
        }
    }
}

/// Names, columns and metadata of a file.
fn read(bytes: &[u8]) -> (Vec<String>, Vec<Vec<f64>>, BTreeMap<String, String>) {
    assert_eq!(&bytes[..4], b"PAR1");
    assert_eq!(&bytes[bytes.len() - 4..], b"PAR1");
    let tail: [u8; 4] = bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap();
    let length = u32::from_le_bytes(tail) as usize;
    let footer = &bytes[bytes.len() - 8 - length..bytes.len() - 8];
    let mut reader = Reader(footer);
    let meta = reader.structure();
    assert!(reader.0.is_empty(), "the footer is as long as it says");
    let schema = meta.field(2).list();
    let names: Vec<String> = schema[1..].iter().map(|e| e.field(4).text().into()).collect();
    assert_eq!(schema[0].field(5).integer() as usize, names.len());
    let mut columns = vec![Vec::new(); names.len()];
    for group in meta.field(4).list() {
        let rows = group.field(3).integer() as usize;
        for (k, chunk) in group.field(1).list().iter().enumerate() {
            let about = chunk.field(3);
            assert_eq!(about.field(1).integer(), 5, "DOUBLE");
            assert_eq!(about.field(3).list()[0].text(), names[k]);
            assert_eq!(about.field(5).integer() as usize, rows);
            let (at, size) = (about.field(9).integer() as usize, about.field(7).integer());
            let mut page = Reader(&bytes[at..at + size as usize]);
            let header = page.structure();
            assert_eq!(header.field(1).integer(), 0, "a data page");
            assert_eq!(header.field(3).integer() as usize, 8 * rows);
            assert_eq!(header.field(5).field(1).integer() as usize, rows);
            assert_eq!(page.0.len(), 8 * rows);
            let numbers = page.0.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
            columns[k].extend(numbers);
        }
    }
    assert!(columns.iter().all(|c| c.len() == meta.field(3).integer() as usize));
    let pair = |v: &Value| (v.field(1).text().to_owned(), v.field(2).text().to_owned());
    (names, columns, meta.field(5).list().iter().map(pair).collect())
}

#[test]
fn columns_read_back_bit_by_bit() {
    let x = [0.1, -5e-324, f64::NAN, 1e300];
    let many: Vec<(String, &[f64])> =
        (0..40).map(|k| (format!("q[{k}]'"), x.as_slice())).collect();
    let mut bytes = Vec::new();
    write(&many, &[("model", "θ \"quoted\"".into())], &mut bytes).unwrap();
    let (names, columns, about) = read(&bytes);
    assert_eq!(names[39], "q[39]'");
    for column in &columns {
        let bits = |c: &[f64]| c.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(column), bits(&x));
    }
    assert_eq!(about["model"], "θ \"quoted\"");
}

#[test]
fn large_tables_have_several_groups_and_empty_ones_none() {
    let long: Vec<f64> = (0..GROUP + 3).map(|i| i as f64).collect();
    let mut bytes = Vec::new();
    write(&[("t".into(), &long)], &[], &mut bytes).unwrap();
    assert_eq!(read(&bytes).1[0], long);
    bytes.clear();
    write(&[("t".into(), &[])], &[], &mut bytes).unwrap();
    assert_eq!(read(&bytes).1[0], [0.0; 0]);
}
