//! Families of like terms in a program: found before the rest is lowered, run as loops over rows of eight lanes.
//!
//! ```text
//! inputs ──program of the operands──► list ──gather──► eight rows ──program of the terms──► added to the parts
//! ```
//!
//! The parts of the families are further inputs of the program that reads them. Rows go in blocks of at most
//! [`LANE_BLOCK`]. In a block an operand is the same in all rows, or goes through the list one by one, or is
//! gathered; so do the targets. Blocks that go on where the one before ended are one stretch of at most
//! [`LONGEST_STRETCH`], whose rules are looked at once; all are full but the last. A stretch is gathered and evaluated
//! block by block, then added term by term, so that no block waits for what the one before has added to parts nearby.
//! What neighbouring blocks add to one part is added lane by lane first, then across the lanes in a fixed order, when a
//! stretch begins that adds to another part. That order is the same for every backend, and so are the bits; loops of
//! machine code (`backend/row_plan.rs`) keep to it.

use std::fmt;
use std::sync::Arc;

use pfaff_expr::{Expr, Family, Graph, Node};
use rustc_hash::FxHashMap;

use crate::backend::Backend;
use crate::backend::batch::LANE_BLOCK;
use crate::backend::layer_executor::LayerExecutor;
use crate::error::CompileError;
use crate::tape::program::{Program, Tape};

/// The families that a program reads.
///
/// All numbers stand in one list: what is given, what an inner layer computes, the other operands, room for a block,
/// and the parts. The program that reads them has this whole list for its inputs.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// How many inputs the caller gives.
    pub(crate) given: usize,
    /// Families inside of the operands.
    pub(crate) inner: Option<Arc<Layer>>,
    /// Operands that are neither given nor computed by the inner layer.
    pub(crate) operands: Program,
    pub(crate) families: Vec<FamilyLoop>,
    /// Where the parts begin.
    pub(crate) first: usize,
    /// How many parts are read.
    pub(crate) results: usize,
    /// Begins an evaluation with given parameters.
    pub(crate) start: StartLayer,
}

/// Makes what evaluates a layer, with given parameters.
pub(crate) type StartLayer = fn(&Arc<Layer>, &[f64], Backend) -> Box<dyn PartEvaluator>;

/// Evaluates the families of a program, one state at a time.
pub(crate) trait PartEvaluator: fmt::Debug + Send + Sync {
    fn set_parameters(&mut self, parameters: &[f64]);

    /// Computes the list from what is given at its begin; it goes on for a block beyond its end. Allocates nothing.
    fn evaluate(&mut self, list: &mut [f64]);

    fn copy(&self) -> Box<dyn PartEvaluator>;
}

impl Clone for Box<dyn PartEvaluator> {
    fn clone(&self) -> Self {
        self.copy()
    }
}

/// One family over one list.
#[derive(Clone, Debug)]
pub(crate) struct FamilyLoop {
    /// The terms over their arguments.
    pub(crate) terms: Program,
    /// The arguments that are the same in all rows, and their places in the list.
    pub(crate) uniform: Vec<(usize, u32)>,
    /// The other arguments.
    pub(crate) varying: Vec<usize>,
    pub(crate) rows: BlockRows,
}

/// The rows in blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockRows {
    /// How many rows each has.
    pub(crate) counts: Vec<u8>,
    /// How many blocks each stretch has.
    pub(crate) stretches: Vec<u32>,
    /// For each block the places of its varying arguments, then those of its terms.
    pub(crate) places: Vec<Places>,
    /// Places that follow no rule.
    pub(crate) any: Vec<[u32; LANE_BLOCK]>,
}

/// Places of the rows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Places {
    /// All the same.
    Same(u32),
    /// One after another.
    Run(u32),
    /// Any, as this member of the table says.
    Any(u32),
}

/// The place of a part that nobody reads.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// How many blocks a stretch has at most: what they read and give stays in the nearest cache.
pub(crate) const LONGEST_STRETCH: usize = 8;

/// Rows that follow a rule make a block of their own from so many on, or if they go on behind a full block.
const LEAST_RUN: usize = 4;

/// A family over a list, and its parts that are read, with their places.
struct Wanted {
    family: u32,
    entries: Vec<Expr>,
    parts: Vec<(u32, u32)>,
}

