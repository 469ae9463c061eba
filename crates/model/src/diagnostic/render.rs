//! A diagnostic as text: the source line with carets under the span.
//!
//! Columns on the screen are not characters: a tab is four columns, a character of an East
//! Asian script two, a combining mark none; what would steer a terminal is shown as `�`. Long
//! lines are cut around the span. A span over several lines shows its first and its last line.

use std::borrow::Cow;
use std::fmt::Write;

use pfaff_expr::commands_a_screen;

use crate::diagnostic::Diagnostic;
use crate::source::{Source, Span};

/// Columns of a source line that are shown.
const WIDTH: usize = 100;

/// Columns kept before a span on a line that is cut.
const LEAD: usize = 30;

/// See [`Diagnostic::render`].
pub(crate) fn render(diagnostic: &Diagnostic, source: &Source) -> String {
    let Diagnostic { code, severity, span, message, hint, notes } = diagnostic;
    let spans = std::iter::once(*span).chain(notes.iter().map(|&(span, _)| span));
    let digits = spans.map(|span| last_line(source, span)).max().unwrap_or(1).to_string().len();
    let mut out = format!("{}[{code}]: {}\n", severity.word(), shortened(message));
    excerpt(&mut out, source, *span, digits);
    if let Some(hint) = hint {
        line(&mut out, format_args!("{:digits$} = hint: {}", "", shortened(hint)));
    }
    for (span, note) in notes {
        line(&mut out, format_args!("note: {}", shortened(note)));
        excerpt(&mut out, source, *span, digits);
    }
    out
}

/// A sentence that quotes something endless, without its middle.
fn shortened(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 2_000;
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let (start, end) = (text.floor_char_boundary(LONGEST / 2), text.len() - LONGEST / 4);
    Cow::Owned(format!("{} … {}", &text[..start], &text[text.ceil_char_boundary(end)..]))
}

/// The place and the underlined source lines of a span.
fn excerpt(out: &mut String, source: &Source, span: Span, digits: usize) {
    let at = source.position(span.start);
    let name = source.name_at(span.start);
    line(out, format_args!("{:digits$}--> {name}:{}:{}", "", at.line, at.column));
    line(out, format_args!("{:digits$} |", ""));
    let last = last_line(source, span);
    underline(out, source, span, at.line, digits);
    if last > at.line + 1 {
        line(out, format_args!("{:digits$} | ...", ""));
    }
    if last > at.line {
        underline(out, source, span, last, digits);
    }
}

/// The line on which the last byte of a span stands.
fn last_line(source: &Source, span: Span) -> u32 {
    source.position(span.end.saturating_sub(1).max(span.start)).line
}

/// One source line and the carets under the part of `span` on it.
fn underline(out: &mut String, source: &Source, span: Span, number: u32, digits: usize) {
    let whole = near(source, source.line_at(span.start, number), span.start);
    let text = source.slice(whole);
    let indent = (text.len() - text.trim_start().len()) as u32;
    let start = span.start.max(whole.start + if span.start < whole.start { indent } else { 0 });
    let end = span.end.min(whole.end);
    let mut cells: Vec<(char, bool)> = Vec::new();
    for (i, c) in text.char_indices() {
        let marked = (start..end).contains(&(whole.start + i as u32));
        show(c, |shown| cells.push((shown, marked)));
    }
    let first = cells.iter().position(|&(_, marked)| marked);
    // NOTE: an empty span, or one that holds only the line's end, gets one caret of its own.
    let first = first.unwrap_or_else(|| {
        let before = (start.min(whole.end) - whole.start) as usize;
        let mut shown = 0;
        text[..text.floor_char_boundary(before)].chars().for_each(|c| show(c, |_| shown += 1));
        shown
    });
    let after =
        cells.iter().rposition(|&(_, marked)| marked).map_or(first + 1, |last| last + 1);
    let columns = |cells: &[(char, bool)]| cells.iter().map(|&(c, _)| width(c)).sum::<usize>();
    let (from, to) = window(&cells, first);
    let shown: String = cells[from..to].iter().map(|&(c, _)| c).collect();
    let (head, tail) =
        (if from > 0 { "…" } else { "" }, if to < cells.len() { "…" } else { "" });
    line(out, format_args!("{number:digits$} | {head}{}{tail}", shown.trim_end()));
    let skip = columns(&cells[from..first]) + usize::from(from > 0);
    let carets = columns(&cells[first.min(to)..after.min(to)]).max(1);
    line(out, format_args!("{:digits$} | {:skip$}{}", "", "", "^".repeat(carets)));
}

