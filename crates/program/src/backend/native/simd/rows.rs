//! Sums over the rows of a family, eight at a time, compiled for the vector registers of the processor at hand.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled without the vectors of its caller"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_mm512_loadu_pd, _mm512_mask_add_pd, _mm512_storeu_pd};

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::backend::batch::{LANE_BLOCK, LaneBlock};
use crate::tape::layer::{FamilyLoop, NOWHERE, Places};

/// The rows of a full block.
const FULL: u8 = LANE_BLOCK as u8;

/// Room for the sums over the rows of a family, so that none allocates.
#[derive(Clone, Debug)]
pub(crate) struct RowRoom {
    /// What neighbouring blocks add to one part, and which part that is, by term.
    sums: Vec<LaneBlock>,
    targets: Vec<u32>,
    /// Of a stretch: the arguments that go through the list and where they are; the terms that are added to parts one
    /// after another, and where; the other terms.
    moves: Vec<(usize, usize)>,
    runs: Vec<(usize, usize)>,
    sames: Vec<usize>,
}

impl RowRoom {
    pub(crate) fn new(family: &FamilyLoop) -> Self {
        let terms = family.terms.outputs();
        Self {
            sums: vec![[0.0; LANE_BLOCK]; terms],
            targets: vec![NOWHERE; terms],
            moves: vec![(0, 0); family.varying.len()],
            runs: vec![(0, 0); terms],
            sames: vec![0; terms],
        }
    }
}

/// Gathers the operands of every block from the list, evaluates the terms, and adds them to the parts.
///
/// Inputs and outputs are those of the terms, with uniform arguments in place.
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
    // NOTE: written as a loop, this would be additions one after another.
    let add = |to: &mut LaneBlock, from: &LaneBlock, count: u8| {
        let rows = u8::MAX >> (LANE_BLOCK as u8).saturating_sub(count);
        // SAFETY: as above.
        unsafe {
            let (sum, x) = (_mm512_loadu_pd(to.as_ptr()), _mm512_loadu_pd(from.as_ptr()));
            _mm512_storeu_pd(to.as_mut_ptr(), _mm512_mask_add_pd(sum, rows, sum, x));
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
    RowRoom { sums, targets, moves, runs, sames }: &mut RowRoom,
    mut evaluate: impl FnMut(&[LaneBlock], &mut [LaneBlock]),
    (copy, add): (impl Fn(&mut LaneBlock, &LaneBlock), impl Fn(&mut LaneBlock, &LaneBlock, u8)),
) {
    let FamilyLoop { varying, rows, .. } = family;
    let columns = varying.len() + outputs.len();
    targets.fill(NOWHERE);
    let mut b = 0;
    for &blocks in &rows.stretches {
        let (count, places) = (rows.counts[b], &rows.places[b * columns..][..columns]);
        let before = &rows.places[b.saturating_sub(1) * columns..][..columns];
        let (loads, stores) = places.split_at(varying.len());
        for (a, (&argument, &places)) in varying.iter().zip(loads).enumerate() {
            match places {
                // It is there from the block before.
                Places::Same(_) if b > 0 && places == before[a] => {}
                Places::Same(place) => {
                    copy(&mut inputs[argument], &[list[place as usize]; LANE_BLOCK]);
                }
                Places::Run(place) => {
                    copy(&mut inputs[argument], block_at(list, place as usize));
                }
                Places::Any(table) => {
                    let any = rows.any[table as usize].map(|place| list[place as usize]);
                    copy(&mut inputs[argument], &any);
                }
            }
        }
        evaluate(inputs, outputs);
        for (term, &places) in stores.iter().enumerate() {
            let value = &outputs[term];
            match places {
                Places::Same(NOWHERE) => {}
                Places::Same(place) => {
                    if targets[term] != place {
                        flush(&sums[term], targets[term], parts);
                        targets[term] = place;
                        sums[term] = [0.0; LANE_BLOCK];
                    }
                    add(&mut sums[term], value, count);
                }
                Places::Run(place) => {
                    add(block_at_mut(parts, place as usize), value, count);
                }
                Places::Any(table) => {
                    let places = rows.any[table as usize].iter().zip(value);
                    for (&place, &x) in places.take(usize::from(count)) {
                        if place != NOWHERE {
                            parts[place as usize] += x;
                        }
                    }
                }
            }
        }
        if blocks > 1 {
            let mut moving = 0;
            for (&argument, &places) in varying.iter().zip(loads) {
                if let Places::Run(place) = places {
                    moves[moving] = (argument, place as usize);
                    moving += 1;
                }
            }
            let (mut still, mut running) = (0, 0);
            for (term, &places) in stores.iter().enumerate() {
                if let Places::Run(place) = places {
                    runs[running] = (term, place as usize);
                    running += 1;
                } else {
                    sames[still] = term;
                    still += 1;
                }
            }
            for _ in 1..blocks {
                for (argument, place) in &mut moves[..moving] {
                    *place += LANE_BLOCK;
                    copy(&mut inputs[*argument], block_at(list, *place));
                }
                evaluate(inputs, outputs);
                for &term in &sames[..still] {
                    add(&mut sums[term], &outputs[term], FULL);
                }
                for (term, place) in &mut runs[..running] {
                    *place += LANE_BLOCK;
                    add(block_at_mut(parts, *place), &outputs[*term], FULL);
                }
            }
        }
        b += blocks as usize;
    }
    for (sum, &target) in sums.iter().zip(targets.iter()) {
        flush(sum, target, parts);
    }
}

/// Eight numbers from a place on; there is room for them.
#[inline(always)]
fn block_at(list: &[f64], place: usize) -> &LaneBlock {
    let rest = &list[place..];
    rest.first_chunk().expect("the list goes on for a block beyond its end")
}

/// Eight places for sums; there is room for them.
#[inline(always)]
fn block_at_mut(parts: &mut [f64], place: usize) -> &mut LaneBlock {
    let rest = &mut parts[place..];
    rest.first_chunk_mut().expect("the parts go on for a block beyond their end")
}

/// Adds the lanes of a sum to its part, halves first.
#[inline(always)]
fn flush(sum: &LaneBlock, target: u32, parts: &mut [f64]) {
    if target != NOWHERE {
        let [a, b, c, d, e, f, g, h] = *sum;
        parts[target as usize] += ((a + e) + (c + g)) + ((b + f) + (d + h));
    }
}
