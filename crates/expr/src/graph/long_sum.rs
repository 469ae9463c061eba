//! Long sums of a text, gathered into families of like terms while they are read.
//!
//! ```text
//! terms ──► a piece in the graph ──gather──► rows, and terms that stay; the graph forgets the piece
//! ```
//!
//! A sum over a million pairs would be ten million nodes. Its terms are made as any others, but after every [`PIECE`]
//! nodes like terms are taken out as rows over one term, what remains of the piece is made again in the graph as it
//! was before, and the reading goes on there. What is read elsewhere meanwhile must not be kept: expressions of a
//! piece are void when it is taken.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::gather::{FamilyRows, Gathering, Group, LEAST_ROWS};
use crate::graph::node::{Expr, Node};
use crate::graph::store::{Store, ZERO};
use crate::math::Unary;

/// Nodes of a piece: few enough for the caches of a processor.
const PIECE: usize = 1 << 15;
/// Like terms of a piece that are taken out: other pieces may have more.
const PIECE_ROWS: usize = 2;

/// A sum that is being read.
#[derive(Debug)]
pub struct LongSum {
    /// The graph as it was before the piece; nothing if the terms are not alike, so that they stay where they are.
    before: Option<Box<Store>>,
    families: Vec<FamilyRows>,
    /// By term and coefficient.
    known: FxHashMap<(Expr, Expr), usize>,
    /// The sum of the terms that stay.
    rest: Expr,
}

impl Graph {
    /// Begins a sum that may be long.
    pub fn begin_long_sum(&self) -> LongSum {
        LongSum {
            before: Some(Box::new(self.store.borrow().clone())),
            families: Vec::new(),
            known: FxHashMap::default(),
            rest: ZERO,
        }
    }

    /// The expressions with every family of like terms written out.
    pub fn written_out(&self, outputs: &[Expr]) -> Vec<Expr> {
        let mut store = self.store.borrow_mut();
        let mut made: FxHashMap<Expr, Expr> = FxHashMap::default();
        for e in store.live(outputs) {
            let node = store.node(e);
            if let Node::Family { family, part, list } = node {
                let list = made.get(&list).copied().unwrap_or(list);
                let terms = store.written_part(family, part, list);
                made.insert(e, terms);
            } else if node.operands().any(|o| made.contains_key(&o)) {
                let image = store.rebuild(node, |o| made.get(&o).copied().unwrap_or(o));
                made.insert(e, image);
            }
        }
        outputs.iter().map(|e| made.get(e).copied().unwrap_or(*e)).collect()
    }
}

impl LongSum {
    /// Whether the piece is long enough to be taken.
    pub fn is_due(&self, g: &Graph) -> bool {
        self.before.as_ref().is_some_and(|before| g.len() >= before.nodes.len() + PIECE)
    }

    /// Takes what was added up since the last piece. True if expressions of the piece are void from now on.
    pub fn take(&mut self, g: &Graph, sum: Expr) -> bool {
        let mut store = g.store.borrow_mut();
        self.take_from(&mut store, sum, PIECE_ROWS)
    }

    /// The whole sum, with what was added up since the last piece. Other expressions of that are void if the second
    /// value says so.
    pub fn finish(mut self, g: &Graph, sum: Option<Expr>) -> (Expr, bool) {
        let mut store = g.store.borrow_mut();
        let mut is_void = false;
        if let Some(sum) = sum {
            let least = if self.families.is_empty() { LEAST_ROWS } else { PIECE_ROWS };
            is_void = self.take_from(&mut store, sum, least);
        }
        let mut made = self.rest;
        for rows in &self.families {
            let part = if rows.rows() >= LEAST_ROWS {
                store.family(rows)
            } else {
                let mut term = WrittenTerm::new(&mut store, rows.term, rows.columns);
                let operands = rows.entries.chunks_exact(rows.columns);
                operands.fold(ZERO, |sum, row| {
                    let image = term.with(&mut store, row);
                    store.add(sum, image)
                })
            };
            let scaled = store.mul(rows.coefficient, part);
            made = store.add(made, scaled);
        }
        (made, is_void)
    }

    fn take_from(&mut self, store: &mut Store, sum: Expr, least: usize) -> bool {
        let Some(mut before) = self.before.take() else {
            self.rest = store.add(self.rest, sum);
            return false;
        };
        let is_taken = |group: &Group| group.is_family(least);
        let found = store.gathering(sum, least).filter(|found| {
            found.groups.iter().filter(|g| is_taken(g)).all(|g| store.is_smooth_term(g.first()))
        });
        let moved = found.and_then(|found| moved(store, &mut before, &found, &is_taken));
        let Some(Moved { rest, families }) = moved else {
            // NOTE: the sum goes on without pieces.
            self.rest = store.add(self.rest, sum);
            return false;
        };
        self.rest = before.add(self.rest, rest);
        for rows in families {
            let next = self.families.len();
            let at = *self.known.entry((rows.term, rows.coefficient)).or_insert(next);
            if at == next {
                self.families.push(rows);
            } else {
                self.families[at].entries.extend(rows.entries);
            }
        }
        *store = *before.clone();
        self.before = Some(before);
        true
    }
}

