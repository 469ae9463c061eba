//! Finds families of like terms in a sum: terms of one shape whose operands differ.
//!
//! The sum is taken apart at its additions, as far as they serve this sum alone. What only one term uses belongs to its
//! shape; symbols, and what several terms share, are its operands. Terms of equal shape form a [`Family`] if there are
//! at least [`LEAST_ROWS`] of them. Terms with velocities stay as they are: they make the mass matrix, which is wanted
//! entry by entry. `long_sum.rs` does the same with the sums of a text while they are read.

mod alike;

use rustc_hash::FxHashMap;
use std::cell::Cell;

use crate::graph::Graph;
use crate::graph::family::Family;
use crate::graph::node::{Expr, Node, Role};
use crate::graph::store::{ONE, Store, ZERO};

/// How many like terms make a family: below, straight-line code is as fast.
pub(crate) const LEAST_ROWS: usize = 256;
/// How many operations a term must have for that.
const LEAST_OPERATIONS: usize = 3;
/// The longest shape that is looked at, in tokens.
const LONGEST: usize = 400;

/// A word of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token {
    /// An operation, with zeros as operands; those follow.
    Operation(Node),
    /// An operation of this shape that was met before.
    Again(u32),
    /// An operand, numbered in the order in which they are met.
    Operand(u32),
    /// A number, which may be another one in another row.
    Number,
    /// This very node.
    Fixed(Expr),
}

/// Terms of one shape.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) coefficient: Expr,
    operations: usize,
    roots: Vec<Expr>,
    /// Operands, then numbers, row after row.
    columns: usize,
    entries: Vec<Expr>,
}

impl Group {
    /// Whether it is a family with at least so many rows.
    pub(crate) fn is_family(&self, least: usize) -> bool {
        self.roots.len() >= least && self.operations >= LEAST_OPERATIONS && self.columns > 0
    }

    /// An example of its terms.
    pub(crate) fn first(&self) -> Expr {
        self.roots[0]
    }
}

/// A sum taken apart.
pub(crate) struct Gathering {
    /// With their coefficients.
    pub(crate) terms: Vec<(Expr, Expr)>,
    /// By term, [`UNSEEN`] if it is in none.
    group_of: Vec<u32>,
    pub(crate) groups: Vec<Group>,
    known: Ownership,
}

/// Rows over one term.
#[derive(Clone, Debug)]
pub(crate) struct FamilyRows {
    /// Over placeholders.
    pub(crate) term: Expr,
    pub(crate) coefficient: Expr,
    /// How many operands a row has.
    pub(crate) columns: usize,
    /// The operands, row after row.
    pub(crate) entries: Vec<Expr>,
}

impl FamilyRows {
    pub(crate) fn rows(&self) -> usize {
        self.entries.len() / self.columns
    }
}

/// How one term is read.
#[derive(Debug, Default)]
struct Shape {
    tokens: Vec<Token>,
    operations: Vec<Expr>,
    operands: Vec<Expr>,
    numbers: Vec<Expr>,
}

/// Not yet used, and used by several terms or by none.
const UNSEEN: u32 = u32::MAX;
const SHARED: u32 = u32::MAX - 1;

/// What is known of the nodes of the sum, by their index in the graph.
struct Ownership {
    live: Vec<Expr>,
    uses: Vec<u32>,
    /// The term to whose shape a node belongs.
    owner: Vec<u32>,
    /// Contains a velocity, a multiplier or memory.
    excluded: Vec<bool>,
    /// How many summands it has, if it is taken apart.
    summands: Vec<u32>,
}

impl Graph {
    /// The same sum with its large families of like terms gathered as [`Node::Family`]; as it is if there are none.
    pub fn gathered(&self, sum: Expr) -> Expr {
        let mut store = self.store.borrow_mut();
        if let Some(&known) = store.gathered.get(&sum) {
            return known;
        }
        let made = store.gather(sum);
        store.gathered.insert(sum, made);
        store.gathered.insert(made, made);
        made
    }
}

