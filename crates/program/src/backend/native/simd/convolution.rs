//! Sums of products of power series, eight at a time, for the processor at hand.
//!
//! $$ S_l^{(k)} = \sum_{j=1}^{k-1} a_l^{[j]}\, b_l^{[k-j]} \qquad (\mathrm C) $$
//!
//! The record of order $j$ holds $a_l^{[j]}$ of eight lanes $l$, then $b_l^{[j]}$ of these, then the next
//! eight. Two orders $k$ and $k + 1$ with odd $k$ are added up together, so that each factor is loaded once
//! for both; the terms of the newest record come last. Every multiply-add is rounded once and terms are added
//! in the same order everywhere, so the bits are the same on every processor.

#[cfg(target_arch = "x86_64")]
use super::cpu_features::cpu_features;
use crate::rounding::{HardwareFma, Rounding, SoftwareFma};

/// Lanes that are added up together.
pub(crate) const LANES: usize = 8;

/// Series by order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records<'a> {
    pub(crate) all: &'a [f64],
    /// From record to record in doubles.
    pub(crate) stride: usize,
}

/// What is added up: (C) of an order and of the next.
#[derive(Debug)]
pub(crate) struct Sums<'a> {
    pub(crate) now: &'a mut [f64],
    pub(crate) ahead: &'a mut [f64],
}

/// Writes (C) of the order `k` into the first sums. For odd `k` also what is known of the order `k + 1` into
/// the others; for even `k` these are what was written so before.
///
/// # Panics
///
/// If a record does not hold both factors of every sum, or there are fewer than `k` records.
pub(crate) fn convolve(records: Records<'_>, k: usize, sums: Sums<'_>) {
    let lanes = sums.now.len();
    assert!(lanes.is_multiple_of(LANES) && 2 * lanes <= records.stride, "whole rows of lanes");
    assert_eq!(lanes, sums.ahead.len(), "sums of two orders");
    assert!(records.all.len() >= k * records.stride, "all records");
    #[cfg(target_arch = "x86_64")]
    {
        let can = cpu_features();
        if can.avx512 {
            // SAFETY: the processor has the instructions, and the lengths were checked.
            unsafe { widest(records, k, sums) }
            return;
        }
        if can.avx2 && can.fma {
            // SAFETY: the processor has the instructions.
            unsafe { wide(records, k, sums) }
            return;
        }
    }
    if cfg!(target_arch = "aarch64") {
        plain::<HardwareFma>(records, k, sums);
    } else {
        plain::<SoftwareFma>(records, k, sums);
    }
}

/// Copies doubles that were just written one by one: read together they would have to wait until the cache has them.
#[inline]
pub(crate) fn pass_on(from: &[f64], to: &mut [f64]) {
    for (from, to) in from.iter().zip(to) {
        // SAFETY: both are references; volatile only keeps the compiler from joining them.
        unsafe {
            std::ptr::from_mut(to).write_volatile(std::ptr::from_ref(from).read_volatile());
        }
    }
}

/// A row of lanes.
type ConvolutionRow = [f64; LANES];

impl<'a> Records<'a> {
    /// The series $a$ of a row of lanes.
    #[inline]
    fn a(self, row: usize, order: usize) -> &'a ConvolutionRow {
        self.at(order * self.stride + 2 * LANES * row)
    }

    /// The series $b$ of a row of lanes.
    #[inline]
    fn b(self, row: usize, order: usize) -> &'a ConvolutionRow {
        self.at(order * self.stride + 2 * LANES * row + LANES)
    }

    #[inline]
    fn at(self, place: usize) -> &'a ConvolutionRow {
        self.all[place..].first_chunk().expect("a record holds all lanes")
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn widest(records: Records<'_>, k: usize, sums: Sums<'_>) {
    const ROWS: usize = 3;
    let rows = sums.now.len() / LANES;
    let mut row = 0;
    while row < rows {
        let count = if row + ROWS <= rows { ROWS } else { 1 };
        let part = LANES * row..LANES * (row + count);
        let sums = Sums { now: &mut sums.now[part.clone()], ahead: &mut sums.ahead[part] };
        // SAFETY: by the caller's promise; the rows are among those of the sums.
        unsafe {
            if count == ROWS {
                some_rows::<ROWS>(records, k, row, sums);
            } else {
                some_rows::<1>(records, k, row, sums);
            }
        }
        row += count;
    }
}

