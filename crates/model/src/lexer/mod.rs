//! Text to tokens, grouped into statements.
//!
//! A statement goes on while a bracket is open, or on lines indented deeper than its first;
//! blank and comment lines end nothing. A tab counts to the next multiple of eight.
//!
//! **Recovery.** A character that is not of the language but means something that is (`×`, `−`,
//! `²`) is reported and read as what it means; any other one makes its statement *poisoned*, and
//! the parser then keeps silent about it. A bracket that is never closed would swallow the rest
//! of the file: its statement is cut at the first line that begins with a keyword.

mod confusable;
mod scan;
pub(crate) mod token;

use crate::diagnostic::Diagnostic;
use crate::lexer::token::{Keyword, Token, TokenKind};
use crate::source::{Source, Span};

/// Mistakes that are kept of one statement; the parser shows fewer.
const KEPT: usize = 100;

/// Statements that a text may have.
const STATEMENTS: usize = 1_000_000;

/// How lines matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Lines and indentation make statements.
    Statements,
    /// All tokens belong together.
    Free,
}

/// The tokens of one statement.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) tokens: Vec<Token>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Whether tokens may be missing, so that what the parser would say means nothing.
    pub(crate) poisoned: bool,
    /// Where the last thing that is no white space and no comment ends.
    pub(crate) end: u32,
    indent: usize,
}

/// Cuts a text into the tokens of its statements.
pub(crate) fn lex(source: &Source, layout: Layout) -> Vec<Chunk> {
    let text = source.text();
    if text.len() > Source::LIMIT {
        let mut chunk = Chunk::new(0);
        chunk.poison(Source::too_long());
        return vec![chunk];
    }
    let mut lexer = Lexer {
        text,
        at: if text.starts_with('\u{feff}') { 3 } else { 0 },
        layout,
        chunks: Vec::new(),
        open: Vec::new(),
        doubt: None,
        wary: false,
        first_on_line: true,
    };
    lexer.run();
    if lexer.chunks.len() > STATEMENTS {
        let mut chunk = Chunk::new(0);
        chunk.poison(
            Diagnostic::error(
                "E0102",
                Span::empty(0),
                format!("the text has more than {STATEMENTS} statements"),
            )
            .with_hint("use families such as `constraint wheel[i = 1..N]: …`, and sums"),
        );
        return vec![chunk];
    }
    lexer.chunks
}

/// Whether a name may begin with this character.
pub(crate) fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name may go on with this character.
pub(crate) fn continues_name(c: char) -> bool {
    let superscript = matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹');
    // Viramas join letters in the scripts of India without being letters themselves.
    let virama = matches!(
        c,
        '\u{94d}'
            | '\u{9cd}'
            | '\u{a4d}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
            | '\u{dca}'
    );
    (c.is_alphanumeric() && !superscript) || c == '_' || virama
}

impl Chunk {
    fn new(indent: usize) -> Self {
        Self { tokens: Vec::new(), diagnostics: Vec::new(), poisoned: false, end: 0, indent }
    }

    /// Reports a mistake; of very many the first are enough.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < KEPT {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether enough is reported, and the parser keeps silent.
    pub(crate) fn is_given_up(&self) -> bool {
        self.poisoned && self.diagnostics.len() >= KEPT
    }

    /// Reports a mistake after which the rest of the statement means nothing.
    pub(crate) fn poison(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.poisoned = true;
    }
}

/// A line that begins with a keyword while a bracket is open: here the statement is cut if the
/// bracket turns out never to close.
struct Doubt {
    at: usize,
    tokens: usize,
    diagnostics: usize,
    end: u32,
}

pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    /// The next byte.
    pub(crate) at: usize,
    layout: Layout,
    chunks: Vec<Chunk>,
    /// Brackets that wait for their end.
    open: Vec<(TokenKind, Span)>,
    doubt: Option<Doubt>,
    /// Set by the first bracket that is never closed: from then on every keyword that begins a
    /// line ends the statement before it. It also keeps the work linear.
    wary: bool,
    first_on_line: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            while self.at < self.text.len() && self.chunks.len() <= STATEMENTS {
                self.line();
            }
            if self.open.is_empty() || self.chunks.len() > STATEMENTS {
                return;
            }
            self.report_unclosed();
        }
    }

    /// Reads one line with its end.
    fn line(&mut self) {
        let start = self.at;
        let indent = self.indent();
        match self.peek() {
            None => return,
            Some('\n') => {
                self.at += 1;
                return;
            }
            Some('#') => {
                self.skip_comment();
                return;
            }
            Some(_) => {}
        }
        if self.begins_statement(indent) {
            if !self.open.is_empty() && self.report_unclosed() {
                return;
            }
            self.doubt = None;
            self.chunks.push(Chunk::new(indent));
        } else if self.doubt.is_none() && self.may_be_statement(indent) {
            let chunk = self.chunk();
            let (tokens, diagnostics) = (chunk.tokens.len(), chunk.diagnostics.len());
            let end = chunk.end;
            self.doubt = Some(Doubt { at: start, tokens, diagnostics, end });
        }
        self.first_on_line = true;
        while let Some(c) = self.peek() {
            match c {
                '\n' => {
                    self.at += 1;
                    return;
                }
                '#' => self.skip_comment(),
                c if c.is_whitespace() => self.at += c.len_utf8(),
                c => {
                    self.token(c);
                    self.first_on_line = false;
                    self.chunk().end = self.at as u32;
                }
            }
        }
    }

    fn begins_statement(&self, indent: usize) -> bool {
        let Some(chunk) = self.chunks.last() else { return true };
        if self.layout == Layout::Free {
            return false;
        }
        if self.open.is_empty() {
            return indent <= chunk.indent;
        }
        self.may_be_statement(indent) && (self.wary || self.is_surely_statement())
    }

    /// Whether a line within open brackets begins with a keyword.
    fn may_be_statement(&self, indent: usize) -> bool {
        let within = self.layout == Layout::Statements
            && !self.open.is_empty()
            && self.chunks.last().is_some_and(|chunk| indent <= chunk.indent);
        within && Keyword::from_word(self.word()).is_some()
    }

    /// Whether the line cannot go on an expression: after its first word stands another one, a
    /// number or a text, and no expression has two operands side by side.
    fn is_surely_statement(&self) -> bool {
        let rest = self.text[self.at + self.word().len()..].trim_start_matches([' ', '\t']);
        let second: String = rest.chars().take_while(|&c| continues_name(c)).collect();
        let operator = matches!(second.as_str(), "and" | "or");
        (!second.is_empty() && !operator) || rest.starts_with('"')
    }

    /// The name that stands here.
    pub(crate) fn word(&self) -> &str {
        let rest = &self.text[self.at..];
        &rest[..rest.find(|c| !continues_name(c)).unwrap_or(rest.len())]
    }

    /// Reports the innermost open bracket and forgets all. True if the text is to be read
    /// again from an earlier line.
    fn report_unclosed(&mut self) -> bool {
        let innermost = *self.open.last().expect("only called while a bracket is open");
        let doubt = self.doubt.take();
        let again = doubt.is_some();
        let chunk = self.chunk();
        if let Some(doubt) = &doubt {
            chunk.tokens.truncate(doubt.tokens);
            chunk.diagnostics.truncate(doubt.diagnostics);
            chunk.end = doubt.end;
        }
        // NOTE: the innermost bracket may stand behind the cut; the last one before it counts.
        let (kind, span) = chunk.unclosed().unwrap_or(innermost);
        let (message, hint) = match kind {
            TokenKind::LeftParen => ("`(` is not closed", "write `)` where it ends"),
            _ => ("`[` is not closed", "write `]` where it ends"),
        };
        // NOTE: it stands before what was found inside the bracket, so it is kept in any case.
        chunk
            .diagnostics
            .push(Diagnostic::error("E0108", span, message.to_owned()).with_hint(hint));
        chunk.poisoned = true;
        if let Some(doubt) = doubt {
            self.at = doubt.at;
        }
        self.open.clear();
        self.wary = true;
        again
    }

    /// Reads white space at the start of a line and measures it.
    fn indent(&mut self) -> usize {
        let mut indent = 0;
        while let Some(c) = self.peek() {
            match c {
                '\n' => break,
                '\t' => indent = (indent / 8 + 1) * 8,
                c if c.is_whitespace() => indent += 1,
                _ => break,
            }
            self.at += c.len_utf8();
        }
        indent
    }

    /// Adds a token and keeps account of brackets.
    pub(crate) fn push(&mut self, kind: TokenKind, span: Span) {
        let first_on_line = self.first_on_line;
        self.chunk().tokens.push(Token { kind, span, first_on_line });
        self.first_on_line = false;
        if kind.closing().is_some() {
            self.open.push((kind, span));
        } else if matches!(kind, TokenKind::RightParen | TokenKind::RightBracket) {
            let text = &self.text[span.range()];
            let diagnostic = match self.open.pop() {
                Some((opening, _)) if opening.closing() == Some(kind) => {
                    if self.open.is_empty() {
                        self.doubt = None;
                    }
                    return;
                }
                Some((opening_kind, opening)) => {
                    let message =
                        format!("`{text}` cannot close `{}`", &self.text[opening.range()]);
                    let hint = match opening_kind {
                        TokenKind::LeftParen => "write `)`",
                        _ => "write `]`",
                    };
                    Diagnostic::error("E0109", span, message)
                        .with_hint(hint)
                        .with_note(opening, "opened here".to_owned())
                }
                None => {
                    Diagnostic::error("E0109", span, format!("`{text}` has no opening bracket"))
                        .with_hint("delete it, or open a bracket before it")
                }
            };
            self.chunk().poison(diagnostic);
        }
    }

    pub(crate) fn chunk(&mut self) -> &mut Chunk {
        self.chunks.last_mut().expect("every line with tokens begins or continues a chunk")
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    pub(crate) fn advance(&mut self, length: usize) -> Span {
        let start = self.at;
        self.at += length;
        self.span_from(start)
    }

    pub(crate) fn span_from(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    pub(crate) fn skip_digits(&mut self) {
        self.at += self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
    }

    pub(crate) fn skip_name(&mut self) {
        self.at += self.word().len();
    }

    /// Goes to the end of the line.
    fn skip_comment(&mut self) {
        self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
    }
}

impl Chunk {
    /// The innermost bracket that the tokens leave open.
    fn unclosed(&self) -> Option<(TokenKind, Span)> {
        let mut open = Vec::new();
        for token in &self.tokens {
            match token.kind {
                TokenKind::LeftParen | TokenKind::LeftBracket => {
                    open.push((token.kind, token.span));
                }
                TokenKind::RightParen | TokenKind::RightBracket => {
                    open.pop();
                }
                _ => {}
            }
        }
        open.pop()
    }
}
