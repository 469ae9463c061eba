//! Expressions as MathML (Presentation, MathML Core), for a page that brings no script to typeset it.
//!
//! The same conventions as in LaTeX: numbers first, thin spaces between factors, $\sin^2\varphi$. Sums and
//! products are written flat, side by side in their
//! row, so that a long sum does not nest. A page breaks lines before the signs of sums:
//! [`Graph::mathml_terms`] gives the pieces one by one.

use rustc_hash::FxHashSet;

use crate::graph::Graph;
use crate::graph::node::{Expr, Memory, Node, Relation, Role};
use crate::graph::number::{self, Rational};
use crate::graph::store::Store;
use crate::math::{Binary, Unary};
use crate::print::latex::{is_fraction, tall_nodes, typeset_level};
use crate::print::mathml_symbol::{self, escape};
use crate::print::{self, Piece, level};

const PLUS: &str = "<mo form=\"infix\">+</mo>";
const MINUS: &str = "<mo form=\"infix\">−</mo>";
const NEGATIVE: &str = "<mo form=\"prefix\">−</mo>";
/// The sign, not seen, that a function is applied.
const APPLY: &str = "<mo>\u{2061}</mo>";
const THIN: &str = "<mspace width=\"0.17em\"/>";
const INTEGRAL: &str = "<msubsup><mo stretchy=\"false\">∫</mo><msub><mi>t</mi><mn>0</mn></msub><mi>t</mi></msubsup>";
const D_TAU: &str = "<mspace width=\"0.17em\"/><mi mathvariant=\"normal\">d</mi><mi>τ</mi>";
/// Brackets of the height of a line, and those that grow.
const FLAT: [&str; 2] = [
    "<mo form=\"prefix\" stretchy=\"false\">(</mo>",
    "<mo form=\"postfix\" stretchy=\"false\">)</mo>",
];
const GROWING: [&str; 2] =
    ["<mrow><mo form=\"prefix\">(</mo>", "<mo form=\"postfix\">)</mo></mrow>"];

impl Graph {
    /// The expression as the content of a `math` or `mrow` element.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Coordinate { order: 1 });
    /// assert_eq!(
    ///     g.to_mathml(g.pow(x, g.integer(2))),
    ///     "<msup><mover accent=\"true\"><mi>x</mi><mo>˙</mo></mover><mrow><mn>2</mn></mrow></msup>"
    /// );
    /// ```
    pub fn to_mathml(&self, e: Expr) -> String {
        self.mathml_terms(e).concat()
    }

    /// The same in pieces between which a line may break: before the signs of sums, also inside brackets of
    /// the height of a line. Together they are [`Graph::to_mathml`].
    pub fn mathml_terms(&self, e: Expr) -> Vec<String> {
        if print::is_small(self, e) {
            return self.mathml_in_full(e);
        }
        let named = self.named(&[e], &print::NameOptions::default());
        let mut terms = self.mathml_in_full(named.outputs[0]);
        for (i, (name, definition)) in named.definitions.iter().enumerate() {
            let word = if i == 0 { "<mtext> where </mtext>" } else { "<mo>,</mo>" };
            let symbol = self.symbol(name, Role::Free);
            let (left, right) =
                (self.mathml_in_full(symbol).concat(), self.mathml_in_full(*definition));
            terms.push(format!("{word}{left}<mo>=</mo>{}", right.concat()));
        }
        terms
    }

    fn mathml_in_full(&self, e: Expr) -> Vec<String> {
        let live = self.live(&[e]);
        let store = self.store.borrow();
        let writer = Writer { store: &store, tall: tall_nodes(&store, &live) };
        parted(&writer.write(e))
    }
}

