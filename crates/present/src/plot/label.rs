//! Words → glyphs in their places.
//!
//! A title is set as it stands. A label is read as the name of a quantity in the model language and set as on
//! paper: `theta'` is θ with a dot, `phi[1,2]` is φ with the subscript 12, `lambda(blade)` is λ with the subscript
//! blade; letters that stand for quantities are italic, words and digits upright.

use pfaff_expr::{Subscript, SymbolParts, SymbolWord, greek};

use super::typeface::Typeface;

/// A glyph of a line. Lengths are in units of the size of the line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Glyph {
    pub(super) typeface: Typeface,
    pub(super) id: u16,
    pub(super) letter: char,
    /// From the beginning of the line to the origin of the glyph.
    pub(super) x: f64,
    /// From the base line upwards.
    pub(super) rise: f64,
    pub(super) size: f64,
}

/// A line of glyphs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Line {
    pub(super) glyphs: Vec<Glyph>,
    pub(super) width: f64,
}

/// Subscripts are smaller by this factor, once.
const SCRIPT: f64 = 0.7;
/// How far subscripts stand below the line, and superscripts above.
const DROP: f64 = 0.17;
const RAISE: f64 = 0.36;
/// Above a letter, up to its dots; between two dots.
const ABOVE: f64 = 0.07;
const DOTS: f64 = 0.19;
/// What parts a letter from its subscript.
const HAIR: f64 = 0.03;

/// Text as it stands.
pub(super) fn text(words: &str) -> Line {
    let mut line = Line::default();
    line.put(Typeface::Upright, words, Script::LINE);
    line
}

/// Names of quantities, with signs and words between them.
pub(super) fn label(words: &str) -> Line {
    let mut line = Line::default();
    let mut rest = words;
    while let Some(first) = rest.chars().next() {
        if let Some((file, after)) = file_name(rest) {
            line.put(Typeface::Upright, file, Script::LINE);
            rest = after;
        } else if let Some((power, after)) = power(rest) {
            line.put(Typeface::Upright, power, Script::LINE.above());
            rest = after;
        } else if first.is_alphabetic() {
            let (name, order, after) = name(rest);
            line.symbol(&SymbolParts::of(name, order), Script::LINE);
            rest = after;
        } else {
            let (sign, after) = rest.split_at(first.len_utf8());
            line.put(Typeface::Upright, sign, Script::LINE);
            rest = after;
        }
    }
    line
}

/// The name of a table at the beginning of a text, and the rest.
fn file_name(text: &str) -> Option<(&str, &str)> {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = text.find(|c| !word(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_table = [".csv", ".parquet", ".arrow"].iter().any(|ending| name.ends_with(ending));
    is_table.then_some((name, rest))
}

/// The whole exponent at the beginning of a text, and the rest.
fn power(text: &str) -> Option<(&str, &str)> {
    let digits = text.strip_prefix('^')?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    (end > 0 && !digits[end..].starts_with('.')).then(|| digits.split_at(end))
}

/// The name at the beginning of a text, how many primes follow it, and the rest.
fn name(text: &str) -> (&str, u8, &str) {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut end = text.find(|c| !word(c)).unwrap_or(text.len());
    let inside = |from: usize, open: char, close: char| {
        let rest = text[from..].strip_prefix(open)?;
        Some(&rest[..rest.find(close)?])
    };
    if matches!(&text[..end], "lambda" | "mu" | "reaction")
        && let Some(of) = inside(end, '(', ')')
    {
        end += of.len() + 2;
    } else if let Some(indices) = inside(end, '[', ']')
        && indices.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ' '))
    {
        end += indices.len() + 2;
    }
    let rest = text[end..].trim_start_matches('\'');
    let primes = text.len() - end - rest.len();
    (&text[..end], primes as u8, rest)
}

/// Size and height of a part of a line.
#[derive(Clone, Copy)]
struct Script {
    size: f64,
    rise: f64,
}

impl Script {
    const LINE: Self = Self { size: 1.0, rise: 0.0 };

    fn below(self) -> Self {
        let size = if self.size == 1.0 { SCRIPT } else { self.size };
        Self { size, rise: self.rise - DROP * self.size }
    }

    fn above(self) -> Self {
        Self { size: SCRIPT * self.size, rise: self.rise + RAISE * self.size }
    }
}

impl Line {
    fn put(&mut self, typeface: Typeface, words: &str, script: Script) {
        for letter in words.chars() {
            // NOTE: what the italic lacks the upright may have.
            let typeface =
                if typeface.glyph(letter) == 0 { Typeface::Upright } else { typeface };
            let id = typeface.glyph(letter);
            let Script { size, rise } = script;
            self.glyphs.push(Glyph { typeface, id, letter, x: self.width, rise, size });
            self.width += size * typeface.advance(id);
        }
    }

    fn symbol(&mut self, parts: &SymbolParts, script: Script) {
        let first = self.glyphs.len();
        self.word(&parts.base, script);
        match parts.order {
            0 => {}
            order @ 1..=3 => self.dots(first, order, script),
            order => self.put(Typeface::Upright, &format!("({order})"), script.above()),
        }
        let below = script.below();
        for (i, subscript) in parts.subscripts.iter().enumerate() {
            if i == 0 {
                self.width += HAIR * script.size;
            } else {
                self.put(Typeface::Upright, ",", below);
            }
            match subscript {
                Subscript::Word(word) => self.word(word, below),
                Subscript::Plain(digits) => self.put(Typeface::Upright, digits, below),
                Subscript::Of(parts) => self.symbol(parts, below),
            }
        }
    }

