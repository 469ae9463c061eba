//! A text with its words in columns: keywords at the margin, what they say behind them, single spaces.
//!
//! Nothing but white space changes, and where lines end stays as it is.

use pfaff::Source;
use pfaff_model::{Piece, highlight};

/// Where the words behind a keyword begin.
const COLUMN: usize = 13;

/// The text in good order.
pub(crate) fn formatted(source: &Source) -> String {
    let mut text = String::new();
    let mut blank = 0;
    for line in lines(source) {
        let line = formatted_line(&line);
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if !text.is_empty() {
            text.push_str(if blank > 0 { "\n\n" } else { "\n" });
        }
        blank = 0;
        text.push_str(&line);
    }
    text.push('\n');
    text
}

/// The pieces of each line.
fn lines(source: &Source) -> Vec<Vec<(&str, Piece)>> {
    let mut lines = vec![Vec::new()];
    for (piece, kind) in highlight(source) {
        for (k, part) in piece.split('\n').enumerate() {
            if k > 0 {
                lines.push(Vec::new());
            }
            if let Some(last) = lines.last_mut().filter(|_| !part.is_empty()) {
                last.push((part, kind));
            }
        }
    }
    lines
}

fn formatted_line(pieces: &[(&str, Piece)]) -> String {
    let is_blank =
        |(text, kind): &(&str, Piece)| *kind == Piece::Other && text.trim().is_empty();
    let start = pieces.iter().position(|p| !is_blank(p)).unwrap_or(pieces.len());
    let pieces = &pieces[start..];
    let mut line = match pieces.first() {
        None => return String::new(),
        Some((word, Piece::Keyword)) => format!("{word:<COLUMN$}"),
        Some((comment, Piece::Comment)) if pieces.len() == 1 => {
            return comment.trim_end().to_owned();
        }
        Some(_) => " ".repeat(COLUMN),
    };
    let rest = match pieces.first() {
        Some((_, Piece::Keyword)) => &pieces[1..],
        _ => pieces,
    };
    let mut fresh = true;
    for (k, piece) in rest.iter().enumerate() {
        let (text, kind) = *piece;
        let comment = rest.get(k + 1).is_some_and(|(_, next)| *next == Piece::Comment);
        match kind {
            // White space before a comment puts it below another one: it stays.
            Piece::Other if comment => {
                line.push_str(if fresh { text.trim_start() } else { text });
            }
            Piece::Other => {
                let spaced = one_space(text);
                line.push_str(if fresh { spaced.trim_start() } else { &spaced });
            }
            _ => line.push_str(text),
        }
        fresh = fresh && is_blank(piece);
    }
    // NOTE: a keyword that is longer than its column keeps a space behind it.
    let long = pieces.first().filter(|(w, k)| *k == Piece::Keyword && w.len() >= COLUMN);
    if let Some((word, _)) = long.filter(|(word, _)| line.len() > word.len()) {
        line.insert(word.len(), ' ');
    }
    line.trim_end().to_owned()
}

/// Runs of white space as one space.
fn one_space(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\r' if out.ends_with(' ') => {}
            ' ' | '\t' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
