//! Symbols as Typst: `phi[1,2]'` is `dot(φ)_(12)`, `x_max` is `x_("max")`, `lambda(blade)` is `λ_("blade")`.

use crate::graph::node::Symbol;
use crate::print::symbol_parts::{Subscript, SymbolParts, SymbolWord, greek, parts};

/// The symbol as Typst.
pub(crate) fn typst(symbol: &Symbol) -> String {
    written(&parts(symbol))
}

fn written(parts: &SymbolParts) -> String {
    let base = word(&parts.base);
    let dotted = match parts.order {
        0 => base,
        1 => format!("dot({base})"),
        2 => format!("dot.double({base})"),
        3 => format!("dot.triple({base})"),
        n => format!("{base}^(({n}))"),
    };
    let subscript = |s: &Subscript| match s {
        Subscript::Word(w) => word(w),
        Subscript::Plain(text) => plain(text),
        Subscript::Of(parts) => written(parts),
    };
    let all: Vec<String> = parts.subscripts.iter().map(subscript).collect();
    if all.is_empty() { dotted } else { format!("{dotted}_({})", all.join(", ")) }
}

fn word(word: &SymbolWord) -> String {
    match word {
        SymbolWord::Greek(name) => greek(name).to_string(),
        SymbolWord::Letter(letter) if letter.chars().all(char::is_alphabetic) => letter.clone(),
        SymbolWord::Letter(text) | SymbolWord::Upright(text) => quoted(text),
    }
}

/// Digits as they are, letters one by one: side by side they would be a name.
fn plain(text: &str) -> String {
    if text.chars().all(|c| c.is_ascii_digit() || ",-".contains(c)) {
        return text.to_owned();
    }
    let apart: Vec<String> = text
        .chars()
        .map(|c| if c.is_alphanumeric() { c.to_string() } else { quoted(&c.to_string()) })
        .collect();
    apart.join(" ")
}

/// Text in quotes, which is set upright.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
