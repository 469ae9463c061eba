//! Mistakes as data: a code, a place, what is wrong in the user's own words, and a hint.
//!
//! The same value reaches terminal, Python and web; [`Diagnostic::render`] gives the text form
//! and [`EXPLANATIONS`](crate::EXPLANATIONS) has a page for every code.
//!
//! **Conventions.** Messages are in lower case without a full stop, the culprit stands in
//! back-ticks as the user wrote it, and hints say what to write instead.

pub(crate) mod explain;
pub(crate) mod parse_errors;
mod render;

use std::fmt;

use crate::source::{Source, Span};

/// One thing to say about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// For example `E0103`; [`explanation`](crate::explanation) has its page.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The text it is about; empty where something is missing.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Other places that matter, such as a first declaration.
    pub notes: Vec<(Span, String)>,
}

/// How bad a [`Diagnostic`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant.
    Warning,
    /// There is no result.
    Error,
}

impl Diagnostic {
    /// A mistake without hint and notes.
    pub fn error(code: &'static str, span: Span, message: String) -> Self {
        let message = shortened(message);
        Self { code, severity: Severity::Error, span, message, hint: None, notes: Vec::new() }
    }

    /// A warning without hint and notes.
    pub fn warning(code: &'static str, span: Span, message: String) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// The same with a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    /// The same with another place that matters.
    #[must_use]
    pub fn with_note(mut self, span: Span, note: String) -> Self {
        self.notes.push((span, note));
        self
    }

    /// The text form: heading, place, the source with the span underlined, hint, notes.
    ///
    /// ```
    /// use pfaff_model::{Source, parse};
    /// let source = Source::new("sleigh.pfaff", "title \"sleigh\"\ncoordinate x, y\n");
    /// let mistakes = parse(&source).diagnostics;
    /// assert_eq!(mistakes[0].render(&source), "\
    /// error[E0110]: no statement begins with `coordinate`
    ///  --> sleigh.pfaff:2:1
    ///   |
    /// 2 | coordinate x, y
    ///   | ^^^^^^^^^^
    ///   = hint: did you mean `coordinates`?
    /// ");
    /// ```
    pub fn render(&self, source: &Source) -> String {
        render::render(self, source)
    }
}

/// The heading alone; [`Diagnostic::render`] also shows the place.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]: {}", self.severity.word(), self.code, self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl Severity {
    /// The word that heads the text form.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The candidate most like `name`, if one is so like it that it may be meant. The first wins
/// among equals; a difference of case alone wins over all others.
///
/// ```
/// use pfaff_model::closest;
/// assert_eq!(closest("coordinate", &["constraint", "coordinates"]), Some("coordinates"));
/// assert_eq!(closest("phi", &["x", "y"]), None);
/// ```
pub fn closest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    // NOTE: longer names are not worth the quadratic cost of the comparison.
    const LONGEST: usize = 64;
    let wanted: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if wanted.len() > LONGEST {
        return None;
    }
    let allowed = 2 * (wanted.len() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for &candidate in candidates {
        let letters: Vec<char> = candidate.chars().take(LONGEST + 1).collect();
        if candidate == name || letters.len() > LONGEST {
            continue;
        }
        // Twice the distance, so that case alone (1) is nearer than any edit (2).
        let distance = if candidate.to_lowercase() == name.to_lowercase() {
            1
        } else {
            2 * edit_distance(&wanted, &letters)
        };
        // A name with every letter replaced is not alike: `x` never means `y`.
        let alike = distance < 2 * wanted.len().max(letters.len()) && distance <= allowed;
        if alike && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// A message that quotes something endless, without its middle.
fn shortened(message: String) -> String {
    const LONGEST: usize = 500;
    let (Some((head, _)), Some((tail, _))) =
        (message.char_indices().nth(LONGEST / 2), message.char_indices().nth_back(LONGEST / 2))
    else {
        return message;
    };
    if message.len() <= 2 * LONGEST {
        return message;
    }
    format!("{} … {}", &message[..head], &message[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closest_knows_swaps_and_case() {
        assert_eq!(closest("lagrnagian", &["lagrangian"]), Some("lagrangian"));
        assert_eq!(closest("Phi", &["psi", "phi"]), Some("phi"));
        assert_eq!(closest("x", &["y", "X"]), Some("X"));
        assert_eq!(closest("x1", &["x2", "y"]), Some("x2"));
        assert_eq!(closest("x", &["y"]), None);
        assert_eq!(closest(&"x".repeat(100_000), &["x"]), None);
    }
}