impl Store {
    fn gather(&mut self, sum: Expr) -> Expr {
        let sum = self.joined(sum);
        let Some(gathering) = self.gathering(sum, LEAST_ROWS) else { return sum };
        let is_family = |g: &Group| g.is_family(LEAST_ROWS);
        let mut made = self.other_terms(&gathering, &is_family);
        for group in gathering.groups.iter().filter(|g| is_family(g)) {
            let rows = self.family_rows(group, &gathering);
            let part = self.family(&rows);
            let scaled = self.mul(rows.coefficient, part);
            made = self.add(made, scaled);
        }
        made
    }

    /// The same sum, where families over one term, as several statements of a text make them, are one.
    fn joined(&mut self, sum: Expr) -> Expr {
        if self.families.len() < 2 {
            return sum;
        }
        let known = Ownership::new(self, sum);
        let mut others = Vec::new();
        let mut families: Vec<(Vec<Expr>, FamilyRows)> = Vec::new();
        let mut by_term: FxHashMap<(Expr, Expr), usize> = FxHashMap::default();
        for (e, c) in self.terms(sum, &known) {
            let (part, coefficient) = match self.node(e) {
                Node::Mul(k, x) | Node::Mul(x, k) if !self.facts[k.index()].varies => {
                    (x, self.mul(c, k))
                }
                Node::Div(x, k) if !self.facts[k.index()].varies => (x, self.div(c, k)),
                _ => (e, c),
            };
            let Some(rows) = self.rows_of(part, coefficient) else {
                others.push((e, c));
                continue;
            };
            let next = families.len();
            let at = *by_term.entry((rows.term, coefficient)).or_insert(next);
            if at == next {
                families.push((vec![part], rows));
            } else {
                families[at].0.push(part);
                families[at].1.entries.extend(rows.entries);
            }
        }
        if families.iter().all(|(parts, _)| parts.len() == 1) {
            return sum;
        }
        let mut made = ZERO;
        let joined = families.into_iter().map(|(parts, rows)| match parts[..] {
            [alone] => (alone, rows.coefficient),
            _ => (self.family(&rows), rows.coefficient),
        });
        let joined: Vec<(Expr, Expr)> = joined.collect();
        for (e, c) in others.into_iter().chain(joined) {
            let scaled = self.mul(c, e);
            made = self.add(made, scaled);
        }
        made
    }

    /// The rows of a family that is one sum over one term.
    fn rows_of(&self, e: Expr, coefficient: Expr) -> Option<FamilyRows> {
        let Node::Family { family, list, .. } = self.node(e) else { return None };
        let family = &self.families[family as usize];
        let [term] = family.terms[..] else { return None };
        let list = self.entries(list);
        let entry = |&o: &u32| list.get(o as usize).copied().unwrap_or(ZERO);
        (family.parts == 1).then(|| FamilyRows {
            term,
            coefficient,
            columns: family.arguments.len(),
            entries: family.operands.iter().map(entry).collect(),
        })
    }

    /// The sum taken apart, if there is a family of at least so many terms in it.
    pub(crate) fn gathering(&mut self, sum: Expr, least: usize) -> Option<Gathering> {
        let mut known = Ownership::new(self, sum);
        if (known.summands[sum.index()] as usize) < least {
            return None;
        }
        let terms = self.terms(sum, &known);
        known.own(self, &terms);
        let is_row = |e: Expr| {
            self.facts[e.index()].varies
                && !known.excluded[e.index()]
                && known.uses[e.index()] == 1
        };
        let (groups, group_of) = self.grouped(&terms, &known, &is_row);
        let is_any = groups.iter().any(|g| g.is_family(least));
        is_any.then_some(Gathering { terms, group_of, groups, known })
    }

