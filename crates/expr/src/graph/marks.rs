//! Which nodes some roots need: walks from the roots down that mark what they have met.

use crate::graph::node::{Expr, Node};
use crate::interrupt;

/// All nodes, and which symbols each contains, bit (index mod 128).
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeTable<'a> {
    pub(crate) nodes: &'a [Node],
    pub(crate) masks: &'a [u128],
}

/// A bit for each node that a walk has met; none is set between walks.
#[derive(Debug, Default)]
pub(crate) struct Marks(Vec<u64>);

/// What is left over from the last walk means nothing.
impl Clone for Marks {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Marks {
    /// The nodes that the roots need, operands first.
    pub(crate) fn live(&mut self, nodes: NodeTable<'_>, roots: &[Expr]) -> Vec<Expr> {
        self.live_with(nodes, roots, u128::MAX)
    }

    /// Only those that may contain a symbol of the mask (or, with all bits set, every one).
    pub(crate) fn live_with(
        &mut self,
        nodes: NodeTable<'_>,
        roots: &[Expr],
        mask: u128,
    ) -> Vec<Expr> {
        interrupt::checkpoint();
        let found = self.met(nodes, roots, mask);
        self.in_order(found)
    }

    /// The nodes that the roots need beyond those that are known, operands first.
    pub(crate) fn live_beyond(
        &mut self,
        nodes: NodeTable<'_>,
        roots: &[Expr],
        known: &[Expr],
    ) -> Vec<Expr> {
        interrupt::checkpoint();
        self.0.resize(nodes.nodes.len() / 64 + 1, 0);
        known.iter().for_each(|e| self.0[e.index() / 64] |= 1 << (e.index() % 64));
        let found = self.met(nodes, roots, u128::MAX);
        known.iter().for_each(|e| self.0[e.index() / 64] &= !(1 << (e.index() % 64)));
        self.in_order(found)
    }

    /// How many nodes the roots need, numbers, constants and symbols counted or not.
    pub(crate) fn count(
        &mut self,
        nodes: NodeTable<'_>,
        roots: &[Expr],
        with_leaves: bool,
    ) -> usize {
        interrupt::checkpoint();
        let found = self.met(nodes, roots, u128::MAX);
        found.iter().for_each(|e| self.0[e.index() / 64] = 0);
        let is_leaf = |e: &&Expr| {
            matches!(nodes.nodes[e.index()], Node::Number(_) | Node::Pi | Node::Symbol(_))
        };
        if with_leaves {
            found.len()
        } else {
            found.len() - found.iter().filter(is_leaf).count()
        }
    }

    /// Marked nodes in their order, and no longer marked.
    fn in_order(&mut self, mut found: Vec<Expr>) -> Vec<Expr> {
        let first = found.iter().min().map_or(0, |e| e.index() / 64);
        let end = found.iter().max().map_or(0, |e| e.index() / 64 + 1);
        found.clear();
        for (i, word) in self.0[first..end].iter_mut().enumerate() {
            let mut rest = std::mem::take(word);
            while rest != 0 {
                found.push(Expr(((first + i) * 64) as u32 + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        found
    }

    /// What [`Marks::live_with`] gives, in any order, and marked.
    fn met(&mut self, nodes: NodeTable<'_>, roots: &[Expr], mask: u128) -> Vec<Expr> {
        let NodeTable { nodes, masks } = nodes;
        self.0.resize(nodes.len() / 64 + 1, 0);
        let mut found = Vec::with_capacity(64);
        let mut meet = |found: &mut Vec<Expr>, e: Expr| {
            let (word, bit) = (&mut self.0[e.index() / 64], 1 << (e.index() % 64));
            if *word & bit == 0 && (mask == u128::MAX || masks[e.index()] & mask != 0) {
                *word |= bit;
                found.push(e);
            }
        };
        roots.iter().for_each(|&e| meet(&mut found, e));
        let mut next = 0;
        while let Some(&e) = found.get(next) {
            nodes[e.index()].operands().for_each(|o| meet(&mut found, o));
            next += 1;
        }
        found
    }
}
