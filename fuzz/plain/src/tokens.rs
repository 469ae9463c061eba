//! Texts that nobody would write: tokens of the language in any order, and pieces of gallery texts with changes.

use std::sync::OnceLock;

use pfaff::{GALLERY, GalleryModel};

use crate::choices::SplitMix;

/// Words and signs of the language, and some that are not.
pub const TOKENS: &[&str] = &[
    "title",
    "coordinates",
    "parameters",
    "let",
    "lagrangian",
    "kinetic",
    "potential",
    "constraint",
    "along",
    "force",
    "at",
    "dissipation",
    "equation",
    "principle",
    "initial",
    "final",
    "observe",
    "event",
    "rising",
    "falling",
    "stop",
    "draw",
    "solve",
    "symmetry",
    "x",
    "y",
    "q",
    "phi",
    "m",
    "t",
    "pi",
    "s",
    "N",
    "x'",
    "q[1]",
    "q[i]'",
    "phi[1,2]",
    "''",
    "'",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    "and",
    "or",
    "not",
    "+",
    "-",
    "*",
    "/",
    "^",
    "..",
    "0",
    "1",
    "2",
    "0.5",
    "1e-3",
    "1e400",
    "99999999999",
    "\"text\"",
    "\"",
    "#",
    "\n",
    "\n",
    "\n",
    "\n  ",
    "\t",
    "sin(",
    "if(",
    "sum(i = 1..3,",
    "product(",
    "table(t,",
    "caputo(",
    "memory(",
    "rotation(",
    "lambda(",
    "mu(",
    "inv(",
    "det(",
    "gyroscopic(",
    "λ",
    "é",
    "\u{200b}",
    "“",
    "→",
    "²",
    "\\",
    "$",
    "@",
    "\u{feff}",
    "\0",
    "contact",
    "mode",
    "on ",
    "state",
    "input",
    "control",
    "every",
    "in ",
    "noise",
    "group",
    "restitution",
    "friction",
    "mean(",
    "mittag_leffler(",
    "atan2(",
    "complex(",
    "identity(",
    "transversal(",
    "multipliers",
    "vakonomic",
    "energy",
    "tolerance",
    "\u{1b}[2J",
    "\u{202e}",
    "\r",
    "\r\n",
    "0x1",
    "1e",
    "1.",
    ".5",
    "''",
    "((((((((((((",
    "[[[[",
    "-----",
    "not not",
    "^^",
    "1e-400",
    "18446744073709551616",
    "9223372036854775807",
    "-1",
    "q[0]",
    "q[99999999]",
    "N = 1000000",
];

/// A text of a few tokens, some lines of a model with changes, or anything.
pub fn text(random: &mut SplitMix, text: &mut Vec<u8>) {
    match random.below(20) {
        0 => text.extend((0..random.below(40)).map(|_| random.word() as u8)),
        1 | 2 => mutated(random, text),
        _ => {
            for _ in 0..=random.below(6) {
                text.extend(TOKENS[random.below(TOKENS.len())].bytes());
                if random.below(3) > 0 {
                    text.push(b' ');
                }
            }
        }
    }
}

/// A model of the gallery, as texts are made from it.
struct Parts {
    whole: &'static str,
    is_large: bool,
    /// Its lines without comments.
    lines: Vec<&'static str>,
}

/// Those of the gallery, cut once.
fn parts() -> &'static [Parts] {
    static PARTS: OnceLock<Vec<Parts>> = OnceLock::new();
    PARTS.get_or_init(|| {
        let parts = |model: &GalleryModel| Parts {
            whole: model.text,
            is_large: model.is_large(),
            lines: model.text.lines().filter(|line| !line.starts_with('#')).collect(),
        };
        GALLERY.iter().map(parts).collect()
    })
}

/// Some lines of a gallery text, with some of their parts changed; a whole text, of a model that is not large, once in
/// a hundred times.
fn mutated(random: &mut SplitMix, bytes: &mut Vec<u8>) {
    let model = &parts()[random.below(GALLERY.len())];
    let mut text: Vec<char> = Vec::new();
    if random.below(100) == 0 && !model.is_large {
        text.extend(model.whole.chars());
    } else {
        for _ in 0..=random.below(4) {
            text.extend(model.lines[random.below(model.lines.len())].chars());
            text.push('\n');
        }
    }
    for _ in 0..=random.below(6) {
        let at = random.below(text.len());
        let end = (at + random.below(12)).min(text.len());
        let token = TOKENS[random.below(TOKENS.len())];
        match random.below(7) {
            0 => drop(text.drain(at..end)),
            1 => {
                let copy: Vec<char> = text[at..end].to_vec();
                let to = random.below(text.len() + 1);
                text.splice(to..to, copy);
            }
            2 => drop(text.splice(at..at, token.chars())),
            3 => drop(text.splice(at..end, token.chars())),
            4 => {
                let other = random.below(text.len());
                if at < text.len() {
                    text.swap(at, other);
                }
            }
            5 => drop(text.splice(at..at, char::from_u32(random.below(0x3000) as u32))),
            _ => text.truncate(at),
        }
    }
    bytes.extend(text.into_iter().collect::<String>().bytes());
}
