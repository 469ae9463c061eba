//! Text with a name, byte spans into it, and lines and columns for people.
//!
//! A [`Span`] counts bytes from 0 and is half open; a [`Position`] counts lines and characters
//! from 1. Only `\n` ends a line, a `\r` before it is white space.
//!
//! **Invariant.** Every offset fits `u32`: a text longer than [`Source::LIMIT`] is refused by
//! the lexer before any span into it is made.

use std::ops::Range;

use crate::diagnostic::Diagnostic;
use crate::diagnostic::parse_errors::ParseErrors;

/// A text and the name under which people know it.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    /// Where each line begins.
    lines: Vec<u32>,
    /// Texts that stand behind the first one.
    parts: Vec<Part>,
}

/// A further text, such as values of parameters that are given beside the model.
#[derive(Clone, Debug)]
struct Part {
    name: String,
    start: u32,
    /// Its first line among all lines, from 0.
    first_line: u32,
}

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

/// A place as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl Source {
    /// The longest text that is read, in bytes.
    pub const LIMIT: usize = 1 << 26;

    /// Gives a text its name.
    pub fn new(name: &str, text: &str) -> Self {
        let breaks = text.bytes().take(Self::LIMIT).enumerate().filter(|&(_, b)| b == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(i, _)| i as u32 + 1)).collect();
        Self { name: name.to_owned(), text: text.to_owned(), lines, parts: Vec::new() }
    }

    /// Reads bytes as UTF-8. A leading byte-order mark stays in the text; the lexer skips it.
    ///
    /// # Errors
    ///
    /// E0102 if there are too many; E0101 at the first bad byte, with the source that shows it: there every bad
    /// byte is `�`.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, ParseErrors> {
        if bytes.len() > Self::LIMIT {
            let diagnostics = vec![Self::too_long()];
            return Err(ParseErrors { source: Self::new(name, ""), diagnostics });
        }
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => match text.find('\0') {
                None => return Ok(Self::new(name, text)),
                Some(at) => {
                    let at = at as u32;
                    let message =
                        "the file contains the byte 0x00, so it is not a text".to_owned();
                    let diagnostic = Diagnostic::error("E0101", Span::new(at, at + 1), message)
                        .with_hint("a model is a plain text file; check which file you gave");
                    let diagnostics = vec![diagnostic];
                    return Err(ParseErrors { source: Self::new(name, text), diagnostics });
                }
            },
            Err(error) => error,
        };
        let shown = Self::new(name, &String::from_utf8_lossy(bytes));
        let at = error.valid_up_to() as u32;
        let message = format!("byte {:#04x} is not UTF-8", bytes[error.valid_up_to()]);
        let diagnostic = Diagnostic::error("E0101", Span::new(at, at + 3), message)
            .with_hint("save the file as UTF-8");
        Err(ParseErrors { source: shown, diagnostics: vec![diagnostic] })
    }

    /// The refusal of a text longer than [`Source::LIMIT`].
    pub(crate) fn too_long() -> Diagnostic {
        let message = format!("the text is longer than {} MiB", Self::LIMIT >> 20);
        Diagnostic::error("E0102", Span::empty(0), message)
            .with_hint("put long data into a file, and read it with `table`")
    }

    /// The name given to [`Source::new`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text, without the parts behind it.
    pub fn text(&self) -> &str {
        let end = self.parts.first().map_or(self.text.len(), |part| part.start as usize - 1);
        &self.text[..end]
    }

    /// Puts a further text with its own name and lines behind this one, and gives the offset of its first byte.
    ///
    /// ```
    /// use pfaff_model::Source;
    /// let mut source = Source::new("sleigh.pfaff", "coordinates x");
    /// let base = source.append_part("<set>", "m=2, a=3");
    /// let at = source.position(base + 5);
    /// assert_eq!((source.name_at(base + 5), at.line, at.column), ("<set>", 1, 6));
    /// assert_eq!(source.text(), "coordinates x");
    /// ```
    pub fn append_part(&mut self, name: &str, text: &str) -> u32 {
        let start = self.text.len() as u32 + 1;
        let first_line = self.lines.len() as u32;
        let breaks = text.bytes().take(Self::LIMIT).enumerate().filter(|&(_, b)| b == b'\n');
        self.lines.push(start);
        self.lines.extend(breaks.map(|(i, _)| start + i as u32 + 1));
        self.text.push('\n');
        self.text.push_str(text);
        self.parts.push(Part { name: name.to_owned(), start, first_line });
        start
    }

    /// The name of the text that holds a byte.
    pub fn name_at(&self, offset: u32) -> &str {
        self.part_at(offset).map_or(&self.name, |part| &part.name)
    }

    /// The same text, with its parts under the names by which a caller knows them.
    ///
    /// ```
    /// use pfaff_model::Source;
    /// let source = Source::new("<with>", "a=1").renamed(|name| name.replace("<with>", "--with"));
    /// assert_eq!(source.name(), "--with");
    /// ```
    #[must_use]
    pub fn renamed(mut self, rename: impl Fn(&str) -> String) -> Self {
        self.name = rename(&self.name);
        for part in &mut self.parts {
            part.name = rename(&part.name);
        }
        self
    }

    fn part_at(&self, offset: u32) -> Option<&Part> {
        self.parts.iter().rev().find(|part| part.start <= offset)
    }

    /// The text of a span; empty if the span does not lie in this source.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The line and column of a byte in its text; the end of the text for bytes beyond it.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.lines.partition_point(|&start| start <= offset).max(1);
        let start = self.lines[line - 1] as usize;
        let end = self.text.floor_char_boundary(offset as usize).max(start);
        let column = self.text[start..end].chars().count() as u32 + 1;
        let before = self.part_at(offset).map_or(0, |part| part.first_line);
        Position { line: line as u32 - before, column }
    }

    /// The span of a line counted from 1, without its end; empty beyond the last line.
    pub fn line(&self, line: u32) -> Span {
        self.line_at(0, line)
    }

    /// The same, with the lines of the text that holds the byte `offset`.
    pub fn line_at(&self, offset: u32, line: u32) -> Span {
        let text_end = self.text.len() as u32;
        let before = self.part_at(offset).map_or(0, |part| part.first_line);
        let index = (before as usize + line as usize).saturating_sub(1);
        let Some(&start) = self.lines.get(index) else { return Span::empty(text_end) };
        let next = self.lines.get(index + 1).map_or(text_end, |&next| next - 1);
        let bytes = &self.text.as_bytes()[start as usize..next as usize];
        let end = if bytes.last() == Some(&b'\r') { next - 1 } else { next };
        Span::new(start, end)
    }
}

