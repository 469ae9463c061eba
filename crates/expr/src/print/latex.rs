//! Expressions as LaTeX.
//!
//! Numbers stand first in products, factors are parted by thin spaces, powers of functions are written
//! $\sin^2\varphi$. A function without brackets takes
//! the one symbol behind it. Brackets grow only where their content is tall. Memory operators are
//! ${}^{C}_{t_0}D^{\alpha}_{t}$ (Caputo), ${}^{RL}_{t_0}D^{\alpha}_{t}$
//! (Riemann–Liouville), ${}_{t_0}I_t^\mu$; in the kernel of $\int_{t_0}^t$ the lag is $s = t - \tau$.
//!
//! What is larger than 2²⁰ nodes when its shared parts are written out is printed with names, "… where $s_1 = …$".

use rustc_hash::FxHashSet;

use crate::graph::Graph;
use crate::graph::node::{Expr, Memory, Node, Relation};
use crate::graph::number::{self, Rational};
use crate::graph::store::Store;
use crate::math::{Binary, Unary};
use crate::print::latex_symbol;
use crate::print::{self, Piece, level};

impl Graph {
    /// The expression in LaTeX, for math mode.
    ///
    /// ```
    /// use pfaff_expr::{Graph, Role};
    /// let g = Graph::new();
    /// let phi = g.symbol("phi[1,2]", Role::Coordinate { order: 1 });
    /// let e = g.neg(g.div(g.pow(g.sin(phi), g.integer(2)), g.add(phi, g.one())));
    /// assert_eq!(
    ///     g.to_latex(e),
    ///     r"-\frac{\sin^{2}\dot{\varphi}_{12}}{\dot{\varphi}_{12} + 1}"
    /// );
    /// ```
    pub fn to_latex(&self, e: Expr) -> String {
        if print::is_small(self, e) {
            return self.latex_in_full(e);
        }
        let named = self.named(&[e], &print::NameOptions::default());
        let definitions: Vec<String> = (named.definitions.iter())
            .map(|(name, d)| {
                let symbol = self.symbol(name, crate::graph::node::Role::Free);
                format!("{} = {}", self.latex_in_full(symbol), self.latex_in_full(*d))
            })
            .collect();
        let (value, where_) = (self.latex_in_full(named.outputs[0]), definitions.join(",\\; "));
        format!("{value} \\quad\\text{{where}}\\quad {where_}")
    }

    /// The terms of a sum in LaTeX, each with its sign; one term if it is no sum or too large to be written out.
    pub fn latex_terms(&self, e: Expr) -> Vec<String> {
        if !print::is_small(self, e) {
            return vec![self.to_latex(e)];
        }
        let mut terms = Vec::new();
        let mut rest = e;
        loop {
            let (sign, term, before) = match self.node(rest) {
                Node::Add(a, b) => ("+ ", b, Some(a)),
                Node::Sub(a, b) => ("- ", b, Some(a)),
                _ => ("", rest, None),
            };
            let text = self.latex_in_full(term);
            let sum = matches!(self.node(term), Node::Add(..) | Node::Sub(..) | Node::Neg(_));
            let negative = sum || text.starts_with('-');
            let bracketed = !sign.is_empty() && negative;
            terms.push(if bracketed {
                format!("{sign}\\left({text}\\right)")
            } else {
                format!("{sign}{text}")
            });
            match before {
                Some(a) => rest = a,
                None => break,
            }
        }
        terms.reverse();
        terms
    }

    fn latex_in_full(&self, e: Expr) -> String {
        let live = self.live(&[e]);
        let store = self.store.borrow();
        let writer = Writer { store: &store, tall: tall_nodes(&store, &live) };
        print::assemble(
            e,
            |e| writer.level(e),
            |e| writer.pieces(e),
            |e| brackets(writer.tall.contains(&e)),
        )
    }
}

struct Writer<'a> {
    store: &'a Store,
    tall: FxHashSet<Expr>,
}

/// The nodes that are higher than a line.
pub(crate) fn tall_nodes(store: &Store, live: &[Expr]) -> FxHashSet<Expr> {
    let mut tall = FxHashSet::default();
    for &e in live {
        let node = store.node(e);
        let by_itself = match node {
            Node::Number(n) => is_fraction(store.numbers.exact(n)),
            Node::Div(..)
            | Node::If(..)
            | Node::Unary(Unary::Sqrt, _)
            | Node::Memory(Memory::Kernel | Memory::Mean, ..) => true,
            _ => false,
        };
        // An exponent is small.
        let by_operands = match node {
            Node::Pow(a, _) => tall.contains(&a),
            Node::Unary(Unary::Exp, _) => false,
            _ => node.operands().any(|o| tall.contains(&o)),
        };
        if by_itself || by_operands {
            tall.insert(e);
        }
    }
    tall
}

