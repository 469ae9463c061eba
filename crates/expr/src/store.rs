//! The nodes themselves: interning, and what is known of each node when it is made.
//!
//! **Invariant.** Operands are older than the node that uses them. A commutative node keeps the order in which it was first written and is
//! found in either order.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::field;
use crate::hazard::{HazardSets, Hazards, NO_HAZARDS};
use crate::node::{Expr, Node, Role, Symbol};
use crate::number::{self, Rational};
use crate::table::Table;
use crate::value::{Value, value};

/// Everything behind a [`Graph`](crate::Graph).
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) nodes: Vec<Node>,
    pub(crate) values: Vec<Value>,
    /// Which symbols a node contains, bit (index mod 128): exact for up to so many symbols, a quick "surely not" beyond.
    pub(crate) masks: Vec<u128>,
    pub(crate) traits: Vec<Traits>,
    pub(crate) numbers: Vec<Rational>,
    pub(crate) doubles: Vec<f64>,
    pub(crate) residues: Vec<u64>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) symbol_nodes: Vec<Expr>,
    pub(crate) tables: Vec<Table>,
    pub(crate) hazard_sets: HazardSets,
    /// Derived nodes of equal value become one node.
    pub(crate) merging: bool,
    syntax: FxHashMap<Node, Expr>,
    by_value: FxHashMap<Value, Expr>,
    by_number: FxHashMap<Exact, u32>,
    by_symbol: FxHashMap<Symbol, u32>,
    at_zero: FxHashMap<Expr, Option<Expr>>,
    /// Stamps of the last visit of a node, so that a walk need not clear a set.
    visited: Vec<u32>,
    visit: u32,
}

/// A number that is found by its numerator and denominator. Numbers are always in lowest terms, which the comparison of any two fractions may not rely on.
#[derive(Clone, Debug)]
struct Exact(Rational);

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.0.numer() == other.0.numer() && self.0.denom() == other.0.denom()
    }
}

impl Eq for Exact {}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.numer().hash(state);
        self.0.denom().hash(state);
    }
}

/// Nodes for which there is room from the beginning: most models of a few coordinates have more.
const ROOM: usize = 400;

/// What is known of a node when it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// Contains a symbol that is no parameter.
    pub(crate) varies: bool,
    /// Finite and smooth for all finite values of its symbols.
    pub(crate) total: bool,
    /// Where it is not.
    pub(crate) hazards: Hazards,
    /// Contains a memory operator.
    pub(crate) remembers: bool,
}

pub(crate) const ZERO: Expr = Expr(0);
pub(crate) const ONE: Expr = Expr(1);
pub(crate) const TWO: Expr = Expr(2);

impl Store {
    pub(crate) fn new() -> Self {
        let mut store = Self {
            nodes: Vec::with_capacity(ROOM),
            values: Vec::with_capacity(ROOM),
            masks: Vec::with_capacity(ROOM),
            traits: Vec::with_capacity(ROOM),
            visited: Vec::with_capacity(ROOM),
            syntax: FxHashMap::with_capacity_and_hasher(ROOM, FxBuildHasher),
            by_value: FxHashMap::with_capacity_and_hasher(ROOM, FxBuildHasher),
            ..Self::default()
        };
        for (i, expected) in [ZERO, ONE, TWO].into_iter().enumerate() {
            let made = store.number(number::integer(i as i64));
            debug_assert_eq!(made, expected);
        }
        store
    }

    pub(crate) fn node(&self, e: Expr) -> Node {
        self.nodes[e.index()]
    }

    pub(crate) fn number(&mut self, value: Rational) -> Expr {
        let key = Exact(value);
        if let Some(&n) = self.by_number.get(&key) {
            return self.intern(Node::Number(n));
        }
        let n = self.numbers.len() as u32;
        self.doubles.push(number::to_f64(&key.0));
        self.residues.push(field::residue(&key.0));
        self.numbers.push(key.0.clone());
        self.by_number.insert(key, n);
        self.intern(Node::Number(n))
    }

