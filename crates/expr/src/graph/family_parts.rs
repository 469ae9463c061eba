//! The parts of families of like terms: lists, values and derivatives. What a family is, says `family.rs`.

use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::family::{Family, FamilySlopes};
use crate::graph::field;
use crate::graph::node::{Expr, Node, Role, Symbol};
use crate::graph::residue::{Residues, at};
use crate::graph::store::{ONE, Store, ZERO};

impl Graph {
    /// The family behind a [`Node::Family`].
    pub fn family_of(&self, family: u32) -> Arc<Family> {
        Arc::clone(&self.store.borrow().families[family as usize])
    }

    /// Whether there are any.
    pub fn has_families(&self) -> bool {
        !self.store.borrow().families.is_empty()
    }

    /// The entries of a list; beyond its end it is zero.
    pub fn entries(&self, list: Expr) -> Vec<Expr> {
        self.store.borrow().entries(list)
    }

    /// The value of one part, from those of expressions, by plain evaluation.
    pub(crate) fn part_value(
        &self,
        family: &Family,
        part: u32,
        list: Expr,
        v: &dyn Fn(Expr) -> f64,
    ) -> f64 {
        let entries: Vec<f64> = self.entries(list).into_iter().map(v).collect();
        let mut sum = 0.0;
        for row in 0..family.rows() {
            let wanted = family.targets_of(row).iter().zip(&family.terms);
            let terms: Vec<Expr> =
                wanted.filter(|(target, _)| **target == part).map(|(_, &term)| term).collect();
            if terms.is_empty() {
                continue;
            }
            let operands = family.operands_of(row);
            let value_of = |symbol: Expr| {
                let a = family.arguments.iter().position(|&a| a == symbol);
                let position = a.map_or(usize::MAX, |a| operands[a] as usize);
                if position == usize::MAX {
                    f64::NAN
                } else {
                    entries.get(position).copied().unwrap_or(0.0)
                }
            };
            sum += self.evaluate(&terms, &value_of).iter().sum::<f64>();
        }
        sum
    }
}

impl Store {
    /// The placeholder of an argument: the same in all families.
    pub(crate) fn placeholder(&mut self, argument: usize) -> Expr {
        self.symbol(Symbol { name: format!("§{argument}"), role: Role::Free })
    }

    pub(crate) fn add_family(&mut self, family: Family) -> u32 {
        self.families.push(Arc::new(family));
        self.families.len() as u32 - 1
    }

    /// One part of a family over a list.
    pub(crate) fn part(&mut self, family: u32, part: u32, list: Expr) -> Expr {
        self.intern(Node::Family { family, part, list })
    }

    /// A list whose last entries are not zero.
    pub(crate) fn list(&mut self, entries: &[Expr]) -> Expr {
        entries.iter().rev().fold(ZERO, |rest, &entry| self.list_cell(entry, rest))
    }

    pub(crate) fn list_cell(&mut self, first: Expr, rest: Expr) -> Expr {
        if first == ZERO && rest == ZERO {
            return ZERO;
        }
        self.intern(Node::List(first, rest))
    }

    pub(crate) fn entries(&self, mut list: Expr) -> Vec<Expr> {
        let mut entries = Vec::new();
        while let Node::List(first, rest) = self.node(list) {
            entries.push(first);
            list = rest;
        }
        entries
    }

    /// The derivatives of a part by the entries of its list that `wanted` asks for.
    pub(crate) fn part_slopes(
        &mut self,
        family: u32,
        part: u32,
        list: Expr,
        wanted: &dyn Fn(&Self, Expr) -> bool,
    ) -> Vec<(Expr, Expr)> {
        let slopes = self.slopes_of(family);
        let entries = self.entries(list);
        let range = slopes.starts[part as usize]..slopes.starts[part as usize + 1];
        let mut found = Vec::with_capacity(range.len());
        for k in range {
            let entry = entries.get(slopes.by[k as usize] as usize).copied().unwrap_or(ZERO);
            if wanted(self, entry) {
                found.push((entry, self.part(slopes.family, k, list)));
            }
        }
        found
    }

