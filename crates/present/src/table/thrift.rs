//! Values in Thrift's compact protocol, which the metadata of Parquet files are written in.
//! [Apache Thrift, "Thrift Compact protocol encoding"]

/// Kinds of fields and elements.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The bytes of a struct that grows field by field, in ascending order of their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Thrift {
    pub(super) bytes: Vec<u8>,
    /// The last field of each struct that is open.
    last: Vec<u8>,
}

impl Thrift {
    /// A struct; `fields` adds them.
    pub(super) fn of(fields: impl FnOnce(&mut Self)) -> Vec<u8> {
        let mut thrift = Self::default();
        thrift.fields(fields);
        thrift.bytes
    }

    pub(super) fn i32(&mut self, field: u8, value: i32) {
        self.head(field, I32);
        self.zigzag(i64::from(value));
    }

    pub(super) fn i64(&mut self, field: u8, value: usize) {
        self.head(field, I64);
        self.zigzag(i64::try_from(value).unwrap_or(i64::MAX));
    }

    pub(super) fn binary(&mut self, field: u8, value: &[u8]) {
        self.head(field, BINARY);
        self.block(value);
    }

    pub(super) fn nested(&mut self, field: u8, fields: impl FnOnce(&mut Self)) {
        self.head(field, STRUCT);
        self.fields(fields);
    }

    /// A list of structs.
    pub(super) fn structs<T>(&mut self, field: u8, list: &[T], each: impl Fn(&mut Self, &T)) {
        self.list(field, list.len(), STRUCT);
        list.iter().for_each(|item| self.fields(|thrift| each(thrift, item)));
    }

    /// A list of numbers.
    pub(super) fn numbers(&mut self, field: u8, list: &[i32]) {
        self.list(field, list.len(), I32);
        list.iter().for_each(|&x| self.zigzag(i64::from(x)));
    }

    /// A list of one text.
    pub(super) fn texts(&mut self, field: u8, text: &str) {
        self.list(field, 1, BINARY);
        self.block(text.as_bytes());
    }

    fn fields(&mut self, fields: impl FnOnce(&mut Self)) {
        self.last.push(0);
        fields(self);
        self.last.pop();
        self.bytes.push(0);
    }

    /// The numbers of fields are written as differences of at most 15.
    fn head(&mut self, field: u8, kind: u8) {
        let last = self.last.last_mut().expect("fields stand in a struct");
        self.bytes.push((field - *last) << 4 | kind);
        *last = field;
    }

    fn list(&mut self, field: u8, length: usize, kind: u8) {
        self.head(field, LIST);
        if length < 15 {
            self.bytes.push((length as u8) << 4 | kind);
        } else {
            self.bytes.push(0xf0 | kind);
            varint(length as u64, &mut self.bytes);
        }
    }

    fn block(&mut self, value: &[u8]) {
        varint(value.len() as u64, &mut self.bytes);
        self.bytes.extend_from_slice(value);
    }

    fn zigzag(&mut self, value: i64) {
        varint((value << 1 ^ value >> 63) as u64, &mut self.bytes);
    }
}

/// Seven bits a byte, the lowest first.
pub(super) fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}
