//! A model text into coloured pieces: keywords, numbers, strings, comments and the rest, for whoever shows it.

use crate::lexer::token::{Keyword, TokenKind};
use crate::lexer::{Layout, lex};
use crate::source::Source;

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The word that begins a statement.
    Keyword,
    /// A name.
    Name,
    /// A name before `(`: a function.
    Call,
    /// `1`, `0.5`, `1e-3`
    Number,
    /// `"…"`
    Text,
    /// `# …`
    Comment,
    /// Operators, brackets and white space.
    Other,
}

/// The pieces of a text in order; together they are the text.
pub fn highlight(source: &Source) -> Vec<(&str, Piece)> {
    let text = source.text();
    let mut pieces = Vec::new();
    let mut at = 0;
    let chunks = lex(source, Layout::Statements);
    for chunk in &chunks {
        for (i, token) in chunk.tokens.iter().enumerate() {
            let range = token.span.range();
            // NOTE: where the lexer recovers it may go back; a piece is shown once.
            if range.start < at || range.end > text.len() {
                continue;
            }
            between(&text[at..range.start], &mut pieces);
            let word = &text[range.clone()];
            let calls = chunk.tokens.get(i + 1).is_some_and(|n| n.kind == TokenKind::LeftParen);
            let piece = match token.kind {
                TokenKind::Name if i == 0 && Keyword::from_word(word).is_some() => {
                    Piece::Keyword
                }
                TokenKind::Name if calls => Piece::Call,
                TokenKind::Name => Piece::Name,
                TokenKind::Number => Piece::Number,
                TokenKind::Text => Piece::Text,
                _ => Piece::Other,
            };
            pieces.push((word, piece));
            at = range.end;
        }
    }
    between(&text[at..], &mut pieces);
    pieces
}

/// White space and comments.
fn between<'a>(mut gap: &'a str, pieces: &mut Vec<(&'a str, Piece)>) {
    while !gap.is_empty() {
        let (plain, rest) = gap.split_at(gap.find('#').unwrap_or(gap.len()));
        let (comment, after) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
        for (text, piece) in [(plain, Piece::Other), (comment, Piece::Comment)] {
            if !text.is_empty() {
                pieces.push((text, piece));
            }
        }
        gap = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_are_the_text() {
        let text = "title \"a # b\"  # a \"comment\"\ncoordinates x\nlet y = 2*sin(x)\nlet ü × = [1\n# end";
        let source = Source::new("m", text);
        let pieces = highlight(&source);
        assert_eq!(pieces.iter().map(|p| p.0).collect::<String>(), text);
        let of = |piece: Piece| -> Vec<&str> {
            pieces.iter().filter(|p| p.1 == piece).map(|p| p.0).collect()
        };
        assert_eq!(of(Piece::Keyword), ["title", "coordinates", "let", "let"]);
        assert_eq!(of(Piece::Comment), ["# a \"comment\"", "# end"]);
        assert_eq!(of(Piece::Text), ["\"a # b\""]);
        assert_eq!(of(Piece::Call), ["sin"]);
    }
}
