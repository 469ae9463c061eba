//! JSON as a value, written so that numbers read back exactly.

use std::fmt;

/// A JSON value. Objects keep the order in which their keys were given.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A double; what is not finite is written as `null`.
    Number(f64),
    /// A whole number.
    Integer(u64),
    /// A whole number that may be negative.
    Signed(i64),
    /// A string.
    Text(String),
    /// `[…]`
    List(Vec<Json>),
    /// `{…}`
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object from keys and values.
    pub fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Json)>) -> Self {
        Self::Object(entries.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// A list of numbers.
    pub fn numbers(values: &[f64]) -> Self {
        Self::List(values.iter().map(|&x| Self::Number(x)).collect())
    }

    /// A list of strings.
    pub fn texts<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Self {
        Self::List(values.into_iter().map(|s| Self::text(s.as_ref())).collect())
    }

    /// A string.
    pub fn text(value: &str) -> Self {
        Self::Text(value.to_owned())
    }

    /// A matrix of numbers by rows.
    pub fn matrix(values: &[f64], columns: usize) -> Self {
        Self::List(values.chunks(columns.max(1)).map(Self::numbers).collect())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Number(x) if x.is_finite() => fmt::Debug::fmt(x, f),
            Self::Null | Self::Number(_) => f.write_str("null"),
            Self::Integer(n) => write!(f, "{n}"),
            Self::Signed(n) => write!(f, "{n}"),
            Self::Text(s) => quote(f, s),
            Self::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    if i > 0 {
                        f.write_str(",")?;
                    }
                    quote(f, key)?;
                    f.write_str(":")?;
                    value.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    let plain = |b: u8| b >= 0x20 && b != b'"' && b != b'\\';
    if text.bytes().all(plain) {
        f.write_str(text)?;
        return f.write_str("\"");
    }
    for c in text.chars() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if (c as u32) < 0x20 => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_exactly_and_texts_are_escaped() {
        for x in [0.1, 1e300, -5e-324, 1.0 / 3.0, 0.0] {
            let text = Json::Number(x).to_string();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), x.to_bits());
        }
        assert_eq!(Json::Number(f64::NAN).to_string(), "null");
        let object = Json::object([
            ("a\"b", Json::text("x\n\u{1}")),
            ("n", Json::numbers(&[1.0, f64::INFINITY])),
        ]);
        assert_eq!(object.to_string(), "{\"a\\\"b\":\"x\\n\\u0001\",\"n\":[1.0,null]}");
    }
}
