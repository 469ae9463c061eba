//! The graph of all expressions of one model, and its constructors.
//!
//! The graph is shared by reference: constructors take `&self`, so that formulas nest, and equal expressions
//! get equal handles.

mod build;
pub(crate) mod domain;
pub(crate) mod evaluate;
pub(crate) mod family;
mod family_parts;
pub(crate) mod field;
mod gather;
pub(crate) mod long_sum;
mod lookup;
mod marks;
pub(crate) mod node;
pub(crate) mod node_map;
pub mod number;
mod numbers;
pub(crate) mod pairs;
pub(crate) mod residue;
mod shared;
pub(crate) mod store;
pub(crate) mod substitute;

use std::cell::RefCell;
use std::sync::Arc;

use crate::graph::marks::Marks;
use crate::graph::node::{Expr, Memory, Node, Relation, Role, Symbol};
use crate::graph::number::Rational;
use crate::graph::shared::SharedStore;
use crate::graph::store::{ONE, Store, ZERO};
use crate::math::table::Table;
use crate::math::{Binary, Unary};
use crate::zero::ValueRoom;

/// All expressions of one model, hash-consed.
///
/// ```
/// use pfaff_expr::{Graph, Role};
/// let g = Graph::new();
/// let x = g.symbol("x", Role::Coordinate { order: 0 });
/// let square = g.mul(x, x);
/// assert_eq!(square, g.pow(x, g.integer(2)));
/// assert_eq!(g.derivative(square, x), g.mul(g.integer(2), x));
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    pub(crate) store: SharedStore,
    /// Of walks that change nothing.
    marks: RefCell<Marks>,
    /// Of zero tests.
    pub(crate) room: RefCell<ValueRoom>,
}

/// The expressions of a graph, as they stand: shared between threads and never changed.
///
/// What is derived from them grows in a fork, so that no derivation can be seen by another one.
///
/// ```
/// use pfaff_expr::{Graph, Role};
/// let g = Graph::new();
/// let x = g.symbol("x", Role::Coordinate { order: 0 });
/// let frozen = g.freeze();
/// let (a, b) = (frozen.fork(), frozen.fork());
/// let square = a.mul(x, x);
/// assert_eq!(a.len(), b.len() + 1);
/// assert_eq!(b.mul(x, x), square);
/// ```
#[derive(Clone, Debug)]
pub struct FrozenGraph {
    store: Arc<Store>,
}

// What several threads may hold together.
const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<FrozenGraph>();
};

impl FrozenGraph {
    /// A graph of one's own that begins with these expressions; their handles are valid there.
    pub fn fork(&self) -> Graph {
        Graph::of(SharedStore::shared(Arc::clone(&self.store)))
    }
}

impl Default for Graph {
    fn default() -> Self {
        Self::new()
    }
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty graph with room for so many nodes.
    pub fn with_capacity(nodes: usize) -> Self {
        Self::of(SharedStore::new(Store::new(nodes)))
    }

    fn of(store: SharedStore) -> Self {
        Self { store, marks: RefCell::default(), room: RefCell::default() }
    }

    /// The graph as it stands, for good.
    pub fn freeze(self) -> FrozenGraph {
        FrozenGraph { store: self.store.freeze() }
    }

    /// The node behind a handle.
    #[inline]
    pub fn node(&self, e: Expr) -> Node {
        self.store.borrow().node(e)
    }

    /// How many nodes the graph holds.
    pub fn len(&self) -> usize {
        self.store.borrow().nodes.len()
    }

    /// A graph is never empty: it knows its small numbers.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// An exact number.
    pub fn number(&self, value: Rational) -> Expr {
        self.store.borrow_mut().number(value)
    }

    /// A whole number.
    pub fn integer(&self, value: i64) -> Expr {
        self.store.borrow_mut().integer(value)
    }

    /// A fraction.
    pub fn fraction(&self, numerator: i64, denominator: i64) -> Expr {
        self.store.borrow_mut().fraction(numerator, denominator)
    }

    /// 0
    pub fn zero(&self) -> Expr {
        ZERO
    }

    /// 1
    pub fn one(&self) -> Expr {
        ONE
    }

    /// $\pi$
    pub fn pi(&self) -> Expr {
        self.store.borrow_mut().intern(Node::Pi)
    }

    /// The symbol of this name and role; the same one each time.
    pub fn symbol(&self, name: &str, role: Role) -> Expr {
        self.store.borrow_mut().symbol(Symbol { name: name.into(), role })
    }

    /// Given data at an argument.
    pub fn table(&self, table: Table, argument: Expr) -> Expr {
        self.table_derivative(table, 0, argument)
    }

