//! Text to syntax tree, with all mistakes.
//!
//! The lexer has cut the text into statements; each is parsed for itself, so that a mistake in
//! one says nothing about the next. Within a statement a list goes on after a faulty item. A
//! statement that the lexer calls poisoned is parsed in silence.

mod cursor;
mod draw;
mod expression;
mod hybrid;
mod statement;

use crate::diagnostic::{Diagnostic, closest};
use crate::lexer::token::{Keyword, Token, TokenKind};
use crate::lexer::{Chunk, Layout, lex};
use crate::parser::cursor::{Parse, Parser, Refused};
use crate::source::{Source, Span};
use crate::syntax::{Arena, Assignment, ExprId, Name, Statement, StatementKind, Syntax};

/// Mistakes that are reported of one statement at most.
const REPORTED: usize = 3;

/// Mistakes that are reported of one text at most.
pub(crate) const MISTAKES: usize = 10_000;

/// What is said where reading ends because of the number of mistakes.
pub(crate) fn too_many_mistakes(at: Span) -> Diagnostic {
    let message = format!("more than {MISTAKES} mistakes: what follows was not examined");
    Diagnostic::error("E0126", Span::empty(at.end), message)
        .with_hint("mend the first mistakes, and check again; is this a model at all?")
}

/// What a text says, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// All statements; those with a mistake are [`StatementKind::Faulty`].
    pub syntax: Syntax,
    /// All mistakes, in the order of the text. Empty if and only if the text is well formed.
    pub diagnostics: Vec<Diagnostic>,
}

/// One expression and the arena it lives in.
#[derive(Clone, Debug)]
pub struct ParsedExpression {
    /// The nodes.
    pub arena: Arena,
    /// The expression.
    pub root: ExprId,
}

/// Some expressions and the arena they live in.
#[derive(Clone, Debug)]
pub struct ParsedExpressions {
    /// The nodes.
    pub arena: Arena,
    /// The expressions, in order.
    pub roots: Vec<ExprId>,
}

/// Some assignments and the arena they live in.
#[derive(Clone, Debug)]
pub struct ParsedAssignments {
    /// The nodes.
    pub arena: Arena,
    /// The assignments, in order.
    pub assignments: Vec<Assignment>,
}

