//! Symbols as LaTeX: letters, Greek names, indices as subscripts, dots for derivatives.
//!
//! `phi[1,2]'` is `\dot{\varphi}_{12}`, `x_max` is `x_{\mathrm{max}}`, `q1` is `q_{1}`,
//! `lambda(blade)` is `\lambda_{\mathrm{blade}}`.

use crate::graph::node::{Role, Symbol};
use crate::print::symbol_parts::{Subscript, SymbolParts, SymbolWord, parts};

/// The symbol as LaTeX.
pub(crate) fn latex(symbol: &Symbol) -> String {
    written(&parts(symbol))
}

/// Whether the symbol carries an exponent of its own.
pub(crate) fn is_raised(symbol: &Symbol) -> bool {
    matches!(symbol.role, Role::Coordinate { order } | Role::Multiplier { order } if order > 3)
}

fn written(parts: &SymbolParts) -> String {
    let base = word(&parts.base);
    let dotted = match parts.order {
        0 => base,
        1 => format!("\\dot{{{base}}}"),
        2 => format!("\\ddot{{{base}}}"),
        3 => format!("\\dddot{{{base}}}"),
        n => format!("{base}^{{({n})}}"),
    };
    let subscript = |s: &Subscript| match s {
        Subscript::Word(w) => word(w),
        Subscript::Plain(text) => text.clone(),
        Subscript::Of(parts) => written(parts),
    };
    let all: Vec<String> = parts.subscripts.iter().map(subscript).collect();
    if all.is_empty() { dotted } else { format!("{dotted}_{{{}}}", all.join(",")) }
}

fn word(word: &SymbolWord) -> String {
    match word {
        SymbolWord::Greek(name) => format!("\\{name}"),
        SymbolWord::Letter(letter) => escape(letter),
        SymbolWord::Upright(text) => format!("\\mathrm{{{}}}", escape(text)),
    }
}

/// Text with the characters that mean something to LaTeX made harmless.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\backslash{}"),
            '^' => escaped.push_str("\\hat{}"),
            '~' => escaped.push_str("\\sim{}"),
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    escaped
}