/// The row cut before each plus and minus that stands in no element: between the terms of a sum, also inside
/// brackets of the height of a line.
fn parted(row: &str) -> Vec<String> {
    let mut terms = vec![String::new()];
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(start) = row[at..].find('<').map(|i| at + i) {
        let end = row[start..].find('>').map_or(row.len(), |i| start + i + 1);
        let tag = &row[start..end];
        let last = terms.last_mut().expect("there is always a last term");
        last.push_str(&row[at..start]);
        let sign = row[start..].starts_with(PLUS) || row[start..].starts_with(MINUS);
        if depth == 0 && sign && !last.is_empty() {
            terms.push(String::new());
        }
        terms.last_mut().expect("there is always a last term").push_str(tag);
        if tag.starts_with("</") {
            depth = depth.saturating_sub(1);
        } else if !tag.ends_with("/>") {
            depth += 1;
        }
        at = end;
    }
    terms.last_mut().expect("there is always a last term").push_str(&row[at..]);
    terms
}

struct Writer<'a> {
    store: &'a Store,
    tall: FxHashSet<Expr>,
}

impl Writer<'_> {
    fn write(&self, e: Expr) -> String {
        let brackets = |e: Expr| if self.tall.contains(&e) { GROWING } else { FLAT };
        print::assemble(e, |e| self.level(e), |e| self.pieces(e), brackets)
    }

    fn level(&self, e: Expr) -> u8 {
        typeset_level(self.store, e)
    }

    fn pieces(&self, e: Expr) -> Vec<Piece> {
        let (word, at) = (Piece::Word, Piece::At);
        let store = self.store;
        match store.node(e) {
            Node::Number(n) => vec![Piece::Owned(number_mathml(store.numbers.exact(n)))],
            Node::Pi => vec![word("<mi>π</mi>")],
            Node::Symbol(s) => {
                vec![Piece::Owned(mathml_symbol::mathml(&store.symbols[s as usize]))]
            }
            Node::Neg(a) => vec![word(NEGATIVE), at(a, level::PRODUCT)],
            Node::Add(a, b) => vec![at(a, level::SUM), word(PLUS), at(b, level::PRODUCT)],
            Node::Sub(a, b) => vec![at(a, level::SUM), word(MINUS), at(b, level::PRODUCT)],
            Node::Mul(a, b) => {
                let digits = store.is_number(a) && self.starts_with_digit(b);
                let between = if digits { "<mo>·</mo>" } else { THIN };
                vec![at(a, level::PRODUCT), word(between), at(b, level::PRODUCT)]
            }
            Node::Div(a, b) => vec![
                word("<mfrac><mrow>"),
                at(a, level::OR),
                word("</mrow><mrow>"),
                at(b, level::OR),
                word("</mrow></mfrac>"),
            ],
            Node::Pow(a, b) => self.power(a, b),
            Node::Unary(f, a) => self.function(f, a),
            Node::Binary(Binary::Polygamma, n, x) => {
                let mut pieces = raised(
                    "<mi>ψ</mi>",
                    [
                        word("<mo stretchy=\"false\">(</mo>"),
                        at(n, level::OR),
                        word("<mo stretchy=\"false\">)</mo>"),
                    ],
                );
                pieces.extend(self.arguments(&[x]));
                pieces
            }
            Node::Binary(f, a, b) => {
                let mut pieces = vec![word(match f {
                    Binary::Min => "<mi>min</mi>",
                    Binary::Max => "<mi>max</mi>",
                    _ => "<mi>atan2</mi>",
                })];
                pieces.extend(self.arguments(&[a, b]));
                pieces
            }
            Node::MittagLeffler(a, b, z) => {
                let mut pieces = vec![
                    word("<msub><mi>E</mi><mrow>"),
                    at(a, level::OR),
                    word("<mo>,</mo>"),
                    at(b, level::OR),
                    word("</mrow></msub>"),
                ];
                pieces.extend(self.arguments(&[z]));
                pieces
            }
            Node::If(c, a, b) => vec![
                word("<mrow><mo>{</mo><mtable columnalign=\"left\"><mtr><mtd>"),
                at(a, level::OR),
                word("</mtd><mtd><mtext>if </mtext>"),
                at(c, level::OR),
                word("</mtd></mtr><mtr><mtd>"),
                at(b, level::OR),
                word("</mtd><mtd><mtext>otherwise</mtext></mtd></mtr></mtable></mrow>"),
            ],
            Node::Compare(r, a, b) => {
                vec![at(a, level::SUM), word(relation(r)), at(b, level::SUM)]
            }
            Node::Not(a) => vec![word("<mo>¬</mo>"), at(a, level::SUM)],
            Node::And(a, b) => {
                vec![at(a, level::AND), word("<mo>∧</mo>"), at(b, level::NOT)]
            }
            Node::Or(a, b) => vec![at(a, level::OR), word("<mo>∨</mo>"), at(b, level::AND)],
            Node::Table { table, order, argument } => {
                let column = escape(&store.tables[table as usize].column);
                let primes = "′".repeat(order as usize);
                let mut pieces = vec![Piece::Owned(format!(
                    "<mi mathvariant=\"normal\">{column}{primes}</mi>"
                ))];
                pieces.extend(self.arguments(&[argument]));
                pieces
            }
            Node::Memory(kind, g, second) => memory(kind, g, second),
        }
    }

    /// $a^b$, and $\sin^2\varphi$ for whole powers of a named function.
    fn power(&self, a: Expr, b: Expr) -> Vec<Piece> {
        let (word, at) = (Piece::Word, Piece::At);
        if let Node::Unary(f, x) = self.store.node(a)
            && let Some(name) = raisable(f)
            && self.store.small_integer(b).is_some_and(|n| n > 1)
        {
            let mut pieces = raised(name, [word(""), at(b, level::OR), word("")]);
            pieces.extend(self.argument(x));
            return pieces;
        }
        // NOTE: a bracketed base is several elements, and a dotted one is one already.
        let (open, close) =
            if self.level(a) < level::ATOM { ("<mrow>", "</mrow>") } else { ("", "") };
        vec![
            word("<msup>"),
            word(open),
            at(a, level::ATOM),
            word(close),
            word("<mrow>"),
            at(b, level::OR),
            word("</mrow></msup>"),
        ]
    }

    fn function(&self, f: Unary, a: Expr) -> Vec<Piece> {
        let (word, at) = (Piece::Word, Piece::At);
        let name = match f {
            Unary::Sqrt => {
                return vec![word("<msqrt><mrow>"), at(a, level::OR), word("</mrow></msqrt>")];
            }
            Unary::Exp => {
                return raised(
                    "<mi mathvariant=\"normal\">e</mi>",
                    [word(""), at(a, level::OR), word("")],
                );
            }
            Unary::Abs => {
                return vec![
                    word("<mrow><mo form=\"prefix\" stretchy=\"true\">|</mo>"),
                    at(a, level::OR),
                    word("<mo form=\"postfix\" stretchy=\"true\">|</mo></mrow>"),
                ];
            }
            Unary::Erf => "<mi>erf</mi>",
            Unary::Gamma => "<mi mathvariant=\"normal\">Γ</mi>",
            Unary::Digamma => "<mi>ψ</mi>",
            Unary::Sign => "<mi>sgn</mi>",
            Unary::Asin => "<mi>arcsin</mi>",
            Unary::Acos => "<mi>arccos</mi>",
            Unary::Atan => "<mi>arctan</mi>",
            _ => raisable(f).expect("every other function has a name of its own"),
        };
        let mut pieces = vec![word(name)];
        pieces.extend(if raisable(f).is_some() {
            self.argument(a)
        } else {
            self.arguments(&[a])
        });
        pieces
    }

    /// The argument of a named function: a symbol stands without brackets.
    fn argument(&self, a: Expr) -> Vec<Piece> {
        match self.store.node(a) {
            Node::Symbol(_) => {
                vec![Piece::Word(APPLY), Piece::Word(THIN), Piece::At(a, level::OR)]
            }
            _ => self.arguments(&[a]),
        }
    }

    fn arguments(&self, all: &[Expr]) -> Vec<Piece> {
        let tall = all.iter().any(|a| self.tall.contains(a));
        let [open, close] = if tall { GROWING } else { FLAT };
        let mut pieces = vec![Piece::Word(APPLY), Piece::Word(open)];
        for (i, &a) in all.iter().enumerate() {
            if i > 0 {
                pieces.push(Piece::Word("<mo>,</mo>"));
            }
            pieces.push(Piece::At(a, level::OR));
        }
        pieces.push(Piece::Word(close));
        pieces
    }

    /// Whether a number in front would run into the first digit.
    fn starts_with_digit(&self, e: Expr) -> bool {
        let mut first = e;
        while let Node::Mul(a, _) | Node::Pow(a, _) = self.store.node(first) {
            first = a;
        }
        self.store.is_number(first) && self.level(first) == level::ATOM
    }
}