impl Writer<'_> {
    fn level(&self, e: Expr) -> u8 {
        typeset_level(self.store, e)
    }

    fn pieces(&self, e: Expr) -> Vec<Piece> {
        let (word, at) = (Piece::Word, Piece::At);
        let store = self.store;
        match store.node(e) {
            Node::Number(n) => vec![Piece::Owned(number_latex(store.numbers.exact(n)))],
            Node::Pi => vec![word("\\pi")],
            Node::Symbol(s) => {
                vec![Piece::Owned(latex_symbol::latex(&store.symbols[s as usize]))]
            }
            Node::Neg(a) => vec![word("-"), at(a, level::PRODUCT)],
            Node::Add(a, b) => vec![at(a, level::SUM), word(" + "), at(b, level::PRODUCT)],
            Node::Sub(a, b) => vec![at(a, level::SUM), word(" - "), at(b, level::PRODUCT)],
            Node::Mul(a, b) => {
                let digits = store.is_number(a) && self.starts_with_digit(b);
                let between = if digits { "\\cdot " } else { "\\," };
                vec![at(a, level::PRODUCT), word(between), at(b, level::PRODUCT)]
            }
            Node::Div(a, b) => {
                vec![word("\\frac{"), at(a, level::OR), word("}{"), at(b, level::OR), word("}")]
            }
            Node::Pow(a, b) => self.power(a, b),
            Node::Unary(f, a) => self.function(f, a),
            Node::Binary(Binary::Polygamma, n, x) => {
                let mut pieces = vec![word("\\psi^{("), at(n, level::OR), word(")}")];
                pieces.extend(self.arguments(&[x]));
                pieces
            }
            Node::Binary(f, a, b) => {
                let mut pieces = vec![word(match f {
                    Binary::Min => "\\min",
                    Binary::Max => "\\max",
                    _ => "\\operatorname{atan2}",
                })];
                pieces.extend(self.arguments(&[a, b]));
                pieces
            }
            Node::MittagLeffler(a, b, z) => {
                let mut pieces =
                    vec![word("E_{"), at(a, level::OR), word(","), at(b, level::OR), word("}")];
                pieces.extend(self.arguments(&[z]));
                pieces
            }
            Node::If(c, a, b) => vec![
                word("\\begin{cases} "),
                at(a, level::OR),
                word(" & \\text{if } "),
                at(c, level::OR),
                word(" \\\\ "),
                at(b, level::OR),
                word(" & \\text{otherwise} \\end{cases}"),
            ],
            Node::Compare(r, a, b) => {
                vec![at(a, level::SUM), word(relation(r)), at(b, level::SUM)]
            }
            Node::Not(a) => vec![word("\\lnot "), at(a, level::SUM)],
            Node::And(a, b) => vec![at(a, level::AND), word(" \\land "), at(b, level::NOT)],
            Node::Or(a, b) => vec![at(a, level::OR), word(" \\lor "), at(b, level::AND)],
            Node::Table { table, order, argument } => {
                let column = latex_symbol::escape(&store.tables[table as usize].column);
                let primes = "'".repeat(order as usize);
                let mut pieces = vec![Piece::Owned(format!("\\mathrm{{{column}}}{primes}"))];
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
            let mut pieces = vec![word(name), word("^{"), at(b, level::OR), word("}")];
            pieces.extend(self.argument(x));
            return pieces;
        }
        vec![at(a, level::ATOM), word("^{"), at(b, level::OR), word("}")]
    }

    fn function(&self, f: Unary, a: Expr) -> Vec<Piece> {
        let (word, at) = (Piece::Word, Piece::At);
        match f {
            Unary::Sqrt => vec![word("\\sqrt{"), at(a, level::OR), word("}")],
            Unary::Exp => vec![word("\\mathrm{e}^{"), at(a, level::OR), word("}")],
            Unary::Abs => vec![word("\\left|"), at(a, level::OR), word("\\right|")],
            Unary::Erf | Unary::Gamma | Unary::Digamma | Unary::Sign => {
                let name = match f {
                    Unary::Erf => "\\operatorname{erf}",
                    Unary::Gamma => "\\Gamma",
                    Unary::Digamma => "\\psi",
                    _ => "\\operatorname{sgn}",
                };
                let mut pieces = vec![word(name)];
                pieces.extend(self.arguments(&[a]));
                pieces
            }
            _ => {
                let name = match f {
                    Unary::Asin => "\\arcsin",
                    Unary::Acos => "\\arccos",
                    Unary::Atan => "\\arctan",
                    _ => raisable(f).expect("every other function has a name of its own"),
                };
                let mut pieces = vec![word(name)];
                pieces.extend(self.argument(a));
                pieces
            }
        }
    }

    /// The argument of a named function: a symbol stands without brackets.
    fn argument(&self, a: Expr) -> Vec<Piece> {
        match self.store.node(a) {
            Node::Symbol(s) => {
                let text = latex_symbol::latex(&self.store.symbols[s as usize]);
                // A command needs no blank before another command.
                let blank = if text.starts_with('\\') { "" } else { " " };
                vec![Piece::Word(blank), Piece::Owned(text)]
            }
            _ => self.arguments(&[a]),
        }
    }

    fn arguments(&self, all: &[Expr]) -> Vec<Piece> {
        let [open, close] = brackets(all.iter().any(|a| self.tall.contains(a)));
        let mut pieces = vec![Piece::Word(open)];
        for (i, &a) in all.iter().enumerate() {
            if i > 0 {
                pieces.push(Piece::Word(",\\,"));
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

/// How tightly an expression binds when it is typeset, in LaTeX and in MathML.
pub(crate) fn typeset_level(store: &Store, e: Expr) -> u8 {
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
        Node::Pi | Node::Symbol(_) | Node::Unary(Unary::Sqrt | Unary::Abs, _) => level::ATOM,
        Node::Neg(_) | Node::Add(..) | Node::Sub(..) => level::SUM,
        Node::Mul(..) | Node::Memory(Memory::Mean, ..) => level::PRODUCT,
        Node::Div(..) | Node::Pow(..) | Node::Unary(Unary::Exp, _) => level::POWER,
        Node::Unary(..)
        | Node::Binary(..)
        | Node::MittagLeffler(..)
        | Node::If(..)
        | Node::Table { .. }
        | Node::Memory(..) => level::UNARY,
        Node::Compare(..) => level::COMPARE,
        Node::Not(_) => level::NOT,
        Node::And(..) => level::AND,
        Node::Or(..) => level::OR,
    }
}

fn brackets(tall: bool) -> [&'static str; 2] {
    if tall { ["\\left(", "\\right)"] } else { ["(", ")"] }
}

fn memory(kind: Memory, g: Expr, second: Expr) -> Vec<Piece> {
    let (word, at) = (Piece::Word, Piece::At);
    let (before, after) = match kind {
        Memory::Caputo => ("{}^{C}_{t_0}D^{", "}_{t}\\,"),
        Memory::RiemannLiouville => ("{}^{RL}_{t_0}D^{", "}_{t}\\,"),
        Memory::CaputoRight => ("{}^{C}_{t}D^{", "}_{t_1}\\,"),
        Memory::RiemannLiouvilleRight => ("{}^{RL}_{t}D^{", "}_{t_1}\\,"),
        Memory::Integral => ("{}_{t_0}I_{t}^{", "}\\,"),
        Memory::Kernel => {
            return vec![
                word("\\int_{t_0}^{t} "),
                at(second, level::PRODUCT),
                word("\\,"),
                at(g, level::PRODUCT),
                word("\\,\\mathrm{d}\\tau"),
            ];
        }
        Memory::Mean => {
            return vec![
                word("\\frac{1}{t - t_0}\\int_{t_0}^{t} "),
                at(g, level::PRODUCT),
                word("\\,\\mathrm{d}\\tau"),
            ];
        }
    };
    vec![word(before), at(second, level::OR), word(after), at(g, level::ATOM)]
}

/// Functions whose power is written at the name.
fn raisable(f: Unary) -> Option<&'static str> {
    match f {
        Unary::Sin => Some("\\sin"),
        Unary::Cos => Some("\\cos"),
        Unary::Tan => Some("\\tan"),
        Unary::Sinh => Some("\\sinh"),
        Unary::Cosh => Some("\\cosh"),
        Unary::Tanh => Some("\\tanh"),
        Unary::Log => Some("\\ln"),
        Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Exp
        | Unary::Sqrt
        | Unary::Abs
        | Unary::Sign
        | Unary::Erf
        | Unary::Gamma
        | Unary::Digamma => None,
    }
}

fn relation(r: Relation) -> &'static str {
    match r {
        Relation::Less => " < ",
        Relation::LessEqual => " \\le ",
        Relation::Equal => " = ",
        Relation::NotEqual => " \\ne ",
    }
}

pub(crate) fn is_fraction(value: &Rational) -> bool {
    number::to_text(value).contains('/')
}

fn number_latex(value: &Rational) -> String {
    let text = number::to_text(value);
    match text.split_once('/') {
        Some((n, d)) => {
            let sign = if n.starts_with('-') { "-" } else { "" };
            format!("{sign}\\frac{{{}}}{{{d}}}", n.trim_start_matches('-'))
        }
        None => text,
    }
}
