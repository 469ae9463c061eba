//! Which velocities occur in which expressions, remembered: each node is looked at once, however many rows share it.
//!
//! With it, derivatives by one velocity and rows without one visit only the nodes in which it occurs.

use std::cell::RefCell;

use pfaff_expr::{Expr, Graph};
use rustc_hash::FxHashMap;

/// The velocities in expressions of one graph.
pub(super) struct Mentions<'a> {
    g: &'a Graph,
    velocities: &'a [Expr],
    known: RefCell<VelocitySets>,
    /// $\partial e/\partial\dot q^j$ by $j$ and $e$.
    slopes: RefCell<Vec<FxHashMap<Expr, Expr>>>,
}

#[derive(Default)]
struct VelocitySets {
    /// Sets of indices by their bits, number 0 being empty. NOTE: in a chain every body has one of its own, which is as
    /// long as the chain.
    sets: Vec<Box<[u64]>>,
    by_set: FxHashMap<Box<[u64]>, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    /// By the position of the node: the number of its set, or [`OPEN`].
    of: Vec<u32>,
}

/// Not looked at yet.
const OPEN: u32 = u32::MAX;

impl VelocitySets {
    fn intern(&mut self, set: Box<[u64]>) -> u32 {
        let Self { sets, by_set, .. } = self;
        *by_set.entry(set).or_insert_with_key(|set| {
            sets.push(set.clone());
            sets.len() as u32 - 1
        })
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        if let Some(&id) = self.unions.get(&(a, b)) {
            return id;
        }
        let words = self.sets[a as usize].iter().zip(&self.sets[b as usize]);
        let set = words.map(|(x, y)| x | y).collect();
        let id = self.intern(set);
        self.unions.insert((a, b), id);
        id
    }

    fn complete(&mut self, g: &Graph, e: Expr) -> u32 {
        self.of.resize(self.of.len().max(g.len()), OPEN);
        let mut stack = vec![e];
        while let Some(&x) = stack.last() {
            if self.of[x.index()] != OPEN {
                stack.pop();
                continue;
            }
            let (node, before) = (g.node(x), stack.len());
            stack.extend(node.operands().filter(|o| self.of[o.index()] == OPEN));
            if stack.len() == before {
                let id = node.operands().fold(0, |id, o| self.union(id, self.of[o.index()]));
                self.of[x.index()] = id;
                stack.pop();
            }
        }
        self.of[e.index()]
    }
}

impl<'a> Mentions<'a> {
    pub(super) fn new(g: &'a Graph, velocities: &'a [Expr]) -> Self {
        let mut known = VelocitySets::default();
        let empty = vec![0; velocities.len().div_ceil(64)].into_boxed_slice();
        known.intern(empty.clone());
        for (j, &v) in velocities.iter().enumerate() {
            let mut one = empty.clone();
            one[j / 64] |= 1 << (j % 64);
            let id = known.intern(one);
            known.of.resize(known.of.len().max(v.index() + 1), OPEN);
            known.of[v.index()] = id;
        }
        let slopes = RefCell::new(vec![FxHashMap::default(); velocities.len()]);
        Self { g, velocities, known: RefCell::new(known), slopes }
    }

    /// The velocities in an expression, ascending.
    pub(super) fn of(&self, e: Expr) -> Vec<usize> {
        let mut known = self.known.borrow_mut();
        let id = known.complete(self.g, e);
        members(&known.sets[id as usize]).collect()
    }

    /// Whether one of some velocities, given by their bits, occurs in an expression.
    pub(super) fn any(&self, e: Expr, bits: &[u64]) -> bool {
        let mut known = self.known.borrow_mut();
        let id = known.complete(self.g, e);
        known.sets[id as usize].iter().zip(bits).any(|(x, y)| x & y != 0)
    }

    /// In how many of some expressions each velocity occurs.
    pub(super) fn count(&self, es: &[Expr]) -> Vec<usize> {
        let mut known = self.known.borrow_mut();
        let mut count = vec![0; self.velocities.len()];
        for &e in es {
            let id = known.complete(self.g, e);
            members(&known.sets[id as usize]).for_each(|j| count[j] += 1);
        }
        count
    }

    /// $\partial e/\partial\dot q^j$ of an expression that is linear in the velocities.
    pub(super) fn coefficient(&self, e: Expr, j: usize) -> Expr {
        self.known.borrow_mut().complete(self.g, e);
        let slope = {
            let known = self.known.borrow();
            let within = |x: Expr| occurs(&known, x, &[j]);
            let slopes = &mut self.slopes.borrow_mut()[j];
            self.g.derivative_further(e, self.velocities[j], slopes, &within)
        };
        // NOTE: hidden linearity leaves velocities whose coefficients cancel.
        self.without(slope, &self.of(slope))
    }

    /// The expression at zero for the velocities `js`.
    pub(super) fn without(&self, e: Expr, js: &[usize]) -> Expr {
        self.known.borrow_mut().complete(self.g, e);
        let known = self.known.borrow();
        let still: Vec<(Expr, Expr)> =
            js.iter().map(|&j| (self.velocities[j], self.g.zero())).collect();
        self.g.substitute_within(e, &still, &|x| occurs(&known, x, js))
    }
}

fn occurs(known: &VelocitySets, e: Expr, js: &[usize]) -> bool {
    let id = known.of.get(e.index()).filter(|&&id| id != OPEN);
    let set = id.map_or(&[][..], |&id| &known.sets[id as usize]);
    js.iter().any(|j| set.get(j / 64).is_some_and(|word| word >> (j % 64) & 1 == 1))
}

/// The indices in a set, ascending.
fn members(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(k, &word)| {
        let next = |&rest: &u64| Some(rest & (rest - 1)).filter(|&rest| rest != 0);
        let rests = std::iter::successors(Some(word).filter(|&word| word != 0), next);
        rests.map(move |rest| 64 * k + rest.trailing_zeros() as usize)
    })
}