impl Layer {
    /// The inputs with everything that is computed before the outputs, and the layer that computes it if the outputs
    /// need families.
    pub(crate) fn extended(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[Expr],
        outputs: &[Expr],
    ) -> Result<(Vec<Expr>, Option<Arc<Self>>), CompileError> {
        let given: Vec<Expr> = inputs.iter().chain(parameters).copied().collect();
        let parts = outer_parts(graph, given, outputs);
        if parts.is_empty() {
            return Ok((inputs.to_vec(), None));
        }
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut known: FxHashMap<(u32, Expr), usize> = FxHashMap::default();
        for (place, &e) in (0..).zip(&parts) {
            let Node::Family { family, part, list } = graph.node(e) else { continue };
            let index = *known.entry((family, list)).or_insert_with(|| {
                wanted.push(Wanted { family, entries: graph.entries(list), parts: Vec::new() });
                wanted.len() - 1
            });
            wanted[index].parts.push((part, place));
        }
        // NOTE: a list is zero beyond its end.
        let mut entries: Vec<Expr> =
            wanted.iter().flat_map(|w| &w.entries).copied().chain([graph.zero()]).collect();
        entries.sort_unstable();
        entries.dedup();
        let (mut all, inner) = Self::extended(graph, inputs, parameters, &entries)?;
        let is_number = |e: Expr| graph.double_of(e).is_some();
        let places = (0..).zip(&all).filter(|(_, e)| !is_number(**e));
        let mut place_of: FxHashMap<Expr, u32> = places.map(|(i, &e)| (e, i)).collect();
        let mut others = Vec::new();
        for &e in &entries {
            place_of.entry(e).or_insert_with(|| {
                others.push(e);
                (all.len() + others.len() - 1) as u32
            });
        }
        let operands = Program::straight(graph, &all, parameters, &others, &[])?;
        // Numbers in the place of inputs are never read.
        all.resize(all.len() + others.len() + LANE_BLOCK, graph.zero());
        let zero = place_of[&graph.zero()];
        let mut families = Vec::new();
        for Wanted { family, entries, parts } in wanted {
            let family = graph.family_of(family);
            let places: Vec<u32> = entries.iter().map(|e| place_of[e]).collect();
            let mut targets = vec![NOWHERE; family.parts];
            parts.iter().for_each(|&(part, place)| targets[part as usize] = place);
            families.push(FamilyLoop::new(graph, &family, (&places, zero), &targets)?);
        }
        let layer = Self {
            given: inputs.len(),
            inner,
            operands,
            families,
            first: all.len(),
            results: parts.len(),
            start: LayerExecutor::start,
        };
        all.extend(parts);
        Ok((all, Some(Arc::new(layer))))
    }

    /// With products that join a sum rounded with it, once.
    pub(crate) fn fused(self) -> Self {
        let families = self.families.into_iter();
        Self {
            inner: self.inner.map(|l| Arc::new(Arc::unwrap_or_clone(l).fused())),
            operands: self.operands.fused(),
            families: families.map(|f| FamilyLoop { terms: f.terms.fused(), ..f }).collect(),
            ..self
        }
    }

    /// Instructions of an evaluation, eight rows counted as one.
    pub(crate) fn instructions(&self) -> usize {
        let of = |f: &FamilyLoop| f.terms.counts().per_evaluation * f.rows.counts.len();
        self.inner.as_ref().map_or(0, |l| l.instructions())
            + self.operands.counts().per_evaluation
            + self.families.iter().map(of).sum::<usize>()
    }

    /// The tapes of the operands, those of inner layers first.
    pub(crate) fn tapes(&self) -> Vec<&Tape> {
        let mut all = self.inner.as_ref().map_or_else(Vec::new, |l| l.tapes());
        all.push(&self.operands.tape);
        all
    }
}

/// The parts of families that are reached without passing through another one or through what is given.
fn outer_parts(graph: &Graph, mut given: Vec<Expr>, outputs: &[Expr]) -> Vec<Expr> {
    let is_part = |e: &Expr| matches!(graph.node(*e), Node::Family { .. });
    let live = graph.live_beyond(outputs, &given);
    let parts: Vec<Expr> = live.into_iter().filter(is_part).collect();
    if parts.is_empty() {
        return parts;
    }
    let direct: Vec<Expr> =
        outputs.iter().copied().filter(|e| parts.binary_search(e).is_ok()).collect();
    given.extend(&parts);
    let beyond = graph.live_beyond(outputs, &given);
    let used = beyond.iter().flat_map(|&e| graph.node(e).operands());
    let mut outer: Vec<Expr> =
        used.filter(|e| parts.binary_search(e).is_ok()).chain(direct).collect();
    outer.sort_unstable();
    outer.dedup();
    outer
}

