//! (RK) of `stages.rs`, compiled for processors with registers of four doubles and for those without.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled without the vectors of its caller"
)]

use std::ptr::read_volatile;

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::backend::runge_kutta::{BLOCK, Block, LATER, STAGES, StepBuffers, Tableau};

/// A right-hand side from $(t, y)$ to $f(t, y)$, with the numbers of its inputs and outputs.
pub(crate) struct RightSide<F> {
    pub(crate) read: usize,
    pub(crate) given: usize,
    pub(crate) rates: F,
}

/// All stages, the end of the step and those for dense output included.
const ALL: usize = STAGES + 2 + LATER;
/// None of them.
const NONE: usize = ALL;

/// $\sum_j w_j k_j$ of block `b` in rows of so many blocks, where stage `latest` was written just now.
/// Weights are constants in the code, and what has none is not there.
macro_rules! combined {
    ($weights:expr, $latest:expr, $k:expr, $b:expr, $width:expr) => {
        combined!($weights, $latest, $k, $b, $width; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($weights:expr, $latest:expr, $k:expr, $b:expr, $width:expr; $($j:literal)*) => {{
        // What is added to it keeps its sign, even as a zero.
        let mut sum = [-0.0; BLOCK];
        $(if const { $weights[$j] != 0.0 } {
            // SAFETY: there are `ALL` rows, as was checked where the step began.
            let block = unsafe { $k.get_unchecked($j * $width + $b) };
            let row = if const { $j == $latest } { one_by_one(block) } else { *block };
            sum = along(sum, const { $weights[$j] }, row);
        })*
        sum
    }};
}

/// The state on the way: $y + h \sum_j w_j k_j$.
macro_rules! advance {
    ($weights:expr, $latest:expr, $rows:expr) => {{
        let StepBuffers { h, y, ref k, ref mut stage, .. } = *$rows;
        let width = y.len();
        for (b, (stage, y)) in stage[1..].iter_mut().zip(y).enumerate() {
            let slope = combined!($weights, $latest, k, b, width);
            *stage = along(*y, h, slope);
        }
    }};
}

impl<F: FnMut(&[f64], &mut [f64])> RightSide<F> {
    /// Carries out a step; says whether all numbers are finite.
    pub(crate) fn step<T: Tableau>(&mut self, rows: &mut StepBuffers<'_>) -> bool {
        #[cfg(target_arch = "x86_64")]
        if cpu_features().avx2 {
            // SAFETY: the processor has these instructions.
            return unsafe { step_by_vectors::<T, F>(self, rows) };
        }
        self.stages::<T>(rows)
    }

    /// Adds to a step what dense output needs; says whether all numbers are finite.
    pub(crate) fn refine<T: Tableau>(
        &mut self,
        rows: &mut StepBuffers<'_>,
        dense: &mut [Block],
    ) -> bool {
        #[cfg(target_arch = "x86_64")]
        if cpu_features().avx2 {
            // SAFETY: the processor has these instructions.
            return unsafe { refine_by_vectors::<T, F>(self, rows, dense) };
        }
        self.later_stages::<T>(rows, dense)
    }

    #[inline(always)]
    fn stages<T: Tableau>(&mut self, rows: &mut StepBuffers<'_>) -> bool {
        let width = rows.y.len();
        assert!(rows.k.len() == ALL * width, "rows of stages");
        // Written out: every stage has its own place in the code, where branches are foreseen.
        macro_rules! stages {
            ($($i:literal)*) => {$({
                advance!(T::ROWS[$i], $i, rows);
                self.evaluate(rows, T::NODES[$i], $i + 1);
            })*};
        }
        stages!(0 1 2 3 4 5 6 7 8 9 10);
        advance!(T::ENDS, STAGES, rows);
        rows.end.copy_from_slice(&rows.stage[1..]);
        self.evaluate(rows, 1.0, STAGES + 1);
        macro_rules! sums {
            ($($i:literal)*) => {$({
                let StepBuffers { ref k, ref mut sums, .. } = *rows;
                for (b, sum) in sums[$i].iter_mut().enumerate().take(width) {
                    *sum = combined!(T::SUMS[$i], NONE, k, b, width);
                }
            })*};
        }
        sums!(0 1);
        let [five, three] = &rows.sums;
        let stages = &rows.k[width..(STAGES + 2) * width];
        are_finite(stages) & are_finite(rows.end) & are_finite(five) & are_finite(three)
    }

    #[inline(always)]
    fn later_stages<T: Tableau>(
        &mut self,
        rows: &mut StepBuffers<'_>,
        dense: &mut [Block],
    ) -> bool {
        let width = rows.y.len();
        assert!(rows.k.len() == ALL * width, "rows of stages");
        macro_rules! stages {
            ($($i:literal)*) => {$({
                advance!(T::LATER_ROWS[$i], STAGES + 1 + $i, rows);
                self.evaluate(rows, T::LATER_NODES[$i], STAGES + 2 + $i);
            })*};
        }
        stages!(0 1 2);
        macro_rules! sums {
            ($($i:literal)*) => {$({
                let StepBuffers { h, ref k, .. } = *rows;
                for (b, row) in dense[$i * width..][..width].iter_mut().enumerate() {
                    *row = along([-0.0; BLOCK], h, combined!(T::DENSE[$i], NONE, k, b, width));
                }
            })*};
        }
        sums!(0 1 2 3);
        are_finite(&rows.k[(STAGES + 2) * width..])
    }

    /// The rates of the state on the way, as stage `i`.
    #[inline]
    fn evaluate(&mut self, rows: &mut StepBuffers<'_>, node: f64, i: usize) {
        // The state begins a block, and the time stands before it.
        rows.stage[0][BLOCK - 1] = rows.t + node * rows.h;
        let at = &rows.stage.as_flattened()[BLOCK - 1..][..self.read];
        let row = &mut rows.k.as_flattened_mut()[i * BLOCK * rows.y.len()..];
        (self.rates)(at, &mut row[..self.given]);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn step_by_vectors<T: Tableau, F: FnMut(&[f64], &mut [f64])>(
    right_side: &mut RightSide<F>,
    rows: &mut StepBuffers<'_>,
) -> bool {
    right_side.stages::<T>(rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn refine_by_vectors<T: Tableau, F: FnMut(&[f64], &mut [f64])>(
    right_side: &mut RightSide<F>,
    rows: &mut StepBuffers<'_>,
    dense: &mut [Block],
) -> bool {
    right_side.later_stages::<T>(rows, dense)
}

/// $x + w v$. Written out, so that four numbers are one vector wherever it stands.
#[inline(always)]
fn along([a, b, c, d]: Block, w: f64, v: Block) -> Block {
    [a + w * v[0], b + w * v[1], c + w * v[2], d + w * v[3]]
}

/// A block that was written one number at a time. Read at once it would have to wait until all of them had
/// gone from the processor's store queue to memory.
#[inline(always)]
fn one_by_one([a, b, c, d]: &Block) -> Block {
    // SAFETY: references are valid.
    unsafe { [read_volatile(a), read_volatile(b), read_volatile(c), read_volatile(d)] }
}

#[inline(always)]
fn are_finite(row: &[Block]) -> bool {
    // NOTE: no early exit, so that it vectorises.
    let mut finite = true;
    for [a, b, c, d] in row {
        finite &= a.is_finite() & b.is_finite() & c.is_finite() & d.is_finite();
    }
    finite
}