    /// The family of all derivatives, made once.
    fn slopes_of(&mut self, family: u32) -> Arc<FamilySlopes> {
        if let Some(known) = self.family_slopes.get(&family) {
            return Arc::clone(known);
        }
        let of = Arc::clone(&self.families[family as usize]);
        let mut terms = Vec::new();
        // Which term was differentiated by which argument.
        let mut origin = Vec::new();
        for (k, &term) in of.terms.iter().enumerate() {
            let slopes = self.gradient(&[(term, ONE)], &of.arguments);
            for (a, slope) in slopes.into_iter().enumerate().filter(|s| s.1 != ZERO) {
                terms.push(slope);
                origin.push((k, a));
            }
        }
        let pair = |row: usize, &(k, a): &(usize, usize)| {
            (u64::from(of.targets_of(row)[k]) << 32) | u64::from(of.operands_of(row)[a])
        };
        let rows = 0..of.rows();
        let mut pairs: Vec<u64> =
            rows.clone().flat_map(|row| origin.iter().map(move |o| pair(row, o))).collect();
        let wanted = pairs.clone();
        pairs.sort_unstable();
        pairs.dedup();
        let targets = wanted.iter().map(|p| pairs.partition_point(|q| q < p) as u32).collect();
        let starts = (0..=of.parts as u64)
            .map(|part| pairs.partition_point(|q| q >> 32 < part) as u32)
            .collect();
        let made = self.add_family(Family {
            arguments: of.arguments.clone(),
            terms,
            operands: of.operands.clone(),
            targets,
            parts: pairs.len(),
        });
        let by = pairs.iter().map(|p| *p as u32).collect();
        let slopes = Arc::new(FamilySlopes { family: made, starts, by });
        self.family_slopes.insert(family, Arc::clone(&slopes));
        slopes
    }

    /// Sees to it that the values of all parts over a list are known.
    pub(crate) fn know_parts(&mut self, family: u32, list: Expr) {
        if self.part_values.contains_key(&(family, list)) {
            return;
        }
        let of = Arc::clone(&self.families[family as usize]);
        let entries: Vec<Residues> =
            self.entries(list).iter().map(|e| self.values[e.index()]).collect();
        let live = self.live(&of.terms);
        let place = |e: &Expr| live.binary_search(e).expect("terms need what is live");
        let given: Vec<Option<usize>> =
            of.arguments.iter().map(|a| live.binary_search(a).ok()).collect();
        let terms: Vec<usize> = of.terms.iter().map(place).collect();
        let mut parts = vec![[0; 2]; of.parts];
        let both = |e: &Expr| std::array::from_fn(|l| self.values[e.index()][l % 2]);
        let mut values: Vec<ResidueLanes> = live.iter().map(both).collect();
        for first in (0..of.rows()).step_by(LANE_ROWS) {
            let rows = first..of.rows().min(first + LANE_ROWS);
            for (r, row) in rows.clone().enumerate() {
                for (place, &position) in given.iter().zip(of.operands_of(row)) {
                    if let Some(place) = *place {
                        let entry = entries.get(position as usize).copied().unwrap_or_default();
                        values[place][2 * r..2 * r + 2].copy_from_slice(&entry);
                    }
                }
            }
            for (i, &e) in live.iter().enumerate() {
                let node = self.node(e);
                if node.operands().next().is_some() {
                    let (known, rest) = values.split_at_mut(i);
                    self.residues_of_rows(node, &|o| &known[place(&o)], &mut rest[0]);
                }
            }
            for (r, row) in rows.enumerate() {
                for (&target, &term) in of.targets_of(row).iter().zip(&terms) {
                    let sum = &mut parts[target as usize];
                    *sum = [0, 1].map(|p| field::add(sum[p], values[term][2 * r + p]));
                }
            }
        }
        self.part_values.insert((family, list), parts.into());
    }

    /// The values of an operation at some rows, at both points.
    fn residues_of_rows<'v>(
        &self,
        node: Node,
        of: &dyn Fn(Expr) -> &'v ResidueLanes,
        to: &mut ResidueLanes,
    ) {
        let lanes = |a: &ResidueLanes, b: &ResidueLanes, f: fn(u64, u64) -> u64| {
            std::array::from_fn(|l| f(a[l], b[l]))
        };
        match node {
            Node::Add(a, b) => *to = lanes(of(a), of(b), field::add),
            Node::Sub(a, b) => *to = lanes(of(a), of(b), field::sub),
            Node::Mul(a, b) => *to = lanes(of(a), of(b), field::mul),
            Node::Div(a, b) if !of(b).contains(&0) => {
                *to = *of(b);
                field::invert(to);
                *to = lanes(of(a), to, field::mul);
            }
            _ => {
                for (l, value) in to.iter_mut().enumerate() {
                    *value = at(self, node, l % 2, |o| of(o)[l]);
                }
            }
        }
    }
}

/// Rows whose values are computed together.
const LANE_ROWS: usize = 64;

/// Their values, both points of a row side by side.
type ResidueLanes = [u64; 2 * LANE_ROWS];