    /// Those terms that may be rows by their shapes, and the group of each term.
    fn grouped(
        &self,
        terms: &[(Expr, Expr)],
        known: &Ownership,
        is_row: &dyn Fn(Expr) -> bool,
    ) -> (Vec<Group>, Vec<u32>) {
        let mut groups: Vec<Group> = Vec::new();
        let mut by_shape: FxHashMap<Vec<Token>, u32> = FxHashMap::default();
        let mut group_of = vec![UNSEEN; terms.len()];
        let mut shape = Shape::default();
        for (t, &(term, coefficient)) in terms.iter().enumerate() {
            if !is_row(term) || !shape.read(self, term, t as u32, known, coefficient) {
                continue;
            }
            let next = groups.len() as u32;
            let group = match by_shape.get(&shape.tokens[..]) {
                Some(&group) => group,
                None => {
                    by_shape.insert(shape.tokens.clone(), next);
                    groups.push(Group {
                        coefficient,
                        operations: shape.operations.len(),
                        roots: Vec::new(),
                        columns: shape.operands.len() + shape.numbers.len(),
                        entries: Vec::new(),
                    });
                    next
                }
            };
            group_of[t] = group;
            let group = &mut groups[group as usize];
            group.roots.push(term);
            group.entries.extend(shape.operands.iter().chain(&shape.numbers));
        }
        (groups, group_of)
    }

    /// The sum of the terms that belong to no such group.
    pub(crate) fn other_terms(
        &mut self,
        gathering: &Gathering,
        is_family: &dyn Fn(&Group) -> bool,
    ) -> Expr {
        let Gathering { terms, group_of, groups, .. } = gathering;
        let mut made = ZERO;
        for (&(term, coefficient), &group) in terms.iter().zip(group_of) {
            if group == UNSEEN || !is_family(&groups[group as usize]) {
                let scaled = self.mul(coefficient, term);
                made = self.add(made, scaled);
            }
        }
        made
    }

    /// The summands with their coefficients, from left to right.
    fn terms(&mut self, sum: Expr, known: &Ownership) -> Vec<(Expr, Expr)> {
        let mut terms = Vec::new();
        let mut stack = vec![(sum, ONE)];
        while let Some((e, c)) = stack.pop() {
            let is_own = e == sum || known.uses[e.index()] == 1;
            let is_long = |x: Expr| known.summands[x.index()] as usize >= LEAST_ROWS;
            match self.node(e) {
                Node::Add(a, b) if is_own => stack.extend([(b, c), (a, c)]),
                Node::Sub(a, b) if is_own => {
                    let opposite = self.neg(c);
                    stack.extend([(b, opposite), (a, c)]);
                }
                Node::Neg(a) if is_own => stack.push((a, self.neg(c))),
                Node::Mul(k, x) if is_own && is_long(e) => {
                    let (k, x) = if self.facts[k.index()].varies { (x, k) } else { (k, x) };
                    stack.push((x, self.mul(c, k)));
                }
                Node::Div(x, k) if is_own && is_long(e) => stack.push((x, self.div(c, k))),
                _ => terms.push((e, c)),
            }
        }
        terms
    }

    /// The rows of a group over its term.
    pub(crate) fn family_rows(&mut self, group: &Group, gathering: &Gathering) -> FamilyRows {
        self.rows_over_term(group, &gathering.known)
    }

    fn rows_over_term(&mut self, group: &Group, known: &Ownership) -> FamilyRows {
        let columns = group.columns;
        let column = |c: usize| group.entries.iter().skip(c).step_by(columns);
        // NOTE: a number that is the same in all rows stays in the term.
        let fixed: Vec<bool> = (0..columns)
            .map(|c| {
                let first = group.entries[c];
                self.is_leaf_number(first) && column(c).all(|&e| e == first)
            })
            .collect();
        let given: Vec<usize> = (0..columns).filter(|&c| !fixed[c]).collect();
        let mut images = group.entries[..columns].to_vec();
        given.iter().enumerate().for_each(|(a, &c)| images[c] = self.placeholder(a));
        let rows = group.entries.chunks_exact(columns);
        FamilyRows {
            term: self.template(group.roots[0], known, &images),
            coefficient: group.coefficient,
            columns: given.len(),
            entries: rows.flat_map(|row| given.iter().map(|&c| row[c])).collect(),
        }
    }

    /// The sum over rows.
    pub(crate) fn family(&mut self, rows: &FamilyRows) -> Expr {
        let (family, list) = self.family_with(rows, vec![0; rows.rows()], 1);
        self.part(family, 0, list)
    }

