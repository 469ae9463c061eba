//! One token at a time: names, numbers, texts in quotes, operators, and what people write
//! instead of them.

use pfaff_expr::commands_a_screen;

use crate::diagnostic::Diagnostic;
use crate::lexer::confusable::{Repair, repair};
use crate::lexer::token::TokenKind;
use crate::lexer::{Lexer, begins_name, continues_name};
use crate::source::Span;

impl Lexer<'_> {
    /// Reads what begins with `c`, which is no white space.
    pub(crate) fn token(&mut self, c: char) {
        use TokenKind as T;
        let two = self.text.as_bytes().get(self.at..self.at + 2).unwrap_or(b"");
        let (kind, length) = match (c, two) {
            _ if begins_name(c) => (T::Name, self.word().len()),
            _ if c.is_ascii_digit() => return self.number(),
            ('"', _) => return self.quoted(c, '"'),
            ('“' | '„' | '«', _) => {
                return self.quoted(c, if c == '«' { '»' } else { '”' });
            }
            (_, b"..") => return self.dots(),
            ('.', _) => return self.dot(),
            (_, b"==") => (T::Same, 2),
            (_, b"!=") => (T::Differs, 2),
            (_, b"<=") => (T::AtMost, 2),
            (_, b">=") => (T::AtLeast, 2),
            (_, b"**" | b"=>" | b"=<" | b":=" | b"<>" | b"&&" | b"||") => {
                return self.foreign(2);
            }
            ('(', _) => (T::LeftParen, 1),
            (')', _) => (T::RightParen, 1),
            ('[', _) => (T::LeftBracket, 1),
            (']', _) => (T::RightBracket, 1),
            (',', _) => (T::Comma, 1),
            (':', _) => (T::Colon, 1),
            ('=', _) => (T::Equals, 1),
            ('<', _) => (T::Less, 1),
            ('>', _) => (T::Greater, 1),
            ('+', _) => (T::Plus, 1),
            ('-', _) => (T::Minus, 1),
            ('*', _) => (T::Star, 1),
            ('/', _) => (T::Slash, 1),
            ('^', _) => (T::Caret, 1),
            ('\'', _) => (T::Prime, 1),
            _ => return self.foreign(c.len_utf8()),
        };
        let span = self.advance(length);
        self.push(kind, span);
    }

    /// Reads `digits[.digits][e[±]digits]` and refuses what people write instead.
    fn number(&mut self) {
        let start = self.at;
        self.skip_digits();
        let rest = &self.text.as_bytes()[self.at..];
        if let [b'.', after, ..] = rest
            && after.is_ascii_digit()
        {
            self.at += 1;
            self.skip_digits();
        } else if rest.first() == Some(&b'.') && rest.get(1) != Some(&b'.') {
            self.at += 1;
            let digits = &self.text[start..self.at - 1];
            self.report_number(start, "ends in a dot", &format!("write `{digits}`"));
        }
        if let [b'e' | b'E', rest @ ..] = &self.text.as_bytes()[self.at..] {
            let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
            if rest.get(sign).is_some_and(u8::is_ascii_digit) {
                self.at += 1 + sign;
                self.skip_digits();
            }
        }
        let digits = self.text[start..self.at].to_owned();
        if self.peek() == Some('_') {
            self.skip_name();
            let plain = self.text[start..self.at].replace('_', "");
            self.report_number(start, "is grouped with `_`", &format!("write `{plain}`"));
            return self.push(TokenKind::Number, self.span_from(start));
        }
        self.push(TokenKind::Number, self.span_from(start));
        if self.peek().is_some_and(continues_name) {
            let name_start = self.at;
            self.skip_name();
            let name = &self.text[name_start..self.at];
            let hint = format!("write `{digits}*{name}`");
            let message = format!("no operator between `{digits}` and `{name}`");
            let diagnostic = Diagnostic::error("E0107", self.span_from(start), message);
            self.chunk().report(diagnostic.with_hint(&hint));
            self.push(TokenKind::Star, Span::empty(name_start as u32));
            self.push(TokenKind::Name, self.span_from(name_start));
        }
    }

    /// Reports the number from `start` to here; it is then read as what was meant.
    fn report_number(&mut self, start: usize, fault: &str, hint: &str) {
        let message = format!("the number `{}` {fault}", &self.text[start..self.at]);
        let diagnostic = Diagnostic::error("E0105", self.span_from(start), message);
        self.chunk().report(diagnostic.with_hint(hint));
    }

    /// Reads `..`; more dots are reported.
    fn dots(&mut self) {
        let start = self.at;
        while self.peek() == Some('.') {
            self.at += 1;
        }
        let span = self.span_from(start);
        if self.at > start + 2 {
            let message = format!("`{}` is not a range", &self.text[start..self.at]);
            let diagnostic = Diagnostic::error("E0105", span, message);
            self.chunk().report(diagnostic.with_hint("a range has two dots: `0..20`"));
        }
        self.push(TokenKind::DotDot, span);
    }

    /// A dot that begins a number, or that nothing needs.
    fn dot(&mut self) {
        let start = self.at;
        self.at += 1;
        let after_number = self.chunk().tokens.last().is_some_and(|last| {
            last.kind == TokenKind::Number && last.span.end as usize == start
        });
        self.skip_digits();
        if self.at == start + 1 {
            self.at = start;
            return self.foreign(1);
        }
        if after_number {
            let message = "a number has one dot".to_owned();
            let hint = "numbers are written `1`, `0.5`, `1e-3`";
            let diagnostic = Diagnostic::error("E0105", self.span_from(start), message);
            return self.chunk().poison(diagnostic.with_hint(hint));
        }
        let hint = format!("write `0{}`", &self.text[start..self.at]);
        self.report_number(start, "begins with a dot", &hint);
        self.push(TokenKind::Number, self.span_from(start));
    }

    /// Reads a text in quotes, in which only `\"` means something else than it says.
    fn quoted(&mut self, opening: char, closing: char) {
        let start = self.at;
        self.at += opening.len_utf8();
        let mut closed = false;
        while let Some(c) = self.peek() {
            if c == '\n' {
                break;
            }
            self.at += c.len_utf8();
            if c == '\\' && self.peek() == Some('"') {
                self.at += 1;
            } else if c == closing || (opening == '„' && c == '“') {
                closed = true;
                break;
            }
        }
        if !closed {
            self.at = start + self.text[start..self.at].trim_end().len();
        }
        let span = self.span_from(start);
        if !closed {
            let message = "the text in quotes does not end on its line".to_owned();
            let diagnostic = Diagnostic::error("E0104", span, message);
            self.chunk().report(diagnostic.with_hint("write `\"` where it ends"));
        } else if opening != '"' {
            let message = format!("`{opening}` and `{closing}` are not quotes here");
            let diagnostic = Diagnostic::error("E0103", span, message);
            self.chunk().report(diagnostic.with_hint("write `\"…\"`"));
        }
        if let Some(c) = self.text[span.range()].chars().find(|&c| commands_a_screen(c)) {
            let code = c as u32;
            let message = format!("the text in quotes has the control character U+{code:04X}");
            let diagnostic = Diagnostic::error("E0103", span, message);
            self.chunk()
                .report(diagnostic.with_hint("delete it: it does not show, but it may act"));
        }
        self.push(TokenKind::Text, span);
    }

    /// Reports what the language does not know and reads it as what it means.
    fn foreign(&mut self, length: usize) {
        // Nothing that follows is reported or parsed.
        if self.chunk().is_given_up() {
            self.advance(length);
            return;
        }
        let Repair { length, message, hint, kinds, poisons } =
            repair(&self.text[self.at..], length);
        let span = self.advance(length);
        let mut diagnostic = Diagnostic::error("E0103", span, message);
        diagnostic.hint = hint;
        if poisons {
            self.chunk().poison(diagnostic);
        } else {
            self.chunk().report(diagnostic);
        }
        for &kind in kinds {
            self.push(kind, span);
        }
    }
}