    fn word(&mut self, word: &SymbolWord, script: Script) {
        match word {
            SymbolWord::Greek(name) => {
                let letter = greek(name);
                let typeface =
                    if letter.is_uppercase() { Typeface::Upright } else { Typeface::Italic };
                self.put(typeface, letter.encode_utf8(&mut [0; 4]), script);
            }
            SymbolWord::Letter(letter) => self.put(Typeface::Italic, letter, script),
            SymbolWord::Upright(words) => self.put(Typeface::Upright, words, script),
        }
    }

    /// Dots above the glyphs from `first` on.
    fn dots(&mut self, first: usize, count: u8, script: Script) {
        const DOT: char = '\u{307}';
        let inks = self.glyphs[first..].iter().filter_map(|g| {
            let [left, _, right, top] = g.typeface.ink(g.id)?;
            Some((g.x + g.size * left, g.x + g.size * right, g.size * top))
        });
        let nothing = (f64::INFINITY, f64::NEG_INFINITY, 0.0);
        let (left, right, top) =
            inks.fold(nothing, |a, b| (a.0.min(b.0), a.1.max(b.1), f64::max(a.2, b.2)));
        let typeface = Typeface::Upright;
        let id = typeface.glyph(DOT);
        let Some([dot_left, bottom, dot_right, _]) = typeface.ink(id) else { return };
        // An italic letter leans: its dots stand above its top, not above its middle.
        let lean = if self.glyphs.get(first).is_some_and(|g| g.typeface == Typeface::Italic) {
            0.2 * top
        } else {
            0.0
        };
        let size = script.size;
        let middle = f64::midpoint(left, right) + lean / 2.0;
        let dot_middle = size * f64::midpoint(dot_left, dot_right);
        for i in 0..count {
            let aside = size * DOTS * (f64::from(i) - f64::from(count - 1) / 2.0);
            let rise = script.rise + top + size * (ABOVE - bottom);
            let x = middle + aside - dot_middle;
            self.glyphs.push(Glyph { typeface, id, letter: DOT, x, rise, size });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(line: &Line) -> String {
        line.glyphs.iter().map(|g| g.letter).collect()
    }

    #[test]
    fn names_are_set_as_on_paper() {
        assert_eq!(letters(&label("theta'")), "θ\u{307}");
        assert_eq!(letters(&label("phi[1,2]''")), "φ\u{307}\u{307}12");
        assert_eq!(letters(&label("lambda(blade), mu(c[1])'")), "λblade, μ\u{307}c1");
        assert_eq!(letters(&label("reaction(x)")), "Rx");
        assert_eq!(letters(&label("E[L,M]")), "E[L,M]");
        assert_eq!(letters(&label("x (chetaev)")), "x (chetaev)");
        assert_eq!(letters(&label("x^2+y'^10")), "x2+y\u{307}10");
        assert_eq!(letters(&label("x^2.5 x^a")), "x^2.5 x^a");
    }

    #[test]
    fn quantities_are_italic_and_subscripts_small_and_low() {
        let line = label("x_max, energy");
        assert_eq!(line.glyphs[0].typeface, Typeface::Italic);
        let subscript = line.glyphs[1];
        assert_eq!((subscript.letter, subscript.typeface), ('m', Typeface::Upright));
        assert!(subscript.size < 1.0 && subscript.rise < 0.0);
        assert!(
            line.glyphs[4..].iter().all(|g| g.typeface == Typeface::Upright && g.size == 1.0)
        );
        let power = label("x^2").glyphs[1];
        assert!(power.size < 1.0 && power.rise > 0.0);
        // The name of a file is no quantity.
        let file = label("x (A.csv)");
        assert_eq!(file.glyphs[0].typeface, Typeface::Italic);
        assert!(file.glyphs[1..].iter().all(|g| g.typeface == Typeface::Upright));
    }

    #[test]
    fn dots_stand_above_their_letter() {
        for name in ["x'", "l'", "theta'", "Omega''"] {
            let line = label(name);
            let [left, _, right, top] = line.glyphs[0].typeface.ink(line.glyphs[0].id).unwrap();
            for dot in &line.glyphs[1..] {
                let ink = dot.typeface.ink(dot.id).unwrap();
                assert!(dot.rise + ink[1] > top, "{name}");
                let middle = dot.x + f64::midpoint(ink[0], ink[2]);
                assert!(
                    left < middle && middle < right + 0.1,
                    "{name}: {left} {middle} {right}"
                );
            }
        }
    }

    #[test]
    fn every_letter_of_the_language_has_a_glyph() {
        let all = "αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩабвгде−–…×·′″⁻⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂äßéñł∞≤";
        for c in all.chars() {
            assert_ne!(Typeface::Upright.glyph(c), 0, "{c}");
        }
        for c in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZαβγδεζηθικλμνξπρστυφχψω"
            .chars()
        {
            assert_ne!(Typeface::Italic.glyph(c), 0, "{c}");
        }
    }
}