impl FamilyLoop {
    fn new(
        graph: &Graph,
        family: &Family,
        (places, zero): (&[u32], u32),
        targets: &[u32],
    ) -> Result<Self, CompileError> {
        let rows = family.rows();
        let place = |row: usize, term: usize| targets[family.targets_of(row)[term] as usize];
        let kept: Vec<usize> = (0..family.terms.len())
            .filter(|&term| (0..rows).any(|row| place(row, term) != NOWHERE))
            .collect();
        let terms: Vec<Expr> = kept.iter().map(|&term| family.terms[term]).collect();
        let live = graph.live(&terms);
        let needed: Vec<usize> = (0..family.arguments.len())
            .filter(|&a| live.binary_search(&family.arguments[a]).is_ok())
            .collect();
        let arguments: Vec<Expr> = needed.iter().map(|&a| family.arguments[a]).collect();
        let terms = Program::compile(graph, &arguments, &[], &terms)?;
        let operand = |row: usize, a: usize| {
            places.get(family.operands_of(row)[needed[a]] as usize).copied().unwrap_or(zero)
        };
        let is_uniform =
            |a: usize| (1..rows).all(|row| operand(row, a) == operand(0, a)) && rows > 0;
        let (uniform, varying): (Vec<usize>, Vec<usize>) =
            (0..needed.len()).partition(|&a| is_uniform(a));
        let columns = varying.len() + kept.len();
        let mut table = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            if kept.iter().any(|&term| place(row, term) != NOWHERE) {
                table.extend(varying.iter().map(|&a| operand(row, a)));
                table.extend(kept.iter().map(|&term| place(row, term)));
            }
        }
        Ok(Self {
            terms,
            uniform: uniform.into_iter().map(|a| (a, operand(0, a))).collect(),
            varying,
            rows: BlockRows::new(&table, columns),
        })
    }
}

impl BlockRows {
    /// Rows of a table in blocks.
    fn new(table: &[u32], columns: usize) -> Self {
        let mut made = Self::default();
        let mut rest = table;
        while !rest.is_empty() {
            let left = rest.len() / columns;
            let before = made.places.len().checked_sub(columns);
            let mut count = ruled(rest, columns);
            // NOTE: the end of a run is a block of its own however short it is: others gather their places one by one.
            if count < LEAST_RUN && !made.ends_with(rest, before) {
                count = left.min(LANE_BLOCK);
            }
            for column in 0..columns {
                let place = |row: usize| rest[row * columns + column];
                // NOTE: one row alone follows either rule; it goes on with that of the block before.
                let goes_on = before.is_some_and(|before| {
                    made.places[before + column].next() == Places::Run(place(0))
                });
                let is_same = (1..count).all(|row| place(row) == place(0));
                let found = if is_same && !(goes_on && count == 1) {
                    Places::Same(place(0))
                } else if (1..count).all(|row| follows(place(row - 1), place(row))) {
                    Places::Run(place(0))
                } else {
                    made.any.push(std::array::from_fn(|row| place(row.min(count - 1))));
                    Places::Any(made.any.len() as u32 - 1)
                };
                made.places.push(found);
            }
            made.counts.push(count as u8);
            rest = &rest[count * columns..];
            if made.goes_on(columns) {
                *made.stretches.last_mut().expect("there is a block before") += 1;
            } else {
                made.stretches.push(1);
            }
        }
        made
    }

    /// Whether a row goes on where the last block ended, which is full.
    fn ends_with(&self, row: &[u32], before: Option<usize>) -> bool {
        let Some(before) = before else { return false };
        let goes_on = |(places, &place): (&Places, &u32)| match places.next() {
            Places::Same(same) => same == place,
            Places::Run(next) => next == place,
            Places::Any(_) => false,
        };
        self.counts.last().is_some_and(|&count| usize::from(count) == LANE_BLOCK)
            && self.places[before..].iter().zip(row).all(goes_on)
    }

    /// Whether the last block goes on where the one before it ended, which is full, in a stretch with room for it.
    fn goes_on(&self, columns: usize) -> bool {
        let Some(before) = self.places.len().checked_sub(2 * columns) else { return false };
        let is_full = usize::from(self.counts[self.counts.len() - 2]) == LANE_BLOCK;
        let is_short = self.stretches.last().is_some_and(|&b| (b as usize) < LONGEST_STRETCH);
        let (before, here) = self.places[before..].split_at(columns);
        is_full && is_short && before.iter().zip(here).all(|(a, b)| a.next() == *b)
    }
}

impl Places {
    /// The places of a block that goes on behind a full one; those that follow no rule do not go on.
    fn next(self) -> Self {
        match self {
            Self::Run(place) => Self::Run(place + LANE_BLOCK as u32),
            Self::Same(_) => self,
            Self::Any(_) => Self::Any(u32::MAX),
        }
    }
}

fn follows(before: u32, place: u32) -> bool {
    before != NOWHERE && place == before + 1
}

/// How many rows at the begin of a table follow a rule in every column.
fn ruled(table: &[u32], columns: usize) -> usize {
    let rows = (table.len() / columns).min(LANE_BLOCK);
    let place = |row: usize, column: usize| table[row * columns + column];
    let is_ruled = |row: usize, column: usize| {
        let (a, b, c) = (place(row - 1, column), place(row, column), place(0, column));
        let is_same = place(1, column) == c;
        if is_same { b == c } else { follows(a, b) }
    };
    (1..rows).find(|&row| !(0..columns).all(|column| is_ruled(row, column))).unwrap_or(rows)
}