    /// The family of these rows with the parts to which they are added, and its list.
    fn family_with(
        &mut self,
        rows: &FamilyRows,
        targets: Vec<u32>,
        parts: usize,
    ) -> (u32, Expr) {
        let end = rows.entries.iter().map(|e| e.index() + 1).max().unwrap_or(0);
        let mut position = vec![UNSEEN; end];
        rows.entries.iter().for_each(|e| position[e.index()] = 0);
        let mut list = Vec::new();
        for (i, place) in position.iter_mut().enumerate().filter(|(_, p)| **p != UNSEEN) {
            *place = list.len() as u32;
            list.push(Expr(i as u32));
        }
        let arguments = (0..rows.columns).map(|a| self.placeholder(a)).collect();
        let family = self.add_family(Family {
            arguments,
            terms: vec![rows.term],
            operands: rows.entries.iter().map(|e| position[e.index()]).collect(),
            targets,
            parts,
        });
        (family, self.list(&list))
    }

    fn is_leaf_number(&self, e: Expr) -> bool {
        matches!(self.node(e), Node::Number(_) | Node::Pi)
    }

    /// A term over other operands and numbers, in the order of its shape.
    fn template(&mut self, root: Expr, known: &Ownership, images: &[Expr]) -> Expr {
        let mut shape = Shape::default();
        let owner = known.owner[root.index()];
        shape.read(self, root, owner, known, ONE);
        let operands = shape.operands.clone();
        let mut numbers = operands.len();
        let mut made: FxHashMap<Expr, Expr> = FxHashMap::default();
        // NOTE: operations are listed before their operands, and numbers in the order of their operations.
        let mut of_numbers: FxHashMap<(Expr, usize), Expr> = FxHashMap::default();
        for &e in &shape.operations {
            for (i, o) in self.node(e).operands().enumerate() {
                if self.is_leaf_number(o) && !is_exponent(self.node(e), i) {
                    of_numbers.insert((e, i), images[numbers]);
                    numbers += 1;
                }
            }
        }
        let mut order = shape.operations.clone();
        order.sort_unstable();
        order.dedup();
        for e in order {
            let node = self.node(e);
            let with: Vec<Expr> = node
                .operands()
                .enumerate()
                .map(|(i, o)| {
                    let number = of_numbers.get(&(e, i)).copied();
                    let operation = made.get(&o).copied();
                    let operand = operands.iter().position(|&x| x == o).map(|p| images[p]);
                    number.or(operation).or(operand).unwrap_or(o)
                })
                .collect();
            let next = Cell::new(0);
            let image = self.rebuild(node, |_| {
                next.set(next.get() + 1);
                with[next.get() - 1]
            });
            made.insert(e, image);
        }
        made[&root]
    }
}

/// Whether the operand is the exponent of a power: a number there belongs to the shape.
fn is_exponent(node: Node, operand: usize) -> bool {
    matches!(node, Node::Pow(..)) && operand == 1
}

impl Ownership {
    fn new(store: &mut Store, sum: Expr) -> Self {
        let live = store.live(&[sum]);
        let count = sum.index() + 1;
        let mut known = Self {
            uses: vec![0; count],
            owner: vec![UNSEEN; count],
            excluded: vec![false; count],
            summands: vec![1; count],
            live,
        };
        for &e in &known.live {
            let node = store.node(e);
            let i = e.index();
            known.excluded[i] = match node {
                Node::Symbol(s) => match store.symbols[s as usize].role {
                    Role::Coordinate { order } => order > 0,
                    Role::Multiplier { .. } => true,
                    Role::Time | Role::Parameter | Role::Free => false,
                },
                Node::Memory(..) => true,
                _ => node.operands().any(|o| known.excluded[o.index()]),
            };
            node.operands().for_each(|o| known.uses[o.index()] += 1);
            let of = |e: Expr| known.summands[e.index()];
            let varies = |e: Expr| store.facts[e.index()].varies;
            known.summands[i] = match node {
                Node::Add(a, b) | Node::Sub(a, b) => of(a).saturating_add(of(b)),
                Node::Neg(a) => of(a),
                Node::Mul(k, x) if !varies(k) => of(x),
                Node::Mul(x, k) | Node::Div(x, k) if !varies(k) => of(x),
                _ => 1,
            };
        }
        known
    }

