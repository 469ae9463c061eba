//! The nodes themselves: interning, and what is known of each node when it is made.
//!
//! **Invariant.** Operands are older than the node that uses them. A commutative node keeps the order in
//! which it was first written and is found in either order.

use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::graph::domain::{Domain, DomainCondition, Domains, EVERYWHERE, UNKNOWN_DOMAIN};
use crate::graph::family::{Family, FamilySlopes};
use crate::graph::field;
use crate::graph::lookup::Lookup;
use crate::graph::marks::{Marks, NodeTable};
use crate::graph::node::{Expr, Node, Role, Symbol};
pub(crate) use crate::graph::node::{ONE, TWO, ZERO};
use crate::graph::node_map::NodeMap;
use crate::graph::number::Rational;
use crate::graph::numbers::{Numbers, Operation};
use crate::graph::residue::{Residues, residues};
use crate::interrupt;
use crate::math::table::Table;

/// Nodes between two questions whether to go on.
const ASK: usize = 256;

/// Everything behind a [`Graph`](crate::Graph).
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) nodes: Vec<Node>,
    pub(crate) values: Vec<Residues>,
    /// Which symbols a node contains, bit (index mod 128): exact for up to so many symbols, a quick "surely
    /// not" beyond.
    pub(crate) masks: Vec<u128>,
    pub(crate) facts: Vec<NodeFacts>,
    pub(crate) numbers: Numbers,
    pub(crate) symbols: Vec<Arc<Symbol>>,
    pub(crate) symbol_nodes: Vec<Expr>,
    pub(crate) tables: Vec<Table>,
    pub(crate) domains: Domains,
    pub(crate) families: Vec<Arc<Family>>,
    pub(crate) family_slopes: FxHashMap<u32, Arc<FamilySlopes>>,
    /// The values of all parts of a family over a list.
    pub(crate) part_values: FxHashMap<(u32, Expr), Arc<[Residues]>>,
    /// Sums with their families of like terms gathered.
    pub(crate) gathered: FxHashMap<Expr, Expr>,
    /// Derived nodes of equal value become one node.
    pub(crate) merging: bool,
    /// Nodes by what they are, and those that became another one: places from [`ALIASES`] on.
    syntax: Lookup,
    aliases: Vec<(Node, Expr)>,
    /// The node of each value.
    by_value: Lookup,
    by_symbol: FxHashMap<Arc<Symbol>, u32>,
    at_zero: FxHashMap<Expr, Option<Expr>>,
    /// For walks that map nodes.
    pub(crate) node_map: NodeMap,
    pub(crate) marks: Marks,
}

/// Places of nodes in tables are below, those of aliases from here on.
const ALIASES: u32 = 1 << 31;

/// What is known of a node when it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NodeFacts {
    /// Contains a symbol that is no parameter.
    pub(crate) varies: bool,
    /// Finite and smooth for all finite values of its symbols.
    pub(crate) total: bool,
    /// Where it is not.
    pub(crate) domain: Domain,
    /// Contains a memory operator.
    pub(crate) has_memory: bool,
}

/// A node as it is looked up: sums and products are found in either order.
fn key(node: Node) -> Node {
    match node {
        Node::Add(a, b) => Node::Add(a.min(b), a.max(b)),
        Node::Mul(a, b) => Node::Mul(a.min(b), a.max(b)),
        _ => node,
    }
}

impl Store {
    /// With room for so many nodes.
    pub(crate) fn new(room: usize) -> Self {
        let mut store = Self {
            nodes: Vec::with_capacity(room),
            values: Vec::with_capacity(room),
            masks: Vec::with_capacity(room),
            facts: Vec::with_capacity(room),
            syntax: Lookup::with_capacity(room),
            by_value: Lookup::with_capacity(room),
            ..Self::default()
        };
        for (i, expected) in [ZERO, ONE, TWO].into_iter().enumerate() {
            let made = store.integer(i as i64);
            debug_assert_eq!(made, expected);
        }
        store
    }

    pub(crate) fn node(&self, e: Expr) -> Node {
        self.nodes[e.index()]
    }

    pub(crate) fn number(&mut self, value: Rational) -> Expr {
        let n = self.numbers.of(value);
        self.intern(Node::Number(n))
    }

