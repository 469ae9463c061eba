//! Sums over the rows of a family, eight at a time, compiled for the vector registers of the processor at hand.
//!
//! Passes that have a loop of machine code are one call of it; the others are gathered and evaluated block by block.
//! The bits are the same: before a pass the sums whose part changes are added to their parts, then its values are
//! added, each term by itself, or in any order where no two of them meet.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled without the vectors of its caller"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_add_pd, _mm512_loadu_pd, _mm512_maskz_loadu_pd, _mm512_set1_pd, _mm512_storeu_pd,
};

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::backend::batch::{LANE_BLOCK, LaneBlock};
use crate::backend::row_plan::RowPlan;
use crate::tape::layer::{FamilyLoop, NOWHERE, Places};

/// The rows of a family, and how they are evaluated.
pub(crate) struct RowWork<'a, L> {
    pub(crate) family: &'a FamilyLoop,
    pub(crate) plan: &'a RowPlan,
    /// The loops of the shapes of the plan.
    pub(crate) loops: &'a mut [L],
    /// Rows of the arguments of the terms, block after block, with uniform ones in place, and of their values.
    pub(crate) inputs: &'a mut [LaneBlock],
    pub(crate) outputs: &'a mut [LaneBlock],
    pub(crate) room: &'a mut RowRoom,
}

/// A loop of machine code over rows of one shape.
pub(crate) trait RowLoop {
    /// Whether it leaves values to be added.
    fn keeps(&self) -> bool;

    /// Evaluates the terms at all rows, and adds them to parts and sums or keeps them.
    ///
    /// # Panics
    ///
    /// If there are too few inputs, outputs or sums.
    ///
    /// # Safety
    ///
    /// The groups are those of its shape, and all their columns have room for so many blocks in the list.
    unsafe fn run(&mut self, call: RowCall<'_>);
}

/// What one call of a loop works on.
#[derive(Debug)]
#[cfg_attr(
    not(all(target_arch = "x86_64", unix)),
    allow(dead_code, reason = "there are no loops then")
)]
pub(crate) struct RowCall<'a> {
    pub(crate) list: &'a mut [f64],
    /// Where every group begins in the list.
    pub(crate) begins: &'a [u32],
    pub(crate) blocks: usize,
    /// How many rows the last block has.
    pub(crate) last: u8,
    /// The arguments that are the same in all rows, in their rows.
    pub(crate) inputs: &'a [LaneBlock],
    /// Where values are kept, block after block.
    pub(crate) outputs: &'a mut [LaneBlock],
    /// By term.
    pub(crate) sums: &'a mut [LaneBlock],
}

/// Room for the sums over the rows of a family, so that none allocates.
#[derive(Clone, Debug)]
pub(crate) struct RowRoom {
    /// What neighbouring blocks add to one part, and which part that is, by term.
    sums: Vec<LaneBlock>,
    targets: Vec<u32>,
}

impl RowRoom {
    pub(crate) fn new(family: &FamilyLoop) -> Self {
        let terms = family.terms.outputs();
        Self { sums: vec![[0.0; LANE_BLOCK]; terms], targets: vec![NOWHERE; terms] }
    }
}

