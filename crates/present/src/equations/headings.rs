//! Headings with formulas: words of text output as they are, and the same in LaTeX, MathML and Typst.
//!
//! The formulas of headings are given in a small part of LaTeX: letters, Greek ones, `\partial`, `\dot q`, fractions,
//! subscripts and superscripts. [`Piece`] is what it is read into.

use pfaff_expr::{escape_markup as escape, greek};

/// Headings and sentences of text output, and how they are typeset; formulas stand between dollars.
const HEADINGS: &str = include_str!("headings.txt");

/// Pairs of lines: in text output, and typeset.
fn headings() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines: Vec<&str> =
        HEADINGS.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let pairs: Vec<(&str, &str)> =
        lines.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    pairs.into_iter()
}

/// Words and formulas in turn, beginning with words; `None` for a heading without formulas.
fn parts(heading: &str) -> Option<impl Iterator<Item = (bool, &'static str)>> {
    let (_, typeset) = headings().find(|h| h.0 == heading)?;
    Some(typeset.split('$').enumerate().map(|(i, part)| (i % 2 == 1, part)))
}

/// A sentence that may begin with a word and a colon: that beginning, and what is looked up.
pub(super) fn beginning(sentence: &str) -> (&str, &str) {
    let is_known = |text: &str| headings().any(|h| h.0 == text);
    match sentence.find(": ").map(|n| sentence.split_at(n + 2)) {
        Some((word, rest)) if is_known(rest) => (word, rest),
        _ => ("", sentence),
    }
}

/// Letters of ours in headings that a model may have too: they are then in another script, as they are in the lines.
const OURS: &str = "MfAbWBgJKRHSELTV";

/// Whether a letter of ours is one of the model's.
pub(crate) type Taken<'a> = dyn Fn(char) -> bool + 'a;

/// A heading of text output with the letters that the model leaves to us.
pub(super) fn plain(heading: &str, is_taken: &Taken<'_>) -> String {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut before = None;
    let mut characters = heading.chars().peekable();
    let mut text = String::new();
    while let Some(c) = characters.next() {
        // NOTE: in A^T the letter is the sign of transposition.
        let is_alone =
            before != Some('^') && !is_word(before) && !is_word(characters.peek().copied());
        let is_ours = is_alone && OURS.contains(c) && is_taken(c);
        text.push(if is_ours { sans_serif(c) } else { c });
        before = Some(c);
    }
    text
}

/// A formula of a heading, with what stands for a letter of ours that the model has.
fn renamed(formula: &str, is_taken: &Taken<'_>, other: &dyn Fn(char) -> String) -> String {
    let mut text = String::new();
    let (mut in_word, mut depth, mut script) = (false, 0_usize, false);
    for c in formula.chars() {
        in_word = c == '\\' || (in_word && c.is_alphabetic());
        let is_script = depth > 0 || script;
        if c == '{' && (script || depth > 0) {
            depth += 1;
        } else if c == '}' {
            depth = depth.saturating_sub(1);
        }
        script = matches!(c, '_' | '^');
        if !in_word && !is_script && OURS.contains(c) && is_taken(c) {
            // An accent takes what stands in braces.
            let other = other(c);
            let is_accented = text.ends_with("dot ") && other.starts_with('\\');
            text += &if is_accented { format!("{{{other}}}") } else { other };
        } else {
            text.push(c);
        }
    }
    text
}

/// A letter without serifs.
pub(super) fn sans_serif(c: char) -> char {
    let shifted = |first: u32, a: char| char::from_u32(first + (c as u32 - a as u32));
    match c {
        'A'..='Z' => shifted(0x1D5A0, 'A').unwrap_or(c),
        'a'..='z' => shifted(0x1D5BA, 'a').unwrap_or(c),
        _ => c,
    }
}

/// The heading in LaTeX, if it has formulas.
pub(super) fn latex(heading: &str, is_taken: &Taken<'_>) -> Option<String> {
    let part = |(is_formula, part): (bool, &str)| {
        if is_formula {
            let part = renamed(part, is_taken, &|c| format!("\\mathsf{{{c}}}"));
            format!("${}$", part.replace("^T", "^{\\mathsf T}"))
        } else {
            part.to_owned()
        }
    };
    Some(parts(heading)?.map(part).collect())
}

/// The heading in HTML with MathML; words are escaped.
pub(crate) fn html(heading: &str, is_taken: &Taken<'_>) -> String {
    let part = |(is_formula, part): (bool, &str)| {
        if is_formula {
            let part = renamed(part, is_taken, &|c| sans_serif(c).to_string());
            format!("<math>{}</math>", row(&read(&part), &Piece::mathml))
        } else {
            escape(part)
        }
    };
    parts(heading).map_or_else(|| escape(heading), |parts| parts.map(part).collect())
}

