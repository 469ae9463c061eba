//! Recurrences as two programs and one convolution: compact machine code for systems of any size.
//!
//! In the coefficient of order $k \ge 1$ of a product
//!
//! $$ c^{[k]} = a^{[0]} b^{[k]} + a^{[k]} b^{[0]} + \sum_{j=1}^{k-1} a^{[j]} b^{[k-j]} \qquad (\mathrm B) $$
//!
//! only the first two terms contain order $k$; the sum is over lower orders. The same holds for every other
//! rule. So one program gives order 0 with all that later orders read of it. All sums of an order are
//! independent of each other and are added eight at a time. A second program, linear in the new coefficients,
//! takes the sums to the coefficients of their order.
//!
//! | | holds |
//! |---|---|
//! | block, read by the second program | sums, $(k, 1/k, 1/(k+1), t^{[k]})$, $y^{[k]}$, what it reads of order 0 |
//! | record of order $k$, written by it | factors $a^{[k]}$, $b^{[k]}$ of all sums, $y^{[k+1]}$ |

use super::TaylorRecurrences;
use super::linear::{PassPrograms, write};
use crate::backend::Backend;
use crate::backend::aligned_buffer::AlignedBuffer;
use crate::backend::executor::Executor;
use crate::backend::native::{Records, Sums, convolve, pass_on};
use crate::tape::lower::InputName;
use crate::tape::program::Program;

/// Doubles of a line of the cache.
const LINE: usize = 8;
/// How many numbers depend on the order alone.
pub(super) const SCALARS: usize = 4;

/// Evaluates recurrences with given parameters. It owns its storage: give each thread its own.
#[derive(Clone, Debug)]
pub struct TaylorPasses {
    first: Executor,
    next: Executor,
    order: usize,
    n: usize,
    /// How many doubles hold the sums.
    sums: usize,
    /// How many pivots the linear system has, at the end of the block.
    pivots: usize,
    /// How many doubles the block has.
    size: usize,
    block: AlignedBuffer,
    /// Sums of the order after the one at hand.
    ahead: AlignedBuffer,
    records: AlignedBuffer,
    stride: usize,
    /// $(k, 1/k, 1/(k+1), t^{[k]})$ by order.
    scalars: Vec<[f64; SCALARS]>,
}

impl TaylorPasses {
    pub(super) fn new(
        recurrences: &TaylorRecurrences,
        order: usize,
        sample: &[f64],
        parameters: &[f64],
        backend: Backend,
    ) -> Self {
        let PassPrograms { first, next, sums, pivots } = write(recurrences, sample);
        let n = recurrences.dimension;
        let first = Program::from_lowered(first, recurrences.names.clone()).fused();
        let names = vec![InputName::Text(String::new()); next.values.len()];
        let next = Program::from_lowered(next, names).fused();
        let size = next.inputs() + pivots;
        let stride = (2 * sums + n).next_multiple_of(LINE);
        let scalar = |k: usize| {
            let x = k as f64;
            [x, 1.0 / x, 1.0 / (x + 1.0), if k == 1 { 1.0 } else { 0.0 }]
        };
        Self {
            first: first.executor(parameters, backend),
            next: next.executor(&[], backend),
            order,
            n,
            sums,
            pivots,
            size,
            block: AlignedBuffer::new(size),
            ahead: AlignedBuffer::new(sums),
            records: AlignedBuffer::new(order * stride),
            stride,
            scalars: (0..order).map(scalar).collect(),
        }
    }

    /// Other parameters.
    ///
    /// # Panics
    ///
    /// If their number is not that of the field.
    pub fn set_parameters(&mut self, parameters: &[f64]) {
        self.first.set_parameters(parameters);
    }

    /// $y^{\[1\]}$, then $y^{\[2\]}$, … at $(t, y, e)$. Allocates nothing.
    ///
    /// # Panics
    ///
    /// If the lengths are not those of the field.
    pub fn evaluate(&mut self, inputs: &[f64], coefficients: &mut [f64]) {
        let (n, sums, stride) = (self.n, self.sums, self.stride);
        assert_eq!(coefficients.len(), n * self.order, "coefficients");
        let block = &mut self.block.rows()[..self.size];
        let records = self.records.rows();
        let state = sums + SCALARS;
        self.first.evaluate(inputs, &mut block[state..]);
        coefficients[..n].copy_from_slice(&block[state..state + n]);
        let read = self.size - self.pivots;
        let ahead = self.ahead.rows();
        for (k, scalars) in self.scalars.iter().enumerate().skip(1) {
            let (now, ahead) = (&mut block[..sums], &mut ahead[..sums]);
            convolve(Records { all: records, stride }, k, Sums { now, ahead });
            block[sums..state].copy_from_slice(scalars);
            let record = &mut records[k * stride..][..2 * sums + n];
            self.next.evaluate(&block[..read], record);
            let next = &record[2 * sums..];
            pass_on(next, &mut block[state..state + n]);
            pass_on(next, &mut coefficients[k * n..(k + 1) * n]);
        }
    }

    /// The pivots of the linear system at the state last evaluated.
    pub fn pivots(&mut self) -> &[f64] {
        &self.block.rows()[self.size - self.pivots..self.size]
    }
}