    /// The `order`-th derivative of given data at an argument.
    pub fn table_derivative(&self, table: Table, order: u32, argument: Expr) -> Expr {
        let mut store = self.store.borrow_mut();
        let known = store.tables.iter().position(|t| *t == table);
        let index = known.unwrap_or_else(|| {
            store.tables.push(table);
            store.tables.len() - 1
        });
        store.intern(Node::Table { table: index as u32, order, argument })
    }

    /// A memory operator: `second` is the order, or the kernel of [`Memory::Kernel`], and zero for [`Memory::Mean`].
    pub fn memory(&self, kind: Memory, operand: Expr, second: Expr) -> Expr {
        self.store.borrow_mut().intern(Node::Memory(kind, operand, second))
    }

    /// The exact number, if the expression is one.
    pub fn number_of(&self, e: Expr) -> Option<Rational> {
        self.store.borrow().exact(e).cloned()
    }

    /// The number as a double, if the expression is one.
    pub fn double_of(&self, e: Expr) -> Option<f64> {
        let store = self.store.borrow();
        match store.node(e) {
            Node::Number(n) => Some(store.numbers.double(n)),
            Node::Pi => Some(std::f64::consts::PI),
            _ => None,
        }
    }

    /// The whole number, if the expression is one of less than 2³⁰ in size.
    pub fn whole_of(&self, e: Expr) -> Option<i64> {
        self.store.borrow().small_integer(e)
    }

    /// The symbol, if the expression is one.
    pub fn symbol_of(&self, e: Expr) -> Option<Symbol> {
        let store = self.store.borrow();
        match store.node(e) {
            Node::Symbol(s) => Some(Symbol::clone(&store.symbols[s as usize])),
            _ => None,
        }
    }

    /// The symbol, if the expression is one, shared with the graph.
    pub fn shared_symbol(&self, e: Expr) -> Option<Arc<Symbol>> {
        let store = self.store.borrow();
        match store.node(e) {
            Node::Symbol(s) => Some(Arc::clone(&store.symbols[s as usize])),
            _ => None,
        }
    }

    /// The data behind a [`Node::Table`].
    pub fn table_of(&self, index: u32) -> Table {
        self.store.borrow().tables[index as usize].clone()
    }

    /// $-a$
    pub fn neg(&self, a: Expr) -> Expr {
        self.store.borrow_mut().neg(a)
    }

    /// `if(condition, a, b)`; a constant condition takes its branch.
    pub fn choose(&self, condition: Expr, a: Expr, b: Expr) -> Expr {
        self.store.borrow_mut().choose(condition, a, b)
    }

    /// A comparison.
    pub fn compare(&self, relation: Relation, a: Expr, b: Expr) -> Expr {
        self.store.borrow_mut().compare(relation, a, b)
    }

    /// `not a`
    pub fn logic_not(&self, a: Expr) -> Expr {
        self.store.borrow_mut().logic_not(a)
    }

    /// `a and b`
    pub fn logic_and(&self, a: Expr, b: Expr) -> Expr {
        self.store.borrow_mut().logic_and(a, b)
    }

    /// `a or b`
    pub fn logic_or(&self, a: Expr, b: Expr) -> Expr {
        self.store.borrow_mut().logic_or(a, b)
    }

    /// A function of one argument.
    pub fn unary(&self, f: Unary, a: Expr) -> Expr {
        self.store.borrow_mut().unary(f, a)
    }

    /// A function of two arguments.
    pub fn binary(&self, f: Binary, a: Expr, b: Expr) -> Expr {
        self.store.borrow_mut().binary(f, a, b)
    }

    /// $E_{\alpha,\beta}(z)$
    pub fn mittag_leffler(&self, alpha: Expr, beta: Expr, z: Expr) -> Expr {
        self.store.borrow_mut().intern(Node::MittagLeffler(alpha, beta, z))
    }

    /// $\sqrt a$
    pub fn sqrt(&self, a: Expr) -> Expr {
        self.unary(Unary::Sqrt, a)
    }

    /// $\sin a$
    pub fn sin(&self, a: Expr) -> Expr {
        self.unary(Unary::Sin, a)
    }

    /// $\cos a$
    pub fn cos(&self, a: Expr) -> Expr {
        self.unary(Unary::Cos, a)
    }

    /// The terms added from the left; 0 if there are none.
    pub fn sum(&self, terms: impl IntoIterator<Item = Expr>) -> Expr {
        terms.into_iter().fold(ZERO, |s, t| self.add(s, t))
    }