/// The heading in Typst, if it has formulas; `words` makes text harmless.
pub(super) fn typst(
    heading: &str,
    words: &dyn Fn(&str) -> String,
    is_taken: &Taken<'_>,
) -> Option<String> {
    let part = |(is_formula, part): (bool, &str)| {
        if is_formula {
            let part = renamed(part, is_taken, &|c| sans_serif(c).to_string());
            format!("${}$", row(&read(&part), &Piece::typst))
        } else {
            words(part)
        }
    };
    Some(parts(heading)?.map(part).collect())
}

fn row(pieces: &[Piece], write: &dyn Fn(&Piece) -> String) -> String {
    pieces.iter().map(write).collect()
}

/// A part of a formula.
#[derive(Clone, Debug)]
enum Piece {
    /// A letter or a number.
    Word(String),
    /// An operator or a bracket.
    Sign(char),
    /// A letter under one dot or two.
    Dot(Box<Self>, usize),
    Fraction(Vec<Self>, Vec<Self>),
    Script {
        base: Box<Self>,
        below: Vec<Self>,
        above: Vec<Self>,
    },
}

impl Piece {
    fn mathml(&self) -> String {
        match self {
            Self::Word(w) if w.starts_with(|c: char| c.is_numeric()) => format!("<mn>{w}</mn>"),
            Self::Word(w) => format!("<mi>{w}</mi>"),
            Self::Sign('-') => "<mo>−</mo>".into(),
            Self::Sign(c) => format!("<mo stretchy=\"false\">{c}</mo>"),
            Self::Dot(base, dots) => {
                let dots = if *dots == 1 { '˙' } else { '¨' };
                format!("<mover>{}<mo>{dots}</mo></mover>", base.mathml())
            }
            Self::Fraction(a, b) => format!(
                "<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
                row(a, &Self::mathml),
                row(b, &Self::mathml)
            ),
            Self::Script { base, below, above } => {
                let base = base.mathml();
                let [below, above] = [below, above].map(|s| row(s, &Self::mathml));
                match (below.is_empty(), above.is_empty()) {
                    (false, true) => format!("<msub>{base}<mrow>{below}</mrow></msub>"),
                    (true, _) => format!("<msup>{base}<mrow>{above}</mrow></msup>"),
                    (false, false) => format!(
                        "<msubsup>{base}<mrow>{below}</mrow><mrow>{above}</mrow></msubsup>"
                    ),
                }
            }
        }
    }

    fn typst(&self) -> String {
        match self {
            Self::Word(w) => format!("{w} "),
            Self::Sign(c) => format!("{c} "),
            Self::Dot(base, 1) => format!("dot({}) ", base.typst()),
            Self::Dot(base, _) => format!("dot.double({}) ", base.typst()),
            Self::Fraction(a, b) => {
                format!("frac({}, {}) ", row(a, &Self::typst), row(b, &Self::typst))
            }
            Self::Script { base, below, above } => {
                let script = |mark: char, s: &[Self]| {
                    if s.is_empty() {
                        String::new()
                    } else {
                        format!("{mark}({})", row(s, &Self::typst))
                    }
                };
                let base = base.typst();
                format!("{}{}{} ", base.trim_end(), script('_', below), script('^', above))
            }
        }
    }
}

/// A formula from its LaTeX.
fn read(text: &str) -> Vec<Piece> {
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    let mut pieces = Vec::new();
    while at < characters.len() {
        pieces.extend(piece(&characters, &mut at));
    }
    pieces
}

/// The next piece with its scripts; nothing for a blank.
fn piece(text: &[char], at: &mut usize) -> Option<Piece> {
    let mut base = simple_piece(text, at)?;
    while let Some(mark @ ('_' | '^')) = text.get(*at).copied() {
        *at += 1;
        let script = group(text, at);
        let (mut below, mut above) = (Vec::new(), Vec::new());
        if let Piece::Script { base: inner, below: b, above: a } = base {
            (base, below, above) = (*inner, b, a);
        }
        if mark == '_' {
            below = script;
        } else {
            above = script;
        }
        base = Piece::Script { base: Box::new(base), below, above };
    }
    Some(base)
}

