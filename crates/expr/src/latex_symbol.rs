//! Symbols as LaTeX: letters, Greek names, indices as subscripts, dots for derivatives.
//!
//! `phi[1,2]'` is `\dot{\varphi}_{12}`, `x_max` is `x_{\mathrm{max}}`, `q1` is `q_{1}`,
//! `lambda(blade)` is `\lambda_{\mathrm{blade}}`.

use crate::node::{Role, Symbol};

/// The symbol as LaTeX.
pub(crate) fn latex(symbol: &Symbol) -> String {
    let (base, subscript) = match (symbol.role, of(&symbol.name)) {
        (Role::Multiplier { .. }, _) => ("\\mu".to_string(), plain(&symbol.name)),
        (_, Some(("reaction", of))) => ("R".to_string(), plain(of)),
        (_, Some((word, of))) => (letter(word), plain(of)),
        _ => split(&symbol.name),
    };
    let order = match symbol.role {
        Role::Coordinate { order } | Role::Multiplier { order } => order,
        Role::Time | Role::Parameter | Role::Free => 0,
    };
    let dotted = match order {
        0 => base,
        1 => format!("\\dot{{{base}}}"),
        2 => format!("\\ddot{{{base}}}"),
        3 => format!("\\dddot{{{base}}}"),
        n => format!("{base}^{{({n})}}"),
    };
    if subscript.is_empty() { dotted } else { format!("{dotted}_{{{subscript}}}") }
}

/// Whether the symbol carries an exponent of its own.
pub(crate) fn is_raised(symbol: &Symbol) -> bool {
    matches!(symbol.role, Role::Coordinate { order } | Role::Multiplier { order } if order > 3)
}

/// A result of a motion, `lambda(blade)`: the word and what it is of.
fn of(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(')')?.split_once('(')
}

fn plain(name: &str) -> String {
    let (base, subscript) = split(name);
    if subscript.is_empty() { base } else { format!("{base}_{{{subscript}}}") }
}

/// The letter or word, and its subscript.
fn split(name: &str) -> (String, String) {
    let (word, indices) = match name.split_once('[') {
        Some((word, rest)) => (word, rest.trim_end_matches(']')),
        None => (name, ""),
    };
    let mut subscripts: Vec<String> = Vec::new();
    let mut parts = word.split('_').filter(|p| !p.is_empty());
    let head = parts.next().unwrap_or("\\_");
    let letters = head.trim_end_matches(|c: char| c.is_ascii_digit());
    let base = if letters.is_empty() || letters.chars().any(|c| c.is_ascii_digit()) {
        upright(head)
    } else {
        if letters.len() < head.len() {
            subscripts.push(head[letters.len()..].to_string());
        }
        letter(letters)
    };
    subscripts.extend(parts.map(|p| {
        if p.chars().all(|c| c.is_ascii_digit()) { p.to_string() } else { letter(p) }
    }));
    if !indices.is_empty() {
        let all: Vec<&str> = indices.split(',').map(str::trim).collect();
        let short = all.iter().all(|i| i.len() == 1);
        subscripts.push(all.join(if short { "" } else { "," }));
    }
    (base, subscripts.join(","))
}

/// A Greek letter by its name, a single letter as it is, a word upright.
fn letter(word: &str) -> String {
    const SMALL: [&str; 20] = [
        "alpha", "beta", "gamma", "delta", "zeta", "eta", "iota", "kappa", "lambda", "mu",
        "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "chi", "psi", "omega",
    ];
    const CAPITAL: [&str; 11] = [
        "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi",
        "Omega",
    ];
    match word {
        "phi" => "\\varphi".into(),
        "epsilon" => "\\varepsilon".into(),
        "theta" | "th" => "\\theta".into(),
        _ if SMALL.contains(&word) || CAPITAL.contains(&word) => format!("\\{word}"),
        _ if word.chars().count() == 1 => escape(word),
        _ => upright(word),
    }
}

fn upright(word: &str) -> String {
    format!("\\mathrm{{{}}}", escape(word))
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