/// Evaluates the terms at all rows, with operands from the list, and adds them to the parts, which begin at `first`
/// in it.
pub(crate) fn sum_rows(
    work: RowWork<'_, impl RowLoop>,
    list: &mut [f64],
    first: usize,
    evaluate: impl FnMut(&[LaneBlock], &mut [LaneBlock]),
) {
    assert!(list.len() >= work.plan.reach, "the list is as long as the plan says");
    #[cfg(target_arch = "x86_64")]
    if cpu_features().avx512 {
        // SAFETY: the processor has these instructions.
        return unsafe { sum_rows_avx512(work, list, first, evaluate) };
    }
    let copy = |to: &mut LaneBlock, from: &LaneBlock| *to = *from;
    let add = |to: &mut LaneBlock, from: &LaneBlock, count: u8| {
        let rows = usize::from(count).min(LANE_BLOCK);
        to[..rows].iter_mut().zip(from).for_each(|(to, x)| *to += x);
    };
    sum_with(work, list, first, evaluate, (copy, |to, x| *to = [x; LANE_BLOCK], add));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn sum_rows_avx512(
    work: RowWork<'_, impl RowLoop>,
    list: &mut [f64],
    first: usize,
    evaluate: impl FnMut(&[LaneBlock], &mut [LaneBlock]),
) {
    // NOTE: machine code reads a block at once; what was written in halves would make it wait.
    let copy = |to: &mut LaneBlock, from: &LaneBlock| {
        // SAFETY: both are eight doubles, and the processor has these instructions.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), _mm512_loadu_pd(from.as_ptr())) }
    };
    // NOTE: written as a loop, this would be additions one after another. No sum is -0, so that adding 0 in the lanes
    // of other rows changes nothing; a store under a mask would be waited for by the next load.
    let add = |to: &mut LaneBlock, from: &LaneBlock, count: u8| {
        let rows = u8::MAX >> (LANE_BLOCK as u8).saturating_sub(count);
        // SAFETY: as above.
        unsafe {
            let (sum, x) =
                (_mm512_loadu_pd(to.as_ptr()), _mm512_maskz_loadu_pd(rows, from.as_ptr()));
            _mm512_storeu_pd(to.as_mut_ptr(), _mm512_add_pd(sum, x));
        }
    };
    let fill = |to: &mut LaneBlock, x: f64| {
        // SAFETY: as above.
        unsafe { _mm512_storeu_pd(to.as_mut_ptr(), _mm512_set1_pd(x)) }
    };
    sum_with(work, list, first, evaluate, (copy, fill, add));
}

#[inline(always)]
fn sum_with(
    work: RowWork<'_, impl RowLoop>,
    list: &mut [f64],
    first: usize,
    mut evaluate: impl FnMut(&[LaneBlock], &mut [LaneBlock]),
    (copy, fill, add): (
        impl Fn(&mut LaneBlock, &LaneBlock),
        impl Fn(&mut LaneBlock, f64),
        impl Fn(&mut LaneBlock, &LaneBlock, u8),
    ),
) {
    let RowWork { family, plan, loops, inputs, outputs, room: RowRoom { sums, targets } } =
        work;
    let FamilyLoop { varying, rows, .. } = family;
    let (reads, writes) = (family.terms.inputs(), family.terms.outputs());
    // A term without operands is possible.
    let stride = reads.max(1);
    let columns = varying.len() + writes;
    targets.fill(NOWHERE);
    let mut begins = &plan.begins[..];
    for pass in &plan.passes {
        let blocks = pass.blocks as usize;
        let places = &rows.places[pass.first as usize * columns..][..columns];
        let (loads, stores) = places.split_at(varying.len());
        for ((&places, sum), target) in stores.iter().zip(&mut *sums).zip(&mut *targets) {
            if let Places::Same(place) = places
                && place != NOWHERE
                && place != *target
            {
                flush(sum, *target, &mut list[first..]);
                *target = place;
                fill(sum, 0.0);
            }
        }
        let by_loop = loops.get_mut(pass.shape as usize);
        let has_loop = by_loop.is_some();
        if let Some(code) = by_loop {
            for (&argument, &places) in varying.iter().zip(loads) {
                if let Places::Same(place) = places {
                    fill(&mut inputs[argument], list[place as usize]);
                }
            }
            let (own, rest) = begins.split_at(plan.shapes[pass.shape as usize].groups);
            begins = rest;
            let (last, inputs) = (pass.last, &*inputs);
            let call = RowCall { list, begins: own, blocks, last, inputs, outputs, sums };
            // SAFETY: the plan is that of the shapes of the loops, and the list as long as it says.
            unsafe { code.run(call) };
            if !code.keeps() {
                continue;
            }
        } else {
            let list = &list[..first];
            // NOTE: plain loops with one place that moves; iterators over every so many blocks are kept in memory.
            for (&argument, &places) in varying.iter().zip(loads) {
                let mut to = argument;
                match places {
                    Places::Same(place) => {
                        for _ in 0..blocks {
                            fill(&mut inputs[to], list[place as usize]);
                            to += stride;
                        }
                    }
                    Places::Run(place) => {
                        for from in &list[place as usize..].as_chunks().0[..blocks] {
                            copy(&mut inputs[to], from);
                            to += stride;
                        }
                    }
                    Places::Any(table) => {
                        let any = rows.any[table as usize].map(|place| list[place as usize]);
                        copy(&mut inputs[to], &any);
                    }
                }
            }
            let evaluated = inputs.chunks_exact(stride).zip(outputs.chunks_exact_mut(writes));
            for (inputs, outputs) in evaluated.take(blocks) {
                evaluate(&inputs[..reads], outputs);
            }
        }
        let parts = &mut list[first..];
        for (term, &places) in stores.iter().enumerate() {
            let mut from = term;
            match places {
                Places::Same(NOWHERE) => {}
                Places::Same(_) if has_loop => {}
                Places::Same(_) => {
                    for _ in 1..blocks {
                        add(&mut sums[term], &outputs[from], LANE_BLOCK as u8);
                        from += writes;
                    }
                    add(&mut sums[term], &outputs[from], pass.last);
                }
                Places::Run(place) => {
                    let parts = &mut parts[place as usize..].as_chunks_mut().0[..blocks];
                    let Some((end, full)) = parts.split_last_mut() else { continue };
                    for to in full {
                        add(to, &outputs[from], LANE_BLOCK as u8);
                        from += writes;
                    }
                    add(end, &outputs[from], pass.last);
                }
                Places::Any(table) => {
                    let places = rows.any[table as usize].iter().zip(&outputs[from]);
                    for (&place, &x) in places.take(usize::from(pass.last)) {
                        if place != NOWHERE {
                            parts[place as usize] += x;
                        }
                    }
                }
            }
        }
    }
    for (sum, &target) in sums.iter().zip(targets.iter()) {
        flush(sum, target, &mut list[first..]);
    }
}

/// Adds the lanes of a sum to its part, halves first.
#[inline(always)]
fn flush(sum: &LaneBlock, target: u32, parts: &mut [f64]) {
    if target != NOWHERE {
        let [a, b, c, d, e, f, g, h] = *sum;
        parts[target as usize] += ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
}