fn simple_piece(text: &[char], at: &mut usize) -> Option<Piece> {
    let c = *text.get(*at)?;
    *at += 1;
    match c {
        ' ' => None,
        '\\' => {
            let end = text[*at..].iter().position(|c| !c.is_alphabetic());
            let end = end.map_or(text.len(), |n| *at + n);
            let word: String = text[*at..end].iter().collect();
            *at = end;
            Some(match word.as_str() {
                "dot" => Piece::Dot(Box::new(next(text, at)), 1),
                "ddot" => Piece::Dot(Box::new(next(text, at)), 2),
                "frac" => {
                    let above = group(text, at);
                    Piece::Fraction(above, group(text, at))
                }
                "partial" => Piece::Word("∂".into()),
                "nabla" => Piece::Word("∇".into()),
                "dots" => Piece::Sign('…'),
                "ge" => Piece::Sign('≥'),
                _ => Piece::Word(greek(&word).to_string()),
            })
        }
        c if c.is_alphanumeric() => Some(Piece::Word(c.to_string())),
        c => Some(Piece::Sign(c)),
    }
}

/// The next piece that is no blank.
fn next(text: &[char], at: &mut usize) -> Piece {
    loop {
        match simple_piece(text, at) {
            Some(piece) => return piece,
            None if *at >= text.len() => return Piece::Word(String::new()),
            None => {}
        }
    }
}

/// What stands in braces, or one piece.
fn group(text: &[char], at: &mut usize) -> Vec<Piece> {
    while text.get(*at) == Some(&' ') {
        *at += 1;
    }
    if text.get(*at) != Some(&'{') {
        return vec![next(text, at)];
    }
    *at += 1;
    let mut pieces = Vec::new();
    while *at < text.len() && text[*at] != '}' {
        pieces.extend(piece(text, at));
    }
    *at += 1;
    pieces
}

#[cfg(test)]
mod tests {
    use super::super::standard::StandardForm;
    use super::*;

    #[test]
    fn formulas_of_headings() {
        let heading = "Hamilton's equations q' = dH/dp, p' = -dH/dq + Q + R";
        assert!(
            latex(heading, &|_| false)
                .expect("formulas")
                .contains(r"$\dot q = \frac{\partial H}{\partial p}$")
        );
        let html = html(heading, &|_| false);
        assert!(html.contains("<mover><mi>q</mi><mo>˙</mo></mover>"), "{html}");
        let fraction =
            "<mfrac><mrow><mi>∂</mi><mi>H</mi></mrow><mrow><mi>∂</mi><mi>p</mi></mrow></mfrac>";
        assert!(html.contains(fraction), "{html}");
        let typst = typst(heading, &|w| w.to_owned(), &|_| false).expect("formulas");
        assert!(typst.contains("dot(q ) = frac(∂ H , ∂ p )"), "{typst}");
        assert_eq!(super::html("Drift b", &|_| false), "Drift <math><mi>b</mi></math>");
        assert_eq!(super::html("a < b", &|_| false), "a &lt; b");
        assert_eq!(latex("Momenta", &|_| false), None);
        // A model that has a name M gets our M in another script, but not the M in a word.
        let is_taken = |c: char| c == 'M';
        assert_eq!(plain("Mass matrix M (symmetric)", &is_taken), "Mass matrix 𝖬 (symmetric)");
        let other = latex("Mass matrix M (symmetric)", &is_taken);
        assert_eq!(other.as_deref(), Some("Mass matrix $\\mathsf{M}$ (symmetric)"));
        let other = renamed("\\dot A + A", &|c| c == 'A', &|c| format!("\\mathsf{{{c}}}"));
        assert_eq!(other, "\\dot {\\mathsf{A}} + \\mathsf{A}");
        assert_eq!(beginning("signs: Drift b"), ("signs: ", "Drift b"));
        assert_eq!(beginning("signs: others"), ("", "signs: others"));
    }

    /// Everything that is read is written: no brace or backslash is left, and elements are closed.
    #[test]
    fn all_headings_are_read() {
        for (heading, _) in headings() {
            let html = html(heading, &|_| false);
            assert!(!html.contains(['\\', '{', '}', '$']), "{html}");
            for tag in ["mi", "mo", "mrow", "mfrac", "msub", "msup", "math", "mover"] {
                let open = html.matches(&format!("<{tag}>")).count()
                    + html.matches(&format!("<{tag} ")).count();
                assert_eq!(open, html.matches(&format!("</{tag}>")).count(), "{html}");
            }
        }
    }
    /// What the symbols of a standard form mean is typeset too.
    #[test]
    fn symbols_of_standard_forms_are_typeset() {
        for (form, name) in StandardForm::ALL {
            assert!(latex(form.symbols(), &|_| false).is_some(), "{name}");
        }
    }
}
