//! A place in the tokens of one statement, and how what is wrong there is said.

use crate::diagnostic::Diagnostic;
use crate::lexer::token::{Keyword, Token, TokenKind};
use crate::source::{Source, Span};
use crate::syntax::{Arena, Name};

/// Reads the tokens of one statement from left to right.
pub(crate) struct Parser<'a> {
    pub(crate) source: &'a Source,
    pub(crate) arena: &'a mut Arena,
    tokens: &'a [Token],
    /// The next token.
    pub(crate) at: usize,
    /// How deep the expression under the cursor nests.
    pub(crate) depth: usize,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The end of the statement in the text.
    pub(crate) end: u32,
}

/// What was to be parsed is wrong, and that has been reported.
#[derive(Debug)]
pub(crate) struct Refused;

/// A piece of syntax, or a mistake that has been reported.
pub(crate) type Parse<T> = Result<T, Refused>;

impl<'a> Parser<'a> {
    pub(crate) fn new(
        source: &'a Source,
        arena: &'a mut Arena,
        tokens: &'a [Token],
        end: u32,
    ) -> Self {
        Self { source, arena, tokens, at: 0, depth: 0, diagnostics: Vec::new(), end }
    }

    pub(crate) fn token(&self) -> Option<Token> {
        self.tokens.get(self.at).copied()
    }

    pub(crate) fn kind(&self) -> Option<TokenKind> {
        self.token().map(|token| token.kind)
    }

    /// The kind of the token `ahead` of the next one.
    pub(crate) fn kind_ahead(&self, ahead: usize) -> Option<TokenKind> {
        self.tokens.get(self.at + ahead).map(|token| token.kind)
    }

