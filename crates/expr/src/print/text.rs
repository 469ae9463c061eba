//! Expressions as text of the model language.
//!
//! The text has as few brackets as the precedence of the language allows and keeps the order in which the
//! expression was written. Read back through the constructors, it gives the same handle: $-2x/3$ is `-2*x/3`,
//! $a(bc)$ is `a*(b*c)`.
//!
//! **Exceptions.** A derivative of a table at anything but `t` has no word in the language and is written
//! `table'(x, "file", "column")`. An expression that is larger than 2²⁰ nodes when its shared parts are written
//! out is printed with names, `s2*s2 where s1 = …; s2 = …`; use [`Graph::named`] to place the names by hand.

use crate::graph::Graph;
use crate::graph::node::{Expr, Memory, Node, Relation, Role};
use crate::graph::number::{self, Rational};
use crate::graph::store::{Store, ZERO};
use crate::print::{self, TextPiece, level};

impl Graph {
    /// The expression in the model language.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
    /// let e = g.div(g.mul(g.integer(-2), g.sub(x, g.pow(y, x))), g.integer(3));
    /// assert_eq!(g.to_text(e), "-2*(x - y^x)/3");
    /// ```
    pub fn to_text(&self, e: Expr) -> String {
        if print::is_small(self, e) {
            return self.text_in_full(e);
        }
        let named = self.named(&[e], &print::NameOptions::default());
        let definitions: Vec<String> = (named.definitions.iter())
            .map(|(name, d)| format!("{name} = {}", self.text_in_full(*d)))
            .collect();
        format!("{} where {}", self.text_in_full(named.outputs[0]), definitions.join("; "))
    }

    fn text_in_full(&self, e: Expr) -> String {
        let store = self.store.borrow();
        print::assemble(e, |e| store.text_level(e), |e, _| store.text_pieces(e), |_| ["(", ")"])
    }
}