    /// $\sum_i a_i b_i$
    pub fn dot(&self, a: &[Expr], b: &[Expr]) -> Expr {
        let pairs = a.iter().zip(b).filter(|&(&x, &y)| x != ZERO && y != ZERO);
        self.sum(pairs.map(|(&x, &y)| self.mul(x, y)))
    }

    /// Whether the expression contains a symbol that is no parameter.
    pub fn varies(&self, e: Expr) -> bool {
        self.store.borrow().facts[e.index()].varies
    }

    /// Whether the expression is constant during a run: no symbol but parameters, or the same value modulo a
    /// prime at two random points.
    ///
    /// A constant in disguise that needs identities beyond rational arithmetic in sines, cosines and
    /// exponentials is missed, never invented.
    pub fn is_constant(&self, e: Expr) -> bool {
        let store = self.store.borrow();
        let [a, b] = store.values[e.index()];
        !store.facts[e.index()].varies || (a == b && !store.facts[e.index()].has_memory)
    }

    /// Whether the expression contains a memory operator.
    pub fn has_memory(&self, e: Expr) -> bool {
        self.store.borrow().facts[e.index()].has_memory
    }

    /// The memory operators of an expression that stand within no other one, in ascending order.
    pub fn outermost_memory(&self, e: Expr) -> Vec<Expr> {
        let (mut pending, mut seen) = (vec![e], Vec::new());
        let mut visited = rustc_hash::FxHashSet::default();
        while let Some(x) = pending.pop() {
            if !self.has_memory(x) || !visited.insert(x) {
                continue;
            }
            match self.node(x) {
                Node::Memory(..) => seen.push(x),
                node => pending.extend(node.operands()),
            }
        }
        seen.sort_unstable();
        seen
    }

    /// The nodes that the roots need, operands first.
    pub fn live(&self, roots: &[Expr]) -> Vec<Expr> {
        self.marks.borrow_mut().live(self.store.borrow().table(), roots)
    }

    /// The nodes that the roots need beyond those that are known, operands first.
    pub fn live_beyond(&self, roots: &[Expr], known: &[Expr]) -> Vec<Expr> {
        self.marks.borrow_mut().live_beyond(self.store.borrow().table(), roots, known)
    }

    /// How many nodes the roots need.
    pub fn size(&self, roots: &[Expr]) -> usize {
        self.marks.borrow_mut().count(self.store.borrow().table(), roots, true)
    }

    /// How many operations the roots need.
    pub fn operations(&self, roots: &[Expr]) -> usize {
        self.marks.borrow_mut().count(self.store.borrow().table(), roots, false)
    }

    /// The symbols in the expressions, oldest first.
    pub fn symbols(&self, roots: &[Expr]) -> Vec<Expr> {
        let live = self.live(roots);
        live.into_iter().filter(|&e| matches!(self.node(e), Node::Symbol(_))).collect()
    }

    /// Whether one of the symbols occurs.
    pub fn contains(&self, e: Expr, symbols: &[Expr]) -> bool {
        let store = self.store.borrow();
        let mask = symbols.iter().fold(0, |m, s| m | store.masks[s.index()]);
        if store.symbols.len() <= u128::BITS as usize || store.masks[e.index()] & mask == 0 {
            return store.masks[e.index()] & mask != 0;
        }
        let live = self.marks.borrow_mut().live_with(store.table(), &[e], mask);
        let is_symbol = |x: &&Expr| matches!(store.node(**x), Node::Symbol(_));
        live.iter().filter(is_symbol).any(|x| symbols.contains(x))
    }

    /// Runs `derive` without merging, inside of what merges: new nodes are made as they are written.
    pub fn as_written<T>(&self, derive: impl FnOnce() -> T) -> T {
        let before = std::mem::replace(&mut self.store.borrow_mut().merging, false);
        let result = derive();
        self.store.borrow_mut().merging = before;
        result
    }

    /// Runs `derive` so that nodes of equal value become one node, and constants their value.
    ///
    /// For derived expressions only: what the user wrote is kept as written.
    pub fn merging<T>(&self, derive: impl FnOnce() -> T) -> T {
        let before = std::mem::replace(&mut self.store.borrow_mut().merging, true);
        let result = derive();
        self.store.borrow_mut().merging = before;
        result
    }
}

macro_rules! binary_constructors {
    ($($(#[$doc:meta])* $name:ident),*) => {
        impl Graph {$(
            $(#[$doc])*
            pub fn $name(&self, a: Expr, b: Expr) -> Expr {
                self.store.borrow_mut().$name(a, b)
            }
        )*}
    };
}
binary_constructors!(
    /// $a + b$
    add,
    /// $a - b$
    sub,
    /// $a b$
    mul,
    /// $a / b$
    div,
    /// $a^b$
    pow
);
