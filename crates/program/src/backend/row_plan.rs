//! Which rows of a family run as loops of machine code, and what these loops read and add to.
//!
//! ```text
//! stretches ──kinds of their columns──► shapes ──columns a fixed distance apart──► groups, one pointer each
//!     └──those that go on, of one shape──► passes: one call each
//! ```
//!
//! A loop takes its operands from where they stand: one after another from the list, or from a row that holds one
//! number for all. What it gives is added where it belongs: rows one after another to the list, and what goes to one
//! part to a register. Where two terms of a stretch add to the same parts, the order of additions would change; their
//! values are kept, and added term by term when the stretch is over. Stretches with places that follow no rule, and
//! shapes of few blocks, are evaluated block by block.

use rustc_hash::FxHashMap;

use crate::backend::lanes::LANE_BLOCK;
use crate::tape::layer::{FamilyLoop, NOWHERE, Places};

/// The passes over the rows of a family.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowPlan {
    pub(crate) passes: Vec<Pass>,
    pub(crate) shapes: Vec<LoopShape>,
    /// Where the groups of each pass that has a shape begin in the list, pass after pass.
    pub(crate) begins: Vec<u32>,
    /// How long the list must be.
    pub(crate) reach: usize,
}

/// Rows that are evaluated together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    /// Which shape it has; [`BY_BLOCKS`] for none.
    pub(crate) shape: u32,
    /// Its first block.
    pub(crate) first: u32,
    pub(crate) blocks: u32,
    /// How many rows its last block has.
    pub(crate) last: u8,
}

/// Instead of a shape: no loop.
pub(crate) const BY_BLOCKS: u32 = u32::MAX;

/// What a loop reads and adds to. Columns of one group move together, some doubles apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoopShape {
    /// For each varying argument the group and the distance from its begin; nothing if it is the same in all rows.
    pub(crate) loads: Vec<Option<(usize, i32)>>,
    pub(crate) terms: Vec<TermPlace>,
    pub(crate) groups: usize,
}

/// Where the values of a term go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermPlace {
    Nowhere,
    /// All rows to one part.
    Sum,
    /// Rows one after another, in this group, so far from its begin.
    Run(usize, i32),
    /// They are added afterwards.
    Kept,
}

/// What a column is in a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Nowhere,
    Same,
    Run,
    Kept,
}

/// A shape is worth its code from so many blocks on.
const LEAST_BLOCKS: usize = 16;

/// How many shapes a family has at most, those with most blocks first.
const MOST_SHAPES: usize = 4;

/// How many registers loops have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopLimits {
    pub(crate) groups: usize,
    pub(crate) sums: usize,
}

impl RowPlan {
    /// Every stretch by itself, without loops.
    pub(crate) fn by_blocks(family: &FamilyLoop) -> Self {
        let mut first = 0;
        let pass = |&blocks: &u32| {
            let pass = pass_of(family, first, blocks);
            first += blocks;
            pass
        };
        Self { passes: family.rows.stretches.iter().map(pass).collect(), ..Self::default() }
    }

    /// With the loops that are worth it. Parts begin at `parts` in the list.
    pub(crate) fn with_loops(family: &FamilyLoop, parts: usize, limits: LoopLimits) -> Self {
        let planner =
            Planner { family, parts, columns: family.varying.len() + family.terms.outputs() };
        let mut blocks: FxHashMap<Vec<Kind>, usize> = FxHashMap::default();
        let mut kinds: Vec<Vec<Kind>> = Vec::new();
        let everything = planner.passes(|_| true);
        for (pass, found) in &everything {
            let Some(found) = found else { continue };
            let count = blocks.entry(found.clone()).or_insert_with(|| {
                kinds.push(found.clone());
                0
            });
            *count += pass.blocks as usize;
        }
        kinds.retain(|k| blocks[k] >= LEAST_BLOCKS);
        kinds.sort_by_key(|k| std::cmp::Reverse(blocks[k]));
        let mut wanted: Vec<(Vec<Kind>, LoopShape, Vec<usize>)> = Vec::new();
        for kinds in kinds {
            let of_it: Vec<Pass> = everything
                .iter()
                .filter(|p| p.1.as_ref() == Some(&kinds))
                .map(|p| p.0)
                .collect();
            let (shape, leaders) = planner.shape(&kinds, &of_it);
            let sums = shape.terms.iter().filter(|t| **t == TermPlace::Sum).count();
            if wanted.len() < MOST_SHAPES
                && shape.groups <= limits.groups
                && sums <= limits.sums
            {
                wanted.push((kinds, shape, leaders));
            }
        }
        let index = |kinds: &[Kind]| wanted.iter().position(|w| w.0 == kinds);
        let mut made = Self::default();
        for (pass, kinds) in planner.passes(|kinds| index(kinds).is_some()) {
            let shape = kinds.and_then(|kinds| index(&kinds));
            made.passes.push(Pass { shape: shape.map_or(BY_BLOCKS, |s| s as u32), ..pass });
            let Some((_, _, leaders)) = shape.map(|s| &wanted[s]) else { continue };
            made.begins
                .extend(leaders.iter().map(|&column| planner.place(pass, column) as u32));
            let ends = (0..planner.columns)
                .filter(|&column| matches!(planner.at(pass, column), Places::Run(_)))
                .map(|column| planner.place(pass, column) + pass.blocks as usize * LANE_BLOCK);
            made.reach = made.reach.max(ends.max().unwrap_or(0));
        }
        made.shapes = wanted.into_iter().map(|w| w.1).collect();
        made
    }
}

