//! Expressions as typeset formulas: the one walk that LaTeX, MathML and Typst share. What differs between them are
//! the words of a [`Markup`].
//!
//! Numbers stand first in products, factors are separated by thin spaces, powers of functions are written
//! $\sin^2\varphi$. A function without brackets takes the one symbol behind it, and has brackets where a factor
//! follows that is no function: $\sin(\varphi)\,\dot y$. Brackets grow only where their content is tall.

use rustc_hash::FxHashSet;

use crate::graph::node::{Expr, Memory, Node, Relation, Symbol};
use crate::graph::number::{self, Rational};
use crate::graph::store::Store;
use crate::math::notation::{BinaryNotation, MarkupLanguage, NameStyle, Notation};
use crate::math::{Binary, Unary};
use crate::print::{self, TextPiece, latex_symbol, level};

/// The words of a language of formulas. Where a construct has operands, its words stand around them.
pub(super) struct Markup {
    /// Which of the names of a function it takes.
    pub(super) language: MarkupLanguage,
    pub(super) number: fn(&Rational) -> String,
    pub(super) symbol: fn(&Symbol) -> String,
    pub(super) pi: &'static str,
    /// Before a negative number.
    pub(super) negative: &'static str,
    pub(super) plus: &'static str,
    pub(super) minus: &'static str,
    /// Between numbers.
    pub(super) times: &'static str,
    /// Between factors.
    pub(super) thin: &'static str,
    pub(super) fraction: [&'static str; 3],
    /// Around base and exponent.
    pub(super) power: [&'static str; 3],
    /// Around a base in brackets.
    pub(super) group: [&'static str; 2],
    /// The base of exponentials.
    pub(super) e: &'static str,
    pub(super) root: [&'static str; 2],
    pub(super) bars: [&'static str; 2],
    /// Brackets of the height of a line.
    pub(super) flat: [&'static str; 2],
    /// Brackets that grow.
    pub(super) growing: [&'static str; 2],
    /// Around the order of a derivative.
    pub(super) order: [&'static str; 2],
    /// Between a function and its brackets.
    pub(super) apply: &'static str,
    /// Between a function and the symbol behind it, which is written like this.
    pub(super) apply_to_symbol: fn(&str) -> &'static str,
    /// Between arguments.
    pub(super) comma: &'static str,
    /// $E_{\alpha,\beta}$
    pub(super) mittag_leffler: [&'static str; 3],
    /// Value, condition, other value.
    pub(super) cases: [&'static str; 4],
    pub(super) relation: fn(Relation) -> &'static str,
    pub(super) not: &'static str,
    pub(super) and: &'static str,
    pub(super) or: &'static str,
    /// Given data: the name of the column, and how often they are differentiated.
    pub(super) table: fn(&str, u32) -> String,
    /// Around the order of a fractional operator.
    pub(super) fractional: fn(Fractional) -> [&'static str; 2],
    /// $\int_{t_0}^t$
    pub(super) integral: &'static str,
    /// $d\tau$
    pub(super) d_tau: &'static str,
    /// $1/(t - t_0)$
    pub(super) over_time: &'static str,
}

/// The memory operators that have an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fractional {
    Caputo,
    RiemannLiouville,
    CaputoRight,
    RiemannLiouvilleRight,
    Integral,
}

/// The expression in the words of a language.
pub(super) fn typeset(
    store: &Store,
    live: &[Expr],
    e: Expr,
    markup: &'static Markup,
) -> String {
    let walk = Walk { store, markup, tall: tall_nodes(store, live) };
    print::assemble(
        e,
        |e| typeset_level(store, e),
        |e, followed| walk.pieces(e, followed),
        |e| walk.brackets(walk.tall.contains(&e)),
    )
}

struct Walk<'a> {
    store: &'a Store,
    markup: &'static Markup,
    tall: FxHashSet<Expr>,
}

impl Walk<'_> {
    fn pieces(&self, e: Expr, followed: bool) -> Vec<TextPiece> {
        let (word, at) = (TextPiece::Word, TextPiece::At);
        let before = |e, level, followed: bool| {
            if followed { TextPiece::Before(e, level) } else { TextPiece::At(e, level) }
        };
        let (store, m) = (self.store, self.markup);
        if let Some(terms) = store.negative_terms(e) {
            let mut pieces = vec![word(m.negative), at(terms[0], level::PRODUCT)];
            for &term in &terms[1..] {
                pieces.extend([word(m.minus), at(term, level::PRODUCT)]);
            }
            return pieces;
        }
        match store.node(e) {
            Node::Number(n) => vec![TextPiece::Owned((m.number)(store.numbers.exact(n)))],
            Node::Pi => vec![word(m.pi)],
            Node::Symbol(s) => vec![TextPiece::Owned((m.symbol)(&store.symbols[s as usize]))],
            Node::Neg(a) => vec![word(m.negative), before(a, level::PRODUCT, followed)],
            Node::Add(a, b) => vec![at(a, level::SUM), word(m.plus), at(b, level::PRODUCT)],
            Node::Sub(a, b) => vec![at(a, level::SUM), word(m.minus), at(b, level::PRODUCT)],
            Node::Mul(k, b) if self.is_scaled_fraction(k, b) => self.scaled_fraction(k, b),
            Node::Mul(a, b) => {
                let digits = store.is_number(a) && self.starts_with_digit(b);
                let between = if digits { m.times } else { m.thin };
                vec![
                    before(a, level::PRODUCT, !self.starts_with_function(b)),
                    word(between),
                    before(b, level::PRODUCT, followed),
                ]
            }
            Node::Div(a, b) => {
                let [open, between, close] = m.fraction.map(word);
                vec![open, at(a, level::OR), between, at(b, level::OR), close]
            }
            Node::Pow(a, b) => self.power(a, b, followed),
            Node::Unary(f, a) => self.function(f, a, followed),
            Node::Binary(f, a, b) => self.function_of_two(f, a, b),
            Node::MittagLeffler(a, b, z) => {
                let [open, between, close] = m.mittag_leffler.map(word);
                let name = vec![open, at(a, level::OR), between, at(b, level::OR), close];
                self.applied(name, &[z])
            }
            Node::If(c, a, b) => {
                let [first, second, third, last] = m.cases.map(word);
                let [a, c, b] = [a, c, b].map(|e| at(e, level::OR));
                vec![first, a, second, c, third, b, last]
            }
            Node::Compare(r, a, b) => {
                vec![at(a, level::SUM), word((m.relation)(r)), at(b, level::SUM)]
            }
            Node::Not(a) => vec![word(m.not), at(a, level::SUM)],
            Node::And(a, b) => vec![at(a, level::AND), word(m.and), at(b, level::NOT)],
            Node::Or(a, b) => vec![at(a, level::OR), word(m.or), at(b, level::AND)],
            Node::Table { table, order, argument } => {
                let name = (m.table)(&store.tables[table as usize].column, order);
                self.applied(vec![TextPiece::Owned(name)], &[argument])
            }
            Node::Memory(kind, g, second) => self.memory(kind, g, second),
            Node::List(a, b) => vec![at(a, level::ATOM), word(m.thin), at(b, level::ATOM)],
            Node::Family { family, part, list } => {
                let name = TextPiece::Owned(format!("F{family}.{part}"));
                self.applied(vec![name], &[list])
            }
        }
    }

    fn is_scaled_fraction(&self, k: Expr, b: Expr) -> bool {
        let positive = self.store.exact(k).is_some_and(|k| *k.numer() > 0.into());
        positive && matches!(self.store.node(b), Node::Div(..))
    }

    /// $\frac{n a}{d b}$ for $\frac{n}{d}\cdot\frac ab$
    fn scaled_fraction(&self, k: Expr, quotient: Expr) -> Vec<TextPiece> {
        let (Some(k), Node::Div(a, b)) = (self.store.exact(k), self.store.node(quotient))
        else {
            return Vec::new();
        };
        let m = self.markup;
        let side = |n: &num_bigint::BigInt, e: Expr| {
            if *n == 1.into() {
                return vec![TextPiece::At(e, level::OR)];
            }
            let number = (m.number)(&Rational::from_integer(n.clone()));
            if e == crate::graph::store::ONE {
                return vec![TextPiece::Owned(number)];
            }
            let between = if self.starts_with_digit(e) { m.times } else { m.thin };
            let rest = TextPiece::At(e, level::PRODUCT);
            vec![TextPiece::Owned(number), TextPiece::Word(between), rest]
        };
        let [open, between, close] = m.fraction.map(TextPiece::Word);
        let mut pieces = vec![open];
        pieces.extend(side(k.numer(), a));
        pieces.push(between);
        pieces.extend(side(k.denom(), b));
        pieces.push(close);
        pieces
    }

    /// $a^b$, and $\sin^2\varphi$ for whole powers of a named function.
    fn power(&self, a: Expr, b: Expr, followed: bool) -> Vec<TextPiece> {
        if let Node::Unary(f, x) = self.store.node(a)
            && let Notation::Name { name, style: NameStyle::Power } = f.notation()
            && self.store.small_integer(b).is_some_and(|n| n > 1)
        {
            let exponent = [TextPiece::At(b, level::OR)];
            let name = self.raised(name.of(self.markup.language), exponent);
            return self.named(name, x, followed);
        }
        // NOTE: a base in brackets is several elements, and a dotted one is one already.
        let bracketed = typeset_level(self.store, a) < level::ATOM;
        let [open, close] = if bracketed { self.markup.group } else { [""; 2] };
        let [before, between, after] = self.markup.power;
        vec![
            TextPiece::Word(before),
            TextPiece::Word(open),
            TextPiece::At(a, level::ATOM),
            TextPiece::Word(close),
            TextPiece::Word(between),
            TextPiece::At(b, level::OR),
            TextPiece::Word(after),
        ]
    }

    /// A word with an exponent.
    fn raised<const N: usize>(
        &self,
        base: &'static str,
        exponent: [TextPiece; N],
    ) -> Vec<TextPiece> {
        let [before, between, after] = self.markup.power;
        let mut pieces = [before, base, between].map(TextPiece::Word).to_vec();
        pieces.extend(exponent);
        pieces.push(TextPiece::Word(after));
        pieces
    }

    fn function(&self, f: Unary, a: Expr, followed: bool) -> Vec<TextPiece> {
        let around = |[open, close]: [&'static str; 2]| {
            vec![TextPiece::Word(open), TextPiece::At(a, level::OR), TextPiece::Word(close)]
        };
        match f.notation() {
            Notation::Root => around(self.markup.root),
            Notation::Bars => around(self.markup.bars),
            Notation::Exponential => self.raised(self.markup.e, [TextPiece::At(a, level::OR)]),
            Notation::Name { name, style } => {
                let name = vec![TextPiece::Word(name.of(self.markup.language))];
                match style {
                    NameStyle::Power | NameStyle::Plain => self.named(name, a, followed),
                    NameStyle::Brackets => self.applied(name, &[a]),
                }
            }
        }
    }

    fn function_of_two(&self, f: Binary, a: Expr, b: Expr) -> Vec<TextPiece> {
        match f.notation() {
            BinaryNotation::Name(name) => {
                self.applied(vec![TextPiece::Word(name.of(self.markup.language))], &[a, b])
            }
            BinaryNotation::Derivative(name) => {
                let [open, close] = self.markup.order.map(TextPiece::Word);
                let order = [open, TextPiece::At(a, level::OR), close];
                self.applied(self.raised(name.of(self.markup.language), order), &[b])
            }
        }
    }

    /// A function before its argument, where a symbol stands without brackets unless another factor follows.
    fn named(&self, mut name: Vec<TextPiece>, a: Expr, followed: bool) -> Vec<TextPiece> {
        let symbol = match self.store.node(a) {
            Node::Symbol(s) if !followed => Some(s),
            _ => None,
        };
        let Some(s) = symbol else { return self.applied(name, &[a]) };
        let text = (self.markup.symbol)(&self.store.symbols[s as usize]);
        name.extend([
            TextPiece::Word((self.markup.apply_to_symbol)(&text)),
            TextPiece::Owned(text),
        ]);
        name
    }

    /// A function before its arguments in brackets.
    fn applied(&self, mut name: Vec<TextPiece>, arguments: &[Expr]) -> Vec<TextPiece> {
        let [open, close] = self.brackets(arguments.iter().any(|a| self.tall.contains(a)));
        name.extend([self.markup.apply, open].map(TextPiece::Word));
        for (i, &a) in arguments.iter().enumerate() {
            if i > 0 {
                name.push(TextPiece::Word(self.markup.comma));
            }
            name.push(TextPiece::At(a, level::OR));
        }
        name.push(TextPiece::Word(close));
        name
    }

    fn memory(&self, kind: Memory, g: Expr, second: Expr) -> Vec<TextPiece> {
        let (word, at, m) = (TextPiece::Word, TextPiece::At, self.markup);
        let operator = match kind {
            Memory::Caputo => Fractional::Caputo,
            Memory::RiemannLiouville => Fractional::RiemannLiouville,
            Memory::CaputoRight => Fractional::CaputoRight,
            Memory::RiemannLiouvilleRight => Fractional::RiemannLiouvilleRight,
            Memory::Integral => Fractional::Integral,
            Memory::Kernel => {
                let (kernel, g) = (at(second, level::PRODUCT), at(g, level::PRODUCT));
                return vec![word(m.integral), kernel, word(m.thin), g, word(m.d_tau)];
            }
            Memory::Mean => {
                let g = at(g, level::PRODUCT);
                return vec![word(m.over_time), word(m.integral), g, word(m.d_tau)];
            }
        };
        let [before, after] = (m.fractional)(operator).map(word);
        vec![before, at(second, level::OR), after, word(m.thin), at(g, level::ATOM)]
    }

    fn brackets(&self, tall: bool) -> [&'static str; 2] {
        if tall { self.markup.growing } else { self.markup.flat }
    }

    /// Whether the first factor is a function by its name, so that one before it needs no brackets.
    fn starts_with_function(&self, e: Expr) -> bool {
        let mut first = e;
        while let Node::Mul(a, _) | Node::Pow(a, _) = self.store.node(first) {
            first = a;
        }
        matches!(self.store.node(first), Node::Unary(f, _)
            if matches!(f.notation(), Notation::Name { .. }))
    }

    /// Whether a number in front would run into the first digit.
    fn starts_with_digit(&self, e: Expr) -> bool {
        let mut first = e;
        while let Node::Mul(a, _) | Node::Pow(a, _) = self.store.node(first) {
            first = a;
        }
        self.store.is_number(first) && typeset_level(self.store, first) == level::ATOM
    }
}

/// The nodes that are higher than a line.
fn tall_nodes(store: &Store, live: &[Expr]) -> FxHashSet<Expr> {
    let mut tall = FxHashSet::default();
    for &e in live {
        let node = store.node(e);
        let operands = || node.operands().any(|o| tall.contains(&o));
        let is_tall = match node {
            Node::Number(n) => is_fraction(store.numbers.exact(n)),
            Node::Div(..) | Node::If(..) | Node::Memory(Memory::Kernel | Memory::Mean, ..) => {
                true
            }
            // An exponent is small.
            Node::Pow(a, _) => tall.contains(&a),
            Node::Unary(f, _) => match f.notation() {
                Notation::Root => true,
                Notation::Exponential => false,
                Notation::Bars | Notation::Name { .. } => operands(),
            },
            _ => operands(),
        };
        if is_tall {
            tall.insert(e);
        }
    }
    tall
}

/// How tightly an expression binds when it is typeset.
fn typeset_level(store: &Store, e: Expr) -> u8 {
    match store.node(e) {
        Node::Number(n) => {
            let value = store.numbers.exact(n);
            if *value.numer() < 0.into() {
                level::SUM
            } else if is_fraction(value) {
                level::POWER
            } else {
                level::ATOM
            }
        }
        Node::Symbol(s) if latex_symbol::is_raised(&store.symbols[s as usize]) => level::POWER,
        Node::Pi | Node::Symbol(_) => level::ATOM,
        Node::Neg(_) | Node::Add(..) | Node::Sub(..) => level::SUM,
        Node::Mul(k, b)
            if store.exact(k).is_some_and(|k| *k.numer() > 0.into())
                && matches!(store.node(b), Node::Div(..)) =>
        {
            level::POWER
        }
        Node::Mul(..) | Node::Memory(Memory::Mean, ..) => level::PRODUCT,
        Node::Div(..) | Node::Pow(..) => level::POWER,
        Node::Unary(f, _) => match f.notation() {
            Notation::Root | Notation::Bars => level::ATOM,
            Notation::Exponential => level::POWER,
            Notation::Name { .. } => level::UNARY,
        },
        Node::Binary(..)
        | Node::MittagLeffler(..)
        | Node::If(..)
        | Node::Table { .. }
        | Node::List(..)
        | Node::Family { .. }
        | Node::Memory(..) => level::UNARY,
        Node::Compare(..) => level::COMPARE,
        Node::Not(_) => level::NOT,
        Node::And(..) => level::AND,
        Node::Or(..) => level::OR,
    }
}

/// Whether a number is typeset as a fraction.
pub(super) fn is_fraction(value: &Rational) -> bool {
    number::is_quotient(value)
}
