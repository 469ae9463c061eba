//! `draw shape subject word value …`: a drawing as written.
//!
//! An expression ends where a name follows an operand, so the words of a drawing need no commas; a comma
//! before one is passed over.

use crate::diagnostic::{Diagnostic, closest};
use crate::drawing::words::{Follows, SHAPES, follows, shape_named};
use crate::lexer::token::TokenKind;
use crate::parser::cursor::{Parse, Parser, Refused};
use crate::syntax::{Clause, ClauseValue, Draw};

impl Parser<'_> {
    pub(crate) fn drawing(&mut self) -> Parse<Draw> {
        let (word, span) = (self.text(), self.span());
        let shape = self.name("what is drawn")?;
        let Some(known) = shape_named(word) else {
            let words: Vec<&str> = SHAPES.iter().map(|shape| shape.word).collect();
            let message = format!("`{word}` cannot be drawn");
            let hint = match closest(word, &words) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("you can draw {}", words.join(", ")),
            };
            return self.refuse_with("E0125", span, message, &hint);
        };
        let family = self.kind() == Some(TokenKind::LeftBracket)
            && self.kind_ahead(1) == Some(TokenKind::Name)
            && self.kind_ahead(2) == Some(TokenKind::Equals);
        let slots = if family { self.slots()? } else { Vec::new() };
        let subject = if word == "view" { None } else { Some(self.expression()?) };
        let mut clauses = Vec::new();
        let mut faulty = false;
        while !self.is_at_end() {
            self.eat(TokenKind::Comma);
            if self.kind() != Some(TokenKind::Name) || self.is_stray_keyword() {
                return self.unexpected("a word of the drawing");
            }
            let (text, span) = (self.text(), self.span());
            let clause = self.name("a word of the drawing")?;
            let words = known.words();
            if !words.contains(&text) {
                let message = format!("`{word}` has no `{text}`");
                let hint = match closest(text, &words) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("after `{word}` you can write {}", words.join(", ")),
                };
                let diagnostic = Diagnostic::error("E0125", span, message).with_hint(&hint);
                self.diagnostics.push(diagnostic);
                faulty = true;
            }
            let value = match follows(text) {
                Some(Follows::Nothing) => ClauseValue::Nothing,
                Some(Follows::Colour) => ClauseValue::Word(self.name("a colour")?),
                Some(Follows::Ranges) => ClauseValue::Ranges(self.ranges()?),
                Some(Follows::Value) => ClauseValue::Value(self.expression()?),
                // NOTE: a word that nobody knows: what follows it is read to find more mistakes.
                None if self.kind().is_some_and(TokenKind::begins_operand) => {
                    ClauseValue::Value(self.expression()?)
                }
                None => ClauseValue::Nothing,
            };
            clauses.push(Clause { word: clause, value });
        }
        if faulty {
            return Err(Refused);
        }
        Ok(Draw { shape, slots, subject, clauses })
    }

    /// Reads `u = a..b, v = c..d`.
    fn ranges(&mut self) -> Parse<Vec<crate::syntax::Binder>> {
        let mut ranges = vec![self.binder()?];
        while self.kind() == Some(TokenKind::Comma)
            && self.kind_ahead(1) == Some(TokenKind::Name)
            && self.kind_ahead(2) == Some(TokenKind::Equals)
        {
            self.at += 1;
            ranges.push(self.binder()?);
        }
        Ok(ranges)
    }
}
