//! Long formulas in LaTeX on several lines: how wide a formula is on paper, and where it is broken.
//!
//! Widths are counted in digits, which are half as wide as the letters are high. A line ends before a sign, outside of
//! brackets where that is possible. Brackets that are opened on one line and closed on another are set large by hand,
//! for `\left` and `\right` belong to one line.

use std::collections::BTreeMap;

/// Digits in a line of a page.
pub(super) const LINE: f64 = 92.0;
/// What an indented line begins with.
const INDENT: f64 = 2.0;

/// A formula as lines; the first has so much room, the others a little less.
pub(super) fn lines(formula: &str, room: f64) -> Vec<String> {
    let formula = opened(formula, room - INDENT);
    let mut pieces = pieces(&formula);
    let mut lines: Vec<Vec<Piece>> = Vec::new();
    while !pieces.is_empty() {
        let room = if lines.is_empty() { room } else { room - INDENT };
        let end = end_of_line(&pieces, room);
        let rest = pieces.split_off(end);
        lines.push(std::mem::replace(&mut pieces, rest));
    }
    let texts = lines.iter().map(|line| line.iter().map(|p| p.text).collect::<String>());
    with_open_brackets(texts.map(|t| t.trim().to_owned()).collect())
}

/// A formula in which fractions and roots that are wider than a line stand in brackets, which can be broken.
fn opened(formula: &str, room: f64) -> String {
    let mut formula = formula.to_owned();
    while let Some((start, end, instead)) = wide_part(&formula, room) {
        formula.replace_range(start..end, &instead);
    }
    formula
}

/// The first fraction or root outside of braces that is wider than a line, and what can stand for it.
fn wide_part(formula: &str, room: f64) -> Option<(usize, usize, String)> {
    let bracketed = |text: &str| {
        if is_sum(text) { format!("\\left({text}\\right)") } else { text.to_owned() }
    };
    let mut braces = 0_usize;
    for (i, c) in formula.char_indices() {
        let rest = &formula[i..];
        match c {
            '{' => braces += 1,
            '}' => braces = braces.saturating_sub(1),
            '\\' if braces == 0 && rest.starts_with("\\frac{") => {
                let (above, after) = braced(&rest[5..])?;
                let (below, after) = braced(after)?;
                let end = formula.len() - after.len();
                if width(&formula[i..end]) > room {
                    let instead = if width(below) > 0.5 * room {
                        format!("{} \\big/ \\left({below}\\right)", bracketed(above))
                    } else {
                        format!("\\frac{{1}}{{{below}}}\\,{}", bracketed(above))
                    };
                    return Some((i, end, instead));
                }
            }
            '\\' if braces == 0 && rest.starts_with("\\sqrt{") => {
                let (inside, after) = braced(&rest[5..])?;
                let end = formula.len() - after.len();
                if width(inside) > room {
                    return Some((i, end, format!("\\left({inside}\\right)^{{1/2}}")));
                }
            }
            _ => {}
        }
    }
    None
}

/// What stands in the braces that a text begins with, and what follows.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((&text[1..i], &text[i + 1..]));
        }
    }
    None
}

/// Whether there is a sign outside of all brackets.
fn is_sum(formula: &str) -> bool {
    pieces(formula).iter().skip(1).any(|p| p.depth == 0)
}

/// A part that stays on one line, and how many brackets it stands in.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    depth: usize,
}

/// How many pieces make the next line.
fn end_of_line(pieces: &[Piece<'_>], room: f64) -> usize {
    /// Lines are not broken before this part of them for the sake of brackets.
    const LEAST: f64 = 0.45;
    let mut used = 0.0;
    let mut best: Option<(usize, usize)> = None;
    for (i, piece) in pieces.iter().enumerate() {
        let next = used + width(piece.text);
        if next > room && i > 0 {
            return best.map_or(i, |b| b.1);
        }
        used = next;
        let depth = pieces.get(i + 1).map_or(0, |p| p.depth);
        if used >= LEAST * room && best.is_none_or(|b| depth <= b.0) {
            best = Some((depth, i + 1));
        }
    }
    pieces.len()
}

/// Parts before each sign that stands in no braces.
fn pieces(formula: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut start, mut own) = (Vec::new(), 0, 0);
    let (mut braces, mut depth) = (0_usize, 0_usize);
    let mut i = 0;
    let is_escape = |i: usize, word: &str| formula[i..].starts_with(word);
    while i < formula.len() {
        let rest = &formula[i..];
        match rest.as_bytes()[0] {
            b'{' => braces += 1,
            b'}' => braces = braces.saturating_sub(1),
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'\\' if is_escape(i, "\\begin{") || is_escape(i, "\\left|") => braces += 1,
            b'\\' if is_escape(i, "\\end{") || is_escape(i, "\\right|") => {
                braces = braces.saturating_sub(1);
            }
            b' ' if braces == 0 && (rest.starts_with(" + ") || rest.starts_with(" - ")) => {
                pieces.push(Piece { text: &formula[start..i], depth: own });
                (start, own) = (i, depth);
            }
            _ => {}
        }
        i += rest.chars().next().map_or(1, char::len_utf8);
    }
    pieces.push(Piece { text: &formula[start..], depth: own });
    pieces
}

/// Lines in which brackets that end on another line have a size of their own.
fn with_open_brackets(mut lines: Vec<String>) -> Vec<String> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut apart: Vec<(usize, usize, bool)> = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        let both = line.match_indices("\\left(").chain(line.match_indices("\\right)"));
        for (at, word) in both.collect::<BTreeMap<_, _>>() {
            if word == "\\left(" {
                open.push((k, at));
            } else if let Some((first, place)) = open.pop().filter(|o| o.0 != k) {
                apart.extend([(first, place, true), (k, at, false)]);
            }
        }
    }
    apart.sort_unstable();
    for &(k, at, opens) in apart.iter().rev() {
        let (old, new) = if opens { ("\\left(", "\\bigl(") } else { ("\\right)", "\\bigr)") };
        lines[k].replace_range(at..at + old.len(), new);
    }
    lines
}

