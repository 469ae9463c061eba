//! Characters of paper and of other languages, and what they are called here.

use crate::lexer::token::TokenKind;

/// What is said about a character that the language does not know, and how it is read.
pub(crate) struct Repair {
    /// Bytes that it covers.
    pub(crate) length: usize,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The tokens that stand for it.
    pub(crate) kinds: &'static [TokenKind],
    /// Whether the rest of the statement can no longer be trusted.
    pub(crate) poisons: bool,
}

/// How to read `text`, which begins with `length` bytes that make no token.
pub(crate) fn repair(text: &str, length: usize) -> Repair {
    let culprit = &text[..length];
    let c = culprit.chars().next().unwrap_or(' ');
    if superscript(c).is_some() {
        return power(text);
    }
    for &(from, to, kinds) in TOKENS {
        if from == culprit {
            let hint = Some(format!("write `{to}`"));
            let message = message(culprit);
            return Repair { length, message, hint, kinds, poisons: false };
        }
    }
    let found = ADVICE.iter().find(|(from, ..)| *from == culprit);
    let hint = found.map(|(_, advice, _)| (*advice).to_owned());
    let poisons = found.is_none_or(|&(.., poisons)| poisons);
    Repair { length, message: message(culprit), hint, kinds: &[], poisons }
}

/// Names the culprit; by number too where it cannot be told from others by eye.
fn message(culprit: &str) -> String {
    let c = culprit.chars().next().unwrap_or(' ');
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{feff}' => {
            format!("the mark U+{:04X} has no meaning here", c as u32)
        }
        c if c.is_control() => format!("the character U+{:04X} has no meaning here", c as u32),
        c if c.is_ascii() => format!("`{culprit}` has no meaning here"),
        c => format!("`{c}` (U+{:04X}) has no meaning here", c as u32),
    }
}

/// `x²`, `x⁻¹`: the whole run of raised characters. It is passed over, the base stands alone.
fn power(text: &str) -> Repair {
    let run: Vec<char> = text.chars().take_while(|&c| superscript(c).is_some()).collect();
    let length = run.iter().map(|c| c.len_utf8()).sum();
    let plain: String = run.iter().filter_map(|&c| superscript(c)).collect();
    let message = format!("`{}` has no meaning here", &text[..length]);
    Repair {
        length,
        message,
        hint: Some(format!("write `^{plain}`")),
        kinds: &[],
        poisons: false,
    }
}

fn superscript(c: char) -> Option<char> {
    const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺";
    RAISED.chars().zip("0123456789-+".chars()).find(|&(raised, _)| raised == c).map(|(_, p)| p)
}

use TokenKind as T;

/// Read as the tokens that they mean.
const TOKENS: &[(&str, &str, &[T])] = &[
    ("×", "*", &[T::Star]),
    ("·", "*", &[T::Star]),
    ("⋅", "*", &[T::Star]),
    ("∙", "*", &[T::Star]),
    ("•", "*", &[T::Star]),
    ("∗", "*", &[T::Star]),
    ("÷", "/", &[T::Slash]),
    ("∕", "/", &[T::Slash]),
    ("⁄", "/", &[T::Slash]),
    ("−", "-", &[T::Minus]),
    ("–", "-", &[T::Minus]),
    ("—", "-", &[T::Minus]),
    ("‐", "-", &[T::Minus]),
    ("‑", "-", &[T::Minus]),
    ("＋", "+", &[T::Plus]),
    ("－", "-", &[T::Minus]),
    ("＝", "=", &[T::Equals]),
    ("（", "(", &[T::LeftParen]),
    ("）", ")", &[T::RightParen]),
    ("［", "[", &[T::LeftBracket]),
    ("］", "]", &[T::RightBracket]),
    ("，", ",", &[T::Comma]),
    ("、", ",", &[T::Comma]),
    ("：", ":", &[T::Colon]),
    ("’", "'", &[T::Prime]),
    ("‘", "'", &[T::Prime]),
    ("′", "'", &[T::Prime]),
    ("´", "'", &[T::Prime]),
    ("`", "'", &[T::Prime]),
    ("″", "''", &[T::Prime, T::Prime]),
    ("\u{307}", "'", &[T::Prime]),
    ("\u{308}", "''", &[T::Prime, T::Prime]),
    ("≤", "<=", &[T::AtMost]),
    ("≥", ">=", &[T::AtLeast]),
    ("≠", "!=", &[T::Differs]),
    ("=<", "<=", &[T::AtMost]),
    ("=>", ">=", &[T::AtLeast]),
    ("<>", "!=", &[T::Differs]),
    (":=", "=", &[T::Equals]),
    ("**", "^", &[T::Caret]),
    ("…", "..", &[T::DotDot]),
    ("‥", "..", &[T::DotDot]),
];

/// What to write instead, and whether the statement can no longer be trusted.
const ADVICE: &[(&str, &str, bool)] = &[
    ("{", "use `(` `)` to group terms, and `[` `]` for vectors and indices", true),
    ("}", "use `(` `)` to group terms, and `[` `]` for vectors and indices", true),
    (";", "a statement ends with its line, and items are separated by `,`", true),
    ("\\", "to continue a line, indent the next one deeper", false),
    ("&&", "write `and`", true),
    ("||", "write `or`", true),
    ("&", "write `and`", true),
    ("|", "write `abs(x)` for an absolute value, `or` for a choice", true),
    ("!", "write `not`", true),
    ("∧", "write `and`, or `cross(a, b)` for a vector product", true),
    ("∨", "write `or`", true),
    ("¬", "write `not`", true),
    ("√", "write `sqrt(x)`", true),
    ("∑", "write `sum(i = 1..N, …)`", true),
    ("∏", "write `product(i = 1..N, …)`", true),
    ("∫", "write `memory(k, g)` or `integral(g, mu)`", true),
    ("°", "angles are in radians: write `*pi/180`", false),
    (".", "numbers are written `1`, `0.5`; a range is `0..20`", true),
    ("%", "comments begin with `#`", true),
    ("\u{200b}", "it is invisible: delete it", false),
    ("\u{200c}", "it is invisible: delete it", false),
    ("\u{200d}", "it is invisible: delete it", false),
    ("\u{feff}", "it is invisible: delete it", false),
];
