//! Sums over the rows of a family, eight at a time, compiled for the vector registers of the processor at hand.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled without the vectors of its caller"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm512_add_pd, _mm512_loadu_pd, _mm512_maskz_loadu_pd, _mm512_storeu_pd,
};

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::backend::batch::{LANE_BLOCK, LaneBlock};
use crate::tape::layer::{FamilyLoop, NOWHERE, Places};

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

/// Gathers the operands of every stretch from the list, evaluates the terms, and adds them to the parts.
///
/// Inputs and outputs are those of the terms, block after block, with uniform arguments in place.
pub(crate) fn sum_rows(
    family: &FamilyLoop,
    list: &[f64],
    parts: &mut [f64],
    terms: (&mut [LaneBlock], &mut [LaneBlock]),
    room: &mut RowRoom,
    evaluate: impl FnMut(&[LaneBlock], &mut [LaneBlock]),
) {
    #[cfg(target_arch = "x86_64")]
    if cpu_features().avx512 {
        // SAFETY: the processor has these instructions.
        return unsafe { sum_rows_avx512(family, list, parts, terms, room, evaluate) };
    }
    let copy = |to: &mut LaneBlock, from: &LaneBlock| *to = *from;
    let add = |to: &mut LaneBlock, from: &LaneBlock, count: u8| {
        let rows = usize::from(count).min(LANE_BLOCK);
        to[..rows].iter_mut().zip(from).for_each(|(to, x)| *to += x);
    };
    sum_with(family, list, parts, terms, room, evaluate, (copy, add));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn sum_rows_avx512(
    family: &FamilyLoop,
    list: &[f64],
    parts: &mut [f64],
    terms: (&mut [LaneBlock], &mut [LaneBlock]),
    room: &mut RowRoom,
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
    sum_with(family, list, parts, terms, room, evaluate, (copy, add));
}

#[inline(always)]
fn sum_with(
    family: &FamilyLoop,
    list: &[f64],
    parts: &mut [f64],
    (inputs, outputs): (&mut [LaneBlock], &mut [LaneBlock]),
    RowRoom { sums, targets }: &mut RowRoom,
    mut evaluate: impl FnMut(&[LaneBlock], &mut [LaneBlock]),
    (copy, add): (impl Fn(&mut LaneBlock, &LaneBlock), impl Fn(&mut LaneBlock, &LaneBlock, u8)),
) {
    let FamilyLoop { varying, rows, .. } = family;
    let (reads, writes) = (family.terms.inputs(), family.terms.outputs());
    // A term without operands is possible.
    let stride = reads.max(1);
    let columns = varying.len() + writes;
    targets.fill(NOWHERE);
    let mut b = 0;
    for &blocks in &rows.stretches {
        let blocks = blocks as usize;
        let places = &rows.places[b * columns..][..columns];
        b += blocks;
        // All are full but the last.
        let last = rows.counts[b - 1];
        let (loads, stores) = places.split_at(varying.len());
        // NOTE: plain loops with one place that moves; iterators over every so many blocks are kept in memory.
        for (&argument, &places) in varying.iter().zip(loads) {
            let mut to = argument;
            match places {
                Places::Same(place) => {
                    let all = [list[place as usize]; LANE_BLOCK];
                    for _ in 0..blocks {
                        copy(&mut inputs[to], &all);
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
        for (term, &places) in stores.iter().enumerate() {
            let mut from = term;
            match places {
                Places::Same(NOWHERE) => {}
                Places::Same(place) => {
                    if targets[term] != place {
                        flush(&sums[term], targets[term], parts);
                        targets[term] = place;
                        sums[term] = [0.0; LANE_BLOCK];
                    }
                    for _ in 1..blocks {
                        add(&mut sums[term], &outputs[from], LANE_BLOCK as u8);
                        from += writes;
                    }
                    add(&mut sums[term], &outputs[from], last);
                }
                Places::Run(place) => {
                    let parts = &mut parts[place as usize..].as_chunks_mut().0[..blocks];
                    let Some((end, full)) = parts.split_last_mut() else { continue };
                    for to in full {
                        add(to, &outputs[from], LANE_BLOCK as u8);
                        from += writes;
                    }
                    add(end, &outputs[from], last);
                }
                Places::Any(table) => {
                    let places = rows.any[table as usize].iter().zip(&outputs[from]);
                    for (&place, &x) in places.take(usize::from(last)) {
                        if place != NOWHERE {
                            parts[place as usize] += x;
                        }
                    }
                }
            }
        }
    }
    for (sum, &target) in sums.iter().zip(targets.iter()) {
        flush(sum, target, parts);
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