/// Some rows, with their sums in registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn some_rows<const N: usize>(
    records: Records<'_>,
    k: usize,
    row: usize,
    sums: Sums<'_>,
) {
    use std::arch::x86_64::{
        _mm512_fmadd_pd, _mm512_loadu_pd, _mm512_setzero_pd, _mm512_storeu_pd,
    };
    let stride = records.stride;
    let start = records.all.as_ptr().wrapping_add(2 * LANES * row);
    let (a, b) = (
        |order: usize| start.wrapping_add(order * stride),
        |order: usize| start.wrapping_add(order * stride + LANES),
    );
    // SAFETY: the sums and the records of the orders 1 to k − 1 hold all rows.
    let load = |from: *const f64, n: usize| unsafe { _mm512_loadu_pd(from.add(2 * LANES * n)) };
    let (mut now, mut ahead) = ([_mm512_setzero_pd(); N], [_mm512_setzero_pd(); N]);
    if k.is_multiple_of(2) {
        for n in 0..N {
            // SAFETY: there are as many doubles ahead as now.
            now[n] = unsafe { _mm512_loadu_pd(sums.ahead.as_ptr().add(LANES * n)) };
            now[n] = _mm512_fmadd_pd(load(a(1), n), load(b(k - 1), n), now[n]);
        }
    } else if k >= 3 {
        let mut factor = [_mm512_setzero_pd(); N];
        if k >= 5 {
            let (mut left, mut right) = (a(2), b(k - 2));
            for n in 0..N {
                factor[n] = load(left, n);
            }
            for _ in 2..k - 2 {
                left = left.wrapping_add(stride);
                for n in 0..N {
                    let other = load(right, n);
                    now[n] = _mm512_fmadd_pd(factor[n], other, now[n]);
                    factor[n] = load(left, n);
                    ahead[n] = _mm512_fmadd_pd(factor[n], other, ahead[n]);
                }
                right = right.wrapping_sub(stride);
            }
            for n in 0..N {
                now[n] = _mm512_fmadd_pd(factor[n], load(right, n), now[n]);
            }
        }
        for n in 0..N {
            let young = load(b(k - 1), n);
            now[n] = _mm512_fmadd_pd(load(a(1), n), young, now[n]);
            ahead[n] = _mm512_fmadd_pd(load(a(2), n), young, ahead[n]);
            if k > 3 {
                ahead[n] = _mm512_fmadd_pd(load(a(k - 1), n), load(b(2), n), ahead[n]);
            }
        }
    }
    for n in 0..N {
        if k > 2 {
            now[n] = _mm512_fmadd_pd(load(a(k - 1), n), load(b(1), n), now[n]);
        }
        // SAFETY: there are eight doubles for each row.
        unsafe {
            _mm512_storeu_pd(sums.now.as_mut_ptr().add(LANES * n), now[n]);
            if !k.is_multiple_of(2) {
                _mm512_storeu_pd(sums.ahead.as_mut_ptr().add(LANES * n), ahead[n]);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn wide(records: Records<'_>, k: usize, sums: Sums<'_>) {
    plain::<HardwareFma>(records, k, sums);
}

#[allow(clippy::inline_always, reason = "it is compiled for more instructions above")]
#[inline(always)]
fn plain<R: Rounding>(records: Records<'_>, k: usize, sums: Sums<'_>) {
    let rows = sums.now.chunks_exact_mut(LANES).zip(sums.ahead.chunks_exact_mut(LANES));
    for (row, (now, ahead)) in rows.enumerate() {
        let now: &mut ConvolutionRow = now.try_into().expect("a row");
        let ahead: &mut ConvolutionRow = ahead.try_into().expect("a row");
        let (a, b) = (|order| records.a(row, order), |order| records.b(row, order));
        if k.is_multiple_of(2) {
            *now = add::<R>(a(1), b(k - 1), ahead);
        } else {
            (*now, *ahead) = ([0.0; LANES], [0.0; LANES]);
            for j in 2..k.saturating_sub(1) {
                *now = add::<R>(a(j), b(k - j), now);
                if j + 2 < k {
                    *ahead = add::<R>(a(j + 1), b(k - j), ahead);
                }
            }
            if k > 1 {
                *now = add::<R>(a(1), b(k - 1), now);
                *ahead = add::<R>(a(2), b(k - 1), ahead);
            }
            // The middle counts once.
            if k > 3 {
                *ahead = add::<R>(a(k - 1), b(2), ahead);
            }
        }
        if k > 2 {
            *now = add::<R>(a(k - 1), b(1), now);
        }
    }
}

/// $ab + c$ in every lane.
#[allow(clippy::inline_always, reason = "it is compiled for more instructions above")]
#[inline(always)]
fn add<R: Rounding>(
    a: &ConvolutionRow,
    b: &ConvolutionRow,
    c: &ConvolutionRow,
) -> ConvolutionRow {
    std::array::from_fn(|l| R::mul_add(a[l], b[l], c[l]))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Add = fn(Records<'_>, usize, Sums<'_>);

    /// The sums of all orders.
    fn all(records: Records<'_>, order: usize, lanes: usize, add: Add) -> Vec<Vec<f64>> {
        let (mut now, mut ahead) = (vec![1.0; lanes], vec![1.0; lanes]);
        let mut found = Vec::new();
        for k in 1..=order {
            add(records, k, Sums { now: &mut now, ahead: &mut ahead });
            found.push(now.clone());
        }
        found
    }

    #[test]
    fn all_processors_add_the_same() {
        let (lanes, order) = (56, 10);
        let stride = 2 * lanes + 8;
        let number = |i: usize| ((i * 7919) % 1013) as f64 / 311.0 - 1.5;
        let numbers: Vec<f64> = (0..order * stride).map(number).collect();
        let records = Records { all: &numbers, stride };
        let found = all(records, order, lanes, convolve);
        assert_eq!(found, all(records, order, lanes, plain::<SoftwareFma>));
        for (k, found) in (1..).zip(found) {
            for (l, x) in found.into_iter().enumerate() {
                let (row, lane) = (l / LANES, l % LANES);
                let one = |j: usize| records.a(row, j)[lane] * records.b(row, k - j)[lane];
                let sum: f64 = (1..k).map(one).sum();
                // A rounding of each product.
                assert!((x - sum).abs() < 1e-13, "order {k}, lane {l}: {x} for {sum}");
            }
        }
    }
}