fn raised(base: &'static str, exponent: [Piece; 3]) -> Vec<Piece> {
    let mut pieces = vec![Piece::Word("<msup>"), Piece::Word(base), Piece::Word("<mrow>")];
    pieces.extend(exponent);
    pieces.push(Piece::Word("</mrow></msup>"));
    pieces
}

fn memory(kind: Memory, g: Expr, second: Expr) -> Vec<Piece> {
    let (word, at) = (Piece::Word, Piece::At);
    let (before, after) = match kind {
        Memory::Caputo => (
            "<mmultiscripts><mi>D</mi><mi>t</mi><mrow>",
            "</mrow><mprescripts/><msub><mi>t</mi><mn>0</mn></msub><mi>C</mi></mmultiscripts>",
        ),
        Memory::RiemannLiouville => (
            "<mmultiscripts><mi>D</mi><mi>t</mi><mrow>",
            "</mrow><mprescripts/><msub><mi>t</mi><mn>0</mn></msub><mi>RL</mi></mmultiscripts>",
        ),
        Memory::CaputoRight => (
            "<mmultiscripts><mi>D</mi><msub><mi>t</mi><mn>1</mn></msub><mrow>",
            "</mrow><mprescripts/><mi>t</mi><mi>C</mi></mmultiscripts>",
        ),
        Memory::RiemannLiouvilleRight => (
            "<mmultiscripts><mi>D</mi><msub><mi>t</mi><mn>1</mn></msub><mrow>",
            "</mrow><mprescripts/><mi>t</mi><mi>RL</mi></mmultiscripts>",
        ),
        Memory::Integral => (
            "<mmultiscripts><mi>I</mi><mi>t</mi><mrow>",
            "</mrow><mprescripts/><msub><mi>t</mi><mn>0</mn></msub><mrow></mrow></mmultiscripts>",
        ),
        Memory::Kernel => {
            return vec![
                word(INTEGRAL),
                at(second, level::PRODUCT),
                word(THIN),
                at(g, level::PRODUCT),
                word(D_TAU),
            ];
        }
        Memory::Mean => {
            return vec![
                word(
                    "<mfrac><mn>1</mn><mrow><mi>t</mi><mo>−</mo><msub><mi>t</mi><mn>0</mn></msub></mrow></mfrac>",
                ),
                word(INTEGRAL),
                at(g, level::PRODUCT),
                word(D_TAU),
            ];
        }
    };
    vec![word(before), at(second, level::OR), word(after), word(THIN), at(g, level::ATOM)]
}

