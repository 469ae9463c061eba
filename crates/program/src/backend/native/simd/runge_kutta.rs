//! Steps of (RK) of `backend/runge_kutta.rs`, compiled for processors with registers of four doubles and for those
//! without.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined is compiled without the vectors of its caller"
)]
#![allow(clippy::explicit_counter_loop, reason = "see `advance`")]

use std::ptr::read_volatile;

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::backend::runge_kutta::{
    BLOCK, Block, MAX_STAGES, RungeKuttaMethod, StepBuffers, Weights,
};

/// A right-hand side from $(t, y)$ to $f(t, y)$, with the numbers of its inputs and outputs.
pub(crate) struct RightSide<F> {
    pub(crate) read: usize,
    pub(crate) given: usize,
    pub(crate) rates: F,
}

/// A stage that no sum has to wait for.
const NO_STAGE: usize = MAX_STAGES;

/// Row `i`, or weights that are all zero where there is no such row.
const fn row(rows: &[Weights], i: usize) -> Weights {
    if i < rows.len() { rows[i] } else { [0.0; MAX_STAGES] }
}

/// Node `i`, or zero.
const fn node(nodes: &[f64], i: usize) -> f64 {
    if i < nodes.len() { nodes[i] } else { 0.0 }
}

/// Calls the macro with the number of every stage that there may be. Written out, so that every stage has its
/// own place in the code, where branches are predicted, and its weights are constants.
macro_rules! unrolled {
    ($body:ident) => {
        $body!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
}

/// $\sum_j w_j k_j$ of block `b` in rows of so many blocks, where stage `latest` was written just now.
/// Weights are constants in the code, and stages without weight do not appear in it.
macro_rules! combined {
    ($weights:expr, $latest:expr, $k:expr, $b:expr, $width:expr) => {
        combined!($weights, $latest, $k, $b, $width; 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($weights:expr, $latest:expr, $k:expr, $b:expr, $width:expr; $($j:literal)*) => {{
        // Adding to −0 keeps the sign of a first term that is zero.
        let mut sum = [-0.0; BLOCK];
        $(if const { $weights[$j] != 0.0 } {
            // SAFETY: `k` has a row for every stage of the tableau, as was checked where the step began, and
            // only stages of the tableau have weights.
            let block = unsafe { $k.get_unchecked($j * $width + $b) };
            let row = if const { $j == $latest } { one_by_one(block) } else { *block };
            sum = along(sum, const { $weights[$j] }, row);
        })*
        sum
    }};
}

/// The state of a stage: $y + h \sum_j w_j k_j$.
///
/// Blocks are counted by hand: `enumerate` would count with a check in crates that check overflows, in which all this
/// is compiled, and every block would wait for it.
macro_rules! advance {
    ($weights:expr, $latest:expr, $buffers:expr) => {{
        let StepBuffers { h, y, ref k, ref mut stage, .. } = *$buffers;
        let width = y.len();
        let mut b = 0;
        for (stage, y) in stage[1..].iter_mut().zip(y) {
            let slope = combined!($weights, $latest, k, b, width);
            *stage = along(*y, h, slope);
            b += 1;
        }
    }};
}

impl<F: FnMut(&[f64], &mut [f64])> RightSide<F> {
    /// Carries out a step; says whether all numbers are finite.
    pub(crate) fn step<M: RungeKuttaMethod>(&mut self, buffers: &mut StepBuffers<'_>) -> bool {
        #[cfg(target_arch = "x86_64")]
        if cpu_features().avx2 {
            // SAFETY: the processor has these instructions.
            return unsafe { step_by_vectors::<M, F>(self, buffers) };
        }
        self.stages::<M>(buffers)
    }

    /// Adds to a step what dense output needs; says whether all numbers are finite.
    pub(crate) fn dense_output<M: RungeKuttaMethod>(
        &mut self,
        buffers: &mut StepBuffers<'_>,
        dense: &mut [Block],
    ) -> bool {
        #[cfg(target_arch = "x86_64")]
        if cpu_features().avx2 {
            // SAFETY: the processor has these instructions.
            return unsafe { dense_by_vectors::<M, F>(self, buffers, dense) };
        }
        self.dense_stages::<M>(buffers, dense)
    }

    #[inline(always)]
    fn stages<M: RungeKuttaMethod>(&mut self, buffers: &mut StepBuffers<'_>) -> bool {
        const { assert!(valid::<M>(), "a tableau that this code is written for") }
        let width = buffers.y.len();
        assert!(buffers.k.len() == M::TABLEAU.stages() * width, "rows of stages");
        macro_rules! stages {
            ($($i:literal)*) => {$(if const { $i < M::TABLEAU.nodes.len() } {
                advance!(row(M::TABLEAU.rows, $i), $i, buffers);
                self.evaluate(buffers, const { node(M::TABLEAU.nodes, $i) }, $i + 1);
            })*};
        }
        unrolled!(stages);
        advance!(M::TABLEAU.weights, M::TABLEAU.nodes.len(), buffers);
        buffers.end.copy_from_slice(&buffers.stage[1..]);
        self.evaluate(buffers, 1.0, M::TABLEAU.end());
        macro_rules! errors {
            ($($l:literal)*) => {$({
                let StepBuffers { ref k, ref mut errors, .. } = *buffers;
                let mut b = 0;
                for sum in &mut errors[$l][..width] {
                    *sum = combined!(M::TABLEAU.errors[$l], NO_STAGE, k, b, width);
                    b += 1;
                }
            })*};
        }
        errors!(0 1);
        let [first, second] = &buffers.errors;
        let stages = &buffers.k[width..(M::TABLEAU.end() + 1) * width];
        are_finite(stages) & are_finite(buffers.end) & are_finite(first) & are_finite(second)
    }

    #[inline(always)]
    fn dense_stages<M: RungeKuttaMethod>(
        &mut self,
        buffers: &mut StepBuffers<'_>,
        dense: &mut [Block],
    ) -> bool {
        let width = buffers.y.len();
        assert!(buffers.k.len() == M::TABLEAU.stages() * width, "rows of stages");
        macro_rules! stages {
            ($($i:literal)*) => {$(if const { $i < M::TABLEAU.dense_nodes.len() } {
                let place = M::TABLEAU.end() + 1 + $i;
                advance!(row(M::TABLEAU.dense_rows, $i), M::TABLEAU.end() + $i, buffers);
                self.evaluate(buffers, const { node(M::TABLEAU.dense_nodes, $i) }, place);
            })*};
        }
        unrolled!(stages);
        macro_rules! sums {
            ($($l:literal)*) => {$(if const { $l < M::TABLEAU.dense.len() } {
                let StepBuffers { h, ref k, .. } = *buffers;
                let mut b = 0;
                for sum in &mut dense[$l * width..][..width] {
                    let terms = combined!(row(M::TABLEAU.dense, $l), NO_STAGE, k, b, width);
                    *sum = along([-0.0; BLOCK], h, terms);
                    b += 1;
                }
            })*};
        }
        unrolled!(sums);
        are_finite(&buffers.k[(M::TABLEAU.end() + 1) * width..])
    }

    /// The rates at the state of a stage, as stage `i`.
    #[inline]
    fn evaluate(&mut self, buffers: &mut StepBuffers<'_>, node: f64, i: usize) {
        // The state begins a block, and the time stands before it.
        buffers.stage[0][BLOCK - 1] = buffers.t + node * buffers.h;
        let at = &buffers.stage.as_flattened()[BLOCK - 1..][..self.read];
        let row = &mut buffers.k.as_flattened_mut()[i * BLOCK * buffers.y.len()..];
        (self.rates)(at, &mut row[..self.given]);
    }
}

/// Whether the sums read no stage that is not there.
const fn valid<M: RungeKuttaMethod>() -> bool {
    let t = M::TABLEAU;
    let mut sound = t.is_valid() && is_over(&t.weights, t.end());
    let mut i = 0;
    while i < MAX_STAGES {
        sound &= is_over(&row(t.rows, i), i + 1);
        sound &= is_over(&row(t.dense_rows, i), t.end() + 1 + i);
        sound &= is_over(&row(t.dense, i), t.stages());
        i += 1;
    }
    sound && is_over(&t.errors[0], t.end() + 1) && is_over(&t.errors[1], t.end() + 1)
}

/// Whether only stages below `count` have weights.
const fn is_over(weights: &Weights, count: usize) -> bool {
    let mut i = count;
    while i < MAX_STAGES {
        if weights[i] != 0.0 {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn step_by_vectors<M: RungeKuttaMethod, F: FnMut(&[f64], &mut [f64])>(
    right_side: &mut RightSide<F>,
    buffers: &mut StepBuffers<'_>,
) -> bool {
    right_side.stages::<M>(buffers)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dense_by_vectors<M: RungeKuttaMethod, F: FnMut(&[f64], &mut [f64])>(
    right_side: &mut RightSide<F>,
    buffers: &mut StepBuffers<'_>,
    dense: &mut [Block],
) -> bool {
    right_side.dense_stages::<M>(buffers, dense)
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
