//! What the printers share: precedence, the explicit stack, and names for common parts.
//!
//! Written out, a graph may be exponentially larger than it is. [`Graph::named`] gives names to parts that are
//! used more than once, so that the text of a system grows linearly with its graph.

mod latex;
mod latex_symbol;
mod mathml;
pub(crate) mod mathml_symbol;
pub(crate) mod symbol_parts;
mod text;
mod typeset;
mod typst;
mod typst_symbol;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::Graph;
use crate::graph::node::{Expr, Memory, Node, Role};
use crate::graph::store::Store;

/// Whether a character is not shown but changes what a terminal or a page shows: it controls, or it turns the
/// direction of the letters around it.
pub fn commands_a_screen(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// Outputs with names for their common parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedParts {
    /// Name and meaning, each in terms of earlier names; the names are symbols of [`Role::Free`].
    pub definitions: Vec<(String, Expr)>,
    /// The outputs in terms of the names.
    pub outputs: Vec<Expr>,
}

/// Which parts get names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameOptions {
    /// Names begin with this; a number follows.
    pub prefix: String,
    /// Names that are in use elsewhere. Symbols of the outputs are avoided in any case.
    pub taken: Vec<String>,
    /// A part gets a name if it is used at least twice and its text has at least this many operations.
    pub least_cost: usize,
    /// It must also save at least this many operations, its definition counted.
    pub least_saving: usize,
}

impl Default for NameOptions {
    fn default() -> Self {
        Self { prefix: "s".into(), taken: Vec::new(), least_cost: 3, least_saving: 0 }
    }
}

impl Graph {
    /// Gives names to the parts that the outputs use more than once.
    ///
    /// The kernel of a memory operator is kept in one piece, for its lag has no meaning outside.
    ///
    /// ```
    /// use pfaff_expr::{Graph, NameOptions, Role};
    /// let g = Graph::new();
    /// let x = g.symbol("x", Role::Free);
    /// let part = g.sin(g.add(g.mul(x, x), g.one()));
    /// let named = g.named(&[g.add(part, x), g.sqrt(part)], &NameOptions::default());
    /// assert_eq!(named.definitions[0].0, "s1");
    /// assert_eq!(g.to_text(named.definitions[0].1), "sin(x^2 + 1)");
    /// assert_eq!(g.to_text(named.outputs[1]), "sqrt(s1)");
    /// ```
    pub fn named(&self, outputs: &[Expr], options: &NameOptions) -> NamedParts {
        let live = reached(self, outputs);
        let uses = uses(self, &live, outputs);
        let mut taken: FxHashSet<String> = options.taken.iter().cloned().collect();
        taken.extend(
            self.symbols(outputs).iter().filter_map(|&s| Some(self.symbol_of(s)?.name)),
        );
        let mut count = 0;
        let mut fresh = || {
            loop {
                count += 1;
                let name = format!("{}{count}", options.prefix);
                if !taken.contains(&name) {
                    return name;
                }
            }
        };
        let before = std::mem::replace(&mut self.store.borrow_mut().merging, false);
        let mut definitions = Vec::new();
        let mut node_map: FxHashMap<Expr, Expr> = FxHashMap::default();
        let mut costs: FxHashMap<Expr, usize> = FxHashMap::default();
        for &e in &live {
            let node = self.node(e);
            let cost = written(node)
                .map(|o| costs.get(&o).copied().unwrap_or(0))
                .fold(usize::from(node.operands().next().is_some()), usize::saturating_add);
            let image = |o: Expr| node_map.get(&o).copied().unwrap_or(o);
            let mut made = match node {
                _ if written(node).all(|o| image(o) == o) => e,
                Node::Memory(Memory::Kernel, g, k) => self.memory(Memory::Kernel, image(g), k),
                _ => self.store.borrow_mut().rebuild(node, image),
            };
            let saving = cost.saturating_mul(uses[&e].saturating_sub(1));
            let worth = uses[&e] >= 2
                && cost >= options.least_cost.max(1)
                && saving >= options.least_saving;
            if worth && !matches!(node, Node::Neg(_)) {
                let name = fresh();
                let symbol = self.symbol(&name, Role::Free);
                definitions.push((name, made));
                made = symbol;
                costs.insert(e, 0);
            } else {
                costs.insert(e, cost);
            }
            node_map.insert(e, made);
        }
        self.store.borrow_mut().merging = before;
        NamedParts { definitions, outputs: outputs.iter().map(|o| node_map[o]).collect() }
    }
}

/// The nodes that are written, operands first, without the kernels of memory operators.
fn reached(g: &Graph, outputs: &[Expr]) -> Vec<Expr> {
    let mut seen: FxHashSet<Expr> = FxHashSet::default();
    let (mut stack, mut found) = (outputs.to_vec(), Vec::new());
    while let Some(e) = stack.pop() {
        if seen.insert(e) {
            found.push(e);
            stack.extend(written(g.node(e)));
        }
    }
    found.sort_unstable();
    found
}

fn written(node: Node) -> impl Iterator<Item = Expr> {
    let count = if matches!(node, Node::Memory(Memory::Kernel, ..)) { 1 } else { 3 };
    node.operands().take(count)
}