impl Store {
    /// How tightly the written form of an expression binds.
    fn text_level(&self, e: Expr) -> u8 {
        match self.node(e) {
            Node::Number(n) => match number_form(self.numbers.exact(n)) {
                NumberForm::Fraction => level::PRODUCT,
                NumberForm::Negative => level::UNARY,
                NumberForm::Plain => level::ATOM,
            },
            Node::Neg(_) if self.negative_terms(e).is_some() => level::SUM,
            Node::Neg(a) if self.takes_sign(a) => level::PRODUCT,
            Node::Neg(_) => level::UNARY,
            Node::Add(..) | Node::Sub(..) => level::SUM,
            Node::Mul(..) | Node::Div(..) => level::PRODUCT,
            Node::Pow(..) => level::POWER,
            Node::Compare(..) => level::COMPARE,
            Node::Not(_) => level::NOT,
            Node::And(..) => level::AND,
            Node::Or(..) => level::OR,
            Node::Pi
            | Node::Symbol(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::MittagLeffler(..)
            | Node::If(..)
            | Node::Table { .. }
            | Node::List(..)
            | Node::Family { .. }
            | Node::Memory(..) => level::ATOM,
        }
    }

    /// The parts of one node in the order of writing.
    fn text_pieces(&self, e: Expr) -> Vec<TextPiece> {
        let (word, at) = (TextPiece::Word, TextPiece::At);
        if let Some(terms) = self.negative_terms(e) {
            let first = if self.takes_sign(terms[0]) { level::PRODUCT } else { level::POWER };
            let mut pieces = vec![word("-"), at(terms[0], first)];
            for &term in &terms[1..] {
                pieces.extend([word(" - "), at(term, level::PRODUCT)]);
            }
            return pieces;
        }
        match self.node(e) {
            Node::Number(n) => vec![TextPiece::Owned(number::to_text(self.numbers.exact(n)))],
            Node::Pi => vec![word("pi")],
            Node::Symbol(s) => vec![TextPiece::Owned(self.symbols[s as usize].text())],
            Node::Neg(a) if self.takes_sign(a) => vec![word("-"), at(a, level::PRODUCT)],
            Node::Neg(a) => vec![word("-"), at(a, level::POWER)],
            Node::Add(a, b) => vec![at(a, level::SUM), word(" + "), at(b, level::PRODUCT)],
            Node::Sub(a, b) => vec![at(a, level::SUM), word(" - "), at(b, level::PRODUCT)],
            Node::Mul(a, b) => match self.exact(a) {
                Some(k) => self.scaled_pieces(k, b),
                None => vec![at(a, level::PRODUCT), word("*"), at(b, level::POWER)],
            },
            Node::Div(a, b) => vec![at(a, level::PRODUCT), word("/"), at(b, level::POWER)],
            Node::Pow(a, b) => vec![at(a, level::ATOM), word("^"), at(b, level::POWER)],
            Node::Unary(f, a) => call(f.name(), &[a]),
            Node::Binary(f, a, b) => call(f.name(), &[a, b]),
            Node::MittagLeffler(a, b, z) => call("mittag_leffler", &[a, b, z]),
            Node::If(c, a, b) => call("if", &[c, a, b]),
            Node::Compare(r, a, b) => {
                vec![at(a, level::SUM), word(relation(r)), at(b, level::SUM)]
            }
            Node::Not(a) => vec![word("not "), at(a, level::COMPARE)],
            Node::And(a, b) => vec![at(a, level::AND), word(" and "), at(b, level::NOT)],
            Node::Or(a, b) => vec![at(a, level::OR), word(" or "), at(b, level::AND)],
            Node::Table { table, order, argument } => self.table_pieces(table, order, argument),
            Node::List(a, b) => call("list", &[a, b]),
            Node::Family { family, part, list } => {
                let name = TextPiece::Owned(format!("family{family}[{part}]"));
                vec![name, word("("), at(list, level::OR), word(")")]
            }
            Node::Memory(Memory::Mean, g, _) => call("mean", &[g]),
            Node::Memory(Memory::Kernel, g, kernel) => call("memory", &[kernel, g]),
            Node::Memory(kind, g, order) => call(kind.name(), &[g, order]),
        }
    }

    /// $k x$ for a positive number: `2*x`, `x/3`, `2*a/(3*b)`, `3/(10*x)`, and `2*(1/x)` where the number would run
    /// into another one.
    fn scaled_pieces(&self, k: &Rational, x: Expr) -> Vec<TextPiece> {
        let (word, at) = (TextPiece::Word, TextPiece::At);
        let mut pieces = Vec::new();
        // 3/(10*x)
        if let Node::Div(a, b) = self.node(x)
            && is_unit_fraction(k)
            && self.exact(a).is_some_and(num_rational::Ratio::is_integer)
            && b != ZERO
            && !self.leads_with_number(b)
        {
            return vec![
                at(a, level::PRODUCT),
                TextPiece::Owned(format!("/({}*", k.denom())),
                at(b, level::PRODUCT),
                word(")"),
            ];
        }
        if self.leads_with_number(x) {
            pieces.extend([
                TextPiece::Owned(number::to_text(k)),
                word("*"),
                at(x, level::POWER),
            ]);
            return pieces;
        }
        if !matches!(number_form(k), NumberForm::Fraction) {
            pieces.extend([
                TextPiece::Owned(number::to_text(k)),
                word("*"),
                at(x, level::PRODUCT),
            ]);
            return pieces;
        }
        if *k.numer() != 1.into() {
            pieces.extend([TextPiece::Owned(k.numer().to_string()), word("*")]);
        }
        match self.node(x) {
            Node::Div(a, b) if !self.leads_with_number(b) => pieces.extend([
                at(a, level::PRODUCT),
                TextPiece::Owned(format!("/({}*", k.denom())),
                at(b, level::PRODUCT),
                word(")"),
            ]),
            _ => {
                pieces.extend([
                    at(x, level::PRODUCT),
                    TextPiece::Owned(format!("/{}", k.denom())),
                ]);
            }
        }
        pieces
    }

    fn table_pieces(&self, table: u32, order: u32, argument: Expr) -> Vec<TextPiece> {
        let data = &self.tables[table as usize];
        let quoted = |s: &str| format!("\"{}\"", s.replace('"', "\\\""));
        let primes = "'".repeat(order as usize);
        let lines = if data.is_linear { ", \"linear\"" } else { "" };
        let rest = format!(", {}, {}{lines})", quoted(&data.file), quoted(&data.column));
        let at_time = matches!(self.node(argument), Node::Symbol(s)
            if self.symbols[s as usize].role == Role::Time);
        let (open, close) = if at_time {
            ("table(".into(), rest + &primes)
        } else {
            (format!("table{primes}("), rest)
        };
        vec![
            TextPiece::Owned(open),
            TextPiece::At(argument, level::OR),
            TextPiece::Owned(close),
        ]
    }

    /// Whether `-a` in front of the written product means the negative of the whole: a quotient by zero keeps the
    /// sign where it was put, a difference would turn round.
    fn takes_sign(&self, a: Expr) -> bool {
        let written = match self.node(a) {
            Node::Mul(k, x) if self.exact(k).is_some_and(is_unit_fraction) => x,
            Node::Mul(..) | Node::Div(..) => a,
            _ => return false,
        };
        let (first, by_zero) = self.first_factor(written);
        !by_zero && !matches!(self.node(first), Node::Sub(..))
    }

    /// Whether the written product begins with a number, or divides by zero, so that a number in front of it
    /// would be drawn in.
    fn leads_with_number(&self, e: Expr) -> bool {
        let (first, by_zero) = self.first_factor(e);
        by_zero || self.is_number(first)
    }

    /// The leftmost factor as written, and whether a denominator on the way is zero.
    fn first_factor(&self, e: Expr) -> (Expr, bool) {
        let (mut first, mut by_zero) = (e, false);
        while let Node::Mul(a, b) | Node::Div(a, b) = self.node(first) {
            by_zero |= b == ZERO;
            first = a;
        }
        (first, by_zero)
    }
}

enum NumberForm {
    Plain,
    Negative,
    Fraction,
}

fn number_form(value: &Rational) -> NumberForm {
    if number::is_quotient(value) {
        NumberForm::Fraction
    } else if *value.numer() < 0.into() {
        NumberForm::Negative
    } else {
        NumberForm::Plain
    }
}

fn is_unit_fraction(value: &Rational) -> bool {
    *value.numer() == 1.into() && matches!(number_form(value), NumberForm::Fraction)
}

fn relation(r: Relation) -> &'static str {
    match r {
        Relation::Less => " < ",
        Relation::LessEqual => " <= ",
        Relation::Equal => " == ",
        Relation::NotEqual => " != ",
    }
}

fn call(name: &'static str, arguments: &[Expr]) -> Vec<TextPiece> {
    let mut pieces = vec![TextPiece::Word(name), TextPiece::Word("(")];
    for (i, &a) in arguments.iter().enumerate() {
        if i > 0 {
            pieces.push(TextPiece::Word(", "));
        }
        pieces.push(TextPiece::At(a, level::OR));
    }
    pieces.push(TextPiece::Word(")"));
    pieces
}