/// How many digits wide a formula is, about.
pub(super) fn width(formula: &str) -> f64 {
    let characters: Vec<char> = formula.chars().collect();
    row(&characters)
}

fn row(text: &[char]) -> f64 {
    let (mut sum, mut at) = (0.0, 0);
    // Scripts above and below stand over each other.
    let (mut below, mut above) = (0.0_f64, 0.0_f64);
    while at < text.len() {
        let c = text[at];
        if matches!(c, '_' | '^') {
            at += 1;
            let script = 0.75 * row(argument(text, &mut at));
            if c == '_' {
                below = script;
            } else {
                above = script;
            }
            continue;
        }
        sum += below.max(above);
        (below, above) = (0.0, 0.0);
        sum += one(text, &mut at);
    }
    sum + below.max(above)
}

/// The next character, command or group.
fn one(text: &[char], at: &mut usize) -> f64 {
    let c = text[*at];
    match c {
        '\\' => {
            *at += 1;
            let start = *at;
            while *at < text.len() && text[*at].is_ascii_alphabetic() {
                *at += 1;
            }
            if *at == start {
                *at += 1;
                return if text.get(start) == Some(&',') { 0.35 } else { 0.5 };
            }
            let word: String = text[start..*at].iter().collect();
            match word.as_str() {
                "frac" => {
                    let over = row(argument(text, at));
                    over.max(row(argument(text, at))) + 0.6
                }
                "sqrt" => row(argument(text, at)) + 1.7,
                "left" | "right" | "bigl" | "bigr" | "begin" | "end" | "allowbreak" => 0.3,
                "dot" | "ddot" | "mathrm" | "mathsf" | "mathcal" | "operatorname" | "text" => {
                    row(argument(text, at))
                }
                "quad" => 2.0,
                "sin" | "cos" | "tan" | "ln" | "exp" | "arctan" | "arcsin" | "arccos"
                | "sinh" | "cosh" | "tanh" | "max" | "min" => word.len() as f64 * 0.9 + 0.4,
                _ => 1.2,
            }
        }
        '{' => row(argument(text, at)),
        _ => {
            *at += 1;
            match c {
                '+' | '-' | '=' => 2.3,
                ' ' | '}' | '&' => 0.0,
                '(' | ')' | '.' | ',' => 0.75,
                c if c.is_ascii_digit() => 1.0,
                c if c.is_uppercase() => 1.5,
                _ => 1.1,
            }
        }
    }
}

/// What stands in braces, or one character or command.
fn argument<'a>(text: &'a [char], at: &mut usize) -> &'a [char] {
    while text.get(*at) == Some(&' ') {
        *at += 1;
    }
    let start = *at;
    if text.get(start) != Some(&'{') {
        *at = (start + 1).min(text.len());
        if text.get(start) == Some(&'\\') {
            while *at < text.len() && text[*at].is_ascii_alphabetic() {
                *at += 1;
            }
        }
        return &text[start..*at];
    }
    let mut depth = 0;
    while *at < text.len() {
        match text[*at] {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        *at += 1;
        if depth == 0 {
            return &text[start + 1..*at - 1];
        }
    }
    &text[start + 1..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_before_signs_outside_of_brackets() {
        assert_eq!(lines("a + b", 90.0), ["a + b"]);
        let long = r"a\,\left(\frac{b}{c} + d\right) + e\,(f - g) - h";
        assert_eq!(
            lines(long, 12.0),
            [r"a\,\left(\frac{b}{c} + d\right)", r"+ e\,(f - g)", "- h"]
        );
        // Inside of brackets only where there is no other way.
        let long = r"a\,\left(\frac{b}{c} + d + e + f\right)";
        assert_eq!(lines(long, 12.0), [r"a\,\bigl(\frac{b}{c} + d + e", r"+ f\bigr)"]);
    }

    /// What is wider than a line is no fraction and no root any more, and its braces still match.
    #[test]
    fn wide_fractions_are_opened() {
        assert_eq!(lines(r"\frac{a + b}{c}", 90.0), [r"\frac{a + b}{c}"]);
        let wide = r"x - \frac{a + b + c + d + e + f}{g}";
        assert_eq!(
            lines(wide, 14.0),
            [r"x - \frac{1}{g}\,\bigl(a + b", "+ c + d + e", r"+ f\bigr)"]
        );
        let wide = r"\frac{a}{b + c + d + e + f}";
        assert_eq!(lines(wide, 14.0), [r"a \big/ \bigl(b + c + d", r"+ e + f\bigr)"]);
        let wide = r"\sqrt{b + c + d + e + f}";
        assert_eq!(lines(wide, 14.0), [r"\bigl(b + c + d + e", r"+ f\bigr)^{1/2}"]);
    }

    #[test]
    fn widths_are_those_of_paper() {
        let near = |formula: &str, digits: f64| {
            let found = width(formula);
            assert!((found - digits).abs() < 0.2 * digits, "{formula}: {found}");
        };
        // Measured by pdfLaTeX, in digits of 5 pt.
        near(r"\frac{a + b}{c}", 4.84);
        near(r"\sin\varphi\,\dot{x}_{12}^{2}", 7.27);
        near(r"M\,\ddot{\varphi}_{11} + \sqrt{x^{2} + y^{2}}", 16.4);
    }
}