    pub(crate) fn integer(&mut self, value: i64) -> Expr {
        let n = self.numbers.integer(value);
        self.intern(Node::Number(n))
    }

    pub(crate) fn fraction(&mut self, numerator: i64, denominator: i64) -> Expr {
        let n = self.numbers.fraction(numerator, denominator);
        self.intern(Node::Number(n))
    }

    /// The operation carried out, if both are numbers and the result is not too long.
    pub(crate) fn folded(&mut self, operation: Operation, a: Expr, b: Expr) -> Option<Expr> {
        let (Node::Number(x), Node::Number(y)) = (self.node(a), self.node(b)) else {
            return None;
        };
        let n = self.numbers.combined(operation, x, y)?;
        Some(self.intern(Node::Number(n)))
    }

    pub(crate) fn symbol(&mut self, symbol: Symbol) -> Expr {
        if let Some(&s) = self.by_symbol.get(&symbol) {
            return self.symbol_nodes[s as usize];
        }
        let (s, symbol) = (self.symbols.len() as u32, Arc::new(symbol));
        self.by_symbol.insert(Arc::clone(&symbol), s);
        self.symbols.push(symbol);
        let e = self.push(Node::Symbol(s));
        self.symbol_nodes.push(e);
        e
    }

    pub(crate) fn exact(&self, e: Expr) -> Option<&Rational> {
        match self.node(e) {
            Node::Number(n) => Some(self.numbers.exact(n)),
            _ => None,
        }
    }