/// Parses a model.
///
/// ```
/// use pfaff_model::{Source, parse};
/// let parsed = parse(&Source::new("fall", "coordinates z\nlagrangian m*z'^2/2 - m*g*z"));
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(
///     parsed.syntax.to_string(),
///     "(coordinates z)\n(lagrangian (- (/ (* m (^ (' z) 2)) 2) (* (* m g) z)))\n",
/// );
/// ```
pub fn parse(source: &Source) -> Parsed {
    let mut parsed = Parsed::default();
    for chunk in lex(source, Layout::Statements) {
        parse_chunk(source, chunk, &mut parsed);
        if parsed.diagnostics.len() >= MISTAKES {
            let last = parsed.syntax.statements.last().map(|statement| statement.span);
            parsed.diagnostics.push(too_many_mistakes(last.unwrap_or_default()));
            break;
        }
    }
    parsed
}

/// Parses an expression; line ends count as blanks.
///
/// # Errors
///
/// All mistakes.
pub fn parse_expression(source: &Source) -> Result<ParsedExpression, Vec<Diagnostic>> {
    let (arena, root) = parse_free(source, "2*sin(x)^2", |parser| {
        let root = parser.expression()?;
        parser.finish("an operator")?;
        Ok(root)
    })?;
    Ok(ParsedExpression { arena, root })
}

/// Parses expressions separated by commas, such as `1, 2, 5`; there may be none.
///
/// # Errors
///
/// All mistakes.
pub fn parse_expressions(source: &Source) -> Result<ParsedExpressions, Vec<Diagnostic>> {
    let (arena, roots) = parse_free(source, "1, 2.5, 2*pi", |parser| {
        if parser.is_at_end() { Ok(Vec::new()) } else { parser.items(Parser::expression) }
    })?;
    Ok(ParsedExpressions { arena, roots })
}

/// Parses assignments separated by commas, such as `x=1, x'=2, mu(c)=0.1`; there may be none.
///
/// ```
/// use pfaff_model::{Source, parse_assignments};
/// let parsed = parse_assignments(&Source::new("<set>", "J=[1, 2], m=2")).expect("well formed");
/// assert_eq!(parsed.assignments.len(), 2);
/// ```
///
/// # Errors
///
/// All mistakes.
pub fn parse_assignments(source: &Source) -> Result<ParsedAssignments, Vec<Diagnostic>> {
    let (arena, assignments) = parse_free(source, "x = 1, x' = 2, J = [1, 2]", |parser| {
        if parser.is_at_end() { Ok(Vec::new()) } else { parser.items(Parser::assignment) }
    })?;
    Ok(ParsedAssignments { arena, assignments })
}

/// Parses a text without statements that is written like `form`.
fn parse_free<T>(
    source: &Source,
    form: &str,
    parse: impl FnOnce(&mut Parser<'_>) -> Parse<T>,
) -> Result<(Arena, T), Vec<Diagnostic>> {
    let mut arena = Arena::default();
    let mut chunks = lex(source, Layout::Free);
    let chunk = chunks.pop().unwrap_or_default();
    let mut parser = Parser::new(source, &mut arena, &chunk.tokens, chunk.end);
    let result = parse(&mut parser);
    let found = if chunk.poisoned { Vec::new() } else { parser.diagnostics };
    let diagnostics = merged(chunk.diagnostics, found, form);
    match result {
        Ok(value) if diagnostics.is_empty() => Ok((arena, value)),
        _ => Err(diagnostics),
    }
}

/// Parses the tokens of one statement and adds what they say.
fn parse_chunk(source: &Source, chunk: Chunk, parsed: &mut Parsed) {
    let Chunk { tokens, mut diagnostics, poisoned, end, .. } = chunk;
    let arena = &mut parsed.syntax.arena;
    let Some(first) = tokens.first() else {
        let diagnostics = merged(diagnostics, Vec::new(), Keyword::Title.form());
        parsed.diagnostics.extend(diagnostics.into_iter().take(REPORTED));
        return;
    };
    let (keyword, unknown) = keyword(source, &tokens);
    let mut parser = Parser::new(source, arena, &tokens, end);
    let kind = match keyword {
        Some(keyword) => {
            parser.at = 1;
            parser.statement(keyword, first.span)
        }
        None => Err(Refused),
    };
    let found = std::mem::take(&mut parser.diagnostics);
    diagnostics.extend(unknown);
    let found = if poisoned { Vec::new() } else { found };
    let form = keyword.unwrap_or(Keyword::Title).form();
    let diagnostics = merged(diagnostics, found, form);
    parsed.diagnostics.extend(diagnostics.into_iter().take(REPORTED));
    let names = if keyword.is_some() { &tokens[1..] } else { &tokens };
    let kind = match kind {
        Ok(kind) if !poisoned => kind,
        _ => StatementKind::Faulty { mentions: mentions(source, arena, names) },
    };
    let (keyword_span, span) = (first.span, Span::new(first.span.start, end));
    parsed.syntax.statements.push(Statement { keyword, keyword_span, span, kind });
}

/// The keyword of a statement, or the one that was meant and the mistake.
fn keyword(source: &Source, tokens: &[Token]) -> (Option<Keyword>, Option<Diagnostic>) {
    let word = source.slice(tokens[0].span);
    if tokens[0].kind == TokenKind::Name {
        if let Some(keyword) = Keyword::from_word(word) {
            return (Some(keyword), None);
        }
    } else {
        let message = format!("a statement begins with a keyword, not with `{word}`");
        let hint = "to continue the statement above, indent this line deeper than it";
        let diagnostic = Diagnostic::error("E0110", tokens[0].span, message).with_hint(hint);
        return (None, Some(diagnostic));
    }
    let words: Vec<&str> = Keyword::ALL.iter().map(|keyword| keyword.word()).collect();
    let message = format!("no statement begins with `{word}`");
    let diagnostic = Diagnostic::error("E0110", tokens[0].span, message);
    let assigns = tokens.get(1).is_some_and(|token| token.kind == TokenKind::Equals);
    if assigns {
        let hint = format!(
            "write `let {word} = …` or `parameters {word} = …`; to continue the statement \
             above, indent this line deeper than it"
        );
        return (None, Some(diagnostic.with_hint(&hint)));
    }
    if let Some(meant) = closest(word, &words) {
        let hint = format!("did you mean `{meant}`?");
        return (Keyword::from_word(meant), Some(diagnostic.with_hint(&hint)));
    }
    let hint = format!("statements begin with {}", words.join(", "));
    (None, Some(diagnostic.with_hint(&hint)))
}

/// Every name in the tokens of a faulty statement.
fn mentions(source: &Source, arena: &mut Arena, tokens: &[Token]) -> Vec<Name> {
    let names = tokens.iter().filter(|token| token.kind == TokenKind::Name);
    names.map(|t| Name { symbol: arena.symbol(source.slice(t.span)), span: t.span }).collect()
}

/// What the lexer and the parser found, in the order of the text, all with hints. Where both
/// speak of one place one of them is right: the parser if it wants a name there.
fn merged(
    mut lexical: Vec<Diagnostic>,
    mut found: Vec<Diagnostic>,
    form: &str,
) -> Vec<Diagnostic> {
    let meet = |a: Span, b: Span| a.start <= b.end && b.start <= a.end;
    let wants_name = |diagnostic: &Diagnostic| diagnostic.code == "E0114";
    lexical.retain(|a| !found.iter().any(|b| wants_name(b) && meet(a.span, b.span)));
    found.retain(|b| !lexical.iter().any(|a| meet(a.span, b.span)));
    lexical.append(&mut found);
    lexical.sort_by_key(|diagnostic| diagnostic.span);
    for diagnostic in &mut lexical {
        diagnostic.hint.get_or_insert_with(|| format!("it is written like `{form}`"));
    }
    lexical
}
