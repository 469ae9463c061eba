//! A symbol's name taken apart: letter or word, dots, subscripts. What LaTeX, MathML and figures write is made
//! of it.
//!
//! `phi[1,2]'` is φ with one dot and the subscript 12, `x_max` is x with the subscript max, `q1` is q with 1,
//! `lambda(blade)` is λ with blade.

use crate::graph::node::{Role, Symbol};

/// A written symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolParts {
    /// The letter or word itself.
    pub base: SymbolWord,
    /// How many dots stand above it.
    pub order: u8,
    /// Separated by commas.
    pub subscripts: Vec<Subscript>,
}

impl SymbolParts {
    /// The name of a column or symbol with this many dots: `phi[1,2]`, `lambda(blade)`, `x_max`.
    ///
    /// Primes at the end of the name are dots as well: `p[x]'`.
    pub fn of(name: &str, order: u8) -> Self {
        let plain = name.trim_end_matches('\'');
        let order = order + (name.len() - plain.len()) as u8;
        let name = plain;
        let parts = match of(name) {
            Some(("reaction", of)) => with(SymbolWord::Letter("R".into()), of),
            Some((word, of)) => with(letter(word), of),
            None => named(name),
        };
        Self { order, ..parts }
    }
}

/// A letter or a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SymbolWord {
    /// A Greek letter, by its name in LaTeX, such as `varphi`.
    Greek(&'static str),
    /// A single letter.
    Letter(String),
    /// A word, set upright.
    Upright(String),
}

/// What stands below a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subscript {
    /// A letter or word.
    Word(SymbolWord),
    /// Digits, or indices as they stand.
    Plain(String),
    /// The name of what a result belongs to.
    Of(SymbolParts),
}

/// Greek letters: their names in the model language and in LaTeX, and the letters.
const GREEK: [(&str, &str, char); 37] = [
    ("alpha", "alpha", 'α'),
    ("beta", "beta", 'β'),
    ("gamma", "gamma", 'γ'),
    ("delta", "delta", 'δ'),
    ("epsilon", "varepsilon", 'ε'),
    ("zeta", "zeta", 'ζ'),
    ("eta", "eta", 'η'),
    ("theta", "theta", 'θ'),
    ("th", "theta", 'θ'),
    ("iota", "iota", 'ι'),
    ("kappa", "kappa", 'κ'),
    ("lambda", "lambda", 'λ'),
    ("mu", "mu", 'μ'),
    ("nu", "nu", 'ν'),
    ("xi", "xi", 'ξ'),
    ("pi", "pi", 'π'),
    ("rho", "rho", 'ρ'),
    ("sigma", "sigma", 'σ'),
    ("tau", "tau", 'τ'),
    ("upsilon", "upsilon", 'υ'),
    ("phi", "varphi", 'φ'),
    ("ph", "varphi", 'φ'),
    ("chi", "chi", 'χ'),
    ("psi", "psi", 'ψ'),
    ("ps", "psi", 'ψ'),
    ("omega", "omega", 'ω'),
    ("Gamma", "Gamma", 'Γ'),
    ("Delta", "Delta", 'Δ'),
    ("Theta", "Theta", 'Θ'),
    ("Lambda", "Lambda", 'Λ'),
    ("Xi", "Xi", 'Ξ'),
    ("Pi", "Pi", 'Π'),
    ("Sigma", "Sigma", 'Σ'),
    ("Upsilon", "Upsilon", 'Υ'),
    ("Phi", "Phi", 'Φ'),
    ("Psi", "Psi", 'Ψ'),
    ("Omega", "Omega", 'Ω'),
];

/// The Greek letter of a name in LaTeX: `varphi` is φ.
pub fn greek(latex: &str) -> char {
    GREEK.iter().find(|g| g.1 == latex).map_or('?', |g| g.2)
}

/// A symbol taken apart.
pub(crate) fn parts(symbol: &Symbol) -> SymbolParts {
    match symbol.role {
        Role::Multiplier { order } => {
            SymbolParts { order, ..with(SymbolWord::Greek("mu"), &symbol.name) }
        }
        Role::Coordinate { order } => SymbolParts::of(&symbol.name, order),
        Role::Time | Role::Parameter | Role::Free => SymbolParts::of(&symbol.name, 0),
    }
}