/// Functions whose power is written at the name.
fn raisable(f: Unary) -> Option<&'static str> {
    match f {
        Unary::Sin => Some("<mi>sin</mi>"),
        Unary::Cos => Some("<mi>cos</mi>"),
        Unary::Tan => Some("<mi>tan</mi>"),
        Unary::Sinh => Some("<mi>sinh</mi>"),
        Unary::Cosh => Some("<mi>cosh</mi>"),
        Unary::Tanh => Some("<mi>tanh</mi>"),
        Unary::Log => Some("<mi>ln</mi>"),
        _ => None,
    }
}

fn relation(r: Relation) -> &'static str {
    match r {
        Relation::Less => "<mo>&lt;</mo>",
        Relation::LessEqual => "<mo>≤</mo>",
        Relation::Equal => "<mo>=</mo>",
        Relation::NotEqual => "<mo>≠</mo>",
    }
}

fn number_mathml(value: &Rational) -> String {
    let text = number::to_text(value);
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (NEGATIVE, size),
        None => ("", text.as_str()),
    };
    match size.split_once('/') {
        Some((n, d)) if is_fraction(value) => {
            format!("{sign}<mfrac><mn>{n}</mn><mn>{d}</mn></mfrac>")
        }
        _ => format!("{sign}<mn>{size}</mn>"),
    }
}