    pub(crate) fn is_number(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_))
    }

    /// The exponent of a power that is worth writing out.
    pub(crate) fn small_integer(&self, e: Expr) -> Option<i64> {
        let Node::Number(n) = self.node(e) else { return None };
        let small = self.numbers.small(n).filter(|s| s.d == 1)?;
        Some(small.n).filter(|n| n.abs() < 1 << 30)
    }

    /// The one node for this operation on these operands.
    pub(crate) fn intern(&mut self, node: Node) -> Expr {
        if let Some(found) = self.find(node) {
            return found;
        }
        if let Node::Family { family, list, .. } = node {
            self.know_parts(family, list);
        }
        if self.merging && !matches!(node, Node::Number(_) | Node::Memory(..)) {
            return self.merge(node);
        }
        self.push(node)
    }

    fn find(&self, node: Node) -> Option<Expr> {
        let wanted = key(node);
        let place = self.syntax.find(FxBuildHasher.hash_one(wanted), |place| {
            let known = match place.checked_sub(ALIASES) {
                Some(alias) => self.aliases[alias as usize].0,
                None => self.nodes[place as usize],
            };
            key(known) == wanted
        })?;
        Some(match place.checked_sub(ALIASES) {
            Some(alias) => self.aliases[alias as usize].1,
            None => Expr(place),
        })
    }

    /// The node of a value.
    fn of_value(&self, v: Residues) -> Option<Expr> {
        self.by_value.find(v[0], |place| self.values[place as usize] == v).map(Expr)
    }

    /// A node that was not made, because another one serves.
    fn alias(&mut self, node: Node, e: Expr) {
        let place = self.aliases.len() as u32 + ALIASES;
        self.syntax.insert(FxBuildHasher.hash_one(key(node)), place);
        self.aliases.push((node, e));
    }

    /// A derived node: one of the same value serves if it is as well behaved; a constant becomes its value.
    fn merge(&mut self, node: Node) -> Expr {
        let v = residues(self, node);
        let facts = self.facts_of(node);
        let mask = self.mask_of(node);
        // NOTE: a symbol on which a value does not depend would still be asked for when it is computed.
        let fits = |s: &Self, e: Expr| {
            let known = s.facts[e.index()];
            let sound = known.total
                || (known.domain != EVERYWHERE
                    && s.domains.contains(known.domain, facts.domain));
            s.node(e) == node || (sound && s.masks[e.index()] & !mask == 0)
        };
        if let Some(e) = self.of_value(v)
            && fits(self, e)
        {
            self.alias(node, e);
            return e;
        }
        // NOTE: the negative of a difference is a difference, a sum, or a common factor times one: it costs
        // nothing, and one made from the other would go in a circle.
        let both_differences = |s: &Self, e: Expr| {
            let node = matches!(node, Node::Add(..) | Node::Sub(..) | Node::Mul(..));
            node && matches!(s.node(e), Node::Sub(..))
        };
        if !matches!(node, Node::Neg(_))
            && let Some(e) = self.of_value(v.map(field::neg))
            && fits(self, e)
            && !both_differences(self, e)
        {
            let e = self.neg(e);
            self.alias(node, e);
            return e;
        }
        if v[0] == v[1] && facts.varies && !matches!(node, Node::Family { .. }) {
            self.merging = false;
            let made = self.push_with(node, v, facts, mask);
            let constant = self.zeroed(made);
            self.merging = true;
            let sound = |s: &Self, c: Expr| {
                let found = s.facts[c.index()];
                found.total
                    || (found.domain != EVERYWHERE
                        && s.domains.contains(found.domain, facts.domain))
            };
            if let Some(c) = constant.filter(|&c| sound(self, c)) {
                if self.values[c.index()] == v {
                    let values = &self.values;
                    self.by_value.replace(v[0], |place| values[place as usize] == v, c.0);
                }
                self.become_alias(made, c);
                return c;
            }
            return made;
        }
        self.push_with(node, v, facts, mask)
    }

    /// Another node serves for one that was made.
    fn become_alias(&mut self, made: Expr, e: Expr) {
        let place = self.aliases.len() as u32 + ALIASES;
        let node = self.node(made);
        let hash = FxBuildHasher.hash_one(key(node));
        let is_known = self.syntax.replace(hash, |known| known == made.0, place);
        debug_assert!(is_known, "a node is found by what it is");
        self.aliases.push((node, e));
    }

    /// The expression with every varying symbol set to zero; `None` where that has no value.
    fn zeroed(&mut self, e: Expr) -> Option<Expr> {
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            if self.at_zero.contains_key(&x) {
                stack.pop();
                continue;
            }
            let node = self.node(x);
            let varies = self.facts[x.index()].varies;
            if varies {
                let before = stack.len();
                stack.extend(node.operands().filter(|o| !self.at_zero.contains_key(o)));
                if stack.len() > before {
                    continue;
                }
            }
            stack.pop();
            let result = if !varies {
                Some(x)
            } else if let Node::Symbol(_) = node {
                Some(ZERO)
            } else {
                let image = |o: Expr| self.at_zero.get(&o).copied().flatten();
                let known = node.operands().all(|o| image(o).is_some());
                // NOTE: what is constant may be written with a quotient that has no value there.
                let divides = match node {
                    Node::Div(_, below) => image(below) == Some(ZERO),
                    Node::Pow(base, n) => {
                        let whole = self.small_integer(n).is_some_and(|n| n >= 0);
                        !whole && image(base) == Some(ZERO)
                    }
                    _ => false,
                };
                (known && !divides).then(|| {
                    let operands = std::mem::take(&mut self.at_zero);
                    let made = self
                        .rebuild(node, |o| operands.get(&o).copied().flatten().unwrap_or(o));
                    self.at_zero = operands;
                    made
                })
            };
            self.at_zero.insert(x, result);
        }
        self.at_zero.get(&e).copied().flatten()
    }

    fn push(&mut self, node: Node) -> Expr {
        let (v, facts, mask) = (residues(self, node), self.facts_of(node), self.mask_of(node));
        self.push_with(node, v, facts, mask)
    }

    fn push_with(&mut self, node: Node, v: Residues, facts: NodeFacts, mask: u128) -> Expr {
        let place = u32::try_from(self.nodes.len()).ok().filter(|&place| place < ALIASES);
        let e = Expr(place.expect("fewer than 2³¹ nodes fit in memory"));
        if self.nodes.len().is_multiple_of(ASK) {
            interrupt::checkpoint();
        }
        self.nodes.push(node);
        self.values.push(v);
        self.masks.push(mask);
        self.facts.push(facts);
        self.syntax.insert(FxBuildHasher.hash_one(key(node)), e.0);
        let Some(old) = self.of_value(v) else {
            self.by_value.insert(v[0], e.0);
            return e;
        };
        let (known, other) = (self.facts[old.index()], self.masks[old.index()]);
        let no_worse = facts.total
            || (facts.domain != EVERYWHERE
                && self.domains.contains(facts.domain, known.domain));
        let fewer =
            (!known.total && (facts.total || facts.domain != known.domain)) || mask != other;
        if no_worse && mask & !other == 0 && fewer {
            self.by_value.replace(v[0], |place| place == old.0, e.0);
        }
        e
    }

    fn mask_of(&self, node: Node) -> u128 {
        match node {
            Node::Symbol(s) => 1 << (s % u128::BITS),
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) => {
                self.masks[a.index()] | self.masks[b.index()]
            }
            _ => node.operands().fold(0, |m, o| m | self.masks[o.index()]),
        }
    }

    fn facts_of(&mut self, node: Node) -> NodeFacts {
        let of = |e: Expr| self.facts[e.index()];
        if let Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) = node {
            let (a, b) = (of(a), of(b));
            return NodeFacts {
                varies: a.varies | b.varies,
                total: a.total & b.total,
                domain: self.domains.intersection(a.domain, b.domain),
                has_memory: a.has_memory | b.has_memory,
            };
        }
        let mut t =
            NodeFacts { varies: false, total: true, domain: EVERYWHERE, has_memory: false };
        for o in node.operands() {
            t.varies |= of(o).varies;
            t.total &= of(o).total;
            t.has_memory |= of(o).has_memory;
        }
        match node {
            Node::Symbol(s) => t.varies = self.symbols[s as usize].role != Role::Parameter,
            Node::Div(_, b) => t.total &= self.is_number(b),
            Node::Pow(_, b) => t.total &= self.small_integer(b).is_some_and(|n| n >= 0),
            Node::Unary(f, _) => t.total &= f.is_smooth(),
            Node::Memory(..) => {
                t.has_memory = true;
                t.varies = true;
                t.total = false;
            }
            Node::Binary(..)
            | Node::MittagLeffler(..)
            | Node::If(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Table { .. }
            | Node::Family { .. } => t.total = false,
            _ => {}
        }
        t.domain = self.domain_of(node);
        t
    }
}