/// The rows and the other terms of a piece in the graph as it was before; `None` if they cannot stand there.
fn moved(
    store: &mut Store,
    before: &mut Store,
    found: &Gathering,
    is_taken: &dyn Fn(&Group) -> bool,
) -> Option<Moved> {
    let rest = store.other_terms(found, is_taken);
    let taken = found.groups.iter().filter(|g| is_taken(g));
    let mut families: Vec<FamilyRows> =
        taken.map(|group| store.family_rows(group, found)).collect();
    let mut roots = vec![rest];
    for rows in &families {
        roots.extend([rows.term, rows.coefficient]);
        roots.extend(&rows.entries);
    }
    let mark = before.nodes.len();
    let mut images = vec![ZERO; store.nodes.len() - mark];
    for e in store.live(&roots).into_iter().filter(|e| e.index() >= mark) {
        let image = |o: Expr| o.index().checked_sub(mark).map_or(o, |i| images[i]);
        let made = match store.node(e) {
            Node::Number(n) => before.number(store.numbers.exact(n).clone()),
            Node::Symbol(s) => before.symbol((*store.symbols[s as usize]).clone()),
            Node::Table { .. } | Node::Family { .. } | Node::List(..) => return None,
            node => before.rebuild(node, image),
        };
        images[e.index() - mark] = made;
    }
    let image = |o: Expr| o.index().checked_sub(mark).map_or(o, |i| images[i]);
    for rows in &mut families {
        rows.term = image(rows.term);
        rows.coefficient = image(rows.coefficient);
        rows.entries.iter_mut().for_each(|e| *e = image(*e));
    }
    Some(Moved { rest: image(rest), families })
}

/// What is left of a piece.
struct Moved {
    rest: Expr,
    families: Vec<FamilyRows>,
}

impl Store {
    /// Whether a term has neither branches nor corners, which are looked for in what is written out.
    fn is_smooth_term(&mut self, term: Expr) -> bool {
        let is_power = |s: &Self, a: Expr| matches!(s.node(a), Node::Pow(..) | Node::Mul(..));
        self.live(&[term]).into_iter().all(|e| match self.node(e) {
            Node::Number(_)
            | Node::Pi
            | Node::Symbol(_)
            | Node::Neg(_)
            | Node::Add(..)
            | Node::Sub(..)
            | Node::Mul(..)
            | Node::Div(..) => true,
            Node::Pow(a, b) => {
                self.small_integer(b).is_some() || (self.is_number(b) && !is_power(self, a))
            }
            Node::Unary(Unary::Abs | Unary::Sign | Unary::Acos | Unary::Asin, _) => false,
            Node::Unary(Unary::Sqrt, a) => !is_power(self, a),
            Node::Unary(..) => true,
            Node::Binary(..)
            | Node::MittagLeffler(..)
            | Node::If(..)
            | Node::Compare(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..)
            | Node::Table { .. }
            | Node::Memory(..)
            | Node::List(..)
            | Node::Family { .. } => false,
        })
    }

    /// One part of a family as a sum.
    fn written_part(&mut self, family: u32, part: u32, list: Expr) -> Expr {
        let of = Arc::clone(&self.families[family as usize]);
        let entries = self.entries(list);
        let entry = |&o: &u32| entries.get(o as usize).copied().unwrap_or(ZERO);
        let columns = of.arguments.len();
        let mut terms: Vec<WrittenTerm> =
            of.terms.iter().map(|&term| WrittenTerm::new(self, term, columns)).collect();
        let mut sum = ZERO;
        for row in 0..of.rows() {
            let operands: Vec<Expr> = of.operands_of(row).iter().map(entry).collect();
            for (&target, term) in of.targets_of(row).iter().zip(&mut terms) {
                if target == part {
                    let image = term.with(self, &operands);
                    sum = self.add(sum, image);
                }
            }
        }
        sum
    }
}

/// A term over placeholders that is written with one row of operands after another.
struct WrittenTerm {
    term: Expr,
    placeholders: Vec<Expr>,
    live: Vec<Expr>,
    made: FxHashMap<Expr, Expr>,
}

impl WrittenTerm {
    fn new(store: &mut Store, term: Expr, columns: usize) -> Self {
        Self {
            term,
            placeholders: (0..columns).map(|a| store.placeholder(a)).collect(),
            live: store.live(&[term]),
            made: FxHashMap::default(),
        }
    }

    /// The term with operands in the places of its placeholders.
    fn with(&mut self, store: &mut Store, operands: &[Expr]) -> Expr {
        let Self { made, .. } = self;
        made.clear();
        made.extend(self.placeholders.iter().copied().zip(operands.iter().copied()));
        for &e in &self.live {
            let node = store.node(e);
            if node.operands().any(|o| made.contains_key(&o)) {
                let image = store.rebuild(node, |o| made.get(&o).copied().unwrap_or(o));
                made.insert(e, image);
            }
        }
        made.get(&self.term).copied().unwrap_or(self.term)
    }
}