    /// Gives each node to the term that alone uses it.
    fn own(&mut self, store: &Store, terms: &[(Expr, Expr)]) {
        for (t, (term, _)) in terms.iter().enumerate() {
            self.owner[term.index()] = t as u32;
        }
        let is_term = |e: Expr, owner: &[u32]| {
            terms.get(owner[e.index()] as usize).is_some_and(|t| t.0 == e)
        };
        for &e in self.live.iter().rev() {
            let own = match self.owner[e.index()] {
                UNSEEN => SHARED,
                own => own,
            };
            for o in store.node(e).operands() {
                if is_term(o, &self.owner) {
                    continue;
                }
                let owner = &mut self.owner[o.index()];
                *owner = if *owner == UNSEEN || *owner == own { own } else { SHARED };
            }
        }
    }
}

impl Shape {
    /// Reads a term; false if it is too long or has a family inside.
    fn read(
        &mut self,
        store: &Store,
        term: Expr,
        owner: u32,
        known: &Ownership,
        coefficient: Expr,
    ) -> bool {
        self.tokens.clear();
        self.operations.clear();
        self.operands.clear();
        self.numbers.clear();
        self.tokens.push(Token::Fixed(coefficient));
        let mut next = 0;
        let mut queue = vec![term];
        // Breadth first, so that operations come in the order in which their numbers are listed.
        while let Some(&e) = queue.get(next) {
            next += 1;
            let node = store.node(e);
            if matches!(node, Node::List(..) | Node::Family { .. }) {
                return false;
            }
            let token = Token::Operation(bare(node));
            self.tokens.push(token);
            self.operations.push(e);
            for (i, o) in node.operands().enumerate() {
                let inner = store.node(o);
                let token = if store.is_leaf_number(o) && is_exponent(node, i) {
                    Token::Fixed(o)
                } else if store.is_leaf_number(o) {
                    self.numbers.push(o);
                    Token::Number
                } else if known.owner[o.index()] == owner && !matches!(inner, Node::Symbol(_)) {
                    match queue.iter().position(|&x| x == o) {
                        Some(p) => Token::Again(p as u32),
                        None => {
                            queue.push(o);
                            Token::Again(queue.len() as u32 - 1)
                        }
                    }
                } else {
                    let place = self.operands.iter().position(|&x| x == o);
                    Token::Operand(place.unwrap_or_else(|| {
                        self.operands.push(o);
                        self.operands.len() - 1
                    }) as u32)
                };
                self.tokens.push(token);
            }
            if self.tokens.len() > LONGEST {
                return false;
            }
        }
        true
    }
}

/// The operation without its operands.
fn bare(node: Node) -> Node {
    match node {
        Node::Number(_) | Node::Pi | Node::Symbol(_) | Node::List(..) | Node::Family { .. } => {
            node
        }
        Node::Neg(_) => Node::Neg(ZERO),
        Node::Add(..) => Node::Add(ZERO, ZERO),
        Node::Sub(..) => Node::Sub(ZERO, ZERO),
        Node::Mul(..) => Node::Mul(ZERO, ZERO),
        Node::Div(..) => Node::Div(ZERO, ZERO),
        Node::Pow(..) => Node::Pow(ZERO, ZERO),
        Node::Unary(f, _) => Node::Unary(f, ZERO),
        Node::Binary(f, ..) => Node::Binary(f, ZERO, ZERO),
        Node::MittagLeffler(..) => Node::MittagLeffler(ZERO, ZERO, ZERO),
        Node::If(..) => Node::If(ZERO, ZERO, ZERO),
        Node::Compare(r, ..) => Node::Compare(r, ZERO, ZERO),
        Node::Not(_) => Node::Not(ZERO),
        Node::And(..) => Node::And(ZERO, ZERO),
        Node::Or(..) => Node::Or(ZERO, ZERO),
        Node::Table { table, order, .. } => Node::Table { table, order, argument: ZERO },
        Node::Memory(kind, ..) => Node::Memory(kind, ZERO, ZERO),
    }
}
