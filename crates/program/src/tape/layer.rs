//! Families of like terms in a program: found before the rest is lowered, run as loops over rows of eight lanes.
//!
//! ```text
//! inputs ──program of the operands──► list ──gather──► eight rows ──program of the terms──► added to the parts
//! ```
//!
//! The parts of the families are further inputs of the program that reads them. Rows go in blocks of at most
//! [`LANE_BLOCK`]. In a block an operand is the same in all rows, or goes through the list one by one, or is
//! gathered; so do the targets. Full blocks that go on where the one before ended are one stretch, whose rules are
//! looked at once. What neighbouring blocks add to one part is added lane by lane first, then across
//! the lanes in a fixed order. That order is the same for every backend, and so are the bits.

use std::fmt;
use std::sync::Arc;

use pfaff_expr::{Expr, Family, Graph, Node};
use rustc_hash::FxHashMap;

use crate::backend::Backend;
use crate::backend::batch::LANE_BLOCK;
use crate::backend::layer_executor::LayerExecutor;
use crate::error::CompileError;
use crate::tape::program::Program;

/// The families that a program reads.
#[derive(Clone, Debug)]
pub(crate) struct Layer {
    /// The entries of all lists, one list after another.
    pub(crate) operands: Program,
    pub(crate) families: Vec<FamilyLoop>,
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

    /// All parts that are read. Allocates nothing.
    fn evaluate(&mut self, inputs: &[f64]) -> &[f64];

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

/// Rows that follow a rule make a block of their own from so many on.
const LEAST_RUN: usize = 4;

/// A family over a list, and its parts that are read, with their places.
struct Wanted {
    family: u32,
    list: Expr,
    parts: Vec<(u32, u32)>,
}

impl Layer {
    /// The parts of families that the outputs need, without what is inside of other families, and the layer that
    /// computes them; `None` if there are none.
    pub(crate) fn of(
        graph: &Graph,
        inputs: &[Expr],
        parameters: &[Expr],
        outputs: &[Expr],
    ) -> Result<Option<(Vec<Expr>, Self)>, CompileError> {
        let given: Vec<Expr> = inputs.iter().chain(parameters).copied().collect();
        let parts = outer_parts(graph, given, outputs);
        if parts.is_empty() {
            return Ok(None);
        }
        let mut wanted: Vec<Wanted> = Vec::new();
        let mut known: FxHashMap<(u32, Expr), usize> = FxHashMap::default();
        for (place, &e) in (0..).zip(&parts) {
            let Node::Family { family, part, list } = graph.node(e) else { continue };
            let index = *known.entry((family, list)).or_insert_with(|| {
                wanted.push(Wanted { family, list, parts: Vec::new() });
                wanted.len() - 1
            });
            wanted[index].parts.push((part, place));
        }
        let mut entries = Vec::new();
        let mut families = Vec::new();
        for Wanted { family, list, parts } in wanted {
            let family = graph.family_of(family);
            let first = entries.len();
            entries.extend(graph.entries(list));
            // NOTE: a list is zero beyond its end.
            let end = family.operands.iter().max().map_or(0, |&o| first + o as usize + 1);
            entries.resize(end.max(entries.len()), graph.zero());
            let mut place_of = vec![NOWHERE; family.parts];
            parts.iter().for_each(|&(part, place)| place_of[part as usize] = place);
            families.push(FamilyLoop::new(graph, &family, first as u32, &place_of)?);
        }
        let operands = Program::compile(graph, inputs, parameters, &entries)?;
        let results = parts.len();
        let start = LayerExecutor::start;
        Ok(Some((parts, Self { operands, families, results, start })))
    }

    /// With products that join a sum rounded with it, once.
    pub(crate) fn fused(self) -> Self {
        let families = self.families.into_iter();
        Self {
            operands: self.operands.fused(),
            families: families.map(|f| FamilyLoop { terms: f.terms.fused(), ..f }).collect(),
            ..self
        }
    }

    /// Instructions of an evaluation, eight rows counted as one.
    pub(crate) fn instructions(&self) -> usize {
        let of = |f: &FamilyLoop| f.terms.counts().per_evaluation * f.rows.counts.len();
        self.operands.counts().per_evaluation + self.families.iter().map(of).sum::<usize>()
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
    let is_given = |e: &Expr| given.contains(e);
    let direct: Vec<Expr> =
        outputs.iter().copied().filter(|e| is_part(e) && !is_given(e)).collect();
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
        first: u32,
        place_of: &[u32],
    ) -> Result<Self, CompileError> {
        let rows = family.rows();
        let place = |row: usize, term: usize| place_of[family.targets_of(row)[term] as usize];
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
        let operand = |row: usize, a: usize| first + family.operands_of(row)[needed[a]];
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
            let mut count = ruled(rest, columns);
            if count < LEAST_RUN {
                count = left.min(LANE_BLOCK);
            }
            for column in 0..columns {
                let place = |row: usize| rest[row * columns + column];
                let found = if (1..count).all(|row| place(row) == place(0)) {
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

    /// Whether the last block goes on where the one before it ended.
    fn goes_on(&self, columns: usize) -> bool {
        let Some(before) = self.places.len().checked_sub(2 * columns) else { return false };
        let full = |&count: &u8| usize::from(count) == LANE_BLOCK;
        let (before, here) = self.places[before..].split_at(columns);
        self.counts.iter().rev().take(2).all(full)
            && before.iter().zip(here).all(|pair| match pair {
                (Places::Same(a), Places::Same(b)) => a == b,
                (Places::Run(a), Places::Run(b)) => a + LANE_BLOCK as u32 == *b,
                _ => false,
            })
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