impl Span {
    /// From the first byte to the one after the last.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Nothing, at a place.
    pub const fn empty(at: u32) -> Self {
        Self { start: at, end: at }
    }

    /// The smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The bytes as a range of `usize`.
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it holds no byte.
    pub const fn is_empty(self) -> bool {
        self.start >= self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_of_any_script() {
        let source = Source::new("m", "αβ = 1\r\nx\n");
        let at = |offset| {
            let Position { line, column } = source.position(offset);
            (line, column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(4), (1, 3));
        assert_eq!(at(10), (2, 1));
        assert_eq!(at(12), (3, 1));
        assert_eq!(at(99), (3, 1));
        assert_eq!(source.slice(source.line(1)), "αβ = 1");
        assert_eq!(source.slice(source.line(2)), "x");
        assert_eq!(source.slice(source.line(7)), "");
    }

    #[test]
    fn bad_bytes_are_shown_where_they_stand() {
        let errors =
            Source::from_bytes("m", b"title \"caf\xe9\"\n").expect_err("latin-1 is not UTF-8");
        let diagnostic = &errors.diagnostics[0];
        assert_eq!(errors.source.slice(diagnostic.span), "\u{fffd}");
        assert_eq!(diagnostic.message, "byte 0xe9 is not UTF-8");
    }
}