    /// The text of the next token; empty at the end.
    pub(crate) fn text(&self) -> &'a str {
        self.token().map_or("", |token| self.source.slice(token.span))
    }

    /// Where the next token stands, or would.
    pub(crate) fn span(&self) -> Span {
        self.token().map_or(Span::empty(self.end), |token| token.span)
    }

    pub(crate) fn previous(&self) -> Option<Token> {
        self.at.checked_sub(1).and_then(|before| self.tokens.get(before)).copied()
    }

    /// From a byte to the end of the last token read.
    pub(crate) fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.previous().map_or(start, |token| token.span.end))
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// Whether the next token is the name `word`.
    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.kind() == Some(TokenKind::Name) && self.text() == word
    }

    /// Whether the token after the next one is the name `word`.
    pub(crate) fn is_word_ahead(&self, word: &str) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|token| self.source.slice(token.span) == word)
    }

    /// Whether `name = ` stands here.
    pub(crate) fn is_binder(&self) -> bool {
        self.kind() == Some(TokenKind::Name) && self.kind_ahead(1) == Some(TokenKind::Equals)
    }

    pub(crate) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == Some(kind);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, kind: TokenKind, wanted: &str) -> Parse<()> {
        if self.eat(kind) { Ok(()) } else { self.unexpected(wanted) }
    }

    /// Reads a name; `what` says of what.
    pub(crate) fn name(&mut self, what: &str) -> Parse<Name> {
        let (text, span) = (self.text(), self.span());
        if self.kind() != Some(TokenKind::Name) {
            let message = format!("expected {what}{}", self.found());
            if self.kind() == Some(TokenKind::Number) && what.starts_with("the name") {
                let hint = "names begin with a letter or `_`";
                return self.refuse_with("E0114", span, message, hint);
            }
            return self.refuse("E0114", span, message);
        }
        if matches!(text, "and" | "or" | "not") {
            let message = format!("`{text}` is an operator and cannot be a name");
            return self.refuse_with("E0114", span, message, "choose another name");
        }
        self.at += 1;
        Ok(Name { symbol: self.arena.symbol(text), span })
    }

    /// Demands the end of the statement.
    pub(crate) fn finish(&mut self, wanted: &str) -> Parse<()> {
        if self.is_at_end() { Ok(()) } else { self.unexpected(wanted) }
    }

    /// Reads items separated by commas up to the end; after a faulty one goes on with the next.
    pub(crate) fn items<T>(&mut self, item: impl Fn(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        let mut faulty = false;
        loop {
            let parsed = item(self).and_then(|item| {
                if !self.is_at_end() && self.kind() != Some(TokenKind::Comma) {
                    return self.unexpected("`,`");
                }
                Ok(item)
            });
            if let Ok(item) = parsed {
                items.push(item);
            } else {
                faulty = true;
                self.depth = 0;
                // NOTE: more of one statement is not shown, and to look on would cost.
                if self.diagnostics.len() > 2 {
                    return Err(Refused);
                }
                self.at = self.find(TokenKind::Comma).unwrap_or(self.tokens.len());
            }
            if !self.eat(TokenKind::Comma) {
                return if faulty { Err(Refused) } else { Ok(items) };
            }
        }
    }

    /// The next token of a kind outside all brackets.
    pub(crate) fn find(&self, kind: TokenKind) -> Option<usize> {
        let mut depth = 0_usize;
        for (i, token) in self.tokens.iter().enumerate() {
            match token.kind {
                TokenKind::LeftParen | TokenKind::LeftBracket => depth += 1,
                TokenKind::RightParen | TokenKind::RightBracket => {
                    depth = depth.saturating_sub(1);
                }
                found if found == kind && depth == 0 && i >= self.at => return Some(i),
                _ => {}
            }
        }
        None
    }

    /// Says what stands here instead of what is `wanted`.
    pub(crate) fn unexpected<T>(&mut self, wanted: &str) -> Parse<T> {
        use TokenKind as T;
        let (text, span) = (self.text(), self.span());
        let ends_operand = |token: Token| {
            matches!(
                token.kind,
                T::Name | T::Number | T::Text | T::RightParen | T::RightBracket | T::Prime
            )
        };
        let Some(token) = self.token() else {
            let message = format!("expected {wanted}{}", self.found());
            return self.refuse("E0113", span, message);
        };
        if self.is_stray_keyword() {
            let message = format!("expected {wanted}{}", self.found());
            let hint = format!(
                "to begin a statement, `{text}` must not be indented deeper than the line on \
                 which the statement above begins"
            );
            return self.refuse_with("E0113", span, message, &hint);
        }
        match (token.kind, self.previous()) {
            (kind, Some(before))
                if kind.begins_operand()
                    && ends_operand(before)
                    && !wanted.starts_with("the end") =>
            {
                let message = format!(
                    "no operator between `{}` and `{text}`",
                    self.source.slice(before.span)
                );
                let hint = if wanted.contains("`,`") {
                    "write `,` between two items, `*` to multiply"
                } else {
                    "write `*` to multiply"
                };
                self.refuse_with("E0107", span, message, hint)
            }
            (T::Equals, _) => {
                let message = "`=` is not allowed here".to_owned();
                self.refuse_with("E0117", span, message, "to compare, write `==`")
            }
            (T::DotDot, _) => {
                let message = "a range is not allowed here".to_owned();
                let hint = "ranges are used in `i = 1..N`, `th[0..N]` and `solve t = 0..20`";
                self.refuse_with("E0119", span, message, hint)
            }
            _ => {
                let message = format!("expected {wanted}{}", self.found());
                self.refuse("E0113", span, message)
            }
        }
    }

    /// Whether a keyword begins the line here, which is indented too deep to be a statement.
    pub(crate) fn is_stray_keyword(&self) -> bool {
        self.token().is_some_and(|token| token.first_on_line)
            && Keyword::from_word(self.text()).is_some()
    }

    /// ` after …, found …` for messages.
    pub(crate) fn found(&self) -> String {
        let after = self.previous().map_or(String::new(), |before| {
            format!(" after `{}`", short(self.source.slice(before.span)))
        });
        match self.token() {
            Some(token) => format!("{after}, found `{}`", short(self.source.slice(token.span))),
            None => after,
        }
    }

    pub(crate) fn refuse<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: String,
    ) -> Parse<T> {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        Err(Refused)
    }

    pub(crate) fn refuse_with<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: String,
        hint: &str,
    ) -> Parse<T> {
        self.diagnostics.push(Diagnostic::error(code, span, message).with_hint(hint));
        Err(Refused)
    }
}

/// A text that fits a message.
fn short(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
