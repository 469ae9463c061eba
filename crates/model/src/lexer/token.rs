//! The words of the language: tokens, keywords and exact decimals.

use crate::source::Span;

/// A piece of text that the parser takes as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub(crate) kind: TokenKind,
    /// Where it stands. Its text is the source's slice.
    pub(crate) span: Span,
    /// Whether nothing but white space stands before it on its line.
    pub(crate) first_on_line: bool,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A letter or `_`, then letters, digits, `_`.
    Name,
    /// `1`, `0.5`, `1e-3`
    Number,
    /// `"…"`
    Text,
    /// `(`
    LeftParen,
    /// `)`
    RightParen,
    /// `[`
    LeftBracket,
    /// `]`
    RightBracket,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `=`
    Equals,
    /// `==`
    Same,
    /// `!=`
    Differs,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `^`
    Caret,
    /// `'`
    Prime,
    /// `..`
    DotDot,
}

impl TokenKind {
    /// Whether an operand may begin with it.
    pub(crate) const fn begins_operand(self) -> bool {
        matches!(
            self,
            Self::Name | Self::Number | Self::Text | Self::LeftParen | Self::LeftBracket
        )
    }

    /// The bracket that closes this one.
    pub(crate) const fn closing(self) -> Option<Self> {
        match self {
            Self::LeftParen => Some(Self::RightParen),
            Self::LeftBracket => Some(Self::RightBracket),
            _ => None,
        }
    }
}

macro_rules! keywords {
    ($($variant:ident $word:literal $form:literal)*) => {
        /// A word that begins a statement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Keyword {
            $(#[doc = concat!("`", $form, "`")] $variant,)*
        }

        impl Keyword {
            /// All keywords, in the order of the language reference.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The keyword as written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// What a statement with this keyword looks like.
            pub const fn form(self) -> &'static str {
                match self { $(Self::$variant => $form),* }
            }
        }
    };
}

keywords! {
    Title "title" "title \"a name for people\""
    Coordinates "coordinates" "coordinates x, y, q[3], th[0..N]"
    Parameters "parameters" "parameters m = 1, J = [[1, 0], [0, 2]], k"
    Let "let" "let X = x + a*cos(phi)"
    Lagrangian "lagrangian" "lagrangian m*x'^2/2 - k*x^2/2"
    Kinetic "kinetic" "kinetic m*x'^2/2"
    Potential "potential" "potential k*x^2/2"
    Constraint "constraint" "constraint name: y' = a*x'"
    Force "force" "force x: -c*x'"
    Noise "noise" "noise x: sigma"
    Dissipation "dissipation" "dissipation c*x'^2/2"
    Equation "equation" "equation m*x'' = -k*x"
    Principle "principle" "principle chetaev"
    Initial "initial" "initial x = 0, x' = 1"
    Final "final" "final x = 1"
    History "history" "history x = cos(t)"
    Observe "observe" "observe speed = sqrt(x'^2 + y'^2)"
    Event "event" "event stop rising name: x - 1"
    On "on" "on name: x' = -e*x'"
    State "state" "state z: -z/tau + x"
    Input "input" "input u = 0"
    Control "control" "control u = -k*x every 0.01"
    Mode "mode" "mode stance, flight"
    Contact "contact" "contact name: y >= 0, restitution = 0.8"
    Draw "draw" "draw point [x, y]"
    Solve "solve" "solve t = 0..20, tolerance = 1e-10"
    Symmetry "symmetry" "symmetry name: x = 1, y = 0"
    Group "group" "group SE(2): x, y, theta"
}

impl Keyword {
    /// The keyword written so, if there is one.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.word() == word)
    }
}

/// The exact number `digits` · 10^`exponent`.
///
/// Normalised: no zeros at either end of `digits`; zero is `0` · 10^0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// Decimal digits, at least one.
    pub digits: String,
    /// The power of ten of the last digit.
    pub exponent: i32,
}

impl Decimal {
    /// The largest power of ten of a digit that is not zero, up and down.
    pub const LIMIT: i32 = 400;

    /// Reads `1`, `0.5`, `1e-3`. `None` if a digit that is not zero stands for a power of ten
    /// beyond ±[`Decimal::LIMIT`]. Characters that no number has are passed over: the lexer
    /// has reported them.
    pub fn from_text(text: &str) -> Option<Self> {
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digit = |c: &char| c.is_ascii_digit();
        let decimals = fraction.chars().filter(is_digit).count();
        let digits: String = whole.chars().chain(fraction.chars()).filter(is_digit).collect();
        let significant = digits.trim_start_matches('0');
        let kept = significant.trim_end_matches('0');
        if kept.is_empty() {
            return Some(Self { digits: "0".to_owned(), exponent: 0 });
        }
        // NOTE: a power too long for i64 is far beyond the limit, whatever the digits.
        let power: i128 = power.parse::<i64>().ok()?.into();
        let exponent = power - decimals as i128 + (significant.len() - kept.len()) as i128;
        let leading = exponent + kept.len() as i128 - 1;
        let limit = i128::from(Self::LIMIT);
        (exponent >= -limit && leading <= limit)
            .then(|| Self { digits: kept.to_owned(), exponent: exponent as i32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, i32)> {
        Decimal::from_text(text).map(|d| (d.digits, d.exponent))
    }

    #[test]
    fn decimals_are_exact_and_normalised() {
        let number = |digits: &str, exponent| Some((digits.to_owned(), exponent));
        assert_eq!(read("0.10"), number("1", -1));
        assert_eq!(read("1200"), number("12", 2));
        assert_eq!(read("1.25e-3"), number("125", -5));
        assert_eq!(read("007E+2"), number("7", 2));
        assert_eq!(read("0.000e999999999999999999999"), number("0", 0));
        assert_eq!(read("1000e397"), number("1", 400));
    }

    #[test]
    fn huge_and_tiny_numbers_are_refused_without_cost() {
        for text in ["1e401", "1e999999999", "1e99999999999999999999", "10e400", "1e-401"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&format!("1{}", "0".repeat(401))), None);
        assert_eq!(read(&format!("0.{}1", "0".repeat(400))), None);
        assert_eq!(read(&"7".repeat(402)), None);
    }
}