    pub(crate) fn symbol(&mut self, symbol: Symbol) -> Expr {
        if let Some(&s) = self.by_symbol.get(&symbol) {
            return self.symbol_nodes[s as usize];
        }
        let s = self.symbols.len() as u32;
        self.by_symbol.insert(symbol.clone(), s);
        self.symbols.push(symbol);
        let e = self.push(Node::Symbol(s));
        self.symbol_nodes.push(e);
        e
    }

    pub(crate) fn exact(&self, e: Expr) -> Option<&Rational> {
        match self.node(e) {
            Node::Number(n) => Some(&self.numbers[n as usize]),
            _ => None,
        }
    }

    pub(crate) fn is_number(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_))
    }

    /// The exponent of a power that is worth writing out.
    pub(crate) fn small_integer(&self, e: Expr) -> Option<i64> {
        use num_traits::ToPrimitive;
        let n = self.exact(e).filter(|n| n.is_integer())?;
        n.numer().to_i64().filter(|n| n.abs() < 1 << 30)
    }

    /// The one node for this operation on these operands.
    pub(crate) fn intern(&mut self, node: Node) -> Expr {
        if let Some(found) = self.find(node) {
            return found;
        }
        if self.merging && !matches!(node, Node::Number(_) | Node::Memory(..)) {
            return self.merge(node);
        }
        self.push(node)
    }

    fn find(&self, node: Node) -> Option<Expr> {
        let swapped = match node {
            Node::Add(a, b) => Node::Add(b, a),
            Node::Mul(a, b) => Node::Mul(b, a),
            _ => return self.syntax.get(&node).copied(),
        };
        self.syntax.get(&node).or_else(|| self.syntax.get(&swapped)).copied()
    }

    /// A derived node: one of the same value serves if it is as well behaved; a constant becomes its value.
    fn merge(&mut self, node: Node) -> Expr {
        let v = value(self, node);
        let traits = self.traits_of(node);
        let mask = self.mask_of(node);
        // NOTE: a symbol on which a value does not depend would still be asked for when it is computed.
        let fits = |s: &Self, e: Expr| {
            let known = s.traits[e.index()];
            let sound = known.total
                || (known.hazards != NO_HAZARDS
                    && s.hazard_sets.are_among(known.hazards, traits.hazards));
            s.node(e) == node || (sound && s.masks[e.index()] & !mask == 0)
        };
        if let Some(&e) = self.by_value.get(&v)
            && fits(self, e)
        {
            self.syntax.insert(node, e);
            return e;
        }
        let opposite = v.map(field::neg);
        // NOTE: the negative of a difference is a difference, a sum, or a common factor times one: it costs nothing, and one made from the other would go in a circle.
        let both_differences = |s: &Self, e: Expr| {
            let node = matches!(node, Node::Add(..) | Node::Sub(..) | Node::Mul(..));
            node && matches!(s.node(e), Node::Sub(..))
        };
        if !matches!(node, Node::Neg(_))
            && let Some(&e) = self.by_value.get(&opposite)
            && fits(self, e)
            && !both_differences(self, e)
        {
            let e = self.neg(e);
            self.syntax.insert(node, e);
            return e;
        }
        if v[0] == v[1] && traits.varies {
            self.merging = false;
            let made = self.push_with(node, v, traits);
            let constant = self.zeroed(made);
            self.merging = true;
            let sound = |s: &Self, c: Expr| {
                let found = s.traits[c.index()];
                found.total
                    || (found.hazards != NO_HAZARDS
                        && s.hazard_sets.are_among(found.hazards, traits.hazards))
            };
            if let Some(c) = constant.filter(|&c| sound(self, c)) {
                self.by_value.insert(v, c);
                self.syntax.insert(node, c);
                return c;
            }
            return made;
        }
        self.push_with(node, v, traits)
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
            let varies = self.traits[x.index()].varies;
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
        let (v, traits) = (value(self, node), self.traits_of(node));
        self.push_with(node, v, traits)
    }

    fn push_with(&mut self, node: Node, v: Value, traits: Traits) -> Expr {
        let e =
            Expr(u32::try_from(self.nodes.len()).expect("fewer than 2³² nodes fit in memory"));
        let mask = self.mask_of(node);
        self.nodes.push(node);
        self.values.push(v);
        self.masks.push(mask);
        self.traits.push(traits);
        self.visited.push(0);
        self.syntax.insert(node, e);
        let better = |s: &Self, old: Expr| {
            let (known, other) = (s.traits[old.index()], s.masks[old.index()]);
            let no_worse = traits.total
                || (traits.hazards != NO_HAZARDS
                    && s.hazard_sets.are_among(traits.hazards, known.hazards));
            let fewer = (!known.total && (traits.total || traits.hazards != known.hazards))
                || mask != other;
            no_worse && mask & !other == 0 && fewer
        };
        if self.by_value.get(&v).is_none_or(|&old| better(self, old)) {
            self.by_value.insert(v, e);
        }
        e
    }

    fn mask_of(&self, node: Node) -> u128 {
        match node {
            Node::Symbol(s) => 1 << (s % u128::BITS),
            _ => node.operands().fold(0, |m, o| m | self.masks[o.index()]),
        }
    }

    fn traits_of(&mut self, node: Node) -> Traits {
        let of = |e: Expr| self.traits[e.index()];
        let mut t =
            Traits { varies: false, total: true, hazards: NO_HAZARDS, remembers: false };
        for o in node.operands() {
            t.varies |= of(o).varies;
            t.total &= of(o).total;
            t.remembers |= of(o).remembers;
        }
        match node {
            Node::Symbol(s) => t.varies = self.symbols[s as usize].role != Role::Parameter,
            Node::Div(_, b) => t.total &= self.is_number(b),
            Node::Pow(_, b) => t.total &= self.small_integer(b).is_some_and(|n| n >= 0),
            Node::Unary(f, _) => t.total &= f.is_entire(),
            Node::Memory(..) => {
                t.remembers = true;
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
            | Node::Table { .. } => t.total = false,
            _ => {}
        }
        t.hazards = self.hazards_of(node);
        t
    }

    /// The nodes that the roots need, operands first.
    pub(crate) fn live(&mut self, roots: &[Expr]) -> Vec<Expr> {
        self.live_with(roots, u128::MAX)
    }

    /// Only those that may contain a symbol of the mask (or, with all bits set, every one).
    pub(crate) fn live_with(&mut self, roots: &[Expr], mask: u128) -> Vec<Expr> {
        self.visit += 1;
        let wanted = |s: &Self, e: Expr| mask == u128::MAX || s.masks[e.index()] & mask != 0;
        let (mut stack, mut found) = (roots.to_vec(), Vec::new());
        let (mut first, mut last) = (usize::MAX, 0);
        while let Some(e) = stack.pop() {
            if self.visited[e.index()] == self.visit || !wanted(self, e) {
                continue;
            }
            self.visited[e.index()] = self.visit;
            (first, last) = (first.min(e.index()), last.max(e.index()));
            found.push(e);
            stack.extend(self.node(e).operands());
        }
        // Where they lie close together, walking over them takes less time than sorting.
        if found.len() > 4 && last - first < 8 * found.len() {
            let marks = self.visited[first..=last].iter().enumerate();
            let marked = marks.filter(|(_, mark)| **mark == self.visit);
            let count = found.len();
            found.clear();
            found.extend(marked.map(|(i, _)| Expr((first + i) as u32)));
            debug_assert_eq!(found.len(), count);
        } else {
            found.sort_unstable();
        }
        found
    }
}
