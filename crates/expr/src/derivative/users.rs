//! Which nodes use which: from a symbol up to the outputs that contain it.
//!
//! Both relations are lists one after another with the place where each begins, made in one pass.

use crate::graph::node::Expr;
use crate::graph::store::Store;

/// The nodes that some outputs need, oldest first, each with its users and the outputs that it is.
pub(super) struct Users {
    pub(super) nodes: Vec<Expr>,
    above: Lists,
    outputs: Lists,
    /// The last walk that met each node.
    met: Vec<u32>,
    walk: u32,
}

/// Lists of numbers, one for each node.
struct Lists {
    begins: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut begins = vec![0; count + 1];
        pairs.iter().for_each(|&(k, _)| begins[k as usize + 1] += 1);
        for k in 0..count {
            begins[k + 1] += begins[k];
        }
        let (mut next, mut entries) = (begins.clone(), vec![0; pairs.len()]);
        for &(k, entry) in pairs {
            entries[next[k as usize] as usize] = entry;
            next[k as usize] += 1;
        }
        Self { begins, entries }
    }

    fn of(&self, k: usize) -> &[u32] {
        &self.entries[self.begins[k] as usize..self.begins[k + 1] as usize]
    }
}

impl Users {
    /// Of the nodes that may contain a symbol of the mask.
    pub(super) fn new(store: &mut Store, outputs: &[Expr], mask: u128) -> Self {
        let nodes = store.live_with(outputs, mask);
        let place = |e: Expr| nodes.binary_search(&e).ok().map(|k| k as u32);
        let mut uses = Vec::with_capacity(2 * nodes.len());
        for (user, &e) in nodes.iter().enumerate() {
            let operands = store.node(e).operands().filter_map(place);
            uses.extend(operands.map(|operand| (operand, user as u32)));
        }
        let named = outputs.iter().enumerate();
        let given: Vec<(u32, u32)> =
            named.filter_map(|(i, &e)| Some((place(e)?, i as u32))).collect();
        let (above, outputs) =
            (Lists::new(nodes.len(), &uses), Lists::new(nodes.len(), &given));
        let met = vec![0; nodes.len()];
        Self { nodes, above, outputs, met, walk: 0 }
    }

    /// The nodes that contain a symbol, itself included, oldest first.
    pub(super) fn of(&mut self, symbol: Expr) -> Vec<u32> {
        let Ok(first) = self.nodes.binary_search(&symbol) else { return Vec::new() };
        self.walk += 1;
        self.met[first] = self.walk;
        let mut reached = vec![first as u32];
        let mut next = 0;
        while let Some(&k) = reached.get(next) {
            next += 1;
            for &user in self.above.of(k as usize) {
                if self.met[user as usize] != self.walk {
                    self.met[user as usize] = self.walk;
                    reached.push(user);
                }
            }
        }
        reached.sort_unstable();
        reached
    }

    /// The outputs that a node is.
    pub(super) fn outputs(&self, k: u32) -> &[u32] {
        self.outputs.of(k as usize)
    }
}
