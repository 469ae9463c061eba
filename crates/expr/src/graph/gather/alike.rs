//! Expressions of one shape, such as the accelerations of many bodies, as the parts of one family.

use rustc_hash::FxHashMap;

use super::{LEAST_ROWS, Ownership, SHARED, UNSEEN};
use crate::graph::Graph;
use crate::graph::node::{Expr, Node};
use crate::graph::store::{ONE, Store};

impl Graph {
    /// The same expressions, where many of one shape are the parts of one family, each a row of its own. Only beside
    /// other families: elsewhere they stay as they are. What is given is not looked into.
    pub fn alike(&self, expressions: &[Expr], given: &[Expr]) -> Vec<Expr> {
        if expressions.len() < LEAST_ROWS || !self.has_families() {
            return expressions.to_vec();
        }
        self.store.borrow_mut().alike(expressions, given)
    }
}

impl Store {
    fn alike(&mut self, expressions: &[Expr], given: &[Expr]) -> Vec<Expr> {
        let is_part = |store: &Self, e: Expr| matches!(store.node(e), Node::Family { .. });
        let live = self.live_beyond(expressions, given);
        let parts: Vec<Expr> = live.into_iter().filter(|&e| is_part(self, e)).collect();
        if parts.is_empty() {
            return expressions.to_vec();
        }
        let leaves: Vec<Expr> = given.iter().copied().chain(parts).collect();
        let live = self.live_beyond(expressions, &leaves);
        let count = expressions.iter().chain(&leaves).map(|e| e.index() + 1).max().unwrap_or(0);
        let mut place = vec![UNSEEN; count];
        let mut terms = Vec::new();
        for &e in expressions {
            if place[e.index()] == UNSEEN && live.binary_search(&e).is_ok() {
                place[e.index()] = terms.len() as u32;
                terms.push((e, ONE));
            }
        }
        let mut known = Ownership {
            live,
            uses: Vec::new(),
            owner: vec![UNSEEN; count],
            excluded: Vec::new(),
            summands: Vec::new(),
        };
        known.own(self, &terms);
        leaves.iter().for_each(|e| known.owner[e.index()] = SHARED);
        let (groups, _) = self.grouped(&terms, &known, &|_| true);
        let mut images: FxHashMap<Expr, Expr> = FxHashMap::default();
        for group in groups.iter().filter(|g| g.roots.len() >= LEAST_ROWS && g.columns > 0) {
            let rows = self.rows_over_term(group, &known);
            let targets = (0..group.roots.len() as u32).collect();
            let (family, list) = self.family_with(&rows, targets, group.roots.len());
            for (part, &root) in (0..).zip(&group.roots) {
                images.insert(root, self.part(family, part, list));
            }
        }
        expressions.iter().map(|e| images.get(e).copied().unwrap_or(*e)).collect()
    }
}
