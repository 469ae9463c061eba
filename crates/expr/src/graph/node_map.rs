//! A map from the nodes of a graph to expressions that is emptied at no cost: walks over a graph use the same
//! one again and again.

use crate::graph::node::{Expr, ZERO};

/// The image of each node that has one, by the position of the node.
#[derive(Debug, Default)]
pub(crate) struct NodeMap {
    /// What marks the entries of this walk; those of earlier ones are void.
    walk: u32,
    entries: Vec<(u32, Expr)>,
}

/// What is left over from the last walk means nothing.
impl Clone for NodeMap {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl NodeMap {
    /// Empties the map, and makes room for the nodes of a graph.
    pub(crate) fn begin(&mut self, nodes: usize) {
        self.walk += 1;
        if self.entries.len() < nodes {
            self.entries.resize(nodes, (0, ZERO));
        }
    }

    pub(crate) fn get(&self, e: Expr) -> Option<Expr> {
        let &(walk, image) = self.entries.get(e.index())?;
        (walk == self.walk).then_some(image)
    }

    /// Of a node that was there when the walk began.
    pub(crate) fn insert(&mut self, e: Expr, image: Expr) {
        self.entries[e.index()] = (self.walk, image);
    }
}
