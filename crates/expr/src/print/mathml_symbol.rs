//! Symbols as MathML: `phi[1,2]'` is φ with a dot over it and 12 below.

use crate::graph::node::Symbol;
use crate::print::commands_a_screen;
use crate::print::symbol_parts::{Subscript, SymbolParts, SymbolWord, greek, parts};

/// The symbol as one element.
pub(crate) fn mathml(symbol: &Symbol) -> String {
    written(&parts(symbol))
}

fn written(parts: &SymbolParts) -> String {
    let base = word(&parts.base);
    let over = |dots: &str| format!("<mover accent=\"true\">{base}<mo>{dots}</mo></mover>");
    let dotted = match parts.order {
        0 => base,
        1 => over("˙"),
        2 => over("¨"),
        3 => over("⃛"),
        n => format!(
            "<msup>{base}<mrow><mo stretchy=\"false\">(</mo><mn>{n}</mn><mo stretchy=\"false\">)</mo></mrow></msup>"
        ),
    };
    let subscript = |s: &Subscript| match s {
        Subscript::Word(w) => word(w),
        Subscript::Plain(text) => format!("<mn>{}</mn>", escape(text)),
        Subscript::Of(parts) => written(parts),
    };
    let all: Vec<String> = parts.subscripts.iter().map(subscript).collect();
    match all.as_slice() {
        [] => dotted,
        all => format!("<msub>{dotted}<mrow>{}</mrow></msub>", all.join("<mo>,</mo>")),
    }
}

fn word(word: &SymbolWord) -> String {
    match word {
        SymbolWord::Greek(name) => format!("<mi>{}</mi>", greek(name)),
        SymbolWord::Letter(letter) => format!("<mi>{}</mi>", escape(letter)),
        SymbolWord::Upright(text) => {
            format!("<mi mathvariant=\"normal\">{}</mi>", escape(text))
        }
    }
}

/// Text with the characters that mean something to HTML and XML made harmless.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // No XML may have control characters, and in no text do they mean anything.
            c if commands_a_screen(c) => {
                escaped.push_str(&format!("\\u{:04x}", c as u32));
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