struct Planner<'a> {
    family: &'a FamilyLoop,
    parts: usize,
    columns: usize,
}

fn pass_of(family: &FamilyLoop, first: u32, blocks: u32) -> Pass {
    let last = family.rows.counts[(first + blocks) as usize - 1];
    Pass { shape: BY_BLOCKS, first, blocks, last }
}

impl Planner<'_> {
    fn at(&self, pass: Pass, column: usize) -> Places {
        self.family.rows.places[pass.first as usize * self.columns + column]
    }

    /// Where a column begins in the list.
    fn place(&self, pass: Pass, column: usize) -> usize {
        let first = if column < self.family.varying.len() { 0 } else { self.parts };
        match self.at(pass, column) {
            Places::Same(place) | Places::Run(place) | Places::Any(place) => {
                first + place as usize
            }
        }
    }

    /// What the columns are, unless some of their places follow no rule.
    fn kinds(&self, pass: Pass) -> Option<Vec<Kind>> {
        let kinds = (0..self.columns).map(|column| match self.at(pass, column) {
            Places::Same(NOWHERE) => Some(Kind::Nowhere),
            Places::Same(_) => Some(Kind::Same),
            Places::Run(_) => Some(Kind::Run),
            Places::Any(_) => None,
        });
        let mut kinds: Vec<Kind> = kinds.collect::<Option<_>>()?;
        if self.overlaps(pass) {
            let terms = &mut kinds[self.family.varying.len()..];
            terms.iter_mut().filter(|k| **k == Kind::Run).for_each(|k| *k = Kind::Kept);
        }
        Some(kinds)
    }

    /// Whether two terms add to the same parts, row by row.
    fn overlaps(&self, pass: Pass) -> bool {
        let rows = (pass.blocks as usize - 1) * LANE_BLOCK + usize::from(pass.last);
        let begins: Vec<usize> = (self.family.varying.len()..self.columns)
            .filter(|&column| matches!(self.at(pass, column), Places::Run(_)))
            .map(|column| self.place(pass, column))
            .collect();
        begins
            .iter()
            .enumerate()
            .any(|(i, &a)| begins[..i].iter().any(|&b| a.abs_diff(b) < rows))
    }

    /// All stretches, those that go on joined where they may have a loop.
    fn passes(&self, has_loop: impl Fn(&[Kind]) -> bool) -> Vec<(Pass, Option<Vec<Kind>>)> {
        let mut made: Vec<(Pass, Option<Vec<Kind>>)> = Vec::new();
        let mut first = 0;
        for &blocks in &self.family.rows.stretches {
            let pass = pass_of(self.family, first, blocks);
            first += blocks;
            let kinds = self.kinds(pass).filter(|kinds| has_loop(kinds));
            if let (Some((before, Some(known))), Some(kinds)) = (made.last_mut(), &kinds)
                && known == kinds
                && let Some(joined) = self.joined(*before, pass)
            {
                *before = joined;
                continue;
            }
            made.push((pass, kinds));
        }
        made
    }

    /// Two passes as one, if the second goes on where the first one ends and no two terms meet.
    fn joined(&self, a: Pass, b: Pass) -> Option<Pass> {
        let goes_on = |column: usize| match (self.at(a, column), self.at(b, column)) {
            (Places::Run(from), Places::Run(to)) => from + a.blocks * LANE_BLOCK as u32 == to,
            (a, b) => a == b,
        };
        let joined = Pass { blocks: a.blocks + b.blocks, last: b.last, ..a };
        let is_one = usize::from(a.last) == LANE_BLOCK && (0..self.columns).all(goes_on);
        (is_one && !self.overlaps(joined)).then_some(joined)
    }

    /// The shape of passes of one kind, and the first column of every group.
    fn shape(&self, kinds: &[Kind], passes: &[Pass]) -> (LoopShape, Vec<usize>) {
        let mut leaders: Vec<usize> = Vec::new();
        let mut grouped = |column: usize| {
            let distance = |pass: Pass, leader: usize| {
                self.place(pass, column) as i64 - self.place(pass, leader) as i64
            };
            for (group, &leader) in leaders.iter().enumerate() {
                let fixed = distance(passes[0], leader);
                if let Ok(short) = i32::try_from(fixed * size_of::<f64>() as i64)
                    && passes.iter().all(|&pass| distance(pass, leader) == fixed)
                {
                    return (group, short / size_of::<f64>() as i32);
                }
            }
            leaders.push(column);
            (leaders.len() - 1, 0)
        };
        let varying = self.family.varying.len();
        let loads = (0..varying).map(|c| (kinds[c] == Kind::Run).then(|| grouped(c))).collect();
        let terms = (varying..self.columns).map(|column| match kinds[column] {
            Kind::Nowhere => TermPlace::Nowhere,
            Kind::Same => TermPlace::Sum,
            Kind::Kept => TermPlace::Kept,
            Kind::Run => {
                let (group, distance) = grouped(column);
                TermPlace::Run(group, distance)
            }
        });
        let terms = terms.collect();
        (LoopShape { loads, terms, groups: leaders.len() }, leaders)
    }
}