fn with(base: SymbolWord, of: &str) -> SymbolParts {
    SymbolParts { base, order: 0, subscripts: vec![Subscript::Of(named(of))] }
}

/// A result of a motion, `lambda(blade)`: the word and what it is of.
fn of(name: &str) -> Option<(&str, &str)> {
    name.strip_suffix(')')?.split_once('(')
}

/// The letter or word, and its subscripts.
fn named(name: &str) -> SymbolParts {
    let (word, indices) = match name.split_once('[') {
        Some((word, rest)) => (word, rest.strip_suffix(']').unwrap_or(rest)),
        None => (name, ""),
    };
    let mut subscripts = Vec::new();
    let mut parts = word.split('_').filter(|p| !p.is_empty());
    let head = parts.next().unwrap_or("_");
    let letters = head.trim_end_matches(|c: char| c.is_ascii_digit());
    let base = if letters.is_empty() || letters.chars().any(|c| c.is_ascii_digit()) {
        SymbolWord::Upright(head.to_owned())
    } else {
        if letters.len() < head.len() {
            subscripts.push(Subscript::Plain(head[letters.len()..].to_owned()));
        }
        letter(letters)
    };
    subscripts.extend(parts.map(|p| {
        if p.chars().all(|c| c.is_ascii_digit()) {
            Subscript::Plain(p.to_owned())
        } else {
            Subscript::Word(letter(p))
        }
    }));
    if !indices.is_empty() {
        let groups = groups(indices);
        let plain: Option<Vec<String>> = groups.iter().map(|group| plain(group)).collect();
        match plain {
            Some(plain) => subscripts.push(Subscript::Plain(plain.join(","))),
            None => {
                let all = groups.into_iter().flatten();
                subscripts.extend(all.map(|i| Subscript::Of(named(i))));
            }
        }
    }
    SymbolParts { base, order: 0, subscripts }
}

/// Indices as they are written below a letter: side by side if each is one letter or digit.
fn plain(all: &[&str]) -> Option<String> {
    if all.iter().all(|i| i.chars().count() == 1) {
        return Some(all.concat());
    }
    let is_number = |i: &&str| i.chars().all(|c| c.is_ascii_digit() || c == '-');
    all.iter().all(is_number).then(|| all.join(","))
}

/// Indices between their commas, and those of a part of a part by themselves, as in `F[6][3,2]`; an index may have
/// indices itself, as in `p[phi[1,2]]`.
fn groups(indices: &str) -> Vec<Vec<&str>> {
    let (mut depth, mut start) = (0_i32, 0);
    let (mut groups, mut group) = (Vec::new(), Vec::new());
    for (i, c) in indices.char_indices() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        if (c == ',' && depth == 0) || (c == ']' && depth < 0) {
            group.push(indices[start..i].trim());
            start = i + 1;
        } else if c == '[' && depth == 0 {
            // What lies between `][` is no index.
            groups.push(std::mem::take(&mut group));
            start = i + 1;
        }
    }
    group.push(indices[start..].trim());
    groups.push(group);
    groups
}

/// A Greek letter by its name, a single letter as it is, a word upright.
fn letter(word: &str) -> SymbolWord {
    match GREEK.iter().find(|g| g.0 == word) {
        Some(g) => SymbolWord::Greek(g.1),
        None if word.chars().count() == 1 => SymbolWord::Letter(word.to_owned()),
        None => SymbolWord::Upright(word.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    #[test]
    fn momenta_and_their_rates() {
        let g = Graph::new();
        let latex = |name: &str| g.to_latex(g.symbol(name, Role::Free));
        assert_eq!(latex("p[x]"), "p_{x}");
        assert_eq!(latex("p[x]'"), "\\dot{p}_{x}");
        assert_eq!(latex("p[phi]"), "p_{\\varphi}");
        // A part of one of several vectors or matrices.
        assert_eq!(latex("p[6][1]"), "p_{6,1}");
        assert_eq!(latex("F[6][3,2]"), "F_{6,32}");
        assert_eq!(latex("F[12][3,2]"), "F_{12,32}");
        assert_eq!(latex("p[phi[1,2]]'"), "\\dot{p}_{\\varphi_{12}}");
        assert_eq!(latex("w[10,2]"), "w_{10,2}");
        assert_eq!(latex("c[x,th]"), "c_{x,\\theta}");
    }
}