impl Store {
    /// For walks.
    pub(crate) fn table(&self) -> NodeTable<'_> {
        NodeTable { nodes: &self.nodes, masks: &self.masks }
    }

    /// As [`Marks::live`].
    pub(crate) fn live(&mut self, roots: &[Expr]) -> Vec<Expr> {
        self.live_with(roots, u128::MAX)
    }

    /// As [`Marks::live_with`].
    pub(crate) fn live_with(&mut self, roots: &[Expr], mask: u128) -> Vec<Expr> {
        let Self { nodes, masks, marks, .. } = self;
        marks.live_with(NodeTable { nodes, masks }, roots, mask)
    }

    /// As [`Marks::live_beyond`].
    pub(crate) fn live_beyond(&mut self, roots: &[Expr], known: &[Expr]) -> Vec<Expr> {
        let Self { nodes, masks, marks, .. } = self;
        marks.live_beyond(NodeTable { nodes, masks }, roots, known)
    }
}

impl Store {
    /// The domain of a node whose operands are in the store.
    fn domain_of(&mut self, node: Node) -> Domain {
        let mut domain = EVERYWHERE;
        for o in node.operands() {
            domain = self.domains.intersection(domain, self.facts[o.index()].domain);
        }
        // NOTE: the kinds are numbered so that no two operations share a condition.
        let own = match node {
            Node::Div(_, b) if !self.is_number(b) || b == ZERO => {
                Some(DomainCondition { kind: 0, operand: b })
            }
            Node::Pow(_, b) if self.small_integer(b).is_some_and(|n| n >= 0) => None,
            Node::Pow(a, b) if self.is_number(b) => {
                Some(DomainCondition { kind: 1, operand: a })
            }
            Node::Unary(f, a) if !f.is_smooth() => {
                Some(DomainCondition { kind: 2 + f as u32, operand: a })
            }
            Node::Pow(..)
            | Node::Binary(..)
            | Node::MittagLeffler(..)
            | Node::If(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Table { .. }
            | Node::Family { .. }
            | Node::Memory(..) => return UNKNOWN_DOMAIN,
            Node::Number(_)
            | Node::Pi
            | Node::Symbol(_)
            | Node::Neg(_)
            | Node::Add(..)
            | Node::Sub(..)
            | Node::Mul(..)
            | Node::Div(..)
            | Node::Unary(..)
            | Node::List(..) => None,
        };
        match own {
            Some(condition) => self.domains.with(domain, condition),
            None => domain,
        }
    }
}
