//! Expressions as nodes in one vector.
//!
//! **Invariants.** Children stand before their parents, and the nodes of one expression are
//! neighbours: [`Arena::subtree`] is the range from the first of them to the root. Dropping is
//! flat. Depth is at most [`Arena::DEPTH`] except along the left: `Binary::left`,
//! `Index::base` and `Prime::base` may chain as long as the text. Walk those in a loop,
//! or walk the subtree in order.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::lexer::token::Decimal;
use crate::source::Span;

/// The nodes of all expressions of a text, with the names, numbers and texts in them.
#[derive(Clone, Debug, Default)]
pub struct Arena {
    nodes: Vec<Node>,
    lists: Vec<ExprId>,
    decimals: Vec<Decimal>,
    texts: Vec<String>,
    names: Vec<String>,
    symbols: FxHashMap<String, Symbol>,
}

/// A node of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(u32);

/// A name; equal if and only if written alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(u32);

/// A number of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecimalId(u32);

/// A text of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextId(u32);

/// Some nodes in order, read with [`Arena::list`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    start: u32,
    end: u32,
}

/// A name and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// Read with [`Arena::name`].
    pub symbol: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// `i = 1..N`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binder {
    /// The index variable.
    pub name: Name,
    /// Its first value.
    pub from: ExprId,
    /// Its last value.
    pub to: ExprId,
}

/// A piece of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// With the brackets of its first and last operand, but not those around it.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
    /// The first node of its expression.
    first: ExprId,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// `0.5`
    Number(DecimalId),
    /// `"file.csv"`
    Text(TextId),
    /// `x`
    Name(Symbol),
    /// `f(a, b)`; also `if(c, a, b)`
    Call {
        /// What is called.
        function: Name,
        /// Perhaps none.
        arguments: List,
    },
    /// `sum(i = 1..N, body)`
    Fold {
        /// Sum or product.
        fold: Fold,
        /// The index and its range.
        binder: Binder,
        /// What is added up or multiplied.
        body: ExprId,
    },
    /// `[a, b]`; a matrix is a vector of vectors. At least one entry.
    Vector(List),
    /// `base[i, j]`. At least one index.
    Index {
        /// What has components.
        base: ExprId,
        /// Which component.
        indices: List,
    },
    /// `base'`, `base''`
    Prime {
        /// What is differentiated.
        base: ExprId,
        /// How often: the number of `'` side by side.
        order: u32,
    },
    /// `-a`
    Negate(ExprId),
    /// `not a`
    Not(ExprId),
    /// `a + b`
    Binary {
        /// The operation.
        operator: Binary,
        /// Its first operand.
        left: ExprId,
        /// Its second operand.
        right: ExprId,
    },
}

/// What a [`NodeKind::Fold`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// `sum`
    Sum,
    /// `product`
    Product,
}

/// An operation between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a ^ b`
    Power,
    /// `a == b`
    Same,
    /// `a != b`
    Differs,
    /// `a < b`
    Less,
    /// `a <= b`
    AtMost,
    /// `a > b`
    Greater,
    /// `a >= b`
    AtLeast,
    /// `a and b`
    And,
    /// `a or b`
    Or,
}

impl Binary {
    /// The operator as written.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
            Self::Same => "==",
            Self::Differs => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

impl Fold {
    /// The function as written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "product",
        }
    }
}

impl ExprId {
    /// The place of the node in its arena.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Symbol {
    /// Names are counted from 0 in order of appearance.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl List {
    /// How many.
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl Arena {
    /// How deep expressions may nest.
    pub const DEPTH: usize = 256;

    /// A node.
    pub fn node(&self, id: ExprId) -> Node {
        self.nodes[id.index()]
    }

    /// What a node is.
    pub fn kind(&self, id: ExprId) -> NodeKind {
        self.nodes[id.index()].kind
    }

    /// Where a node stands.
    pub fn span(&self, id: ExprId) -> Span {
        self.nodes[id.index()].span
    }

    /// The nodes of the expression with this root: children first, the root last.
    pub fn subtree(&self, root: ExprId) -> impl DoubleEndedIterator<Item = ExprId> + use<> {
        let range: Range<u32> = self.nodes[root.index()].first.0..root.0 + 1;
        range.map(ExprId)
    }

    /// The members of a list.
    pub fn list(&self, list: List) -> &[ExprId] {
        &self.lists[list.start as usize..list.end as usize]
    }

    /// The name as written.
    pub fn name(&self, symbol: Symbol) -> &str {
        &self.names[symbol.index()]
    }

    /// The number as written.
    pub fn decimal(&self, id: DecimalId) -> &Decimal {
        &self.decimals[id.0 as usize]
    }

    /// The text without quotes, with `\"` read as `"`.
    pub fn text(&self, id: TextId) -> &str {
        &self.texts[id.0 as usize]
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// How many different names there are.
    pub fn symbol_count(&self) -> usize {
        self.names.len()
    }

    /// The symbol of a name, if it occurs in the text.
    pub fn find_symbol(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        let symbol = Symbol(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.symbols.insert(name.to_owned(), symbol);
        symbol
    }

    pub(crate) fn push_decimal(&mut self, decimal: Decimal) -> DecimalId {
        self.decimals.push(decimal);
        DecimalId(self.decimals.len() as u32 - 1)
    }

    pub(crate) fn push_text(&mut self, text: String) -> TextId {
        self.texts.push(text);
        TextId(self.texts.len() as u32 - 1)
    }

    pub(crate) fn push_list(&mut self, members: &[ExprId]) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(members);
        List { start, end: self.lists.len() as u32 }
    }

    pub(crate) fn push(&mut self, kind: NodeKind, span: Span) -> ExprId {
        let id = ExprId(self.nodes.len() as u32);
        let first = self.first_child(kind).map_or(id, |child| self.nodes[child.index()].first);
        self.nodes.push(Node { span, kind, first });
        id
    }

    fn first_child(&self, kind: NodeKind) -> Option<ExprId> {
        match kind {
            NodeKind::Number(_) | NodeKind::Text(_) | NodeKind::Name(_) => None,
            NodeKind::Call { arguments: list, .. } | NodeKind::Vector(list) => {
                self.list(list).first().copied()
            }
            NodeKind::Fold { binder, .. } => Some(binder.from),
            NodeKind::Index { base, .. } | NodeKind::Prime { base, .. } => Some(base),
            NodeKind::Negate(a) | NodeKind::Not(a) => Some(a),
            NodeKind::Binary { left, .. } => Some(left),
        }
    }
}