/// The part of a very long line around a place; it holds all that is shown.
fn near(source: &Source, whole: Span, at: u32) -> Span {
    const REACH: u32 = 16 * WIDTH as u32;
    let text = source.slice(whole);
    let at = at.clamp(whole.start, whole.end) - whole.start;
    let start = text.floor_char_boundary(at.saturating_sub(REACH) as usize);
    let end = text.floor_char_boundary(at.saturating_add(REACH) as usize);
    Span::new(whole.start + start as u32, whole.start + end as u32)
}

/// The cells of a line that are shown: all, or those around the first marked one.
fn window(cells: &[(char, bool)], first: usize) -> (usize, usize) {
    if cells.len() <= WIDTH {
        return (0, cells.len());
    }
    let from = if first < WIDTH - LEAD { 0 } else { first - LEAD };
    (from, (from + WIDTH).min(cells.len()))
}

/// Hands on what stands on the screen for a character.
fn show(c: char, mut put: impl FnMut(char)) {
    match c {
        '\t' => (0..4).for_each(|_| put(' ')),
        c if commands_a_screen(c) || c == '\n' => put('\u{fffd}'),
        c => put(c),
    }
}

/// Columns that a character takes on the screen.
fn width(c: char) -> usize {
    match c {
        '\u{300}'..='\u{36f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// Writes one line without white space at its end.
fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    write!(out, "{text}").expect("writing to a string cannot fail");
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text form without its heading and place.
    fn check(text: &str, span: std::ops::Range<u32>, expected: &str) {
        let source = Source::new("m", text);
        let diagnostic =
            Diagnostic::error("E0113", Span::new(span.start, span.end), "wrong".to_owned());
        let shown = render(&diagnostic, &source);
        let body: Vec<&str> = shown.lines().skip(3).collect();
        assert_eq!(body.join("\n"), expected.trim_matches('\n'), "{shown}");
    }

    #[test]
    fn tabs_are_four_columns() {
        check("\tx\ty", 3..4, "1 |     x    y\n  |          ^");
    }

    #[test]
    fn wide_characters_are_two_columns() {
        check("質量 = 重力", 9..15, "1 | 質量 = 重力\n  |        ^^^^");
    }

    #[test]
    fn combining_marks_take_no_column() {
        check("q\u{307} + z", 6..7, "1 | q\u{307} + z\n  |     ^");
    }

    #[test]
    fn empty_span_at_the_end_gets_one_caret() {
        check("x +", 3..3, "1 | x +\n  |    ^");
        check("x +\n", 4..4, "2 |\n  | ^");
        check("", 0..0, "1 |\n  | ^");
        check("x", 90..95, "1 | x\n  |  ^");
    }

    #[test]
    fn several_lines_show_the_first_and_the_last() {
        check(
            "a (b\n  c\n  d) e\n",
            2..13,
            "1 | a (b\n  |   ^^\n  | ...\n3 |   d) e\n  |   ^^",
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let text = format!("{}!{}", "x".repeat(500), "y".repeat(500));
        let shown =
            format!("1 | …{}!{}…\n  | {}^", "x".repeat(30), "y".repeat(69), " ".repeat(31));
        check(&text, 500..501, &shown);
    }

    #[test]
    fn very_long_lines_are_cut_in_no_time() {
        let text = format!("{}!{}", "質".repeat(5_000_000), "y".repeat(5_000_000));
        let shown =
            format!("1 | …{}!{}…\n  | {}^", "質".repeat(30), "y".repeat(69), " ".repeat(61));
        check(&text, 15_000_000..15_000_001, &shown);
    }

    #[test]
    fn terminal_controls_are_not_passed_on() {
        check("\u{1b}[2J!", 4..5, "1 | \u{fffd}[2J!\n  |     ^");
    }

    #[test]
    fn notes_follow_with_their_own_excerpt() {
        let source = Source::new("m", "a\n\n\n\n\n\n\n\n\na");
        let diagnostic = Diagnostic::error("E0201", Span::new(10, 11), "twice".to_owned())
            .with_note(Span::new(0, 1), "first here".to_owned());
        assert_eq!(
            diagnostic.render(&source),
            "error[E0201]: twice\n  --> m:10:1\n   |\n10 | a\n   | ^\n\
             note: first here\n  --> m:1:1\n   |\n 1 | a\n   | ^\n"
        );
    }
}