/// How often each node is written; a sign passes its uses on to what it stands before.
fn uses(g: &Graph, live: &[Expr], outputs: &[Expr]) -> FxHashMap<Expr, usize> {
    let mut uses: FxHashMap<Expr, usize> = live.iter().map(|&e| (e, 0)).collect();
    for o in outputs {
        *uses.entry(*o).or_default() += 1;
    }
    for &e in live.iter().rev() {
        let node = g.node(e);
        let times = if matches!(node, Node::Neg(_)) { uses[&e] } else { 1 };
        for o in written(node) {
            *uses.entry(o).or_default() += times;
        }
    }
    uses
}

/// Written out, more nodes than this get names.
const MAX_WRITTEN: u64 = 1 << 20;

/// Whether the expression is small enough to be written out.
pub(crate) fn is_small(g: &Graph, e: Expr) -> bool {
    let live = g.live(&[e]);
    let store: &Store = &g.store.borrow();
    let mut sizes: FxHashMap<Expr, u64> = FxHashMap::default();
    for &x in &live {
        let size = store.node(x).operands().fold(1_u64, |n, o| n.saturating_add(sizes[&o]));
        sizes.insert(x, size);
    }
    sizes[&e] <= MAX_WRITTEN
}

/// How tightly a written form binds; brackets stand where it binds less than its place asks.
pub(crate) mod level {
    pub(crate) const OR: u8 = 1;
    pub(crate) const AND: u8 = 2;
    pub(crate) const NOT: u8 = 3;
    pub(crate) const COMPARE: u8 = 4;
    pub(crate) const SUM: u8 = 5;
    pub(crate) const PRODUCT: u8 = 6;
    pub(crate) const UNARY: u8 = 7;
    pub(crate) const POWER: u8 = 8;
    pub(crate) const ATOM: u8 = 9;
}

/// A part of a written form.
#[derive(Clone, Debug)]
pub(crate) enum TextPiece {
    Word(&'static str),
    Owned(String),
    /// An operand at a place that asks for this level.
    At(Expr, u8),
    /// The same where another factor follows, which a function without brackets would seem to take.
    Before(Expr, u8),
}

/// Puts the pieces of an expression together, with an explicit stack: depth is no limit. `pieces_of` is told whether
/// another factor follows.
pub(crate) fn assemble(
    root: Expr,
    level_of: impl Fn(Expr) -> u8,
    pieces_of: impl Fn(Expr, bool) -> Vec<TextPiece>,
    brackets_of: impl Fn(Expr) -> [&'static str; 2],
) -> String {
    let mut text = String::new();
    let mut stack = vec![TextPiece::At(root, level::OR)];
    while let Some(piece) = stack.pop() {
        match piece {
            TextPiece::Word(word) => text.push_str(word),
            TextPiece::Owned(word) => text.push_str(&word),
            TextPiece::At(e, asked) | TextPiece::Before(e, asked) if level_of(e) < asked => {
                let brackets = brackets_of(e);
                stack.extend([
                    TextPiece::Word(brackets[1]),
                    TextPiece::At(e, level::OR),
                    TextPiece::Word(brackets[0]),
                ]);
            }
            TextPiece::At(e, _) => stack.extend(pieces_of(e, false).into_iter().rev()),
            TextPiece::Before(e, _) => stack.extend(pieces_of(e, true).into_iter().rev()),
        }
    }
    text
}

impl Store {
    /// The terms of $-(a + b + \dots)$, which is written $-a - b - \dots$; a number in front would be read as one.
    pub(crate) fn negative_terms(&self, e: Expr) -> Option<Vec<Expr>> {
        let Node::Neg(mut sum) = self.node(e) else { return None };
        let mut terms = Vec::new();
        while let Node::Add(a, b) = self.node(sum) {
            terms.push(b);
            sum = a;
        }
        let is_plain =
            !matches!(self.node(sum), Node::Sub(..) | Node::Neg(_) | Node::Number(_));
        terms.push(sum);
        terms.reverse();
        (is_plain && terms.len() > 1).then_some(terms)
    }
}

/// The terms of a sum, each with its sign; brackets stand around those that begin with a sign of their own.
fn terms_of_sum(
    g: &Graph,
    e: Expr,
    one: &dyn Fn(Expr) -> String,
    [open, close]: [&str; 2],
) -> Vec<String> {
    // NOTE: a sum that is taken away is written by its terms, with other signs.
    let mut terms: Vec<String> = Vec::new();
    let mut waiting = vec![(false, e)];
    while let Some((negative, rest)) = waiting.pop() {
        match g.node(rest) {
            Node::Add(a, b) => waiting.extend([(negative, b), (negative, a)]),
            Node::Sub(a, b) => waiting.extend([(!negative, b), (negative, a)]),
            Node::Neg(a) => waiting.push((!negative, a)),
            _ => {
                let text = one(rest);
                let sign = match (terms.is_empty(), negative) {
                    (true, false) => "",
                    (true, true) => "-",
                    (false, false) => "+ ",
                    (false, true) => "- ",
                };
                terms.push(if !sign.is_empty() && text.starts_with('-') {
                    format!("{sign}{open}{text}{close}")
                } else {
                    format!("{sign}{text}")
                });
            }
        }
    }
    terms
}
