//! JSON objects: keys in the given order, numbers that read back exactly, `null` for what is not finite.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

/// The text of a value, in one line.
pub fn json_text(value: &Value) -> String {
    text_of(value)
}

/// The text of anything, in one line.
pub(crate) fn text_of(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    write_text(value, &mut bytes).expect("a vector takes every byte, and all keys are strings");
    String::from_utf8(bytes).expect("JSON is text")
}

/// Writes the text of anything, in one line.
pub(crate) fn write_text(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Shortest))?)
}

/// Numbers as Rust writes them: `3.1e-5`, where serde_json alone would write `0.000031`.
struct Shortest;

impl Formatter for Shortest {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        write!(out, "{value:?}")
    }
}

/// An object from keys and values.
pub(crate) fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
    Value::Object(entries.into_iter().map(|(k, v)| (k.into(), v)).collect::<Map<_, _>>())
}

/// A number; `null` if it is not finite.
pub(crate) fn number(value: f64) -> Value {
    Value::from(value)
}

/// A list of numbers.
pub(crate) fn numbers(values: &[f64]) -> Value {
    Value::Array(values.iter().map(|&x| number(x)).collect())
}

/// A string.
pub(crate) fn string(value: &str) -> Value {
    Value::from(value)
}

/// A list of strings.
pub(crate) fn strings<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Value {
    Value::Array(values.into_iter().map(|s| string(s.as_ref())).collect())
}

/// A matrix of numbers by rows.
pub(crate) fn matrix(values: &[f64], columns: usize) -> Value {
    Value::Array(values.chunks(columns.max(1)).map(numbers).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_exactly_and_texts_are_escaped() {
        for x in [0.1, 1e300, -5e-324, 3.1e-5, 1.0 / 3.0, 0.0, -0.0, 1e16, 123_456_789.0] {
            let written = json_text(&number(x));
            assert_eq!(written, format!("{x:?}"));
            assert_eq!(written.parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(json_text(&number(f64::NAN)), "null");
        let object =
            object([("z\"b", string("x\n\u{1}")), ("a", numbers(&[1.0, f64::INFINITY]))]);
        assert_eq!(json_text(&object), "{\"z\\\"b\":\"x\\n\\u0001\",\"a\":[1.0,null]}");
    }
}
